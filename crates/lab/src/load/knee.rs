//! `scruple load URL --find-knee`: the highest rate that a server sustains.

use super::live::{REST_MOST, Watch};
use super::plan::{Asked, TRIAL_MS, at_rate};
use crate::cli::load::{LoadArgs, Open};
use crate::exit::Exit;
use crate::{session, ui};
use analysis::{KneeSearch, KneeStep, MeasuredRequest};
use anyhow::{Result, bail};
use model::{Arrivals, KneeEnd, KneeRules, KneeStage, KneeTrial, LoadPlan, LoadResult};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use wording::number::duration_s;

/// The time to measure in where none is stated.
const BUDGET: Duration = Duration::from_secs(180);

/// How narrow the interval is to be.
const PRECISION: f64 = 0.04;

/// How long a server may take to answer what it has left over from a trial that broke.
const DRAIN_MS: u64 = 20_000;

pub(super) fn find(args: &LoadArgs, asked: &Asked) -> Result<Exit> {
    let budget = args.time_budget.map_or(BUDGET, Duration::from_millis);
    let rules = KneeRules {
        from_per_s: args.from,
        most_per_s: args.rate,
        limit_ns: args.limit,
        budget_ns: budget.as_nanos() as u64,
        trial_least_ns: 1_000_000 * args.duration.unwrap_or(TRIAL_MS),
        constant: args.open == Some(Open::Constant),
        precision: PRECISION,
    };
    ui::note(&format!("--find-knee takes {} at most", duration_s(budget.as_secs().max(1))));
    let mut conduct = Conduct {
        args,
        asked,
        search: KneeSearch::new(rules),
        budget,
        begun: Instant::now(),
        watch: Watch::new(Some(budget)).never_gives_up(),
        trials: 0,
        doubts: BTreeMap::new(),
        announced: false,
    };
    let end = conduct.conduct()?;
    let doubts = conduct.doubts();
    let knee = conduct.search.finish(session::VERSION, &asked.plan, end, doubts);
    ui::show(args.json, &knee, |width| report::knee(&knee).text(width))?;
    match end {
        KneeEnd::NoAnswer => bail!("{} answered nothing", asked.plan.url),
        _ if knee.capacity_per_s.is_some() && end != KneeEnd::Interrupted => Ok(Exit::Done),
        _ => Ok(Exit::Incomplete),
    }
}

/// A search under way.
struct Conduct<'a> {
    args: &'a LoadArgs,
    asked: &'a Asked,
    search: KneeSearch,
    budget: Duration,
    begun: Instant,
    watch: Watch,
    trials: u64,
    /// What made trials doubtful by its words without their numbers: in how many, and the last.
    doubts: BTreeMap<String, (usize, String)>,
    /// Whether the time that the measurement takes was shown.
    announced: bool,
}

impl Conduct<'_> {
    /// Conducts trials until the answer is known or none can be. Returns how it ended.
    fn conduct(&mut self) -> Result<KneeEnd> {
        loop {
            let left = self.left();
            let went_on = match self.search.next(left.as_nanos() as f64) {
                KneeStep::Alone { requests, length_ms, per_s } => {
                    self.alone(requests, length_ms, per_s)?
                }
                KneeStep::Try { per_s, length_ms, stage } => {
                    self.announce(stage, left);
                    self.trial(per_s, length_ms, stage)?
                }
                KneeStep::End(end) => return Ok(end),
            };
            if !went_on {
                return Ok(KneeEnd::Interrupted);
            }
        }
    }

    /// Returns the time that is left for loads.
    fn left(&self) -> Duration {
        self.budget.saturating_sub(self.begun.elapsed() + REST_MOST)
    }

    /// Says once how long it will take, as soon as that is known.
    fn announce(&mut self, stage: KneeStage, left: Duration) {
        let roughly = self.search.roughly_per_s();
        let new = stage == KneeStage::Measure && !self.announced;
        let Some(per_s) = roughly.filter(|_| new) else { return };
        self.announced = true;
        let left = duration_s(left.as_secs().max(1));
        ui::note(&format!(
            "the capacity is about {per_s:.0} per second; measuring for {left} at most"
        ));
    }

    /// Sends requests one at a time. False if somebody ended it.
    fn alone(&mut self, requests: u64, length_ms: u64, per_s: Option<f64>) -> Result<bool> {
        let arrivals = match per_s.or(self.args.rate) {
            Some(per_s) => Arrivals::Paced { per_s },
            None => Arrivals::Closed,
        };
        let plan = LoadPlan {
            arrivals,
            connections: 1,
            threads: 1,
            requests: Some(requests),
            duration_ms: Some(length_ms),
            ..self.asked.plan.clone()
        };
        let outcome = self.watch.run_part("one at a time", &plan, &self.asked.body, false)?;
        let Some((outcome, _)) = outcome else { return Ok(false) };
        let result = outcome.result;
        let answered = result.counts.answered;
        // Where they wait for their turn, only the service is that of one request at a time.
        let service = KneeTrial {
            p50_ns: result.service.at(50.0),
            p95_ns: result.service.at(95.0),
            ..measured(&result, 0.0, KneeStage::Alone)
        };
        self.note(&result);
        self.search.add_alone(service, answered);
        Ok(true)
    }

    /// Tries a rate. False if somebody ended it.
    fn trial(&mut self, per_s: f64, length_ms: u64, stage: KneeStage) -> Result<bool> {
        let seed = self.asked.seed.wrapping_add(self.trials);
        let plan = LoadPlan {
            arrivals: at_rate(self.args.open, per_s, seed),
            duration_ms: Some(length_ms),
            ..self.asked.plan.clone()
        };
        let about = match stage {
            KneeStage::Measure => format!("measuring, {per_s:.0} per second"),
            _ => format!("searching, {per_s:.0} per second"),
        };
        let outcome = self.watch.run_part(&about, &plan, &self.asked.body, true)?;
        let Some((outcome, noted)) = outcome else { return Ok(false) };
        let request = |one: &web::load::Noted| MeasuredRequest {
            at_ns: one.due_ns,
            done_ns: one.done_ns,
            connection: one.connection.unwrap_or(plan.connections),
            refused: matches!(one.end, web::load::End::Status(400..)),
        };
        let requests: Vec<MeasuredRequest> = noted.iter().map(request).collect();
        let trial = measured(&outcome.result, per_s, stage);
        self.note(&outcome.result);
        self.search.add(trial, &requests);
        if outcome.result.counts.in_flight > 0 { self.drain() } else { Ok(true) }
    }

    /// Waits until the server has answered what is left over, while there is time: one request more waits behind
    /// it. False if somebody ended it.
    fn drain(&mut self) -> Result<bool> {
        let most_ms = DRAIN_MS.min(self.left().as_millis() as u64);
        if most_ms == 0 {
            return Ok(true);
        }
        let plan = LoadPlan {
            arrivals: Arrivals::Closed,
            connections: 1,
            threads: 1,
            requests: Some(1),
            duration_ms: Some(most_ms),
            ..self.asked.plan.clone()
        };
        let outcome = self.watch.run_part("one more", &plan, &self.asked.body, false)?;
        Ok(outcome.is_some())
    }

    fn note(&mut self, result: &LoadResult) {
        self.trials += 1;
        let stalled = analysis::load_pathologies(result)
            .into_iter()
            .any(|one| matches!(one, model::LoadPathology::AllStalled { .. }));
        let stops = stalled.then(|| {
            "all connections stalled at once: with fewer than three such stops in all trials, the capacity may be too high"
                .to_string()
        });
        for doubt in result.doubts.iter().chain(&stops) {
            let known = self.doubts.entry(without_numbers(doubt)).or_default();
            *known = (known.0 + 1, doubt.clone());
        }
    }

    /// Returns the doubts, with how many trials each was of.
    fn doubts(&self) -> Vec<String> {
        let all = self.trials;
        let line = |(n, last): &(usize, String)| {
            format!(
                "In {n} of {all} trials (numbers of the last of them): {}",
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

fn measured(result: &LoadResult, per_s: f64, stage: KneeStage) -> KneeTrial {
    let counts = &result.counts;
    KneeTrial {
        stage,
        per_s,
        elapsed_ns: result.elapsed_ns,
        due: counts.due(),
        succeeded: counts.succeeded,
        open: counts.in_flight + counts.unsent,
        counted: 0,
        late: 0,
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
        let trial = measured(&LoadResult { counts, response, ..result() }, 10.0, KneeStage::Search);
        assert_eq!((trial.due, trial.succeeded, trial.open), (100, 80, 3));
        assert_eq!((trial.p50_ns, trial.p95_ns, trial.counted), (Some(5), None, 0));
    }
}
