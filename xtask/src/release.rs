//! `cargo xtask release-check`: what is looked at before a release and takes too long for every test.
//!
//! * `cargo deny`: licences, sources, bans, and known advisories where their database can be had.
//! * The release binary, built in two folders of different names: it must be the same, byte by byte.

use crate::{machine, steps};
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Instant;

/// The version that deny.toml was written for.
const DENY_VERSION: &str = "0.20.2";

/// Looks at everything.
///
/// # Errors
/// Names the first thing that is not as it must be, or cannot be looked at.
pub(crate) fn check(root: &Path, install: bool) -> Result<()> {
    let deny = deny(root, install)?;
    let run = |words: &[&str]| -> Result<ExitStatus> {
        println!("-- cargo deny {}", words.join(" "));
        // Called as cargo calls it, so that it need not be on the path.
        Command::new(&deny)
            .args(words)
            .current_dir(root)
            .status()
            .context("cannot start cargo deny")
    };
    let status = run(&["check", "licenses", "bans", "sources"])?;
    ensure!(status.success(), "cargo deny found what deny.toml does not allow, see above");
    // It is a clone of a git repository, which not every machine can reach.
    if run(&["fetch", "db"])?.success() {
        let status = run(&["check", "--disable-fetch", "advisories"])?;
        ensure!(status.success(), "cargo deny: there are advisories, see above");
    } else {
        println!("-- advisories: SKIPPED, their database could not be fetched");
    }
    same_twice(root)
}

/// Where `cargo-deny` is: on the path, or where an earlier check has put it. Installs it otherwise.
fn deny(root: &Path, install: bool) -> Result<PathBuf> {
    let tools = steps::target(root).join("tools");
    let ours = tools.join("bin/cargo-deny");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut candidates = machine::on_path("cargo-deny", &path).into_iter().chain([ours.clone()]);
    if let Some(found) = candidates.find(|program| program.is_file()) {
        return Ok(found);
    }
    let by_hand = format!("cargo install cargo-deny --locked --version {DENY_VERSION}");
    if !install {
        bail!("no cargo-deny, and nothing is to be installed; type: {by_hand}");
    }
    println!("-- no cargo-deny yet, and it is built from its source, in some minutes: {by_hand}");
    let status = Command::new(steps::cargo())
        .args(["install", "cargo-deny", "--locked", "--version", DENY_VERSION, "--root"])
        .arg(&tools)
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "cargo-deny could not be built: {status}");
    Ok(ours)
}

/// Builds the committed state in two folders, and compares what comes out.
fn same_twice(root: &Path) -> Result<()> {
    let top = steps::target(root).join("release-check");
    let built = ["one", "another-folder"].map(|name| build(root, &top.join(name)));
    let [one, other] = built;
    let (one, other) = (one?, other?);
    let same = one == other;
    // Two trees and all that was made of them.
    std::fs::remove_dir_all(&top).with_context(|| format!("cannot remove {}", top.display()))?;
    ensure!(same, "the release binary is not the same when it is built in another folder");
    println!("-- the release binary is the same in both folders, {} bytes", one.len());
    Ok(())
}

/// The release binary of the committed state, built in a folder of its own.
fn build(root: &Path, folder: &Path) -> Result<Vec<u8>> {
    if folder.exists() {
        std::fs::remove_dir_all(folder)
            .with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    let status = Command::new("git")
        .args(["clone", "--quiet", "--no-hardlinks"])
        .arg(root)
        .arg(folder)
        .status()
        .context("cannot start git")?;
    ensure!(status.success(), "git clone: {status}");
    println!("-- a release build in {}", folder.display());
    let start = Instant::now();
    let status = Command::new(steps::cargo())
        .args(["build", "--release", "--quiet", "--locked"])
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env("RUSTFLAGS", remapped(folder))
        .current_dir(folder)
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "the release build failed: {status}");
    println!("-- built in {:.0} s", start.elapsed().as_secs_f64());
    std::fs::read(folder.join("target/release/scruple")).context("cannot read the release binary")
}

/// Panics name the source they stand in: by a path that is the same everywhere.
fn remapped(folder: &Path) -> String {
    let home = std::env::var("CARGO_HOME").ok().or_else(|| {
        let home = std::env::var("HOME").ok()?;
        Some(format!("{home}/.cargo"))
    });
    let home = home.map(|home| format!(" --remap-path-prefix={home}=/cargo")).unwrap_or_default();
    format!("--remap-path-prefix={}=/scruple{home}", folder.display())
}
