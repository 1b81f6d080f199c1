//! The capacity of a server that refuses what is too much for it (a limiter, a bounded queue, load that is
//! shed).
//!
//! No queue builds up there, so that how late requests are says nothing of the capacity. The share of failures
//! rises with the rate, near the capacity about as a power of it. All capacities that explain the failures of all
//! trials with some power nearly as well as the best make the interval (a profile likelihood; S. S. Wilks, *The
//! large-sample distribution of the likelihood ratio*, Annals of Mathematical Statistics 9, 1938). The next trial
//! is at one of its ends, so that they come closer.

use super::simulated_queue::HALF_WIDTH_LEAST;
use super::{
    KneeSearch, KneeStep, MEASURE_LIMITS, MeasuredRequest, RATE_LEAST, RISE, TRIAL_REQUESTS,
};
use model::{Estimate, KneeBreak, KneeEnd, KneeRules, KneeStage, KneeTrial};
use std::ops::Range;

/// The part of a trial that comes first and does not count: limiters often allow bursts.
pub(super) const FIRST_PART: f64 = 0.25;

/// The number of parts of a trial whose scatter is that of its failures.
const PARTS: usize = 10;

/// The share of failures beyond which more say nothing, and the standard errors beyond which a trial is taken for
/// one that was disturbed.
const SHARE_MOST: f64 = 0.15;
const ERRORS_MOST: f64 = 4.0;

/// By how much the logarithm of the likelihood of a capacity in the interval is below the best: 95 % with what
/// stopping at a narrow interval costs.
const UNLIKELY: f64 = 3.0;

/// The powers that are tried: this number of them from the first to the last, and the capacities: by this factor.
const POWERS: [f64; 2] = [0.5, 60.0];
const POWERS_TRIED: usize = 12;
const STEP: f64 = 1.015;

/// How long a trial is: this part of the time that is left, and at most this, in ns; and how many measure at least.
const LENGTH_PART: f64 = 0.1;
const LENGTHS_NS: [f64; 2] = [3e9, 20e9];
const MEASURED_LEAST: usize = 6;

/// Where no rate held, the next is the lowest times a factor within these.
const LOWER: [f64; 2] = [0.125, 0.8];

/// An interval that is wider than this factor is halved.
const WIDE: f64 = 1.4;

/// The failures of a trial.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Failures {
    /// Requests that were to come.
    due: f64,
    /// How many of them failed or were late, if exactly as many came.
    failed: f64,
    /// The variance of that by the scatter between the parts of the trial.
    scatter: f64,
}

impl Failures {
    /// Counts those of requests that came in some time, each with whether it failed: where more came than were to,
    /// more failed.
    pub(super) fn of(
        requests: impl Iterator<Item = (u64, bool)>,
        span: Range<u64>,
        per_s: f64,
    ) -> Self {
        let length_ns = span.end.saturating_sub(span.start).max(1);
        let mut parts = [[0.0; 2]; PARTS];
        for (at_ns, failed) in requests {
            let part = (at_ns - span.start) as usize * PARTS / length_ns as usize;
            let [came, failures] = &mut parts[part.min(PARTS - 1)];
            *came += 1.0;
            *failures += f64::from(u8::from(failed));
        }
        let sums = [0, 1].map(|of: usize| parts.iter().map(|part| part[of]).sum::<f64>());
        let product = |one: usize, other: usize| -> f64 {
            let from_mean = |part: &[f64; 2], of: usize| part[of] - sums[of] / PARTS as f64;
            parts.iter().map(|part| from_mean(part, one) * from_mean(part, other)).sum()
        };
        let slope = (product(0, 1) / product(0, 0).max(1e-9)).clamp(0.0, 1.0);
        let due = per_s * length_ns as f64 / 1e9;
        let rest = product(1, 1) - slope * (2.0 * product(0, 1) - slope * product(0, 0));
        let scatter = rest * PARTS as f64 / (PARTS - 2) as f64;
        Failures { due, failed: (sums[1] + slope * (due - sums[0])).max(0.0), scatter }
    }

    /// Returns how badly a share explains them: half the square of the standard errors between the two.
    fn against(&self, share: f64) -> f64 {
        let share = share.min(SHARE_MOST);
        let counts = (SHARE_MOST * self.due / self.failed.max(1.0)).min(1.0);
        let chance = self.due * share * (1.0 - share);
        let error = (self.scatter * counts.powi(2)).max(chance).max(0.25).sqrt();
        let errors = (self.failed * counts - share * self.due) / error;
        errors.abs().min(ERRORS_MOST).powi(2) / 2.0
    }
}

/// Returns how badly a capacity explains the failures at each rate, with the power that does so best.
fn unlikely(trials: &[(f64, Failures)], capacity: f64) -> f64 {
    let mut least = f64::INFINITY;
    for step in 0..POWERS_TRIED {
        let part = step as f64 / (POWERS_TRIED - 1) as f64;
        let power = POWERS[0] * (POWERS[1] / POWERS[0]).powf(part);
        let mut sum = 0.0;
        for (per_s, failures) in trials {
            let share = (1.0 - KneeRules::WITHIN_LEAST) * (per_s / capacity).powf(power);
            sum += failures.against(share);
        }
        least = least.min(sum);
    }
    least
}

impl KneeSearch {
    /// Reports whether the server failed requests, rather than answer them late, where it broke first.
    pub(super) fn refuses(&self) -> bool {
        let broke = self.broke().map(|number| self.trials[number]);
        broke.is_some_and(|trial| broken_by(&trial) == KneeBreak::Throughput)
    }

    /// Returns each rate that was tried, ascending, and its failures.
    fn tried(&self) -> Vec<(f64, Failures)> {
        let open = (0..self.trials.len()).filter(|it| self.trials[*it].stage != KneeStage::Alone);
        let mut all: Vec<_> = open.map(|it| (self.trials[it].per_s, self.failures[it])).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    }

    /// Returns the interval of capacities that explain the failures, an end being `None` if it is not known, and
    /// the one that does so best.
    pub(super) fn explained(&self) -> ([Option<f64>; 2], f64) {
        let trials = self.tried();
        let (Some((lowest, _)), Some((highest, _))) = (trials.first(), trials.last()) else {
            return ([None; 2], 0.0);
        };
        let mut capacities = vec![lowest / 2.0];
        while capacities[capacities.len() - 1] < 2.0 * highest {
            capacities.push(capacities[capacities.len() - 1] * STEP);
        }
        let all: Vec<f64> = capacities.iter().map(|per_s| unlikely(&trials, *per_s)).collect();
        let least = all.iter().copied().fold(f64::INFINITY, f64::min);
        // Trials that differ by more than chance say less.
        let scatters = (2.0 * least / trials.len().saturating_sub(2).max(1) as f64).max(1.0);
        let mut likely = (0..all.len()).filter(|it| all[*it] <= least + UNLIKELY * scatters);
        let first = likely.next().unwrap_or(0);
        let last = likely.next_back().unwrap_or(first);
        let low = (first > 0).then(|| capacities[first] / (1.0 + HALF_WIDTH_LEAST));
        let high = (last + 1 < all.len()).then(|| capacities[last] * (1.0 + HALF_WIDTH_LEAST));
        let best = all.iter().position(|one| *one == least).unwrap_or(0);
        ([low, high], capacities[best])
    }

    /// Returns the next trial, at one end of what is explained.
    pub(super) fn bisect(&self, limit_ns: f64, left_ns: f64) -> KneeStep {
        let (ends, point) = self.explained();
        let trials = self.tried();
        let (lowest, failures) = trials[0];
        let highest = trials[trials.len() - 1].0;
        let per_s = match ends {
            [Some(low), Some(high)] => {
                let is_narrow = high / low <= 1.0 + 2.0 * self.rules.precision;
                if is_narrow && self.of(KneeStage::Measure).count() >= MEASURED_LEAST {
                    return KneeStep::End(KneeEnd::Precise);
                }
                // Of both sides as many requests.
                let sign = |(per_s, failures): &(f64, Failures)| match *per_s > point {
                    true => failures.due,
                    false => -failures.due,
                };
                match high / low > WIDE {
                    true => (low * high).sqrt(),
                    false if trials.iter().map(sign).sum::<f64>() < 0.0 => high,
                    false => low,
                }
            }
            [_, None] if highest >= self.most() => return KneeStep::End(KneeEnd::HighestHeld),
            [_, None] => RISE * highest,
            [None, _] => {
                let allowed = (1.0 - KneeRules::WITHIN_LEAST) * failures.due;
                lowest * (allowed / failures.failed.max(1e-9)).clamp(LOWER[0], LOWER[1])
            }
        };
        if per_s < RATE_LEAST {
            return KneeStep::End(KneeEnd::LowestBroke);
        }
        let least_ns = LENGTHS_NS[0]
            .max(TRIAL_REQUESTS / per_s * 1e9)
            .max(MEASURE_LIMITS * limit_ns)
            .max(self.rules.trial_least_ns as f64);
        if least_ns > left_ns {
            return KneeStep::End(KneeEnd::OutOfTime);
        }
        let length_ns = (LENGTH_PART * left_ns).min(LENGTHS_NS[1]).max(least_ns);
        let length_ms = (length_ns / 1e6).ceil() as u64;
        KneeStep::Try { per_s: per_s.min(self.most()), length_ms, stage: KneeStage::Measure }
    }

    /// Returns the capacity: the lowest that explains the failures, and the interval.
    pub(super) fn capacity_by_refusals(&self) -> Option<Estimate> {
        let ([low, high], _) = self.explained();
        let (low, high) = low.zip(high)?;
        // What was saved for bursts lasts for minutes where hardly more comes than may pass: what succeeds
        // beside refusals is the limit.
        let above = (1..self.trials.len()).filter(|it| self.trials[*it].per_s >= high);
        let passed = above.map(|it| self.throughputs[it]).filter(|per_s| *per_s > 0.0);
        let low = passed.fold(low, f64::min);
        Some(Estimate {
            point: low,
            low,
            high,
            standard_error: None,
            level: 0.95,
            samples: self.of(KneeStage::Measure).count() as u32,
        })
    }
}

/// Returns what a trial broke by: whether most of those that were late failed, or took too long.
pub(super) fn broken_by(trial: &KneeTrial) -> KneeBreak {
    let failed = trial.due.saturating_sub(trial.succeeded + trial.open);
    let late = trial.late_part().unwrap_or(0.0) * trial.due as f64;
    if failed as f64 > late / 2.0 { KneeBreak::Throughput } else { KneeBreak::ResponseTime }
}

/// Returns the requests with whether they count as failures.
pub(super) fn failures(
    requests: &[MeasuredRequest],
    limit_ns: f64,
) -> impl Iterator<Item = (u64, bool)> + Clone {
    requests.iter().map(move |one| {
        let took = one.done_ns.map(|done_ns| done_ns.saturating_sub(one.at_ns));
        (one.at_ns, one.refused || took.is_none_or(|ns| ns as f64 > limit_ns))
    })
}
