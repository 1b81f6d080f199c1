//! Prints how often verdicts err and what intervals cover, under noises with a known truth: the
//! table of docs/calibration.md.
//!
//! `cargo bench -p analysis --bench battery -- [SESSIONS]` (2,000 unless given; some minutes).

mod noise;
mod sessions;

use analysis::proportion;
use noise::{Chances, Draws, Noise};
use sessions::{BLOCKS, INDEPENDENT, Known, NOISES, frequency_is_covered};

const CLAIMS: [usize; 2] = [10, 50];

fn main() {
    let given = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let Ok(sessions) = given.map_or(Ok(2_000), |given| given.parse::<u64>()) else {
        eprintln!("usage: cargo bench -p analysis --bench battery -- [SESSIONS]");
        std::process::exit(2);
    };
    verdicts(sessions);
    coverage(sessions);
    stopping(sessions);
    frequencies(sessions);
}

/// Per cent of `sessions` in which something holds, with the upper 95 % limit.
fn share(sessions: u64, mut holds: impl FnMut() -> bool) -> (f64, f64, f64) {
    let count = (0..sessions).filter(|_| holds()).count() as u64;
    // Of no sessions nothing is known.
    let found =
        proportion(count, sessions).map_or([0.0, 0.0, 1.0], |it| [it.point, it.low, it.high]);
    (100.0 * found[0], 100.0 * found[1], 100.0 * found[2])
}

fn heading(title: &str, columns: &[String]) {
    println!("\n{title}\n\n| noise | {} |", columns.join(" | "));
    println!("|---|{}", "---|".repeat(columns.len()));
}

fn verdicts(sessions: u64) {
    let columns = CLAIMS.iter().flat_map(|claims| BLOCKS.map(|n| format!("{claims} claims, {n}")));
    let title = "Sessions with a wrong verdict, every claim's truth at the edge of its region (per \
                 cent, in brackets the upper 95 % limit):";
    heading(title, &columns.collect::<Vec<_>>());
    for (index, (name, noise, least)) in NOISES.into_iter().enumerate() {
        if least < INDEPENDENT {
            continue;
        }
        let mut draws = Draws::new(index as u64);
        let known = Known::new(noise, &mut draws);
        let mut row = Vec::new();
        for claims in CLAIMS {
            for blocks in BLOCKS {
                let found = share(sessions, || known.is_wrong(blocks, claims, &mut draws));
                row.push(format!("{:.1} [{:.1}]", found.0, found.2));
            }
        }
        println!("| {name} | {} |", row.join(" | "));
    }
}

fn coverage(sessions: u64) {
    let title = "Coverage of 95 % intervals (per cent). Where neighbouring blocks are alike, a \
                 session without a verdict on the truth counts as covered:";
    heading(title, &BLOCKS.map(|blocks| format!("{blocks} blocks")));
    for (index, (name, noise, least)) in NOISES.into_iter().enumerate() {
        let mut draws = Draws::new(100 + index as u64);
        let known = Known::new(noise, &mut draws);
        let row = BLOCKS.map(|blocks| {
            let covers = || match least < INDEPENDENT {
                true => known.is_covered_or_silent(blocks, &mut draws),
                false => known.is_covered(blocks, &mut draws),
            };
            format!("{:.1}", share(5 * sessions, covers).0)
        });
        println!("| {name} | {} |", row.join(" | "));
    }
}

fn stopping(sessions: u64) {
    let widths = [0.03, 0.02, 0.01];
    let title = "Coverage when a session stops, between 13 and 40 blocks, as soon as half its \
                 interval is that narrow (per cent):";
    heading(title, &widths.map(|width| format!("{:.0} %", 100.0 * width)));
    for (index, (name, noise, least)) in NOISES.into_iter().enumerate() {
        if least < INDEPENDENT {
            continue;
        }
        let mut draws = Draws::new(200 + index as u64);
        let known = Known::new(noise, &mut draws);
        let row = widths.map(|width| {
            let found = share(5 * sessions, || known.is_covered_when_stopped(width, &mut draws));
            format!("{:.1}", found.0)
        });
        println!("| {name} | {} |", row.join(" | "));
    }
}

fn frequencies(sessions: u64) {
    let kinds = [
        Chances::Independent(0.3),
        Chances::Independent(0.01),
        Chances::BetaBinomial(0.3),
        Chances::BetaBinomial(0.02),
        Chances::Bursts(0.3),
        Chances::Bursts(0.02),
    ];
    let trials = [2, 6, 12, 40];
    let title = "Coverage of the limits of frequencies by trials of 200 chances (per cent):";
    heading(title, &trials.map(|trials| format!("{trials} trials")));
    for (index, kind) in kinds.into_iter().enumerate() {
        let mut draws = Draws::new(300 + index as u64);
        let row = trials.map(|trials| {
            let covers = || frequency_is_covered(kind, 200, trials, &mut draws);
            format!("{:.1}", share(sessions, covers).0)
        });
        println!("| {kind:?} | {} |", row.join(" | "));
    }
    let title = "Found: an effect of 5 % under normal noise of 2 % a side, as one of so many claims \
                 of which no other is decided (per cent):";
    heading(title, &BLOCKS.map(|blocks| format!("{blocks} blocks")));
    let mut draws = Draws::new(400);
    let known = Known::new(Noise::Normal, &mut draws);
    for claims in [1, 10, 50, 100] {
        let row = BLOCKS.map(|blocks| {
            let finds = || known.is_found(0.05_f64.ln_1p(), blocks, claims, &mut draws);
            format!("{:.0}", share(sessions, finds).0)
        });
        println!("| {claims} claims | {} |", row.join(" | "));
    }
}
