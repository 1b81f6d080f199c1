//! The project's own chores: `cargo xtask test` is the one test command, `cargo xtask tidy` the
//! part of it that reads the sources.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test that cannot go on has failed"))]

mod machine;
mod steps;
mod tidy;

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
The project's own chores.

Usage: cargo xtask <COMMAND>

Commands:
  test [--no-install]  check everything: tools, format, lints, tests, release build
  tidy                 only the rules that are read off the sources

Options:
  --no-install         do not install what the tests need; say how to
  -h, --help           print this
";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
enum Chore {
    Test { install: bool },
    Tidy,
    Help,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let chore = match parse(&words) {
        Ok(chore) => chore,
        Err(wrong) => {
            eprintln!("cargo xtask: {wrong}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match perform(&chore) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cargo xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn parse(words: &[String]) -> Result<Chore, String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if words.iter().any(|word| matches!(*word, "-h" | "--help")) {
        return Ok(Chore::Help);
    }
    match words.as_slice() {
        [] => Err("which chore?".into()),
        ["help"] => Ok(Chore::Help),
        ["tidy"] => Ok(Chore::Tidy),
        ["test"] => Ok(Chore::Test { install: true }),
        ["test", "--no-install"] => Ok(Chore::Test { install: false }),
        ["test" | "tidy" | "help", more, ..] => Err(format!("I do not know what {more} means")),
        [unknown, ..] => Err(format!("there is no chore called {unknown}")),
    }
}

fn perform(chore: &Chore) -> Result<()> {
    match chore {
        Chore::Help => print!("{USAGE}"),
        Chore::Tidy => tidy(&root()?)?,
        Chore::Test { install } => steps::test(&root()?, *install)?,
    }
    Ok(())
}

fn tidy(root: &Path) -> Result<()> {
    let faults = tidy::check(&tidy::Tree::read(root)?);
    for fault in &faults {
        println!("{fault}");
    }
    ensure!(faults.is_empty(), "{} things are not tidy", faults.len());
    println!("all is tidy");
    Ok(())
}

/// The folder of the workspace. Cargo tells at run time where this package lies; a binary that
/// was started by hand looks where it was built.
fn root() -> Result<PathBuf> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let root = package.parent().context("this package has no workspace around it")?;
    ensure!(root.join("Cargo.toml").is_file(), "{} is no workspace", root.display());
    Ok(root.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::{Chore, parse};

    fn words(line: &str) -> Result<Chore, String> {
        parse(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn chores_are_told_apart() {
        assert_eq!(words("test"), Ok(Chore::Test { install: true }));
        assert_eq!(words("test --no-install"), Ok(Chore::Test { install: false }));
        assert_eq!(words("tidy"), Ok(Chore::Tidy));
        assert_eq!(words("test --help"), Ok(Chore::Help));
        assert_eq!(words("tests"), Err("there is no chore called tests".into()));
        assert_eq!(words("tidy now"), Err("I do not know what now means".into()));
        assert!(words("").is_err());
    }
}
