//! A drill of faults: what survives when the runner, its guard or its trials are killed, the session's
//! folder goes elsewhere, the disk is full, the runner is stopped for a while, the wall clock is set, or
//! the machine itself stands still.
//!
//! `cargo bench -p lab --bench drill -- --kills 1000`
//!
//! Everything goes through the command line of the built product, in a temporary folder. What comes out
//! are counts, and the bar is the same for all of them: no completed trial is lost, none is stored
//! twice, and nothing is left behind. Ends with code 3 where it is missed. docs/reliability.md holds
//! the figures of one drill.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and may stop")]

mod asked;
mod clock;
mod disk;
mod folders;
mod guards;
mod kills;
mod ledger;
mod moments;
mod stop;
#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../../tests/it/support/mod.rs"]
mod support;
mod trials;
mod vm;

use asked::Asked;
use ledger::Ledger;
use moments::Moments;
use std::process::ExitCode;
use std::time::Instant;

/// The bar was missed.
const MISSED: u8 = 3;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if !words.iter().any(|word| word == "--bench") {
        println!("a benchmark, not a test:\n{}", asked::USAGE);
        return ExitCode::SUCCESS;
    }
    let asked = match Asked::parse(&words) {
        Ok(asked) => asked,
        Err(wrong) => {
            println!("{wrong}\n\n{}", asked::USAGE);
            return ExitCode::from(2);
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let mut moments = Moments(asked.seed);
    let mut ledger = Ledger::default();
    let begun = Instant::now();
    kills::drill(asked.kills, folder.path(), &mut moments, &mut ledger);
    trials::drill(asked.trial_kills, folder.path(), &mut moments, &mut ledger);
    guards::drill(asked.guard_kills, folder.path(), &mut moments, &mut ledger);
    folders::drill(asked.folders, folder.path(), &mut moments, &mut ledger);
    disk::drill(asked.disks, folder.path(), &mut moments, &mut ledger);
    stop::drill(asked.stops, asked.stop_s, folder.path(), &mut ledger);
    clock::drill(asked.steps, folder.path(), &mut ledger);
    if let Some(kernel) = &asked.vm {
        vm::drill(kernel, asked.stop_s, folder.path(), &mut ledger);
    }
    println!("\n{}", ledger.text());
    println!("{:.0} s", begun.elapsed().as_secs_f64());
    if ledger.holds() { ExitCode::SUCCESS } else { ExitCode::from(MISSED) }
}
