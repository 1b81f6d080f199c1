//! Loads that were made up.

use model::{
    Arrivals, Estimate, Expectation, Expected, Fairness, LateEnds, LawCheck, LoadCounts, LoadError,
    LoadInterval, LoadIntervals, LoadNumber, LoadPathology, LoadPercentile, LoadPlan, LoadResult,
    LoadServer, LoadSlice, LoadTimes, Network, SynBackoff,
};

/// The percentiles of a result.
const PERCENTS: [f64; 7] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// Times in ms: the shortest, the percentiles and the longest.
pub(crate) fn times(count: u64, censored: u64, ms: [Option<f64>; 9]) -> LoadTimes {
    let ns = |ms: f64| (ms * 1e6) as u64;
    LoadTimes {
        count,
        censored,
        min_ns: ms[0].map(ns),
        mean_ns: (censored == 0).then_some(ms[1].unwrap_or(0.0) * 1e6 * 1.25),
        mean_least_ns: (count > 0).then_some(ms[1].unwrap_or(0.0) * 1e6 * 1.25),
        max_ns: ms[8].map(ns),
        percentiles: PERCENTS
            .iter()
            .zip(&ms[1..8])
            .map(|(percent, ms)| LoadPercentile { percent: *percent, ns: ms.map(ns) })
            .collect(),
    }
}

/// A load of 10 s.
pub(crate) fn plan() -> LoadPlan {
    LoadPlan {
        url: "http://127.0.0.1:8080/items?page=2".into(),
        method: "GET".into(),
        headers: vec![("Accept".into(), "text/html".into())],
        body_bytes: 0,
        arrivals: Arrivals::Paced { per_s: 1000.0 },
        connections: 50,
        keep_alive: true,
        threads: 1,
        duration_ms: Some(10_000),
        requests: None,
        timeout_ms: 20_000,
        drain_ms: 1000,
        options: Default::default(),
    }
}

/// The intervals of a load, of which p99.99 is unknown.
fn intervals() -> LoadIntervals {
    let around = |point: f64| Estimate::between(0.96 * point, point, 1.05 * point);
    let points = [0.5, 0.9, 1.0, 500.0, 900.0, 990.0];
    let known = |(percent, ms): (&f64, Option<&f64>)| LoadInterval {
        percent: *percent,
        ns: ms.map(|ms| around(ms * 1e6)),
    };
    let points = points.iter().map(Some).chain([None]);
    LoadIntervals {
        mean_ns: None,
        percentiles: PERCENTS.iter().zip(points).map(known).collect(),
        succeeded: Vec::new(),
        throughput_per_s: Some(around(999.9)),
        errors: Some(Estimate::between(0.0, 0.0, 0.0004)),
    }
}

/// A second without answers of ten.
fn stop() -> Vec<LoadSlice> {
    let slice = |index: u64| {
        let stopped = (30..40).contains(&index);
        let ns = |ms: u64| (!stopped).then_some(ms * 1_000_000);
        LoadSlice {
            from_ns: index * 100_000_000,
            until_ns: (index + 1) * 100_000_000,
            succeeded: if stopped { 0 } else { 100 },
            p50_ns: ns(if index == 40 { 500 } else { 1 }),
            p95_ns: ns(if index == 40 { 950 } else { 2 }),
            p99_ns: ns(if index == 40 { 990 } else { 3 }),
            late_p99_ns: ns(1),
            connections: 50,
            generator_cpu_ns: 8_000_000,
            server_cpu_ns: ns(20),
            ..LoadSlice::default()
        }
    };
    (0..100).map(slice).collect()
}

fn expected(outcome: Expected) -> Expectation {
    let text = match outcome {
        Expected::Met => "p95 < 600ms",
        Expected::Undecided => "p99 < 900ms",
        Expected::NotMet => "errors < 1%",
    };
    let found = match outcome {
        Expected::Met => Estimate::between(480e6, 500e6, 525e6),
        Expected::Undecided => Estimate::between(864e6, 900e6, 945e6),
        Expected::NotMet => Estimate::between(0.2, 0.28, 0.35),
    };
    let number = match outcome {
        Expected::Met => LoadNumber::Percentile(95.0),
        Expected::Undecided => LoadNumber::Percentile(99.0),
        Expected::NotMet => LoadNumber::Errors,
    };
    let requests = (outcome == Expected::Undecided).then_some(25_000);
    let (text, point) = (text.into(), Some(found.point));
    Expectation { text, number, outcome, point, found: Some(found), requests }
}

/// A server that stood still for one second of ten.
pub(crate) fn stalled() -> LoadResult {
    let quick = [0.1, 0.4, 0.5, 0.6, 0.7, 0.9, 950.0, 1000.0, 1001.0].map(Some);
    let waited = [0.1, 0.5, 0.9, 1.0, 500.0, 900.0, 990.0, 1000.0, 1001.0].map(Some);
    let late = [0.0002, 0.01, 0.02, 0.03, 480.0, 890.0, 985.0, 990.0, 999.0].map(Some);
    LoadResult {
        format: model::LOAD_FORMAT,
        scruple: "test".into(),
        plan: plan(),
        elapsed_ns: 10_000_000_000,
        counts: LoadCounts {
            sent: 10_000,
            answered: 9_999,
            succeeded: 9_999,
            statuses: [(200, 9_999)].into(),
            in_flight: 1,
            ..LoadCounts::default()
        },
        throughput_per_s: 999.9,
        read_bytes: 1_250_000,
        written_bytes: 640_000,
        response: times(9_999, 1, waited),
        succeeded: None,
        service: times(9_999, 1, quick),
        lateness: times(10_000, 0, late),
        punctual: times(9_999, 1, waited),
        intervals: intervals(),
        series: stop(),
        expected: vec![expected(Expected::Met), expected(Expected::Undecided)],
        fairness: Some(Fairness {
            connections: 50,
            starved: 0,
            least: 188,
            median: 200,
            most: 212,
            index: 0.998,
        }),
        network: Network { listen_overflows: Some(0), ..Network::default() },
        syn_backoff: Vec::new(),
        stalls: Vec::new(),
        late_ends: LateEnds::default(),
        pathologies: vec![LoadPathology::AllStalled {
            times: 1,
            longest_ns: 1_000_000_000,
            total_ns: 1_000_000_000,
            waiting: 50,
            server_cpus: Some(0.002),
        }],
        server: Some(LoadServer {
            answers_per_s: 9_950.0,
            present: 45.1,
            in_progress: 7.9,
            cpus: Some(1.4),
            cpu_ns: Some(140_700.0),
        }),
        audit: vec![LawCheck { law: "N = X · S".into(), left: 45.2, right: 45.1, holds: true }],
        generator_cpu_ns: 82_000_000,
        foreign_cpu_ns: Some(900_000_000),
        doubts: Vec::new(),
    }
}

/// All that can go wrong.
pub(crate) fn starved() -> LoadResult {
    let waited = [Some(20.0), Some(20.5), Some(21.0), None, None, None, None, None, Some(22.0)];
    let waited = times(110, 29, waited);
    LoadResult {
        plan: LoadPlan {
            arrivals: Arrivals::Closed,
            connections: 16,
            url: "http://127.0.0.1:8080/<script>alert(1)</script>\u{1b}[31m".into(),
            ..plan()
        },
        counts: LoadCounts {
            sent: 160,
            answered: 110,
            succeeded: 100,
            statuses: [(200, 100), (503, 10)].into(),
            errors: [(LoadError::Refused, 20), (LoadError::Garbage, 1)].into(),
            causes: [(LoadError::Garbage, "no head: \u{1b}[31m<script>".to_string())].into(),
            timed_out: 14,
            in_flight: 15,
            unsent: 0,
            succeeded_late: 0,
            retried: 3,
            closed: 30,
        },
        throughput_per_s: 10.0,
        response: waited.clone(),
        service: waited.clone(),
        lateness: times(160, 0, [0.0; 9].map(Some)),
        punctual: waited,
        fairness: Some(Fairness {
            connections: 16,
            starved: 15,
            least: 0,
            median: 0,
            most: 110,
            index: 0.0625,
        }),
        network: Network {
            listen_overflows: Some(12),
            listen_drops: Some(12),
            syn_retransmits: Some(9),
            retransmits: Some(9),
        },
        syn_backoff: vec![
            SynBackoff { seconds: 1, requests: 7 },
            SynBackoff { seconds: 3, requests: 2 },
        ],
        pathologies: vec![
            LoadPathology::DelayedAck(LateEnds { count: 30, hurried: 10, hurried_late: 0 }),
            LoadPathology::AllStalled {
                times: 3,
                longest_ns: 400_000_000,
                total_ns: 900_000_000,
                waiting: 16,
                server_cpus: Some(0.98),
            },
        ],
        server: None,
        audit: vec![LawCheck { law: "N = c".into(), left: 16.0, right: 9.1, holds: false }],
        intervals: LoadIntervals::default(),
        expected: vec![expected(Expected::NotMet)],
        foreign_cpu_ns: None,
        doubts: vec!["the generator itself was late by 3 ms at p99".into()],
        ..stalled()
    }
}
