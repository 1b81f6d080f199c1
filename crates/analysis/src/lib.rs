//! Statistics, effects, verdicts: slices in, numbers out.
//!
//! No file, no clock and no randomness is used here, and nothing is known of the machine the
//! trials ran on: the same records give the same summary everywhere, to the last digit.
//!
//! `stats` is about numbers alone, `session` makes the summary of one session with them, and `answers` answers
//! what commands ask beyond that; none knows those after it.
//!
//! The way of a number: the observations of a trial become one number ([`samples`]); the numbers
//! of a block become an effect (`effect`); the effects become a centre with a 95 % interval
//! ([`interval`]); the interval's distance from the edge of a claim's region becomes a p-value
//! (`verdict`); the p-values of a session become verdicts ([`hommel()`]). The unit of replication is
//! the trial, never the observation: a test pools observations on purpose and shows the coverage
//! falling from 95 % to about a fifth.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

// Tests of this folder share a module with those of other rooms, which know this one by its name.
#[cfg(test)]
extern crate self as analysis;

mod answers;
mod session;
mod stats;

#[cfg(test)]
mod fixture;
#[cfg(test)]
#[expect(dead_code, reason = "the battery of searches uses the rest")]
#[path = "../tests/support/refusing.rs"]
mod refusing;
#[cfg(test)]
#[path = "../tests/support/searches.rs"]
mod searches;
#[cfg(test)]
#[expect(dead_code, reason = "the battery of searches uses the rest")]
#[path = "../tests/support/servers.rs"]
mod servers;
#[cfg(test)]
mod simulation;
#[cfg(test)]
#[path = "../tests/support/together.rs"]
mod together;

pub use answers::compare::{
    Answers, Condition, Digest, Direction, Head, Heads, Questions, SideHeads,
};
pub use answers::fleet::{FleetMember, FleetSays, fleet, kind as machine_kind};
pub use answers::load::{
    KneeSearch, KneeStep, Known, MeasuredRequest, TimeSlice, answered_within, load_errors_within,
    load_gate, load_intervals, load_pathologies, load_row, load_row_of_blocks, load_within,
};
pub use answers::planning::{
    BadLoad, CONNECTIONS_MAX, CONNECTIONS_SPREAD_MAX, CPUS_MAX, MACHINES_MAX, PlanInput,
    WORKERS_MAX, plan, sensitivity,
};
pub use answers::predict::predict;
pub use answers::scaling;
pub use answers::selftest::{answer_standing, cause_standing, selftest};
pub use answers::why;
pub use session::input::Input;
pub use session::need::{Need, Question, Rank, compared, need, questions};
pub use session::numbers::{Number, Observation};
pub use session::outcomes::words as outcome_words;
pub use session::printed::{missing_numbers, read_as};
pub use session::sample::{Table as Numbers, events_among, samples};
pub use session::summary::{ask, summarise};
pub use session::tags::{Tag, Tagger};
pub use session::verdict::{blocks_for, blocks_for_planted, fewest_blocks_for};
pub use stats::dependence::shared_correlation;
pub use stats::estimate::median_estimate;
pub use stats::frequency::{frequency, proportion};
pub use stats::hommel::{FAMILY_ERROR, claims_that_stand, hommel};
pub use stats::interval;
pub use stats::order::{mean, median, quantile, sorted, variance};
