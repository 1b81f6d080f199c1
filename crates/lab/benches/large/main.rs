//! A large session through the command line: how long `scruple report SESSION` takes to read,
//! analyse and draw it, and how much memory.
//!
//! `cargo bench -p lab --bench large [-- TRIALS [FOLDER]]` grows the recorded session to so many
//! trials (100,000 if not told) with the treatments of the profile `standard`, in FOLDER (a
//! temporary one if not told), and lets the built product report it three times. It asserts
//! nothing: a time is no test.

#![expect(clippy::unwrap_used, reason = "a benchmark should stop where it fails")]

#[path = "../../../report/tests/it/fixture/owned.rs"]
mod fixture;
#[path = "../../../report/tests/it/grown/mod.rs"]
mod grown;
#[path = "../../../report/tests/it/recorded/mod.rs"]
mod recorded;

use model::Profile;
use nix::sys::resource::{UsageWho, getrusage};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const TRIALS: usize = 100_000;

/// How often the session is reported: the first time its pages may not be in the cache.
const TIMES: usize = 3;

/// The process that makes the session, and the one that waits for one report, are processes of
/// their own: a process counts as its peak what the process that started it held, and as its
/// children's peak that of the largest.
const GROW: &str = "grow";
const MEASURE: &str = "measure";

fn main() {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [GROW, trials, folder] => grow(trials.parse().unwrap(), Path::new(folder)),
        [MEASURE, folder] => measure(Path::new(folder)),
        // `cargo test --benches` says nothing of a benchmark.
        _ if !std::env::args().any(|word| word == "--bench") => println!("a benchmark, not a test"),
        _ => all(&words),
    }
}

fn all(words: &[&str]) {
    let trials = words.first().map_or(TRIALS, |word| word.parse().unwrap());
    let temporary = tempfile::tempdir().unwrap();
    let folder = words.get(1).map_or(temporary.path(), Path::new);
    let again = |words: &[&str]| {
        let own = std::env::current_exe().unwrap();
        assert!(Command::new(own).args(words).arg(folder).status().unwrap().success());
    };
    again(&[GROW, &trials.to_string()]);
    (0..TIMES).for_each(|_| again(&[MEASURE]));
}

fn grow(trials: usize, folder: &Path) {
    let fixture = grown::session(Profile::Standard, trials, usize::MAX);
    std::fs::create_dir_all(folder).unwrap();
    let manifest = serde_json::to_vec_pretty(&fixture.manifest).unwrap();
    std::fs::write(folder.join(store::MANIFEST_FILE), manifest).unwrap();
    let path = folder.join(store::TRIALS_FILE);
    let mut file = BufWriter::new(std::fs::File::create(&path).unwrap());
    for record in &fixture.records {
        serde_json::to_writer(&mut file, record).unwrap();
        file.write_all(b"\n").unwrap();
    }
    file.flush().unwrap();
    let mb = path.metadata().unwrap().len() as f64 / 1e6;
    println!("{} trials in {mb:.0} MB", fixture.records.len());
}

fn measure(folder: &Path) {
    let start = Instant::now();
    let product = env!("CARGO_BIN_EXE_scruple");
    let status = Command::new(product).arg("report").arg(folder).stdout(Stdio::null()).status();
    let wall_s = start.elapsed().as_secs_f64();
    assert!(status.unwrap().success());
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let seconds =
        |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    let cpu_s = seconds(usage.user_time()) + seconds(usage.system_time());
    // The kernel counts in KiB.
    let peak_mb = usage.max_rss() as f64 * 1024.0 / 1e6;
    println!("scruple report: {wall_s:.2} s ({cpu_s:.2} s of CPU), peak {peak_mb:.0} MB");
}
