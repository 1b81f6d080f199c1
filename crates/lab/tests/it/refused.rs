//! System calls that a container's filter refuses or an old kernel lacks: one clear error with what would
//! help, or a session in which the treatments that need the call are unsupported.

use crate::support::*;
use std::process::{Command, Output};
use sys::filter::Filter;

const EPERM: i32 = 1;
const ENOSYS: i32 = 38;

/// Calls that every session needs.
const NEEDED: [&str; 10] = [
    "chdir",
    "clock_nanosleep",
    "eventfd2",
    "kill",
    "pidfd_open",
    "prctl",
    "recvfrom",
    "sched_getaffinity",
    "sendto",
    "unlinkat",
];

/// Calls that some treatments need, or that only tell more. Not clone3: glibc starts nothing where that is
/// refused with EPERM.
const OPTIONAL: [&str; 6] = [
    "memfd_create",
    "perf_event_open",
    "ptrace",
    "sched_setscheduler",
    "signalfd4",
    "timerfd_create",
];

/// The calls to try: `SCRUPLE_REFUSE` names others, for a look at every call that scruple makes.
fn calls(usual: &[&str]) -> Vec<String> {
    let asked = std::env::var("SCRUPLE_REFUSE").unwrap_or_else(|_| usual.join(" "));
    asked.split_whitespace().map(str::to_string).collect()
}

/// Runs scruple where calls are refused. Whatever it does, it does not panic, and leaves nothing.
fn under(filter: Filter<'_>, words: &str, more: &[&str]) -> Output {
    let mut command = Command::new(binary());
    command.args(words.split_whitespace()).args(more);
    filter.arrange(&mut command).unwrap();
    let output = command.output().unwrap();
    let text = said(&output);
    assert!(!text.contains("panicked"), "{filter:?} {words}: {text}");
    eventually("no trial is left", || processes_with("__trial").is_empty());
    output
}

/// What the trials of a session say that did not complete: their kinds and reasons.
fn refusals(dir: &str) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(format!("{dir}/trials.ndjson")).unwrap_or_default();
    let records = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let outcomes = records.map(|record| record["outcome"].clone());
    let said = outcomes.filter(|outcome| outcome["kind"] != "completed");
    let word = |outcome: &serde_json::Value, key: &str| {
        outcome[key].as_str().unwrap_or_default().to_string()
    };
    said.map(|outcome| (word(&outcome, "kind"), word(&outcome, "reason"))).collect()
}

#[test]
fn a_call_that_every_session_needs_is_named_with_what_would_allow_it() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    for call in calls(&NEEDED) {
        for errno in [EPERM, ENOSYS] {
            let filter = Filter { calls: &[&call], newest: None, errno };
            let run = under(filter, "run null --profile smoke --output", &[dir.to_str().unwrap()]);
            assert_eq!(run.status.code(), Some(2), "{call}: {}", said(&run));
            assert!(!dir.exists(), "{call}: a session was begun");
            let doctor = under(filter, "doctor --no-measure", &[]);
            assert!(doctor.status.success(), "{call}: {}", said(&doctor));
            for output in [run, doctor] {
                let text = said(&output).split_whitespace().collect::<Vec<_>>().join(" ");
                let name = call.trim_end_matches('2');
                for part in [name, "scruple needs it to", "--security-opt seccomp=unconfined"] {
                    assert!(text.contains(part), "{call}, {part}: {text}");
                }
            }
        }
    }
}

#[test]
fn a_filter_that_kills_is_named_before_it_does() {
    let _alone = alone();
    for call in ["perf_event_open", "ptrace", "personality", "sched_setscheduler"] {
        let filter = Filter { calls: &[call], newest: None, errno: sys::filter::KILL };
        for words in ["run null --profile smoke", "doctor --no-measure"] {
            let output = under(filter, words, &[]);
            assert_eq!(output.status.code(), Some(2), "{call}: {}", said(&output));
            let text = said(&output).split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(&format!("kills a process that calls {call}")), "{call}: {text}");
        }
        let reads = under(filter, "list", &[]);
        assert!(reads.status.success(), "{call}: {}", said(&reads));
    }
}

#[test]
fn what_a_filter_refuses_is_unsupported_and_no_trial_fails() {
    let _alone = alone();
    let calls = calls(&OPTIONAL);
    let calls: Vec<&str> = calls.iter().map(String::as_str).collect();
    for errno in [EPERM, ENOSYS] {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("session").to_string_lossy().into_owned();
        let filter = Filter { calls: &calls, newest: None, errno };
        let words = "run create reentrancy signals wake --profile smoke --runs 1 --output";
        let output = under(filter, words, &[&dir]);
        assert!(output.status.success(), "{}", said(&output));
        let refusals = refusals(&dir);
        assert!(!refusals.is_empty(), "{}", said(&output));
        for (kind, reason) in refusals {
            assert_eq!(kind, "unsupported", "{reason}");
        }
    }
}

#[test]
fn the_calls_of_the_oldest_kernel_suffice() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session").to_string_lossy().into_owned();
    // The last call of Linux 5.3.
    let filter = Filter { calls: &[], newest: Some("clone3"), errno: ENOSYS };
    let words = "run create reentrancy signals wake --profile smoke --runs 1 --output";
    let output = under(filter, words, &[&dir]);
    assert!(output.status.success(), "{}", said(&output));
    for (kind, reason) in refusals(&dir) {
        assert_eq!(kind, "unsupported", "{reason}");
    }
}
