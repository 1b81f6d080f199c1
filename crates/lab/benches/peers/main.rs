//! scruple's numbers beside those of the tools that measure the same: is it the same number under
//! the same definition?
//!
//! `cargo xtask calibrate`, or `cargo bench -p lab --bench peers [-- --rounds 20]`
//!
//! Each round measures every number once, ours and theirs directly one after the other, in the next
//! round the other way round; all are pinned to one CPU and born in the same shield. Ratios are
//! paired by round; their intervals are scruple's own (order statistics, 95 %). A tool that is not there
//! is named, with what would bring it. Ends with code 3 where two numbers do not agree within a
//! tenth and docs/calibration.md does not say why.

mod definitions;
mod lat_ctx;
mod messaging;
mod one_call;
mod one_way;
mod ours;
mod pairs;
mod parse;
mod peer;
mod verdict;
mod vfork;

use anyhow::{Context, bail};
use model::Treatment;
use ours::Ours;
use pairs::{Pair, Station};
use std::collections::BTreeMap;
use std::process::ExitCode;
use verdict::{Agreement, Ratio};

/// Rounds where nobody asks for another number.
const ROUNDS: u32 = 20;

/// Fewer give no interval.
const ROUNDS_MIN: u32 = 6;

/// Some numbers do not agree and nothing says why, or nothing could be compared.
const DISAGREED: u8 = 3;

/// A station with what is done at it.
struct Stop {
    station: Station,
    treatments: Vec<(&'static str, Treatment)>,
    /// Their numbers by round: one map for each pair.
    theirs: Vec<BTreeMap<u32, f64>>,
}

fn main() -> anyhow::Result<ExitCode> {
    // A process that will fork has no second thread, so these come first.
    kit::serve_if_asked(&[experiments::CATALOG, ours::OWN], None);
    runner::serve_if_asked();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|role| role == lat_ctx::ROLE) {
        lat_ctx::serve(&arguments[1..])?;
        return Ok(ExitCode::SUCCESS);
    }
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("a benchmark, not a test: cargo bench -p lab --bench peers");
        return Ok(ExitCode::SUCCESS);
    }
    let rounds = rounds(&arguments)?;
    let mut ours = Ours::start()?;
    let (mut stops, missing) = plan(&ours)?;
    for round in 0..rounds {
        eprintln!("round {} of {rounds}", round + 1);
        go_round(round, &mut ours, &mut stops)?;
    }
    let all_agree = tell(&ours, &stops)?;
    for line in missing {
        println!("not measured: {line}");
    }
    Ok(if all_agree { ExitCode::SUCCESS } else { ExitCode::from(DISAGREED) })
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

/// The stations with the tools that are there, and a line for each tool that is not.
fn plan(ours: &Ours) -> anyhow::Result<(Vec<Stop>, Vec<String>)> {
    let mut missing = Vec::new();
    let mut stops = Vec::new();
    for mut station in pairs::stations(ours.half_l2_bytes()) {
        station.pairs.retain(|pair| match pair.peer.missing() {
            Some(why) => {
                missing.push(format!("{} ({}): {why}", pair.what, pair.peer.name()));
                false
            }
            None => true,
        });
        if station.pairs.is_empty() {
            continue;
        }
        let numbers = station.pairs.iter().map(|pair| &pair.mine);
        let treatments =
            ours.treatments(numbers.chain(station.aside.iter().map(|(_, number)| number)))?;
        let theirs = vec![BTreeMap::new(); station.pairs.len()];
        stops.push(Stop { station, treatments, theirs });
    }
    missing.push(
        "LEBench: no package; its definition (the first 1000 round trips of a fresh pair) is \
         computed from our own trials alone"
            .into(),
    );
    Ok((stops, missing))
}

/// At each station our trials and then the tools; in the next round all the other way round.
fn go_round(round: u32, ours: &mut Ours, stops: &mut [Stop]) -> anyhow::Result<()> {
    let backwards = round % 2 == 1;
    if backwards {
        stops.reverse();
    }
    for stop in stops.iter_mut() {
        if backwards {
            let_measure(round, ours, stop)?;
            ours.conduct(round, &stop.treatments)?;
        } else {
            ours.conduct(round, &stop.treatments)?;
            let_measure(round, ours, stop)?;
        }
    }
    if backwards {
        stops.reverse();
    }
    Ok(())
}

/// Each tool of a station measures once, also where several pairs hold it against us. One that
/// fails has no number in this round, and the others go on.
fn let_measure(round: u32, ours: &Ours, stop: &mut Stop) -> anyhow::Result<()> {
    let mut known: Vec<(peer::Peer, f64)> = Vec::new();
    let scratch = ours.scratch()?;
    for (pair, theirs) in stop.station.pairs.iter().zip(&mut stop.theirs) {
        let before = known.iter().find(|(peer, _)| *peer == pair.peer);
        let value = match before {
            Some((_, value)) => *value,
            None => ours.beside(|| pair.peer.measure_ns(scratch)).unwrap_or_else(|error| {
                eprintln!("{}: {error:#}", pair.peer.name());
                f64::NAN
            }),
        };
        known.push((pair.peer, value));
        theirs.insert(round, value);
    }
    Ok(())
}

/// Prints the table; whether all agree, or differ for a reason that is known.
fn tell(ours: &Ours, stops: &[Stop]) -> anyhow::Result<bool> {
    println!("\nour own definitions side by side: medians over rounds, on CPU {}", ours.cpu());
    for (what, number) in stops.iter().flat_map(|stop| &stop.station.aside) {
        println!("{:>10.1} {what}", middle(&ours.values(number)?));
    }
    println!(
        "\n{:<44} {:<36} {:>9} {:>9}  {:<22} within 10 %?",
        "what", "by whom else", "ours, ns", "theirs", "ours / theirs, 95 %"
    );
    let mut good = 0;
    let mut bad = 0;
    for stop in stops {
        for (pair, theirs) in stop.station.pairs.iter().zip(&stop.theirs) {
            if tell_pair(pair, &ours.values(&pair.mine)?, theirs) {
                good += 1;
            } else {
                bad += 1;
            }
        }
    }
    for (check, trials) in ours.failed_checks() {
        println!("a check failed in {trials} of our trials: {check}");
    }
    println!("\n{good} agree or are explained, {bad} do not");
    Ok(good > 0 && bad == 0)
}

/// Prints a line of the table; whether it is as it should be.
fn tell_pair(pair: &Pair, ours: &BTreeMap<u32, f64>, theirs: &BTreeMap<u32, f64>) -> bool {
    let (told, ratio, good) = match Ratio::of(ours, theirs) {
        None => ("no ratio".to_string(), "-".to_string(), false),
        Some(ratio) => {
            let (told, good) = match (ratio.agreement(), pair.explained) {
                (Agreement::Within, _) => ("yes".into(), true),
                (_, Some(anchor)) => (format!("no: docs/calibration.md#{anchor}"), true),
                (Agreement::Beyond, None) => ("NO".into(), false),
                (Agreement::Open, None) => ("not decided: ask for more --rounds".into(), false),
            };
            let Ratio { point, low, high, rounds } = ratio;
            (told, format!("{point:.3} [{low:.3}, {high:.3}] {rounds}"), good)
        }
    };
    println!(
        "{:<44} {:<36} {:>9.1} {:>9.1}  {ratio:<26} {told}",
        pair.what,
        pair.peer.name(),
        middle(ours),
        middle(theirs),
    );
    good
}

/// The median of those that are numbers.
fn middle(values: &BTreeMap<u32, f64>) -> f64 {
    let told: Vec<f64> = values.values().copied().filter(|value| value.is_finite()).collect();
    analysis::median(&told).unwrap_or(f64::NAN)
}
