//! Turns results into documents: every sentence that a reader sees is written here, once.

mod accounts;
pub(crate) mod asked;
pub mod catalog;
pub(crate) mod chapter;
pub(crate) mod claims;
pub(crate) mod compare;
pub(crate) mod disturbance;
mod exhibits;
pub(crate) mod experiment;
mod fineness;
pub(crate) mod fleet;
pub(crate) mod knee;
pub(crate) mod load;
mod machine;
pub(crate) mod missing;
mod numbers;
pub(crate) mod opening;
pub(crate) mod plan;
pub(crate) mod planted;
pub(crate) mod prediction;
pub(crate) mod report;
pub(crate) mod scale;
pub(crate) mod selftest;
mod subject;
pub(crate) mod trials;
pub(crate) mod trust;
pub(crate) mod why;
