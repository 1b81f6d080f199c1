//! What the trials say of one quantity, before it is judged.

use crate::floor::{
    TEN_TIMES, minimum_detectable_among, minimum_detectable_in, minimum_detectable_normal,
};
use crate::frequency::Frequency;
use crate::holm::FAMILY_ERROR;
use crate::interval::Located;
use crate::tail::NORMAL_800;
use laws::tail::student_quantile;
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
        /// than read from a clock, or computed.
        counted: bool,
        /// Whether it is computed, so that blocks which agree have it exactly.
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
    /// The number with its interval.
    pub(crate) fn estimate(&self) -> Option<Estimate> {
        match *self {
            Evidence::None => None,
            Evidence::Blocks { located, scale, computed, .. } => {
                let estimate = match scale {
                    Scale::Linear | Scale::Relative => located.estimate(|value| value),
                    Scale::Log => located.estimate(f64::exp),
                    Scale::Unit => located.estimate(|value| value.clamp(0.0, 1.0)),
                };
                let exact = computed && located.agrees;
                Some(if exact {
                    Estimate::exactly(estimate.point, estimate.samples)
                } else {
                    estimate
                })
            }
            Evidence::Events(frequency) => Some(frequency.estimate()),
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
            Evidence::Events(frequency) => {
                let one_sided = match side {
                    Side::Below => frequency.at_least(boundary),
                    Side::Above => frequency.at_most(boundary),
                };
                (2.0 * one_sided).min(1.0)
            }
        }
    }

    /// The minimum detectable effect in the estimate's own terms, relative for ratios; `None`
    /// without a standard error.
    pub(crate) fn floor(&self) -> Option<f64> {
        self.floor_in(1)
    }

    /// The same for one of so many verdicts that share their error ([`minimum_detectable_among`]).
    pub(crate) fn floor_among(&self, verdicts: usize) -> Option<f64> {
        match *self {
            Evidence::Events(frequency) => {
                let error = FAMILY_ERROR / verdicts.max(1) as f64;
                let quantile = student_quantile(f64::from(u32::MAX), error);
                Some((quantile + NORMAL_800) * frequency.standard_error())
                    .filter(|floor| *floor > 0.0)
            }
            _ => self.floor_by(|error, blocks| minimum_detectable_among(verdicts, error, blocks)),
        }
    }

    /// The same with ten times the blocks (of a frequency: ten times the chances), if these are
    /// independent of each other and like those measured.
    pub(crate) fn floor_in_ten_times(&self) -> Option<f64> {
        self.floor_in(TEN_TIMES)
    }

    fn floor_in(&self, times: usize) -> Option<f64> {
        match *self {
            Evidence::Events(frequency) => {
                minimum_detectable_normal(frequency.standard_error() / (times as f64).sqrt())
            }
            _ => self.floor_by(|error, blocks| minimum_detectable_in(times, error, blocks)),
        }
    }

    /// From the least difference on the scale on which the interval was formed, given its standard
    /// error and its blocks.
    fn floor_by(&self, least: impl Fn(f64, usize) -> Option<f64>) -> Option<f64> {
        match *self {
            Evidence::Blocks { located, scale, .. } if !located.agrees => {
                let least = least(located.standard_error, located.samples)?;
                match scale {
                    Scale::Linear | Scale::Unit => Some(least),
                    Scale::Relative => Some(least / located.point.abs()),
                    Scale::Log => Some(least.exp_m1()),
                }
                .filter(|floor| floor.is_finite())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::floor::minimum_detectable;
    use crate::frequency::Tally;
    use crate::interval::centre;

    fn counted(events: u64, per_trial: u64) -> Evidence {
        let trial = |events| Tally { events, chances: per_trial };
        Evidence::Events(Frequency::over(&[trial(events), trial(events)]).unwrap())
    }

    #[test]
    fn frequencies_are_judged_exactly() {
        let evidence = counted(0, 50);
        // None of 100 against "5 % or more": 2 · 0.95^100.
        assert!((evidence.p_value(0.05, Side::Above) - 2.0 * 0.95_f64.powi(100)).abs() < 1e-9);
        // "Never" cannot be shown by not seeing it, but one event refutes it.
        assert_eq!(evidence.p_value(0.0, Side::Above), 1.0);
        assert_eq!(counted(1, 50).p_value(0.0, Side::Below), 0.0);
        assert_eq!(evidence.floor(), None);
        assert!((counted(25, 50).floor().unwrap() - 0.05 * 2.801_585).abs() < 1e-5);
        let later = counted(25, 50).floor_in_ten_times().unwrap();
        assert!((later - (0.25_f64 / 1000.0).sqrt() * 2.801_585).abs() < 1e-5);
        assert_eq!(counted(0, 50).floor_in_ten_times(), None);
    }

    #[test]
    fn what_clusters_is_judged_by_its_trials() {
        let trial = |events| Tally { events, chances: 1000 };
        let bursts: Vec<Tally> = [0, 0, 90, 0, 0, 30].map(trial).to_vec();
        let clustered = Evidence::Events(Frequency::over(&bursts).unwrap());
        let even = Evidence::Events(Frequency::over(&[trial(20); 6]).unwrap());
        let (wide, narrow) = (clustered.estimate().unwrap(), even.estimate().unwrap());
        assert_eq!(wide.point, narrow.point);
        assert!(even.p_value(0.01, Side::Below) < 1e-6);
        assert!(clustered.p_value(0.01, Side::Below) > 0.05);
        // At an end of the interval the p-value is 0.05, for what clusters as well.
        assert!((clustered.p_value(wide.low, Side::Below) - 0.05).abs() < 1e-6);
        assert!((clustered.p_value(wide.high, Side::Above) - 0.05).abs() < 1e-6);
        assert!(clustered.floor().unwrap() > 4.0 * even.floor().unwrap());
    }

    #[test]
    fn ratios_come_back_from_their_logarithms() {
        let logs: Vec<f64> = [2.0_f64, 2.1, 1.9, 2.2, 2.05, 1.95, 2.0].map(f64::ln).to_vec();
        let located = centre(&logs).unwrap();
        let evidence =
            Evidence::Blocks { located, scale: Scale::Log, counted: false, computed: false };
        let estimate = evidence.estimate().unwrap();
        assert!((estimate.point.ln() - located.point).abs() < 1e-12);
        let least = minimum_detectable(located.standard_error, 7).unwrap();
        assert!((evidence.floor().unwrap() - (least.exp() - 1.0)).abs() < 1e-12);
        // Seventy blocks: a standard error smaller by the root of ten, 69 degrees of freedom.
        let later = minimum_detectable(located.standard_error / 10f64.sqrt(), 70).unwrap();
        assert!((evidence.floor_in_ten_times().unwrap() - later.exp_m1()).abs() < 1e-12);
        assert!((evidence.p_value(estimate.low, Side::Below) - 0.05).abs() < 1e-9);
        assert_eq!(evidence.p_value(0.0, Side::Below), 0.0);
    }

    #[test]
    fn agreement_decides_for_counts_and_not_for_clocks() {
        let located = centre(&[2.0, 2.0]).unwrap();
        let of =
            |counted| Evidence::Blocks { located, scale: Scale::Linear, counted, computed: false };
        assert_eq!(of(true).p_value(1.0, Side::Below), 0.0);
        assert_eq!(of(false).p_value(1.0, Side::Below), 1.0);
        assert_eq!(of(true).floor(), None);
    }
}
