//! How long a large session takes to be rendered, how much memory, and how large the page becomes.
//!
//! `cargo bench -p report --bench render [-- TRIALS [FILE]]` grows the recorded session to so many
//! trials (100,000 if not told) with the treatments of the profile `standard`, prints what each
//! step took, and writes the page to FILE. It asserts nothing: a time is no test.

#![expect(clippy::unwrap_used, reason = "a benchmark should stop where it fails")]

#[path = "../tests/it/fixture/owned.rs"]
mod fixture;
#[path = "../tests/it/grown/mod.rs"]
mod grown;
#[path = "../tests/it/recorded/mod.rs"]
mod recorded;

use model::Profile;
use report::Session;
use std::time::Instant;

const TRIALS: usize = 100_000;

fn main() {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let trials = words.first().map_or(TRIALS, |word| word.parse().unwrap());
    let fixture = grown::session(Profile::Standard, trials, usize::MAX);
    println!("{} trials in memory, peak {} MiB", fixture.records.len(), peak_mib());

    let start = Instant::now();
    let summary = recorded::summary(&fixture.manifest, &fixture.records);
    println!("analysed in {:.2} s, peak {} MiB", start.elapsed().as_secs_f64(), peak_mib());

    let session =
        Session { manifest: &fixture.manifest, records: &fixture.records, summary: &summary };
    let start = Instant::now();
    let page = report::html(&session);
    println!(
        "report.html: {} bytes in {:.2} s, peak {} MiB",
        page.len(),
        start.elapsed().as_secs_f64(),
        peak_mib()
    );
    let start = Instant::now();
    let claims = report::claims_html(&session);
    println!("claims.html: {} bytes in {:.2} s", claims.len(), start.elapsed().as_secs_f64());
    if let Some(file) = words.get(1) {
        std::fs::write(file, page).unwrap();
    }
}

/// The most memory this process has held so far, in MiB.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}
