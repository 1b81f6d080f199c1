//! scruple beside the tools that measure the same.

use crate::machine;
use crate::shell::{Run, command};
use anyhow::{Context, Result, bail, ensure};
use std::path::Path;

/// The benchmark ends with this code where numbers disagree and nothing explains it.
const DISAGREED: u8 = 3;

/// Provides the tools, builds, and lets the benchmark compare; returns its code: 0 or 3.
///
/// # Errors
/// If none of the tools can be had, or the benchmark cannot be built or ends otherwise.
pub(crate) fn calibrate(root: &Path, install: bool, rounds: Option<u32>) -> Result<u8> {
    let mut missing = Vec::new();
    for tool in machine::PEERS {
        if let Err(why) = machine::provide(tool, install) {
            // The others go on; the benchmark's table names it once more.
            println!("-- skipped: {why:#}");
            missing.push(format!("{why:#}"));
        }
    }
    ensure!(
        missing.len() != machine::PEERS.len(),
        "there is nothing to compare with:\n  {}",
        missing.join("\n  ")
    );
    bench(root, "lab", "peers", rounds.map(|rounds| format!("--rounds={rounds}")))
}

/// Builds and runs a benchmark that compares; returns its code: 0 or 3.
///
/// # Errors
/// If it cannot be built or ends otherwise.
pub(crate) fn bench(
    root: &Path,
    package: &str,
    name: &str,
    words: impl IntoIterator<Item = String>,
) -> Result<u8> {
    let bench = || {
        let mut bench = command(&format!("cargo bench --package {package} --bench {name}"));
        bench.current_dir(root);
        bench
    };
    bench().arg("--no-run").run().context("the benchmark cannot be built")?;
    let status = bench().arg("--").args(words).status().context("cannot start cargo")?;
    match status.code().and_then(|code| u8::try_from(code).ok()) {
        Some(0) => Ok(0),
        Some(DISAGREED) => Ok(DISAGREED),
        _ => bail!("the benchmark ended with {status}"),
    }
}
