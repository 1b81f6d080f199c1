//! How often something happens: events among chances, counted in trials.
//!
//! What goes wrong in a trial often goes wrong in bursts, and a million chances of one trial are
//! not a million independent ones. **The trial is the unit.** Its share of events is a number
//! between 0 and 1, and the bounds are those of Gaffke for the mean of such numbers (*Three test
//! statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable*,
//! Mathematical Methods of Statistics 14, 2005; as a bound: Learned-Miller and Thomas, *A new
//! confidence interval for the mean of a bounded random variable*, 2019). They assume nothing of
//! the distribution of trials, so that they hold where nothing was seen: of n trials without an
//! event the upper limit is 1 − 0.025^(1/n), however many chances each had. For trials that show
//! all or nothing they are the limits of Clopper and Pearson (Biometrika 26, 1934).
//!
//! A response may declare that the chances of one trial are **independent by construction**: each
//! a fresh attempt that shares nothing with the last. Then the chances count, as far as the trials
//! scatter by no more than chance: the variance between trials gives the effective number of
//! chances (Korn and Graubard, *Confidence intervals for proportions with small expected number of
//! positive counts estimated from survey data*, Survey Methodology 24, 1998). Where the trials
//! scatter more than twice as much as chance, the declaration is withdrawn and the trials count.
//!
//! `simulation/rates.rs` repeats the simulation of both; `docs/calibration.md` has the table.

use crate::stats::interval::LEVEL;
use crate::stats::tail::{NORMAL_975, binomial_at_least, binomial_at_most, student_975};
use laws::roots::bisect;
use laws::tail::student_quantile;
use model::Estimate;
use std::sync::Arc;

/// From this number of degrees of freedom on Student's t has the quantiles of the normal
/// distribution, to four digits.
const MANY: f64 = 1e4;

/// From this multiple of chance on the trials are said to differ. Chance alone exceeds it in 8 % of
/// sessions with 6 trials, in 3 % with 12.
const CLUSTERED: f64 = 2.0;

/// More trials than this are taken together in groups: the bound costs the square of their number.
const TRIALS_MAX: usize = 256;

/// What one trial, or several together, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// How often it happened.
    pub(crate) events: u64,
    /// How often it could have happened; at least `events`.
    pub(crate) chances: u64,
}

/// A frequency with what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frequency {
    /// All trials together.
    pub(crate) all: Tally,
    /// Trials with at least one chance.
    pub(crate) trials: usize,
    /// How many independent chances would scatter as the trials do: above 0, at most the chances.
    pub(crate) effective: f64,
    /// The trials, or groups of them, that bound it; none where chances are independent.
    units: Option<Arc<[Tally]>>,
}

impl Frequency {
    /// Returns the frequency over some trials; `None` with fewer than 2 that had a chance.
    /// `independent`: whether the chances of one trial are independent by construction.
    pub(crate) fn over(trials: &[Tally], independent: bool) -> Option<Self> {
        let trials: Vec<Tally> = trials.iter().copied().filter(|t| t.chances > 0).collect();
        if trials.len() < 2 {
            return None;
        }
        let all = sum(trials.iter().copied());
        let scatter = scatter(&trials, all);
        let effective = effective(trials.len(), all, scatter);
        let units = (!independent || scatter > CLUSTERED)
            .then(|| trials.chunks(trials.len().div_ceil(TRIALS_MAX)))
            .map(|groups| groups.map(|group| sum(group.iter().copied())).collect());
        Some(Frequency { all, trials: trials.len(), effective, units })
    }

    /// Reports whether its limits rest on the number of trials rather than of chances.
    pub(crate) fn is_by_trials(&self) -> bool {
        self.units.is_some()
    }

    fn point(&self) -> f64 {
        self.all.events as f64 / self.all.chances as f64
    }

    /// Returns the number with its interval. There is no standard error where all or none are
    /// events.
    pub(crate) fn estimate(&self) -> Estimate {
        let half = (1.0 - LEVEL) / 2.0;
        let point = self.point();
        let low = match self.all.events {
            0 => 0.0,
            _ => bisect(0.0, point, |p| self.at_least(p) < half),
        };
        let high = match self.all.chances - self.all.events {
            0 => 1.0,
            _ => bisect(point, 1.0, |p| self.at_most(p) > half),
        };
        let standard_error = self.standard_error();
        Estimate {
            point,
            low,
            high,
            standard_error: (standard_error > 0.0).then_some(standard_error),
            level: LEVEL,
            samples: u32::try_from(self.trials).unwrap_or(u32::MAX),
        }
    }

    /// Returns the standard error of the share; zero where all or none are events.
    pub(crate) fn standard_error(&self) -> f64 {
        (self.point() * (1.0 - self.point()) / self.effective).sqrt()
    }

    /// Returns the largest probability of what was seen, or more of it, if the frequency is at most
    /// `chance`.
    pub(crate) fn at_least(&self, chance: f64) -> f64 {
        match &self.units {
            None => binomial_at_least(self.point() * self.effective, self.effective, chance),
            Some(units) => gaffke(1.0 - chance, &shares(units, chance, |share| 1.0 - share)),
        }
    }

    /// Returns the same of this number or fewer, if the frequency is at least `chance`.
    pub(crate) fn at_most(&self, chance: f64) -> f64 {
        match &self.units {
            None => binomial_at_most(self.point() * self.effective, self.effective, chance),
            Some(units) => gaffke(chance, &shares(units, chance, |share| share)),
        }
    }
}

/// Returns the frequency of events among chances, trial by trial, with its 95 % interval: bounded by
/// the trials, or by chances that are `independent` by construction. `None` with fewer than 2 trials
/// that had a chance.
pub fn frequency(trials: &[(u64, u64)], independent: bool) -> Option<Estimate> {
    let tally = |&(events, chances): &(u64, u64)| Tally { events: events.min(chances), chances };
    let tallies: Vec<Tally> = trials.iter().map(tally).collect();
    Some(Frequency::over(&tallies, independent)?.estimate())
}

pub(crate) fn sum(trials: impl IntoIterator<Item = Tally>) -> Tally {
    trials.into_iter().fold(Tally::default(), |sum, trial| Tally {
        events: sum.events.saturating_add(trial.events),
        chances: sum.chances.saturating_add(trial.chances),
    })
}

/// Returns one number between 0 and 1 per unit, whose mean is `chance` if the frequency is: the share of
/// events, and where a unit has fewer chances than the largest, moved towards `chance` by as much.
fn shares(units: &[Tally], chance: f64, from: fn(f64) -> f64) -> Vec<f64> {
    let most = units.iter().map(|unit| unit.chances).max().unwrap_or(1) as f64;
    let share = |unit: &Tally| {
        let excess = unit.events as f64 - chance * unit.chances as f64;
        from(chance + excess / most).clamp(0.0, 1.0)
    };
    units.iter().map(share).collect()
}

/// Returns Gaffke's p-value of the hypothesis that the mean of numbers between 0 and 1 is at least
/// `mean`: the probability that their average, and that of 1, weighted by the spacings of as many
/// uniform draws, exceeds it.
///
/// That average has a B-spline for its density, with the numbers as knots, and its tail obeys the
/// recursion of de Boor (*On calculating with B-splines*, Journal of Approximation Theory 6, 1972):
/// sums of positive terms, so that small tails keep their digits.
fn gaffke(mean: f64, numbers: &[f64]) -> f64 {
    let mut knots = numbers.to_vec();
    knots.push(1.0);
    knots.sort_unstable_by(f64::total_cmp);
    let mut above: Vec<f64> = knots.iter().map(|knot| f64::from(u8::from(*knot > mean))).collect();
    for span in 1..knots.len() {
        for first in 0..knots.len() - span {
            let (low, high) = (knots[first], knots[first + span]);
            above[first] = if low > mean {
                1.0
            } else if high <= mean {
                0.0
            } else {
                let weight = (mean - low) / (high - low);
                weight * above[first] + (1.0 - weight) * above[first + 1]
            };
        }
    }
    above[0]
}

/// Returns the share of chances that were events, with the exact interval of Clopper and Pearson: for
/// chances that are known to be independent, as whole sessions are. `None` without a chance or with
/// more events than chances.
pub fn proportion(events: u64, chances: u64) -> Option<Estimate> {
    if chances == 0 || events > chances {
        return None;
    }
    let all = Tally { events, chances };
    let frequency = Frequency {
        all,
        trials: usize::try_from(chances).unwrap_or(usize::MAX),
        effective: chances as f64,
        units: None,
    };
    Some(frequency.estimate())
}

/// Returns the variance between trials of the ratio of two sums (Cochran, *Sampling Techniques*, 1977,
/// 6.13), as a multiple of p(1 − p)/n. That is taken without bias, so that trials of one chance
/// each, which cannot differ by more than chance, give 1. Where all or none are events there is
/// nothing that could differ, and 0 says so.
fn scatter(trials: &[Tally], all: Tally) -> f64 {
    if all.events == 0 || all.events == all.chances {
        return 0.0;
    }
    let (chances, count) = (all.chances as f64, trials.len() as f64);
    let point = all.events as f64 / chances;
    let squares: f64 =
        trials.iter().map(|t| (t.events as f64 - point * t.chances as f64).powi(2)).sum();
    let between = count / (count - 1.0) * squares / chances;
    between / (point * (1.0 - point) * chances / (chances - 1.0))
}

/// Returns Korn and Graubard's effective number of chances: those there were, divided by the scatter, times
/// the square of the ratio of the t quantiles for the chances and for the trials, since the scatter
/// is known from the few trials alone. At most the number of chances: trials that happen to agree
/// add nothing. Where none or all are events, the limit holds if chances are independent.
fn effective(trials: usize, all: Tally, scatter: f64) -> f64 {
    let chances = all.chances as f64;
    let many = match chances - 1.0 {
        freedom if freedom < MANY => student_quantile(freedom, 1.0 - LEVEL),
        _ => NORMAL_975,
    };
    let t_ratio = many / student_975(trials);
    if scatter > 0.0 { (chances / scatter * t_ratio * t_ratio).min(chances) } else { chances }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tallies(events: &[u64], chances: u64) -> Vec<Tally> {
        events.iter().map(|&events| Tally { events, chances }).collect()
    }

    fn by_trials(events: &[u64], chances: u64) -> Frequency {
        Frequency::over(&tallies(events, chances), false).unwrap()
    }

    fn by_chances(events: &[u64], chances: u64) -> Frequency {
        Frequency::over(&tallies(events, chances), true).unwrap()
    }

    #[test]
    fn independent_chances_have_the_interval_of_clopper_and_pearson() {
        // R: binom.test(0, 10), binom.test(10, 20), binom.test(3, 100), binom.test(5, 5).
        let table = [
            (0, 10, 0.0, 0.308_497_1),
            (10, 20, 0.271_957_8, 0.728_042_2),
            (3, 100, 0.006_229_972, 0.085_176_05),
            (5, 5, 0.478_176_2, 1.0),
        ];
        for (events, chances, low, high) in table {
            let estimate = proportion(events, chances).unwrap();
            assert!((estimate.low - low).abs() < 1e-6, "{estimate:?}");
            assert!((estimate.high - high).abs() < 1e-6, "{estimate:?}");
            assert_eq!(u64::from(estimate.samples), chances);
            // Trials that show all or nothing have the same.
            let single: Vec<u64> = (0..chances).map(|trial| u64::from(trial < events)).collect();
            let whole = by_trials(&single.iter().map(|event| 7 * event).collect::<Vec<_>>(), 7);
            assert!((whole.estimate().low - low).abs() < 1e-6, "{whole:?}");
            assert!((whole.estimate().high - high).abs() < 1e-6, "{whole:?}");
        }
        assert_eq!((proportion(0, 0), proportion(3, 2)), (None, None));
        assert_eq!(proportion(0, 10).unwrap().standard_error, None);
        assert_eq!(proportion(10, 20).unwrap().standard_error, Some((0.25_f64 / 20.0).sqrt()));
    }

    #[test]
    fn rates_per_million_have_the_limits_of_poisson() {
        // Garwood, Fiducial limits for the Poisson distribution, Biometrika 28, 1936: 12 events
        // lie within 6.2006 and 20.9616; of none the upper limit is −ln 0.025 = 3.6889.
        let estimate = proportion(12, 3_400_000_000).unwrap();
        assert!((estimate.low * 3.4e9 - 6.200_6).abs() < 1e-3, "{estimate:?}");
        assert!((estimate.high * 3.4e9 - 20.961_6).abs() < 1e-3, "{estimate:?}");
        let none = proportion(0, 1_000_000_000).unwrap();
        assert!((none.high * 1e9 - 3.688_9).abs() < 1e-3, "{none:?}");
    }

    #[test]
    fn the_effective_number_is_that_of_korn_and_graubard() {
        // By hand: 30 of 600 is 5 of each 100, and each trial is 5 away from that.
        let found = by_chances(&[0, 0, 0, 10, 10, 10], 100);
        let point: f64 = 30.0 / 600.0;
        let squares = 6.0 * 25.0;
        let variance = 6.0 / 5.0 * squares / 360_000.0;
        // t quantiles: 1.963925 for 599 degrees of freedom, 2.570582 for 5.
        let expected =
            point * (1.0 - point) * 600.0 / 599.0 / variance * (1.963_925_f64 / 2.570_582).powi(2);
        assert_eq!((found.all, found.trials), (Tally { events: 30, chances: 600 }, 6));
        assert!((found.effective / expected - 1.0).abs() < 1e-5, "{found:?} {expected}");
        // So much scatter withdraws the declaration.
        assert!(found.is_by_trials());
        assert_eq!(found.estimate(), by_trials(&[0, 0, 0, 10, 10, 10], 100).estimate());
    }

    #[test]
    fn declared_independent_chances_count_in_full() {
        let agree = by_chances(&[5, 5, 5, 5], 100);
        assert!(agree.effective == 400.0 && !agree.is_by_trials());
        let single = by_chances(&[0, 1, 0, 1, 1, 0, 0], 1);
        assert!((single.effective - 7.0).abs() < 1e-6 && !single.is_by_trials(), "{single:?}");
        let none = by_chances(&[0; 6], 50_000);
        assert_eq!((none.effective, none.estimate().low), (300_000.0, 0.0));
        assert!((none.estimate().high - 3.688_9 / 3e5).abs() < 1e-9);
    }

    #[test]
    fn nothing_seen_is_bounded_by_the_trials() {
        for (trials, chances) in [(2, 50_000), (6, 7), (40, 1)] {
            let none = by_trials(&vec![0; trials], chances).estimate();
            let most = 1.0 - 0.025_f64.powf(1.0 / trials as f64);
            assert!((none.high - most).abs() < 1e-9 && none.low == 0.0, "{none:?}");
            let all = by_trials(&vec![chances; trials], chances).estimate();
            assert!((all.low - (1.0 - most)).abs() < 1e-9 && all.high == 1.0, "{all:?}");
        }
    }

    #[test]
    fn the_bound_is_the_quantile_of_weighted_averages() {
        // Two numbers 0 and 0.5 with 1: weights are the spacings of two uniform draws. By hand,
        // the average exceeds c > 0.5 with probability (1 − c)²/(1 · 0.5).
        assert!((gaffke(0.8, &[0.0, 0.5]) - 0.04 / 0.5).abs() < 1e-12);
        // Below 0.5: 1 − c²/(0.5 · 1).
        assert!((gaffke(0.3, &[0.5, 0.0]) - (1.0 - 0.09 / 0.5)).abs() < 1e-12);
        assert_eq!((gaffke(0.3, &[0.4, 0.4]), gaffke(1.0, &[0.4])), (1.0, 0.0));
    }

    #[test]
    fn one_trial_tells_nothing_of_how_much_trials_differ() {
        assert_eq!(Frequency::over(&tallies(&[3], 100), false), None);
        assert_eq!(Frequency::over(&[], true), None);
        let idle = Tally { events: 0, chances: 0 };
        assert_eq!(Frequency::over(&[idle, Tally { events: 3, chances: 100 }], false), None);
    }

    #[test]
    fn many_trials_are_taken_in_groups() {
        let events: Vec<u64> = (0..2000).map(|trial| trial % 3).collect();
        let found = by_trials(&events, 10);
        let interval = found.estimate();
        assert!(found.units.as_ref().unwrap().len() <= TRIALS_MAX && found.trials == 2000);
        assert!(interval.high - interval.low < 0.03, "{interval:?}");
    }

    proptest! {
        #[test]
        fn limits_hold_the_point_and_agree_with_the_test(
            trials in prop::collection::vec((0..=20_u64, 20..40_u64), 2..30),
            independent in any::<bool>(),
        ) {
            let trials: Vec<Tally> =
                trials.into_iter().map(|(events, chances)| Tally { events, chances }).collect();
            let found = Frequency::over(&trials, independent).unwrap();
            let interval = found.estimate();
            prop_assert!(interval.low <= interval.point && interval.point <= interval.high);
            prop_assert!(interval.low >= 0.0 && interval.high <= 1.0);
            // The tests cross 0.025 at the limits. Near 0 they can be so steep that no number has
            // that probability, so the limits are held from both sides.
            let (beside, slack) = (1e-12, 1e-9);
            if interval.low > 0.0 {
                prop_assert!(found.at_least(interval.low - beside) <= 0.025 + slack);
                prop_assert!(found.at_least(interval.low + beside) >= 0.025 - slack);
            }
            if interval.high < 1.0 {
                prop_assert!(found.at_most(interval.high - beside) >= 0.025 - slack);
                prop_assert!(found.at_most(interval.high + beside) <= 0.025 + slack);
            }
        }
    }
}
