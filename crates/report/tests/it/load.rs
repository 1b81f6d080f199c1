//! What `scruple load` says, as people see it.

use crate::loads::{plan, stalled, starved, times};
use crate::plain;
use model::{
    Arrivals, Estimate, Fairness, GateOutcome, Knee, KneeBreak, KneeEnd, KneeRules, KneeStage,
    KneeTrial, LoadComparison, LoadCounts, LoadGate, LoadNumber, LoadPlan, LoadResult, LoadRow,
    LoadSide,
};
use report::LoadCurves;

fn knee() -> Knee {
    let trial = |stage, per_s: f64, p95_ns, late| KneeTrial {
        stage,
        per_s,
        elapsed_ns: 10_000_000_000,
        due: (10.0 * per_s) as u64,
        succeeded: (9.98 * per_s) as u64,
        open: 0,
        counted: 1_000,
        late,
        p50_ns: None,
        p95_ns,
        service_p95_ns: None,
    };
    Knee {
        scruple: "test".into(),
        plan: LoadPlan {
            arrivals: Arrivals::Poisson { per_s: 50.0, seed: 7 },
            connections: 500,
            ..plan()
        },
        rules: KneeRules {
            from_per_s: None,
            most_per_s: None,
            limit_ns: None,
            budget_ns: 180_000_000_000,
            trial_least_ns: 2_000_000_000,
            constant: false,
            precision: 0.04,
        },
        limit_ns: Some(15.8e6),
        alone_p95_ns: Some(3.16e6),
        capacity_per_s: Some(Estimate {
            point: 812.4,
            low: 790.1,
            high: 831.6,
            standard_error: Some(8.1),
            level: 0.95,
            samples: 6,
        }),
        roughly_per_s: None,
        needed_ns: None,
        held_per_s: Some(724.0),
        broke_per_s: Some(862.0),
        broke_by: Some(KneeBreak::ResponseTime),
        end: KneeEnd::Precise,
        slowed_ns: None,
        trials: vec![
            trial(KneeStage::Alone, 512.3, Some(3_160_000), 0),
            trial(KneeStage::Search, 768.0, Some(13_100_000), 32),
            trial(KneeStage::Search, 1537.0, None, 861),
            trial(KneeStage::Measure, 811.0, Some(15_100_000), 48),
            trial(KneeStage::Measure, 815.0, Some(16_300_000), 53),
        ],
        doubts: vec!["In 2 of 27 trials: other programs used 0.7 of the CPUs".into()],
    }
}

#[test]
fn a_load_in_the_terminal() {
    insta::assert_snapshot!(
        "load_stalled_100",
        plain::plain(&report::load(&stalled(), &LoadCurves::default()).text(100))
    );
    insta::assert_snapshot!(
        "load_starved_80",
        plain::plain(&report::load(&starved(), &LoadCurves::default()).text(80))
    );
    insta::assert_snapshot!("knee_100", plain::plain(&report::knee(&knee()).text(100)));
}

#[test]
fn nothing_is_wider_than_the_terminal_or_commands_it() {
    for width in [40, 60, 80, 120] {
        let texts = [
            report::load(&stalled(), &LoadCurves::default()).text(width),
            report::load(&starved(), &LoadCurves::default()).text(width),
            report::knee(&knee()).text(width),
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
    let text = plain::plain(&report::load(&stalled(), &LoadCurves::default()).text(120))
        .replace('\n', " ");
    assert!(text.contains("p99 of the service time is 900 µs"), "{text}");
    assert!(text.contains("waited 900 ms. "), "{text}");
    let punctual = LoadResult { punctual: stalled().response, ..stalled() };
    let response = times(9_999, 1, [960.0; 9].map(Some));
    let late = LoadResult { response, ..punctual };
    let text = plain::plain(&report::load(&late, &LoadCurves::default()).text(120));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("waited 900 ms (without the generator's own lateness)."), "{text}");
    let closed =
        LoadResult { plan: LoadPlan { arrivals: Arrivals::Closed, ..plan() }, ..stalled() };
    let text = plain::plain(&report::load(&closed, &LoadCurves::default()).text(120));
    assert!(text.contains("In a closed loop, each connection waits"), "{text}");
    let text = plain::plain(&report::load(&starved(), &LoadCurves::default()).text(120))
        .replace('\n', " ");
    assert!(text.contains("15 of 16 connections got no answer"), "{text}");
}

#[test]
fn answers_that_are_shared_out_evenly_need_no_index() {
    let fair = Fairness { least: 200, most: 200, index: 1.0, ..stalled().fairness.unwrap() };
    let result = LoadResult { fairness: Some(fair), ..stalled() };
    let text = plain::plain(&report::load(&result, &LoadCurves::default()).text(120));
    assert!(text.contains("· Each connection got 200 answers.\n"), "{text}");
}

fn comparison() -> LoadComparison {
    let row = |number, base: f64, ratio: Option<Estimate>, differs| LoadRow {
        side: 1,
        number,
        base: Some(base),
        value: ratio.map(|ratio| base * ratio.point),
        ratio,
        differs,
    };
    let near = Estimate::between(0.93, 1.035, 1.15);
    let more = Estimate::between(1.02, 1.05, 1.08);
    LoadComparison {
        scruple: "test".into(),
        sides: vec![
            LoadSide { name: "before.json".into(), plan: plan() },
            LoadSide { name: "after\u{1b}[31m.json".into(), plan: plan() },
        ],
        blocks: None,
        rows: vec![
            row(LoadNumber::Percentile(50.0), 1.2e6, Some(more), Some(true)),
            row(LoadNumber::Percentile(99.0), 14.1e6, Some(near), Some(false)),
            row(LoadNumber::Percentile(99.9), 21e6, None, None),
            row(LoadNumber::Errors, 0.001, Some(near), Some(false)),
            row(LoadNumber::Rate, 999.9, Some(near), Some(false)),
        ],
        gates: [("p50 > +1%", GateOutcome::Regression), ("p99 > +5%", GateOutcome::CannotTell)]
            .map(|(condition, outcome)| LoadGate {
                condition: condition.into(),
                number: LoadNumber::Percentile(99.0),
                outcome,
            })
            .into(),
        doubts: vec!["the load after.json has another duration than the base".into()],
    }
}

#[test]
fn loads_are_compared_number_by_number() {
    insta::assert_snapshot!("loads_80", plain::plain(&report::loads(&comparison()).text(80)));
    let blocks = LoadComparison { blocks: Some(10), ..comparison() };
    for width in [40, 60, 120] {
        let text = plain::plain(&report::loads(&blocks).text(width));
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        assert!(!text.contains('\u{1b}') && text.contains("took turns"), "{text}");
    }
    let page = report::loads(&blocks).page();
    assert!(page.contains("Significantly different: p50.") && !page.contains('\u{1b}'), "{page}");
}

#[test]
fn a_mean_that_is_unknown_is_a_lower_bound() {
    let text = plain::plain(&report::load(&stalled(), &LoadCurves::default()).text(100));
    assert!(text.contains("≥ 625 µs"), "{text}");
    assert!(text.contains("1 request was still in flight 1.00 s after the end"), "{text}");
    let whole = LoadResult { response: times(9_999, 0, [5.0; 9].map(Some)), ..stalled() };
    let text = plain::plain(&report::load(&whole, &LoadCurves::default()).text(100));
    assert!(text.contains("6.25 ms"), "{text}");
}

#[test]
fn a_load_of_refusals_says_so_first() {
    let counts = LoadCounts {
        answered: 9,
        succeeded: 0,
        statuses: [(404, 7), (500, 2)].into(),
        ..LoadCounts::default()
    };
    let result = LoadResult { counts, ..stalled() };
    let text = plain::plain(&report::load(&result, &LoadCurves::default()).text(100));
    let first = text.lines().find(|line| line.contains("No request succeeded")).unwrap();
    assert!(first.contains("9 came due in 10.0 s. Answers: 404: 7, 500: 2."), "{text}");
    assert_eq!(text.matches("404").count(), 1, "{text}");
}

#[test]
fn redirects_are_told_from_what_was_asked_for() {
    let with = |statuses: &[(u16, u64)]| {
        let statuses = statuses.iter().copied().collect();
        let counts = LoadCounts { statuses, ..stalled().counts };
        plain::plain(
            &report::load(&LoadResult { counts, ..stalled() }, &LoadCurves::default()).text(120),
        )
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
        plain::plain(
            &report::load(&LoadResult { counts, ..stalled() }, &LoadCurves::default()).text(120),
        )
    };
    assert!(with(1).contains("· Requests given up: 1 came due and"), "{}", with(1));
    assert!(with(100).contains("! Requests given up: 100 came due and"), "{}", with(100));
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
    let printed = |result: &LoadResult| {
        plain::plain(&report::load(result, &LoadCurves::default()).text(120))
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let little = printed(&late_by(0.1));
    assert!(!little.contains("of the service time is"), "{little}");
    assert!(little.contains("hardly any request waited for a connection"), "{little}");
    let own = "Without that, p50 of the response time would be 60.0 µs, not 160 µs.";
    assert!(little.contains(own), "{little}");
    // Beyond that it is a doubt, which says it itself.
    let much = printed(&late_by(1.0));
    assert!(!much.contains("slightly late") && !much.contains("of the service time is"), "{much}");
    let not_at_all = printed(&late_by(0.0));
    assert!(!not_at_all.contains("slightly late"), "{not_at_all}");
}

#[test]
fn a_search_that_found_no_capacity_says_what_it_found() {
    let printed = |knee: &Knee| plain::plain(&report::knee(knee).text(120)).replace('\n', " ");
    let none = Knee { capacity_per_s: None, ..knee() };
    let between = printed(&none);
    assert!(between.contains("sustains 724 requests per second and not 862"), "{between}");
    let held = printed(&Knee {
        broke_per_s: None,
        broke_by: None,
        end: KneeEnd::HighestHeld,
        ..none.clone()
    });
    assert!(held.contains("the highest rate tried"), "{held}");
    let slow = Knee {
        end: KneeEnd::TooSlow,
        roughly_per_s: Some(3.1),
        needed_ns: Some(200e9),
        ..none.clone()
    };
    let text = printed(&slow);
    assert!(
        text.contains("about 3.10 requests per second") && text.contains("about 5 min"),
        "{text}"
    );
    let none = Knee { held_per_s: None, broke_per_s: None, ..none };
    let silent = Knee { limit_ns: None, end: KneeEnd::NoAnswer, ..none };
    assert!(printed(&silent).contains("No request was answered."), "{}", printed(&silent));
}

#[test]
fn the_page_needs_nothing_else_and_escapes_what_others_wrote() {
    for result in [stalled(), starved()] {
        let page = report::load(&result, &LoadCurves::default()).page();
        for outside in ["<script src", "href=\"http", "url(", "<script>alert", "\u{1b}"] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.starts_with("<!DOCTYPE html>"));
        assert!(
            page.contains("prefers-color-scheme: dark")
                || page.contains("prefers-color-scheme:dark")
        );
        for part in ["p99.99", "response", "service", "lateness", "not answered"] {
            assert!(page.contains(part), "{part}");
        }
        for part in ["interval", "The load over time", "time since the start"] {
            assert!(page.contains(part), "{part}");
        }
        assert!(page.len() < 250_000, "{}", page.len());
    }
}

#[test]
fn the_page_draws_a_curve_for_each_time_that_has_one() {
    let lines =
        |page: &str| page.matches("class=\"line\"").count() + page.matches("class=line").count();
    let curve: Vec<(u64, f64)> =
        (1..=5000).map(|n| (n * 1_000, f64::from(n as u32) / 5000.0)).collect();
    let curves = [curve.clone(), curve.clone(), curve];
    let full = report::load(&stalled(), &curves).page();
    let few = report::load(&stalled(), &LoadCurves::default()).page();
    let closed =
        LoadResult { plan: LoadPlan { arrivals: Arrivals::Closed, ..plan() }, ..stalled() };
    let closed = report::load(&closed, &curves).page();
    // The legend has a line of its own for each curve.
    let over_time = lines(&few);
    let drawn = [full.as_str(), &closed].map(|page| lines(page) - over_time);
    assert_eq!(drawn, [6, 4]);
    assert!(full.contains("Times below 1 µs are drawn at 1 µs"));
    // A load of which nothing was answered has no chart, and does no harm.
    let none = times(0, 5, [None; 9]);
    let silent = LoadResult {
        counts: LoadCounts { timed_out: 5, ..LoadCounts::default() },
        response: none.clone(),
        service: none.clone(),
        lateness: none,
        ..stalled()
    };
    let page = report::load(&silent, &LoadCurves::default()).page();
    assert!(page.contains("No request was answered") && lines(&page) == 0);
    // Nor has it rows of nothing.
    let text = plain::plain(&report::load(&silent, &LoadCurves::default()).text(100));
    assert!(!text.contains("unknown"), "{text}");
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
