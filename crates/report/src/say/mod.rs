//! Turns results into documents: every sentence that a reader sees is written here, once.

mod asked;
mod knee;
mod load;
mod plan;
mod prediction;

pub(crate) use asked::asked;
pub(crate) use knee::knee;
pub(crate) use load::load;
pub(crate) use plan::plan;
pub(crate) use prediction::prediction;
