//! Sessions to play with.

use model::{
    Check, Counters, Design, Environment, Factor, Level, Manifest, Measured, Options, Outcome,
    Record, SESSION_FORMAT, Series, ShieldReport, Surroundings, Treatment,
};

pub(crate) fn manifest() -> Manifest {
    Manifest {
        format: SESSION_FORMAT,
        scruple: "0.1.0".into(),
        session: "2026-11-20T131042Z-host".into(),
        started_unix_ms: 1_795_180_242_000,
        seed: u64::MAX,
        command: vec!["scruple".into(), "run".into(), "caf\u{e9} \"\n".into()],
        options: Options::default(),
        environment: Environment { host: "host".into(), load: 0.1, ..Environment::default() },
        shield: ShieldReport::default(),
        designs: vec![design()],
        redacted: false,
        runs: Vec::new(),
    }
}

/// What [`record`] is a trial of.
pub(crate) fn design() -> Design {
    let level = |name: &str| Level::new(name, "");
    let model = Factor {
        name: "model".into(),
        about: "what runs".into(),
        levels: vec![level("thread"), level("process")],
        baseline: "thread".into(),
        ..Factor::default()
    };
    Design { id: "create".into(), factors: vec![model], ..Design::default() }
}

pub(crate) fn record(trial: u64) -> Record {
    Record {
        trial,
        experiment: "create".into(),
        block: trial as u32,
        position: 0,
        treatment: Treatment::from_iter([("model".into(), "thread".into())]),
        started_unix_ms: 1,
        padding_bytes: 17,
        outcome: Outcome::Completed { leaked: 0 },
        observed: Default::default(),
        measured: Some(Measured {
            series: vec![Series { response: "create_ns".into(), per: 1, values: vec![1, -2, 3] }],
            counters: Counters { wall_ns: 7, ..Counters::default() },
            checks: vec![Check {
                name: "overlap".into(),
                seen: 0.1,
                low: 0.0,
                high: 1.0,
                wants_cpus: true,
            }],
            calibration: None,
            exhibits: Vec::new(),
            waits: None,
        }),
        process: None,
        spawn_to_ready_ns: Some(1),
        harness_ns: None,
        measuring_ns: None,
        total_ns: 9,
        runner_cpu_ns: None,
        machine: Surroundings::default(),
        log: "a line\nand \u{1b}[31manother\0".into(),
    }
}
