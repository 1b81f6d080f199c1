//! Turns results into documents: every sentence that a reader sees is written here, once.

mod accounts;
mod asked;
pub(crate) mod chapter;
pub(crate) mod claims;
pub(crate) mod compare;
mod definitions;
pub(crate) mod disturbance;
pub(crate) mod evidence;
mod exhibits;
pub(crate) mod experiment;
mod fineness;
pub(crate) mod fleet;
mod machine;
pub(crate) mod missing;
mod numbers;
pub(crate) mod opening;
pub(crate) mod planted;
mod reason;
mod session;
mod subject;
mod tags;
pub(crate) mod trust;

pub(crate) use asked::asked;
pub(crate) use session::{around, charts, selftest, terminal};
