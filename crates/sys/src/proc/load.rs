//! The machine as a whole: CPU time, steal, memory, pressure, neighbours.

use super::task::{Stat, stat};
use crate::text::{field, kib_field};
use crate::{Error, Pid, Result, cgroup, process, text};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// CPU time used by all tasks of the machine since its boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MachineCpu {
    /// Time all CPUs together spent on tasks and interrupts, in ns.
    pub busy_ns: u64,
    /// Time the host gave to others while a CPU of ours was ready, in ns.
    pub steal_ns: u64,
    /// Whether `busy_ns` is the scheduler's own sum (exact to one tick per
    /// CPU). Otherwise it is sampled by the tick: right over seconds only.
    pub precise: bool,
}

/// CPU time of the whole machine, from the most precise source there is.
///
/// 1. `cpuacct.usage` of the true root of a cgroup v1 hierarchy: the
///    scheduler's sum, in ns.
/// 2. /proc/stat, in ticks of user space. The root of a cgroup v2 hierarchy is
///    no better, although it counts µs: for the root the kernel fills
///    `cpu.stat` from the same samples (`root_cgroup_cputime`, kernel/cgroup/
///    rstat.c), in some versions with steal added.
///
/// Steal comes from /proc/stat in both cases. `None` where that cannot be read.
pub fn machine_cpu() -> Option<MachineCpu> {
    let sampled = parse_machine_stat(&text::read("/proc/stat").ok()?, tick_ns())?;
    match cgroup::root_cpu_usage_ns() {
        Some(busy_ns) => Some(MachineCpu { busy_ns, precise: true, ..sampled }),
        None => Some(sampled),
    }
}

/// The length of the tick in which /proc counts for user space, in ns.
pub fn tick_ns() -> u64 {
    // SAFETY: asks libc for a number.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    1_000_000_000 / u64::try_from(per_second).ok().filter(|count| *count > 0).unwrap_or(100)
}

/// Reads the first line of /proc/stat. Guest time is part of user time already.
pub(crate) fn parse_machine_stat(text: &str, tick_ns: u64) -> Option<MachineCpu> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> =
        line.split_whitespace().map(str::parse).collect::<std::result::Result<_, _>>().ok()?;
    // user nice system idle iowait irq softirq steal
    let [user, nice, system, _idle, _iowait, irq, softirq, steal, ..] = ticks[..] else {
        return None;
    };
    let mut busy = 0_u64;
    for part in [user, nice, system, irq, softirq] {
        busy = busy.checked_add(part)?;
    }
    Some(MachineCpu {
        busy_ns: busy.checked_mul(tick_ns)?,
        steal_ns: steal.checked_mul(tick_ns)?,
        precise: false,
    })
}

/// How long, since the boot, at least one task has waited for `resource`
/// (`cpu`, `memory` or `io`), in ns: the `some` line of /proc/pressure. `None`
/// where the kernel keeps no such account.
pub fn pressure(resource: &str) -> Option<u64> {
    if !matches!(resource, "cpu" | "memory" | "io") {
        return None;
    }
    parse_pressure(&text::read(format!("/proc/pressure/{resource}")).ok()?)
}

/// Reads the total of the `some` line, in ns (the kernel counts µs).
pub fn parse_pressure(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = line.split_whitespace().find_map(|word| word.strip_prefix("total="))?;
    total.parse::<u64>().ok()?.checked_mul(1_000)
}

/// The machine's memory (/proc/meminfo).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemInfo {
    /// All memory the kernel manages, in bytes.
    pub total_bytes: u64,
    /// What could be had without swapping, by the kernel's estimate, in bytes.
    pub available_bytes: u64,
    /// Unused memory, in bytes.
    pub free_bytes: u64,
    /// Page cache, in bytes.
    pub cached_bytes: u64,
    /// Page cache that waits to be written, in bytes.
    pub dirty_bytes: u64,
    /// Swap space, in bytes.
    pub swap_total_bytes: u64,
    /// Unused swap space, in bytes.
    pub swap_free_bytes: u64,
    /// Stacks of all threads in the kernel, in bytes. It is up to date within some dozen KiB per CPU.
    pub kernel_stack_bytes: Option<u64>,
    /// Objects that the kernel cannot drop, such as those of threads and of address spaces, in bytes.
    /// The kernel takes the pages for them several at a time, and keeps some that are empty.
    pub slab_bytes: Option<u64>,
}

/// The machine's memory now.
///
/// # Errors
/// Where /proc/meminfo cannot be read.
pub fn meminfo() -> Result<MemInfo> {
    let text = text::read("/proc/meminfo")?;
    parse_meminfo(&text)
        .ok_or_else(|| Error::unreadable("read(/proc/meminfo)", "a field is missing"))
}

/// Reads a meminfo text; `None` where a field is missing.
pub fn parse_meminfo(text: &str) -> Option<MemInfo> {
    Some(MemInfo {
        total_bytes: kib_field(text, "MemTotal")?,
        available_bytes: kib_field(text, "MemAvailable")?,
        free_bytes: kib_field(text, "MemFree")?,
        cached_bytes: kib_field(text, "Cached")?,
        dirty_bytes: kib_field(text, "Dirty")?,
        swap_total_bytes: kib_field(text, "SwapTotal")?,
        swap_free_bytes: kib_field(text, "SwapFree")?,
        kernel_stack_bytes: kib_field(text, "KernelStack"),
        slab_bytes: kib_field(text, "SUnreclaim"),
    })
}

/// The load average over one minute: tasks that run, wait for a CPU or for a
/// disk. It is a mean that decays, not a count.
pub fn load() -> Option<f64> {
    parse_load(&text::read("/proc/loadavg").ok()?)
}

/// Reads the first number of a loadavg text.
pub(crate) fn parse_load(text: &str) -> Option<f64> {
    let load: f64 = text.split_whitespace().next()?.parse().ok()?;
    (load.is_finite() && load >= 0.0).then_some(load)
}

/// The processes outside our own process group that used CPU time while this
/// function slept `over`: name and share of one CPU (1.0 = one CPU full time),
/// the busiest first. The resolution is a tick of user space, mostly 10 ms, so
/// `over` should be some hundred ms. With /proc mounted `hidepid`, only
/// processes that this user may see.
pub fn neighbours(over: Duration) -> Vec<(String, f64)> {
    let before = other_processes();
    let start = Instant::now();
    // A filter may refuse the call of a sleep, which the library answers by a panic.
    let _ = crate::poll::readable_any(&[], over);
    let passed_ns = start.elapsed().as_nanos() as f64;
    busiest(&before, &other_processes(), tick_ns() as f64 / passed_ns)
}

/// All processes but those of our own group.
fn other_processes() -> HashMap<Pid, Stat> {
    let own = process::group();
    text::process_ids()
        .into_iter()
        .filter_map(|pid| Some((pid, stat(pid)?)))
        .filter(|(_, stat)| stat.group != own)
        .collect()
}

/// Names and shares of the processes that used ticks between two readings. A
/// number whose start differs belongs to a new process, which began at zero.
pub(super) fn busiest(
    before: &HashMap<Pid, Stat>,
    after: &HashMap<Pid, Stat>,
    share_per_tick: f64,
) -> Vec<(String, f64)> {
    let mut shares: Vec<(String, f64)> = after
        .iter()
        .filter_map(|(pid, stat)| {
            let earlier = before
                .get(pid)
                .filter(|earlier| earlier.start_ticks == stat.start_ticks)
                .map_or(0, |earlier| earlier.cpu_ticks);
            let ticks = stat.cpu_ticks.saturating_sub(earlier);
            (ticks > 0).then(|| (stat.name.clone(), ticks as f64 * share_per_tick))
        })
        .collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    shares
}

/// How often the kernel killed a process for want of memory since it was
/// started, in all control groups together (Linux 4.13); `None` where it does
/// not tell.
pub fn oom_kills() -> Option<u64> {
    field(&text::read("/proc/vmstat").ok()?, "oom_kill")
}
