//! From a value to a place between 0 and 1, and where the ticks stand.

/// Values that span more than this take a logarithmic axis.
pub(crate) const LOG_SPAN: f64 = 20.0;

/// An axis with fewer ticks tells nothing between them.
const TICKS_MIN: usize = 3;

/// The part of a logarithmic axis that is kept for 0, where 0 was measured.
const ZERO_ROOM: f64 = 0.12;

/// An axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// Equal steps are equal differences.
    Linear {
        /// The value at 0.
        low: f64,
        /// The value at 1.
        high: f64,
    },
    /// Equal steps are equal ratios.
    Log {
        /// The least positive value shown.
        low: f64,
        /// The value at 1.
        high: f64,
        /// Whether 0 has a place of its own at the very beginning, outside the logarithm.
        zero: bool,
    },
}

/// Whether a linear axis must begin at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zero {
    /// Always: lengths are compared.
    Always,
    /// Only if that costs no more than half of the axis: places are compared.
    IfNear,
}

impl Scale {
    /// The axis for some values, with nice ends. None if no value is finite.
    pub(crate) fn over(values: impl Iterator<Item = f64>, zero: Zero) -> Option<Scale> {
        let values: Vec<f64> = values.collect();
        Some(match Scale::over_levels(&values)? {
            Scale::Log { low, high, zero } => Scale::Log { low: low / 1.3, high: high * 1.3, zero },
            Scale::Linear { low, high } => linear(low, high, zero),
        })
    }

    /// The linear axis for some values, with nice ends. None if no value is finite.
    pub(crate) fn linear_over(values: impl Iterator<Item = f64>, zero: Zero) -> Option<Scale> {
        let values: Vec<f64> = values.filter_map(drawable).collect();
        let low = values.iter().copied().reduce(f64::min)?;
        let high = values.iter().copied().reduce(f64::max)?;
        Some(linear(low, high, zero))
    }

    /// An axis over measured levels: not widened, logarithmic where they span much.
    pub(crate) fn over_levels(levels: &[f64]) -> Option<Scale> {
        Scale::over_levels_beyond(levels, LOG_SPAN)
    }

    /// The same, logarithmic where they span more than so much.
    pub(crate) fn over_levels_beyond(levels: &[f64], span: f64) -> Option<Scale> {
        let levels: Vec<f64> = levels.iter().copied().filter_map(drawable).collect();
        let low = levels.iter().copied().reduce(f64::min)?;
        let high = levels.iter().copied().reduce(f64::max)?;
        let positive = levels.iter().copied().filter(|x| *x > 0.0).reduce(f64::min);
        match positive {
            Some(least) if low >= 0.0 && high / least > span => {
                Some(Scale::Log { low: least, high, zero: low == 0.0 })
            }
            _ => Some(Scale::Linear { low, high }),
        }
    }

    /// Whether a value lies on the axis.
    pub(crate) fn holds(&self, x: f64) -> bool {
        match *self {
            Scale::Linear { low, high } => (low..=high).contains(&x),
            Scale::Log { low, high, zero } => (low..=high).contains(&x) || (zero && x == 0.0),
        }
    }

    /// Where a value lies: 0 to 1, clamped, since an interval may be infinite.
    pub(crate) fn place(&self, x: f64) -> f64 {
        let place = match *self {
            Scale::Linear { low, high } if high > low => (x - low) / (high - low),
            Scale::Linear { .. } => 0.5,
            Scale::Log { low, high, zero } => {
                let room = if zero { ZERO_ROOM } else { 0.0 };
                if x <= 0.0 {
                    return 0.0;
                }
                let place = (x.ln() - low.ln()) / (high.ln() - low.ln());
                room + (1.0 - room) * place.max(0.0)
            }
        };
        place.clamp(0.0, 1.0)
    }

    /// Ticks at nice values, about as many as asked for.
    pub(crate) fn ticks(&self, about: usize) -> Vec<f64> {
        match *self {
            Scale::Linear { low, high } => linear_ticks(low, high, about),
            Scale::Log { low, high, zero } => {
                let mut ticks = if zero { vec![0.0] } else { Vec::new() };
                let round = log_ticks(low, high, about);
                // Within a decade there are too few of these to read between.
                let few = round.len() < TICKS_MIN && high / low < 10.0;
                ticks.extend(if few { linear_ticks(low, high, about) } else { round });
                ticks
            }
        }
    }

    /// Whether it is logarithmic.
    pub(crate) fn is_log(&self) -> bool {
        matches!(self, Scale::Log { .. })
    }

    /// Whether it is logarithmic with a place for 0.
    pub(crate) fn has_break(&self) -> bool {
        matches!(self, Scale::Log { zero: true, .. })
    }
}

/// What an axis may be made for. At the ends of what a number can hold, its own arithmetic (a span,
/// a step, a little room) would leave them, and ticks would have no end.
pub(super) fn drawable(x: f64) -> Option<f64> {
    const LARGEST: f64 = 1e150;
    (x.abs() <= LARGEST).then_some(if x.abs() < 1.0 / LARGEST { 0.0 } else { x })
}

fn linear(low: f64, high: f64, zero: Zero) -> Scale {
    let near = match zero {
        Zero::Always => true,
        Zero::IfNear => low <= high / 2.0,
    };
    let mut low = if near && low > 0.0 { 0.0 } else { low };
    let mut high = if near && high < 0.0 { 0.0 } else { high };
    if high <= low {
        let room = if low == 0.0 { 1.0 } else { low.abs() * 0.1 };
        (low, high) = (low - room, high + room);
        if low < 0.0 && zero == Zero::Always && high > 0.0 {
            low = 0.0;
        }
    }
    let step = step(low, high, 4);
    Scale::Linear {
        low: (low / step + 1e-9).floor() * step,
        high: (high / step - 1e-9).ceil() * step,
    }
}

/// 1, 2 or 5 times a power of ten, so that about `about` steps cover the span.
fn step(low: f64, high: f64, about: usize) -> f64 {
    let raw = (high - low) / about.max(1) as f64;
    let power = 10f64.powf(raw.log10().floor());
    let nice = [1.0, 2.0, 5.0, 10.0].into_iter().find(|n| n * power >= raw * 0.999);
    nice.unwrap_or(10.0) * power
}

fn linear_ticks(low: f64, high: f64, about: usize) -> Vec<f64> {
    if high <= low {
        return vec![low];
    }
    let step = step(low, high, about);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|n| n as f64 * step).collect()
}

/// The richest of three patterns per decade that is not too crowded.
fn log_ticks(low: f64, high: f64, about: usize) -> Vec<f64> {
    let powers = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
    let with = |factors: &[f64]| -> Vec<f64> {
        powers
            .clone()
            .flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)))
            .filter(|x| *x >= low * 0.999 && *x <= high * 1.001)
            .collect()
    };
    for factors in [&[1.0, 2.0, 5.0][..], &[1.0, 3.0]] {
        let ticks = with(factors);
        if ticks.len() <= about + 2 {
            return ticks;
        }
    }
    let decades = with(&[1.0]);
    let every = decades.len().div_ceil(about + 2).max(1);
    decades.into_iter().step_by(every).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test should stop where it fails")]
mod tests {
    use super::*;

    #[test]
    fn a_wide_span_is_logarithmic_and_gives_zero_a_place() {
        let scale = Scale::over([0.0, 10.0, 1000.0].into_iter(), Zero::Always).unwrap();
        assert!(scale.has_break());
        assert_eq!(scale.place(0.0), 0.0);
        assert!(scale.place(10.0) >= ZERO_ROOM);
        assert!(scale.place(100.0) < scale.place(1000.0));
        assert_eq!(scale.ticks(4), [0.0, 10.0, 30.0, 100.0, 300.0, 1000.0]);
    }

    #[test]
    fn a_narrow_span_is_linear_with_nice_ends() {
        let scale = Scale::over([3.0, 17.0].into_iter(), Zero::Always).unwrap();
        assert_eq!(scale, Scale::Linear { low: 0.0, high: 20.0 });
        assert_eq!(scale.ticks(4), [0.0, 5.0, 10.0, 15.0, 20.0]);
        let scale = Scale::over([9.9, 10.1].into_iter(), Zero::IfNear).unwrap();
        assert!((scale.place(10.0) - 0.5).abs() < 1e-9, "{scale:?}");
    }

    #[test]
    fn negative_values_stay_linear() {
        let scale = Scale::over([-5.0, 900.0].into_iter(), Zero::Always).unwrap();
        assert!(!scale.is_log());
        assert!(scale.place(-5.0) >= 0.0 && scale.place(-5.0) < scale.place(0.0));
    }

    #[test]
    fn equal_or_infinite_values_do_no_harm() {
        let scale = Scale::over([7.0, 7.0, f64::INFINITY].into_iter(), Zero::IfNear).unwrap();
        assert!((scale.place(7.0) - 0.5).abs() < 0.2);
        assert_eq!(scale.place(f64::INFINITY), 1.0);
        assert_eq!(Scale::over([f64::NAN].into_iter(), Zero::Always), None);
        let zero = Scale::over([0.0, 0.0].into_iter(), Zero::Always).unwrap();
        assert_eq!(zero.place(0.0), 0.0);
        assert!(zero.ticks(4).len() < 20);
    }

    #[test]
    fn levels_are_not_widened() {
        assert_eq!(
            Scale::over_levels(&[1.0, 2.0, 8.0]),
            Some(Scale::Linear { low: 1.0, high: 8.0 })
        );
        let scale = Scale::over_levels(&[0.0, 64.0, 4096.0]).unwrap();
        assert!(scale.has_break());
        assert_eq!(scale.place(4096.0), 1.0);
    }

    #[test]
    fn within_a_decade_there_are_ticks_to_read_between() {
        let scale = Scale::over_levels_beyond(&[1.9, 4.3], 1.5).unwrap();
        assert!(scale.is_log());
        assert!(scale.ticks(4).len() >= 3, "{:?}", scale.ticks(4));
        let one = Scale::Log { low: 4.76, high: 5.25, zero: false };
        assert!((1..10).contains(&one.ticks(4).len()), "{:?}", one.ticks(4));
    }

    #[test]
    fn sizes_take_ratios_sooner_than_counts() {
        let levels = [8.0, 64.0, 128.0];
        assert!(!Scale::over_levels(&levels).unwrap().is_log());
        assert!(Scale::over_levels_beyond(&levels, 8.0).unwrap().is_log());
    }
}
