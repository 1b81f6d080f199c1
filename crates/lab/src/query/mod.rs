//! `scruple query`: many sessions as tables, and DuckDB to ask them.
//!
//! Thin: what is measured goes out by `export`, what is asked goes to DuckDB as it was typed, and what
//! it answers comes back as it is.

mod columns;
mod engine;
mod sql;
mod tables;

use crate::cli::query::{AnswerFormat, QueryArgs};
use crate::destination::{self, Destination};
use crate::exit::Exit;
use crate::scratch::Scratch;
use crate::{input, lookup, session_folders, ui};
use anyhow::{Context, bail, ensure};
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
    let sessions = match folders {
        [] => vec![lookup::session(None).context("no session to ask")?],
        named => sessions(named)?,
    };
    let engine = Engine::find(args.duckdb.as_deref())?;
    sys::interrupt::install()?;
    let scratch = scratch(args.keep.as_deref())?;
    let analysed = columns::asks_for_analysis(&question);
    let before = tables::make(&sessions, args.keep.as_deref(), &engine, &scratch, analysed)?;
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
    match asked {
        Ok(Answer::Given(beside)) => {
            out.end(Ok(()))?;
            beside.lines().for_each(ui::note);
            Ok(Exit::Done)
        }
        Ok(Answer::Refused(why)) => {
            out.end(Ok(()))?;
            // DuckDB's first line says what is wrong, and those below where.
            let mut lines = why.lines();
            ui::complain(&anyhow::anyhow!("DuckDB: {}", lines.next().unwrap_or_default()));
            lines.for_each(ui::note);
            Ok(Exit::Error)
        }
        Err(Failure::Taker(error)) => {
            out.end(Err(error))?;
            Ok(Exit::Done)
        }
        Err(failure) => Err(engine::failed(failure)),
    }
}

/// Returns the folders, and the question.
fn words(args: &QueryArgs) -> anyhow::Result<(&[OsString], String)> {
    let (folders, question) = match (&args.file, args.words.split_last()) {
        (Some(file), _) => (&args.words[..], file.as_os_str()),
        (None, Some((last, folders))) => (folders, last.as_os_str()),
        (None, None) => bail!("name a session or a folder of sessions, and ask a question in SQL"),
    };
    let path = Path::new(question);
    ensure!(
        args.file.is_some() || !path.is_dir(),
        "{} is a folder; the question comes last: SQL, or - for standard input (or --file FILE)",
        path.display()
    );
    let (from, text) = if args.file.is_some() || input::is_standard(path) {
        (input::name(path), input::text(path, QUESTION_BYTES_MAX)?)
    } else {
        let text = question.to_str().context("the question is not in UTF-8")?;
        ("the question".to_string(), text.to_string())
    };
    if text.trim().is_empty() {
        bail!("{from} is empty: ask something in SQL, such as \"FROM sessions\"");
    }
    ensure!(!text.contains('\0'), "{from} is no SQL: there is a NUL in it");
    Ok((folders, text))
}

/// Returns the sessions of all folders, each once.
fn sessions(folders: &[OsString]) -> anyhow::Result<Vec<PathBuf>> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    for folder in folders {
        for dir in session_folders::of_path(Path::new(folder), SESSIONS_MAX, "a question has")? {
            let itself = std::fs::canonicalize(&dir);
            let itself = itself.with_context(|| format!("cannot read {}", dir.display()))?;
            if seen.insert(itself) {
                found.push(dir);
            }
        }
    }
    ensure!(
        found.len() <= SESSIONS_MAX,
        "these are {} sessions: a question has at most {SESSIONS_MAX}",
        found.len()
    );
    Ok(found)
}

/// Returns a folder that is gone afterwards: where the tables are kept, if they are, so that a table gets
/// its place there at once.
fn scratch(keep: Option<&Path>) -> anyhow::Result<Scratch> {
    let Some(keep) = keep else { return Scratch::create("query") };
    ensure!(
        !destination::is_session(keep),
        "--keep {}: that is a session's folder; name another",
        keep.display()
    );
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
