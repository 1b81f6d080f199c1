//! The nouns of scruple.
//!
//! Everything here is data: an experiment as a [`Design`], one [`Record`] per trial, the
//! [`Manifest`] of a session, its [`Summary`]. No clock is read and no file is opened in this
//! room, so every other room can agree on its words.

#![cfg_attr(test, expect(clippy::expect_used, reason = "a test may stop at the first surprise"))]

mod account;
mod advice;
mod asked;
mod bounds;
mod calendar;
mod claim;
mod comparison;
mod core_run;
mod design;
mod design_of_grids;
mod figure;
mod fleet;
mod headline;
mod knee;
mod likeness;
mod load;
mod loads;
mod manifest;
pub mod measures;
mod name;
mod named_values;
mod natural_order;
mod planted;
mod profile;
mod program_file;
mod protocol;
mod record;
mod redact;
mod scaling;
mod selftest;
pub mod squeezed;
mod subject;
mod summary;
mod topology;
mod treatment;
mod unit;
mod waits;
mod why;

pub use account::*;
pub use advice::*;
pub use asked::*;
pub use bounds::*;
pub use calendar::*;
pub use claim::*;
pub use comparison::*;
pub use core_run::*;
pub use design::*;
pub use figure::*;
pub use fleet::*;
pub use headline::*;
pub use knee::*;
pub use likeness::*;
pub use load::*;
pub use loads::*;
pub use manifest::*;
pub use name::*;
pub use named_values::*;
pub use natural_order::natural_order;
pub use planted::*;
pub use profile::*;
pub use program_file::*;
pub use protocol::*;
pub use record::*;
pub use redact::*;
pub use scaling::*;
pub use selftest::*;
pub use subject::*;
pub use summary::*;
pub use topology::*;
pub use treatment::*;
pub use unit::*;
pub use waits::*;
pub use why::*;

/// Ends the function with an error, a text as of `format!`, unless a condition holds.
#[macro_export]
macro_rules! ensure {
    ($holds:expr, $($why:tt)+) => {
        if !$holds {
            return Err(format!($($why)+).into());
        }
    };
}

/// Version of the layout of `manifest.json` and `trials.ndjson`.
pub const SESSION_FORMAT: u32 = 1;

/// Version of the layout of `summary.json`; docs/summary.schema.json describes it.
pub const SUMMARY_FORMAT: u32 = 6;

/// Version of the layout of what `scruple compare --json` prints; docs/comparison.schema.json
/// describes it.
pub const COMPARISON_FORMAT: u32 = 1;

/// Version of the layout of `fleet.json`, `node.json` and `result.json` of a fleet;
/// docs/fleet.schema.json describes the last.
pub const FLEET_FORMAT: u32 = 1;

/// Version of the layout of what `scruple load --json` prints; docs/load.schema.json describes it.
pub const LOAD_FORMAT: u32 = 3;
