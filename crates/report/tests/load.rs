//! What `scruple load` says, as people see it.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod plain;

use model::{
    Arrivals, Estimate, Fairness, Knee, KneeBreak, KneeEnd, KneeRate, KneeRules, LawCheck,
    LoadCounts, LoadError, LoadPercentile, LoadPlan, LoadResult, LoadTimes, Network, SynBackoff,
};
use report::LoadCurves;

const PERCENTS: [f64; 7] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];

fn times(count: u64, censored: u64, ms: [Option<f64>; 9]) -> LoadTimes {
    let ns = |ms: f64| (ms * 1e6) as u64;
    LoadTimes {
        count,
        censored,
        min_ns: ms[0].map(ns),
        mean_ns: (censored == 0).then_some(ms[1].unwrap_or(0.0) * 1e6 * 1.25),
        max_ns: ms[8].map(ns),
        percentiles: PERCENTS
            .iter()
            .zip(&ms[1..8])
            .map(|(percent, ms)| LoadPercentile { percent: *percent, ns: ms.map(ns) })
            .collect(),
    }
}

fn plan() -> LoadPlan {
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
    }
}

/// A server that stood still for one second of ten.
fn stalled() -> LoadResult {
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
        service: times(9_999, 1, quick),
        lateness: times(10_000, 0, late),
        punctual: times(9_999, 1, waited),
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
        audit: vec![LawCheck { law: "N = X · R".into(), left: 45.2, right: 45.1, holds: true }],
        generator_cpu_ns: 82_000_000,
        foreign_cpu_ns: Some(900_000_000),
        doubts: Vec::new(),
    }
}

/// All that can go wrong.
fn starved() -> LoadResult {
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
            timed_out: 14,
            in_flight: 15,
            unsent: 0,
        },
        throughput_per_s: 10.0,
        response: times(
            110,
            29,
            [Some(20.0), Some(20.5), Some(21.0), None, None, None, None, None, Some(22.0)],
        ),
        service: times(
            110,
            29,
            [Some(20.0), Some(20.5), Some(21.0), None, None, None, None, None, Some(22.0)],
        ),
        lateness: times(160, 0, [0.0; 9].map(Some)),
        punctual: times(
            110,
            29,
            [Some(20.0), Some(20.5), Some(21.0), None, None, None, None, None, Some(22.0)],
        ),
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
        audit: vec![LawCheck { law: "N = X · R".into(), left: 16.0, right: 9.1, holds: false }],
        foreign_cpu_ns: None,
        doubts: vec!["the generator itself was late by 3 ms at p99".into()],
        ..stalled()
    }
}

fn knee() -> Knee {
    let rate = |per_s: f64, trials, held, p95_ns, broke| KneeRate {
        per_s,
        trials,
        held,
        p95_ns,
        throughput_per_s: per_s * 0.998,
        broke,
    };
    Knee {
        format: model::KNEE_FORMAT,
        scruple: "test".into(),
        plan: LoadPlan {
            arrivals: Arrivals::Poisson { per_s: 50.0, seed: 7 },
            connections: 500,
            ..plan()
        },
        rules: KneeRules {
            from_per_s: 50.0,
            most_per_s: None,
            limit_ns: None,
            blocks: 12,
            precision: 0.03,
            seed: 7,
        },
        limit_ns: Some(15.8e6),
        lowest_p95_ns: Some(3.15e6),
        capacity_per_s: Some(Estimate {
            point: 812.4,
            low: 790.1,
            high: 831.6,
            standard_error: Some(8.1),
            level: 0.95,
            samples: 6,
        }),
        held_per_s: Some(724.0),
        broke_per_s: Some(862.0),
        broke_by: Some(KneeBreak::ResponseTime),
        end: KneeEnd::Precise,
        rates: vec![
            rate(50.0, 7, 7, Some(3.15e6), None),
            rate(724.0, 6, 6, Some(10.9e6), None),
            rate(811.0, 6, 4, Some(15.1e6), Some(KneeBreak::ResponseTime)),
            rate(862.0, 6, 0, Some(22.3e6), Some(KneeBreak::ResponseTime)),
            rate(1600.0, 2, 0, None, Some(KneeBreak::Throughput)),
        ],
        trials: Vec::new(),
        doubts: vec!["In 2 of 27 trials: other programs used 0.7 of the CPUs".into()],
    }
}

#[test]
fn a_load_in_the_terminal() {
    insta::assert_snapshot!(
        "load_stalled_100",
        plain::plain(&report::load_terminal(&stalled(), 100))
    );
    insta::assert_snapshot!(
        "load_starved_80",
        plain::plain(&report::load_terminal(&starved(), 80))
    );
    insta::assert_snapshot!("knee_100", plain::plain(&report::knee_terminal(&knee(), 100)));
}

#[test]
fn nothing_is_wider_than_the_terminal_or_commands_it() {
    for width in [40, 60, 80, 120] {
        let texts = [
            report::load_terminal(&stalled(), width),
            report::load_terminal(&starved(), width),
            report::knee_terminal(&knee(), width),
        ];
        for text in texts {
            let text = plain::plain(&text);
            assert!(!text.contains('\u{1b}'), "{text}");
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn the_hidden_waits_are_told_in_numbers() {
    let text = plain::plain(&report::load_terminal(&stalled(), 120)).replace('\n', " ");
    assert!(text.contains("Service time alone would have told p99 = 900 µs"), "{text}");
    assert!(text.contains("waited 900 ms. A loop"), "{text}");
    let punctual = LoadResult { punctual: stalled().response, ..stalled() };
    let response = times(9_999, 1, [960.0; 9].map(Some));
    let late = LoadResult { response, ..punctual };
    let text = plain::plain(&report::load_terminal(&late, 120));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("waited 900 ms (without the generator's own lateness)."), "{text}");
    let closed =
        LoadResult { plan: LoadPlan { arrivals: Arrivals::Closed, ..plan() }, ..stalled() };
    let text = plain::plain(&report::load_terminal(&closed, 120));
    assert!(text.contains("In a closed loop nobody asks while all wait"), "{text}");
    let text = plain::plain(&report::load_terminal(&starved(), 120)).replace('\n', " ");
    assert!(text.contains("15 of 16 connections got nothing"), "{text}");
}

#[test]
fn answers_that_are_shared_out_evenly_need_no_index() {
    let fair = Fairness { least: 200, most: 200, index: 1.0, ..stalled().fairness.unwrap() };
    let result = LoadResult { fairness: Some(fair), ..stalled() };
    let text = plain::plain(&report::load_terminal(&result, 120));
    assert!(text.contains("· Each connection got 200 answers.\n"), "{text}");
}

#[test]
fn redirects_are_told_from_what_was_asked_for() {
    let with = |statuses: &[(u16, u64)]| {
        let statuses = statuses.iter().copied().collect();
        let counts = LoadCounts { statuses, ..stalled().counts };
        plain::plain(&report::load_terminal(&LoadResult { counts, ..stalled() }, 120))
    };
    let moved = with(&[(301, 9_999)]);
    assert!(
        moved.contains("! Answers by status: 301: 9999; redirects are not followed."),
        "{moved}"
    );
    assert!(!with(&[(304, 9_999)]).contains("redirects"));
    assert!(!with(&[(200, 9_999)]).contains("by status"));
}

#[test]
fn what_came_due_at_the_very_end_is_an_aside() {
    let with = |unsent: u64| {
        let counts = LoadCounts { unsent, in_flight: 0, ..stalled().counts };
        plain::plain(&report::load_terminal(&LoadResult { counts, ..stalled() }, 120))
    };
    assert!(with(1).contains("· Given up: 1 came due and was never sent."), "{}", with(1));
    assert!(with(100).contains("! Given up: 100 came due and were never sent."), "{}", with(100));
}

#[test]
fn a_late_generator_is_not_taken_for_a_server_that_lets_users_wait() {
    let quick = [0.03, 0.06, 0.07, 0.08, 0.09, 0.1, 0.2, 0.3, 0.4];
    let late_by = |own_ms: f64| LoadResult {
        response: times(10_000, 0, quick.map(|ms| Some(ms + own_ms))),
        punctual: times(10_000, 0, quick.map(Some)),
        service: times(10_000, 0, quick.map(Some)),
        ..stalled()
    };
    let told = |result: &LoadResult| {
        plain::plain(&report::load_terminal(result, 120))
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let little = told(&late_by(0.1));
    assert!(!little.contains("Service time alone would have told p"), "{little}");
    assert!(little.contains("hardly a request had to wait for a connection"), "{little}");
    let own = "without that, p50 of the response time would be 60.0 µs and not 160 µs";
    assert!(little.contains(own), "{little}");
    // Beyond that it is a doubt, which says it itself.
    let much = told(&late_by(1.0));
    assert!(!much.contains("a little late") && !much.contains("would have told p"), "{much}");
    let not_at_all = told(&late_by(0.0));
    assert!(!not_at_all.contains("late:"), "{not_at_all}");
}

#[test]
fn a_search_that_found_no_capacity_says_what_it_found() {
    let told = |knee: &Knee| plain::plain(&report::knee_terminal(knee, 120)).replace('\n', " ");
    let none = Knee { capacity_per_s: None, ..knee() };
    let between = told(&none);
    assert!(between.contains("It bears 724 requests per second and not 862"), "{between}");
    let held = told(&Knee {
        broke_per_s: None,
        broke_by: None,
        end: KneeEnd::HighestHeld,
        ..none.clone()
    });
    assert!(held.contains("the highest rate that was tried"), "{held}");
    let silent = Knee { held_per_s: None, limit_ns: None, end: KneeEnd::NoAnswer, ..none };
    assert!(told(&silent).contains("Nothing was answered."), "{}", told(&silent));
}

#[test]
fn the_page_needs_nothing_else_and_escapes_what_others_wrote() {
    for result in [stalled(), starved()] {
        let page = report::load_page(&result, &LoadCurves::default());
        for outside in ["<script src", "href=\"http", "url(", "<script>alert", "\u{1b}"] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.starts_with("<!DOCTYPE html>"));
        assert!(
            page.contains("prefers-color-scheme: dark")
                || page.contains("prefers-color-scheme:dark")
        );
        for part in ["p99.99", "response", "service", "lateness", "given up"] {
            assert!(page.contains(part), "{part}");
        }
        assert!(page.len() < 200_000, "{}", page.len());
    }
}

#[test]
fn the_page_draws_a_curve_for_each_time_that_has_one() {
    let lines =
        |page: &str| page.matches("class=\"line\"").count() + page.matches("class=line").count();
    let curve: Vec<(u64, f64)> =
        (1..=5000).map(|n| (n * 1_000, f64::from(n as u32) / 5000.0)).collect();
    let curves = LoadCurves { response: curve.clone(), service: curve.clone(), lateness: curve };
    let full = report::load_page(&stalled(), &curves);
    let few = report::load_page(&stalled(), &LoadCurves::default());
    let closed =
        LoadResult { plan: LoadPlan { arrivals: Arrivals::Closed, ..plan() }, ..stalled() };
    let closed = report::load_page(&closed, &curves);
    // The legend has a line of its own for each curve.
    assert_eq!((lines(&full), lines(&few), lines(&closed)), (6, 6, 4));
    assert!(few.contains("What took less than 1 µs is drawn at 1 µs"));
    // A load of which nothing was answered has no chart, and does no harm.
    let none = times(0, 5, [None; 9]);
    let silent = LoadResult {
        counts: LoadCounts { timed_out: 5, ..LoadCounts::default() },
        response: none.clone(),
        service: none.clone(),
        lateness: none,
        ..stalled()
    };
    let page = report::load_page(&silent, &LoadCurves::default());
    assert!(page.contains("Nothing was answered") && lines(&page) == 0);
}

#[test]
fn a_result_is_read_as_it_was_written() {
    for result in [stalled(), starved()] {
        let text = serde_json::to_string(&result).unwrap();
        assert_eq!(serde_json::from_str::<LoadResult>(&text).unwrap(), result);
    }
    let text = serde_json::to_string(&knee()).unwrap();
    assert_eq!(serde_json::from_str::<Knee>(&text).unwrap(), knee());
}
