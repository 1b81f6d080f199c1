//! Prints how often the intervals of one load hold the truth, under times that depend on each other: the
//! table of docs/calibration.md.
//!
//! `cargo bench -p analysis --bench intervals -- [LOADS]` (1,000 unless given; some minutes).

#[path = "../../src/answers/load/coverage.rs"]
mod coverage;
#[path = "../../src/answers/load/queues.rs"]
mod queues;

use coverage::coverage;
use queues::{Service, Source};

const SOURCES: [(&str, Source); 12] = [
    ("independent", Source::Independent),
    ("M/D/1, ρ = 0.5", Source::Queue(Service::Equal, 0.5)),
    ("M/D/1, ρ = 0.7", Source::Queue(Service::Equal, 0.7)),
    ("M/D/1, ρ = 0.9", Source::Queue(Service::Equal, 0.9)),
    ("M/M/1, ρ = 0.5", Source::Queue(Service::Exponential, 0.5)),
    ("M/M/1, ρ = 0.7", Source::Queue(Service::Exponential, 0.7)),
    ("M/M/1, ρ = 0.9", Source::Queue(Service::Exponential, 0.9)),
    ("M/H2/1, ρ = 0.5", Source::Queue(Service::Uneven, 0.5)),
    ("M/H2/1, ρ = 0.7", Source::Queue(Service::Uneven, 0.7)),
    ("M/H2/1, ρ = 0.9", Source::Queue(Service::Uneven, 0.9)),
    ("AR(1), φ = 0.9", Source::Correlated(0.9)),
    ("AR(1), φ = 0.99", Source::Correlated(0.99)),
];

const SECONDS: [f64; 4] = [2.0, 10.0, 30.0, 100.0];

fn main() {
    let given = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let Ok(loads) = given.map_or(Ok(1_000), |given| given.parse::<u64>()) else {
        eprintln!("usage: cargo bench -p analysis --bench intervals -- [LOADS]");
        std::process::exit(2);
    };
    println!(
        "Per cent of the intervals that hold the truth, of {loads} loads; in brackets the per cent of the \
         loads that have one, and the mean half width in per cent of the truth:\n\n\
         | times | seconds | mean | p50 | p95 | p99 |\n|---|---|---|---|---|---|"
    );
    for (name, source) in SOURCES {
        for seconds in SECONDS {
            let found = coverage(source, seconds, loads).map(|it| {
                let known = f64::from(it.known);
                let width = 100.0 * it.widths / known.max(1.0);
                let of = 100.0 * known / loads as f64;
                if it.known == 0 {
                    "unknown".into()
                } else {
                    format!(
                        "{:.1} [{of:.0}, ±{width:.0}]",
                        100.0 - 100.0 * f64::from(it.below + it.above) / known
                    )
                }
            });
            println!("| {name} | {seconds} | {} |", found.join(" | "));
        }
    }
}
