//! The rate at which a server's answers break, found by raising it.

use crate::{Estimate, LoadPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is asked of a search for the rate at which a server breaks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KneeRules {
    /// The rate that is tried first, in requests per second, above 0.
    pub from_per_s: f64,
    /// The highest rate that may be tried; null where the generator alone is the limit.
    pub most_per_s: Option<f64>,
    /// What the 95th percentile of the response time may be, in ns; null for
    /// [`KneeRules::TIMES_LOWEST`] times that at the lowest rate.
    pub limit_ns: Option<f64>,
    /// Blocks at most, each a pass over the rates around the knee in random order.
    pub blocks: u32,
    /// How narrow the interval is to be: its half-width as a part of the capacity.
    pub precision: f64,
    /// Where the random order comes from.
    pub seed: u64,
}

impl KneeRules {
    /// The limit where none is stated, as a multiple of the 95th percentile at the lowest rate.
    pub const TIMES_LOWEST: f64 = 5.0;

    /// The least part of the requests that must succeed for a rate to hold.
    pub const THROUGHPUT_LEAST: f64 = 0.95;
}

/// One rate, tried once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KneeTrial {
    /// 0 while the knee is searched for; then the block, from 1.
    pub block: u32,
    /// The rate at which requests were to come, per second.
    pub per_s: f64,
    /// How long they came, in ns.
    pub elapsed_ns: u64,
    /// Requests that came due.
    pub due: u64,
    /// Of these, those with an answer whose status is below 400.
    pub succeeded: u64,
    /// Of these, those that had no answer yet when the time was over, or were not even sent.
    pub open: u64,
    /// The median of the response time, in ns; null where too many requests were given up to know.
    pub p50_ns: Option<u64>,
    /// Its 95th percentile, from the same requests.
    pub p95_ns: Option<u64>,
    /// The 95th percentile of the service time, in ns: what a closed loop would have shown.
    pub service_p95_ns: Option<u64>,
}

/// What a rate broke by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KneeBreak {
    /// The 95th percentile of the response time is beyond the limit.
    ResponseTime,
    /// Fewer requests succeeded than 95 % of those that came due.
    Throughput,
}

/// What one rate did over all its trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KneeRate {
    /// The rate, per second.
    pub per_s: f64,
    /// Trials.
    pub trials: u32,
    /// Of these, those that held.
    pub held: u32,
    /// The median of the trials' 95th percentiles of the response time, in ns; null where most are
    /// unknown.
    pub p95_ns: Option<f64>,
    /// Requests that succeeded per second, over all trials.
    pub throughput_per_s: f64,
    /// What most of the trials that did not hold broke by; null where all held.
    pub broke: Option<KneeBreak>,
}

/// Why a search for the knee ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KneeEnd {
    /// The interval is narrow enough.
    Precise,
    /// All blocks are measured.
    Blocks,
    /// The time is over.
    OutOfTime,
    /// Somebody ended it.
    Interrupted,
    /// The highest rate that may be tried held.
    HighestHeld,
    /// The lowest rate that makes sense broke.
    LowestBroke,
    /// Nothing was answered.
    NoAnswer,
}

/// The capacity of a server: the rate up to which its response time keeps a limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Knee {
    /// [`crate::KNEE_FORMAT`] of the writer.
    pub format: u32,
    /// The version of scruple.
    pub scruple: String,
    /// The load of the first trial; the others differ in rate and length.
    pub plan: LoadPlan,
    /// What was asked.
    pub rules: KneeRules,
    /// The limit that the 95th percentile of the response time was held against, in ns; null where
    /// the lowest rate had none.
    pub limit_ns: Option<f64>,
    /// The lowest rate tried, and the 95th percentile of the response time there, in ns.
    pub lowest_p95_ns: Option<f64>,
    /// The rate at which the limit is crossed, in requests per second, with the 95 % interval over
    /// blocks; null where fewer than two blocks have a crossing.
    pub capacity_per_s: Option<Estimate>,
    /// The highest rate of which most trials held, none below it having broken; null where none did.
    pub held_per_s: Option<f64>,
    /// The lowest rate of which most trials broke; null where none did.
    pub broke_per_s: Option<f64>,
    /// What it broke by.
    pub broke_by: Option<KneeBreak>,
    /// Why the search ended.
    pub end: KneeEnd,
    /// The rates, ascending.
    pub rates: Vec<KneeRate>,
    /// All trials, in the order in which they were measured.
    pub trials: Vec<KneeTrial>,
    /// Sentences that say what makes this result doubtful; empty where nothing does.
    pub doubts: Vec<String>,
}
