//! Searches against servers whose capacity is known, and against some that have none.

use super::*;
use model::Arrivals;
use rand::RngExt;

const SECOND: f64 = 1e9;

fn rules() -> KneeRules {
    KneeRules {
        from_per_s: 50.0,
        most_per_s: None,
        limit_ns: None,
        blocks: 8,
        precision: 0.03,
        seed: 7,
    }
}

fn plan() -> LoadPlan {
    LoadPlan {
        url: "http://127.0.0.1:1/".into(),
        method: "GET".into(),
        headers: Vec::new(),
        body_bytes: 0,
        arrivals: Arrivals::Poisson { per_s: 50.0, seed: 7 },
        connections: 500,
        keep_alive: true,
        threads: 1,
        duration_ms: Some(2_000),
        requests: None,
        timeout_ms: 20_000,
        options: Default::default(),
    }
}

/// A queue with one server and Poisson arrivals, watched for some seconds from its being empty.
fn queue(
    random: &mut ChaCha8Rng,
    per_s: f64,
    block: u32,
    seconds: f64,
    mut service_ns: impl FnMut(&mut ChaCha8Rng) -> f64,
) -> KneeTrial {
    let end = seconds * SECOND;
    let (mut due, mut free) = (0.0_f64, 0.0_f64);
    let (mut responses, mut open) = (Vec::new(), 0);
    loop {
        due -= (1.0 - random.random::<f64>()).ln() / per_s * SECOND;
        if due >= end {
            break;
        }
        free = free.max(due) + service_ns(random);
        responses.push(free - due);
        open += u64::from(free > end);
    }
    let responses = crate::sorted(&responses);
    let at = |p: f64| crate::quantile(&responses, p).map(|ns| ns as u64);
    KneeTrial {
        block,
        per_s,
        elapsed_ns: end as u64,
        due: responses.len() as u64,
        succeeded: responses.len() as u64 - open,
        open,
        p50_ns: at(0.5),
        p95_ns: at(0.95),
        service_p95_ns: None,
    }
}

fn exponential(mean_ns: f64) -> impl FnMut(&mut ChaCha8Rng) -> f64 {
    move |random| -(1.0 - random.random::<f64>()).ln() * mean_ns
}

/// Conducts a search against a made-up server.
fn conduct(rules: KneeRules, mut server: impl FnMut(f64, u32) -> KneeTrial) -> Knee {
    let mut trials = Vec::new();
    let end = loop {
        match knee_next(&rules, &trials) {
            KneeStep::Try { per_s, block } => trials.push(server(per_s, block)),
            KneeStep::End(end) => break end,
        }
    };
    let plan = plan();
    let doubts = Vec::new();
    knee(KneeInput { scruple: "test", plan: &plan, rules, trials: &trials, end, doubts })
}

fn against_mm1(rules: KneeRules, served_per_s: f64, seconds: f64) -> Knee {
    let mut random = ChaCha8Rng::seed_from_u64(rules.seed);
    conduct(rules, |per_s, block| {
        // Few requests tell no percentile: low rates are watched for longer.
        let seconds = seconds.max(200.0 / per_s);
        queue(&mut random, per_s, block, seconds, exponential(SECOND / served_per_s))
    })
}

/// p95 = ln 20 / (μ − λ): five times that at λ₀ is reached at 0.8 μ + 0.2 λ₀.
#[test]
fn the_capacity_of_a_queue_with_one_server_is_found_at_any_speed() {
    for served in [30.0, 1_000.0, 40_000.0] {
        let mut covered = 0;
        for seed in 1..=20 {
            let knee = against_mm1(KneeRules { seed, ..rules() }, served, 2_000.0 / served);
            let lowest = knee.rates[0].per_s;
            assert!(lowest * LOWEST_PART <= served, "{lowest} of {served}");
            let truth = 0.8 * served + 0.2 * lowest;
            let capacity = knee.capacity_per_s.unwrap();
            let ratio = capacity.point / truth;
            assert!((0.9..1.1).contains(&ratio), "{served} {seed}: {ratio}");
            covered += u32::from(capacity.low <= truth && truth <= capacity.high);
            assert_eq!(knee.broke_by, Some(KneeBreak::ResponseTime), "{served} {seed}");
            assert!(matches!(knee.end, KneeEnd::Precise | KneeEnd::Blocks));
        }
        // 19 of 20 by the letter; a trial is short, and begins with an empty queue.
        assert!(covered >= 14, "{served}: {covered} of 20 intervals hold the truth");
    }
}

#[test]
fn a_limit_that_is_stated_is_the_one_that_counts() {
    let limit_ns = 50e6;
    let knee = against_mm1(KneeRules { limit_ns: Some(limit_ns), ..rules() }, 1_000.0, 20.0);
    let truth = 1_000.0 - 20.0_f64.ln() / (limit_ns / SECOND);
    let capacity = knee.capacity_per_s.unwrap();
    assert!((capacity.point / truth - 1.0).abs() < 0.03, "{capacity:?} of {truth}");
    assert_eq!(knee.limit_ns, Some(limit_ns));
    // The lowest rate is not measured again and again: nothing hangs on it.
    assert!(knee.trials.iter().all(|trial| trial.block == 0 || trial.per_s > 500.0));
}

#[test]
fn a_block_measures_its_rates_in_random_order() {
    let knee = against_mm1(rules(), 1_000.0, 2.0);
    let orders: Vec<Vec<usize>> = (1..=4)
        .map(|block| {
            let own: Vec<f64> =
                knee.trials.iter().filter(|it| it.block == block).map(|it| it.per_s).collect();
            let ascending = crate::sorted(&own);
            let place = |it: &f64| ascending.iter().position(|other| other == it).unwrap();
            own.iter().map(place).collect()
        })
        .collect();
    assert!(orders.iter().all(|order| order.len() >= 6), "{orders:?}");
    assert!(orders.windows(2).any(|pair| pair[0] != pair[1]), "{orders:?}");
    assert_eq!(against_mm1(rules(), 1_000.0, 2.0), knee, "the same seed, the same search");
}

#[test]
fn errors_above_a_rate_break_it_whatever_the_response_time() {
    let knee = conduct(rules(), |per_s, block| {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let quick = queue(&mut random, per_s, block, 2.0, |_| 1e3);
        // A limiter that answers 429 beyond 700 a second.
        let succeeded = quick.succeeded.min((700.0 * 2.0) as u64);
        KneeTrial { succeeded, p95_ns: Some(1_000_000), ..quick }
    });
    assert_eq!(knee.broke_by, Some(KneeBreak::Throughput));
    let capacity = knee.capacity_per_s.unwrap();
    // 95 % of the requests succeed up to 737.
    assert!((650.0..820.0).contains(&capacity.point), "{capacity:?}");
}

#[test]
fn one_disturbed_trial_changes_little() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut count = 0;
    let knee = conduct(rules(), |per_s, block| {
        count += 1;
        let trial = queue(&mut random, per_s, block, (200.0 / per_s).max(2.0), exponential(1e6));
        // The third of the search, far below the knee, and one in each fourth block.
        let disturbed = count == 3 || (block % 4 == 1 && per_s < 700.0 && per_s > 100.0);
        if disturbed { KneeTrial { p95_ns: Some(900_000_000), ..trial } } else { trial }
    });
    let truth = 0.8 * 1_000.0 + 0.2 * knee.rates[0].per_s;
    let capacity = knee.capacity_per_s.unwrap();
    assert!((capacity.point / truth - 1.0).abs() < 0.1, "{capacity:?} of {truth}");
}

#[test]
fn a_server_that_never_breaks_has_no_capacity_that_could_be_told() {
    let most = KneeRules { most_per_s: Some(3_000.0), ..rules() };
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let knee = conduct(most, |per_s, block| queue(&mut random, per_s, block, 4.0, |_| 1e3));
    assert_eq!(
        (knee.end, knee.capacity_per_s, knee.broke_per_s),
        (KneeEnd::HighestHeld, None, None)
    );
    assert_eq!(knee.held_per_s, Some(3_000.0));
    assert!(knee.rates.iter().all(|rate| rate.per_s <= 3_000.0));
}

#[test]
fn a_slow_server_is_tried_at_lower_rates() {
    let knee = against_mm1(rules(), 4.0, 500.0);
    let truth = 0.8 * 4.0 + 0.2 * knee.rates[0].per_s;
    let capacity = knee.capacity_per_s.unwrap();
    assert!((capacity.point / truth - 1.0).abs() < 0.12, "{capacity:?} of {truth}");
    assert!(knee.rates[0].per_s <= 0.5);
}

#[test]
fn a_server_that_does_not_answer_ends_the_search_at_once() {
    let silent = |per_s: f64, block: u32| KneeTrial {
        block,
        per_s,
        elapsed_ns: 2_000_000_000,
        due: 100,
        succeeded: 0,
        open: 100,
        p50_ns: None,
        p95_ns: None,
        service_p95_ns: None,
    };
    let knee = conduct(rules(), silent);
    assert_eq!((knee.end, knee.trials.len()), (KneeEnd::NoAnswer, 2));
    assert_eq!((knee.held_per_s, knee.capacity_per_s), (None, None));
    // One that answers something, and never enough, is tried down to the lowest rate.
    let knee = conduct(rules(), |per_s, block| KneeTrial { succeeded: 1, ..silent(per_s, block) });
    assert_eq!(knee.end, KneeEnd::LowestBroke);
}

#[test]
fn what_is_under_way_within_the_limit_is_no_failure() {
    // 100 requests a second that take 500 ms each: 50 are under way when 2 s are over.
    let trial = KneeTrial {
        block: 0,
        per_s: 100.0,
        elapsed_ns: 2_000_000_000,
        due: 200,
        succeeded: 150,
        open: 50,
        p50_ns: Some(500_000_000),
        p95_ns: Some(500_000_000),
        service_p95_ns: None,
    };
    let judge = |limit: f64, trial: KneeTrial| {
        let rules = KneeRules { limit_ns: Some(limit), ..rules() };
        Judge::new(&rules, &[trial]).broke(&trial)
    };
    assert_eq!(judge(600e6, trial), None);
    assert_eq!(judge(100e6, trial), Some(KneeBreak::Throughput));
    // Errors are no such thing.
    assert_eq!(judge(600e6, KneeTrial { open: 0, ..trial }), Some(KneeBreak::Throughput));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig {
        failure_persistence: None,
        ..proptest::prelude::ProptestConfig::default()
    })]

    #[test]
    fn a_search_ends_whatever_the_server_does(
        answers in proptest::collection::vec(
            (0u64..300, 0u64..300, proptest::option::of(1u64..1_000_000_000)), 1..60),
        limit in proptest::option::of(1e3..1e9f64),
        most in proptest::option::of(0.5..1e6f64),
    ) {
        let rules = KneeRules { limit_ns: limit, most_per_s: most, blocks: 4, ..rules() };
        let mut turn = 0;
        let knee = conduct(rules, |per_s, block| {
            turn += 1;
            let (succeeded, open, p95_ns) = answers[turn % answers.len()];
            let due = succeeded + open;
            let elapsed_ns = 1_000_000_000;
            KneeTrial {
                block, per_s, elapsed_ns, due, succeeded, open,
                p50_ns: p95_ns, p95_ns, service_p95_ns: None,
            }
        });
        proptest::prop_assert!(knee.trials.len() <= TRIALS_MAX);
        for rate in &knee.rates {
            proptest::prop_assert!(rate.per_s > 0.0 && rate.per_s <= most.unwrap_or(RATE_MOST));
        }
        if let Some(capacity) = knee.capacity_per_s {
            proptest::prop_assert!(capacity.low <= capacity.high && capacity.point > 0.0);
        }
    }
}
