//! Prints how often verdicts err and what intervals cover, under noises with a known truth: the
//! table of docs/calibration.md.
//!
//! `cargo bench -p analysis --bench battery -- [SESSIONS]` (2,000 unless given; some minutes).

mod noise;
mod sessions;

use analysis::proportion;
use noise::{Chances, Draws};
use sessions::{BLOCKS, INDEPENDENT, Known, NOISES, Test, frequency_is_covered};

const CLAIMS: [usize; 4] = [1, 5, 10, 50];

/// The blocks at which errors are shown: fewer than 8 decide nothing.
const JUDGED: [usize; 4] = [8, 10, 12, 20];

/// The share of sessions that must find an effect.
const POWER: f64 = 0.8;

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
    power(sessions.div_ceil(4));
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
    let columns = CLAIMS.iter().flat_map(|claims| JUDGED.map(|n| format!("{claims} claims, {n}")));
    let title = "Sessions with a wrong verdict, every claim's truth at the edge of its region (per \
                 cent; in brackets the upper 95 % limit; behind +, sessions without one in which a \
                 claim's blocks were seen to depend, to fall into two groups or to change):";
    heading(title, &columns.collect::<Vec<_>>());
    for (index, (name, noise, _)) in NOISES.into_iter().enumerate() {
        let mut draws = Draws::new(index as u64);
        let known = Known::new(noise, &mut draws);
        let mut row = Vec::new();
        for claims in CLAIMS {
            for blocks in JUDGED {
                let mut doubted = 0_u64;
                let found = share(sessions, || {
                    let (wrong, doubtful) = known.judged(blocks, claims, &mut draws);
                    doubted += u64::from(doubtful);
                    wrong
                });
                let doubted = 100.0 * doubted as f64 / sessions as f64;
                row.push(format!("{:.1} [{:.1}] + {doubted:.0}", found.0, found.2));
            }
        }
        println!("| {name} | {} |", row.join(" | "));
    }
}

fn coverage(sessions: u64) {
    let title = "Coverage of 95 % intervals of one number alone, and of ten numbers of one experiment (per cent):";
    heading(title, &BLOCKS.map(|blocks| format!("{blocks} blocks")));
    for (index, (name, noise, least)) in NOISES.into_iter().enumerate() {
        // Where the answer changes during the session no number is the truth.
        if least == 0.0 {
            continue;
        }
        let mut draws = Draws::new(100 + index as u64);
        let known = Known::new(noise, &mut draws);
        let row = BLOCKS.map(|blocks| {
            let alone = share(5 * sessions, || known.is_covered(blocks, &mut draws)).0;
            let covered: u64 = (0..sessions).map(|_| known.covered(blocks, 10, &mut draws)).sum();
            format!("{alone:.1}, {:.1}", 10.0 * covered as f64 / sessions as f64)
        });
        println!("| {name} | {} |", row.join(" | "));
    }
}

fn power(sessions: u64) {
    let title = "The smallest effect that 80 % of sessions find (per cent, normal noise of 2 % a side; of \
                 the other claims every sixth lies at its edge): the sign test, a paired t-test, Welch's:";
    let blocks = [6, 8, 12, 20];
    heading(title, &blocks.map(|blocks| format!("{blocks} blocks")));
    let mut draws = Draws::new(400);
    for claims in [1, 5, 30, 130] {
        let row = blocks.map(|blocks| {
            let tests = [Test::Sign, Test::Paired, Test::Welch];
            let least =
                tests.map(|test| least_effect(test, (blocks, claims), sessions, &mut draws));
            least.map(|it| it.map_or("–".into(), |it| format!("{:.1}", 100.0 * it))).join(", ")
        });
        println!("| {claims} claims | {} |", row.join(" | "));
    }
}

/// Returns the smallest effect that enough sessions find, by bisection; `None` where none of 50 % is found.
fn least_effect(test: Test, size: (usize, usize), sessions: u64, draws: &mut Draws) -> Option<f64> {
    let (mut low, mut high) = (0.0, 0.5_f64);
    let mut is_found = |effect: f64| {
        let found = (0..sessions).filter(|_| test.finds(effect, size, draws)).count();
        found as f64 >= POWER * sessions as f64
    };
    if !is_found(high) {
        return None;
    }
    while high - low > 0.0005 {
        let middle = f64::midpoint(low, high);
        if is_found(middle) { high = middle } else { low = middle }
    }
    Some(high)
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
}
