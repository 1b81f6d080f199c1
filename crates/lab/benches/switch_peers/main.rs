//! scruple's context switch beside the tools that measure one: is it the same number under the
//! same definition?
//!
//! `cargo bench -p lab --bench switch_peers [-- --rounds 20]`
//!
//! Each round measures every tool once, forwards and then backwards, all pinned to one CPU and
//! born in the same shield. Ratios are paired by round; their intervals are scruple's own
//! (signed-rank, 95 %). A tool that is not there is named, with what would bring it.

mod lat_ctx;
mod ours;
mod peer;

use anyhow::{Context, bail};
use ours::Ours;
use peer::Peer;

/// Rounds where nobody asks for another number.
const ROUNDS: u32 = 20;

/// Fewer give no interval.
const ROUNDS_MIN: u32 = 6;

/// One of our numbers beside a tool's.
struct Pair {
    /// What both are to be.
    what: &'static str,
    /// Our response.
    response: &'static str,
    /// Where it is read.
    at: model::Cell,
    /// The other tool.
    peer: Peer,
}

fn main() -> anyhow::Result<()> {
    // A process that will fork has no second thread, so these come first.
    kit::serve_if_asked(&[experiments::CATALOG]);
    runner::serve_if_asked();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|role| role == lat_ctx::ROLE) {
        return lat_ctx::serve(&arguments[1..]);
    }
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("a benchmark, not a test: cargo bench -p lab --bench switch_peers");
        return Ok(());
    }
    let rounds = rounds(&arguments)?;
    let mut ours = Ours::start()?;
    let pairs = pairs(&ours);
    let (mut measured, mut missing) = (Vec::new(), Vec::new());
    for pair in pairs {
        match pair.peer.missing() {
            Some(why) => missing.push(format!("{} ({}): {why}", pair.peer.name(), pair.what)),
            None => measured.push((pair, Vec::new())),
        }
    }
    for round in 0..rounds {
        eprintln!("round {} of {rounds}", round + 1);
        go_round(round, &mut ours, &mut measured)?;
    }
    tell(&ours, &measured)?;
    missing.push(
        "LEBench: no package; its definition (the first 1000 round trips of a fresh pair) is \
         computed from our own trials alone"
            .into(),
    );
    for line in missing {
        println!("not measured  {line}");
    }
    Ok(())
}

fn rounds(arguments: &[String]) -> anyhow::Result<u32> {
    let Some(at) = arguments.iter().position(|argument| argument == "--rounds") else {
        return Ok(ROUNDS);
    };
    let text = arguments.get(at + 1).context("--rounds wants a number")?;
    let rounds = text.parse().with_context(|| format!("--rounds {text} is no whole number"))?;
    if rounds < ROUNDS_MIN {
        bail!("--rounds {rounds}: an interval needs {ROUNDS_MIN} at least");
    }
    Ok(rounds)
}

fn pairs(ours: &Ours) -> Vec<Pair> {
    let ring = |size: &str| model::Cell::new([("kind", "ring"), ("working_set", size)]);
    let bytes = ours.half_l2_bytes();
    let round_trip = "round_trip_ns";
    let mut pairs = vec![
        Pair {
            what: "round trip of two processes, nothing subtracted",
            response: round_trip,
            at: ring("none"),
            peer: Peer::PerfProcesses,
        },
        Pair {
            what: "round trip of two threads, nothing subtracted",
            response: round_trip,
            at: ring("none").with("model", "thread"),
            peer: Peer::PerfThreads,
        },
    ];
    for (size, bytes) in [("none", Some(0)), ("half_l2", bytes)] {
        let Some(bytes) = bytes else { continue };
        let mut peers = vec![Peer::LatCtx { bytes }, Peer::OwnLatCtx { bytes, by_line: false }];
        if bytes > 0 {
            peers.push(Peer::OwnLatCtx { bytes, by_line: true });
        }
        pairs.extend(peers.into_iter().map(|peer| Pair {
            what: if bytes == 0 {
                "lat_ctx: one way, one-buffer overhead off, no memory"
            } else {
                "lat_ctx: the same, half of the L2 cache per task"
            },
            response: "lat_ctx_ns",
            at: ring(size),
            peer,
        }));
    }
    pairs
}

/// Our trials and then every tool; in the next round the tools first, in the other order.
fn go_round(round: u32, ours: &mut Ours, measured: &mut [(Pair, Vec<f64>)]) -> anyhow::Result<()> {
    let backwards = round % 2 == 1;
    if backwards {
        measured.reverse();
    } else {
        ours.conduct_block(round)?;
    }
    for (pair, values) in measured.iter_mut() {
        let value = ours.beside(|| pair.peer.measure_ns())?;
        values.push(value);
    }
    if backwards {
        ours.conduct_block(round)?;
        measured.reverse();
    }
    Ok(())
}

fn tell(ours: &Ours, measured: &[(Pair, Vec<f64>)]) -> anyhow::Result<()> {
    println!("\nours: medians over {} rounds, on CPU {}", ours.blocks(), ours.cpu());
    for (what, response, at) in ours.definitions() {
        let values = ours.values(response, &at)?;
        println!("{:>9.0} ns  {what}", analysis::median(&values).unwrap_or(f64::NAN));
    }
    println!("\nours / theirs, with the 95 % interval of the paired ratio");
    for (pair, theirs) in measured {
        let values = ours.values(pair.response, &pair.at)?;
        // A difference may fall below 0 in a disturbed round; it has no logarithm.
        let logs: Vec<f64> = values
            .iter()
            .zip(theirs)
            .filter(|(ours, theirs)| **ours > 0.0 && **theirs > 0.0)
            .map(|(ours, theirs)| (ours / theirs).ln())
            .collect();
        let Some(located) = analysis::interval::centre(&logs) else {
            println!("  no ratio   {} against {}", pair.what, pair.peer.name());
            continue;
        };
        let [point, low, high] = [located.point, located.low, located.high].map(f64::exp);
        let told = if low <= 1.0 && high >= 1.0 { "no difference found" } else { "they differ" };
        println!("{point:>8.3} [{low:.3}, {high:.3}]  {told}: {}", pair.what);
        let center = |values: &[f64]| {
            let told: Vec<f64> = values.iter().copied().filter(|ns| ns.is_finite()).collect();
            analysis::median(&told).unwrap_or(f64::NAN)
        };
        println!(
            "{:>26}ours {:.0} ns, {} {:.0} ns, {} rounds",
            "",
            center(&values),
            pair.peer.name(),
            center(theirs),
            logs.len()
        );
    }
    Ok(())
}
