//! Which resource is named of programs that live on a known one: `cargo bench -p lab --bench why`.
//!
//! Each planted program is this binary again, asked by its first argument. So many sessions of each
//! are conducted as a user would (`scruple why --json`), and what they named is printed as a table
//! of planted against named. docs/notes/why.md holds such a table.
//!
//! `-- K` conducts K sessions each (3 unless told otherwise), `-- K BLOCKS` with so many blocks; a
//! program's name conducts those of it alone.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and may stop")]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// What makes this binary a planted program.
const PLANTED: &str = "__planted";

/// A planted program, and what may be named of it.
const PROGRAMS: [(&str, fn(), &str); 5] = [
    ("cpu", compute, "cpu"),
    ("memory", stream, "memory"),
    ("storage", sync, "storage"),
    ("timer", sleep, "timer"),
    ("queue", ping_pong, "queue"),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|arg| arg == PLANTED) {
        return match PROGRAMS.iter().find(|(name, ..)| args.get(1).is_some_and(|arg| arg == name)) {
            Some((_, program, _)) => {
                program();
                ExitCode::SUCCESS
            }
            None => ExitCode::FAILURE,
        };
    }
    let numbers: Vec<u32> = args.iter().filter_map(|arg| arg.parse().ok()).collect();
    let (sessions, blocks) = (numbers.first().unwrap_or(&3), numbers.get(1).unwrap_or(&6));
    let own = std::env::current_exe().unwrap();
    let all = !PROGRAMS.iter().any(|(name, ..)| args.iter().any(|arg| arg == name));
    for (name, _, expected) in PROGRAMS {
        if !all && !args.iter().any(|arg| arg == name) {
            continue;
        }
        let mut named: BTreeMap<String, u32> = BTreeMap::new();
        for seed in 0..*sessions {
            let told = session(&own, name, *blocks, seed);
            *named.entry(told).or_default() += 1;
        }
        let right = named.get(expected).unwrap_or(&0);
        println!("{name:8} named right in {right} of {sessions}: {named:?}");
    }
    ExitCode::SUCCESS
}

/// Conducts one session, and returns what it named.
fn session(own: &std::path::Path, name: &str, blocks: u32, seed: u32) -> String {
    let folder = std::env::temp_dir().join(format!("scruple-why-{}", std::process::id()));
    let output = Command::new(env!("CARGO_BIN_EXE_scruple"))
        .args(["why", "--json", "--runs", &blocks.to_string(), "--seed", &seed.to_string()])
        .arg("--output")
        .arg(&folder)
        .arg("--")
        .arg(own)
        .args([PLANTED, name])
        .output()
        .unwrap();
    let _ = std::fs::remove_dir_all(&folder);
    let Ok(told) = serde_json::from_slice::<serde_json::Value>(&output.stdout) else {
        return format!("no answer: {}", String::from_utf8_lossy(&output.stderr).trim());
    };
    for squeeze in told["squeezes"].as_array().into_iter().flatten() {
        let e = &squeeze["elasticity"];
        println!(
            "  {name} {seed}: {} {:.2} [{:.2}, {:.2}]{}",
            squeeze["resource"].as_str().unwrap_or_default(),
            e["point"].as_f64().unwrap_or(f64::NAN),
            e["low"].as_f64().unwrap_or(f64::NAN),
            e["high"].as_f64().unwrap_or(f64::NAN),
            if squeeze["stands"] == true { " stands" } else { "" }
        );
    }
    told["named"].as_str().unwrap_or("none").into()
}

/// Arithmetic in registers.
fn compute() {
    let mut state = 1_u64;
    for _ in 0..300_000_000_u64 {
        state = std::hint::black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
}

/// Sums over a buffer far beyond every cache.
fn stream() {
    let buffer: Vec<u64> = (0..24_u64 << 20).collect();
    for _ in 0..16 {
        std::hint::black_box(buffer.iter().fold(0_u64, |sum, word| sum.wrapping_add(*word)));
    }
}

/// Small writes, each awaited.
fn sync() {
    let path = std::path::Path::new("planted");
    let mut file = std::fs::File::create(path).unwrap();
    let until = 150;
    for _ in 0..until {
        file.write_all(&[7; 4096]).unwrap();
        file.sync_data().unwrap();
    }
    std::fs::remove_file(path).unwrap();
}

/// Short sleeps.
fn sleep() {
    let began = Instant::now();
    for _ in 0..300 {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::hint::black_box(began.elapsed());
}

/// Two threads that wake each other in turn through pipes.
fn ping_pong() {
    let (mut from, mut to_us) = std::io::pipe().unwrap();
    let (mut from_us, mut to) = std::io::pipe().unwrap();
    let other = std::thread::spawn(move || {
        let mut byte = [0];
        while from_us.read_exact(&mut byte).is_ok() && to_us.write_all(&byte).is_ok() {}
    });
    let mut byte = [1];
    for _ in 0..60_000 {
        to.write_all(&byte).unwrap();
        from.read_exact(&mut byte).unwrap();
    }
    drop(to);
    drop(from);
    let _ = other.join();
}
