//! A short run of the tests that surroundings can change, in other surroundings: in namespaces of its own, on an
//! overlay file system, as an ordinary user, in a tree that holds sessions.

use super::{conduct, target};
use crate::shell::{Run, command};
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

pub(super) const TITLE: &str = "other surroundings";

/// The tests, after those of the whole workspace were built.
pub(super) const TESTS: &str = "cargo test --workspace --features export/parquet --no-fail-fast --quiet --lib --bins \
                               --test it --test thousand --";

/// Bytes that an overlay file system counts twice; these tests run without libtest, which takes several names.
const BYTES: &str = "cargo test --workspace --features export/parquet --quiet --test programs -- \
                     files_are_written_to_the_byte";

/// The tests whose result once depended on where they ran.
const NAMES: [&str; 9] = [
    // Sessions in the working folder.
    "compare::",
    "habits::",
    "stranger::",
    // Few open files.
    "uring::",
    "an_open_loop_",
    "nothing_is_left_of_a_thousand_connections",
    // No machine-id.
    "redact::",
    "machine::",
    // A name that the kernel has not set yet.
    "peers::",
];

/// The surroundings.
const SCRIPT: &str = include_str!("elsewhere.sh");

/// Returns why there can be no other surroundings here.
pub(super) fn obstacle(root: &Path) -> Option<String> {
    let tried = surroundings(root).and_then(|mut surroundings| surroundings.arg("true").read());
    let error = tried.err()?.to_string();
    let reason = error.lines().last().unwrap_or_default();
    Some(format!("no namespaces with an overlay can be made ({reason})"))
}

/// Runs the tests there.
pub(super) fn test(root: &Path) -> Result<()> {
    begin(root, TESTS, &NAMES).and(begin(root, BYTES, &[]))
}

/// Runs a command there, with further words.
fn begin(root: &Path, line: &str, words: &[&str]) -> Result<()> {
    let (mut surroundings, cargo) = (surroundings(root)?, command(line));
    surroundings.arg(cargo.get_program()).args(cargo.get_args()).args(words);
    conduct(TITLE, line, &mut surroundings)
}

/// Returns the command that makes them, without the command that runs in them.
fn surroundings(root: &Path) -> Result<Command> {
    let scratch = target(root).join("elsewhere");
    std::fs::create_dir_all(&scratch).context("cannot make a folder for an overlay")?;
    let mut surroundings = command("unshare --user --map-root-user --mount sh -c");
    surroundings.args([SCRIPT, "elsewhere"]).args([root, &scratch]);
    Ok(surroundings)
}
