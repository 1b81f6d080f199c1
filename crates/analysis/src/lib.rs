//! Statistics, effects, verdicts: slices in, numbers out.
//!
//! No file, no clock and no randomness is used here, and nothing is known of the machine the
//! trials ran on: the same records give the same summary everywhere, to the last digit.
//!
//! The way of a number: the observations of a trial become one number ([`samples`]); the numbers
//! of a block become an effect (`effect`); the effects become a centre with a 95 % interval
//! ([`interval`]); the interval's distance from the edge of a claim's region becomes a p-value
//! (`verdict`); the p-values of a session become verdicts ([`holm()`]). The unit of replication is
//! the trial, never the observation: a test pools observations on purpose and shows the coverage
//! falling from 95 % to about a fifth.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

mod compare;
mod costs;
mod diagnosis;
pub mod disturbance;
mod effect;
mod estimate;
mod evidence;
mod fleet;
mod floor;
mod floors;
mod frequency;
mod grade;
mod harness;
mod holm;
pub mod interval;
mod load;
mod meter;
mod need;
mod numbers;
mod order;
mod outcomes;
mod planning;
mod planted;
mod predict;
mod sample;
pub mod scaling;
mod selftest;
mod summary;
pub mod tags;
mod tail;
mod untagged;
mod variance;
mod verdict;
mod why;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod simulation;

pub use compare::{
    Answers, CompareInput, CompareSession, CompareSide, Condition, Digest, Direction, Head, Heads,
    Questions, SideHeads, compare,
};
pub use estimate::{mean_estimate, median_estimate};
pub use fleet::{FleetMember, FleetSays, fleet, kind as machine_kind};
pub use floor::minimum_detectable;
pub use frequency::{frequency, proportion};
pub use holm::{FAMILY_ERROR, holm};
pub use load::{
    KneeInput, KneeStep, MeasuredLoad, PlayedLoad, Saturated, answered_within, cpus_seen, knee,
    knee_next, predicted_load, server_demand,
};
pub use need::{Need, compared, need};
pub use numbers::{Number, Numbers, Observation};
pub use order::{distribution, mean, median, quantile, sorted, variance};
pub use outcomes::words as outcome_words;
pub use planning::{
    BadLoad, CONNECTIONS_MAX, CONNECTIONS_SPREAD_MAX, CPUS_MAX, MACHINES_MAX, PlanInput,
    THROUGHPUT_PART, WAIT_PART, WORKERS_MAX, plan,
};
pub use predict::predict;
pub use sample::{events_among, from_counters, samples};
pub use selftest::{answer_standing, cause_standing, selftest};
pub use summary::{Input, ask, summarise};
pub use tags::{Tag, Tagger};
pub use why::{WhyInput, why};
