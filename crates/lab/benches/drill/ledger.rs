//! What is counted, and what must not be.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// The whole lines of a session's trials, as they stand on the disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines(Vec<String>);

impl Lines {
    /// Those of a folder; none where there is no session yet.
    pub(crate) fn of(dir: &Path) -> Lines {
        let bytes = std::fs::read(dir.join("trials.ndjson")).unwrap_or_default();
        Lines::from_bytes(&bytes)
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Lines {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        Lines(String::from_utf8_lossy(&bytes[..whole]).lines().map(String::from).collect())
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.len() as u64
    }

    /// The records.
    pub(crate) fn records(&self) -> impl Iterator<Item = Value> {
        self.0.iter().filter_map(|line| serde_json::from_str(line).ok())
    }

    /// Those that do not stand, bit by bit and at their places, in what is there later.
    pub(crate) fn lost_in(&self, later: &Lines) -> u64 {
        let kept = self.0.iter().zip(&later.0).filter(|(before, after)| before == after).count();
        self.count() - kept as u64
    }

    /// Trials of a block and treatment that had one already, and lines that are no record.
    pub(crate) fn doubled(&self) -> u64 {
        let place = |record: Value| {
            format!("{} {} {}", record["experiment"], record["block"], record["treatment"])
        };
        let places: BTreeSet<String> = self.records().map(place).collect();
        self.count() - places.len() as u64
    }
}

/// The sums of a drill.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    lines: Vec<String>,
    /// What must be 0.
    lost: u64,
    doubled: u64,
    orphans: u64,
    scratch: u64,
    cgroups: u64,
    /// What went otherwise than it must, in words.
    wrong: Vec<String>,
}

impl Ledger {
    /// Compares what was stored with what is.
    pub(crate) fn compare(&mut self, before: &Lines, after: &Lines) {
        self.lost += before.lost_in(after);
        self.doubled += after.doubled();
    }

    /// Processes, and files or cgroups, that outlived their session.
    pub(crate) fn left_behind(&mut self, processes: u64, scratch: u64, cgroups: u64) {
        self.orphans += processes;
        self.scratch += scratch;
        self.cgroups += cgroups;
    }

    /// A session that should be whole.
    pub(crate) fn must_be_whole(&mut self, what: &str, dir: &Path, expected: u64) {
        let found = Lines::of(dir);
        self.doubled += found.doubled();
        self.must(found.count() == expected, || {
            format!("{what}: {} trials, and {expected} are planned", found.count())
        });
        self.must(dir.join("report.html").exists(), || format!("{what}: there is no report"));
    }

    /// Notes what is not so.
    pub(crate) fn must(&mut self, so: bool, wrong: impl FnOnce() -> String) {
        if !so {
            self.wrong.push(wrong());
        }
    }

    /// A line of figures.
    pub(crate) fn tell(&mut self, line: String) {
        println!("{line}");
        self.lines.push(line);
    }

    /// Whether the bar is held.
    pub(crate) fn holds(&self) -> bool {
        let Ledger { lost, doubled, orphans, scratch, cgroups, .. } = self;
        lost + doubled + orphans + scratch + cgroups == 0 && self.wrong.is_empty()
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let Ledger { lost, doubled, orphans, scratch, cgroups, .. } = self;
        let _ = writeln!(text, "completed trials lost:   {lost}");
        let _ = writeln!(text, "stored twice:            {doubled}");
        let _ = writeln!(text, "processes left behind:   {orphans}");
        let _ = writeln!(text, "scratch folders left:    {scratch}");
        let _ = writeln!(text, "cgroups left:            {cgroups}");
        let _ = writeln!(text, "otherwise than it must:  {}", self.wrong.len());
        self.wrong.iter().for_each(|wrong| {
            let _ = writeln!(text, "  {wrong}");
        });
        text + if self.holds() { "the bar is held" } else { "THE BAR IS MISSED" }
    }
}
