//! Holds what the documents promise: each command of the list is run, and its screen is looked at.
//!
//! A command that is documented and not in the list must at least parse.

mod documents;
mod grammar;
mod list;
mod play;
mod server;

use crate::shell::{Run, remove};
use crate::{record, steps};
use anyhow::{Context, Result, ensure};
use documents::Documented;
use list::{Promise, Sight};
use regex::Regex;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The list, from the root.
const LIST: &str = "xtask/promises.txt";

/// Runs all promises, or those whose command contains `only`. Returns the exit code: 1 if one does not hold.
///
/// # Errors
/// If there is no binary, or if the list or a document cannot be read.
pub(crate) fn promises(root: &Path, binary: Option<&Path>, only: Option<&str>) -> Result<u8> {
    let binary = match binary {
        Some(binary) => std::path::absolute(binary)?,
        None => record::release_binary(root)?,
    };
    ensure!(binary.is_file(), "there is no {}", binary.display());
    let text = read(&root.join(LIST))?;
    let list = list::read(&text).context(LIST)?;
    let documents = Documents::read(root)?;
    let folder = steps::target(root).join("promises");
    let stage = play::Stage::new(root, &folder, &binary)?;
    let start = Instant::now();
    let mut tally = Tally::default();
    for fault in documents.faults(&binary) {
        tally.fail(&fault)?;
    }
    for promise in list.iter().filter(|promise| only.is_none_or(|only| promise.concerns(only))) {
        hold(promise, &documents, &stage, &mut tally)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let parsed = documents.fenced().count();
    if tally.faults == 0 {
        remove(&folder)?;
    }
    tally.end(seconds, parsed)
}

/// Tries one promise.
fn hold(
    promise: &Promise,
    documents: &Documents,
    stage: &play::Stage,
    tally: &mut Tally,
) -> Result<()> {
    let mut places = Vec::new();
    for path in &promise.said {
        match documents.find(path, &promise.says) {
            Some(place) => places.push(place.to_string()),
            None => tally.fail(&format!(
                "{LIST}:{}: {path} no longer shows `{}`",
                promise.line, promise.says
            ))?,
        }
    }
    let own = format!("{LIST}:{}: {}", promise.line, promise.run);
    let place = places.first().cloned().unwrap_or(own);
    if let Some(reason) = stage.obstacle(promise) {
        return tally.skip(&format!("{place}: skipped, {reason}"));
    }
    let mut quoted = Vec::new();
    for sight in &promise.sights {
        let Sight::Quote(pattern) = sight else { continue };
        let found = documents.quotes(&promise.said, pattern);
        if found.is_empty() {
            tally.fail(&format!("{place}: nothing there matches {}", play::shown(pattern)))?;
        }
        quoted.extend(found);
    }
    let screen = stage.run(&promise.run)?;
    let faults = stage.faults(promise, &screen);
    for fault in &faults {
        tally.fail(&format!("{place}: {fault}"))?;
    }
    for (place, text) in quoted.iter().filter(|(_, text)| faults.is_empty() && !screen.shows(text))
    {
        tally.fail(&format!("{place}: {}: \"{text}\" is not on the screen", promise.says))?;
    }
    tally.tried += usize::from(!promise.is_preparation());
    Ok(())
}

/// The documents that a user reads, with the commands that they show.
struct Documents {
    /// The path of each from the root, and its text.
    pages: Vec<(String, String)>,
    commands: Vec<Documented>,
}

impl Documents {
    /// Reads README.md and all of docs/.
    fn read(root: &Path) -> Result<Self> {
        let mut pages = vec![("README.md".to_string(), read(&root.join("README.md"))?)];
        let mut folders = vec![PathBuf::from("docs")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(root.join(&folder)).context("cannot read docs/")? {
                let entry = entry?;
                let path = folder.join(entry.file_name());
                if entry.file_type()?.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "md") {
                    pages.push((path.to_string_lossy().into_owned(), read(&root.join(&path))?));
                }
            }
        }
        pages.sort();
        Ok(Documents::new(pages))
    }

    fn new(pages: Vec<(String, String)>) -> Self {
        let commands =
            pages.iter().flat_map(|(path, page)| documents::commands(path, page)).collect();
        Documents { pages, commands }
    }

    /// Returns the place at which a document shows a command.
    fn find(&self, path: &str, command: &str) -> Option<&Documented> {
        self.commands.iter().find(|it| it.path == path && it.command == command)
    }

    /// Returns what a pattern matches in some documents, each with its place.
    fn quotes(&self, paths: &[String], pattern: &Regex) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for (path, page) in self.pages.iter().filter(|(path, _)| paths.contains(path)) {
            for text in pattern.find_iter(page) {
                let line = page[..text.start()].matches('\n').count() + 1;
                found.push((format!("{path}:{line}"), text.as_str().to_string()));
            }
        }
        found
    }

    /// The commands in blocks, which people copy.
    fn fenced(&self) -> impl Iterator<Item = &Documented> {
        self.commands.iter().filter(|command| command.fenced)
    }

    /// Returns the commands that do not parse, by what `--help` of a binary shows.
    fn faults(&self, binary: &Path) -> Vec<String> {
        let mut grammar = grammar::Grammar::new(|words: &[&str]| {
            Command::new(binary).args(words).arg("--help").env("COLUMNS", "100").read().ok()
        });
        let fault = |it: &Documented| Some(format!("{it}: {}", grammar.fault(&it.command)?));
        self.fenced().filter_map(fault).collect()
    }
}

/// What has been tried, and what does not hold.
#[derive(Default)]
struct Tally {
    tried: usize,
    faults: usize,
    skipped: usize,
}

impl Tally {
    fn fail(&mut self, fault: &str) -> Result<()> {
        self.faults += 1;
        say(fault)
    }

    fn skip(&mut self, line: &str) -> Result<()> {
        self.skipped += 1;
        say(&format!("-- {line}"))
    }

    /// Prints the sum and returns the exit code.
    fn end(&self, seconds: f64, parsed: usize) -> Result<u8> {
        let Tally { tried, faults, skipped } = self;
        let left_out = if *skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
        if *faults > 0 {
            let things = if *faults == 1 { "1 thing does" } else { &format!("{faults} things do") };
            say(&format!("{things} not hold; {tried} promises tried{left_out} ({seconds:.0} s)"))?;
            return Ok(1);
        }
        say(&format!(
            "{tried} promises hold{left_out} ({seconds:.0} s); all {parsed} commands in blocks parse"
        ))?;
        Ok(0)
    }
}

impl Promise {
    /// Reports whether its command contains a text. A preparation concerns all.
    fn concerns(&self, text: &str) -> bool {
        self.is_preparation() || self.says.contains(text)
    }
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn say(line: &str) -> Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{line}").and_then(|()| out.flush()).context("cannot print")
}

#[cfg(test)]
mod tests;
