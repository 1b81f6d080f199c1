//! Tasks: scheduler statistics, I/O, status.

use super::path;
use crate::text::{field, kib_field};
use crate::{Error, Pid, Result, affinity, text};

/// The scheduler's account of a task (`/proc/…/schedstat`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SchedStat {
    /// Time on a CPU, in ns.
    pub on_cpu_ns: u64,
    /// Time spent ready to run but waiting for a CPU, in ns.
    pub queue_wait_ns: u64,
    /// Times it was put on a CPU.
    pub slices: u64,
}

impl SchedStat {
    /// What was added since an `earlier` reading.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        self.zip(earlier, u64::saturating_sub)
    }

    fn zip(self, other: Self, combine: fn(u64, u64) -> u64) -> Self {
        Self {
            on_cpu_ns: combine(self.on_cpu_ns, other.on_cpu_ns),
            queue_wait_ns: combine(self.queue_wait_ns, other.queue_wait_ns),
            slices: combine(self.slices, other.slices),
        }
    }
}

/// The account of the calling thread; `None` where the kernel keeps none.
///
/// `on_cpu_ns` of a task that is running is as old as the last tick or switch
/// (up to 10 ms): for CPU time [`crate::clock::thread_cpu_ns`] is exact.
pub fn schedstat_thread() -> Option<SchedStat> {
    parse_schedstat(&text::read("/proc/thread-self/schedstat").ok()?)
}

/// The sum over all living threads of the process `pid`; `None` where it does
/// not exist or the kernel keeps no account. Threads that have ended are gone
/// from it.
pub fn schedstat_process(pid: Pid) -> Option<SchedStat> {
    let mut sum: Option<SchedStat> = None;
    for entry in std::fs::read_dir(path(pid, "task")).ok()? {
        // A thread may end between the listing and the reading.
        let Ok(text) = text::read(entry.ok()?.path().join("schedstat")) else { continue };
        let one = parse_schedstat(&text)?;
        sum = Some(sum.unwrap_or_default().zip(one, u64::saturating_add));
    }
    sum
}

/// Reads the three numbers of a schedstat file.
pub fn parse_schedstat(text: &str) -> Option<SchedStat> {
    let mut numbers = text.split_whitespace().map(str::parse::<u64>);
    Some(SchedStat {
        on_cpu_ns: numbers.next()?.ok()?,
        queue_wait_ns: numbers.next()?.ok()?,
        slices: numbers.next()?.ok()?,
    })
}

/// How often the calling thread was moved to another CPU; `None` where the
/// kernel does not say (`/proc/…/sched` needs `CONFIG_SCHED_DEBUG`).
pub fn migrations_thread() -> Option<u64> {
    field(&text::read("/proc/thread-self/sched").ok()?, "se.nr_migrations")
}

/// A process's I/O (`/proc/PID/io`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Io {
    /// Bytes fetched from a device.
    pub read_bytes: u64,
    /// Bytes of page cache made dirty: they need not have reached a device.
    pub write_bytes: u64,
    /// Bytes made dirty that were never written, since the file was truncated.
    pub cancelled_write_bytes: u64,
    /// Bytes asked for by `read` and its kin, also from the cache and pipes.
    pub rchar: u64,
    /// Bytes given to `write` and its kin.
    pub wchar: u64,
    /// Read calls.
    pub syscr: u64,
    /// Write calls.
    pub syscw: u64,
}

impl Io {
    /// What was added since an `earlier` reading.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        self.zip(earlier, u64::saturating_sub)
    }

    pub(super) fn zip(self, other: Self, combine: fn(u64, u64) -> u64) -> Self {
        Self {
            read_bytes: combine(self.read_bytes, other.read_bytes),
            write_bytes: combine(self.write_bytes, other.write_bytes),
            cancelled_write_bytes: combine(self.cancelled_write_bytes, other.cancelled_write_bytes),
            rchar: combine(self.rchar, other.rchar),
            wchar: combine(self.wchar, other.wchar),
            syscr: combine(self.syscr, other.syscr),
            syscw: combine(self.syscw, other.syscw),
        }
    }
}

/// The I/O of process `pid` and of its children that were reaped; `None` where
/// there is no account or it belongs to somebody else.
pub fn io(pid: Pid) -> Option<Io> {
    parse_io(&text::read(path(pid, "io")).ok()?)
}

/// Reads an io file. A kernel without I/O accounting leaves out the bytes: then
/// there is no answer.
pub fn parse_io(text: &str) -> Option<Io> {
    Some(Io {
        read_bytes: field(text, "read_bytes")?,
        write_bytes: field(text, "write_bytes")?,
        cancelled_write_bytes: field(text, "cancelled_write_bytes")?,
        rchar: field(text, "rchar")?,
        wchar: field(text, "wchar")?,
        syscr: field(text, "syscr")?,
        syscw: field(text, "syscw")?,
    })
}

/// What `/proc/PID/status` says. A field is `None` where the kernel does not
/// list it (a zombie has no memory).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// Address space, in bytes.
    pub vm_size_bytes: Option<u64>,
    /// Largest address space so far, in bytes.
    pub vm_peak_bytes: Option<u64>,
    /// Resident set, in bytes. Kernels count it per CPU and may be some hundred
    /// KiB off; [`super::memory`] is exact.
    pub rss_bytes: Option<u64>,
    /// Largest resident set so far, in bytes.
    pub rss_peak_bytes: Option<u64>,
    /// Anonymous part of the resident set, in bytes.
    pub rss_anonymous_bytes: Option<u64>,
    /// Page tables, in bytes.
    pub page_tables_bytes: Option<u64>,
    /// Swapped out, in bytes.
    pub swap_bytes: Option<u64>,
    /// Threads.
    pub threads: u64,
    /// CPUs it may use, ascending.
    pub cpus_allowed: Vec<u32>,
    /// Voluntary switches of the main thread.
    pub voluntary_switches: Option<u64>,
    /// Involuntary switches of the main thread.
    pub involuntary_switches: Option<u64>,
}

/// The status of process `pid`.
///
/// # Errors
/// `ENOENT` where it does not exist, or a text that cannot be read.
pub fn status(pid: Pid) -> Result<Status> {
    let path = path(pid, "status");
    let text = text::read(&path)?;
    parse_status(&text)
        .ok_or_else(|| Error::unreadable(format!("read({path})"), "not a status text"))
}

/// Reads a status file; `None` without a number of threads or a list of CPUs.
pub fn parse_status(text: &str) -> Option<Status> {
    let cpus = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(Status {
        vm_size_bytes: kib_field(text, "VmSize"),
        vm_peak_bytes: kib_field(text, "VmPeak"),
        rss_bytes: kib_field(text, "VmRSS"),
        rss_peak_bytes: kib_field(text, "VmHWM"),
        rss_anonymous_bytes: kib_field(text, "RssAnon"),
        page_tables_bytes: kib_field(text, "VmPTE"),
        swap_bytes: kib_field(text, "VmSwap"),
        threads: field(text, "Threads")?,
        cpus_allowed: affinity::parse_list(cpus).ok()?,
        voluntary_switches: field(text, "voluntary_ctxt_switches"),
        involuntary_switches: field(text, "nonvoluntary_ctxt_switches"),
    })
}

/// The part of `/proc/PID/stat` that is used here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// The process's name, at most 15 bytes, as it calls itself.
    pub name: String,
    /// Its state: `R`, `S`, `D`, `Z`, `X`…
    pub state: char,
    /// Its parent.
    pub parent: Pid,
    /// Its process group.
    pub group: Pid,
    /// Its session.
    pub session: Pid,
    /// CPU time of all its threads, in the kernel's ticks for user space
    /// (mostly 10 ms).
    pub cpu_ticks: u64,
    /// CPU time of its children that have ended and were waited for, and of theirs, in those ticks.
    pub children_ticks: u64,
    /// When it started, in those ticks since the boot.
    pub start_ticks: u64,
}

impl Stat {
    /// Whether it is more than a zombie.
    pub fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X')
    }
}

/// Returns what a process's stat file says; `None` where it is gone.
pub fn stat(pid: Pid) -> Option<Stat> {
    parse_stat(&text::read(path(pid, "stat")).ok()?)
}

/// Reads a stat file. The name stands in parentheses and may itself contain
/// spaces and parentheses: it ends at the last one.
pub fn parse_stat(text: &str) -> Option<Stat> {
    let opening = text.find('(')?;
    let closing = text.rfind(')')?;
    let name = text.get(opening + 1..closing)?.to_string();
    // The fields after the name; the first is number 3 of proc(5).
    let fields: Vec<&str> = text.get(closing + 1..)?.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3).copied();
    let ticks = |number: usize| field(number)?.parse::<u64>().ok();
    Some(Stat {
        name,
        state: field(3)?.chars().next()?,
        parent: field(4)?.parse().ok()?,
        group: field(5)?.parse().ok()?,
        session: field(6)?.parse().ok()?,
        cpu_ticks: ticks(14)?.saturating_add(ticks(15)?),
        children_ticks: ticks(16)?.saturating_add(ticks(17)?),
        start_ticks: ticks(22)?,
    })
}
