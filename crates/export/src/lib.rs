//! A stored session in the layouts of other tools.
//!
//! Two layouts are tables that lose nothing of what was measured: [`write_csv`] and, with the feature
//! `parquet`, `write_parquet`, one row per trial and response or one per observation. Three are those of
//! other benchmark tools ([`hyperfine`], [`google_benchmark`], [`bencher`]), which have no place for some
//! of it: each says what it left out ([`LeftOut`]). docs/exports.md describes every column and field.
//!
//! This room is given a manifest, its records and something to write to. It opens no file, and it
//! does not know pages or the machine it works on.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

mod bencher;
mod cases;
mod choice;
mod comma;
mod google;
mod hyperfine;
#[cfg(feature = "parquet")]
mod parquet_file;
mod table;

#[cfg(test)]
mod fixture;

pub use bencher::bencher;
pub use cases::LeftOut;
pub use choice::Choice;
pub use comma::write_csv;
pub use google::google_benchmark;
pub use hyperfine::hyperfine;
#[cfg(feature = "parquet")]
pub use parquet_file::write_parquet;
pub use table::{Column, FACTOR, Kind, Rows, columns};

use model::{Manifest, Record};
use serde::Serialize;
use std::io::Write;

/// A stored session: all that is needed.
#[derive(Clone, Copy, Debug)]
pub struct Session<'a> {
    /// What was measured where.
    pub manifest: &'a Manifest,
    /// The trials, in the order of the session.
    pub records: &'a [Record],
}

/// What is exported, or why not.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why nothing, or not all, was written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A name that the session does not have, with those that it has; or the Parquet library refused.
    #[error("{0}")]
    Refused(String),
    /// What was to be written could not be.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Writes a whole file as JSON for people, and a newline.
fn write_json(value: &impl Serialize, mut out: impl Write) -> Result<()> {
    serde_json::to_writer_pretty(&mut out, value)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        // Our own data can always be written as JSON, so it is the writer that failed.
        Error::Io(error.into())
    }
}
