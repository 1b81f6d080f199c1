//! Plan, trial protocol, launch, limits, clean-up.
//!
//! The runner starts one fresh process per trial, talks to it over a socket pair, and answers
//! with a [`model::Record`] whatever happens to it. It computes no statistics and writes no
//! session file; it emits [`Event`]s. The catalog is passed to the trial's side only.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test that cannot go on has failed"))]

mod block;
mod conversation;
mod guard;
mod launch;
mod leftovers;
mod others;
mod pauses;
mod plan;
mod rival;
mod scratch;
mod settings;
mod shield;
mod surroundings;

pub use block::{End, Event, Halt, Work};
pub use guard::{GUARD, serve_if_asked};
pub use launch::{Order, Runner};
pub use leftovers::group_name;
pub use others::Other;
pub use plan::{order, padding_bytes, round_order, trial_seed};
pub use rival::RIVAL;
pub use settings::Settings;
pub use shield::Shield;

/// What can stop a session. What goes wrong in a trial is no error but its outcome.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused something that no trial can do without.
    #[error(transparent)]
    System(#[from] sys::Error),
    /// A process could not be started.
    #[error("cannot start a {what}: {}", sys::Error::io("clone or execve", cause))]
    Start {
        /// Which.
        what: &'static str,
        /// Why.
        cause: std::io::Error,
    },
    /// The scratch folder cannot be used.
    #[error("cannot use the scratch folder {path}: {cause}")]
    Scratch {
        /// Where.
        path: std::path::PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// CPUs of the session are not there any more: a trial that could not be placed says nothing.
    #[error(
        "CPU {cpus}, on which this session measures, may not be used any more (offline, or taken from \
         this process's cpuset): give it back"
    )]
    CpusGone {
        /// Which, as a list.
        cpus: String,
    },
    /// A process that a trial left behind did not go away.
    #[error("a process that a trial of {experiment} left behind cannot be killed: {cause}")]
    Unkillable {
        /// Whose.
        experiment: String,
        /// Which, and why not.
        cause: sys::Error,
    },
}
