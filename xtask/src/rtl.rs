//! The pipeline beside an RTL core.

use crate::calibrate::bench;
use crate::machine;
use anyhow::{Context, Result};
use std::path::Path;

/// Provides the simulator and lets the benchmark run the core; returns its code: 0 or 3.
///
/// # Errors
/// If there is no simulator or no such folder, or the benchmark ends otherwise.
pub(crate) fn rtl(root: &Path, install: bool, folder: &Path, write: bool) -> Result<u8> {
    // cargo starts the benchmark in another folder.
    let absolute = folder.canonicalize().with_context(|| format!("{}", folder.display()))?;
    machine::provide("Verilog simulator", install)?;
    let absolute = absolute.to_str().context("the folder's name is no text")?;
    let words = [absolute.to_owned()].into_iter().chain(write.then(|| "--write".into()));
    bench(root, "isa", "rtl", words)
}
