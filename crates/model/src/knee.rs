//! The rate at which a server's answers break, found by raising it.

use crate::{Estimate, LoadPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is asked of a search for the rate at which a server breaks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KneeRules {
    /// The rate that is tried first, in requests per second, above 0; null for 1.5 times the rate of one
    /// request at a time.
    pub from_per_s: Option<f64>,
    /// The highest rate that may be tried; null where the generator alone is the limit.
    pub most_per_s: Option<f64>,
    /// What the 95th percentile of the response time may be, in ns; null for
    /// [`KneeRules::TIMES_ALONE`] times that of one request at a time.
    pub limit_ns: Option<f64>,
    /// How long the search may take, in ns.
    pub budget_ns: u64,
    /// How long each rate near the capacity is measured at least, in ns.
    pub trial_least_ns: u64,
    /// Whether requests come at constant intervals, not at random ones.
    pub constant: bool,
    /// How narrow the interval is to be: its half-width as a part of the capacity.
    pub precision: f64,
}

impl KneeRules {
    /// The limit where none is stated, as a multiple of the 95th percentile of one request at a time.
    pub const TIMES_ALONE: f64 = 5.0;

    /// The part of the requests that must be answered within the limit for a rate to be sustained.
    pub const WITHIN_LEAST: f64 = 0.95;
}

/// What a trial is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KneeStage {
    /// One request at a time.
    Alone,
    /// Finding out where the capacity is, roughly.
    Search,
    /// Measuring it.
    Measure,
}

/// One rate, tried once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KneeTrial {
    /// What it is for.
    pub stage: KneeStage,
    /// The rate at which requests were to come, per second; of one request at a time that of the answers.
    pub per_s: f64,
    /// How long they came, in ns.
    pub elapsed_ns: u64,
    /// Requests that came due.
    pub due: u64,
    /// Of these, those with an answer whose status is below 400.
    pub succeeded: u64,
    /// Of these, those that had no answer yet when the time was over, or were not even sent.
    pub open: u64,
    /// Requests that count: those of the first tenth (when the queue is not yet in its steady state; of a
    /// server that refuses some, those of the first quarter) and those that came too late to be answered within
    /// the limit do not.
    pub counted: u64,
    /// Of these, those that were not answered, or not within the limit, or with a status of 400 or more.
    pub late: u64,
    /// The median of the response time, in ns; null where too many requests were given up to know.
    pub p50_ns: Option<u64>,
    /// Its 95th percentile, from the same requests.
    pub p95_ns: Option<u64>,
    /// The 95th percentile of the service time, in ns: what a closed loop would have shown.
    pub service_p95_ns: Option<u64>,
}

impl KneeTrial {
    /// Returns the part of the requests that count that were late; `None` where none counts.
    #[must_use]
    pub fn late_part(&self) -> Option<f64> {
        (self.counted > 0).then(|| self.late as f64 / self.counted as f64)
    }

    /// Reports whether enough requests were answered within the limit.
    #[must_use]
    pub fn held(&self) -> bool {
        self.late_part().is_some_and(|part| part <= 1.0 - KneeRules::WITHIN_LEAST)
    }
}

/// What a rate broke by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KneeBreak {
    /// Answers came after the limit.
    ResponseTime,
    /// Requests failed, or were answered with a status of 400 or more.
    Throughput,
}

/// Why a search for the knee ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KneeEnd {
    /// The interval is narrow enough.
    Precise,
    /// The time is over.
    OutOfTime,
    /// An interval would take longer than there is time, so none was measured.
    TooSlow,
    /// Somebody ended it.
    Interrupted,
    /// The highest rate that may be tried was sustained.
    HighestHeld,
    /// The lowest rate that makes sense broke.
    LowestBroke,
    /// Nothing was answered.
    NoAnswer,
}

/// The capacity of a server: the rate up to which its response time keeps a limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Knee {
    /// The version of scruple.
    pub scruple: String,
    /// The load of the first trial; the others differ in rate and length.
    pub plan: LoadPlan,
    /// What was asked.
    pub rules: KneeRules,
    /// The limit that the 95th percentile of the response time was held against, in ns; null where
    /// one request at a time had none.
    pub limit_ns: Option<f64>,
    /// The 95th percentile of the response time of one request at a time, in ns.
    pub alone_p95_ns: Option<f64>,
    /// The rate at which 5 % of the requests of a server in its steady state are not answered within the
    /// limit, in requests per second, with the 95 % interval over trials; null where too few trials near
    /// it were measured.
    pub capacity_per_s: Option<Estimate>,
    /// About what the capacity is, where that is all that is known; null where a rate far above it held.
    pub roughly_per_s: Option<f64>,
    /// How long an interval would take, in ns, where there was no time for one.
    pub needed_ns: Option<f64>,
    /// The highest rate that held, none below it having broken; of a server that refuses requests, the lower end
    /// of the capacities that explain the failures; null where none did.
    pub held_per_s: Option<f64>,
    /// The lowest rate that broke, or the upper end of these; null where none did.
    pub broke_per_s: Option<f64>,
    /// What it broke by.
    pub broke_by: Option<KneeBreak>,
    /// Why the search ended.
    pub end: KneeEnd,
    /// The median response time of one request at a time at first and at the end, in ns, if the server became
    /// slower in between; else null.
    #[serde(default)]
    pub slowed_ns: Option<[u64; 2]>,
    /// All trials, in the order in which they were measured.
    pub trials: Vec<KneeTrial>,
    /// Sentences that say what makes this result doubtful; empty where nothing does.
    pub doubts: Vec<String>,
}
