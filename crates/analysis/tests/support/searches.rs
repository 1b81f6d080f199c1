//! Searches for the capacity of simulated servers.

use crate::servers::Server;
use analysis::{KneeSearch, KneeStep, MeasuredRequest};
use model::{Arrivals, Knee, KneeRules, KneeStage, KneeTrial, LoadPlan};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Returns the rules of a search by default.
pub(crate) fn rules(limit_ms: Option<f64>) -> KneeRules {
    KneeRules {
        from_per_s: None,
        most_per_s: None,
        limit_ns: limit_ms.map(|ms| ms * 1e6),
        budget_ns: 170_000_000_000,
        trial_least_ns: 2_000_000_000,
        constant: false,
        precision: 0.04,
    }
}

/// Returns a plan, which is the same for all.
pub(crate) fn plan() -> LoadPlan {
    LoadPlan {
        url: "http://127.0.0.1:1/".into(),
        method: "GET".into(),
        headers: Vec::new(),
        body_bytes: 0,
        arrivals: Arrivals::Closed,
        connections: 500,
        keep_alive: true,
        threads: 1,
        duration_ms: Some(2_000),
        requests: None,
        timeout_ms: 20_000,
        drain_ms: 0,
        options: Default::default(),
    }
}

/// Returns a trial as a generator would report it, without what the search adds.
pub(crate) fn trial(
    stage: KneeStage,
    per_s: f64,
    length_ns: f64,
    all: &[MeasuredRequest],
) -> KneeTrial {
    let by_then = |one: &&MeasuredRequest| one.done_ns.is_some_and(|ns| ns as f64 <= length_ns);
    let answered = all.iter().filter(by_then).count() as u64;
    let refused = all.iter().filter(by_then).filter(|one| one.refused).count() as u64;
    let times = all.iter().map(|it| it.done_ns.map_or(f64::INFINITY, |ns| (ns - it.at_ns) as f64));
    let times = analysis::sorted(&times.collect::<Vec<_>>());
    let at = |p: f64| analysis::quantile(&times, p).filter(|ns| ns.is_finite()).map(|ns| ns as u64);
    KneeTrial {
        stage,
        per_s,
        elapsed_ns: length_ns as u64,
        due: all.len() as u64,
        succeeded: answered - refused,
        open: all.len() as u64 - answered,
        counted: 0,
        late: 0,
        p50_ns: at(0.5),
        p95_ns: at(0.95),
        service_p95_ns: None,
    }
}

/// Returns what a search finds, and how long it takes, in s.
pub(crate) fn search(server: &Server, rules: KneeRules, seed: u64) -> (Knee, f64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let open = |per_s: f64, length_ns: f64| {
        let all = server.open(per_s, rules.constant, length_ns, 500, &mut random);
        // What takes longer is not waited for.
        let seen = |one: MeasuredRequest| MeasuredRequest {
            done_ns: one.done_ns.filter(|done_ns| *done_ns as f64 <= length_ns),
            ..one
        };
        let drained_ns = all.iter().filter_map(|one| one.done_ns).max().unwrap_or(0) as f64;
        (all.into_iter().map(seen).collect(), (drained_ns - length_ns).max(0.0))
    };
    let mut alone = ChaCha8Rng::seed_from_u64(!seed);
    let one = |requests: u64, length_ns: f64| {
        server.closed(1, Some(requests), length_ns as u64, &mut alone).0
    };
    conduct(rules, one, open)
}

/// Conducts a search with loads that somebody makes up: one request at a time, which returns the response
/// times; and a rate for a time, which returns the requests and how long the server is busy afterwards.
pub(crate) fn conduct(
    rules: KneeRules,
    mut alone: impl FnMut(u64, f64) -> Vec<f64>,
    mut open: impl FnMut(f64, f64) -> (Vec<MeasuredRequest>, f64),
) -> (Knee, f64) {
    let mut search = KneeSearch::new(rules);
    let mut spent_ns = 0.0;
    let end = loop {
        match search.next(rules.budget_ns as f64 - spent_ns) {
            KneeStep::Alone { requests, length_ms, .. } => {
                let times = alone(requests, length_ms as f64 * 1e6);
                let took_ns = times.iter().sum::<f64>().clamp(1.0, length_ms as f64 * 1e6);
                let all: Vec<MeasuredRequest> = times
                    .iter()
                    .map(|ns| MeasuredRequest { done_ns: Some(*ns as u64), ..Default::default() })
                    .collect();
                let mut seen = trial(KneeStage::Alone, 0.0, took_ns, &all);
                (seen.succeeded, seen.open) = (all.len() as u64, 0);
                search.add_alone(seen, all.len() as u64);
                spent_ns += took_ns + 0.1e9;
            }
            KneeStep::Try { per_s, length_ms, stage } => {
                let length_ns = length_ms as f64 * 1e6;
                let (all, rest_ns) = open(per_s, length_ns);
                let seen = trial(stage, per_s, length_ns, &all);
                search.add(seen, &all);
                spent_ns += length_ns + rest_ns.clamp(0.1e9, 20e9);
            }
            KneeStep::End(end) => break end,
        }
    };
    (search.finish("test", &plan(), end, Vec::new()), spent_ns / 1e9)
}
