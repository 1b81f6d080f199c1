//! What an experiment is written against.
//!
//! An [`Experiment`] is a declaration ([`model::Design`]) and one function that realises one
//! treatment in a fresh process. There are no hooks: set-up is the function's first lines,
//! tear-down is the end of the process. The function gets a [`Trial`], which knows the levels it
//! is to realise, opens and closes the timed region, and keeps what was observed. It plans
//! nothing, opens no session file and prints nothing.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

mod calibration;
mod channel;
mod limits;
mod measure;
mod pmu;
pub mod programs;
mod serve;
mod topology;
mod trial;
pub mod workers;

pub use channel::ChannelError;
pub use measure::{BATCH_PRECISION, OBSERVATIONS_MAX, per_second, ppm};
pub use pmu::{Counts, Pmu};
pub use serve::{NOOP, TRIAL, serve_if_asked};
pub use topology::topology;
pub use trial::{EXHIBIT_ROWS_MAX, Stop, Trial};

pub use model::{self, ensure};

/// Ends the trial as one that the machine does not allow, a text as of `format!` says why, unless a
/// condition holds.
#[macro_export]
macro_rules! require {
    ($holds:expr, $($why:tt)+) => {
        if !$holds {
            return Err($crate::Stop::unsupported(format!($($why)+)));
        }
    };
}

use model::Design;

/// What a part of a trial gives, or why the trial ends.
pub type Result<T, E = Stop> = std::result::Result<T, E>;

/// One question with its trial procedure.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// The experiment's name; the design's `id` is the same.
    pub id: &'static str,
    /// The declaration: factors, levels, responses, findings, claims.
    pub design: fn() -> Design,
    /// Realises one treatment once.
    pub trial: Procedure,
}

/// What realises one treatment once.
pub type Procedure = fn(&mut Trial<'_>) -> Result<()>;
