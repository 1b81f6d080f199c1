//! The ways of looking at this machine, each tried.

use serde_json::{Value, json};
use sys::cgroup::{Cgroup, Nest, Plan};
use sys::perf::{Counter, Event};
use sys::tracer::StopCounter;

/// One way of looking at the machine.
pub(super) struct Channel {
    pub(super) name: &'static str,
    /// What it is good for.
    pub(super) serves: &'static str,
    /// The setting or permission that would bring it.
    pub(super) remedy: &'static str,
    /// What was found when it was tried, or why it is not there.
    pub(super) found: Result<String, String>,
}

impl Channel {
    pub(super) fn json(&self) -> Value {
        let Channel { name, serves, remedy, found } = self;
        match found {
            Ok(found) => json!({ "name": name, "serves": serves, "there": true, "found": found }),
            Err(why) => json!({
                "name": name, "serves": serves, "there": false, "why": why, "remedy": remedy,
            }),
        }
    }
}

/// Returns what this process can observe, each tried.
pub(super) fn channels() -> Vec<Channel> {
    reported().into_iter().chain(permitted()).collect()
}

fn channel(
    name: &'static str,
    serves: &'static str,
    remedy: &'static str,
    found: Result<String, String>,
) -> Channel {
    Channel { name, serves, remedy, found }
}

/// Returns what the kernel reports without being asked for a right.
fn reported() -> Vec<Channel> {
    let pid = sys::process::pid();
    vec![
        channel(
            "clock",
            "timing operations of less than a microsecond",
            "clocksource=tsc on the kernel's command line, if the TSC is stable",
            clock(),
        ),
        channel(
            "schedstat",
            "time on a CPU and time waiting for one, exact, per thread",
            "a kernel with CONFIG_SCHED_INFO",
            file("/proc/self/schedstat", sys::proc::schedstat_process(pid))
                .map(|_| "per-thread CPU and queue time".into()),
        ),
        channel(
            "migrations",
            "moves of a thread between CPUs",
            "a kernel with CONFIG_SCHED_DEBUG",
            file("/proc/self/sched", sys::proc::migrations_thread()),
        ),
        channel(
            "memory (PSS, USS)",
            "memory of several processes without counting shared pages twice",
            "a kernel with CONFIG_PROC_PAGE_MONITOR, and ptrace rights over the process",
            tried(sys::proc::memory(pid), "smaps_rollup"),
        ),
        channel(
            "I/O bytes",
            "bytes that a process caused to be read and written",
            "a kernel with CONFIG_TASK_IO_ACCOUNTING",
            file("/proc/self/io", sys::proc::io(pid)),
        ),
        channel(
            "foreign CPU time",
            "telling what others used during a trial",
            "/proc, and the root of a cgroup v1 hierarchy with cpuacct; version 2 has nothing finer",
            machine_cpu(),
        ),
        channel(
            "pressure (PSI)",
            "time in which tasks waited for CPU, memory or I/O",
            "a kernel with CONFIG_PSI, started with psi=1",
            file("/proc/pressure", sys::proc::pressure("cpu")),
        ),
    ]
}

/// Returns what a right, a setting or the hardware must permit.
fn permitted() -> Vec<Channel> {
    vec![
        channel(
            "cgroup cpu",
            "shielding trials from the rest of the machine",
            DELEGATED,
            cgroup("cpu"),
        ),
        channel(
            "cgroup memory",
            "limiting and reading the memory of many processes at once",
            DELEGATED,
            cgroup("memory"),
        ),
        channel(
            "niceness below 0",
            "shielding trials where there is no cgroup",
            "root, CAP_SYS_NICE, or `nice -20` for the user in limits.conf",
            niceness(),
        ),
        channel(
            "software events",
            "switches, faults and migrations, exact",
            "root, CAP_PERFMON, or sysctl kernel.perf_event_paranoid=1",
            event(Event::ContextSwitches),
        ),
        channel(
            "hardware counters",
            "cycles, instructions, cache misses: causes",
            "bare metal, or a virtual machine with a virtual PMU; and kernel.perf_event_paranoid ≤ 1",
            event(Event::Instructions),
        ),
        channel(
            "ptrace",
            "listing the system calls of a program",
            "sysctl kernel.yama.ptrace_scope=1 or less (after 3: a restart); in a container, a \
             seccomp profile that allows ptrace",
            tried(ptrace(), "a child was traced"),
        ),
    ]
}

/// What brings a cgroup.
const DELEGATED: &str = "root or a delegated cgroup, in version 2 with nobody else in it: systemd-run --scope -p \
                         Delegate=yes scruple … (as a user: --user --scope)";

/// Returns the name of a file that has what was looked for.
fn file<T>(name: &str, found: Option<T>) -> Result<String, String> {
    found.map(|_| name.to_string()).ok_or_else(|| format!("{name} is not there"))
}

/// Returns what is said of something that worked.
fn tried<T>(found: sys::Result<T>, said: &str) -> Result<String, String> {
    found.map(|_| said.to_string()).map_err(|error| error.to_string())
}

fn clock() -> Result<String, String> {
    let source = sys::topology::clocksource().unwrap_or_else(|| "unknown".into());
    match ["tsc", "arch_sys_counter", "kvm-clock"].contains(&source.as_str()) {
        true => Ok(format!("clock source {source}, steps of {} ns", sys::clock::step_ns())),
        false => Err(format!("clock source {source}: reading the time is a system call")),
    }
}

fn machine_cpu() -> Result<String, String> {
    match sys::proc::machine_cpu() {
        Some(cpu) if cpu.precise => Ok("nanoseconds, from the root cgroup".into()),
        Some(_) => Err("only /proc/stat, in steps of 10 ms".into()),
        None => Err("/proc/stat is not readable".into()),
    }
}

fn cgroup(controller: &str) -> Result<String, String> {
    // As the shield of a session does it.
    let made = || {
        let plan = Plan::below_own(&[controller], &runner::group_name("doctor"));
        let nest = plan.map(|plan| plan.settle(&[])).transpose()?;
        let own = Cgroup::own(controller)?;
        let own = nest.as_ref().map_or(own, Nest::base);
        let group = own.child_for(controller, &runner::group_name("look"))?;
        let found = format!("{}, may be used", group.version().name());
        group.remove().map(|()| found)
    };
    made().map_err(|error: sys::Error| error.to_string())
}

fn niceness() -> Result<String, String> {
    let before = sys::process::nice();
    let set = sys::process::set_nice(-20);
    if set.is_ok() {
        let _ = sys::process::set_nice(before);
    }
    tried(set, "down to -20")
}

fn event(event: Event) -> Result<String, String> {
    tried(Counter::open(event, false, false), &format!("{} counts", event.name()))
}

/// Traces a child: a setting, a container's filter or a security module may forbid it.
fn ptrace() -> sys::Result<()> {
    const CHILD_NS: u64 = 5_000_000_000;
    let child = sys::task::fork_run(|| {
        sys::clock::sleep_ns(CHILD_NS);
        0
    })?;
    let attached = StopCounter::attach(child).map(drop);
    sys::process::kill(child, sys::signal::SIGKILL)?;
    sys::task::wait(child)?;
    attached
}
