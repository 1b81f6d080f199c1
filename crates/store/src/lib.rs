//! The session folder.
//!
//! A session is a folder with `manifest.json` (what was asked, on which machine),
//! `trials.ndjson` (one line per trial), and what is derived from them: `summary.json`,
//! `report.html` and `claims.html`. This room reads and writes that folder and keeps it whole: a
//! record that [`Writer::append`] has accepted is on the disk, and a process killed at any moment
//! leaves at most one torn last line, which [`open`] reports and [`Writer::resume`] cuts off. What somebody else
//! does to manifest or trials meanwhile ends the writing ([`Writer::must_be_whole`]).
//!
//! It does not know what the numbers mean.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test that cannot go on has failed"))]

mod error;
mod files;
mod lines;
mod lock;
mod name;
mod plan;
mod read;
#[cfg(test)]
mod tests;
mod trials;
mod watched;
mod words;
mod write;

pub use error::Error;
pub use files::Place;
pub use name::session_name;
pub use read::{Stored, open, read_manifest};
pub use trials::{Damage, Torn};
pub use write::{Pages, Writer};

/// What is needed to understand the trials, or to go on with them.
pub const MANIFEST_FILE: &str = "manifest.json";

/// One JSON line per trial, in the order in which they ended.
pub const TRIALS_FILE: &str = "trials.ndjson";

/// What the trials say; it can always be computed again from them.
pub const SUMMARY_FILE: &str = "summary.json";

/// The page; it can always be rendered again.
pub const REPORT_FILE: &str = "report.html";

/// The page of claims, which the report links to.
pub const CLAIMS_FILE: &str = "claims.html";

/// Held, and locked, by the one process that writes the session.
pub const LOCK_FILE: &str = "lock";

/// Where trials put their files.
pub const SCRATCH_FOLDER: &str = "scratch";

/// The most bytes that a line of `trials.ndjson` may have, its newline included: what a trial
/// may say, and room for what the runner adds to it.
pub const LINE_BYTES_MAX: usize = model::MESSAGE_BYTES_MAX + (1 << 20);

/// The most bytes that `manifest.json` may have: twenty times what the whole catalog needs.
pub const MANIFEST_BYTES_MAX: usize = 8 << 20;

/// The most bytes that `trials.ndjson` may have.
///
/// A reader holds all trials, in about as many bytes as their lines have (1.2 times as many for the
/// catalog). A line of the catalog has
/// 3,200 bytes on average, so this is room for 330,000 trials; three hours of the profile
/// `thorough` make at most 180,000, each of which lasts 60 ms or longer.
pub const TRIALS_BYTES_MAX: u64 = 1 << 30;
