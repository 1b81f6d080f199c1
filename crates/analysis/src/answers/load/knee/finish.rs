//! How a search ends: whether the server is still the same, and what all trials say.

use super::refusals::{Failures, broken_by};
use super::{ALONE_REQUESTS, KneeSearch, KneeStep};
use model::{Estimate, Knee, KneeBreak, KneeEnd, KneeRules, KneeStage, KneeTrial, LoadPlan};

/// One request at a time once more: for this time at most, within this part of the time that is left.
const LAST_NS: f64 = 2e9;
const LAST_PART: f64 = 0.1;

/// A server is slower if the median of one request at a time is longer by this part, or by this number of standard
/// errors of the ratio of two medians of exponential times.
const SLOWER: f64 = 0.25;
const SLOWER_ERRORS: f64 = 3.5;

/// A server that holds a rate for a trial of the search does not have a capacity below this part of it: who expects so
/// after another trial has met a server that changed.
const ROUGHLY_LEAST: f64 = 0.5;

/// Medians of fewer requests say nothing.
const MEDIAN_LEAST: u64 = 10;

impl KneeSearch {
    /// Returns the time that is kept for one request at a time at the end.
    pub(super) fn last_ns(&self, left_ns: f64) -> f64 {
        match self.measures() {
            true => LAST_NS.min(LAST_PART * left_ns),
            false => 0.0,
        }
    }

    /// Reports whether trials near the capacity began.
    fn measures(&self) -> bool {
        self.of(KneeStage::Measure).next().is_some() && !self.refuses()
    }

    /// Returns the last step: one request at a time once more, to see whether the server is still the same.
    pub(super) fn last(&self, end: KneeEnd, left_ns: f64) -> KneeStep {
        if !self.measures() || end == KneeEnd::NoAnswer || left_ns < LAST_NS * LAST_PART {
            return KneeStep::End(end);
        }
        let length_ms = (LAST_NS.min(left_ns) / 1e6) as u64;
        KneeStep::Alone { requests: ALONE_REQUESTS, length_ms, per_s: None }
    }

    /// Adds what one request at a time showed at the end.
    pub(super) fn add_last(&mut self, trial: KneeTrial, answered: u64) {
        let per_s = answered as f64 * 1e9 / trial.elapsed_ns.max(1) as f64;
        self.push(
            KneeTrial { per_s, counted: answered, late: 0, ..trial },
            &[],
            0..0,
            Failures::default(),
        );
        // It changes no estimate.
        if let Some((trials, _)) = &mut self.estimate {
            *trials += 1;
        }
    }

    /// Returns the medians of one request at a time at first and at the end, in ns, if the server became slower.
    fn slowed_ns(&self) -> Option<[u64; 2]> {
        let mut alone = self.of(KneeStage::Alone).map(|number| &self.trials[number]);
        let (first, last) = (alone.next()?, alone.next_back()?);
        let fewest = first.counted.min(last.counted);
        let (before, after) = first.p50_ns.zip(last.p50_ns)?;
        let errors = (1.0 / first.counted.max(1) as f64 + 1.0 / last.counted.max(1) as f64).sqrt();
        let is_slower = after as f64 > before as f64 * (1.0 + SLOWER.max(SLOWER_ERRORS * errors));
        (self.measures() && fewest >= MEDIAN_LEAST && is_slower).then_some([before, after])
    }

    /// Returns a capacity that lies below all rates near it at which more requests than may failed, rather than
    /// were late: where it would not, what the failures say.
    fn below_failures(&self, found: Estimate) -> Option<Estimate> {
        let failed = |trial: &&KneeTrial| {
            let failed = trial.due.saturating_sub(trial.succeeded + trial.open);
            failed as f64 > (1.0 - KneeRules::WITHIN_LEAST) * trial.due as f64
        };
        let failed = self.trials.iter().filter(|it| it.stage != KneeStage::Alone).filter(failed);
        match failed.map(|it| it.per_s).reduce(f64::min) {
            Some(lowest) if found.point >= lowest => self.capacity_by_refusals(),
            lowest => {
                Some(Estimate { high: found.high.min(lowest.unwrap_or(found.high)), ..found })
            }
        }
    }

    /// Returns what the trials say, and why no more were measured.
    pub fn finish(
        mut self,
        scruple: &str,
        plan: &LoadPlan,
        end: KneeEnd,
        doubts: Vec<String>,
    ) -> Knee {
        let refuses = self.refuses();
        let capacity_per_s = self.capacity();
        let capacity_per_s = if refuses {
            capacity_per_s
        } else {
            capacity_per_s.and_then(|it| self.below_failures(it))
        };
        let open = || self.trials.iter().filter(|trial| trial.stage != KneeStage::Alone);
        let broke = open().filter(|trial| !trial.held()).min_by(|a, b| a.per_s.total_cmp(&b.per_s));
        let below = |trial: &&KneeTrial| broke.is_none_or(|broke| trial.per_s < broke.per_s);
        let held = open().filter(|trial| trial.held()).filter(below).map(|trial| trial.per_s);
        let [held_per_s, broke_per_s] = match (&capacity_per_s, refuses) {
            (Some(found), true) => [Some(found.low), Some(found.high)],
            (None, true) => self.explained().0,
            _ => [held.reduce(f64::max), broke.map(|trial| trial.per_s)],
        };
        let roughly = self.roughly_per_s().filter(|_| capacity_per_s.is_none());
        let least = held_per_s.map_or(0.0, |held| ROUGHLY_LEAST * held);
        Knee {
            scruple: scruple.into(),
            plan: plan.clone(),
            rules: self.rules,
            limit_ns: self.limit_ns(),
            alone_p95_ns: self.alone.map(|alone| alone.p95_ns),
            roughly_per_s: roughly.filter(|place| *place >= least),
            needed_ns: capacity_per_s.is_none().then(|| self.needed_ns()).flatten(),
            capacity_per_s,
            held_per_s,
            broke_per_s,
            broke_by: match refuses {
                true => Some(KneeBreak::Throughput),
                false => broke.map(broken_by),
            },
            end,
            slowed_ns: self.slowed_ns(),
            trials: self.trials.clone(),
            doubts,
        }
    }
}
