//! Limits on a program, and what is looked at.

use crate::bench::{measured, observed, outcome, program, script, seen, test, value};
use crate::student::Programs;
use libtest_mimic::Trial as Test;
use model::measures as responses;
use model::{Outcome, Subject, SubjectLimits};

pub(crate) fn tests() -> Vec<Test> {
    vec![
        test("address_space_is_limited", address_space_is_limited),
        test("memory_is_limited_or_unsupported", memory_is_limited_or_unsupported),
        test("cpu_time_is_limited_or_unsupported", cpu_time_is_limited_or_unsupported),
        test("cpus_that_there_are_not", cpus_that_there_are_not),
        test("what_was_not_looked_at_is_not_recorded", what_was_not_looked_at_is_not_recorded),
        test("every_response_has_its_card", every_response_has_its_card),
    ]
}

fn limited(limits: SubjectLimits, subject: Subject) -> Subject {
    Subject { limits, ..subject }
}

fn address_space_is_limited() {
    let limits = || SubjectLimits { address_space_bytes: "100000000".into(), ..Default::default() };
    measured(limited(limits(), script("test $(ulimit -v) = $((100000000 / 1024))")));
    let programs = Programs::with(&["-DMB=200"]);
    let fails = limited(limits(), programs.subject("fork", &["mem", "1"]));
    assert!(
        matches!(outcome(fails), Outcome::Failed { reason } if reason.contains("Cannot allocate"))
    );
}

/// Whether a limit was refused as it should be: with what would change it.
fn is_refused(outcome: &Outcome) -> bool {
    let help = "systemd-run --user --scope";
    let refused = matches!(outcome, Outcome::Unsupported { reason } if reason.contains(help));
    if refused {
        println!("skipped: no cgroup can be made here");
    }
    refused
}

fn memory_is_limited_or_unsupported() {
    let limits = SubjectLimits { memory_bytes: "60000000".into(), ..Default::default() };
    let programs = Programs::with(&["-DMB=40"]);
    let fits = outcome(limited(limits.clone(), programs.subject("fork", &["mem", "1"])));
    if is_refused(&fits) {
        return;
    }
    assert_eq!(fits, Outcome::Completed { leaked: 0 });
    let beyond = outcome(limited(limits, programs.subject("pthread", &["mem", "2"])));
    let expected = "went beyond its limit of 60000000 bytes of memory";
    assert!(
        matches!(&beyond, Outcome::Failed { reason } if reason.contains(expected)),
        "{beyond:?}"
    );
}

fn cpu_time_is_limited_or_unsupported() {
    let limits = SubjectLimits { cpus_quota: "0.2".into(), ..Default::default() };
    let programs = Programs::with(&[]);
    let subject = limited(limits, programs.subject("burn", &["200"]));
    if is_refused(&outcome(subject.clone())) {
        return;
    }
    let record = measured(subject);
    assert_eq!(observed(&record, "cpus_quota"), "0.2");
    // It may use up a period's share at both ends.
    assert!(value(&record, responses::CPU_SHARE) <= 230_000);
}

fn cpus_that_there_are_not() {
    let refused = outcome(Subject { cpus: "4000".into(), ..program(&["true"]) });
    let expected = "sched_setaffinity(CPU 4000): Invalid argument";
    assert!(
        matches!(&refused, Outcome::Unsupported { reason } if reason.starts_with(expected)),
        "{refused:?}"
    );
    let last = sys::affinity::allowed().expect("affinity").pop().expect("a CPU");
    let subject = script(&format!("test \"$(taskset -pc $$ | sed 's/.*: //')\" = {last}"));
    measured(Subject { cpus: last.to_string(), ..subject });
}

fn what_was_not_looked_at_is_not_recorded() {
    let subject = Subject { look_every_ms: Some(0), ..script("sleep 0.3 & sleep 0.3; wait") };
    let record = measured(subject);
    for response in [responses::PEAK_PSS, responses::PROCESSES, responses::THREADS] {
        assert_eq!(seen(&record, response), None, "{response}");
    }
    assert!(value(&record, responses::CPU) > 0);
    let every = Subject { look_every_ms: Some(20), ..program(&["sleep", "0.5"]) };
    let record = measured(every);
    let looks: u32 = observed(&record, "looks").parse().expect("a number");
    assert!((1..=25).contains(&looks), "{looks}");
    assert!(value(&record, responses::PEAK_PSS) > 0);
}

/// What a trial records is declared, and what is declared is recorded wherever it can be known.
fn every_response_has_its_card() {
    let programs = Programs::with(&[]);
    let subject = Subject { workers: "1".into(), ..programs.subject("burn", &["1500"]) };
    let record = measured(subject);
    let declared = study::measured().expect("responses");
    let declared: Vec<&str> = declared.iter().map(|response| response.name.as_str()).collect();
    let series = record.measured.expect("a measurement").series;
    let recorded: Vec<&str> = series.iter().map(|series| series.response.as_str()).collect();
    assert!(recorded.iter().all(|name| declared.contains(name)), "{recorded:?}");
    let missing: Vec<_> = declared.iter().filter(|name| !recorded.contains(name)).collect();
    // Nothing is throttled without a quota, and a machine that lets nobody make cgroups knows no
    // peak of one.
    let excused = [responses::THROTTLED, responses::PEAK_CGROUP];
    assert!(missing.iter().all(|name| excused.contains(name)), "{missing:?}");
}
