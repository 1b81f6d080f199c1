//! Many sessions: how often does scruple find something where nothing is, and how often does it
//! find what was planted?
//!
//! `cargo bench -p lab --bench sessions -- null --sessions 200 --neighbour bursts`
//! `cargo bench -p lab --bench sessions -- planted --sessions 20 --neighbour bursts`
//! `cargo bench -p lab --bench sessions -- between --sessions 12`
//! `cargo bench -p lab --bench sessions -- study --sessions 20`
//! `cargo bench -p lab --bench sessions -- decided --sessions 5 --neighbour one`
//!
//! Each session is a whole one, through the command line of the built product; what it says is read
//! from its summary. Ends with code 3 where the bar is missed.

mod asked;
mod between;
mod neighbour;
mod study;
mod tally;

use anyhow::{Context, bail};
use asked::{Asked, What};
use model::Summary;
use neighbour::Neighbour;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;
use tally::{Decided, Nulls, Planted};

/// The bar was missed.
const MISSED: u8 = 3;

/// With this code `selftest` ends where it cannot trust the machine; its summary is whole.
const NOT_TRUSTED: i32 = 3;

/// The folder of the sessions; removed at the end unless it is to be kept.
struct Folder {
    path: PathBuf,
    keep: bool,
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.keep {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

fn main() -> anyhow::Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|role| role == neighbour::ROLE) {
        neighbour::serve(&words[1..])?;
        return Ok(ExitCode::SUCCESS);
    }
    if words.first().is_some_and(|role| role == study::ROLE) {
        study::work(&words[1..])?;
        return Ok(ExitCode::SUCCESS);
    }
    if !words.iter().any(|word| word == "--bench") {
        println!("a benchmark, not a test:\n{}", asked::USAGE);
        return Ok(ExitCode::SUCCESS);
    }
    let asked = Asked::parse(&words)?;
    // Ctrl-C must not leave sessions among the temporary files.
    sys::interrupt::install()?;
    let mut neighbour = Neighbour::start(asked.neighbour, asked.seed)?;
    let begun = Instant::now();
    let held = match asked.what {
        What::Null => nulls(&asked, neighbour.as_mut())?,
        What::Planted => planted(&asked, neighbour.as_mut())?,
        What::Between => between::between(&asked)?,
        What::Study => study::study(&asked, neighbour.as_mut())?,
        What::Decided => decided(&asked, neighbour.as_mut())?,
    };
    let each_s = begun.elapsed().as_secs_f64() / f64::from(asked.sessions);
    println!("time per session: {each_s:.1} s");
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::from(MISSED) })
}

fn nulls(asked: &Asked, neighbour: Option<&mut Neighbour>) -> anyhow::Result<bool> {
    let works = works()?;
    let mut nulls = Nulls::default();
    let blocks = asked.blocks.to_string();
    let command = ["run", "null", "--profile", "quick", "--runs", &blocks];
    each_session(asked, neighbour, &command, |summary| {
        let wrong = nulls.add(summary, &works)?;
        let so_far = nulls.wrong.text();
        Ok(format!("{so_far}{}", if wrong { " (this one)" } else { "" }))
    })?;
    print!("{}", nulls.text());
    Ok(nulls.holds())
}

/// The kinds of work in the order of the A/A controls.
fn works() -> anyhow::Result<Vec<String>> {
    let null = experiments::CATALOG.iter().find(|experiment| experiment.id == "null");
    let design = (null.context("the catalog has no experiment null")?.design)();
    let of = |control: &model::Control| control.a.0.get("work").cloned();
    design.controls.iter().map(|it| of(it).context("a control names no work")).collect()
}

fn planted(asked: &Asked, neighbour: Option<&mut Neighbour>) -> anyhow::Result<bool> {
    let mut planted = Planted::default();
    let command = ["selftest", tally::PLANTED, "--time-budget", &asked.time_budget];
    each_session(asked, neighbour, &command, |summary| {
        planted.add(summary)?;
        let found = planted
            .answers
            .iter()
            .map(|(id, answer)| format!("{id} {}/{}", answer.found.events, answer.holds.events));
        Ok(format!("found/held: {}", found.collect::<Vec<_>>().join(", ")))
    })?;
    print!("{}", planted.text());
    Ok(planted.holds())
}

fn decided(asked: &Asked, neighbour: Option<&mut Neighbour>) -> anyhow::Result<bool> {
    let mut decided = Decided::new(neighbour.is_some());
    each_session(asked, neighbour, &["run"], |summary| Ok(decided.add(summary)))?;
    print!("{}", decided.text());
    Ok(decided.holds())
}

/// Runs the sessions, one after the other, and hands each one's summary over; what comes back is
/// shown as progress.
fn each_session(
    asked: &Asked,
    mut neighbour: Option<&mut Neighbour>,
    command: &[&str],
    mut read: impl FnMut(&Summary) -> anyhow::Result<String>,
) -> anyhow::Result<()> {
    let own = format!("scruple-many-sessions-{}", std::process::id());
    let path = asked.keep.clone().unwrap_or_else(|| std::env::temp_dir().join(own));
    std::fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
    let folder = Folder { path, keep: asked.keep.is_some() };
    println!(
        "{} sessions of `scruple {}`, neighbour: {}",
        asked.sessions,
        command.join(" "),
        asked.neighbour.name()
    );
    for number in 1..=asked.sessions {
        let session = folder.path.join(format!("{number:04}"));
        let summary = one_session(command, &session);
        if sys::interrupt::requested().is_some() {
            // This session may have been cut short, too, which its exit code would not tell.
            bail!("interrupted after {} sessions", number - 1);
        }
        let summary = summary?;
        let told = read(&summary).with_context(|| format!("session {number}"))?;
        eprintln!("session {number} of {}: {told}", asked.sessions);
        if !folder.keep {
            std::fs::remove_dir_all(&session)?;
        }
        if neighbour.as_mut().is_some_and(|neighbour| !neighbour.is_alive()) {
            bail!("a neighbour has ended: these sessions were not disturbed as they should be");
        }
    }
    Ok(())
}

fn one_session(command: &[&str], session: &Path) -> anyhow::Result<Summary> {
    let output = Command::new(env!("CARGO_BIN_EXE_scruple"))
        .args(command)
        .arg("--output")
        .arg(session)
        .stdin(Stdio::null())
        .output()
        .context("cannot start scruple")?;
    if !output.status.success() && output.status.code() != Some(NOT_TRUSTED) {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("scruple {} ended with {}: {said}", command.join(" "), output.status);
    }
    let path = session.join("summary.json");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no summary", path.display()))
}
