//! A server beside a simulated one, as the terminal shows it.

use model::{
    Arrivals, LoadPlan, LoadPrediction, PredictedByFormula, PredictedLoad, PredictedTime,
    ServerDemand, ServerKind, ServerLimit,
};

fn prediction() -> LoadPrediction {
    let time = |measured: f64, predicted: f64| {
        Some(PredictedTime { measured_ns: measured, predicted_ns: predicted })
    };
    LoadPrediction {
        format: model::PREDICTION_FORMAT,
        scruple: "test".into(),
        plan: LoadPlan {
            url: "http://127.0.0.1:8080/\u{1b}[31m".into(),
            method: "GET".into(),
            headers: Vec::new(),
            body_bytes: 0,
            arrivals: Arrivals::Closed,
            connections: 500,
            keep_alive: false,
            threads: 1,
            duration_ms: Some(10_000),
            requests: None,
            timeout_ms: 20_000,
        },
        server: ServerKind::Pool(8),
        cpus: 1,
        demand: Some(ServerDemand {
            alone_ns: 20.4e6,
            connections: 32,
            throughput_per_s: 396.0,
            cpu_seen_ns: Some(90e3),
            limit: ServerLimit::Workers,
            wait_ns: 20_200_000,
            cpu_ns: 0,
            outside_ns: 200_000,
        }),
        doubts: vec!["the generator was busy".into()],
        loads: vec![PredictedLoad {
            per_s: 198.0,
            utilisation: 0.5,
            requests: 1980,
            measured_alone: 0,
            predicted_alone: 2,
            mean: time(21.0e6, 21.21e6),
            p50: time(20.4e6, 20.4e6),
            p99: time(30.0e6, 27.0e6),
            each_p50: Some(0.004),
            each_p99: Some(0.081),
            formula: Some(PredictedByFormula { name: "M/D/c, about".into(), mean_ns: 21.1e6 }),
            doubts: vec!["other programs took 41 % of the CPUs".into()],
        }],
        complete: true,
    }
}

fn plain(prediction: &LoadPrediction, width: usize) -> String {
    let text = report::prediction_terminal(prediction, width);
    let mut plain = String::new();
    let mut coloured = false;
    for c in text.chars() {
        match c {
            '\u{1b}' => coloured = true,
            'm' if coloured => coloured = false,
            _ if coloured => {}
            _ => plain.push(c),
        }
    }
    plain
}

#[test]
fn measured_and_predicted_stand_side_by_side() {
    let text = plain(&prediction(), 100);
    for part in [
        "taken for a pool of 8 workers",
        "So a request holds a worker for 20.2 ms, and",
        "198 per second, 50 % of it: 1980 requests",
        "+1.0 %",
        "+0.0 %",
        "-10.0 %",
        "half are off by 0.4 % or less, and 99 % by 8.1 % or less.",
        "M/D/c, about would have a mean of 21.1 ms.",
        "in the simulation alone: 2.",
        "! The generator was busy",
        "! Other programs took 41 % of the CPUs",
    ] {
        let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "what others wrote is harmless: {text}");
}

#[test]
fn a_narrow_terminal_is_not_overrun() {
    for width in [20, 40, 80] {
        let text = plain(&prediction(), width);
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= width.max(40), "{width}: {text}");
    }
}

#[test]
fn what_was_interrupted_says_so() {
    let early = LoadPrediction { demand: None, loads: Vec::new(), complete: false, ..prediction() };
    assert!(plain(&early, 80).contains("Interrupted before it was known"));
    let late = LoadPrediction { loads: Vec::new(), complete: false, ..prediction() };
    assert!(plain(&late, 80).contains("not all loads were measured"));
    let mut nothing = prediction();
    nothing.loads[0] = PredictedLoad {
        mean: None,
        p50: None,
        p99: None,
        each_p50: None,
        each_p99: None,
        ..nothing.loads[0].clone()
    };
    assert!(plain(&nothing, 80).contains("No request was answered in both"));
}
