//! Programs of a student's kind, in C and unchanged: workers that compute, fill memory, or write.

use crate::bench::{measured, observed, program, script, test, value};
use kit::subject as responses;
use libtest_mimic::Trial as Test;
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

/// The two programs, compiled with these settings.
struct Programs {
    folder: tempfile::TempDir,
}

impl Programs {
    fn with(settings: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        for name in ["fork", "pthread"] {
            let status = Command::new("cc")
                .args(["-pthread", "-o"])
                .arg(folder.path().join(name))
                .arg(sources.join(name).with_extension("c"))
                .args(settings)
                .status()
                .expect("a C compiler: cargo xtask test installs one");
            assert!(status.success());
        }
        Programs { folder }
    }

    fn subject(&self, name: &str, kind: &str, workers: &str) -> Subject {
        let path = self.folder.path().join(name).display().to_string();
        Subject { workers: workers.into(), ..program(&[&path, kind, workers]) }
    }
}

/// Prints all that is recorded, for whoever reads along.
fn tell(name: &str, record: &Record) {
    let Some(measured) = &record.measured else { return };
    let seen: Vec<String> = measured
        .series
        .iter()
        .map(|series| format!("{} {}", series.response, series.values[0]))
        .collect();
    println!("{name}: {}; {:?}", seen.join(", "), record.observed);
}

fn within(seen: i64, expected: i64, part: f64) -> bool {
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
        let record = measured(programs.subject(name, "mem", "8"));
        tell(name, &record);
        let expected = 8 * each * 1024 * 1024;
        let pss = value(&record, responses::PEAK_PSS);
        assert!(within(pss, expected, 0.1), "{name}: {pss} of {expected}");
        let rss = value(&record, responses::PEAK_RSS);
        assert!(within(rss, expected, 0.1), "{name}: {rss} of {expected}");
        if let Some(charged) = crate::bench::seen(&record, responses::PEAK_CGROUP) {
            assert!(within(charged, expected, 0.1), "{name}: {charged} of {expected}");
        }
    }
}

fn files_are_written_to_the_byte() {
    let programs = Programs::with(&[]);
    for (name, word) in [("fork", "processes"), ("pthread", "threads")] {
        let record = measured(programs.subject(name, "io", "3"));
        let printed = format!("done: 3 {word}\n").len() as i64;
        assert_eq!(value(&record, responses::WRITTEN), 3 * 4096 * 1024 + printed, "{name}");
    }
    let record = measured(script("head -c 1000000 /dev/zero > a; cat a > b"));
    assert_eq!(value(&record, responses::WRITTEN), 2_000_000);
    assert!(value(&record, responses::READ) >= 2_000_000);
}

fn eight_workers_on_one_cpu() {
    let programs = Programs::with(&["-DROUNDS=20000000UL"]);
    for name in ["fork", "pthread"] {
        let subject = Subject { cpus: "one".into(), ..programs.subject(name, "cpu", "8") };
        let record = measured(subject);
        tell(name, &record);
        let last = sys::affinity::allowed().expect("affinity").pop().expect("a CPU");
        assert_eq!(observed(&record, "affinity"), last.to_string());
        assert!(value(&record, responses::CPU_SHARE) <= 1_020_000);
        // Seven of eight wait at any time, as long as all are there: the first to end leaves early.
        let wait = value(&record, responses::QUEUE_WAIT) as f64;
        let cpu = value(&record, responses::CPU) as f64;
        assert!(wait > 4.0 * cpu && wait < 8.0 * cpu.max(value(&record, responses::WALL) as f64));
        let parts = [responses::QUEUE_WAIT, responses::BLOCKED, responses::ABSENT];
        let sum: i64 = parts.iter().map(|part| value(&record, part)).sum();
        let whole = 8 * value(&record, responses::WALL);
        assert!(within(sum + cpu as i64, whole, 0.03), "{name}: {sum} + {cpu} of {whole}");
    }
}
