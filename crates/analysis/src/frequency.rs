//! How often something happens: events among chances, counted in trials.
//!
//! The interval is that of Clopper and Pearson (*The use of confidence or fiducial limits
//! illustrated in the case of the binomial*, Biometrika 26, 1934), but not from the chances that
//! were counted: what goes wrong in a trial often goes wrong in bursts, and a million chances of
//! one trial are not a million independent ones. As for every other quantity, the trial is the
//! unit. The variance of the frequency *between trials* says how many independent chances would
//! scatter as these do, and that number takes the place of the chances (Korn and Graubard,
//! *Confidence intervals for proportions with small expected number of positive counts estimated
//! from survey data*, Survey Methodology 24, 1998, 193–201).
//!
//! Where that leaves less than one event (a burst in one of a few trials), nothing can be counted any
//! more: the beta function would give a lower limit of 10⁻⁴⁰, as if such a rarity had been seen. There
//! Markov's inequality takes its place. Whatever bursts there are, the frequency that is seen is on
//! average the true one, and it is above 0, so that it is seen to be 40 times the true one or more in at
//! most one case of 40: the lower limit is a fortieth of it. (From one event the exact limit is 0.0253
//! of it, so that the two meet.) Likewise for what is no event.
//!
//! By simulation of 1,000 sessions a cell (`simulation/rates.rs` repeats the first two rows as
//! tests), coverage in per cent over 6, 12 and 40 trials and frequencies from 0.3 to 0.0002:
//!
//! | trials' counts vary | these intervals | pooled chances |
//! |---|---|---|
//! | by chance alone | 96–99 | 95–97 |
//! | 5 times as much (variance) | 93–97 | 61–66 |
//! | 30 times as much, at 0.3 | 94–97 | 28–30 |
//!
//! Where chance alone is at work the price is an interval wider by a third with 6 trials, by 6 %
//! with 40. Where it fails: where all events of a session come from fewer than about five bursts,
//! so that most trials show nothing; coverage was 50 to 90 %. No method helps there but more trials.

use crate::interval::LEVEL;
use crate::tail::{NORMAL_975, binomial_at_least, binomial_at_most, student_975};
use laws::roots::bisect;
use laws::tail::student_quantile;
use model::Estimate;

/// From so many degrees of freedom on Student's t has the quantiles of the normal distribution, to
/// four digits.
const MANY: f64 = 1e4;

/// From this multiple of chance on the trials are said to differ. Chance alone exceeds it in 8 % of
/// sessions with 6 trials, in 3 % with 12.
const CLUSTERED: f64 = 2.0;

/// What one trial, or several together, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// How often it happened.
    pub(crate) events: u64,
    /// How often it could have happened; at least `events`.
    pub(crate) chances: u64,
}

/// A frequency with what is known of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Frequency {
    /// All trials together.
    pub(crate) all: Tally,
    /// Trials with at least one chance.
    pub(crate) trials: usize,
    /// How many independent chances would scatter as the trials do: above 0, at most the chances.
    pub(crate) effective: f64,
    /// The variance between trials, as a multiple of what chance alone would give.
    pub(crate) scatter: f64,
}

impl Frequency {
    /// The frequency over some trials; `None` with fewer than 2 that had a chance, since one does
    /// not tell how much trials differ.
    pub(crate) fn over(trials: &[Tally]) -> Option<Self> {
        let trials: Vec<Tally> = trials.iter().copied().filter(|t| t.chances > 0).collect();
        if trials.len() < 2 {
            return None;
        }
        let all = trials.iter().fold(Tally::default(), |sum, trial| Tally {
            events: sum.events.saturating_add(trial.events),
            chances: sum.chances.saturating_add(trial.chances),
        });
        let scatter = scatter(&trials, all);
        let effective = effective(trials.len(), all, scatter);
        Some(Frequency { all, trials: trials.len(), effective, scatter })
    }

    /// Whether the trials differ by so much more than chance that a reader should know.
    pub(crate) fn is_clustered(&self) -> bool {
        self.scatter > CLUSTERED
    }

    fn point(&self) -> f64 {
        self.all.events as f64 / self.all.chances as f64
    }

    /// The number with its interval. There is no standard error where all or none are events.
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

    /// Zero where all or none are events.
    pub(crate) fn standard_error(&self) -> f64 {
        (self.point() * (1.0 - self.point()) / self.effective).sqrt()
    }

    /// The probability of so many events or more, if each chance is one with that probability; where
    /// the trials tell of less than one independent event, the most that it can be.
    pub(crate) fn at_least(&self, chance: f64) -> f64 {
        let events = self.point() * self.effective;
        if events > 0.0 && events < 1.0 {
            return (chance / self.point()).clamp(0.0, 1.0);
        }
        binomial_at_least(events, self.effective, chance)
    }

    /// The same for so many or fewer.
    pub(crate) fn at_most(&self, chance: f64) -> f64 {
        let others = (1.0 - self.point()) * self.effective;
        if others > 0.0 && others < 1.0 {
            return ((1.0 - chance) / (1.0 - self.point())).clamp(0.0, 1.0);
        }
        binomial_at_most(self.point() * self.effective, self.effective, chance)
    }
}

/// The share of chances that were events, with the exact interval of Clopper and Pearson: for
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
        scatter: 1.0,
    };
    Some(frequency.estimate())
}

/// The variance between trials of the ratio of two sums (Cochran, *Sampling Techniques*, 1977,
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

/// Korn and Graubard's effective number of chances: those there were, divided by the scatter, times
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

    fn tallies(events: &[u64], chances: u64) -> Vec<Tally> {
        events.iter().map(|&events| Tally { events, chances }).collect()
    }

    /// The same number of events in every trial: no clustering can be seen.
    fn pooled(events: u64, chances: u64) -> Frequency {
        Frequency {
            all: Tally { events, chances },
            trials: 2,
            effective: chances as f64,
            scatter: 1.0,
        }
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
            let estimate = pooled(events, chances).estimate();
            assert!((estimate.low - low).abs() < 1e-6, "{estimate:?}");
            assert!((estimate.high - high).abs() < 1e-6, "{estimate:?}");
            let plain = proportion(events, chances).unwrap();
            assert_eq!((plain.low, plain.high), (estimate.low, estimate.high));
            assert_eq!(u64::from(plain.samples), chances);
        }
        assert_eq!((proportion(0, 0), proportion(3, 2)), (None, None));
        assert_eq!(pooled(0, 10).estimate().standard_error, None);
        assert_eq!(pooled(10, 20).estimate().standard_error, Some((0.25_f64 / 20.0).sqrt()));
    }

    #[test]
    fn rates_per_million_have_the_limits_of_poisson() {
        // Garwood, Fiducial limits for the Poisson distribution, Biometrika 28, 1936: 12 events
        // lie within 6.2006 and 20.9616; of none the upper limit is −ln 0.025 = 3.6889.
        let estimate = pooled(12, 3_400_000_000).estimate();
        assert!((estimate.low * 3.4e9 - 6.200_6).abs() < 1e-3, "{estimate:?}");
        assert!((estimate.high * 3.4e9 - 20.961_6).abs() < 1e-3, "{estimate:?}");
        let none = pooled(0, 1_000_000_000).estimate();
        assert!((none.high * 1e9 - 3.688_9).abs() < 1e-3, "{none:?}");
    }

    #[test]
    fn the_effective_number_is_that_of_korn_and_graubard() {
        // By hand: 30 of 600 is 5 of each 100, and each trial is 5 away from that.
        let trials = tallies(&[0, 0, 0, 10, 10, 10], 100);
        let all = Tally { events: 30, chances: 600 };
        let point: f64 = 30.0 / 600.0;
        let squares = 6.0 * 25.0;
        let variance = 6.0 / 5.0 * squares / 360_000.0;
        // t quantiles: 1.963925 for 599 degrees of freedom, 2.570582 for 5.
        let expected =
            point * (1.0 - point) * 600.0 / 599.0 / variance * (1.963_925_f64 / 2.570_582).powi(2);
        let found = Frequency::over(&trials).unwrap();
        assert_eq!((found.all, found.trials), (all, 6));
        assert!((found.effective / expected - 1.0).abs() < 1e-5, "{found:?} {expected}");
        assert!(found.is_clustered());
        let wider = found.estimate();
        let naive = pooled(30, 600).estimate();
        assert!(wider.low < naive.low && wider.high > naive.high && wider.point == naive.point);
        assert_eq!(wider.samples, 6);
    }

    #[test]
    fn trials_that_agree_or_have_one_chance_count_in_full() {
        let agree = Frequency::over(&tallies(&[5, 5, 5, 5], 100)).unwrap();
        assert_eq!(agree.effective, 400.0);
        let single = Frequency::over(&tallies(&[0, 1, 0, 1, 1, 0, 0], 1)).unwrap();
        assert!((single.effective - 7.0).abs() < 1e-6, "{single:?}");
        assert!(!single.is_clustered());
    }

    #[test]
    fn none_and_all_keep_their_chances() {
        let none = Frequency::over(&tallies(&[0; 6], 50_000)).unwrap();
        assert_eq!((none.effective, none.estimate().low), (300_000.0, 0.0));
        assert!((none.estimate().high - 3.688_9 / 3e5).abs() < 1e-9);
        let all = Frequency::over(&tallies(&[7; 6], 7)).unwrap();
        assert_eq!((all.effective, all.estimate().high), (42.0, 1.0));
        assert!(all.estimate().low > 0.9);
    }

    #[test]
    fn one_trial_tells_nothing_of_how_much_trials_differ() {
        assert_eq!(Frequency::over(&tallies(&[3], 100)), None);
        assert_eq!(Frequency::over(&[]), None);
        let idle = Tally { events: 0, chances: 0 };
        assert_eq!(Frequency::over(&[idle, Tally { events: 3, chances: 100 }]), None);
    }

    #[test]
    fn a_burst_in_one_trial_of_many_says_little() {
        let mut events = [0; 12];
        events[4] = 12;
        let burst = Frequency::over(&tallies(&events, 300_000)).unwrap();
        // All of it happened at once: hardly more than one event is known.
        assert!(burst.effective * burst.point() < 1.5, "{burst:?}");
        assert!(burst.estimate().high > 4.0 * pooled(12, 3_600_000).estimate().high / 2.0);
    }

    #[test]
    fn less_than_one_independent_event_leaves_a_limit_that_can_be_read() {
        // One burst, in one of two trials: 0.02 independent chances.
        let burst = Frequency::over(&tallies(&[100, 0], 100)).unwrap();
        assert!(burst.effective < 0.1, "{burst:?}");
        let found = burst.estimate();
        assert!((found.low - 0.5 / 40.0).abs() < 1e-12, "{found:?}");
        assert!((found.high - (1.0 - 0.5 / 40.0)).abs() < 1e-12, "{found:?}");
        // A rare one, of which the chances are many.
        let rare = Frequency::over(&tallies(&[12, 0, 0], 300_000)).unwrap();
        let found = rare.estimate();
        assert!((found.low / found.point - 1.0 / 40.0).abs() < 1e-9, "{found:?}");
        assert!(found.high > found.point && found.high < 1.0, "{found:?}");
        // Test and limit agree, and what was seen once is not impossible.
        assert!((rare.at_least(found.low) - 0.025).abs() < 1e-9);
        assert_eq!((rare.at_least(0.0), rare.at_least(0.5)), (0.0, 1.0));
        // At one event the limit of Clopper and Pearson takes over, all but where the other ends.
        let one = |effective: f64| Frequency { effective, ..pooled(1, 1000) }.estimate().low;
        assert!((one(999.9) / one(1000.0) - 1.0).abs() < 0.02, "{} {}", one(999.9), one(1000.0));
    }

    #[test]
    fn a_lower_limit_from_one_burst_holds_for_bursts_of_any_size() {
        // Two trials; a burst in one of `rarity`, of a size that is itself drawn: 2ᵏ with chance 2⁻ᵏ⁻¹.
        let chances = 1_u64 << 20;
        let (mut sum, mut random) = (0.0, 88_172_645_463_325_252_u64);
        let mut draw = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        };
        for rarity in [2, 8, 64] {
            let mut missed = 0;
            let size = |bits: u64| 1_u64 << bits.trailing_ones().min(12);
            let truth = (0..=12_i32)
                .map(|k| 2f64.powi(k) * 2f64.powi(if k == 12 { -12 } else { -k - 1 }))
                .sum::<f64>()
                / (rarity as f64 * chances as f64);
            for _ in 0..4000 {
                let mut trial = || if draw() % rarity == 0 { size(draw() >> 20) } else { 0 };
                let trials = [trial(), trial()];
                let low = Frequency::over(&tallies(&trials, chances)).unwrap().estimate().low;
                missed += usize::from(low > truth);
                sum += low;
            }
            assert!(missed <= 4000 / 40 + 30, "one in {rarity}: {missed} of 4000");
        }
        assert!(sum > 0.0);
    }
}
