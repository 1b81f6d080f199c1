//! The threads of a process, and what only the sum over all its threads tells.

use super::path;
use super::task::{Io, SchedStat, Stat, parse_io};
use crate::{Pid, text};
use std::os::unix::fs::MetadataExt;

/// A thread, as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// Its number.
    pub tid: Pid,
    /// Its name, at most 15 bytes, as it calls itself.
    pub name: String,
    /// Its state: `R`, `S`, `D`, `Z`…
    pub state: char,
    /// When it began, on the clock of [`crate::clock::now_ns`], to a tick of user space (mostly 10 ms)
    /// from below.
    pub began_ns: u64,
    /// The scheduler's account of it. `on_cpu_ns` of a running thread may be a tick old, and a wait
    /// for a CPU is added when it is over.
    pub account: SchedStat,
}

/// The numbers of the threads of process `pid`; empty where it does not exist. The main thread of a zombie is
/// still there.
pub(super) fn thread_ids(pid: Pid) -> Vec<Pid> {
    let tasks = std::fs::read_dir(path(pid, "task")).into_iter().flatten().flatten();
    tasks.filter_map(|task| task.file_name().to_str()?.parse().ok()).collect()
}

/// Returns how many threads process `pid` has, for the cost of one call however many they are: the kernel adds them to
/// the links of their folder. `None` where the process does not exist.
pub(super) fn thread_count(pid: Pid) -> Option<usize> {
    let links = std::fs::metadata(path(pid, "task")).ok()?.nlink();
    // A folder without others in it has two.
    usize::try_from(links).ok()?.checked_sub(2)
}

/// Returns a thread by what its files said. The kernel counts its beginning from the boot, the time in which
/// the machine was suspended included.
pub(super) fn thread(tid: Pid, stat: &Stat, account: SchedStat, suspended_ns: u64) -> Thread {
    let ticks_ns = stat.start_ticks.saturating_mul(super::load::tick_ns());
    let began_ns = ticks_ns.saturating_sub(suspended_ns);
    Thread { tid, name: stat.name.clone(), state: stat.state, began_ns, account }
}

/// Reports whether `tid` is a thread of process `pid` now.
pub fn is_thread_of(pid: Pid, tid: Pid) -> bool {
    std::fs::exists(path(pid, &format!("task/{tid}"))).unwrap_or(false)
}

/// Returns the name of a thread of process `pid`; `None` where it is gone.
pub fn thread_name(pid: Pid, tid: Pid) -> Option<String> {
    text::value(path(pid, &format!("task/{tid}/comm")))
}

/// What the children of this process have read and written that have ended and been waited for,
/// with all that they had waited for themselves, since this process began.
///
/// /proc/self/io counts it together with what this process does itself; the latter is subtracted,
/// thread by thread. So no other thread of this process may do any I/O meanwhile, and what a thread
/// did that has ended counts with the children's: two readings are compared with the same threads
/// alive. `None` where the kernel keeps no account.
pub fn io_of_children() -> Option<Io> {
    let mut own = Io::default();
    // The bytes of this function's own reading, as far as they are not in `own` yet.
    let (mut read, mut calls) = (0, 0);
    let this = std::fs::read_link("/proc/thread-self").ok()?;
    let this = this.file_name()?.to_os_string();
    let mut tasks: Vec<_> = std::fs::read_dir("/proc/self/task").ok()?.flatten().collect();
    // The calling thread first: what it reads from then on is known to the byte.
    tasks.sort_by_key(|task| task.file_name() != this);
    for task in tasks {
        let text = text::read(task.path().join("io")).ok()?;
        own = own.zip(parse_io(&text)?, u64::saturating_add);
        read += text.len() as u64;
        calls += READS_PER_TEXT;
    }
    let mut rest = parse_io(&text::read("/proc/self/io").ok()?)?.since(own);
    rest.rchar = rest.rchar.saturating_sub(read);
    rest.syscr = rest.syscr.saturating_sub(calls);
    Some(rest)
}

/// A text is read by one call, and a second one finds its end.
const READS_PER_TEXT: u64 = 2;
