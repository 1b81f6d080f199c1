//! The ways of looking at this machine, each tried.

use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use sys::cgroup::{Cgroup, Nest, Plan};
use sys::perf::{Counter, Event};
use sys::tracer::StopCounter;

/// One way of looking at the machine.
pub(super) struct Channel {
    pub(super) name: &'static str,
    pub(super) text: Text,
    /// What was found when it was tried, or why it is not there.
    pub(super) found: Result<String, String>,
}

/// What `channels.toml` says of a channel.
#[derive(Default, Deserialize)]
pub(super) struct Text {
    /// What it is good for.
    pub(super) serves: String,
    /// The setting or permission that would bring it.
    pub(super) remedy: String,
}

impl Channel {
    pub(super) fn json(&self) -> Value {
        let Channel { name, text: Text { serves, remedy }, found } = self;
        match found {
            Ok(found) => json!({ "name": name, "serves": serves, "there": true, "found": found }),
            Err(why) => json!({
                "name": name, "serves": serves, "there": false, "why": why, "remedy": remedy,
            }),
        }
    }
}

/// Returns the channels, each with what was found or why it is not there.
pub(super) fn channels() -> Vec<Channel> {
    let pid = sys::process::pid();
    let found = [
        ("what sessions need", tried(sys::needed::check(), "this kernel and its filters allow it")),
        ("other system calls", other_calls()),
        ("topology", folder("/sys/devices/system/cpu")),
        ("clock", clock()),
        (
            "schedstat",
            file("/proc/self/schedstat", sys::proc::schedstat_process(pid))
                .map(|_| "per-thread CPU and queue time".into()),
        ),
        ("migrations", file("/proc/self/sched", sys::proc::migrations_thread())),
        ("memory (PSS, USS)", tried(sys::proc::memory(pid), "smaps_rollup")),
        ("I/O bytes", file("/proc/self/io", sys::proc::io(pid))),
        ("foreign CPU time", machine_cpu()),
        ("pressure (PSI)", file("/proc/pressure", sys::proc::pressure("cpu"))),
        ("cgroup cpu", cgroup("cpu")),
        ("cgroup memory", cgroup("memory")),
        ("niceness below 0", niceness()),
        ("software events", event(Event::ContextSwitches)),
        ("hardware counters", hardware()),
        ("ptrace", tried(ptrace(), "a child was traced")),
    ];
    let mut texts: BTreeMap<String, Text> = toml::from_str(include_str!("channels.toml"))
        .unwrap_or_else(|error| unreachable!("{error}"));
    found
        .into_iter()
        .map(|(name, found)| Channel { name, text: texts.remove(name).unwrap_or_default(), found })
        .collect()
}

/// Returns the name of a file that has what was looked for.
fn file<T>(name: &str, found: Option<T>) -> Result<String, String> {
    found.map(|_| name.to_string()).ok_or_else(|| format!("{name} is not there"))
}

fn other_calls() -> Result<String, String> {
    match &sys::needed::refused_in_part()[..] {
        [] => Ok("all that some treatments need".into()),
        refused => Err(format!("refused: {}", refused.join(", "))),
    }
}

/// Returns the path of a folder that has what was looked for.
fn folder(path: &str) -> Result<String, String> {
    let there = std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
    if there { Ok(path.to_string()) } else { Err(format!("{path} is not there, or empty")) }
}

/// Returns what is said of something that worked.
fn tried<T>(found: sys::Result<T>, said: &str) -> Result<String, String> {
    found.map(|_| said.to_string()).map_err(|error| error.to_string())
}

fn clock() -> Result<String, String> {
    let Some(source) = sys::topology::clocksource() else {
        return Err("the clock source is unknown: /sys does not name it".into());
    };
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

/// Returns the counters of the processor that count here: an emulated one may have some.
fn hardware() -> Result<String, String> {
    let counts = |event: &Event| Counter::open(*event, false, false).is_ok();
    let events = [Event::Instructions, Event::Cycles, Event::CacheMisses, Event::BranchMisses];
    match events.into_iter().filter(counts).map(Event::name).collect::<Vec<_>>()[..] {
        [] => event(Event::Instructions),
        [one] => Ok(format!("{one} alone counts")),
        ref several => Ok(format!("{} count", several.join(", "))),
    }
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
