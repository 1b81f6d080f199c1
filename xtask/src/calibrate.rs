//! scruple beside the tools that measure the same.

use crate::{machine, steps};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

/// The benchmark ends with this code where numbers disagree and nothing explains it.
const DISAGREED: u8 = 3;

/// Provides the tools, builds, and lets the benchmark compare; returns its code: 0 or 3.
///
/// # Errors
/// If none of the tools can be had, or the benchmark cannot be built or ends otherwise.
pub(crate) fn calibrate(root: &Path, install: bool, rounds: Option<u32>) -> Result<u8> {
    let mut missing = Vec::new();
    for tool in &machine::PEERS {
        if let Err(why) = machine::provide(tool, install) {
            // The others go on; the benchmark's table names it once more.
            println!("-- skipped: {why:#}");
            missing.push(format!("{why:#}"));
        }
    }
    if missing.len() == machine::PEERS.len() {
        bail!("there is nothing to compare with:\n  {}", missing.join("\n  "));
    }
    let bench = ["bench", "--package", "lab", "--bench", "peers"];
    let built = Command::new(steps::cargo())
        .args(bench)
        .arg("--no-run")
        .current_dir(root)
        .status()
        .context("cannot start cargo")?;
    if !built.success() {
        bail!("the benchmark cannot be built: {built}");
    }
    let mut command = Command::new(steps::cargo());
    command.args(bench).arg("--");
    if let Some(rounds) = rounds {
        command.args(["--rounds", &rounds.to_string()]);
    }
    let status = command.current_dir(root).status().context("cannot start cargo")?;
    match status.code().and_then(|code| u8::try_from(code).ok()) {
        Some(0) => Ok(0),
        Some(DISAGREED) => Ok(DISAGREED),
        _ => bail!("the benchmark ended with {status}"),
    }
}
