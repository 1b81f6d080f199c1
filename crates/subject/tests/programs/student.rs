//! Programs of a student's kind, in C and unchanged: workers that compute, fill memory, or write.

use crate::bench::{measured, observed, program, script, test, value};
use libtest_mimic::Trial as Test;
use model::measures as responses;
use model::{Record, Subject};
use std::path::Path;
use std::process::Command;

pub(crate) fn tests() -> Vec<Test> {
    vec![
        test("threads_and_processes_fill_the_same_memory", fill_memory),
        test("files_are_written_to_the_byte", files_are_written_to_the_byte),
        test("eight_workers_on_one_cpu", eight_workers_on_one_cpu),
    ]
}

/// The programs, compiled with these settings.
pub(crate) struct Programs {
    folder: tempfile::TempDir,
}

impl Programs {
    pub(crate) fn with(settings: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        for name in ["fork", "pthread", "hold", "burn", "robust"] {
            let status = Command::new("cc")
                .args(["-pthread", "-o"])
                .arg(folder.path().join(name))
                .arg(sources.join(name).with_extension("c"))
                .args(settings)
                .status()
                .expect("a C compiler: what links Rust is one");
            assert!(status.success());
        }
        Programs { folder }
    }

    /// A program with its arguments.
    pub(crate) fn subject(&self, name: &str, arguments: &[&str]) -> Subject {
        let path = self.folder.path().join(name).display().to_string();
        let mut subject = program(&[&path]);
        subject.command.extend(arguments.iter().map(|word| word.to_string()));
        subject
    }

    /// One of the two, which is told how many workers to use.
    fn workers(&self, name: &str, kind: &str, workers: &str) -> Subject {
        Subject { workers: workers.into(), ..self.subject(name, &[kind, workers]) }
    }
}

/// Prints all that is recorded, for whoever reads along.
pub(crate) fn tell(name: &str, record: &Record) {
    let Some(measured) = &record.measured else { return };
    let seen: Vec<String> = measured
        .series
        .iter()
        .map(|series| format!("{} {}", series.response, series.values[0]))
        .collect();
    println!("{name}: {}; {:?}", seen.join(", "), record.observed);
}

pub(crate) fn within(seen: i64, expected: i64, part: f64) -> bool {
    ((seen - expected) as f64).abs() <= part * expected as f64
}

/// How much each worker fills: eight of them must fit.
fn megabytes() -> i64 {
    let memory = sys::proc::meminfo().expect("meminfo");
    match memory.available_bytes {
        4_000_000_000.. => 220,
        _ => 40,
    }
}

fn fill_memory() {
    let each = megabytes();
    let programs = Programs::with(&[&format!("-DMB={each}")]);
    for name in ["fork", "pthread"] {
        let record = measured(programs.workers(name, "mem", "8"));
        tell(name, &record);
        let all = 8 * each * 1024 * 1024;
        let (pss, rss) = (value(&record, responses::PEAK_PSS), value(&record, responses::PEAK_RSS));
        assert!(pss <= rss && rss <= all + all / 20, "{name}: {pss}, {rss} of {all}");
        // Who is held up by a busy machine may begin when others have ended: what the kernel
        // charged to the group is what there was at once.
        if let Some(charged) = crate::bench::seen(&record, responses::PEAK_CGROUP) {
            assert!(within(pss, charged, 0.15), "{name}: {pss} of {charged}");
            assert!(within(rss, charged, 0.15), "{name}: {rss} of {charged}");
        }
    }
}

fn files_are_written_to_the_byte() {
    let programs = Programs::with(&[]);
    for (name, word) in [("fork", "processes"), ("pthread", "threads")] {
        let record = measured(programs.workers(name, "io", "3"));
        let printed = format!("done: 3 {word}\n").len() as i64;
        assert_eq!(value(&record, responses::WRITTEN), 3 * 4096 * 1024 + printed, "{name}");
    }
    // Not cat: it copies by copy_file_range, which the kernel counts twice on an overlay file system.
    let record = measured(script("head -c 1000000 /dev/zero > a; head -c 1000000 a > b"));
    assert_eq!(value(&record, responses::WRITTEN), 2_000_000);
    assert!(value(&record, responses::READ) >= 2_000_000);
}

/// What eight workers on one CPU do, for as long as it takes to see nearly all of it: on a machine
/// that others keep busy, a thread may do much between two looks.
fn eight_on_one_cpu(name: &str) -> Record {
    for rounds in [20, 40, 80, 160, 320] {
        let programs = Programs::with(&[&format!("-DROUNDS={rounds}000000UL")]);
        let subject = Subject { cpus: "one".into(), ..programs.workers(name, "cpu", "8") };
        let record = measured(subject);
        tell(name, &record);
        let share: f64 = observed(&record, "seen_cpu").parse().expect("a number");
        let is_told = crate::bench::seen(&record, responses::QUEUE_WAIT).is_some();
        assert!(is_told == (share >= 0.9) || share == 0.9, "{share}");
        if is_told {
            return record;
        }
    }
    panic!("{name}: too little of it is ever seen");
}

fn eight_workers_on_one_cpu() {
    for name in ["fork", "pthread"] {
        let record = eight_on_one_cpu(name);
        let last = sys::affinity::allowed().expect("affinity").pop().expect("a CPU");
        assert_eq!(observed(&record, "affinity"), last.to_string());
        assert!(value(&record, responses::CPU_SHARE) <= 1_020_000);
        // Seven of eight wait at any time, as long as all are there: the first to end leaves early.
        let wait = value(&record, responses::QUEUE_WAIT);
        let (cpu, wall) = (value(&record, responses::CPU), value(&record, responses::WALL));
        assert!(wait > 4 * cpu && wait < 8 * wall, "{name}: {wait} beside {cpu} of {wall}");
        let parts = [responses::QUEUE_WAIT, responses::BLOCKED, responses::ABSENT];
        let sum: i64 = parts.iter().map(|part| value(&record, part)).sum();
        assert!(within(sum + cpu, 8 * wall, 0.03), "{name}: {sum} + {cpu} of 8 * {wall}");
    }
}
