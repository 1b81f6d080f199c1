//! The ways of looking at this machine, each tried.

use serde_json::{Value, json};
use sys::cgroup::{Cgroup, Nest, Plan};
use sys::perf::{Counter, Event};
use sys::tracer::StopCounter;

/// One way of looking at the machine: its name, what it is good for, and what was found when it was tried.
pub(super) struct Channel(pub(super) &'static str, pub(super) &'static str, pub(super) Found);

/// What was found, or what is missing.
type Found = Result<String, Missing>;

/// Why a channel is not there.
pub(super) struct Missing {
    pub(super) why: String,
    /// The setting or permission that would bring it.
    pub(super) remedy: &'static str,
}

impl Channel {
    pub(super) fn json(&self) -> Value {
        let Channel(name, serves, found) = self;
        match found {
            Ok(found) => json!({ "name": name, "serves": serves, "there": true, "found": found }),
            Err(Missing { why, remedy }) => json!({
                "name": name, "serves": serves, "there": false, "why": why, "remedy": remedy,
            }),
        }
    }
}

/// Returns what this process can observe, each tried.
pub(super) fn channels() -> Vec<Channel> {
    let pid = sys::process::pid();
    vec![
        Channel("clock", "timing operations of less than a microsecond", clock()),
        Channel(
            "schedstat",
            "time on a CPU and time waiting for one, exact, per thread",
            present(
                sys::proc::schedstat_process(pid).map(|_| "per-thread CPU and queue time"),
                "/proc/self/schedstat",
                "a kernel with CONFIG_SCHED_INFO",
            ),
        ),
        Channel(
            "migrations",
            "moves of a thread between CPUs",
            present(
                sys::proc::migrations_thread().map(|_| "/proc/self/sched"),
                "/proc/self/sched",
                "a kernel with CONFIG_SCHED_DEBUG",
            ),
        ),
        Channel(
            "memory (PSS, USS)",
            "memory of several processes without counting shared pages twice",
            tried(
                sys::proc::memory(pid).map(|_| "smaps_rollup".into()),
                "a kernel with CONFIG_PROC_PAGE_MONITOR, and ptrace rights over the process",
            ),
        ),
        Channel(
            "I/O bytes",
            "bytes that a process caused to be read and written",
            present(
                sys::proc::io(pid).map(|_| "/proc/PID/io"),
                "/proc/self/io",
                "a kernel with CONFIG_TASK_IO_ACCOUNTING",
            ),
        ),
        Channel("foreign CPU time", "telling what others used during a trial", machine_cpu()),
        Channel(
            "pressure (PSI)",
            "time in which tasks waited for CPU, memory or I/O",
            present(
                sys::proc::pressure("cpu").map(|_| "/proc/pressure"),
                "/proc/pressure",
                "a kernel with CONFIG_PSI, started with psi=1",
            ),
        ),
        Channel("cgroup cpu", "shielding trials from the rest of the machine", cgroup("cpu")),
        Channel(
            "cgroup memory",
            "limiting and reading the memory of many processes at once",
            cgroup("memory"),
        ),
        Channel("niceness below 0", "shielding trials where there is no cgroup", niceness()),
        Channel(
            "software events",
            "switches, faults and migrations, exact",
            event(Event::ContextSwitches),
        ),
        Channel(
            "hardware counters",
            "cycles, instructions, cache misses: causes",
            event(Event::Instructions),
        ),
        Channel("ptrace", "listing the system calls of a program", ptrace()),
    ]
}

fn present(found: Option<&str>, file: &str, remedy: &'static str) -> Found {
    let missing = || Missing { why: format!("{file} is not there"), remedy };
    found.map(String::from).ok_or_else(missing)
}

fn tried(found: sys::Result<String>, remedy: &'static str) -> Found {
    found.map_err(|error| Missing { why: error.to_string(), remedy })
}

fn missing(why: impl Into<String>, remedy: &'static str) -> Found {
    Err(Missing { why: why.into(), remedy })
}

fn clock() -> Found {
    let source = sys::topology::clocksource().unwrap_or_else(|| "unknown".into());
    let step_ns = sys::clock::step_ns();
    if ["tsc", "arch_sys_counter", "kvm-clock"].contains(&source.as_str()) {
        return Ok(format!("clock source {source}, steps of {step_ns} ns"));
    }
    missing(
        format!("clock source {source}: reading the time is a system call"),
        "clocksource=tsc on the kernel's command line, if the TSC is stable",
    )
}

fn machine_cpu() -> Found {
    match sys::proc::machine_cpu() {
        Some(cpu) if cpu.precise => Ok("nanoseconds, from the root cgroup".into()),
        Some(_) => missing(
            "only /proc/stat, in steps of 10 ms",
            "the root of a cgroup v1 hierarchy with cpuacct; version 2 has nothing finer",
        ),
        None => missing("/proc/stat is not readable", "mount /proc"),
    }
}

fn cgroup(controller: &str) -> Found {
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
    let remedy = "root or a delegated cgroup, in version 2 with nobody else in it: systemd-run --scope -p \
                  Delegate=yes scruple … (as a user: --user --scope)";
    tried(made(), remedy)
}

fn niceness() -> Found {
    let before = sys::process::nice();
    let found = sys::process::set_nice(-20).map(|()| {
        let _ = sys::process::set_nice(before);
        "down to -20".to_string()
    });
    tried(found, "root, CAP_SYS_NICE, or `nice -20` for the user in limits.conf")
}

fn event(event: Event) -> Found {
    let found = Counter::open(event, false, false).map(|_| format!("{} counts", event.name()));
    let remedy = if event.is_hardware() {
        "bare metal, or a virtual machine with a virtual PMU; and kernel.perf_event_paranoid ≤ 1"
    } else {
        "root, CAP_PERFMON, or sysctl kernel.perf_event_paranoid=1"
    };
    tried(found, remedy)
}

/// Traces a child: a setting, a container's filter or a security module may forbid it.
fn ptrace() -> Found {
    const CHILD_NS: u64 = 5_000_000_000;
    let remedy = "sysctl kernel.yama.ptrace_scope=1 or less (after 3: a restart); in a container, a \
                  seccomp profile that allows ptrace";
    let trace = || {
        let child = sys::task::fork_run(|| {
            sys::clock::sleep_ns(CHILD_NS);
            0
        })?;
        let attached = StopCounter::attach(child).map(drop);
        sys::process::kill(child, sys::signal::SIGKILL)?;
        sys::task::wait(child)?;
        attached
    };
    tried(trace().map(|()| "a child was traced".to_string()), remedy)
}
