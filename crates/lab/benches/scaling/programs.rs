//! The planted programs: what `plants.toml` declares, how it is built and run.

use anyhow::{Context, bail};
use model::Bottleneck;
use regex::Regex;
use serde::{Deserialize, Deserializer, de::Error};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Where two copies at once take fewer times as long as one, the hardware does not limit them.
const SLOWER: f64 = 1.15;

/// A program with a planted limit, as `plants.toml` describes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plant {
    name: String,
    language: String,
    source: Option<String>,
    args: Vec<String>,
    #[serde(default)]
    pub(crate) flags: Vec<String>,
    pub(crate) right: Vec<Bottleneck>,
    #[serde(default, deserialize_with = "regex")]
    pub(crate) names: Option<Regex>,
    pub(crate) share: Option<f64>,
    #[serde(default = "ordinary_work")]
    ms: u32,
    needs: Option<String>,
    pub(crate) backend: Option<String>,
}

fn ordinary_work() -> u32 {
    250
}

fn regex<'a, D: Deserializer<'a>>(from: D) -> Result<Option<Regex>, D::Error> {
    Regex::new(&String::deserialize(from)?).map(Some).map_err(D::Error::custom)
}

/// All plants of a file, and what was built of their sources.
pub(crate) struct Set {
    pub(crate) plants: Vec<Plant>,
    folder: PathBuf,
    built: RefCell<BTreeMap<String, Result<Built, String>>>,
}

/// A program that can be started.
#[derive(Clone)]
pub(crate) struct Built {
    command: Vec<String>,
    /// The speed of its loop: each trial does the same number of turns.
    turns: String,
    folder: PathBuf,
}

#[derive(Deserialize)]
struct File {
    plant: Vec<Plant>,
}

impl Set {
    /// Reads a set by its name.
    pub(crate) fn read(name: &str, folder: &Path) -> anyhow::Result<Set> {
        let path = sources().join(format!("{name}.toml"));
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let file: File = toml::from_str(&text).with_context(|| path.display().to_string())?;
        let built = RefCell::default();
        Ok(Set { plants: file.plant, folder: folder.to_path_buf(), built })
    }

    /// Returns a plant's program, or why it cannot be planted on this machine.
    pub(crate) fn built(&self, plant: &Plant) -> anyhow::Result<Built> {
        let built = match &plant.source {
            Some(source) => self.built_from(source)?,
            None => Built { command: vec![], turns: String::new(), folder: self.folder.clone() },
        };
        if plant.needs.is_some() {
            let slower = two_at_once(plant, &built)?;
            if slower < SLOWER {
                bail!("two at once take {slower:.2} times as long as one, so nothing limits them");
            }
        }
        Ok(built)
    }

    /// Returns the program that is built from a source, once.
    pub(crate) fn built_from(&self, source: &str) -> anyhow::Result<Built> {
        let build = || self.build(source).map_err(|error| format!("{error:#}"));
        let mut all = self.built.borrow_mut();
        all.entry(source.to_string()).or_insert_with(build).clone().map_err(anyhow::Error::msg)
    }

    fn build(&self, source: &str) -> anyhow::Result<Built> {
        let from = sources().join(source).display().to_string();
        let (stem, kind) = source.rsplit_once('.').context("a source has an ending")?;
        let into = self.folder.join(stem).display().to_string();
        let folder = self.folder.display().to_string();
        let words = |all: &[&str]| all.iter().map(|word| word.to_string()).collect::<Vec<_>>();
        let (compiler, command) = match kind {
            "c" => (
                words(&["cc", "-O2", "-g", "-pthread", "-fopenmp", "-o", &into, &from]),
                words(&[&into]),
            ),
            "go" => (words(&["go", "build", "-o", &into, &from]), words(&[&into])),
            "java" => {
                (words(&["javac", "-d", &folder, &from]), words(&["java", "-cp", &folder, stem]))
            }
            "py" => (
                words(&[
                    "python3",
                    "-c",
                    "import ast,sys; ast.parse(open(sys.argv[1]).read())",
                    &from,
                ]),
                words(&[&python()?, "-IS", &from]),
            ),
            _ => (words(&["sh", "-n", &from]), words(&["sh", &from])),
        };
        let made = Command::new(&compiler[0]).args(&compiler[1..]).output();
        let made = made.with_context(|| format!("{} is missing", compiler[0]))?;
        if !made.status.success() {
            bail!("{} fails: {}", compiler[0], String::from_utf8_lossy(&made.stderr));
        }
        let printed = Command::new(&command[0]).args(&command[1..]).arg("calibrate").output()?;
        let turns = String::from_utf8_lossy(&printed.stdout).trim().to_string();
        Ok(Built { command, turns, folder: self.folder.clone() })
    }
}

fn sources() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/scaling"))
}

/// Returns the interpreter itself: a wrapper around it takes longer than some trials.
fn python() -> anyhow::Result<String> {
    let printed =
        Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let printed = printed.context("python3 is missing")?;
    Ok(String::from_utf8_lossy(&printed.stdout).trim().to_string())
}

impl Built {
    /// Gives a command what the program reads from its environment, and the bench's folder to write to.
    pub(crate) fn environment(&self, command: &mut Command, backend: Option<&Running>) {
        command.env("PLANTED_TURNS", &self.turns).env("PLANTED_FOLDER", &self.folder);
        command.current_dir(&self.folder);
        if let Some(backend) = backend {
            command.env("PLANTED_BACKEND", &backend.first_line);
        }
    }
}

impl Plant {
    /// Returns its language and name.
    pub(crate) fn title(&self) -> String {
        format!("{}: {}", self.language, self.name)
    }

    /// Returns the command with a number of workers.
    pub(crate) fn command(&self, built: &Built, n: &str) -> Vec<String> {
        self.longer(built, n, 1)
    }

    /// Returns the command with a number of workers and `times` the work.
    pub(crate) fn longer(&self, built: &Built, n: &str, times: u32) -> Vec<String> {
        let ms = (times * self.ms).to_string();
        let filled = |word: &String| word.replace("{n}", n).replace("{ms}", &ms);
        built.command.iter().cloned().chain(self.args.iter().map(filled)).collect()
    }

    /// Starts it outside a session, in the bench's folder.
    fn start(&self, built: &Built, n: &str, backend: Option<&Running>) -> anyhow::Result<Child> {
        let words = self.command(built, n);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        built.environment(&mut command, backend);
        Ok(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?)
    }
}

/// A program that runs until it is dropped.
pub(crate) struct Running {
    child: Child,
    pub(crate) first_line: String,
}

impl Running {
    /// Starts a mode of a program, and waits for its first line.
    pub(crate) fn start(built: &Built, mode: &str) -> anyhow::Result<Running> {
        let mut command = Command::new(&built.command[0]);
        command.args(&built.command[1..]).arg(mode);
        built.environment(&mut command, None);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut first_line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut first_line)?;
        }
        Ok(Running { child, first_line: first_line.trim().to_string() })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs each program outside a session with n = 1, 2 and 4, and prints what it says of itself.
pub(crate) fn check(set: &Set) -> anyhow::Result<()> {
    println!("| planted | n | seconds | speedup | self-check |\n|---|---|---|---|---|");
    for plant in &set.plants {
        let built = match set.built(plant) {
            Ok(built) => built,
            Err(reason) => {
                println!("| {} | skipped: {reason:#} | | | |", plant.title());
                continue;
            }
        };
        let backend =
            plant.backend.as_ref().map(|mode| Running::start(&built, mode)).transpose()?;
        let mut alone = None;
        for n in ["1", "2", "4"] {
            let mut tries = Vec::new();
            for _ in 0..5 {
                let began = Instant::now();
                let printed = plant.start(&built, n, backend.as_ref())?.wait_with_output()?;
                let seconds = began.elapsed().as_secs_f64();
                let printed = String::from_utf8_lossy(&printed.stdout).trim_end().to_string();
                tries.push((seconds, printed.lines().last().unwrap_or("").to_string()));
            }
            tries.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (seconds, printed) = &tries[tries.len() / 2];
            let speedup = *alone.get_or_insert(*seconds) / seconds;
            println!("| {} | {n} | {seconds:.3} | {speedup:.2} | {printed} |", plant.title());
        }
    }
    Ok(())
}

/// Returns how many times as long two copies at once take as one: the median of pairs.
fn two_at_once(plant: &Plant, built: &Built) -> anyhow::Result<f64> {
    let took = |count: usize| -> anyhow::Result<f64> {
        let began = Instant::now();
        let start = || plant.start(built, "1", None);
        let started: Vec<Child> = (0..count).map(|_| start()).collect::<Result<_, _>>()?;
        for child in started {
            child.wait_with_output()?;
        }
        Ok(began.elapsed().as_secs_f64())
    };
    let mut ratios = Vec::new();
    for _ in 0..9 {
        let alone = took(1)?;
        ratios.push(took(2)? / alone);
    }
    ratios.sort_by(f64::total_cmp);
    Ok(ratios[ratios.len() / 2])
}
