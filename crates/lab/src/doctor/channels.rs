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
    /// What was found when it was tried.
    pub(super) found: Result<String, Missing>,
}

/// A channel that is not there.
pub(super) struct Missing {
    pub(super) why: String,
    /// The setting or permission that would bring it.
    pub(super) remedy: &'static str,
}

impl Channel {
    pub(super) fn json(&self) -> Value {
        match &self.found {
            Ok(found) => json!({
                "name": self.name, "serves": self.serves, "there": true, "found": found,
            }),
            Err(missing) => json!({
                "name": self.name, "serves": self.serves, "there": false,
                "why": missing.why, "remedy": missing.remedy,
            }),
        }
    }
}

/// Returns what this process can observe, each tried.
pub(super) fn channels() -> Vec<Channel> {
    let pid = sys::process::pid();
    vec![
        clock(),
        Channel {
            name: "schedstat",
            serves: "time on a CPU and time waiting for one, exact, per thread",
            found: present(
                sys::proc::schedstat_process(pid).map(|_| "per-thread CPU and queue time".into()),
                "/proc/self/schedstat is not there",
                "a kernel with CONFIG_SCHED_INFO",
            ),
        },
        Channel {
            name: "migrations",
            serves: "moves of a thread between CPUs",
            found: present(
                sys::proc::migrations_thread().map(|_| "/proc/self/sched".into()),
                "/proc/self/sched is not there",
                "a kernel with CONFIG_SCHED_DEBUG",
            ),
        },
        Channel {
            name: "memory (PSS, USS)",
            serves: "memory of several processes without counting shared pages twice",
            found: tried(
                sys::proc::memory(pid).map(|_| "smaps_rollup".into()),
                "a kernel with CONFIG_PROC_PAGE_MONITOR, and ptrace rights over the process",
            ),
        },
        Channel {
            name: "I/O bytes",
            serves: "bytes that a process caused to be read and written",
            found: present(
                sys::proc::io(pid).map(|_| "/proc/PID/io".into()),
                "/proc/self/io is not there",
                "a kernel with CONFIG_TASK_IO_ACCOUNTING",
            ),
        },
        machine_cpu(),
        Channel {
            name: "pressure (PSI)",
            serves: "time in which tasks waited for CPU, memory or I/O",
            found: present(
                sys::proc::pressure("cpu").map(|_| "/proc/pressure".into()),
                "/proc/pressure is not there",
                "a kernel with CONFIG_PSI, started with psi=1",
            ),
        },
        cgroup("cgroup cpu", "cpu", "shielding trials from the rest of the machine"),
        cgroup(
            "cgroup memory",
            "memory",
            "limiting and reading the memory of many processes at once",
        ),
        niceness(),
        event("software events", Event::ContextSwitches, "switches, faults and migrations, exact"),
        event(
            "hardware counters",
            Event::Instructions,
            "cycles, instructions, cache misses: causes",
        ),
        Channel {
            name: "ptrace",
            serves: "listing the system calls of a program",
            found: ptrace(),
        },
    ]
}

fn present(found: Option<String>, why: &str, remedy: &'static str) -> Result<String, Missing> {
    found.ok_or_else(|| Missing { why: why.into(), remedy })
}

fn tried(found: sys::Result<String>, remedy: &'static str) -> Result<String, Missing> {
    found.map_err(|error| Missing { why: error.to_string(), remedy })
}

fn clock() -> Channel {
    let source = sys::topology::clocksource().unwrap_or_else(|| "unknown".into());
    let step_ns = sys::clock::step_ns();
    let found = if source == "tsc" || source == "arch_sys_counter" || source == "kvm-clock" {
        Ok(format!("clock source {source}, steps of {step_ns} ns"))
    } else {
        Err(Missing {
            why: format!("clock source {source}: reading the time is a system call"),
            remedy: "clocksource=tsc on the kernel's command line, if the TSC is stable",
        })
    };
    Channel { name: "clock", serves: "timing operations of less than a microsecond", found }
}

fn machine_cpu() -> Channel {
    let found = match sys::proc::machine_cpu() {
        Some(cpu) if cpu.precise => Ok("nanoseconds, from the root cgroup".into()),
        Some(_) => Err(Missing {
            why: "only /proc/stat, in steps of 10 ms".into(),
            remedy: "the root of a cgroup v1 hierarchy with cpuacct; version 2 has nothing finer",
        }),
        None => Err(Missing { why: "/proc/stat is not readable".into(), remedy: "mount /proc" }),
    };
    Channel { name: "foreign CPU time", serves: "telling what others used during a trial", found }
}

fn cgroup(name: &'static str, controller: &str, serves: &'static str) -> Channel {
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
    Channel { name, serves, found: tried(made(), remedy) }
}

fn niceness() -> Channel {
    let before = sys::process::nice();
    let found = sys::process::set_nice(-20).map(|()| {
        let _ = sys::process::set_nice(before);
        "down to -20".to_string()
    });
    Channel {
        name: "niceness below 0",
        serves: "shielding trials where there is no cgroup",
        found: tried(found, "root, CAP_SYS_NICE, or `nice -20` for the user in limits.conf"),
    }
}

fn event(name: &'static str, event: Event, serves: &'static str) -> Channel {
    let found = Counter::open(event, false, false).map(|_| format!("{} counts", event.name()));
    let remedy = if event.is_hardware() {
        "bare metal, or a virtual machine with a virtual PMU; and kernel.perf_event_paranoid ≤ 1"
    } else {
        "root, CAP_PERFMON, or sysctl kernel.perf_event_paranoid=1"
    };
    Channel { name, serves, found: tried(found, remedy) }
}

/// Returns a setting, a container's filter or a security module may forbid it, so it is tried.
fn ptrace() -> Result<String, Missing> {
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
