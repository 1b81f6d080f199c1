//! The wall clock is set by a day while a session is measured. The machine's own clock stays as it is:
//! a library between the runner and the kernel (libfaketime) tells it another time.

use crate::ledger::{Ledger, Lines};
use crate::support::{said, small_session};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const BLOCKS: u32 = 60;
const TRIALS: u64 = 360;
const DAY_MS: i64 = 86_400_000;

pub(crate) fn drill(steps: u64, folder: &Path, ledger: &mut Ledger) {
    if steps == 0 {
        return;
    }
    let Some(library) = library() else {
        println!(
            "a clock that is set: not looked at, since there is no libfaketime (Debian: libfaketime)"
        );
        return;
    };
    let mut seen = 0;
    for number in 0..steps {
        let (by, offset) = if number % 2 == 0 { ("+1d", DAY_MS) } else { ("-1d", -DAY_MS) };
        let dir = folder.join(format!("clock-{number}"));
        let time = folder.join(format!("time-{number}"));
        std::fs::write(&time, "+0\n").unwrap();
        let mut command: Command = small_session(&dir, BLOCKS);
        command
            .env("LD_PRELOAD", &library)
            .env("FAKETIME_TIMESTAMP_FILE", &time)
            .env("FAKETIME_NO_CACHE", "1")
            .env("DONT_FAKE_MONOTONIC", "1");
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while Lines::of(&dir).count() < TRIALS / 3 && sys::task::exists(child.id() as i32) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::fs::write(&time, format!("{by}\n")).unwrap();
        let output = child.wait_with_output().unwrap();
        ledger.must(output.status.success(), || said(&output));
        ledger.must_be_whole(&format!("a clock that was set by {by}"), &dir, TRIALS);
        let records: Vec<_> = Lines::of(&dir).records().collect();
        let started = |at: usize| records[at]["started_unix_ms"].as_i64().unwrap_or(0);
        let moved = started(records.len() - 1) - started(0);
        let was_set = (moved - offset).abs() < DAY_MS / 2;
        seen += u64::from(was_set);
        ledger.must(was_set, || format!("the clock was to be set by {by} and moved by {moved} ms"));
        for record in &records {
            for name in ["total_ns", "measuring_ns", "spawn_to_ready_ns"] {
                let ns = record[name].as_u64().unwrap_or(0);
                ledger.must(ns < 60_000_000_000, || format!("{name} of {ns} ns"));
            }
        }
    }
    ledger.tell(format!(
        "the wall clock set by a day: {steps} sessions, the step stands in the start times of \
         {seen}; no duration holds it"
    ));
}

fn library() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path());
    folders
        .map(|folder| folder.join("faketime/libfaketime.so.1"))
        .chain([PathBuf::from("/usr/lib/faketime/libfaketime.so.1")])
        .find(|path| path.exists())
}
