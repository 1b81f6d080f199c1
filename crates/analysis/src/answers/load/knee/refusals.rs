//! The capacity of a server that refuses what is too much for it (a limiter, a bounded queue, load that is
//! shed).
//!
//! No queue builds up there, so that how late requests are says nothing of the capacity. It lies between the
//! highest rate of which enough requests succeeded and the lowest of which too many failed. Limiters often
//! allow bursts, so that trials are long and their second half counts.

use super::{KneeSearch, KneeStep, MEASURE_LIMITS, TRIAL_REQUESTS, broken_by};
use model::{Estimate, KneeBreak, KneeEnd, KneeStage, KneeTrial};

/// The part of a trial that comes first and does not count.
pub(super) const FIRST_PART: f64 = 0.5;

/// How long a trial is, in ns, within which it is this part of the time that is left.
const LENGTHS_NS: [f64; 2] = [3e9, 20e9];
const LENGTH_PART: f64 = 0.2;

/// What is tried first around the rate of success of a server that refuses the rest: nothing should fail,
/// and a tenth.
const AROUND: [f64; 2] = [0.99, 1.12];

/// An interval is at most this wide, as a part of the capacity.
const WIDEST: f64 = 0.5;

/// Without a rate that held, the next is this part of the lowest that broke.
const DOWN: f64 = 0.5;

impl KneeSearch {
    /// Reports whether the server failed requests, rather than answer them late, where it broke first.
    pub(super) fn refuses(&self) -> bool {
        let broke = self.broke().map(|number| self.trials[number]);
        broke.is_some_and(|trial| broken_by(&trial) == KneeBreak::Throughput)
    }

    /// Returns the highest rate that a long trial sustained, and the lowest that broke.
    fn between_refusals(&self) -> (Option<f64>, Option<f64>) {
        let tried = || self.trials.iter().filter(|trial| trial.stage != KneeStage::Alone);
        let broke = tried().filter(|trial| !trial.held()).map(|trial| trial.per_s);
        let broke = broke.reduce(f64::min);
        let is_below = |trial: &&KneeTrial| {
            trial.stage == KneeStage::Measure
                && trial.held()
                && broke.is_none_or(|broke| trial.per_s < broke)
        };
        (tried().filter(is_below).map(|trial| trial.per_s).reduce(f64::max), broke)
    }

    /// Returns the next trial between the two.
    pub(super) fn bisect(&self, limit_ns: f64, left_ns: f64) -> KneeStep {
        let (held, broke) = self.between_refusals();
        let Some(broke) = broke else { return KneeStep::End(KneeEnd::OutOfTime) };
        if held.is_some_and(|held| broke / held <= 1.0 + 2.0 * self.rules.precision) {
            return KneeStep::End(KneeEnd::Precise);
        }
        // The longest trial that broke says best what succeeds beside what is refused.
        let longest = (0..self.trials.len())
            .filter(|number| !self.trials[*number].held())
            .max_by_key(|number| self.trials[*number].elapsed_ns);
        let sustained = longest.map_or(0.0, |number| self.throughputs[number]);
        let is_between = |per_s: &f64| held.is_none_or(|held| *per_s > held) && *per_s < broke;
        let around = AROUND.map(|times| times * sustained).into_iter().find(is_between);
        let per_s = around.unwrap_or_else(|| match held {
            Some(held) => (held * broke).sqrt(),
            None => DOWN * broke,
        });
        if per_s < super::RATE_LEAST {
            return KneeStep::End(KneeEnd::LowestBroke);
        }
        let wanted_ns = (LENGTH_PART * left_ns).clamp(LENGTHS_NS[0], LENGTHS_NS[1]);
        let length_ns = wanted_ns
            .max(2.0 * TRIAL_REQUESTS / per_s * 1e9)
            .max(MEASURE_LIMITS * limit_ns)
            .max(self.rules.trial_least_ns as f64);
        if length_ns > left_ns {
            return KneeStep::End(KneeEnd::OutOfTime);
        }
        let length_ms = (length_ns / 1e6).ceil() as u64;
        KneeStep::Try { per_s, length_ms, stage: KneeStage::Measure }
    }

    /// Returns the capacity: about the highest rate that a long trial sustained, and below the lowest that broke.
    pub(super) fn capacity_by_refusals(&self) -> Option<Estimate> {
        let (held, broke) = self.between_refusals();
        let (held, broke) = held.zip(broke).filter(|(held, broke)| broke / held <= 1.0 + WIDEST)?;
        // What was saved for bursts lasts for minutes where hardly more comes than may pass: what succeeds
        // beside refusals is the limit.
        let number = (0..self.trials.len()).find(|number| self.trials[*number].per_s == broke)?;
        let sustained = held.min(self.throughputs[number]);
        Some(Estimate {
            point: sustained,
            low: sustained,
            high: broke,
            standard_error: None,
            level: 0.95,
            samples: self.of(KneeStage::Measure).count() as u32,
        })
    }
}
