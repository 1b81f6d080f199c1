//! A prediction that was made up.

use model::{
    Arrivals, Estimate, LoadPlan, LoadPrediction, ModelFault, PredictedByFormula, PredictedLoad,
    PredictedModel, PredictedTime, ServerDemand, ServerKind, ServerLimit, ServerSeen,
};

fn plan() -> LoadPlan {
    LoadPlan {
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
        drain_ms: 0,
        options: Default::default(),
    }
}

/// A server that was not quite the queue it was taken for.
pub(crate) fn prediction() -> LoadPrediction {
    let time = |measured: f64, predicted: f64| {
        Some(PredictedTime {
            measured_ns: measured,
            predicted_ns: predicted,
            low_ns: 0.98 * predicted,
            high_ns: 1.02 * predicted,
        })
    };
    let estimate = |point: f64| Estimate {
        point,
        low: 0.99 * point,
        high: 1.01 * point,
        standard_error: None,
        level: 0.95,
        samples: 6,
    };
    let pool = PredictedModel {
        server: ServerKind::Pool(8),
        bound: false,
        demand: Some(ServerDemand {
            limit: ServerLimit::Workers,
            wait_ns: 20_200_000,
            cpu_ns: 0,
            outside_ns: 200_000,
            cpus: 1,
        }),
        fault: None,
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
    };
    let refuted = PredictedModel {
        server: ServerKind::Each,
        fault: Some(ModelFault::Throughput(1568.0)),
        demand: None,
        loads: Vec::new(),
        ..pool.clone()
    };
    LoadPrediction {
        format: model::PREDICTION_FORMAT,
        scruple: "test".into(),
        plan: plan(),
        asked: Some(ServerKind::Pool(8)),
        seen: Some(ServerSeen {
            alone_ns: estimate(20.4e6),
            connections: 32,
            throughput_per_s: estimate(396.0),
            cpu_ns: Some(90e3),
            cpus_busy: Some(0.036),
            cpus: 2,
        }),
        doubts: vec!["the generator was busy".into()],
        models: vec![pool, refuted],
        complete: true,
    }
}

/// Curves of a load all of whose requests took between these.
pub(crate) fn curves() -> report::PredictedCurves {
    let curve = |from: u64, to: u64| -> Vec<(u64, f64)> {
        (1..=1980).map(|n| (from + (to - from) * n / 1980, n as f64 / 1980.0)).collect()
    };
    [curve(20_000_000, 31_000_000), curve(20_100_000, 28_000_000)]
}
