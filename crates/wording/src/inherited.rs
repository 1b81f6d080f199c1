//! What a session inherits from its parent, in words.

use std::collections::BTreeMap;

/// Each state by the name under which a session records it: what it does, with the recorded value in
/// the place of `{}`, and what to do.
const STATES: [(&str, &str, &str); 11] = [
    (
        "tracer",
        "another program ({}) traces this session and stops it at each system call, signal or start of \
         a process",
        "run without the tracer",
    ),
    (
        "seccomp",
        "each system call passes seccomp ({}), which makes it slower than outside of it",
        "run outside of the container or service that sets it (podman run --security-opt \
         seccomp=unconfined)",
    ),
    (
        "nice",
        "programs run with niceness {}, so that others get the CPUs first or last",
        "run without nice, or with the right to raise it again (CAP_SYS_NICE)",
    ),
    (
        "scheduling_policy",
        "programs run with the scheduling policy {}",
        "run without chrt, or by chrt --other 0",
    ),
    (
        "timer_slack",
        "sleeps may end {} late",
        "start the session where nobody has set the timer slack (a service's TimerSlackNSec=)",
    ),
    ("personality", "programs run with the personality {}", "run without setarch"),
    (
        "thp_of_process",
        "transparent huge pages are switched {} for this session",
        "start it where nobody has called prctl(PR_SET_THP_DISABLE)",
    ),
    ("memory_policy", "memory is placed by the policy {}", "run without numactl"),
    ("io_priority", "programs have the I/O priority {}", "run without ionice"),
    (
        "speculation",
        "the processor speculates less in this session than in others: {}",
        "start it where nobody has called prctl(PR_SET_SPECULATION_CTRL)",
    ),
    (
        "variables",
        "programs start with variables that change how they run: {}",
        "start it without them, or set those that belong to the program in the study's `env`",
    ),
];

/// Reports whether a setting is inherited state that changes numbers.
pub fn is_inherited(name: &str) -> bool {
    STATES.iter().any(|(state, ..)| *state == name)
}

/// Returns the same as sentences.
pub fn conditions(settings: &BTreeMap<String, String>) -> impl Iterator<Item = String> {
    inherited(settings)
        .map(|(does, advice)| crate::capital(&format!("{does}. {}.", crate::capital(advice))))
}

/// Returns what recorded settings say of inherited state that changes numbers: what it does, and what to do.
pub fn inherited(
    settings: &BTreeMap<String, String>,
) -> impl Iterator<Item = (String, &'static str)> {
    STATES
        .into_iter()
        .filter_map(|(name, does, advice)| Some((does.replace("{}", settings.get(name)?), advice)))
}
