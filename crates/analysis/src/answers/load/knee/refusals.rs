//! The capacity of a server that refuses what is too much for it (a limiter, a bounded queue, load that is
//! shed).
//!
//! No queue builds up there, so that how late requests are says nothing of the capacity. It lies between the
//! highest rate of which enough requests succeeded and the lowest of which too many failed. Limiters often
//! allow bursts, so that trials are long and their second half counts.

use super::{KneeSearch, KneeStep, MEASURE_LIMITS, TRIAL_REQUESTS};
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

/// How many long trials say of each end of the interval that it held, or broke, before the search ends.
const CONFIRMED: usize = 2;

/// Without a rate that held, the next is this part of the lowest that broke.
const DOWN: f64 = 0.5;

/// A rate, and how many long trials say of it that it held, or broke.
type Edge = (f64, usize);

impl KneeSearch {
    /// Reports whether the server failed requests, rather than answer them late, where it broke first.
    pub(super) fn refuses(&self) -> bool {
        let broke = self.broke().map(|number| self.trials[number]);
        broke.is_some_and(|trial| broken_by(&trial) == KneeBreak::Throughput)
    }

    /// Returns the highest rate that held and the lowest that broke, with how many long trials say so of each: on
    /// either side of the rate that the fewest trials contradict, since one may have been disturbed. Short trials
    /// of the search count half.
    fn between_refusals(&self) -> [Option<Edge>; 2] {
        let mut rates: Vec<f64> = self.trials[1..].iter().map(|trial| trial.per_s).collect();
        rates.push(f64::INFINITY);
        let contradict = |edge: &f64| {
            let is_against = |trial: &&KneeTrial| trial.held() == (trial.per_s >= *edge);
            self.trials[1..].iter().filter(is_against).map(weight).sum::<f64>()
        };
        let Some(edge) = rates
            .iter()
            .copied()
            .min_by(|a, b| contradict(a).total_cmp(&contradict(b)).then(a.total_cmp(b)))
        else {
            return [None; 2];
        };
        let of = |is_held: bool| {
            let is_of = move |trial: &&KneeTrial| {
                trial.held() == is_held && (trial.per_s < edge) == is_held
            };
            self.trials[1..].iter().filter(is_of)
        };
        let held = of(true).filter(is_long).map(|trial| trial.per_s).reduce(f64::max);
        let broke = of(false).map(|trial| trial.per_s).reduce(f64::min);
        let held = held.map(|per_s| (per_s, of(true).filter(is_long).count()));
        [held, broke.map(|per_s| (per_s, of(false).filter(is_long).count()))]
    }

    /// Returns the next trial between the two.
    pub(super) fn bisect(&self, limit_ns: f64, left_ns: f64) -> KneeStep {
        let [held, broke] = self.between_refusals();
        let Some((broke, broken)) = broke else { return KneeStep::End(KneeEnd::OutOfTime) };
        let is_near = |held: f64| broke / held <= 1.0 + 2.0 * self.rules.precision;
        let again = match held {
            Some((held, times)) if is_near(held) && times < CONFIRMED => Some(held),
            Some((held, _)) if is_near(held) && broken < CONFIRMED => Some(broke),
            Some((held, _)) if is_near(held) => return KneeStep::End(KneeEnd::Precise),
            _ => None,
        };
        let held = held.map(|(held, _)| held);
        // The longest trial that broke says best what succeeds beside what is refused.
        let longest = (0..self.trials.len())
            .filter(|number| !self.trials[*number].held())
            .max_by_key(|number| self.trials[*number].elapsed_ns);
        let sustained = longest.map_or(0.0, |number| self.throughputs[number]);
        let is_between = |per_s: &f64| held.is_none_or(|held| *per_s > held) && *per_s < broke;
        let around = AROUND.map(|times| times * sustained).into_iter().find(is_between);
        // A short trial that held says where a long one may.
        let short = self.of(KneeStage::Search).map(|number| self.trials[number]);
        let short = short.filter(|trial| trial.held() && trial.per_s < broke);
        let short = short.map(|trial| trial.per_s).reduce(f64::max);
        let per_s = again.or(around).unwrap_or_else(|| match (held, short) {
            (Some(held), _) => (held * broke).sqrt(),
            (None, Some(short)) => short,
            (None, None) => DOWN * broke,
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
        let [held, broke] = self.between_refusals();
        let (held, broke) = held
            .zip(broke)
            .map(|((held, _), (broke, _))| (held, broke))
            .filter(|(held, broke)| broke / held <= 1.0 + WIDEST)?;
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

/// Returns what a trial says against one that contradicts it.
fn weight(trial: &KneeTrial) -> f64 {
    match trial.stage {
        KneeStage::Alone => 0.0,
        KneeStage::Search => 0.5,
        KneeStage::Measure => 1.0,
    }
}

fn is_long(trial: &&KneeTrial) -> bool {
    trial.stage == KneeStage::Measure
}

/// Returns what a trial broke by: whether most of those that were late failed, or took too long.
pub(super) fn broken_by(trial: &KneeTrial) -> KneeBreak {
    let failed = trial.due.saturating_sub(trial.succeeded + trial.open);
    let late = trial.late_part().unwrap_or(0.0) * trial.due as f64;
    if failed as f64 > late / 2.0 { KneeBreak::Throughput } else { KneeBreak::ResponseTime }
}
