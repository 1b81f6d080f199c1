//! The load generator.

use hdrhistogram::Histogram;
use model::{LoadPlan, LoadResult};
use std::time::Duration;

/// What makes a load impossible, found before the first request.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The plan cannot be carried out; what would be right is in the text.
    #[error("{0}")]
    Plan(String),
    /// The system refused something.
    #[error("{what}: {error}")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
        error: std::io::Error,
    },
}

/// Times as histograms of three significant digits, in ns: known, and given up.
#[derive(Clone, Debug)]
pub struct Times {
    /// Of requests whose time is known.
    pub known: Histogram<u64>,
    /// Of requests that were given up: what had passed by then.
    pub censored: Histogram<u64>,
}

/// What became of a load, with its histograms.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// In numbers.
    pub result: LoadResult,
    /// From due to answered.
    pub response: Times,
    /// From sent to answered.
    pub service: Times,
    /// From due to sent.
    pub lateness: Times,
}

/// How far a load is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Since the first request.
    pub elapsed: Duration,
    /// Answers so far.
    pub answered: u64,
    /// Requests that failed or timed out so far.
    pub failed: u64,
    /// Requests without an answer now.
    pub in_flight: u64,
}

/// Puts a load on a server, and returns when it is over. `live` hears of it ten times a second, and
/// ends it early by returning false: what was measured until then is the outcome.
///
/// # Errors
/// A plan that cannot be carried out, before the first request is sent. What the server does is no
/// error: it is counted.
pub fn run(
    plan: &LoadPlan,
    body: &[u8],
    live: &mut dyn FnMut(Live) -> bool,
) -> Result<Outcome, Error> {
    let _ = (plan, body, live);
    unimplemented!("the generator")
}
