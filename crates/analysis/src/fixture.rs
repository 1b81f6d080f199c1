//! Made-up designs and records for the tests of this room.

use model::{
    Calibration, Card, Cell, Center, Counters, Design, Factor, Level, Measured, Outcome, Record,
    Response, Series, Surroundings, Treatment, Unit,
};

/// A record in the making. Times are in nanoseconds.
#[derive(Clone)]
pub(crate) struct Trial(Record);

impl Trial {
    pub(crate) fn new(block: u32) -> Self {
        Trial(Record {
            trial: u64::from(block),
            experiment: "made_up".into(),
            block,
            position: 0,
            treatment: Treatment::default(),
            started_unix_ms: u64::from(block) * 10_000,
            padding_bytes: 0,
            outcome: Outcome::Completed { leaked: 0 },
            observed: Default::default(),
            measured: Some(Measured::default()),
            process: None,
            spawn_to_ready_ns: Some(2_000),
            harness_ns: Some(1_000),
            measuring_ns: Some(1_000),
            total_ns: 5_000,
            runner_cpu_ns: Some(10),
            machine: Surroundings::default(),
            log: String::new(),
        })
    }

    pub(crate) fn at<const N: usize>(mut self, levels: [(&str, &str); N]) -> Self {
        self.0.treatment = Treatment(Cell::new(levels).0.into());
        self
    }

    pub(crate) fn series(mut self, response: &str, per: u64, values: &[i64]) -> Self {
        let one = Series { response: response.into(), per, values: values.to_vec() };
        self.0.measured.as_mut().unwrap().series.push(one);
        self
    }

    pub(crate) fn ended(mut self, outcome: Outcome) -> Self {
        self.0.outcome = outcome;
        self.0.measured = None;
        self
    }

    pub(crate) fn counters(&mut self) -> &mut Counters {
        &mut self.0.measured.as_mut().unwrap().counters
    }

    pub(crate) fn wall(mut self, ns: u64) -> Self {
        self.counters().wall_ns = ns;
        self
    }

    pub(crate) fn cpu(mut self, ns: u64) -> Self {
        self.counters().user_ns = Some(ns);
        self.counters().system_ns = Some(0);
        self
    }

    pub(crate) fn queue(mut self, on_cpu_ns: u64, wait_ns: u64) -> Self {
        self.counters().on_cpu_ns = Some(on_cpu_ns);
        self.counters().queue_wait_ns = Some(wait_ns);
        self
    }

    pub(crate) fn switches(mut self, involuntary: u64) -> Self {
        self.counters().involuntary_switches = Some(involuntary);
        self
    }

    pub(crate) fn moved(mut self, times: u64) -> Self {
        self.counters().migrations = Some(times);
        self
    }

    pub(crate) fn foreign(mut self, ns: u64) -> Self {
        self.0.machine.foreign_cpu_ns = Some(ns);
        self
    }

    pub(crate) fn steal(mut self, ns: u64) -> Self {
        self.0.machine.steal_ns = Some(ns);
        self
    }

    pub(crate) fn throttled(mut self, ns: u64) -> Self {
        self.0.machine.throttled_ns = Some(ns);
        self
    }

    pub(crate) fn suspended(mut self, ms: u32) -> Self {
        self.0.machine.suspended_ms = ms;
        self
    }

    pub(crate) fn paused(mut self) -> Self {
        self.0.machine.runner_pauses = 1;
        self
    }

    pub(crate) fn stood_still(mut self) -> Self {
        self.0.machine.trial_pauses = 1;
        self
    }

    pub(crate) fn joined(mut self) -> Self {
        self.0.machine.other_sessions = 1;
        self
    }

    pub(crate) fn calibration(mut self, before_ns: u64, after_ns: u64) -> Self {
        self.0.measured.as_mut().unwrap().calibration = Some(Calibration { before_ns, after_ns });
        self
    }

    pub(crate) fn observed(mut self, name: &str, value: &str) -> Self {
        self.0.observed.insert(name, value);
        self
    }

    pub(crate) fn record(self) -> Record {
        self.0
    }
}

/// A level with a place on an axis.
pub(crate) fn level(name: &str, value: Option<f64>) -> Level {
    Level { value, ..Level::new(name, "") }
}

/// A factor whose first level is the baseline.
pub(crate) fn factor(name: &str, levels: &[(&str, Option<f64>)]) -> Factor {
    Factor {
        name: name.into(),
        about: String::new(),
        levels: levels.iter().map(|(name, value)| level(name, *value)).collect(),
        baseline: levels[0].0.into(),
        ..Factor::default()
    }
}

/// A response without twin or control.
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

/// An experiment with a twin factor `model` (thread, process, empty) and a count `n` (1, 2, 4,
/// 8), a time with its CPU twin, and a count.
pub(crate) fn design() -> Design {
    let mut time = response("task_ns", Unit::Ns);
    time.cpu_twin = Some("cpu_ns".into());
    Design {
        id: "made_up".into(),
        version: 3,
        question: "What does it cost?".into(),
        factors: vec![
            factor("model", &[("thread", None), ("process", None), ("empty", None)]),
            factor("n", &[("1", Some(1.0)), ("2", Some(2.0)), ("4", Some(4.0)), ("8", Some(8.0))]),
        ],
        responses: vec![time, response("cpu_ns", Unit::Ns), response("faults_count", Unit::Count)],
        precision: 0.05,
        time_limit_ms: 1000,
        ..Design::default()
    }
}

/// A completed trial of that design with one observation of `task_ns`.
pub(crate) fn task(block: u32, model: &str, n: &str, task_ns: i64) -> Trial {
    Trial::new(block).at([("model", model), ("n", n)]).series("task_ns", 1, &[task_ns])
}
