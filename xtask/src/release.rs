//! `cargo xtask release-check`: what is looked at before a release and takes too long for every test.
//!
//! * `cargo deny`: as in every test, but a known advisory stops it.
//! * The release binary, built in two folders of different names: it must be the same, byte by byte.

use crate::deny::{self, Advisory};
use crate::shell::{Run, command, remove};
use crate::steps;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::time::Instant;

/// Looks at everything.
///
/// # Errors
/// Names the first thing that is not as it must be, or cannot be looked at.
pub(crate) fn check(root: &Path, install: bool) -> Result<()> {
    deny::check(root, install, Advisory::Stops)?;
    same_twice(root)
}

/// Builds the committed state in two folders, and compares what comes out.
fn same_twice(root: &Path) -> Result<()> {
    let top = steps::target(root).join("release-check");
    let built = ["one", "another-folder"].map(|name| build(root, &top.join(name)));
    let [one, other] = built;
    let (one, other) = (one?, other?);
    let same = one == other;
    // Two trees and all that was made of them.
    remove(&top)?;
    ensure!(same, "the release binary is not the same when it is built in another folder");
    println!("-- the release binary is the same in both folders, {} bytes", one.len());
    Ok(())
}

/// The release binary of the committed state, built in a folder of its own.
fn build(root: &Path, folder: &Path) -> Result<Vec<u8>> {
    remove(folder)?;
    command("git clone --quiet --no-hardlinks").arg(root).arg(folder).run()?;
    println!("-- a release build in {}", folder.display());
    let start = Instant::now();
    command("cargo build --release --quiet --locked")
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env("RUSTFLAGS", remapped(folder))
        .current_dir(folder)
        .run()?;
    println!("-- built in {:.0} s", start.elapsed().as_secs_f64());
    std::fs::read(folder.join("target/release/scruple")).context("cannot read the release binary")
}

/// Panics name the source they stand in: by a path that is the same everywhere.
pub(crate) fn remapped(folder: &Path) -> String {
    let home = std::env::var("CARGO_HOME").ok().or_else(|| {
        let home = std::env::var("HOME").ok()?;
        Some(format!("{home}/.cargo"))
    });
    let home = home.map(|home| format!(" --remap-path-prefix={home}=/cargo")).unwrap_or_default();
    format!("--remap-path-prefix={}=/scruple{home}", folder.display())
}
