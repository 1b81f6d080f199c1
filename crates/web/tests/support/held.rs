//! What processes hold: for who looks whether anything of it is left.

use std::fmt;
use sys::Pid;

/// What some processes hold together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) processes: usize,
    pub(crate) threads: usize,
    pub(crate) descriptors: usize,
}

impl Held {
    /// By these processes. One that has ended meanwhile holds nothing.
    pub(crate) fn by(pids: &[Pid]) -> Self {
        let entries = |pid: Pid, folder: &str| {
            std::fs::read_dir(format!("/proc/{pid}/{folder}")).map_or(0, Iterator::count)
        };
        let sum = |folder| pids.iter().map(|pid| entries(*pid, folder)).sum();
        Self { processes: pids.len(), threads: sum("task"), descriptors: sum("fd") }
    }
}

impl fmt::Display for Held {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { processes, threads, descriptors } = self;
        write!(out, "processes {processes}, threads {threads}, descriptors {descriptors}")
    }
}

/// What is resident of these processes, in bytes: page by page, since the counters that the kernel
/// keeps for each thread may be some dozen pages behind.
pub(crate) fn resident_bytes(pids: &[Pid]) -> u64 {
    pids.iter().filter_map(|pid| sys::proc::memory(*pid).ok()).map(|memory| memory.rss_bytes).sum()
}
