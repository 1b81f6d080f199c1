//! A writer that is killed loses nothing that it said was stored.
//!
//! This test is a binary of its own: it starts processes, and between fork and exec a child holds
//! the locks of every session that another test of the same process has open.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "it/support/mod.rs"]
mod support;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use store::{Writer, open};
use support::{manifest, record};
use tempfile::TempDir;

/// Set for the process that is to be killed: the session's folder.
const DIR: &str = "SCRUPLE_TEST_KILL_DIR";

/// Appends for ever, and says the number of each record once it is stored.
fn append_until_killed(dir: &Path) {
    let (mut writer, stored) = Writer::resume(dir).unwrap();
    assert_eq!(stored.repeated, 0);
    for trial in stored.records.len() as u64.. {
        let long = model::Record { log: "x".repeat(40_000), ..record(trial) };
        writer.append(&long).unwrap();
        // In one piece: `eprintln!` writes it in several, between which a kill leaves half a line.
        std::io::stderr().write_all(format!("stored {trial}\n").as_bytes()).unwrap();
    }
}

#[test]
fn a_killed_writer_loses_nothing_that_was_stored() {
    if let Some(dir) = std::env::var_os(DIR) {
        return append_until_killed(Path::new(&dir));
    }
    let top = TempDir::new().unwrap();
    let dir = top.path().join("s");
    drop(Writer::create(&dir, &manifest()).unwrap());
    let mut said = 0;
    for round in 0..12u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_killed_writer_loses_nothing_that_was_stored", "--nocapture"])
            .env(DIR, &dir)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut number = || {
            let line = lines.next()?.unwrap();
            Some(line.strip_prefix("stored ").unwrap().parse::<u64>().unwrap() + 1)
        };
        said = number().unwrap();
        // Different moments of the loop; which ones does not matter.
        std::thread::sleep(Duration::from_micros(round * 1700));
        child.kill().unwrap();
        child.wait().unwrap();
        while let Some(next) = number() {
            said = next;
        }
        let stored = open(&dir).unwrap();
        let count = stored.records.len() as u64;
        // One more may be on the disk than its writer lived to say.
        assert!(count == said || count == said + 1, "{count} stored, {said} said");
        assert!(stored.records.iter().map(|record| record.trial).eq(0..count));
        assert_eq!(stored.repeated, 0);
    }
    assert!(said >= 12);
    drop(Writer::resume(&dir).unwrap());
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 2, "no lock is left");
}
