//! `scruple load URL --find-knee`: the highest rate that a server sustains.

use super::live::Watch;
use super::plan::{Asked, TRIAL_MS, at_rate};
use crate::cli::load::LoadArgs;
use crate::exit::Exit;
use crate::{session, ui};
use analysis::{KneeInput, KneeStep};
use anyhow::{Result, bail};
use model::{KneeEnd, KneeRules, KneeTrial, LoadPlan, LoadResult};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The time to measure in where none is stated.
const BUDGET: Duration = Duration::from_secs(120);

/// Blocks at most, and how narrow the interval is to be.
const BLOCKS: u32 = 12;
const PRECISION: f64 = 0.03;

/// Requests that a 95th percentile needs: ten lie beyond it.
const REQUESTS_LEAST: f64 = 200.0;

/// A trial of a low rate is at most this many times as long as the others.
const LONGER_MAX: u64 = 5;

pub(super) fn find(args: &LoadArgs, asked: &Asked) -> Result<Exit> {
    let rules = KneeRules {
        from_per_s: args.from,
        most_per_s: args.rate,
        limit_ns: args.limit,
        blocks: BLOCKS,
        precision: PRECISION,
        seed: asked.seed,
    };
    let budget = args.time_budget.map_or(BUDGET, Duration::from_millis);
    let search = Search {
        args,
        asked,
        rules,
        budget,
        begun: Instant::now(),
        watch: Watch::new(Some(budget)).never_gives_up(),
        trials: Vec::new(),
        doubts: BTreeMap::new(),
    };
    let (end, trials, doubts) = search.conduct()?;
    let (scruple, plan) = (session::VERSION, &asked.plan);
    let input = KneeInput { scruple, plan, rules, trials: &trials, end, doubts };
    let knee = analysis::knee(input);
    ui::show(args.json, &knee, |width| report::knee(&knee).text(width))?;
    match end {
        KneeEnd::NoAnswer => bail!("{} answered nothing", asked.plan.url),
        _ if knee.capacity_per_s.is_some() && end != KneeEnd::Interrupted => Ok(Exit::Done),
        _ => Ok(Exit::Incomplete),
    }
}

/// A search under way.
struct Search<'a> {
    args: &'a LoadArgs,
    asked: &'a Asked,
    rules: KneeRules,
    budget: Duration,
    begun: Instant,
    watch: Watch,
    trials: Vec<KneeTrial>,
    /// What made trials doubtful by its words without their numbers: in how many, and the last.
    doubts: BTreeMap<String, (usize, String)>,
}

impl Search<'_> {
    /// Conducts trials until the answer is known or none can be. Returns how it ended, the trials and their
    /// doubts.
    fn conduct(mut self) -> Result<(KneeEnd, Vec<KneeTrial>, Vec<String>)> {
        let end = loop {
            let (per_s, block) = match analysis::knee_next(&self.rules, &self.trials) {
                KneeStep::Try { per_s, block } => (per_s, block),
                KneeStep::End(end) => break end,
            };
            let length_ms = length_ms(per_s, self.args.duration.unwrap_or(TRIAL_MS));
            if self.begun.elapsed() + Duration::from_millis(length_ms) > self.budget {
                break KneeEnd::OutOfTime;
            }
            let Some(result) = self.trial(per_s, block, length_ms)? else {
                break KneeEnd::Interrupted;
            };
            for doubt in &result.doubts {
                let known = self.doubts.entry(without_numbers(doubt)).or_default();
                *known = (known.0 + 1, doubt.clone());
            }
            self.trials.push(measured(&result, per_s, block));
        };
        let doubts = self.doubts();
        Ok((end, self.trials, doubts))
    }

    fn trial(&mut self, per_s: f64, block: u32, length_ms: u64) -> Result<Option<LoadResult>> {
        let seed = self.asked.seed.wrapping_add(self.trials.len() as u64);
        let plan = LoadPlan {
            arrivals: at_rate(self.args.open, per_s, seed),
            duration_ms: Some(length_ms),
            ..self.asked.plan.clone()
        };
        let stage = if block == 0 { "search".into() } else { format!("block {block}") };
        let about = format!("{stage}, {per_s:.0} per second");
        let outcome = self.watch.run_part(&about, &plan, &self.asked.body, false)?;
        Ok(outcome.map(|(outcome, _)| outcome.result))
    }

    /// Returns the doubts, with how many trials each was of.
    fn doubts(&self) -> Vec<String> {
        let all = self.trials.len();
        let line = |(n, last): &(usize, String)| {
            format!(
                "In {n} of {all} trials (here the last of them): {}",
                last.trim_end_matches('.')
            )
        };
        self.doubts.values().map(line).collect()
    }
}

/// Returns a sentence with its numbers taken out, so that those of two trials are the same.
fn without_numbers(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit() && !".,".contains(*c)).collect()
}

/// Returns how long a rate is tried, in ms.
fn length_ms(per_s: f64, least_ms: u64) -> u64 {
    let wanted = (REQUESTS_LEAST / per_s * 1e3).ceil() as u64;
    wanted.clamp(least_ms, least_ms.saturating_mul(LONGER_MAX))
}

fn measured(result: &LoadResult, per_s: f64, block: u32) -> KneeTrial {
    let counts = &result.counts;
    KneeTrial {
        block,
        per_s,
        elapsed_ns: result.elapsed_ns,
        due: counts.due(),
        succeeded: counts.succeeded,
        open: counts.in_flight + counts.unsent,
        p50_ns: result.response.at(50.0),
        p95_ns: result.response.at(95.0),
        service_p95_ns: result.service.at(95.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::tests::result;
    use model::{LoadCounts, LoadError, LoadPercentile, LoadTimes};

    #[test]
    fn a_low_rate_is_tried_for_longer() {
        assert_eq!(length_ms(50.0, 2_000), 4_000);
        assert_eq!(length_ms(10_000.0, 2_000), 2_000);
        assert_eq!(length_ms(0.1, 2_000), 10_000);
    }

    #[test]
    fn doubts_that_differ_in_numbers_are_one() {
        let same =
            ["1 % were sent 1.142 ms late", "12 % were sent 11.9 ms late"].map(without_numbers);
        assert_eq!(same[0], same[1]);
        assert_ne!(same[0], without_numbers("it was ended before its time"));
    }

    #[test]
    fn a_trial_holds_every_request_that_came_due() {
        let counts = LoadCounts {
            sent: 99,
            answered: 90,
            succeeded: 80,
            errors: [(LoadError::Reset, 4)].into(),
            timed_out: 3,
            in_flight: 2,
            unsent: 1,
            ..LoadCounts::default()
        };
        let percentiles = vec![
            LoadPercentile { percent: 50.0, ns: Some(5) },
            LoadPercentile { percent: 95.0, ns: None },
        ];
        let response = LoadTimes { percentiles, ..LoadTimes::default() };
        let trial = measured(&LoadResult { counts, response, ..result() }, 10.0, 2);
        assert_eq!((trial.due, trial.succeeded, trial.open), (100, 80, 3));
        assert_eq!((trial.p50_ns, trial.p95_ns, trial.block), (Some(5), None, 2));
    }
}
