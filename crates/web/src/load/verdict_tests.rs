use super::*;
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
        drain_ms: 0,
        options: Default::default(),
    }
}

/// Two requests of 100 ms each in one second, and one in flight for the last 50 ms.
fn tally() -> Tally {
    let mut tally = Tally::default();
    for times in [&mut tally.response, &mut tally.service, &mut tally.punctual] {
        record(&mut times.known, 100_000_000);
        record(&mut times.known, 100_000_000);
        record(&mut times.censored, 50_000_000);
    }
    for _ in 0..3 {
        record(&mut tally.lateness.known, 1000);
    }
    tally.statuses.insert(200, 1);
    tally.statuses.insert(404, 1);
    (tally.sent, tally.in_flight) = (3, 1);
    tally.answers = vec![2, 0, 0, 0];
    tally
}

const SECOND_NS: u64 = 1_000_000_000;

/// Looks at the number of requests in flight, two in each of N slices.
fn looks(in_flight: &[u64]) -> Vec<Slice> {
    let slice = |sum: &u64| Slice { in_flight: (2 * sum, 2), ..Slice::default() };
    in_flight.iter().map(slice).collect()
}

fn judged(tally: &Tally, seen: Surroundings) -> LoadResult {
    let plan = LoadPlan { requests: Some(3), ..plan(Arrivals::Closed, true) };
    result(&plan, tally, SECOND_NS, &seen, &[])
}

#[test]
fn throughput_counts_successes_in_time() {
    let result = judged(&tally(), Surroundings::default());
    assert_eq!(result.throughput_per_s, 1.0);
    assert_eq!((result.counts.answered, result.counts.succeeded), (2, 1));
    assert_eq!(result.counts.statuses.into_iter().collect::<Vec<_>>(), [(200, 1), (404, 1)]);
    assert!(result.doubts.is_empty(), "{:?}", result.doubts);
    let late = Tally { succeeded_late: 1, ..tally() };
    let result = judged(&late, Surroundings::default());
    assert_eq!((result.throughput_per_s, result.counts.succeeded), (0.0, 1));
}

#[test]
fn looks_at_requests_in_flight_find_times_that_were_lost() {
    let open = plan(Arrivals::Constant { per_s: 3.0 }, true);
    let seen = Surroundings { drained_ns: SECOND_NS, ..Surroundings::default() };
    let law = |tally: &Tally, slices: &[Slice]| {
        let result = result(&open, tally, SECOND_NS, &seen, slices);
        (result.audit.first().cloned(), result.doubts)
    };
    // 0.25 s of service in a second: in one of four slices one request is in flight.
    let quarter: Vec<u64> = (0..40).map(|slice| u64::from(slice % 4 == 0)).collect();
    let (little, doubts) = law(&tally(), &looks(&quarter));
    let little = little.unwrap();
    assert!(little.holds && doubts.is_empty(), "{little:?}");
    assert!((little.left - 0.25).abs() < 1e-9 && (little.right - 0.25).abs() < 0.25e-3);
    // One was recorded of two that were there all the time.
    let (little, doubts) = law(&tally(), &looks(&[1; 40]));
    assert!(!little.unwrap().holds);
    assert!(doubts[0].starts_with("N = X · S does not hold: 1.0000 against 0.2499"), "{doubts:?}");
    // Too few looks say nothing, and neither do looks that should have seen ten requests together.
    assert_eq!(law(&tally(), &looks(&[1; 9])).0, None);
    assert_eq!(law(&tally(), &looks(&[0; 20])).0, None);
    // Twenty that should have been seen, and nothing: of one connection, a defect.
    assert!(!law(&tally(), &looks(&[0; 60])).0.unwrap().holds);
}

#[test]
fn a_closed_loop_has_a_request_in_flight_on_each_connection() {
    let closed = LoadPlan { connections: 1, ..plan(Arrivals::Closed, true) };
    let seen = Surroundings { drained_ns: SECOND_NS, ..Surroundings::default() };
    let law = |plan: &LoadPlan, tally: &Tally| {
        result(plan, tally, SECOND_NS, &seen, &[]).audit.first().cloned()
    };
    // A quarter of the time is not all of it.
    let idle = law(&closed, &tally()).unwrap();
    assert!(!idle.holds && (idle.left - 0.25).abs() < 1e-3 && idle.right == 1.0, "{idle:?}");
    let mut busy = tally();
    record(&mut busy.response.known, 780_000_000);
    busy.unstarted_ns = 20e6;
    // What it took after the end does not count.
    busy.late_ns = 50e6;
    assert!(law(&closed, &busy).unwrap().holds);
    // Where requests fail, connections rest; where their number is limited, they end one by one.
    let mut failed = tally();
    failed.errors.insert(model::LoadError::Reset, 1);
    assert_eq!(law(&closed, &failed), None);
    assert_eq!(law(&LoadPlan { requests: Some(3), ..closed }, &tally()), None);
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
    let mut waited = tally();
    waited.queue_wait_ns = Some(SECOND_NS / 10);
    assert!(doubt(&waited, Surroundings::default()).contains("waited 10 % of the time"));
    let quota = Surroundings { throttled_ns: SECOND_NS / 2, ..Surroundings::default() };
    assert!(doubt(&waited, quota).contains("for a CPU: a CPU quota of its control group"));
    assert!(doubt(&tally(), quota).contains("a CPU quota"));
    let exhausted = Tally { without_port: 5, without_descriptor: 7, ..tally() };
    let text = doubt(&exhausted, Surroundings::default());
    assert!(text.contains("5 connections were not opened because all ephemeral ports"), "{text}");
    assert!(text.contains("7 connections were not opened because no descriptor"), "{text}");
    let nothing = Surroundings::default();
    for (seen, word) in [
        (Surroundings { busiest_share: 1.0, ..nothing }, "more threads"),
        (Surroundings { stolen_ns: Some(SECOND_NS / 10), ..nothing }, "the host gave 10 %"),
        (Surroundings { stopped: true, ..nothing }, "before its time"),
    ] {
        assert!(doubt(&tally(), seen).contains(word), "{word}");
    }
    // What a short load does once is no share of its time.
    let all = Surroundings { busiest_share: 1.0, stolen_ns: Some(9_000_000), ..nothing };
    let foreign = Surroundings { foreign_cpu_ns: Some(9_000_000), ..all };
    let short = result(&plan(Arrivals::Closed, true), &Tally::default(), 9_000_000, &foreign, &[]);
    assert!(short.doubts.is_empty() && short.foreign_cpu_ns.is_none(), "{:?}", short.doubts);
    let mut closed = tally();
    closed.waited = 3;
    let plan = plan(Arrivals::Constant { per_s: 1.0 }, true);
    let open = result(&plan, &closed, SECOND_NS, &nothing, &[]);
    assert!(
        open.doubts
            .concat()
            .contains("all 4 connections were taken when requests came due (3 of them)")
    );
    assert!(judged(&closed, nothing).doubts.is_empty());
}

/// Doubts on a load of which each response took `response_us`, of these `own_us` because of the
/// generator.
fn doubts_on_lateness(response_us: &[u64], own_us: &[u64]) -> Vec<String> {
    let mut tally = Tally::default();
    for (response_us, own_us) in response_us.iter().zip(own_us) {
        record(&mut tally.response.known, response_us * 1000);
        record(&mut tally.punctual.known, (response_us - own_us) * 1000);
    }
    let plan = plan(Arrivals::Paced { per_s: 1.0 }, true);
    result(&plan, &tally, 0, &Surroundings::default(), &[]).doubts
}

#[test]
fn lateness_is_a_doubt_where_it_falsifies_what_is_read() {
    // A server that answers in 60 µs, asked by threads that take 100 µs to be woken.
    assert!(doubts_on_lateness(&[160; 100], &[100; 100]).is_empty());
    // One that takes a second, asked 3 ms late.
    assert!(doubts_on_lateness(&[1_003_000; 100], &[3_000; 100]).is_empty());
    // One request in a thousand, however late, is in no percentile that is looked at.
    let (mut responses, mut own) = (vec![200; 1000], vec![0; 1000]);
    (responses[0], own[0]) = (90_200, 90_000);
    assert!(doubts_on_lateness(&responses, &own).is_empty());
    // Two in a hundred are p99.
    responses[..20].fill(5_200);
    own[..20].fill(5_000);
    let doubts = doubts_on_lateness(&responses, &own);
    assert_eq!(doubts.len(), 1, "{doubts:?}");
    // Upper ends of buckets of three digits.
    assert!(doubts[0].contains("p99 of the response time is 5.2"), "{doubts:?}");
    assert!(doubts[0].contains("would have been 0.200 ms"), "{doubts:?}");
    // The percentile that is falsified most is told.
    let doubts =
        doubts_on_lateness(&[10_000, 10_000, 10_000, 20_000], &[9_000, 9_000, 9_000, 9_000]);
    assert!(doubts[0].contains("p50"), "{doubts:?}");
}

#[test]
fn nothing_at_all_is_a_result() {
    let plan = plan(Arrivals::Closed, true);
    let empty = result(&plan, &Tally::default(), 0, &Surroundings::default(), &[]);
    assert_eq!(empty.throughput_per_s, 0.0);
    assert!(empty.audit.is_empty() && empty.doubts.is_empty());
    let idle = judged(&Tally::default(), Surroundings::default());
    assert!(idle.audit.iter().all(|law| law.holds));
}
