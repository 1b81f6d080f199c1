//! The pipeline beside an RTL core.

use crate::calibrate::bench;
use crate::machine;
use crate::shell::{Run, command};
use anyhow::{Context, Result, ensure};
use std::path::Path;

/// The version of ultraembedded/riscv that was compared, and the tree of its core.
const COMMIT: &str = "7ae6f803e30f78c6ea3121e73c3adf50ff912730";
const TREE: &str = "ee12c02b533f62cbf62e45dabfe4f559bc859656";

/// Provides the simulator and lets the benchmark run the core; returns its code: 0 or 3.
///
/// # Errors
/// If the folder is no checkout of that version, there is no simulator, or the benchmark ends
/// otherwise.
pub(crate) fn rtl(root: &Path, install: bool, folder: &Path, write: bool) -> Result<u8> {
    let shown = folder.display();
    let git = |words: &str| {
        let mut git = command("git -C");
        git.arg(folder).args(words.split(' '));
        git
    };
    let tree = git("rev-parse HEAD:core/riscv").read();
    let tree = tree.with_context(|| format!("{shown} is no checkout of ultraembedded/riscv"))?;
    ensure!(
        tree.trim() == TREE,
        "{shown}: another version; type: git -C {shown} checkout {COMMIT}"
    );
    let unchanged = git("diff --quiet HEAD -- core/riscv").works();
    ensure!(unchanged, "{shown}: core/riscv is not as committed; see git -C {shown} status");
    machine::provide("Verilog simulator", install)?;
    // cargo starts the benchmark in another folder.
    let folder = folder.canonicalize()?;
    let folder = folder.to_str().context("the folder's name is no text")?;
    let words = [folder.to_owned()].into_iter().chain(write.then(|| "--write".into()));
    bench(root, "isa", "rtl", words)
}
