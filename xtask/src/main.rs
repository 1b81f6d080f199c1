//! The project's own chores: `cargo xtask test` is the one test command, `cargo xtask tidy` the
//! part of it that reads the sources, `cargo xtask calibrate` the comparison with other tools,
//! `cargo xtask book` the documents as a site, `cargo xtask pictures` what is shown there,
//! `cargo xtask record` measures the recorded sessions anew, `cargo xtask slurm` starts a cluster of
//! virtual nodes, `cargo xtask vm` tries faults of a machine in a virtual one, `cargo xtask
//! release-check` is what is looked at before a release.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test that cannot go on has failed"))]

mod book;
mod calibrate;
mod deny;
mod duckdb;
mod machine;
mod pictures;
mod record;
mod release;
mod slurm;
mod steps;
mod tidy;
mod vm;

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
The project's own chores.

Usage: cargo xtask <COMMAND>

Commands:
  test [--no-install]  check everything: tools, libraries, format, lints, tests, release build, book
  tidy                 only the rules that are read off the sources
  calibrate [--no-install] [--rounds N]
                       hold scruple's numbers against those of perf, stress-ng and hyperfine;
                       ends with code 3 if they differ and docs/calibration.md does not say why
  book [--no-install]  make a site of the documents in target/book, with mdBook
  pictures [--no-install]
                       take the pictures of the documents anew, from recorded/
  record [--into DIR] [--binary FILE]
                       measure the sessions under recorded/ anew, by the commands in their
                       manifests; leave the machine alone meanwhile
  release-check [--no-install]
                       cargo-deny, where a known advisory stops it, too; the release binary built
                       twice must be the same
  slurm up DIR [NODES] [--no-install]
                       start a cluster of virtual nodes on this machine (root, Debian's Slurm),
                       3 unless told otherwise; it gives no figures, it shows that a fleet works
  slurm down DIR       stop it, and leave nothing of it
  slurm test [--no-install]
                       the tests of the fleet on such a cluster, as `test` makes them
  vm [--kernel FILE] [--no-install]
                       a drill in a virtual machine that is stopped, suspended and loses a CPU in
                       mid-session (QEMU; some minutes, most where it is emulated)

Options:
  --no-install         do not install what is missing; say how to
  --rounds N           measure each number N times, 6 or more [20]
  --into DIR           put them there instead
  --kernel FILE        boot this image, not this machine's newest or Debian's
  --binary FILE        measure by this scruple instead of a release build
  -h, --help           print this
";

/// With fewer rounds an interval cannot be formed.
const ROUNDS_MIN: u32 = 6;

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
enum Chore {
    Test { install: bool },
    Calibrate { install: bool, rounds: Option<String> },
    Book { install: bool },
    Pictures { install: bool },
    Record { into: Option<PathBuf>, binary: Option<PathBuf> },
    ReleaseCheck { install: bool },
    Slurm(slurm::Asked),
    Vm(vm::Asked),
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
        Ok(code) => ExitCode::from(code),
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
        ["calibrate", more @ ..] => parse_calibrate(more),
        ["book"] => Ok(Chore::Book { install: true }),
        ["book", "--no-install"] => Ok(Chore::Book { install: false }),
        ["pictures"] => Ok(Chore::Pictures { install: true }),
        ["pictures", "--no-install"] => Ok(Chore::Pictures { install: false }),
        ["release-check"] => Ok(Chore::ReleaseCheck { install: true }),
        ["release-check", "--no-install"] => Ok(Chore::ReleaseCheck { install: false }),
        ["test" | "tidy" | "book" | "pictures" | "release-check" | "help", more, ..] => {
            Err(format!("I do not know what {more} means"))
        }
        ["record", more @ ..] => parse_record(more),
        ["slurm", more @ ..] => slurm::parse(more).map(Chore::Slurm),
        ["vm", more @ ..] => vm::parse(more).map(Chore::Vm),
        [unknown, ..] => Err(format!("there is no chore called {unknown}")),
    }
}

fn parse_calibrate(mut words: &[&str]) -> Result<Chore, String> {
    let (mut install, mut count) = (true, None);
    loop {
        words = match words {
            [] => return Ok(Chore::Calibrate { install, rounds: count }),
            ["--no-install", more @ ..] => {
                install = false;
                more
            }
            ["--rounds", number, more @ ..] => {
                if !number.parse().is_ok_and(|rounds: u32| rounds >= ROUNDS_MIN) {
                    return Err(format!("--rounds {number}: a number from {ROUNDS_MIN} on"));
                }
                count = Some(number.to_string());
                more
            }
            ["--rounds"] => return Err("--rounds wants a number".into()),
            [more, ..] => return Err(format!("I do not know what {more} means")),
        }
    }
}

fn parse_record(mut words: &[&str]) -> Result<Chore, String> {
    let (mut into, mut binary) = (None, None);
    loop {
        words = match words {
            [] => return Ok(Chore::Record { into, binary }),
            ["--into", folder, more @ ..] => {
                into = Some(PathBuf::from(folder));
                more
            }
            ["--binary", file, more @ ..] => {
                binary = Some(PathBuf::from(file));
                more
            }
            [option @ ("--into" | "--binary")] => return Err(format!("{option} wants a path")),
            [more, ..] => return Err(format!("I do not know what {more} means")),
        }
    }
}

/// Returns the exit code.
fn perform(chore: &Chore) -> Result<u8> {
    match chore {
        Chore::Help => print!("{USAGE}"),
        Chore::Tidy => tidy(&root()?)?,
        Chore::Test { install } => steps::test(&root()?, *install)?,
        Chore::Slurm(asked) => slurm::slurm(&root()?, asked)?,
        Chore::Book { install } => book::book(&root()?, *install)?,
        Chore::Pictures { install } => pictures::pictures(&root()?, *install)?,
        Chore::ReleaseCheck { install } => release::check(&root()?, *install)?,
        Chore::Vm(asked) => return vm::vm(&root()?, asked),
        Chore::Calibrate { install, rounds } => {
            return calibrate::calibrate(&root()?, *install, rounds.as_deref());
        }
        Chore::Record { into, binary } => {
            record::record(&root()?, into.as_deref(), binary.as_deref())?;
        }
    }
    Ok(0)
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
        assert_eq!(words("book"), Ok(Chore::Book { install: true }));
        assert_eq!(words("pictures --no-install"), Ok(Chore::Pictures { install: false }));
        assert!(words("book --install").is_err());
        assert_eq!(words("release-check"), Ok(Chore::ReleaseCheck { install: true }));
        assert!(words("release-check now").is_err());
        assert_eq!(words("test --help"), Ok(Chore::Help));
        assert_eq!(words("tests"), Err("there is no chore called tests".into()));
        assert_eq!(words("tidy now"), Err("I do not know what now means".into()));
        assert!(words("").is_err());
        let calibrate = |install, rounds: Option<&str>| {
            Ok(Chore::Calibrate { install, rounds: rounds.map(String::from) })
        };
        assert_eq!(words("calibrate"), calibrate(true, None));
        let both = calibrate(false, Some("40"));
        assert_eq!(words("calibrate --rounds 40 --no-install"), both);
        let record = |into: Option<&str>, binary: Option<&str>| {
            let [into, binary] = [into, binary].map(|path| path.map(Into::into));
            Ok(Chore::Record { into, binary })
        };
        assert_eq!(words("record"), record(None, None));
        assert_eq!(words("record --binary b --into i"), record(Some("i"), Some("b")));
        assert_eq!(words("record --into"), Err("--into wants a path".into()));
        assert!(words("record base").is_err());
        for wrong in ["--rounds", "--rounds 5", "--rounds many", "--round 6", "now"] {
            assert!(words(&format!("calibrate {wrong}")).is_err(), "{wrong}");
        }
    }
}
