//! A server's answers beside those of a simulated queue under the same arrivals.

use crate::LoadPlan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a server is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerKind {
    /// One thread that serves one request after the other.
    Single,
    /// That number of threads or processes, each with one request at a time, waits included.
    Pool(u32),
    /// A thread, or a process, for each connection or request.
    Each,
    /// An event loop on that number of threads: a waiting request holds none.
    EventLoop(u32),
}

/// What holds a server's throughput where more connections bring no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerLimit {
    /// All its workers are busy, or wait.
    Workers,
    /// Its CPUs, or those that its threads can use, are busy.
    Cpu,
    /// Nothing that was seen: each request takes as long as one alone.
    Nothing,
}

/// What a request asks of a server, computed from two loads: one request at a time, and as many as
/// it answers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerDemand {
    /// The mean response time of a request alone, in ns.
    pub alone_ns: f64,
    /// Connections of the closed loop that got the most answers.
    pub connections: u32,
    /// Answers per second there.
    pub throughput_per_s: f64,
    /// CPU time that others than the generator used meanwhile, per answer, in ns; null where it is
    /// unknown.
    pub cpu_seen_ns: Option<f64>,
    /// What held it.
    pub limit: ServerLimit,
    /// How long a request waits, for a timer or a disk, in ns; where the workers are what holds the
    /// server, how long it holds one, whatever it does meanwhile.
    pub wait_ns: u64,
    /// How long it computes beyond that, in ns.
    pub cpu_ns: u64,
    /// What a request alone takes beside both, in ns: its way through the kernel.
    pub outside_ns: u64,
}

/// A number as it was measured and as the simulation has it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedTime {
    /// As measured, in ns.
    pub measured_ns: f64,
    /// As predicted, in ns.
    pub predicted_ns: f64,
}

impl PredictedTime {
    /// predicted / measured − 1; `None` where 0 was measured.
    #[must_use]
    pub fn error(&self) -> Option<f64> {
        (self.measured_ns > 0.0).then(|| self.predicted_ns / self.measured_ns - 1.0)
    }
}

/// What a formula says of the mean response time, where one is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedByFormula {
    /// Its name.
    pub name: String,
    /// The mean response time, in ns.
    pub mean_ns: f64,
}

/// One load: measured, and simulated with the very arrivals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedLoad {
    /// Requests per second that were to come.
    pub per_s: f64,
    /// The part of what the server bears: rate by the throughput of its saturation, above 0.
    pub utilisation: f64,
    /// Requests that came due.
    pub requests: u64,
    /// Of these, those that were answered in the measurement alone.
    pub measured_alone: u64,
    /// Those that were answered in the simulation alone.
    pub predicted_alone: u64,
    /// The mean response time of those answered in both; null where there are none.
    pub mean: Option<PredictedTime>,
    /// The median.
    pub p50: Option<PredictedTime>,
    /// The 99th percentile.
    pub p99: Option<PredictedTime>,
    /// |predicted − measured| / measured of single requests: what half of them do not exceed.
    pub each_p50: Option<f64>,
    /// What 99 % of them do not exceed.
    pub each_p99: Option<f64>,
    /// What a formula says of the mean; null where none is known.
    pub formula: Option<PredictedByFormula>,
    /// Sentences that say what makes the measurement doubtful; empty where nothing does.
    pub doubts: Vec<String>,
}

/// A server's answers beside those of a simulated one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadPrediction {
    /// The version of this layout.
    pub format: u32,
    /// The version of scruple.
    pub scruple: String,
    /// The load, except arrivals, connections and time, which differ from step to step.
    pub plan: LoadPlan,
    /// What the server is taken for.
    pub server: ServerKind,
    /// CPUs that it may use.
    pub cpus: u32,
    /// What a request asks of it; null where it could not be learned.
    pub demand: Option<ServerDemand>,
    /// Sentences that say what makes that doubtful; empty where nothing does.
    pub doubts: Vec<String>,
    /// Measured and predicted, by rising rate.
    pub loads: Vec<PredictedLoad>,
    /// Whether all loads were measured.
    pub complete: bool,
}
