//! Programs whose limit is planted: how often does `scruple scale` name it?
//!
//! `cargo bench -p lab --bench scaling -- [--sessions 10] [--only mutex] [--keep DIR]`
//!
//! Each session is a whole one, through the command line of the built product, on a program of
//! `planted.c` beside this file; what it says is read from its JSON. Prints a table of what was
//! planted against what was named, and ends with code 3 if a cause was named in fewer than 9 of 10
//! sessions.

use anyhow::{Context, bail};
use model::{Bottleneck, Scaling};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Instant;

/// The bar was missed.
const MISSED: u8 = 3;

/// So many of ten sessions must name the cause.
const BAR: f64 = 0.9;

/// Where two programs that share nothing but the hardware take less than so many times as long as
/// one, there is room for both: this hardware does not stop them.
const HARDWARE_SLOWER: f64 = 1.15;

/// How often one and two are compared, in turns.
const PAIRS: usize = 15;

/// What one worker does alone, in milliseconds.
const WORK_MS: &str = "200";

/// A planted limit: its name, the program's mode, flags of the command, and what is right.
struct Plant {
    name: &'static str,
    mode: &'static str,
    flags: &'static [&'static str],
    right: Bottleneck,
}

const PLANTS: [Plant; 7] = [
    Plant { name: "serial part of 10 %", mode: "amdahl", flags: &[], right: Bottleneck::Serial },
    Plant { name: "mutex for 50 %", mode: "mutex", flags: &[], right: Bottleneck::Mutex },
    Plant {
        name: "spinning lock",
        mode: "spin",
        flags: &["--copies"],
        right: Bottleneck::Spinning,
    },
    Plant { name: "memory", mode: "bandwidth", flags: &["--copies"], right: Bottleneck::Hardware },
    Plant {
        name: "quota of half a CPU",
        mode: "kink",
        flags: &["--cpu-quota", "0.5"],
        right: Bottleneck::Quota,
    },
    Plant {
        name: "pinned to one CPU",
        mode: "oversubscribed",
        flags: &[],
        right: Bottleneck::Oversubscribed,
    },
    Plant { name: "nothing but the CPUs", mode: "kink", flags: &[], right: Bottleneck::Cpus },
];

struct Asked {
    sessions: u32,
    only: Option<String>,
    keep: Option<PathBuf>,
}

fn main() -> anyhow::Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if !words.iter().any(|word| word == "--bench") {
        println!("a benchmark, not a test: cargo bench -p lab --bench scaling -- --sessions 10");
        return Ok(ExitCode::SUCCESS);
    }
    let asked = asked(&words)?;
    let own = std::env::temp_dir().join(format!("scruple-scaling-{}", std::process::id()));
    let folder = asked.keep.clone().unwrap_or_else(|| own.clone());
    std::fs::create_dir_all(&folder)?;
    let held = conduct(&asked, &folder);
    if asked.keep.is_none() {
        let _ = std::fs::remove_dir_all(&own);
    }
    Ok(if held? { ExitCode::SUCCESS } else { ExitCode::from(MISSED) })
}

fn asked(words: &[String]) -> anyhow::Result<Asked> {
    let mut asked = Asked { sessions: 10, only: None, keep: None };
    let mut words = words.iter().filter(|word| *word != "--bench");
    while let Some(word) = words.next() {
        let value = words.next().with_context(|| format!("{word} needs a value"))?;
        match word.as_str() {
            "--sessions" => asked.sessions = value.parse().context("--sessions")?,
            "--only" => asked.only = Some(value.clone()),
            "--keep" => asked.keep = Some(value.into()),
            _ => bail!("{word} is unknown; there are: --sessions N, --only WORD, --keep DIR"),
        }
    }
    Ok(asked)
}

fn conduct(asked: &Asked, folder: &Path) -> anyhow::Result<bool> {
    let program = folder.join("planted");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/scaling/planted.c");
    let built =
        Command::new("cc").args(["-O2", "-pthread", "-o"]).arg(&program).arg(source).status();
    if !built.context("cc")?.success() {
        bail!("cc cannot build {source}");
    }
    // The length of a turn once for all: each trial does the same turns.
    let turns = Command::new(&program).args(["calibrate", "1", "1"]).output()?.stdout;
    let turns = String::from_utf8_lossy(&turns).trim().to_string();
    println!("| planted | named rightly | all that was named | accounts |\n|---|---|---|---|");
    let mut held = true;
    let wanted =
        |plant: &&Plant| asked.only.as_ref().is_none_or(|only| plant.name.contains(only.as_str()));
    for (index, plant) in PLANTS.iter().filter(wanted).enumerate() {
        if plant.right == Bottleneck::Hardware {
            let slower = two_beside_each_other(&program, plant, &turns)?;
            if slower < HARDWARE_SLOWER {
                println!(
                    "| {} | cannot be planted here | two beside each other take {slower:.2} times \
                     as long as one alone | |",
                    plant.name
                );
                continue;
            }
        }
        let mut named: BTreeMap<Bottleneck, u32> = BTreeMap::new();
        let mut farthest: f64 = 0.0;
        let (mut all_accounts, mut split) = (0, 0);
        for session in 0..asked.sessions {
            let place = folder.join(format!("{}-{index}-{session}", plant.mode));
            let told = one(&program, plant, &turns, u64::from(session) + 1, &place)?;
            let cause = told.causes.first().map_or(Bottleneck::Unknown, |cause| cause.cause);
            *named.entry(cause).or_default() += 1;
            for account in told.levels.iter().filter_map(|level| level.account.as_ref()) {
                farthest = farthest.max((1.0 - account.explained).abs());
                all_accounts += 1;
                let off_cpu = |part: &model::ScalePart| part.into == model::ScaleLoss::OffCpu;
                split += u32::from(!account.parts.iter().any(off_cpu));
            }
        }
        let right = named.get(&plant.right).copied().unwrap_or(0);
        held &= f64::from(right) >= BAR * f64::from(asked.sessions);
        let all: Vec<String> = named
            .iter()
            .map(|(cause, count)| format!("{} {count}", analysis::scaling::cause_words(*cause)))
            .collect();
        println!(
            "| {} | {right} of {} | {} | {split} of {all_accounts} split; miss 100 % by {:.1} % at most |",
            plant.name,
            asked.sessions,
            all.join(", "),
            100.0 * farthest
        );
    }
    Ok(held)
}

/// How many times as long two of a plant take beside each other as one alone: the median of pairs.
fn two_beside_each_other(program: &Path, plant: &Plant, turns: &str) -> anyhow::Result<f64> {
    let took = |count: usize| -> anyhow::Result<f64> {
        let began = Instant::now();
        let start = || {
            Command::new(program)
                .args([plant.mode, "1", WORK_MS])
                .env("PLANTED_TURNS", turns)
                .stdout(Stdio::null())
                .spawn()
        };
        let started: Vec<Child> = (0..count).map(|_| start()).collect::<Result<_, _>>()?;
        for mut child in started {
            child.wait()?;
        }
        Ok(began.elapsed().as_secs_f64())
    };
    let mut ratios = Vec::with_capacity(PAIRS);
    for _ in 0..PAIRS {
        let alone = took(1)?;
        ratios.push(took(2)? / alone);
    }
    ratios.sort_by(f64::total_cmp);
    Ok(ratios[PAIRS / 2])
}

fn one(
    program: &Path,
    plant: &Plant,
    turns: &str,
    seed: u64,
    place: &Path,
) -> anyhow::Result<Scaling> {
    let output = Command::new(env!("CARGO_BIN_EXE_scruple"))
        .args(["scale", "--json", "--runs", "6", "--seed", &seed.to_string(), "--output"])
        .arg(place)
        .args(plant.flags)
        .arg("--")
        .arg(program)
        .args([plant.mode, "{n}", WORK_MS])
        .env("PLANTED_TURNS", turns)
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        bail!("{}: {}", plant.name, String::from_utf8_lossy(&output.stderr));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
