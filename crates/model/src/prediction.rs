//! A server's answers beside those of simulated queues under the same arrivals.

use crate::{Estimate, LoadPlan};
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

/// What was measured of a server: one request at a time, and as many as it answers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerSeen {
    /// The mean response time of one request at a time, in ns: the median over pieces that alternate with
    /// the other loads.
    pub alone_ns: Estimate,
    /// Connections of the closed loop that got the most answers.
    pub connections: u32,
    /// Answers per second there: the median over its pieces, with the least and the most of them.
    pub throughput_per_s: Estimate,
    /// CPU time of the server's own processes per answer, in ns; null where they could not be found.
    pub cpu_ns: Option<f64>,
    /// CPUs that they used on average; null where that is unknown.
    pub cpus_busy: Option<f64>,
    /// CPUs that the server may use.
    pub cpus: u32,
}

/// What a request asks of a server of some model, so that its throughput is the one that was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerDemand {
    /// What limits such a server.
    pub limit: ServerLimit,
    /// How long a request waits, for a timer or a disk, in ns; where the workers are what holds the
    /// server, how long it holds one, whatever it does meanwhile.
    pub wait_ns: u64,
    /// How long it computes beyond that, in ns.
    pub cpu_ns: u64,
    /// What a request alone takes beside both, in ns: its way through the kernel.
    pub outside_ns: u64,
    /// CPUs that those who compute share.
    pub cpus: u32,
}

/// Why a model is refuted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelFault {
    /// The server answered more requests per second than such a server could, or fewer though nothing
    /// would have hindered it: it would have answered this number.
    Throughput(f64),
    /// One request at a time takes this much longer than such a server would need for it, in ns.
    Alone(f64),
    /// Some requests are answered by the server and not by the simulation, or the reverse.
    Answered {
        /// The part of the highest throughput.
        at: f64,
        /// The part of all requests.
        by: f64,
    },
    /// The predicted mean response time is off.
    Mean {
        /// The part of the highest throughput.
        at: f64,
        /// predicted / measured − 1.
        by: f64,
    },
    /// Its predicted 99th percentile is off.
    P99 {
        /// The part of the highest throughput.
        at: f64,
        /// predicted / measured − 1.
        by: f64,
    },
}

/// A model of a server, and what it predicts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedModel {
    /// The model.
    pub server: ServerKind,
    /// Whether a worker that took a connection serves no other; only of `single` and pools that keep their
    /// connections.
    pub bound: bool,
    /// What a request asks of such a server; null where no demand would explain the throughput.
    pub demand: Option<ServerDemand>,
    /// Why it is refuted; null if it is consistent with the measurements.
    pub fault: Option<ModelFault>,
    /// Measured and predicted, by rising rate; empty where the throughput alone refutes it.
    pub loads: Vec<PredictedLoad>,
}

/// A number as it was measured and as the simulation has it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedTime {
    /// As measured, in ns.
    pub measured_ns: f64,
    /// As predicted, in ns.
    pub predicted_ns: f64,
    /// The lowest prediction with any demand within the uncertainty of the throughput, in ns.
    pub low_ns: f64,
    /// The highest.
    pub high_ns: f64,
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
    /// What the server was said to be; null where all models were tried without that.
    pub asked: Option<ServerKind>,
    /// What was measured of it alone and saturated; null where it was interrupted before.
    pub seen: Option<ServerSeen>,
    /// Sentences that say what makes that doubtful; empty where nothing does.
    pub doubts: Vec<String>,
    /// The models that were tried: those that are consistent first, the best of them before the others.
    pub models: Vec<PredictedModel>,
    /// Whether all loads were measured.
    pub complete: bool,
}

impl LoadPrediction {
    /// Returns the model whose predictions are shown: the one that was asked for, else the best.
    #[must_use]
    pub fn shown(&self) -> Option<&PredictedModel> {
        let asked = self.models.iter().find(|model| Some(model.server) == self.asked);
        asked.or(self.models.first())
    }

    /// Reports whether the server may be of a model; `None` where that was not tried to the end.
    #[must_use]
    pub fn is_consistent(&self, server: ServerKind) -> Option<bool> {
        let mut all = self.models.iter().filter(|model| model.server == server).peekable();
        all.peek()?;
        self.complete.then(|| all.any(|model| model.fault.is_none()))
    }
}
