//! Programs whose limit is planted: how often does `scruple scale` name it?
//!
//! `cargo bench -p lab --bench scaling -- [--sessions 10] [--set plants] [--only WORD]
//! [--company none] [--keep DIR] [--list] [--check] [--waits]`
//!
//! Each session is a whole one, through the command line of the built product, or of the binary that
//! the environment variable SCRUPLE names, on a program of `plants.toml`, or of another set in this folder. What it
//! says is read from its JSON. Prints a table of what was planted against what was named, and ends
//! with code 3 if fewer than 90 % are right or more than 3 % are wrong. With `--waits`, each session is one of
//! `scruple waits` on two workers, and what counts is whether the longest wait has the planted name.

mod programs;

use anyhow::{Context, bail};
use model::{Bottleneck, Scaling, Watched};
use programs::{Built, Plant, Running, Set};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The bar was missed.
const MISSED: u8 = 3;

/// The least share of sessions that are right, and the largest of those that are wrong.
const BARS: (f64, f64) = (0.9, 0.03);

/// Beyond this distance from the planted share, a share is wrong.
const NEAR: f64 = 0.1;

/// How much longer than in a trial a program runs that is watched once.
const WATCHED_TIMES: u32 = 6;

struct Asked {
    sessions: u32,
    set: String,
    only: String,
    company: String,
    keep: Option<PathBuf>,
    list: bool,
    check: bool,
    waits: bool,
}

/// What the sessions of one plant, or of all, said.
#[derive(Default)]
struct Tally {
    sessions: u32,
    right: u32,
    wrong: u32,
    unknown: u32,
    /// Sessions that named what is waited for, of those that should.
    by_name: (u32, u32),
    /// Sessions whose share is near the planted one, of those that name the cause.
    near: (u32, u32),
    causes: BTreeMap<String, u32>,
}

fn main() -> anyhow::Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if !words.iter().any(|word| word == "--bench") {
        println!("a benchmark, not a test: cargo bench -p lab --bench scaling -- --sessions 10");
        return Ok(ExitCode::SUCCESS);
    }
    let asked = asked(&words)?;
    let own = std::env::temp_dir().join(format!("planted-{}", std::process::id()));
    std::fs::create_dir_all(&own)?;
    // SCRUPLE may run the programs as another user.
    std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o777))?;
    let held = conduct(&asked, &own);
    std::fs::remove_dir_all(&own)?;
    Ok(if held? { ExitCode::SUCCESS } else { ExitCode::from(MISSED) })
}

fn asked(words: &[String]) -> anyhow::Result<Asked> {
    let mut asked = Asked {
        sessions: 10,
        set: "plants".into(),
        only: String::new(),
        company: "none".into(),
        keep: None,
        list: false,
        check: false,
        waits: false,
    };
    let mut words = words.iter().filter(|word| *word != "--bench");
    while let Some(word) = words.next() {
        let mut value = || words.next().cloned().with_context(|| format!("{word} needs a value"));
        match word.as_str() {
            "--sessions" => asked.sessions = value()?.parse().context("--sessions")?,
            "--set" => asked.set = value()?,
            "--only" => asked.only = value()?,
            "--company" => asked.company = value()?,
            "--keep" => asked.keep = Some(std::path::absolute(value()?)?),
            "--list" => asked.list = true,
            "--check" => asked.check = true,
            "--waits" => asked.waits = true,
            _ => bail!("{word} is unknown; the documentation of this bench lists the options"),
        }
    }
    Ok(asked)
}

fn conduct(asked: &Asked, own: &Path) -> anyhow::Result<bool> {
    let mut set = Set::read(&asked.set, own)?;
    set.plants.retain(|plant| plant.title().contains(&asked.only));
    if asked.list {
        set.plants.iter().for_each(|plant| println!("{}: {:?}", plant.title(), plant.right));
        return Ok(true);
    }
    if asked.check {
        return programs::check(&set).map(|()| true);
    }
    if asked.waits {
        return names(asked, &set);
    }
    if let Some(keep) = &asked.keep {
        std::fs::create_dir_all(keep)?;
    }
    let _neighbour = neighbour(&asked.company, &set)?;
    println!(
        "| planted | right | wrong | cannot tell | named by name | share near | causes |\n\
         |---|---|---|---|---|---|---|"
    );
    let mut all = Tally::default();
    for plant in &set.plants {
        match set.built(plant) {
            Ok(built) => {
                let tally = sessions(asked, plant, &built, own)?;
                println!("{}", tally.row(&plant.title()));
                all.add(tally);
            }
            Err(reason) => println!("| {} | skipped: {reason:#} | | | | | |", plant.title()),
        }
    }
    println!("{}", all.row("all"));
    let share = |count: u32| f64::from(count) / f64::from(all.sessions.max(1));
    Ok(share(all.right) >= BARS.0 && share(all.wrong) <= BARS.1)
}

/// Counts how often `scruple waits` names what each plant waits for.
fn names(asked: &Asked, set: &Set) -> anyhow::Result<bool> {
    let mut held = true;
    println!("| planted | named | longest waits |\n|---|---|---|");
    for plant in set.plants.iter().filter(|plant| plant.backend.is_none()) {
        let Some(names) = &plant.names else { continue };
        let built = match set.built(plant) {
            Ok(built) => built,
            Err(reason) => {
                println!("| {} | skipped: {reason:#} | |", plant.title());
                continue;
            }
        };
        let (mut named, mut said) = (0, BTreeMap::new());
        for _ in 0..asked.sessions {
            let mut command = scruple();
            let words = plant.longer(&built, "2", WATCHED_TIMES);
            command.args(["waits", "--json", "--"]).args(words);
            built.environment(&mut command, None);
            let output = command.stdin(Stdio::null()).output()?;
            let watched = serde_json::from_slice::<Watched>(&output.stdout);
            let watched =
                watched.with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
            let longest = watched.waits.first();
            let text =
                longest.map_or_else(String::new, |it| format!("{}, in {}", it.what, it.place));
            named += u32::from(names.is_match(&text));
            *said.entry(text).or_insert(0) += 1;
        }
        held &= f64::from(named) >= BARS.0 * f64::from(asked.sessions);
        println!("| {} | {named} of {} | {said:?} |", plant.title(), asked.sessions);
    }
    Ok(held)
}

fn scruple() -> Command {
    Command::new(
        std::env::var_os("SCRUPLE").unwrap_or_else(|| env!("CARGO_BIN_EXE_scruple").into()),
    )
}

/// Starts the other program that burns a CPU during all sessions.
fn neighbour(company: &str, set: &Set) -> anyhow::Result<Option<Running>> {
    let mode = match company {
        "none" => return Ok(None),
        "ordinary" => "neighbour",
        "above" => "above",
        _ => bail!("--company {company} is unknown; there are none, ordinary and above"),
    };
    let built = set.built_from("outside.c")?;
    let running = Running::start(&built, mode)?;
    println!("Next to {}:\n", running.first_line);
    Ok(Some(running))
}

fn sessions(asked: &Asked, plant: &Plant, built: &Built, own: &Path) -> anyhow::Result<Tally> {
    let mut tally = Tally::default();
    let backend = plant.backend.as_ref().map(|mode| Running::start(built, mode)).transpose()?;
    let plain = plant.title().replace(|letter: char| !letter.is_alphanumeric(), "-");
    let folder = asked.keep.as_deref().unwrap_or(own);
    for session in 0..asked.sessions {
        let place = folder.join(format!("{plain}-{}-{session}", asked.company));
        let _ = std::fs::remove_dir_all(&place);
        let mut command = scruple();
        command.args(["scale", "--json", "--runs", "6", "--levels", "1,2,4", "--output"]);
        command.arg(&place).args(["--seed", &(session + 1).to_string()]).args(&plant.flags);
        command.arg("--").args(plant.command(built, "{n}"));
        built.environment(&mut command, backend.as_ref());
        let output = command.stdin(Stdio::null()).output()?;
        let right = tally.enter(plant, &asked.company, &output.stdout);
        if let (false, Some(keep)) = (right, &asked.keep) {
            std::fs::write(
                keep.join(format!("{plain}-{}-{session}.json", asked.company)),
                &output.stdout,
            )?;
            std::fs::create_dir_all(&place)?;
            std::fs::write(place.join("stderr"), &output.stderr)?;
        } else {
            let _ = std::fs::remove_dir_all(&place);
        }
    }
    Ok(tally)
}

impl Tally {
    /// Counts a session by its answer. Returns whether it is all that was planted.
    fn enter(&mut self, plant: &Plant, company: &str, json: &[u8]) -> bool {
        self.sessions += 1;
        let Ok(printed) = serde_json::from_slice::<Scaling>(json) else {
            *self.causes.entry("failed".into()).or_default() += 1;
            self.wrong += 1;
            return false;
        };
        let first = printed.causes.first();
        let cause = first.map_or(Bottleneck::Unknown, |first| first.cause);
        let word = serde_json::to_string(&cause).unwrap_or_default();
        *self.causes.entry(word.trim_matches('"').into()).or_default() += 1;
        if cause == Bottleneck::Unknown {
            self.unknown += 1;
            return false;
        }
        if cause == Bottleneck::Neighbour && company != "none" {
            self.right += 1;
            return true;
        }
        if !plant.right.contains(&cause) {
            self.wrong += 1;
            return false;
        }
        self.right += 1;
        let mut faultless = true;
        if let (Some(names), Some(first)) = (&plant.names, first) {
            let text = format!("{} {} {}", first.sentence, first.evidence.join(" "), first.remedy);
            let named = names.is_match(&text);
            self.by_name.0 += u32::from(named);
            self.by_name.1 += 1;
            faultless &= named;
        }
        let lost = first.filter(|first| first.at == 2.0).and_then(|first| first.lost.as_ref());
        if let (Some(share), Some(lost), "none") = (plant.share, lost, company) {
            let near = (lost.point - share).abs() <= NEAR;
            self.near.0 += u32::from(near);
            self.near.1 += 1;
            faultless &= near;
        }
        faultless
    }

    fn add(&mut self, other: Tally) {
        self.sessions += other.sessions;
        self.right += other.right;
        self.wrong += other.wrong;
        self.unknown += other.unknown;
        self.by_name = (self.by_name.0 + other.by_name.0, self.by_name.1 + other.by_name.1);
        self.near = (self.near.0 + other.near.0, self.near.1 + other.near.1);
        for (cause, count) in other.causes {
            *self.causes.entry(cause).or_default() += count;
        }
    }

    fn row(&self, title: &str) -> String {
        let percent = |count: u32| 100.0 * f64::from(count) / f64::from(self.sessions.max(1));
        let of = |(part, all): (u32, u32)| {
            if all == 0 { String::new() } else { format!("{part} of {all}") }
        };
        let causes: Vec<String> =
            self.causes.iter().map(|(cause, count)| format!("{cause} {count}")).collect();
        format!(
            "| {title} | {:.0} % | {:.0} % | {:.0} % | {} | {} | {} |",
            percent(self.right),
            percent(self.wrong),
            percent(self.unknown),
            of(self.by_name),
            of(self.near),
            causes.join(", ")
        )
    }
}
