//! The project's own chores. `cargo xtask --help` lists them; `cargo xtask test` is the one test command.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test that cannot go on has failed"))]

mod book;
mod calibrate;
mod deny;
mod dist;
mod duckdb;
mod machine;
mod markdown;
mod pictures;
mod promises;
mod record;
mod release;
mod rtl;
mod shell;
mod slurm;
mod steps;
mod strings;
mod tidy;
mod vm;

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand, value_parser};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The project's own chores.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Asked {
    #[command(subcommand)]
    chore: Chore,
    /// Install nothing that is missing; say how to install it
    #[arg(long, global = true)]
    no_install: bool,
}

#[derive(Debug, PartialEq, Eq, Subcommand)]
enum Chore {
    /// Check everything: libraries, format, lints, tests, release build, book
    Test,
    /// Install the programs that the tests need
    Tools,
    /// Check the licences and sources of all libraries, and the known advisories
    Libraries,
    /// Check only the rules that are read off the sources
    Tidy,
    /// Print the numbers of the code's shape and their limits
    ///
    /// xtask/shape.txt has the limits. Tidy fails where a number is above its limit.
    Shape {
        /// Lower the limits to the numbers
        #[arg(long, conflicts_with = "places")]
        write: bool,
        /// Print where the things lie that the number called NAME counts
        #[arg(long, value_name = "NAME")]
        places: Option<String>,
    },
    /// Print a random sample of the sentences that users read
    Strings {
        /// Print N of them
        #[arg(long, value_name = "N", default_value_t = 60)]
        sample: usize,
        /// Repeat the sample of this seed [default: a new one]
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Compare scruple's numbers with those of perf, stress-ng and hyperfine
    ///
    /// Ends with code 3 if they differ and docs/calibration.md gives no reason.
    Calibrate {
        /// Measure each number N times, 6 or more [default: 20]
        #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(6..))]
        rounds: Option<u32>,
    },
    /// Compare the pipeline's cycles with those of an RTL core
    ///
    /// Needs Icarus Verilog. Ends with code 3 if a difference has no known reason, or if the core
    /// takes other cycles than crates/isa/rtl/recorded.csv has. docs/machine.md has the table.
    Rtl {
        /// A checkout of github.com/ultraembedded/riscv at commit 7ae6f80
        dir: PathBuf,
        /// Write what the core takes to crates/isa/rtl/recorded.csv
        #[arg(long)]
        write: bool,
    },
    /// Render the documents as a site in target/book
    Book,
    /// Take the pictures of the documents again, from recorded/
    Pictures,
    /// Measure the sessions under recorded/ again
    ///
    /// Each session's manifest holds its command. Nothing else should run meanwhile.
    Record {
        /// Write the sessions to DIR instead
        #[arg(long, value_name = "DIR")]
        into: Option<PathBuf>,
        /// Measure with this scruple instead of a release build
        #[arg(long, value_name = "FILE")]
        binary: Option<PathBuf>,
    },
    /// Run the documented commands and check what they show
    ///
    /// xtask/promises.txt lists them. Names file and line of what no longer holds, and ends with code 1.
    Promises {
        /// Run this scruple instead of a release build
        #[arg(long, value_name = "FILE")]
        binary: Option<PathBuf>,
        /// Run only commands that contain TEXT
        #[arg(long, value_name = "TEXT")]
        only: Option<String>,
    },
    /// Stop at known advisories, and compare two release builds byte by byte
    ReleaseCheck,
    /// Make and try static binaries: tarballs, Debian packages, wheels
    ///
    /// They are written to target/dist, for x86-64 and aarch64.
    Dist,
    /// Start, stop or test a Slurm cluster of virtual nodes
    ///
    /// Needs root and Debian's Slurm. It shows that a fleet works; its figures mean nothing.
    #[command(subcommand)]
    Slurm(slurm::Asked),
    /// Run a session in a virtual machine that is stopped, suspended and loses a CPU
    ///
    /// Takes some minutes, more where QEMU emulates the CPU.
    Vm(vm::Asked),
}

fn main() -> ExitCode {
    match perform(&Asked::parse()) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("cargo xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the exit code.
fn perform(Asked { chore, no_install }: &Asked) -> Result<u8> {
    let (root, install) = (&root()?, !no_install);
    match chore {
        Chore::Test => steps::test(root, install)?,
        Chore::Tools => steps::tools(root, install)?,
        Chore::Libraries => deny::check(root, install, deny::Advisory::Printed)?,
        Chore::Tidy => tidy(root)?,
        Chore::Shape { places: Some(name), .. } => tidy::places(root, name)?,
        Chore::Shape { write, places: None } => tidy::shape(root, *write)?,
        Chore::Strings { sample, seed } => strings::print(root, *sample, *seed)?,
        Chore::Calibrate { rounds } => return calibrate::calibrate(root, install, *rounds),
        Chore::Rtl { dir, write } => return rtl::rtl(root, install, dir, *write),
        Chore::Book => book::book(root)?,
        Chore::Pictures => pictures::pictures(root, install)?,
        Chore::Record { into, binary } => record::record(root, into.as_deref(), binary.as_deref())?,
        Chore::Promises { binary, only } => {
            return promises::promises(root, binary.as_deref(), only.as_deref());
        }
        Chore::ReleaseCheck => release::check(root, install)?,
        Chore::Dist => dist::dist(root, install)?,
        Chore::Slurm(asked) => slurm::slurm(root, asked, install)?,
        Chore::Vm(asked) => return vm::vm(root, asked, install),
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

/// Returns the folder of the workspace. Cargo names this package's folder at run time; a binary that
/// was started by hand uses the folder in which it was built.
fn root() -> Result<PathBuf> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let root = package.parent().context("this package has no workspace around it")?;
    ensure!(root.join("Cargo.toml").is_file(), "{} is no workspace", root.display());
    Ok(root.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::{Asked, Chore};
    use clap::{CommandFactory, Parser};

    fn parse(line: &str) -> Result<Chore, clap::Error> {
        let words = ["cargo xtask"].into_iter().chain(line.split_whitespace());
        Asked::try_parse_from(words).map(|asked| asked.chore)
    }

    #[test]
    fn the_declaration_is_consistent() {
        Asked::command().debug_assert();
    }

    #[test]
    fn the_words_are_understood() {
        assert_eq!(parse("test --no-install").unwrap(), Chore::Test);
        assert_eq!(parse("calibrate --rounds 40").unwrap(), Chore::Calibrate { rounds: Some(40) });
        let shape = Chore::Shape { write: false, places: Some("constants".into()) };
        assert_eq!(parse("shape --places constants").unwrap(), shape);
        let rtl = Chore::Rtl { dir: "core".into(), write: true };
        assert_eq!(parse("rtl core --write").unwrap(), rtl);
        let promises = Chore::Promises { binary: Some("s".into()), only: Some("load".into()) };
        assert_eq!(parse("promises --binary s --only load").unwrap(), promises);
        for wrong in [
            "",
            "tests",
            "rtl",
            "tidy now",
            "calibrate --rounds 5",
            "slurm up d 17",
            "vm k",
            "vm --write",
            "shape --write --places constants",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
