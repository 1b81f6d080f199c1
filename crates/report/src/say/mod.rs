//! Turns results into documents: every sentence that a reader sees is written here, once.

mod accounts;
pub(crate) mod asked;
pub(crate) mod chapter;
pub(crate) mod claims;
pub(crate) mod compare;
mod definitions;
pub(crate) mod disturbance;
pub(crate) mod evidence;
mod exhibits;
pub(crate) mod experiment;
mod figures;
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
mod reason;
pub(crate) mod scale;
pub(crate) mod selftest;
pub(crate) mod session;
mod subject;
mod tags;
pub(crate) mod trials;
pub(crate) mod trust;
pub(crate) mod why;

pub(crate) use session::around;
