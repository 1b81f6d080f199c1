//! The benchmark of many sessions: what it is told, what it reads, and what it makes of it.

#![expect(dead_code, reason = "the benchmark's main uses the rest")]

#[path = "../../benches/sessions/asked.rs"]
mod asked;
#[path = "../../benches/sessions/neighbour.rs"]
mod neighbour;
#[path = "../../benches/sessions/tally.rs"]
mod tally;

use self::asked::{Asked, What};
use self::neighbour::Kind;
use self::tally::{Decided, Nulls, Planted};
use model::{Meter, Summary};
use serde_json::{Value, json};

fn asked(line: &str) -> anyhow::Result<Asked> {
    Asked::parse(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
}

#[test]
fn the_words_are_understood_wherever_cargo_puts_its_own() {
    let null = asked("null --sessions 7 --neighbour none --blocks 8 --seed 3 --bench").unwrap();
    let expected = Asked {
        what: What::Null,
        sessions: 7,
        neighbour: Kind::None,
        blocks: 8,
        time_budget: "30s".into(),
        seed: 3,
        keep: None,
        experiment: "create".into(),
        from: None,
    };
    assert_eq!(null, expected);
    assert_eq!(asked("--bench null").unwrap().sessions, 200);
    let planted = asked("--bench planted --time-budget 10s --keep /tmp/k").unwrap();
    assert_eq!((planted.what, planted.neighbour), (What::Planted, Kind::Bursts));
    assert_eq!(planted.time_budget, "10s");
    assert_eq!(planted.keep.as_deref(), Some(std::path::Path::new("/tmp/k")));
    let between = asked("between --experiment clock --from here --bench").unwrap();
    assert_eq!((between.what, between.sessions), (What::Between, 12));
    let one = asked("decided --neighbour one").unwrap();
    assert_eq!((one.what, one.neighbour, one.sessions), (What::Decided, Kind::One, 5));
    assert_eq!(between.experiment, "clock");
    assert_eq!(between.from.as_deref(), Some(std::path::Path::new("here")));
}

#[test]
fn a_wrong_word_is_named() {
    for (line, named) in [
        ("", "null, planted, between, study or decided?"),
        ("nul", "nul: null, planted,"),
        ("null --sessions", "--sessions wants a value"),
        ("null --sessions -3", "--sessions -3"),
        ("null --sessions 99999999999", "out of range"),
        ("null --neighbour loud", "--neighbour loud"),
        ("null --loud 1", "--loud"),
    ] {
        let said = format!("{:#}", asked(line).unwrap_err());
        assert!(said.contains(named), "{line}: {said}");
    }
}

fn result(point: f64, carried_by: Option<&str>) -> Value {
    json!({
        "quantity": {"kind": "value", "response": "x_ns", "at": {}},
        "unit": null,
        "estimate": {
            "point": point, "low": point - 0.01, "high": point + 0.01,
            "standard_error": null, "level": 0.95, "samples": 6
        },
        "carried_by": carried_by,
        "floor": null,
        "tagged": 0,
        "remark": ""
    })
}

fn summary(id: &str, differs: &[bool], more: &Value) -> Summary {
    let controls: Vec<Value> = differs
        .iter()
        .map(|differs| {
            let ratio = result(1.0, None)["estimate"].clone();
            json!({
                "experiment": id, "response": "x_ns", "at": {}, "ratio": ratio, "differs": differs
            })
        })
        .collect();
    let mut experiment = json!({
        "id": id, "version": 1, "question": "?", "blocks": 6, "outcomes": [], "estimates": [],
        "findings": [], "accounts": [], "claims": [], "floors": [], "variances": [], "planted": [],
        "diagnoses": [], "failed_checks": [], "tags": [], "warnings": []
    });
    let fields = experiment.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    serde_json::from_value(json!({
        "format": 3, "scruple": "0", "session": "made up", "complete": true,
        "trust": {"controls": controls, "holds": !differs.contains(&true), "floor": null},
        "harness": {
            "trials": 36, "spawn_to_ready_ns": null, "outside_ns": null, "runner_cpu_share": null,
            "foreign_cpu_share": 1.5, "leaking_trials": 0
        },
        "meter": Meter::default(),
        "experiments": [experiment]
    }))
    .unwrap()
}

#[test]
fn false_verdicts_are_counted_by_session_and_by_kind_of_work() {
    let works = ["cpu".to_string(), "kernel".to_string()];
    let findings = json!({"findings": [
        {"id": "cpu", "sentence": "{}", "result": result(1.0, Some("x_cpu_ns"))},
        {"id": "kernel", "sentence": "{}", "result": result(1.0, None)},
    ]});
    let mut nulls = Nulls::default();
    for number in 0..40 {
        let erred = number == 5 || number == 6;
        let differs = [false, erred];
        assert_eq!(nulls.add(&summary("null", &differs, &findings), &works).unwrap(), erred);
    }
    assert_eq!((nulls.wrong.events, nulls.wrong.sessions), (2, 40));
    assert_eq!((nulls.by_work["cpu"].events, nulls.by_work["kernel"].events), (0, 2));
    assert_eq!((nulls.carried["cpu"].events, nulls.carried["kernel"].events), (40, 0));
    assert!(nulls.holds(), "2 of 40 is 5 %");
    let text = nulls.text();
    // R: binom.test(2, 40).
    assert!(text.contains("false verdict: 2 of 40, 5.0 % [0.6, 16.9]"), "{text}");
    assert!(text.contains("150 % of one CPU") && text.contains("at most 5 %: yes"), "{text}");
    nulls.add(&summary("null", &[true, false], &findings), &works).unwrap();
    assert!(!nulls.holds(), "3 of 41 is more");
    assert!(nulls.text().contains("at most 5 %: NO"));
}

#[test]
fn a_session_that_says_nothing_is_not_counted_as_right() {
    let works = ["cpu".to_string(), "kernel".to_string()];
    let mut nulls = Nulls::default();
    assert!(!nulls.holds(), "no session, no verdict");
    assert!(nulls.add(&summary("clock", &[false, false], &json!({})), &works).is_err());
    assert!(nulls.add(&summary("null", &[false], &json!({})), &works).is_err());
    assert_eq!(nulls.wrong.sessions, 0);
}

fn planted(answers: &[(&str, Option<bool>, Option<bool>)]) -> Summary {
    let all: Vec<Value> = answers
        .iter()
        .map(|(id, found, holds)| {
            let mut result = result(0.05, None);
            if found.is_none() {
                result["estimate"] = Value::Null;
            }
            let truth = if id.starts_with("aa") { [-0.01, 0.01] } else { [0.04, 0.06] };
            json!({
                "id": id, "what": "a wait", "result": result, "without": 0.0,
                "truth": {"low": truth[0], "high": truth[1]}, "size": 0.05,
                "holds": holds, "found": found, "excluded": holds.map(|holds| !holds)
            })
        })
        .collect();
    summary(tally::PLANTED, &[], &json!({"planted": all}))
}

#[test]
fn planted_answers_are_counted_each_for_itself() {
    let mut counted = Planted::default();
    for number in 0..20 {
        let five = (number != 0).then_some(number != 1);
        counted
            .add(&planted(&[
                ("delay_5", five, five.map(|_| true)),
                ("delay_20", Some(true), Some(number >= 2)),
            ]))
            .unwrap();
    }
    let [five, twenty] = [&counted.answers[0].1, &counted.answers[1].1];
    assert_eq!((five.found.events, five.holds.events, five.found.sessions), (18, 19, 20));
    assert_eq!((twenty.found.events, twenty.holds.events, twenty.excluded.events), (20, 18, 2));
    assert!(counted.holds(), "18 of 20 is 90 %");
    // R: binom.test(18, 20).
    assert!(counted.text().contains("found: 18 of 20, 90.0 % [68.3, 98.8]"), "{}", counted.text());
    counted
        .add(&planted(&[("delay_5", None, None), ("delay_20", Some(true), Some(true))]))
        .unwrap();
    assert!(!counted.holds(), "18 of 21 is less: without an interval nothing was found");
}

#[test]
fn what_is_found_out_of_nothing_counts_against_the_laboratory() {
    let mut counted = Planted::default();
    for number in 0..20 {
        counted.add(&planted(&[("aa_delay", Some(number == 0), Some(number != 0))])).unwrap();
    }
    assert!(counted.holds(), "1 of 20 is 5 %");
    assert!(
        counted.text().contains("found where nothing is: 1 of 20, 5.0 %"),
        "{}",
        counted.text()
    );
    counted.add(&planted(&[("aa_delay", Some(true), Some(true))])).unwrap();
    assert!(!counted.holds());
}

#[test]
fn a_session_without_planted_answers_is_refused() {
    let mut counted = Planted::default();
    assert!(counted.add(&planted(&[])).is_err());
    assert!(counted.add(&summary("null", &[], &json!({}))).is_err());
    assert!(!counted.holds());
}

fn claims(verdicts: &[(&str, &str)]) -> Summary {
    let claim = |&(id, verdict): &(&str, &str)| {
        let mut result = result(1.2, None);
        if verdict == "unmeasured" {
            result["estimate"] = Value::Null;
        }
        let verdict = if verdict == "unmeasured" { "inconclusive" } else { verdict };
        json!({
            "id": id, "text": "", "source": "", "mechanism": "", "result": result,
            "holds_if": {"low": 1.0, "high": null}, "verdict": verdict, "p_value": null, "note": "",
            "grade": "timing", "raise": ""
        })
    };
    let claims: Vec<Value> = verdicts.iter().map(claim).collect();
    summary("workers", &[], &json!({ "claims": claims }))
}

#[test]
fn open_and_turned_verdicts_are_counted() {
    let mut counted = Decided::new(false);
    let told =
        counted.add(&claims(&[("a", "supported"), ("b", "inconclusive"), ("c", "unmeasured")]));
    assert!(told.contains("3 | 1 of 2, 50.0 %") && told.ends_with("open: workers.b"), "{told}");
    assert!(!counted.holds());
    // A verdict turns only between two that are decided.
    let mut counted = Decided::new(true);
    counted.add(&claims(&[("a", "supported"), ("b", "refuted")]));
    assert!(!counted.holds(), "one session cannot tell whether a verdict turns");
    counted.add(&claims(&[("a", "supported"), ("b", "refuted"), ("c", "unmeasured")]));
    assert!(counted.holds() && counted.text().contains("0 of 2, 0.0 %"), "{}", counted.text());
    counted.add(&claims(&[("a", "refuted"), ("b", "refuted")]));
    assert!(counted.text().contains("2 of 6, 33.3 %") && !counted.holds(), "{}", counted.text());
}

#[test]
fn bursts_are_exponential_and_come_from_the_seed() {
    let times = |seed: u64| {
        let mut random = neighbour::Random(seed);
        (0..20_000).map(|_| random.time().as_secs_f64()).collect::<Vec<f64>>()
    };
    assert_eq!(times(7), times(7));
    assert_ne!(times(7), times(8));
    let (times, mean) = (times(7), neighbour::MEAN.as_secs_f64());
    let found = times.iter().sum::<f64>() / times.len() as f64;
    // Of an exponential time the standard deviation is the mean: 1/√20,000 is 0.7 %.
    assert!((found / mean - 1.0).abs() < 0.04, "{found}");
    let longer = times.iter().filter(|time| **time > 2.0 * mean).count() as f64 / 20_000.0;
    assert!((longer - (-2.0_f64).exp()).abs() < 0.02, "{longer}");
}
