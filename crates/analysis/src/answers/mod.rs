//! Answers to what a command asks of one session or of several.

pub(crate) mod compare;
pub(crate) mod fleet;
pub(crate) mod load;
pub(crate) mod planning;
pub(crate) mod predict;
pub mod scaling;
pub(crate) mod selftest;
pub mod why;
