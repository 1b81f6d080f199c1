//! One program, conducted once by a runner of its own.

use libtest_mimic::{Failed, Trial as Test};
use model::{Card, Cell, Design, Factor, Level, Outcome, Profile, Record, Response, Subject, Unit};
use runner::{Order, Runner, Settings};
use std::path::{Path, PathBuf};

/// Long enough for a slow machine.
pub(crate) const TIME_LIMIT_MS: u64 = 60_000;

/// A program by its words.
pub(crate) fn program(words: &[&str]) -> Subject {
    Subject {
        command: words.iter().map(|word| word.to_string()).collect(),
        linger_ms: 10_000,
        ..Subject::default()
    }
}

/// A program that is a script of the shell's.
pub(crate) fn script(text: &str) -> Subject {
    Subject { shell: true, ..program(&[text]) }
}

/// A design with a subject and one factor `n`, which is 3.
pub(crate) fn design(subject: Subject) -> Design {
    let mut responses = study::measured().expect("responses");
    for metric in &subject.metrics {
        let card = Card::default();
        responses.push(Response::new(&metric.response, "picked", Unit::Count, card));
    }
    Design {
        id: "programs".into(),
        factors: vec![Factor {
            name: "n".into(),
            about: "how many".into(),
            levels: vec![Level::new("3", "n is 3")],
            baseline: "3".into(),
            ..Factor::default()
        }],
        responses,
        time_limit_ms: TIME_LIMIT_MS,
        subject: Some(subject),
        ..Design::default()
    }
}

/// The settings of a runner without a shield.
pub(crate) fn settings(folder: &Path) -> Settings {
    Settings {
        seed: 1,
        profile: Profile::Smoke,
        cpus: sys::affinity::allowed().expect("affinity"),
        topology: kit::topology(),
        memory_bytes: 1 << 30,
        disk_bytes: 1 << 30,
        scratch: folder.join("scratch"),
        shield: false,
    }
}

/// Conducts a design once, and sees that nothing is left of it.
pub(crate) fn conduct(design: &Design) -> Record {
    let folder = tempfile::tempdir().expect("a folder");
    let treatment = design.complete(&Cell::new([]));
    let order =
        Order { design, treatment: &treatment, trial: 0, block: 0, position: 0, until: None };
    let record = {
        let mut runner = Runner::start(settings(folder.path())).expect("a runner");
        let record = runner.conduct(&order).expect("the runner goes on").expect("no interrupt");
        assert_eq!(files(&runner.settings().scratch), Vec::<PathBuf>::new(), "files are left");
        record
    };
    let left = sys::process::descendants(sys::process::pid(), &[]);
    assert!(left.is_empty(), "processes are left: {left:?}");
    record
}

/// Conducts a program once.
pub(crate) fn outcome(subject: Subject) -> Outcome {
    conduct(&design(subject)).outcome
}

/// Conducts a program that ends well.
pub(crate) fn measured(subject: Subject) -> Record {
    let record = conduct(&design(subject));
    assert_eq!(record.outcome, Outcome::Completed { leaked: 0 }, "{}", record.log);
    record
}

/// Why a program failed.
pub(crate) fn failed(subject: Subject) -> String {
    match outcome(subject) {
        Outcome::Failed { reason } => reason,
        other => panic!("{other:?}"),
    }
}

/// The one observation of a response; `None` where there is none.
pub(crate) fn seen(record: &Record, response: &str) -> Option<i64> {
    let series = &record.measured.as_ref().expect("a measurement").series;
    let mut found = series.iter().filter(|series| series.response == response);
    let value = found.next().map(|series| series.values[0]);
    assert!(found.next().is_none(), "{response} twice");
    value
}

/// The one observation of a response that must be there.
pub(crate) fn value(record: &Record, response: &str) -> i64 {
    seen(record, response).unwrap_or_else(|| panic!("no {response}: {:?}", record.observed))
}

/// What was observed.
pub(crate) fn observed<'a>(record: &'a Record, name: &str) -> &'a str {
    record.observed.get(name).map_or("", |found| found.as_str())
}

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default()
}

/// A test that panics where it fails.
pub(crate) fn test(name: &str, run: fn()) -> Test {
    Test::test(name, move || {
        run();
        Ok::<(), Failed>(())
    })
}
