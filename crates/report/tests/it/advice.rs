//! What `scruple plan` says, as people see it.

use model::{
    Advice, Cell, Cost, Estimate, Gap, Load, MeasuredProgram, Quantity, Refusal, ResponseCurve,
    Sensitivity, Simulated, Staffing, Unit,
};

fn estimate(point: f64) -> Estimate {
    Estimate {
        point,
        low: 0.95 * point,
        high: 1.05 * point,
        standard_error: None,
        level: 0.95,
        samples: 12,
    }
}

fn cost(id: &str, what: &str, experiment: &str, unit: Unit, point: f64) -> Cost {
    let quantity = Quantity::Value { response: "cpu_ns".into(), at: Cell::default() };
    let (id, what, experiment) = (id.into(), what.into(), experiment.into());
    Cost { id, what, experiment, quantity, divided_by: 1.0, unit, estimate: estimate(point) }
}

fn staffing(model: &str, cpu_ns: f64, workers: u32) -> Staffing {
    Staffing {
        model: model.into(),
        cpu_point_ns: 0.999 * cpu_ns,
        cpu_ns,
        refusal: None,
        workers: Some(workers),
        workers_point: Some(workers - 1),
        workers_least: Some(11),
        throughput_per_s: Some(500.0),
        cpu_busy: Some(0.376),
        worker_busy: Some(0.72),
        present: Some(10.4),
        wait_ns: Some(0.8e6),
        response_ns: Some(20.9e6),
        p95_ns: Some(61.3e6),
        depends_on_spread: false,
        p95_least_ns: Some(20.1e6),
        memory_bytes: Some(f64::from(workers) * 60e3),
        memory_least_bytes: Some(f64::from(workers) * 58e3),
        rate_most_per_s: Some(612.0),
    }
}

fn refused(model: &str, refusal: Refusal) -> Staffing {
    Staffing {
        model: model.into(),
        cpu_point_ns: 6.2e6,
        cpu_ns: 6.2e6,
        refusal: Some(refusal),
        ..Staffing::default()
    }
}

fn advice() -> Advice {
    Advice {
        simulated: None,
        scruple: "test".into(),
        session: "2026-11-22T100000Z-host".into(),
        load: Load {
            rate_per_s: Some(500.0),
            service_ns: 20e6,
            cpu_share: 0.3,
            target_p95_ns: Some(100e6),
            memory_bytes: Some(2e9),
            headroom: 0.3,
            cpus: 8,
            cpus_stated: true,
            ..Load::default()
        },
        costs: vec![
            cost(
                "pool_added",
                "CPU time of a hand-off to a waiting thread",
                "create",
                Unit::Ns,
                5.2e3,
            ),
            cost("thread_memory", "memory (PSS) of one more thread", "workers", Unit::Bytes, 60e3),
        ],
        models: vec![
            staffing("pool", 6.01e6, 15),
            staffing("thread", 6.03e6, 22),
            refused("process", Refusal::Memory { needed_bytes: 3e9, workers_fit: 14 }),
        ],
        recommended: Some("pool".into()),
        alike: vec!["thread".into()],
        measured: Vec::new(),
        sensitivity: [
            ("twice the load", Some(("pool", 26))),
            ("half the CPUs", Some(("thread", 30))),
            ("half the memory", None),
        ]
        .map(|(change, best)| Sensitivity {
            change: change.into(),
            recommended: best.map(|(model, _)| model.into()),
            workers: best.map(|(_, workers)| workers),
        })
        .into(),
        curves: ["pool", "thread"]
            .map(|model| ResponseCurve {
                model: model.into(),
                points: (1..20).map(|n| (50.0 * f64::from(n), 20e6 + 1e6 * f64::from(n))).collect(),
            })
            .into(),
        gaps: vec![Gap { what: "whether an event loop would do".into(), measure: String::new() }],
    }
}

/// As a pipe sees it.
fn plain(advice: &Advice, width: usize) -> String {
    let text = report::advice(advice).text(width);
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain + rest
}

#[test]
fn an_answer_in_words() {
    insta::assert_snapshot!("advice_100", plain(&advice(), 100));
    let narrow = plain(&advice(), 44);
    assert!(narrow.lines().all(|line| line.chars().count() <= 44), "{narrow}");
}

#[test]
fn a_page_draws_the_response_of_each_model() {
    let page = report::advice(&advice()).page();
    assert!(page.contains("response-by-load") && page.contains("Response time against the load"));
    assert_eq!(page.matches("A pool of threads").count(), 1, "once, in the legend");
}

#[test]
fn refusals_in_words() {
    let refusals = [
        Refusal::Cpus { cpus_least: Some(4), rate_below_per_s: 332.9 },
        Refusal::Cpus { cpus_least: None, rate_below_per_s: 165.0 },
        Refusal::Workers { workers_least: 11 },
        Refusal::Late { p95_ns: 130e6, workers_enough: 15 },
        Refusal::Target { p95_ns: 61e6, cpus_least: Some(9) },
        Refusal::Target { p95_ns: 61e6, cpus_least: None },
    ];
    let models = refusals.into_iter().map(|refusal| refused("pool", refusal)).collect();
    let gaps = vec![Gap {
        what: "how much memory a worker takes".into(),
        measure: "scruple run workers".into(),
    }];
    let (recommended, alike) = (None, Vec::new());
    let none = Advice { models, recommended, alike, gaps, costs: Vec::new(), ..advice() };
    insta::assert_snapshot!("advice_refused", plain(&none, 100));
    let blind = Advice { models: Vec::new(), ..none };
    assert!(plain(&blind, 100).contains("This session cannot answer"));
}

#[test]
fn connections_and_measured_programs_in_words() {
    let mut closed = advice();
    closed.load = Load { rate_per_s: None, connections: Some(64), think_ns: 1e9, ..closed.load };
    closed.models[0].rate_most_per_s = None;
    insta::assert_snapshot!("advice_connections", plain(&closed, 100));
    let at_once = Advice { load: Load { think_ns: 0.0, ..closed.load.clone() }, ..closed.clone() };
    assert!(plain(&closed, 100).contains("Headroom") && !plain(&at_once, 100).contains("Headroom"));
    closed.load.connections = Some(1_000_000);
    closed.load.machines = Some(40);
    closed.load.target_p95_ns = None;
    closed.simulated = Some(Simulated { connections: 25_000, requests: 100_000, seed: 1 });
    insta::assert_snapshot!("advice_machines", plain(&closed, 100));
    let program = |level: Option<&str>| MeasuredProgram {
        experiment: "server".into(),
        response: "answers_per_s".into(),
        factor: "n".into(),
        level: level.map(String::from),
        throughput: estimate(560.0),
        best_level: "4".into(),
    };
    let seen = Advice { measured: vec![program(Some("2")), program(None)], ..advice() };
    let text = plain(&seen, 100).replace('\n', " ");
    assert!(text.contains("560 /s [532, 588] with n 2") && text.contains("with n 4."), "{text}");
}

#[test]
fn what_others_wrote_is_harmless() {
    let mut hostile = advice();
    hostile.session = "\u{1b}[2Jsession".into();
    hostile.costs[0].what = "a\u{7}b\u{202e}c".into();
    let text = plain(&hostile, 100);
    assert!(!text.contains('\u{1b}') && !text.contains('\u{7}') && !text.contains('\u{202e}'));
}
