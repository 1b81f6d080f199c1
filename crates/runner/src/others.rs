//! Other sessions that measure on the same CPUs.
//!
//! No lock says so, but their guards, which the kernel lists: nothing is left in the way of the next
//! session by one that is killed, no folder has to be writable for all users, and from outside of a
//! container the sessions in it are seen. What the kernel does not list (the processes of another
//! container, or of other users where /proc hides them) is not seen.

use crate::guard::NAME;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use sys::task::Pid;

/// The least time between two looks, each of which asks every process for its name.
const APART: Duration = Duration::from_secs(1);

/// Another session, by its runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// The process that the user started.
    pub pid: Pid,
    /// The CPUs on which both sessions measure, ascending.
    pub cpus: Vec<u32>,
}

/// The other sessions, as far as they were seen.
#[derive(Debug)]
pub(crate) struct Others {
    cpus: Vec<u32>,
    /// This process and those above it: a session whose trial began this one waits for it.
    line: Vec<Pid>,
    looked: Option<Instant>,
    /// Those that were there when they were looked for last, each with its guard.
    now: Vec<(Pid, Other)>,
    known: BTreeSet<Pid>,
}

impl Others {
    /// For a session on these CPUs.
    pub(crate) fn on(cpus: &[u32]) -> Self {
        let mut line = vec![sys::process::pid()];
        while let Some(stat) = line.last().and_then(|pid| sys::proc::stat(*pid)) {
            if stat.parent <= 1 {
                break;
            }
            line.push(stat.parent);
        }
        Others { cpus: cpus.to_vec(), line, looked: None, now: Vec::new(), known: BTreeSet::new() }
    }

    /// Looks whether they are still there, and for new ones unless it did a moment ago. Returns how many
    /// there are.
    pub(crate) fn look(&mut self) -> u32 {
        if self.looked.is_none_or(|looked| looked.elapsed() >= APART) {
            self.now = self.seen();
            self.looked = Some(Instant::now());
        }
        self.now.retain(|(guard, _)| runner_of(*guard).is_some());
        self.now.len() as u32
    }

    /// Returns those that were not returned before.
    pub(crate) fn news(&mut self) -> Vec<Other> {
        let known = &mut self.known;
        let others = self.now.iter().map(|(_, other)| other);
        others.filter(|other| known.insert(other.pid)).cloned().collect()
    }

    fn seen(&self) -> Vec<(Pid, Other)> {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<Pid>().ok());
        pids.filter_map(|guard| Some((guard, self.stranger(guard)?))).collect()
    }

    /// Returns whose guard it is, if it is one and not of our line, and the CPUs of both. A guard inherits
    /// from its runner the CPUs of the session.
    fn stranger(&self, guard: Pid) -> Option<Other> {
        let pid = runner_of(guard).filter(|runner| !self.line.contains(runner))?;
        let theirs = sys::proc::status(guard).ok()?.cpus_allowed;
        let both = self.cpus.iter().copied().filter(|cpu| theirs.contains(cpu));
        let cpus: Vec<u32> = both.collect();
        (!cpus.is_empty()).then_some(Other { pid, cpus })
    }
}

/// Returns the runner of a guard; `None` of another process.
fn runner_of(guard: Pid) -> Option<Pid> {
    let stat = sys::proc::stat(guard)?;
    (stat.name == NAME && stat.is_alive() && stat.parent > 1).then_some(stat.parent)
}
