//! What the trials say of one quantity, before it is judged.

use crate::stats::floor::{minimum_detectable, minimum_detectable_in};
use crate::stats::frequency::Frequency;
use crate::stats::hommel::claim_limit;
use crate::stats::interval::Located;
use crate::stats::tail::NORMAL_800;
use crate::stats::tail::TEN_TIMES;
use laws::tail::student_quantile;
use model::{Estimate, Region};

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
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Evidence {
    /// Nothing.
    None,
    /// One number per block.
    Blocks {
        located: Located,
        scale: Scale,
        /// Whether the response is computed, so that blocks which agree have it exactly.
        computed: bool,
    },
    /// Events among chances.
    Events(Frequency),
}

/// Where a boundary lies as seen from the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Below,
    Above,
}

impl Evidence {
    /// Returns the number with its interval.
    pub(crate) fn estimate(&self) -> Option<Estimate> {
        match self {
            Evidence::None => None,
            Evidence::Blocks { located, scale, .. } => {
                let estimate = located.estimate(|value| match scale {
                    Scale::Linear => value,
                    // Both sides of a ratio are positive in truth, whatever a subtraction left.
                    Scale::Relative => value.max(0.0),
                    Scale::Log => value.exp(),
                    Scale::Unit => value.clamp(0.0, 1.0),
                });
                let exactly = Estimate::exactly(estimate.point, estimate.samples);
                Some(if self.is_certain() { exactly } else { estimate })
            }
            Evidence::Events(frequency) => Some(frequency.estimate()),
        }
    }

    /// Returns the number with the interval that must be narrow before a session may stop.
    pub(crate) fn wide_estimate(&self) -> Option<Estimate> {
        let mut wide = self.clone();
        if let Evidence::Blocks { located, .. } = &mut wide
            && !self.is_certain()
        {
            (located.low, located.high) = located.wide;
        }
        wide.estimate()
    }

    /// Reports whether the blocks fall into two groups.
    pub(crate) fn is_in_two_groups(&self) -> bool {
        self.located().is_some_and(|located| located.two_groups)
    }

    /// Reports whether the number is computed and all blocks agree: it has no noise, and no p-value
    /// applies to it.
    pub(crate) fn is_certain(&self) -> bool {
        matches!(self, Evidence::Blocks { located, computed: true, .. } if located.agrees)
    }

    /// Returns what the blocks say, where the number is formed by block.
    pub(crate) fn located(&self) -> Option<&Located> {
        if let Evidence::Blocks { located, .. } = self { Some(located) } else { None }
    }

    /// Returns twice the one-sided p-value of the hypothesis that the truth is at `boundary`, which
    /// lies on that side of the point, or beyond it; at most 1.
    pub(crate) fn p_value(&self, boundary: f64, side: Side) -> f64 {
        match self {
            Evidence::None => 1.0,
            Evidence::Blocks { located, .. } => located.p_value(self.scaled(boundary)),
            Evidence::Events(frequency) => {
                let one_sided = match side {
                    Side::Below => frequency.at_least(boundary),
                    Side::Above => frequency.at_most(boundary),
                };
                (2.0 * one_sided).min(1.0)
            }
        }
    }

    /// Returns the same as [`Evidence::p_value`] for a claim's verdict ([`Located::p_value_of_claim`]).
    pub(crate) fn p_value_of_claim(&self, boundary: f64, side: Side) -> f64 {
        match self.located() {
            Some(located) => located.p_value_of_claim(self.scaled(boundary)),
            None => self.p_value(boundary, side),
        }
    }

    /// Returns what [`Located::is_just`] does; `None` for a frequency.
    pub(crate) fn is_just(&self, number: f64) -> Option<(f64, usize)> {
        Some(self.located()?.is_just(self.scaled(number)))
    }

    /// Returns on how many of the blocks' numbers, and of how many, the point's side of a boundary
    /// rests; `None` for a frequency.
    pub(crate) fn beyond(&self, boundary: f64) -> Option<(usize, usize)> {
        let located = self.located()?;
        Some((located.beyond(self.scaled(boundary)), located.samples))
    }

    /// Returns the independent blocks that the p-value of a region counts, where neighbouring blocks are
    /// alike by the interval or by that test; `None` elsewhere.
    pub(crate) fn independent_blocks(&self, region: Region) -> Option<f64> {
        let located = self.located()?;
        let ends = [region.low, region.high].into_iter().flatten();
        let fewest = ends.map(|end| located.independent(self.scaled(end))).reduce(f64::min)?;
        let alike = located.correlation.is_some() || fewest < located.samples as f64;
        alike.then_some(fewest)
    }

    /// Returns a number on the scale on which the interval was formed.
    fn scaled(&self, number: f64) -> f64 {
        match self {
            // Of a boundary at or below 0 the logarithm is infinitely far: no ratio is there.
            Evidence::Blocks { scale: Scale::Log, .. } if number > 0.0 => number.ln(),
            Evidence::Blocks { scale: Scale::Log, .. } => f64::NEG_INFINITY,
            _ => number,
        }
    }

    /// Returns the minimum detectable effect in the estimate's own terms, relative for ratios;
    /// `None` without a standard error.
    pub(crate) fn floor(&self) -> Option<f64> {
        self.floor_by(minimum_detectable)
    }

    /// Returns the same for one of `verdicts` of that number of claims that share their error, even if no other of them is decided:
    /// the distance at which its sign test reaches the first step of [`crate::hommel()`], and 0.84 standard
    /// errors more, so that 80 % of sessions reach it. `None` where so few blocks cannot, however large
    /// the difference.
    pub(crate) fn floor_among(&self, verdicts: usize, claims: usize) -> Option<f64> {
        let limit = claim_limit(verdicts.max(1), claims);
        match self {
            Evidence::Blocks { located, .. } => {
                let reach = located.reach(limit)?;
                self.floor_by(|error, _| Some(reach + NORMAL_800 * error))
            }
            _ => self.floor_by(|error, trials| {
                let freedom = trials.max(2) as f64 - 1.0;
                Some((student_quantile(freedom, limit) + NORMAL_800) * error)
                    .filter(|floor| *floor > 0.0)
            }),
        }
    }

    /// Returns the same as [`Evidence::floor`] with ten times the blocks (of a frequency: ten times the
    /// trials), if these are independent of each other and like those measured.
    pub(crate) fn floor_in_ten_times(&self) -> Option<f64> {
        let least = |error, blocks| minimum_detectable_in(TEN_TIMES, error, blocks);
        self.floor_by(least)
    }

    /// Returns the floor from the least difference on the scale on which the interval was formed, given its
    /// standard error and its blocks.
    fn floor_by(&self, least: impl Fn(f64, usize) -> Option<f64>) -> Option<f64> {
        match self {
            Evidence::None => None,
            Evidence::Events(frequency) => least(frequency.standard_error(), frequency.trials),
            Evidence::Blocks { located, .. } if located.agrees => None,
            Evidence::Blocks { located, scale, .. } => {
                let least = least(located.standard_error, located.samples)?;
                match scale {
                    Scale::Linear | Scale::Unit => Some(least),
                    Scale::Relative => Some(least / located.point.abs()),
                    Scale::Log => Some(least.exp_m1()),
                }
                .filter(|floor| floor.is_finite())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::frequency::Tally;
    use crate::stats::interval::centre;

    fn blocks(values: &[f64], scale: Scale, computed: bool) -> Evidence {
        let located = centre(values).unwrap();
        Evidence::Blocks { located, scale, computed }
    }

    #[test]
    fn frequencies_are_judged_by_their_trials() {
        let trial = |events| Tally { events, chances: 50 };
        let counted = |events: &[u64]| {
            let trials: Vec<Tally> = events.iter().copied().map(trial).collect();
            Evidence::Events(Frequency::over(&trials, false).unwrap())
        };
        let none = counted(&[0; 20]);
        // None in 20 trials against "5 % or more": 2 · 0.95^20.
        assert!((none.p_value(0.05, Side::Above) - 2.0 * 0.95_f64.powi(20)).abs() < 1e-9);
        // "Never" cannot be shown by not seeing it, but one event refutes it.
        assert_eq!(none.p_value(0.0, Side::Above), 1.0);
        assert_eq!(counted(&[0, 1]).p_value(0.0, Side::Below), 0.0);
        assert_eq!(none.floor(), None);
        assert!(counted(&[10, 20, 30, 20]).floor().unwrap() > 0.1);
        assert_eq!(none.beyond(0.5), None);
    }

    #[test]
    fn ratios_come_back_from_their_logarithms() {
        let logs: Vec<f64> = [2.0_f64, 2.1, 1.9, 2.2, 2.05, 1.95, 2.0].map(f64::ln).to_vec();
        let located = centre(&logs).unwrap();
        let evidence = blocks(&logs, Scale::Log, false);
        let estimate = evidence.estimate().unwrap();
        assert!((estimate.point.ln() - located.point).abs() < 1e-12);
        let least = minimum_detectable(located.standard_error, 7).unwrap();
        assert!((evidence.floor().unwrap() - (least.exp() - 1.0)).abs() < 1e-12);
        // Seventy blocks: a standard error smaller by the root of ten, 69 degrees of freedom.
        let later = minimum_detectable(located.standard_error / 10f64.sqrt(), 70).unwrap();
        assert!((evidence.floor_in_ten_times().unwrap() - later.exp_m1()).abs() < 1e-12);
        // Seven blocks, all above: 2 · 2⁻⁷, however far the boundary.
        for far in [1.5, 0.0] {
            let p = evidence.p_value(far, Side::Below);
            assert!((p - 2.0 / 128.0).abs() < 1e-12, "{p}");
        }
        assert_eq!(evidence.beyond(1.92), Some((6, 7)));
        // Seven blocks reach 2/2⁷, which is above 0.01.
        assert_eq!(evidence.floor_among(1, 1), None);
    }

    #[test]
    fn only_what_is_computed_is_certain() {
        let two = [2.0, 2.0];
        assert!(blocks(&two, Scale::Linear, true).is_certain());
        let counted = blocks(&two, Scale::Linear, false);
        assert!(!counted.is_certain());
        assert_eq!(counted.p_value(1.0, Side::Below), 1.0);
        assert_eq!(counted.floor(), None);
        let ten: Vec<f64> = [3, 9, 1, 8, 5, 10, 2, 7, 4, 6].map(f64::from).to_vec();
        let ten = blocks(&ten, Scale::Linear, false);
        // All must agree among 20: 4.5 to either extreme, and 0.84 standard errors.
        let floor = ten.floor_among(20, 100).unwrap();
        let error = ten.located().unwrap().standard_error;
        assert!((floor - 4.5 - 0.841_621 * error).abs() < 1e-6, "{floor}");
        assert_eq!(ten.floor_among(30, 100), None);
        let ten = blocks(&[2.0; 10], Scale::Linear, false);
        assert!((ten.p_value(1.0, Side::Below) - 2.0 / 1024.0).abs() < 1e-12);
    }
}
