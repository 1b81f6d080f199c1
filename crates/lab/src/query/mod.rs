//! `scruple query`: many sessions as tables, and DuckDB to ask them.
//!
//! Thin: what is measured goes out by `export`, what is asked goes to DuckDB as it was typed, and what
//! it answers comes back as it is.

mod columns;
mod engine;
mod sql;
mod tables;

use crate::cli::query::{AnswerFormat, QueryArgs};
use crate::destination::Destination;
use crate::exit::Exit;
use crate::scratch::Scratch;
use crate::{input, sides, ui};
use anyhow::{Context, bail};
use engine::{Answer, Engine};
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use sys::program::Failure;

/// The most sessions that are asked at once.
const SESSIONS_MAX: usize = 10_000;

/// The most bytes of a question.
const QUESTION_BYTES_MAX: u64 = 1 << 20;

pub(crate) fn query(args: &QueryArgs) -> anyhow::Result<Exit> {
    if args.schema {
        return schema(&args.words);
    }
    let (folders, question) = words(args)?;
    let sessions = sessions(folders)?;
    let question = question.read()?;
    let engine = Engine::find(args.duckdb.as_deref())?;
    sys::interrupt::install()?;
    let scratch = scratch(args.keep.as_deref())?;
    let before = tables::make(&sessions, args.keep.as_deref(), &engine, &scratch)?;
    let format = args.format.unwrap_or(match io::stdout().is_terminal() {
        true => AnswerFormat::Table,
        false => AnswerFormat::Csv,
    });
    answer(&engine, &scratch, &before, &question, format)
}

/// Asks, and shows what is answered as it comes.
fn answer(
    engine: &Engine,
    scratch: &Scratch,
    before: &str,
    question: &str,
    format: AnswerFormat,
) -> anyhow::Result<Exit> {
    let mut out = Destination::open(None, false)?;
    let asked = engine.ask(scratch, before, question, format, &mut |bytes| out.write_all(bytes));
    let flushed = out.flush();
    match asked {
        Ok(Answer::Given(beside)) => {
            beside.lines().for_each(ui::note);
            match flushed {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    Err(error).context("cannot write to standard output")
                }
                _ => Ok(Exit::Done),
            }
        }
        Ok(Answer::Refused(why)) => {
            // DuckDB's first line says what is wrong, and those below where.
            let mut lines = why.lines();
            ui::complain(&anyhow::anyhow!("DuckDB: {}", lines.next().unwrap_or_default()));
            lines.for_each(ui::note);
            Ok(Exit::Error)
        }
        // A reader that has had enough (`| head`) is no error.
        Err(Failure::Taker(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        Err(Failure::Taker(error)) => Err(error).context("cannot write to standard output"),
        Err(failure) => Err(engine::failed(failure)),
    }
}

/// Where a question stands.
enum Question<'a> {
    Text(&'a str),
    /// A file; `-` is standard input.
    File(&'a Path),
}

/// Returns the folders, and the question.
fn words(args: &QueryArgs) -> anyhow::Result<(&[OsString], Question<'_>)> {
    if let Some(file) = &args.file {
        return Ok((&args.words, Question::File(file)));
    }
    let Some((last, folders)) = args.words.split_last() else {
        bail!("name a session or a folder of sessions, and ask a question in SQL");
    };
    if Path::new(last).is_dir() {
        bail!(
            "{} is a folder; the question comes last: SQL, or - for standard input (or --file FILE)",
            Path::new(last).display()
        );
    }
    if folders.is_empty() {
        bail!("no session to ask: name a session or a folder of sessions before the question");
    }
    if input::is_stdin(Path::new(last)) {
        return Ok((folders, Question::File(Path::new(last))));
    }
    let text = last.to_str().context("the question is not in UTF-8")?;
    Ok((folders, Question::Text(text)))
}

impl Question<'_> {
    fn read(&self) -> anyhow::Result<String> {
        let (from, text) = match self {
            Question::Text(text) => ("the question".to_string(), (*text).to_string()),
            Question::File(path) => (input::name(path), input::text(path, QUESTION_BYTES_MAX)?),
        };
        if text.trim().is_empty() {
            bail!("{from} is empty: ask something in SQL, such as \"FROM sessions\"");
        }
        if text.contains('\0') {
            bail!("{from} is no SQL: there is a NUL in it");
        }
        Ok(text)
    }
}

/// Returns the sessions of all folders, each once.
fn sessions(folders: &[OsString]) -> anyhow::Result<Vec<PathBuf>> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    for folder in folders {
        for dir in sides::folders(Path::new(folder), SESSIONS_MAX, "a question has")? {
            let itself = std::fs::canonicalize(&dir);
            let itself = itself.with_context(|| format!("cannot read {}", dir.display()))?;
            if seen.insert(itself) {
                found.push(dir);
            }
        }
    }
    if found.len() > SESSIONS_MAX {
        bail!("these are {} sessions: a question has at most {SESSIONS_MAX}", found.len());
    }
    Ok(found)
}

/// Returns a folder that is gone afterwards: where the tables are kept, if they are, so that a table gets
/// its place there at once.
fn scratch(keep: Option<&Path>) -> anyhow::Result<Scratch> {
    let Some(keep) = keep else {
        return Scratch::create("query");
    };
    if [store::MANIFEST_FILE, store::TRIALS_FILE].iter().all(|it| keep.join(it).exists()) {
        bail!("--keep {}: that is a session's folder; name another", keep.display());
    }
    std::fs::create_dir_all(keep)
        .and_then(|()| Scratch::within(keep, ".scruple-query"))
        .with_context(|| format!("--keep {}: cannot write there", keep.display()))
}

/// Lists the tables.
fn schema(words: &[OsString]) -> anyhow::Result<Exit> {
    if words.is_empty() {
        ui::people(&columns::listed(None))?;
        return Ok(Exit::Done);
    }
    let mut factors: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for dir in sessions(words)? {
        for design in store::read_manifest(&dir)?.designs {
            for factor in design.factors {
                let of = factors.entry(factor.name).or_default();
                if !of.contains(&design.id) {
                    of.push(design.id.clone());
                }
            }
        }
    }
    ui::people(&columns::listed(Some(&factors)))?;
    Ok(Exit::Done)
}
