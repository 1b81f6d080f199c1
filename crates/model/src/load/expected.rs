//! Thresholds of a load, and what became of them.

use crate::Estimate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A number of a load that thresholds and comparisons name.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadNumber {
    /// A percentile of the response time, in percent.
    Percentile(f64),
    /// The same of the answers with a status below 400 alone.
    Succeeded(f64),
    /// The mean response time.
    Mean,
    /// The share of the requests that ended without success.
    Errors,
    /// The throughput.
    Rate,
}

/// What a load says of a threshold.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// It lies on the wanted side.
    Met,
    /// The load does not show it.
    Undecided,
    /// It lies on the other side.
    NotMet,
}

/// A threshold and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Expectation {
    /// As it was stated: `p99 < 50ms`.
    pub text: String,
    /// The number.
    pub number: LoadNumber,
    /// Whether it is met.
    pub outcome: Expected,
    /// The number, in ns, per second, or as a share; null where it is unknown.
    pub point: Option<f64>,
    /// The same with its interval; null where that is unknown.
    pub found: Option<Estimate>,
    /// About how many requests would decide it; null where it is decided, or its number lies too near to
    /// the threshold.
    #[serde(default)]
    pub requests: Option<u64>,
}
