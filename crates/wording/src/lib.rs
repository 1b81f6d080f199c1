//! How numbers, units, lists and plurals are written: the same words for every room that writes for people.
//!
//! This room knows neither pages nor terminals nor experiments.

pub mod cpus;
mod inherited;
pub mod number;
mod text;

pub use inherited::{conditions, inherited, is_inherited};
pub use number::counted;
pub use text::*;
