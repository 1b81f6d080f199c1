use super::*;
use crate::load::Times;
use crate::load::tally::record;

fn plan(arrivals: Arrivals, keep_alive: bool) -> LoadPlan {
    LoadPlan {
        url: "http://h/".into(),
        method: "GET".into(),
        headers: Vec::new(),
        body_bytes: 0,
        arrivals,
        connections: 4,
        keep_alive,
        threads: 1,
        duration_ms: Some(1000),
        requests: None,
        timeout_ms: 1000,
    }
}

/// Two requests of 100 ms each in one second, and one in flight for the last 50 ms.
fn tally() -> Tally {
    let mut tally = Tally::new();
    for times in [&mut tally.response, &mut tally.service] {
        record(&mut times.known, 100_000_000);
        record(&mut times.known, 100_000_000);
        record(&mut times.censored, 50_000_000);
    }
    for _ in 0..3 {
        record(&mut tally.lateness.known, 1000);
        record(&mut tally.own_lateness, 1000);
    }
    tally.statuses[200] = 1;
    tally.statuses[404] = 1;
    (tally.sent, tally.in_flight) = (3, 1);
    (tally.present_area, tally.busy_area) = (250e6, 250e6);
    tally.answers = vec![2, 0, 0, 0];
    tally
}

const SECOND_NS: u64 = 1_000_000_000;

fn judged(tally: &Tally, seen: Surroundings) -> LoadResult {
    result(&plan(Arrivals::Closed, true), tally, SECOND_NS, &seen)
}

#[test]
fn throughput_counts_successes_and_the_laws_hold() {
    let result = judged(&tally(), Surroundings::default());
    assert_eq!(result.throughput_per_s, 1.0);
    assert_eq!((result.counts.answered, result.counts.succeeded), (2, 1));
    assert_eq!(result.counts.statuses.into_iter().collect::<Vec<_>>(), [(200, 1), (404, 1)]);
    let [little, utilisation] = &result.audit[..] else { panic!("{:?}", result.audit) };
    assert!(little.holds && (little.left - 0.25).abs() < 1e-9, "{little:?}");
    assert!((little.right - 0.25).abs() < 0.25e-3, "{little:?}");
    assert!(utilisation.holds && (utilisation.left - 0.0625).abs() < 1e-9);
    assert!(result.doubts.is_empty(), "{:?}", result.doubts);
}

#[test]
fn a_request_that_was_lost_breaks_a_law() {
    let mut tally = tally();
    tally.response = Times::new();
    record(&mut tally.response.known, 100_000_000);
    let result = judged(&tally, Surroundings::default());
    assert!(!result.audit[0].holds && result.audit[1].holds);
    assert!(result.doubts[0].starts_with("N = X · R does not hold"), "{:?}", result.doubts);
}

#[test]
fn what_is_shared_out_is_judged_where_connections_last() {
    let fair = |answers: &[u64]| fairness(&plan(Arrivals::Closed, true), answers).unwrap();
    let one = fair(&[9, 0, 0, 0]);
    assert_eq!((one.starved, one.least, one.median, one.most), (3, 0, 0, 9));
    assert!((one.index - 0.25).abs() < 1e-12);
    assert!((fair(&[5, 5, 5, 5]).index - 1.0).abs() < 1e-12);
    assert!((fair(&[1, 3]).index - 0.8).abs() < 1e-12);
    assert_eq!(fair(&[0, 0]).index, 1.0);
    assert_eq!(fairness(&plan(Arrivals::Closed, false), &[1]), None);
    assert_eq!(fairness(&plan(Arrivals::Constant { per_s: 1.0 }, true), &[1]), None);
}

#[test]
fn every_disturbance_is_a_doubt() {
    let doubt = |tally: &Tally, seen: Surroundings| judged(tally, seen).doubts.join("\n");
    let mut late = tally();
    late.own_lateness.reset();
    record(&mut late.own_lateness, 2_000_000);
    assert!(doubt(&late, Surroundings::default()).contains("the generator was late"));
    let mut waited = tally();
    waited.queue_wait_ns = Some(SECOND_NS / 10);
    assert!(doubt(&waited, Surroundings::default()).contains("waited 10 % of the time"));
    let mut exhausted = tally();
    exhausted.exhausted = 5;
    assert!(doubt(&exhausted, Surroundings::default()).contains("no port"));
    let nothing = Surroundings::default();
    for (seen, word) in [
        (Surroundings { busiest_cpu_ns: SECOND_NS, ..nothing }, "more threads"),
        (Surroundings { stolen_ns: Some(SECOND_NS / 10), ..nothing }, "the host gave 10 %"),
        (Surroundings { stopped: true, ..nothing }, "before its time"),
    ] {
        assert!(doubt(&tally(), seen).contains(word), "{word}");
    }
    let mut closed = tally();
    closed.waited = 3;
    let open = result(&plan(Arrivals::Constant { per_s: 1.0 }, true), &closed, SECOND_NS, &nothing);
    assert!(open.doubts.concat().contains("3 requests came due while all 4 connections"));
    assert!(judged(&closed, nothing).doubts.is_empty());
}

#[test]
fn nothing_at_all_is_a_result() {
    let empty = result(&plan(Arrivals::Closed, true), &Tally::new(), 0, &Surroundings::default());
    assert_eq!(empty.throughput_per_s, 0.0);
    assert!(empty.audit.is_empty() && empty.doubts.is_empty());
    let idle = judged(&Tally::new(), Surroundings::default());
    assert!(idle.audit.iter().all(|law| law.holds));
}
