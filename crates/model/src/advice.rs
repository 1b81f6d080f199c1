use crate::{Estimate, Quantity, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a stated load can be borne, from what a session measured. It can always be computed again
/// from the session's folder and the load.
///
/// All numbers of a model are computed from the **worst end** of the intervals behind them, except
/// those that say `point`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// Version of the scruple that computed this.
    pub scruple: String,
    /// The session's name.
    pub session: String,
    /// What was asked.
    pub load: Load,
    /// What was measured and went into the answer.
    pub costs: Vec<Cost>,
    /// One per model whose costs were measured, a pool before all others: it does not grow with the
    /// load.
    pub models: Vec<Staffing>,
    /// The first of `models` that bears the load with at most 5 % more CPU time per request than any
    /// that does; null where none does.
    pub recommended: Option<String>,
    /// The others of which that is true.
    pub alike: Vec<String>,
    /// Where the session holds a program of the user's by number of workers: the fewest that were
    /// seen to bear the rate.
    pub measured: Vec<MeasuredProgram>,
    /// What the session cannot answer, and what would.
    pub gaps: Vec<Gap>,
    /// What was simulated request by request; null where formulas alone were used.
    pub simulated: Option<Simulated>,
    /// What would be recommended if the load were another one.
    #[serde(default)]
    pub sensitivity: Vec<Sensitivity>,
    /// Response times of each model that bears the load, by load; empty where machines are simulated.
    #[serde(default)]
    pub curves: Vec<ResponseCurve>,
}

/// What is recommended for a load that differs in one number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sensitivity {
    /// How it differs, in words.
    pub change: String,
    /// The model that is recommended then; null where none bears it.
    pub recommended: Option<String>,
    /// The workers of that model.
    pub workers: Option<u32>,
}

/// The mean response time of a model against the load, with the workers that it has for the stated load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResponseCurve {
    /// The model's name.
    pub model: String,
    /// Requests per second, or connections; and the mean response time in ns.
    pub points: Vec<(f64, f64)>,
}

/// One machine of several that are alike, played request by request.
///
/// It holds if connections are spread evenly, and the machines share nothing that one could wait for
/// another at. Times are drawn as exponential ones; percentiles are counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Simulated {
    /// Connections of the machine that has the most.
    pub connections: u32,
    /// Requests of each model that were counted, after those that fill the queue at first.
    pub requests: u64,
    /// Where the draws come from.
    pub seed: u64,
}

/// A load, as it was stated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// Requests that come per second, whatever becomes of them; null where connections are stated.
    pub rate_per_s: Option<f64>,
    /// Connections of which each waits for its answer before it asks again; null where a rate is
    /// stated.
    pub connections: Option<u32>,
    /// Machines over which the connections are spread evenly, each with `cpus`; null where one serves
    /// them. Where it is stated, all numbers of a model but `cpu_ns` are those of one machine.
    pub machines: Option<u32>,
    /// Between an answer and the next request of its connection, in nanoseconds.
    pub think_ns: f64,
    /// Mean time in which a request keeps a worker busy where nobody else is served, in ns.
    pub service_ns: f64,
    /// The time within which 95 % of these times are, in ns; null where it is unknown. They are then taken to
    /// be exponential, or equal where that decides.
    #[serde(default)]
    pub service_p95_ns: Option<f64>,
    /// The part of it in which a CPU is needed, 0 to 1; in the rest the worker waits.
    pub cpu_share: f64,
    /// Memory that all workers together may take, in bytes.
    pub memory_bytes: Option<f64>,
    /// What a worker allocates itself beyond what the session measured, in bytes.
    pub worker_memory_bytes: f64,
    /// The time within which 95 % of requests are to be answered, in ns.
    pub target_p95_ns: Option<f64>,
    /// A number of workers that is given; null where it is asked for.
    pub workers: Option<u32>,
    /// The part by which the load may grow and must still be borne: 0.3 means 30 % more.
    #[serde(default)]
    pub headroom: f64,
    /// CPUs that serve.
    pub cpus: u32,
    /// Whether that number was stated; else it is that of the session's machine.
    pub cpus_stated: bool,
}

impl Load {
    /// Reports whether the plan keeps headroom: not for a given number of workers, nor over several machines,
    /// nor for connections that ask again at once, which keep any server busy.
    #[must_use]
    pub fn keeps_headroom(&self) -> bool {
        let asks_at_once = self.connections.is_some() && self.think_ns <= 0.0;
        self.headroom > 0.0 && self.machines.is_none() && self.workers.is_none() && !asks_at_once
    }
}

/// A measured number behind the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Its name.
    pub id: String,
    /// What it is, in words.
    pub what: String,
    /// The experiment that measured it.
    pub experiment: String,
    /// How it was formed.
    pub quantity: Quantity,
    /// What that was divided by: of workers that were made beyond the first, say.
    pub divided_by: f64,
    /// Its unit.
    pub unit: Unit,
    /// The number.
    pub estimate: Estimate,
}

/// A model of concurrency under the load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Staffing {
    /// Its name: `pool`, `thread`, `process`, `event_loop`, or that of a runtime's level in `servers`.
    pub model: String,
    /// CPU time of a request with what the model adds to it, from the point of its estimates, in ns.
    pub cpu_point_ns: f64,
    /// The same from the worst ends, in ns.
    pub cpu_ns: f64,
    /// Why it does not bear the load; null where it does. Numbers below are then null.
    pub refusal: Option<Refusal>,
    /// Workers to have: of a pool as many as suffice; of a model that makes one for each request, as
    /// many as are there at once at most (in 99.9 % of the time).
    pub workers: Option<u32>,
    /// The same from the points of the estimates.
    pub workers_point: Option<u32>,
    /// The fewest with which the queue settles.
    pub workers_least: Option<u32>,
    /// Requests answered per second.
    pub throughput_per_s: Option<f64>,
    /// The part of the CPUs' time that is used, 0 to 1.
    pub cpu_busy: Option<f64>,
    /// The part of the workers' time that is used, 0 to 1.
    pub worker_busy: Option<f64>,
    /// Requests there at once on average: throughput times response time (Little's law).
    pub present: Option<f64>,
    /// Mean time for which a request waits for a worker, in ns.
    pub wait_ns: Option<f64>,
    /// Mean time from a request to its answer, in ns.
    pub response_ns: Option<f64>,
    /// The time within which 95 % of requests are answered, in ns, where service times scatter as stated, or
    /// else as exponential ones do.
    pub p95_ns: Option<f64>,
    /// Whether the target is met only if service times scatter less than exponential ones.
    #[serde(default)]
    pub depends_on_spread: bool,
    /// The least that it can be: that from the points of the estimates, and if all requests need the same where
    /// nobody stated how they scatter.
    #[serde(default)]
    pub p95_least_ns: Option<f64>,
    /// Memory of the server with all its workers or connections, in bytes, from the worst ends; null where
    /// the session did not measure it.
    pub memory_bytes: Option<f64>,
    /// The same from the other ends.
    #[serde(default)]
    pub memory_least_bytes: Option<f64>,
    /// The highest rate that the same workers bear on the same terms, per second; null where
    /// connections are stated.
    pub rate_most_per_s: Option<f64>,
}

/// Why a model does not bear a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Refusal {
    /// More CPU time is asked for than there is: the queue would grow for ever.
    Cpus {
        /// The fewest CPUs with which it settles; null of a model that uses one.
        cpus_least: Option<u32>,
        /// The rate below which it settles with those there are, per second.
        rate_below_per_s: f64,
    },
    /// Fewer workers are given than are always busy: the queue would grow for ever.
    Workers {
        /// The fewest with which it settles.
        workers_least: u32,
    },
    /// With the workers given the queue settles, but too many answers come late.
    Late {
        /// The time within which 95 % of requests are answered, in ns.
        p95_ns: f64,
        /// How many workers would suffice.
        workers_enough: u32,
    },
    /// However many workers there are, too many answers come later than asked for.
    Target {
        /// The least that 95 % of requests take, in ns.
        p95_ns: f64,
        /// The fewest CPUs with which it can be met; null where not even idle ones suffice.
        cpus_least: Option<u32>,
    },
    /// The workers need more memory than they may take.
    Memory {
        /// What they need, in bytes.
        needed_bytes: f64,
        /// How many workers fit.
        workers_fit: u32,
    },
}

/// A program of the user's, as the session measured it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredProgram {
    /// The experiment.
    pub experiment: String,
    /// The response that counts per second.
    pub response: String,
    /// The factor that is the number of workers.
    pub factor: String,
    /// The lowest level whose whole interval lies above the rate; null where there is none.
    pub level: Option<String>,
    /// Its throughput; where there is none, that of the level that did most.
    pub throughput: Estimate,
    /// Where there is none: the level that did most.
    pub best_level: String,
}

/// A question that the session cannot answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// What is not known, in words.
    pub what: String,
    /// The command that would measure it; empty where this version has none.
    pub measure: String,
}
