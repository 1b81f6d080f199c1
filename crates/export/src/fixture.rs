//! A made-up session for the tests of this room: small enough to be read.

use crate::Session;
use model::{
    Card, Cell, Center, Counters, CpuCache, Design, Environment, Factor, Level, Manifest, Measured,
    Options, Outcome, Record, Response, Series, ShieldReport, Surroundings, Unit,
};

pub(crate) struct Made {
    pub(crate) manifest: Manifest,
    pub(crate) records: Vec<Record>,
}

impl Made {
    pub(crate) fn session(&self) -> Session<'_> {
        Session { manifest: &self.manifest, records: &self.records }
    }
}

pub(crate) fn factor(name: &str, levels: &[&str]) -> Factor {
    let level = |name: &&str| Level::new(name, "");
    Factor {
        name: name.into(),
        about: String::new(),
        levels: levels.iter().map(level).collect(),
        baseline: levels[0].into(),
        ..Factor::default()
    }
}

pub(crate) fn response(name: &str, unit: Unit) -> Response {
    Response {
        name: name.into(),
        label: name.into(),
        unit,
        center: Center::Median,
        cpu_twin: None,
        subtract: None,
        exact: false,
        independent: false,
        limits: Vec::new(),
        card: Card::default(),
    }
}

pub(crate) fn design(id: &str, factors: Vec<Factor>, responses: Vec<Response>) -> Design {
    Design { id: id.into(), version: 3, factors, responses, ..Design::default() }
}

pub(crate) fn manifest(designs: Vec<Design>) -> Manifest {
    let cache = CpuCache { level: 1, kind: "Data".into(), size_bytes: 32 << 10, line_bytes: 64 };
    let environment = Environment {
        host: "bench-1".into(),
        cpus_online: 2,
        caches: vec![cache],
        build: "release".into(),
        load: 0.25,
        ..Environment::default()
    };
    Manifest {
        format: model::SESSION_FORMAT,
        scruple: "0.1.0".into(),
        session: "2026-11-20T131042Z-bench-1".into(),
        started_unix_ms: 1_795_180_242_000,
        seed: 7,
        command: vec!["scruple".into(), "run".into()],
        options: Options::default(),
        environment,
        shield: ShieldReport::default(),
        designs,
        redacted: false,
        runs: Vec::new(),
    }
}

/// A completed trial that measured nothing yet; it took 1 µs of wall clock, 900 ns of it on a CPU.
pub(crate) fn trial(number: u64, experiment: &str, block: u32, levels: &[(&str, &str)]) -> Record {
    let counters =
        Counters { wall_ns: 1000, user_ns: Some(600), system_ns: Some(300), ..Counters::default() };
    let levels = levels.iter().map(|(factor, level)| (factor.to_string(), level.to_string()));
    Record {
        trial: number,
        experiment: experiment.into(),
        block,
        position: 0,
        treatment: levels.collect(),
        started_unix_ms: 1_795_180_242_000 + number,
        padding_bytes: 0,
        outcome: Outcome::Completed { leaked: 0 },
        observed: Default::default(),
        measured: Some(Measured { counters, ..Measured::default() }),
        process: None,
        spawn_to_ready_ns: None,
        harness_ns: None,
        measuring_ns: None,
        total_ns: 5000,
        runner_cpu_ns: None,
        machine: Surroundings::default(),
        log: String::new(),
    }
}

pub(crate) fn with(mut record: Record, response: &str, per: u64, values: &[i64]) -> Record {
    let series = Series { response: response.into(), per, values: values.to_vec() };
    record.measured.as_mut().unwrap().series.push(series);
    record
}

/// Two experiments: one with a control that is subtracted, CPU time and bytes; one that the kernel
/// measures, of which a trial was refused.
pub(crate) fn made() -> Made {
    let none = Cell::new([("kind", "none")]);
    let call = Response {
        cpu_twin: Some("call_cpu_ns".into()),
        subtract: Some(none.clone()),
        ..response("call_ns", Unit::Ns)
    };
    let cpu = Response { subtract: Some(none), ..response("call_cpu_ns", Unit::Ns) };
    let size = response("size_bytes", Unit::Bytes);
    let calls = design("calls", vec![factor("kind", &["none", "real"])], vec![call, cpu, size]);
    let whole =
        design("whole", vec![factor("pages", &["4k", "1g"])], vec![response("wall_ns", Unit::Ns)]);
    let mut records = Vec::new();
    for (block, base) in [(0, 40_i64), (1, 44), (2, 43)] {
        let number = u64::from(block) * 3;
        let empty = trial(number, "calls", block, &[("kind", "none")]);
        let empty = with(with(empty, "call_ns", 10, &[base, base + 2]), "call_cpu_ns", 10, &[base]);
        let real = trial(number + 1, "calls", block, &[("kind", "real")]);
        let real = with(real, "call_ns", 10, &[base * 3, base * 3 + 1, 9000]);
        let real = with(real, "call_cpu_ns", 10, &[base * 3 - 5]);
        let mut real = with(real, "size_bytes", 1, &[4096]);
        if block == 1 {
            real.machine.steal_ns = Some(10_000_000);
            real.measured.as_mut().unwrap().counters.migrations = Some(1);
        }
        records.extend([empty, real, trial(number + 2, "whole", block, &[("pages", "4k")])]);
    }
    let mut refused = trial(9, "whole", 0, &[("pages", "1g")]);
    refused.outcome =
        Outcome::Unsupported { reason: "no pages of 1 GiB, \"hugepagesz=1G\"".into() };
    refused.measured = None;
    records.push(refused);
    Made { manifest: manifest(vec![calls, whole]), records }
}
