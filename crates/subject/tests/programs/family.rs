//! What comes of a program: its children, and what outlives it.

use crate::bench::{conduct, design, measured, observed, outcome, program, script, test, value};
use crate::student::{Programs, tell, within};
use libtest_mimic::Trial as Test;
use model::measures as responses;
use model::{Design, Outcome, Phase, Subject, WaitKind};

pub(crate) fn tests() -> Vec<Test> {
    vec![
        test("shared_memory_is_counted_once", shared_memory_is_counted_once),
        test("sleeping_children_are_counted", sleeping_children_are_counted),
        test("a_lock_in_memory_that_processes_share", a_lock_in_memory_that_processes_share),
        test("a_child_that_outlives_it_is_counted", a_child_that_outlives_it_is_counted),
        test("a_daemon_that_never_ends_is_killed", a_daemon_that_never_ends_is_killed),
        test("a_server_of_the_prepare_commands", a_server_of_the_prepare_commands),
        test("what_takes_too_long_is_ended_with_all", what_takes_too_long_is_ended_with_all),
    ]
}

fn shared_memory_is_counted_once() {
    let programs = Programs::with(&[]);
    let record = measured(programs.subject("hold", &["100", "100", "3", "1500"]));
    tell("hold", &record);
    let megabytes = |response: &str| value(&record, response) / (1 << 20);
    // 100 shared by four, and three of 100 each; resident in full, it is four times the first.
    let pss = megabytes(responses::PEAK_PSS);
    assert!(within(pss, 400, 0.03), "{pss}");
    let rss = megabytes(responses::PEAK_RSS);
    assert!(within(rss, 700, 0.03), "{rss}");
    if let Some(charged) = crate::bench::seen(&record, responses::PEAK_CGROUP) {
        assert!(within(charged >> 20, 400, 0.05), "{charged}");
    }
    assert_eq!(value(&record, responses::PROCESSES), 4);
    assert_eq!(value(&record, responses::THREADS), 4);
    let walked = 100 << 8;
    assert!(value(&record, responses::MINOR_FAULTS) >= 4 * walked);
}

fn sleeping_children_are_counted() {
    let record = measured(script("for i in 1 2 3 4 5; do sleep 2 & done; wait"));
    assert_eq!(value(&record, responses::PROCESSES), 6);
    assert!(value(&record, responses::WALL) >= 2_000_000_000);
    assert!(value(&record, responses::VOLUNTARY) >= 5);
}

/// Such memory is mapped from /dev/zero, which is no program with symbols.
fn a_lock_in_memory_that_processes_share() {
    let record = measured(Programs::with(&[]).subject("robust", &[]));
    let waits = record.measured.expect("a measured trial").waits.expect("looks at its threads");
    let lock = waits.waits.iter().find(|wait| wait.kind == WaitKind::Lock).expect("a lock");
    assert!(lock.holder.starts_with("robust"), "{lock:?}");
}

fn a_child_that_outlives_it_is_counted() {
    let programs = Programs::with(&[]);
    for words in [&["200"][..], &["200", "outlive"]] {
        let record = measured(programs.subject("burn", words));
        let cpu_ms = value(&record, responses::CPU) / 1_000_000;
        // By its own account it began when its process was forked, a moment earlier.
        assert!((190..250).contains(&cpu_ms), "{cpu_ms}");
        assert_eq!(observed(&record, "outlived"), (words.len() - 1).to_string());
        assert_eq!(observed(&record, "killed"), "0");
    }
}

fn a_daemon_that_never_ends_is_killed() {
    let daemon = script("(setsid sh -c 'trap \"\" TERM HUP INT; sleep 3600' &) ; sleep 0.2");
    let record = measured(Subject { linger_ms: 50, ..daemon });
    assert_eq!(observed(&record, "outlived"), "2");
    assert_eq!(observed(&record, "killed"), "2");
    let checks = &record.measured.as_ref().expect("a measurement").checks;
    let killed = checks.iter().find(|check| check.name == "processes killed after it");
    assert_eq!(killed.map(|check| check.seen), Some(2.0));
}

fn a_server_of_the_prepare_commands() {
    let server = ["sh", "-c", "(while :; do sleep 0.01; echo noise; echo noise >&2; done) &"];
    let prepare = vec![server.iter().map(|word| word.to_string()).collect()];
    let record = measured(Subject { prepare, ..program(&["sleep", "0.5"]) });
    assert_eq!(observed(&record, "outlived"), "0");
    assert_eq!(observed(&record, "stdout_bytes"), "0");
    assert_eq!(value(&record, responses::PROCESSES), 1);
}

fn what_takes_too_long_is_ended_with_all() {
    let given = tempfile::tempdir().expect("a folder");
    let cleaned = given.path().join("cleaned");
    let limited = |subject: Subject| Design { time_limit_ms: 1500, ..design(subject) };
    let cleanup = vec![vec!["touch".to_string(), cleaned.display().to_string()]];
    for text in [
        "sleep 3600",
        "trap '' TERM INT HUP; sleep 3600 & sleep 3600",
        "(setsid sh -c '(setsid sleep 3600 &) ; sleep 3600' &) ; sleep 3600",
        "again() { (setsid sh -c \"$1\" x \"$1\" &); }; \
         again 'trap \"\" TERM; sleep 0.02; (setsid sh -c \"$1\" x \"$1\" &)'; sleep 3600",
    ] {
        let record = conduct(&limited(Subject { cleanup: cleanup.clone(), ..script(text) }));
        assert_eq!(record.outcome, Outcome::TimedOut { phase: Phase::Measuring }, "{text}");
        assert!(cleaned.exists(), "cleaned up after {text}");
        std::fs::remove_file(&cleaned).expect("it was there");
    }
    let prepare = vec![vec!["sleep".to_string(), "3600".to_string()]];
    let record = conduct(&limited(Subject { prepare, ..program(&["true"]) }));
    assert_eq!(record.outcome, Outcome::TimedOut { phase: Phase::SettingUp });
    assert_eq!(outcome(program(&["true"])), Outcome::Completed { leaked: 0 });
}
