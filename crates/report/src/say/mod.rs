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
mod knee;
mod load;
mod machine;
pub(crate) mod missing;
mod numbers;
pub(crate) mod opening;
mod plan;
pub(crate) mod planted;
mod prediction;
mod reason;
pub(crate) mod scale;
pub(crate) mod selftest;
mod session;
mod subject;
mod tags;
pub(crate) mod trust;
pub(crate) mod why;

pub(crate) use asked::asked;
pub(crate) use knee::knee;
pub(crate) use load::load;
pub(crate) use plan::plan;
pub(crate) use prediction::prediction;
pub(crate) use session::{around, charts, known_answers, terminal};
