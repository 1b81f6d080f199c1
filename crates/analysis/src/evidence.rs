//! What the trials say of one quantity, before it is judged.

use crate::floor::{minimum_detectable, minimum_detectable_normal};
use crate::interval::{LEVEL, Located};
use crate::tail::{binomial_at_least, binomial_at_most, bisect};
use model::Estimate;

/// The scale on which the centre and its interval were formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// As it is.
    Linear,
    /// A ratio as it is: some value was not positive, so it has no logarithm.
    Relative,
    /// Natural logarithms of ratios.
    Log,
    /// As it is, between 0 and 1.
    Unit,
}

/// What the trials say of one quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Evidence {
    /// Nothing.
    None,
    /// One number per block.
    Blocks {
        located: Located,
        scale: Scale,
        /// Whether the response is counted by a machine (a number of things, of bytes) rather
        /// than read from a clock.
        counted: bool,
    },
    /// Events among observations.
    Events { events: u64, observations: u64 },
}

/// Where a boundary lies as seen from the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Below,
    Above,
}

impl Evidence {
    /// The number with its interval.
    pub(crate) fn estimate(&self) -> Option<Estimate> {
        match *self {
            Evidence::None => None,
            Evidence::Blocks { located, scale, .. } => Some(match scale {
                Scale::Linear | Scale::Relative => located.estimate(|value| value),
                Scale::Log => located.estimate(f64::exp),
                Scale::Unit => located.estimate(|value| value.clamp(0.0, 1.0)),
            }),
            Evidence::Events { events, observations } => {
                Some(clopper_pearson(events, observations))
            }
        }
    }

    /// Twice the one-sided p-value of the hypothesis that the truth is at `boundary`, which lies
    /// on that side of the point, or beyond it; at most 1.
    ///
    /// A **counted** number on which all of two blocks or more agree is taken as it is (0): the
    /// same code on the same machine gave the same count, there is no noise whose size would have
    /// to be learned from more blocks, and noise of more than the last digit does not repeat
    /// itself. Whoever prints it says that it rests on that. A **timed** number on which all
    /// agree only shows a coarse clock; it is judged by the sign test, from 6 blocks up.
    pub(crate) fn p_value(&self, boundary: f64, side: Side) -> f64 {
        match *self {
            Evidence::None => 1.0,
            Evidence::Blocks { located, counted: true, .. } if located.agrees => 0.0,
            Evidence::Blocks { located, scale: Scale::Log, .. } => {
                // Of a boundary at or below 0 the logarithm is infinitely far: no ratio is there.
                located.p_value(if boundary > 0.0 { boundary.ln() } else { f64::NEG_INFINITY })
            }
            Evidence::Blocks { located, .. } => located.p_value(boundary),
            Evidence::Events { events, observations } => {
                let one_sided = match side {
                    Side::Below => binomial_at_least(events, observations, boundary),
                    Side::Above => binomial_at_most(events, observations, boundary),
                };
                (2.0 * one_sided).min(1.0)
            }
        }
    }

    /// The minimum detectable effect in the estimate's own terms, relative for ratios; `None`
    /// without a standard error.
    pub(crate) fn floor(&self) -> Option<f64> {
        match *self {
            Evidence::Blocks { located, scale, .. } if !located.agrees => {
                let least = minimum_detectable(located.standard_error, located.samples)?;
                match scale {
                    Scale::Linear | Scale::Unit => Some(least),
                    Scale::Relative => Some(least / located.point.abs()),
                    Scale::Log => Some(least.exp_m1()),
                }
                .filter(|floor| floor.is_finite())
            }
            Evidence::Events { events, observations } => minimum_detectable_normal(
                clopper_pearson(events, observations).standard_error.unwrap_or(0.0),
            ),
            _ => None,
        }
    }
}

/// The share of events with its exact interval (Clopper and Pearson, *The use of confidence or
/// fiducial limits illustrated in the case of the binomial*, Biometrika 26, 1934). `observations`
/// is at least 1. There is no standard error where all or none are events.
fn clopper_pearson(events: u64, observations: u64) -> Estimate {
    let half = (1.0 - LEVEL) / 2.0;
    let count = observations as f64;
    let point = events as f64 / count;
    let low = match events {
        0 => 0.0,
        _ => bisect(0.0, point, |p| binomial_at_least(events, observations, p) < half),
    };
    let high = match observations - events {
        0 => 1.0,
        _ => bisect(point, 1.0, |p| binomial_at_most(events, observations, p) > half),
    };
    let standard_error = (point * (1.0 - point) / count).sqrt();
    Estimate {
        point,
        low,
        high,
        standard_error: (standard_error > 0.0).then_some(standard_error),
        level: LEVEL,
        samples: u32::try_from(observations).unwrap_or(u32::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::centre;

    #[test]
    fn frequencies_have_the_interval_of_clopper_and_pearson() {
        // R: binom.test(0, 10), binom.test(10, 20), binom.test(3, 100), binom.test(5, 5).
        let table = [
            (0, 10, 0.0, 0.308_497_1),
            (10, 20, 0.271_957_8, 0.728_042_2),
            (3, 100, 0.006_229_972, 0.085_176_05),
            (5, 5, 0.478_176_2, 1.0),
        ];
        for (events, observations, low, high) in table {
            let estimate = clopper_pearson(events, observations);
            assert!((estimate.low - low).abs() < 1e-6, "{estimate:?}");
            assert!((estimate.high - high).abs() < 1e-6, "{estimate:?}");
        }
        assert_eq!(clopper_pearson(0, 10).standard_error, None);
        assert_eq!(clopper_pearson(10, 20).standard_error, Some((0.25_f64 / 20.0).sqrt()));
    }

    #[test]
    fn frequencies_are_judged_exactly() {
        let evidence = Evidence::Events { events: 0, observations: 100 };
        // None of 100 against "5 % or more": 2 · 0.95^100.
        assert!((evidence.p_value(0.05, Side::Above) - 2.0 * 0.95_f64.powi(100)).abs() < 1e-9);
        // "Never" cannot be shown by not seeing it, but one event refutes it.
        assert_eq!(evidence.p_value(0.0, Side::Above), 1.0);
        let one = Evidence::Events { events: 1, observations: 100 };
        assert_eq!(one.p_value(0.0, Side::Below), 0.0);
        assert_eq!(evidence.floor(), None);
        let half = Evidence::Events { events: 50, observations: 100 };
        assert!((half.floor().unwrap() - 0.05 * 2.801_585).abs() < 1e-5);
    }

    #[test]
    fn ratios_come_back_from_their_logarithms() {
        let logs: Vec<f64> = [2.0_f64, 2.1, 1.9, 2.2, 2.05, 1.95, 2.0].map(f64::ln).to_vec();
        let located = centre(&logs).unwrap();
        let evidence = Evidence::Blocks { located, scale: Scale::Log, counted: false };
        let estimate = evidence.estimate().unwrap();
        assert!((estimate.point.ln() - located.point).abs() < 1e-12);
        let least = minimum_detectable(located.standard_error, 7).unwrap();
        assert!((evidence.floor().unwrap() - (least.exp() - 1.0)).abs() < 1e-12);
        assert!((evidence.p_value(estimate.low, Side::Below) - 0.05).abs() < 1e-9);
        assert_eq!(evidence.p_value(0.0, Side::Below), 0.0);
    }

    #[test]
    fn agreement_decides_for_counts_and_not_for_clocks() {
        let located = centre(&[2.0, 2.0]).unwrap();
        let of = |counted| Evidence::Blocks { located, scale: Scale::Linear, counted };
        assert_eq!(of(true).p_value(1.0, Side::Below), 0.0);
        assert_eq!(of(false).p_value(1.0, Side::Below), 1.0);
        assert_eq!(of(true).floor(), None);
    }
}
