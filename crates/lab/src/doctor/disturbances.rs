//! What about this machine moves numbers.

use super::prediction::Prediction;
use model::{Environment, Unit};
use serde::Serialize;

/// Something about this machine that moves numbers.
#[derive(Serialize)]
pub(super) struct Disturbance {
    pub(super) what: String,
    pub(super) advice: &'static str,
}

/// The limits that a session inherits, by the name under which they are recorded, and what they keep
/// from it.
const INHERITED: [(&str, &str, &str); 7] = [
    ("limit_memory_cgroup", "a memory cgroup limits this session", LARGER),
    ("limit_address_space", "RLIMIT_AS (ulimit -v) limits each process", LARGER),
    ("limit_data", "RLIMIT_DATA (ulimit -d) limits each process", LARGER),
    ("limit_tasks_cgroup", "a cgroup (pids.max) limits this session", LARGER),
    ("limit_tasks_user", "RLIMIT_NPROC (ulimit -u) limits this user", LARGER),
    (
        "limit_cpu_time",
        "RLIMIT_CPU (ulimit -t) limits each process",
        "the kernel ends a longer session",
    ),
    ("limit_file_size", "RLIMIT_FSIZE (ulimit -f) limits each file", "a longer session ends there"),
];

const LARGER: &str = "larger treatments are unsupported";

/// Reports whether a limit keeps anything from a session: no treatment starts that number of tasks.
fn limits(name: &str, limit: &str) -> bool {
    const TASKS_ENOUGH: u64 = 4096;
    let tasks = limit.strip_suffix(" tasks").and_then(|tasks| tasks.parse().ok());
    !name.starts_with("limit_tasks") || tasks.is_none_or(|tasks: u64| tasks < TASKS_ENOUGH)
}

/// Returns what was noticed, from what the machine says of itself and from what was measured, if anything
/// was.
pub(super) fn disturbances(
    environment: &Environment,
    measured: Option<&Prediction>,
) -> Vec<Disturbance> {
    let mut found = Vec::new();
    let mut note = |what: String, advice| found.push(Disturbance { what, advice });
    if environment.build == "debug" {
        note(
            "this is a debug build of scruple: loops and trials are slower than they should be"
                .into(),
            "use cargo run --release",
        );
    }
    if environment.cpus_allowed.len() < 2 {
        note(
            "one CPU only: what needs two at the same time is unsupported".into(),
            "allow more CPUs (taskset, cgroup cpuset)",
        );
    }
    if let Some(quota) = environment.settings.get("cpu_quota") {
        note(
            format!("a cgroup limits this process to {quota}: work is cut off in slices"),
            "run outside of the quota, or trust only CPU times",
        );
    }
    for (name, what, so) in INHERITED {
        if let Some(limit) = environment.settings.get(name).filter(|limit| limits(name, limit)) {
            note(format!("{what} to {limit}: {so}"), "run outside of the limit");
        }
    }
    wording::inherited(&environment.settings).for_each(|(what, advice)| note(what, advice));
    for neighbour in &environment.neighbours {
        note(
            format!("{} uses {:.0} % of a CPU", neighbour.name, neighbour.cpu_share * 100.0),
            "stop it, or trust CPU times rather than wall times",
        );
    }
    let (cpus, topology) = (&environment.cpus_allowed, &environment.topology);
    if let Some(cores) = topology.cores_of(cpus).filter(|cores| *cores < cpus.len()) {
        note(
            format!("CPUs {} are hardware threads of {cores} core(s)", wording::cpus::list(cpus)),
            match cores {
                1 => "nothing here: experiments with two CPUs measure one core, and say so",
                _ => {
                    "one CPU of each core by --affinity; experiments with two CPUs do so by themselves"
                }
            },
        );
    }
    match environment.settings.get("governor").map(String::as_str) {
        Some("performance") | None => {}
        Some(governor) => note(
            format!("frequency governor {governor}: the clock follows the load"),
            "cpupower frequency-set -g performance",
        ),
    }
    if environment.settings.get("autogroup").is_some_and(|is| is == "1") {
        note(
            "autogroup is on: outside of a cgroup of its own, niceness counts only among the \
             processes of this login session"
                .into(),
            "rights for a CPU cgroup (above), or sysctl kernel.sched_autogroup_enabled=0",
        );
    }
    if let Some(what) = stolen(environment, measured) {
        note(what, "more blocks, at another time; watch the A/A control");
    }
    found
}

/// Returns what the hypervisor took. Where there is one it is said even if it took nothing: steal is all
/// that can be seen of the neighbours on the host.
fn stolen(environment: &Environment, measured: Option<&Prediction>) -> Option<String> {
    let since_boot = sys::proc::machine_cpu().and_then(|cpu| {
        let wanted = cpu.busy_ns.checked_add(cpu.steal_ns).filter(|wanted| *wanted > 0)?;
        Some(cpu.steal_ns as f64 / wanted as f64)
    });
    let now = measured.and_then(|prediction| prediction.steal_share);
    let share = |share: f64| wording::number::value(1e6 * share, &Unit::Ppm);
    let now_said = now.map(|now| format!("{} of one CPU while scruple measured", share(now)));
    let since =
        since_boot.map(|it| format!("{} of the CPU time wanted since the start", share(it)));
    let steal: Vec<String> = now_said.into_iter().chain(since).collect();
    let steal = if steal.is_empty() { "steal is unknown".into() } else { steal.join(", ") };
    if !environment.hypervisor.is_empty() {
        return Some(format!(
            "a virtual machine ({}): neighbours on the host are seen only in the time they steal: \
             {steal}",
            environment.hypervisor
        ));
    }
    let any = now.or(since_boot).is_some_and(|share| share > 0.0);
    any.then(|| format!("somebody steals CPU time from this machine: {steal}"))
}
