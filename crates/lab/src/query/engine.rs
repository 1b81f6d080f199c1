//! DuckDB: where it is, and how it is asked.

use super::sql;
use crate::cli::query::AnswerFormat;
use crate::destination::Stopped;
use crate::scratch::Scratch;
use crate::ui;
use anyhow::{Context, bail};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use sys::program::{Bounds, Failure};

/// The oldest DuckDB that is asked: its formats are stable from there on.
const VERSION_LEAST: (u32, u32) = (1, 0);

/// How long it may take to say its version; a Python on a cold network file system takes seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// The most bytes of what it complains about.
const COMPLAINT_BYTES_MAX: usize = 16 << 10;

/// What Python is asked to carry out.
const ASK: &str = include_str!("ask.py");

/// What says the version of Python's package; nothing is imported from where one stands.
const VERSION: &str = "import sys; sys.path = [it for it in sys.path if it]; import duckdb; print(duckdb.__version__)";

const HOW_TO_GET: &str =
    "`pip install duckdb-cli` brings the program, `pip install duckdb` the package";

/// A DuckDB that answers.
#[derive(Debug)]
pub(super) struct Engine {
    program: PathBuf,
    /// Whether the program is a Python that has the package.
    python: bool,
}

/// What came of a question.
#[derive(Debug)]
pub(super) enum Answer {
    /// It was answered; what is said beside it.
    Given(String),
    /// It was refused, in DuckDB's words.
    Refused(String),
}

impl Engine {
    /// Returns the program that was named, or `duckdb` on the PATH, or python3 with the package.
    ///
    /// # Errors
    /// What was looked at, what is wrong with each, and how to get one.
    pub(super) fn find(named: Option<&Path>) -> anyhow::Result<Self> {
        if let Some(program) = named {
            let found = answers(program, false)
                .map_err(|why| anyhow::anyhow!("--duckdb {}: {why}", program.display()))?;
            return Ok(found);
        }
        let mut wrong = Vec::new();
        for (name, python) in [("duckdb", false), ("python3", true)] {
            match sys::program::find(name) {
                None => wrong.push(format!("there is no {name} on the PATH")),
                Some(program) => match answers(&program, python) {
                    Ok(found) => return Ok(found),
                    Err(why) => wrong.push(format!("{}: {why}", program.display())),
                },
            }
        }
        bail!("no DuckDB to ask: {}. {HOW_TO_GET}", wrong.join("; "))
    }

    /// Asks a question, which may be several, and hands over what it answers piece by piece. Whatever
    /// comes `before` it must succeed and says nothing.
    ///
    /// # Errors
    /// If it cannot be asked at all, or was to stop.
    pub(super) fn ask(
        &self,
        scratch: &Scratch,
        before: &str,
        question: &str,
        format: AnswerFormat,
        take: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<Answer, Failure> {
        let [first, second] = ["before.sql", "question.sql"].map(|name| scratch.path().join(name));
        let shown = match self.python {
            true => before.to_string(),
            false => format!("{before}{}", shown(format)),
        };
        std::fs::write(&first, shown)?;
        std::fs::write(&second, question)?;
        let mut command = Command::new(&self.program);
        if self.python {
            command.arg("-c").arg(ASK).arg(&first);
            command.args([in_python(format), &ui::width().to_string()]);
        } else {
            // What the user's own ~/.duckdbrc sets changes nothing: -init stands in its place.
            command.args(["-batch", "-bail", "-init"]).arg(&first).args(in_program(format));
            command.arg(":memory:");
        }
        command.stdin(Stdio::from(File::open(&second)?));
        let stop = || sys::interrupt::requested().is_some();
        let bounds = Bounds { time: None, complaint_bytes_max: COMPLAINT_BYTES_MAX, stop: &stop };
        let ended = sys::program::run(&mut command, &bounds, take)?;
        let complaint = complaint(&ended.complaint);
        Ok(match ended.status.success() {
            true => Answer::Given(complaint),
            false if complaint.is_empty() => {
                Answer::Refused(format!("it ended with {} and said nothing", ended.status))
            }
            false => Answer::Refused(complaint),
        })
    }
}

/// Returns the error for a DuckDB that did not come to its end.
pub(super) fn failed(failure: Failure) -> anyhow::Error {
    match failure {
        Failure::Stopped => io::Error::other(Stopped).into(),
        other => anyhow::Error::from(other).context("cannot ask DuckDB"),
    }
}

/// Reports whether a program is a DuckDB of an age that can be asked, or what is wrong with it.
fn answers(program: &Path, python: bool) -> Result<Engine, String> {
    let mut command = Command::new(program);
    match python {
        true => command.args(["-c", VERSION]),
        false => command.arg("--version"),
    };
    command.stdin(Stdio::null());
    let stop = || sys::interrupt::requested().is_some();
    let bounds =
        Bounds { time: Some(PATIENCE), complaint_bytes_max: COMPLAINT_BYTES_MAX, stop: &stop };
    let (said, ended) =
        sys::program::answer(&mut command, &bounds, COMPLAINT_BYTES_MAX).map_err(|failure| {
            match failure {
                Failure::Missing => "there is no such program".into(),
                other => other.to_string(),
            }
        })?;
    let said = String::from_utf8_lossy(&said);
    let said = said.trim();
    if !ended.status.success() {
        return Err(match python {
            true => "it has no package duckdb".into(),
            false => format!("it does not say its version ({})", ended.status),
        });
    }
    let line: String = said.lines().next().unwrap_or_default().chars().take(60).collect();
    match version(said) {
        Some(version) if version >= VERSION_LEAST => {
            Ok(Engine { program: program.to_path_buf(), python })
        }
        Some(_) => Err(format!(
            "it is DuckDB {line}, and {}.{} or later is needed",
            VERSION_LEAST.0, VERSION_LEAST.1
        )),
        None => Err(format!("its version is not one of DuckDB's: {line:?}")),
    }
}

/// Returns the first two numbers of `v1.5.6 (Variegata) 069cc9f9b5`, or of `2.0.0`.
fn version(said: &str) -> Option<(u32, u32)> {
    let word = said.split_whitespace().next()?;
    let mut numbers = word.strip_prefix('v').unwrap_or(word).split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Returns the program's own commands for a table.
fn shown(format: AnswerFormat) -> String {
    match (format, ui::letters()) {
        (AnswerFormat::Table, report::Letters::Unicode) => {
            format!(".mode duckbox\n.maxwidth {}\n", ui::width())
        }
        (AnswerFormat::Table, report::Letters::Ascii) => ".mode table\n".into(),
        _ => String::new(),
    }
}

fn in_program(format: AnswerFormat) -> &'static [&'static str] {
    match format {
        AnswerFormat::Table => &[],
        AnswerFormat::Csv => &["-csv", "-nullvalue", ""],
        AnswerFormat::Json => &["-json"],
        AnswerFormat::Markdown => &["-markdown"],
    }
}

fn in_python(format: AnswerFormat) -> &'static str {
    match (format, ui::letters()) {
        (AnswerFormat::Table, report::Letters::Unicode) => "table",
        (AnswerFormat::Table, report::Letters::Ascii) | (AnswerFormat::Markdown, _) => "markdown",
        (AnswerFormat::Csv, _) => "csv",
        (AnswerFormat::Json, _) => "json",
    }
}

/// Returns what it complained about, without colours and without what it says of the file that it began
/// with.
fn complaint(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = anstream::adapter::strip_str(&text).to_string();
    let own = ["-- Loading resources from ", "Encountered errors while executing init file "];
    let lines = text.lines().filter(|line| !own.iter().any(|own| line.starts_with(own)));
    lines.collect::<Vec<_>>().join("\n").trim().to_string()
}

/// Returns a folder for DuckDB to spill into, and what else holds for every question.
pub(super) fn settings(scratch: &Scratch) -> anyhow::Result<String> {
    let spill = sql::text(&scratch.path().join("spill")).context("TMPDIR or --keep")?;
    // Nothing is fetched unless it is asked for: DuckDB would install extensions by itself.
    Ok(format!(
        "SET memory_limit = '2GiB';\nSET temp_directory = {spill};\n\
         SET autoinstall_known_extensions = false;\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::{complaint, version};

    #[test]
    fn versions_of_the_program_and_of_the_package_are_read() {
        assert_eq!(version("v1.5.6 (Variegata) 069cc9f9b5\n"), Some((1, 5)));
        assert_eq!(version("v0.10.3 70fd6a8a24"), Some((0, 10)));
        assert_eq!(version("2.0.0"), Some((2, 0)));
        for none in ["", "duckdb", "v1", "usage: duck", "1.x"] {
            assert_eq!(version(none), None, "{none}");
        }
    }

    #[test]
    fn a_complaint_has_no_colours_and_nothing_of_our_own() {
        let said = "\u{1b}[90m-- Loading resources from /tmp/x\n\u{1b}[00mParser Error: no\n\n\
                    LINE 1: selekt 1;\n        ^\nEncountered errors while executing init file \"x\". Exiting.\n";
        let expected = "Parser Error: no\n\nLINE 1: selekt 1;\n        ^";
        assert_eq!(complaint(said.as_bytes()), expected);
    }
}
