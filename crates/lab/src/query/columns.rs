//! What the tables hold: column by column, with its type and what it is.

use super::sql;
use crate::plan::Purpose;
use crate::scratch::Scratch;
use anyhow::Result;
use export::{FACTOR, Kind, Rows};
use model::{Estimate, Manifest, Moment, Summary};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// A column, as DuckDB has it.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) what: &'static str,
}

const fn column(name: &'static str, kind: &'static str, what: &'static str) -> Column {
    Column { name, kind, what }
}

const TEXT: &str = "VARCHAR";
const INTEGER: &str = "BIGINT";
const NUMBER: &str = "DOUBLE";

/// The columns of `sessions`; most are the facts of the machine under their own names.
const SESSIONS: [Column; 22] = [
    column("session", TEXT, "the session's name, as in trials"),
    column("folder", TEXT, "its folder"),
    column("started", "TIMESTAMP", "when it began (UTC)"),
    column("host", TEXT, "the machine's name"),
    column("machine", TEXT, "a hash that tells one machine from another"),
    column("boot", TEXT, "the boot"),
    column("kernel", TEXT, "the kernel's release"),
    column("cpu_model", TEXT, "the processor"),
    column("cpus_online", INTEGER, "CPUs online"),
    column("cpus_allowed", INTEGER, "CPUs that scruple might use"),
    column("threads_per_core", INTEGER, "threads per core"),
    column("memory_bytes", INTEGER, "memory"),
    column("hypervisor", TEXT, "the hypervisor; null where there is none"),
    column("libc", TEXT, "the C library"),
    column("rights", TEXT, "root or user"),
    column("load", NUMBER, "load average when it began"),
    column("scruple", TEXT, "the version of scruple"),
    column("build", TEXT, "release or debug"),
    column("rustc", TEXT, "what built it"),
    column("asked", TEXT, "run, selftest, study, scale or why"),
    column("seed", "UBIGINT", "where the random order comes from"),
    column("command", TEXT, "the command line"),
];

const SETTINGS: [Column; 3] = [
    column("session", TEXT, "the session's name, as in trials"),
    column("setting", TEXT, "a setting of the machine that moves numbers"),
    column("value", TEXT, "what it was"),
];

const ESTIMATES: [Column; 9] = [
    column("session", TEXT, "the session's name, as in trials"),
    column("experiment", TEXT, "the experiment"),
    column("treatment", TEXT, "the treatment in words"),
    column("response", TEXT, "what was measured"),
    column("unit", TEXT, "the unit of the three numbers"),
    column("estimate", NUMBER, "the median over blocks, or how often it happened"),
    column("low", NUMBER, "the lower end of its 95 % confidence interval"),
    column("high", NUMBER, "the upper end"),
    column("samples", INTEGER, "blocks or trials behind it"),
];

const VERDICTS: [Column; 9] = [
    column("session", TEXT, "the session's name, as in trials"),
    column("experiment", TEXT, "the experiment"),
    column("claim", TEXT, "the claim's name"),
    column("text", TEXT, "what is claimed"),
    column("verdict", TEXT, "supported, refuted or inconclusive"),
    column("estimate", NUMBER, "the number that decides"),
    column("low", NUMBER, "the lower end of its 95 % confidence interval"),
    column("high", NUMBER, "the upper end"),
    column("p_value", NUMBER, "of the sign test, before the correction for many claims"),
];

/// The tables after that of the trials, in the order in which they are listed.
const TABLES: [(&str, &str, &[Column]); 4] = [
    ("sessions", "one row per session", &SESSIONS),
    ("settings", "one row per setting of a session's machine", &SETTINGS),
    ("estimates", "one row per treatment and response with a number", &ESTIMATES),
    ("verdicts", "one row per claim", &VERDICTS),
];

/// The most characters of a cell of the small tables: nobody's manifest makes a line that no reader
/// takes.
const CELL_CHARACTERS_MAX: usize = 10_000;

/// Returns the cells of a session, in the order of [`SESSIONS`].
fn cells(called: &str, folder: &Path, manifest: &Manifest) -> Result<Vec<String>> {
    let mut facts = serde_json::to_value(&manifest.environment)?;
    facts["session"] = json!(called);
    facts["folder"] = json!(folder.display().to_string());
    facts["started"] = json!(moment(manifest.started_unix_ms));
    facts["cpus_allowed"] = json!(manifest.environment.cpus_allowed.len());
    facts["scruple"] = json!(manifest.scruple);
    facts["asked"] = json!(Purpose::of(&manifest.options).command());
    facts["seed"] = json!(manifest.seed);
    facts["command"] = json!(wording::command_line(&manifest.command));
    let cell = |column: &Column| match &facts[column.name] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    Ok(SESSIONS.iter().map(cell).collect())
}

fn moment(unix_ms: u64) -> String {
    let it = Moment::of_unix_ms(unix_ms);
    // What DuckDB reads as a time ends before the year 10000.
    if it.year > 9999 {
        return String::new();
    }
    format!("{it}.{:03}", unix_ms % 1000).replace('T', " ")
}

/// Reports whether a question may be about what is analysed, which takes longer than reading.
pub(super) fn asks_for_analysis(question: &str) -> bool {
    let question = question.to_lowercase();
    ["estimates", "verdicts"].iter().any(|table| question.contains(table))
}

/// The rows of the small tables, as they grow.
#[derive(Debug, Default)]
pub(super) struct Small {
    sessions: String,
    settings: String,
    estimates: String,
    verdicts: String,
}

impl Small {
    /// Adds the rows of a session, which is `called` so in all tables, and whose folder was named or found.
    pub(super) fn push(&mut self, called: &str, folder: &Path, manifest: &Manifest) -> Result<()> {
        push_row(&mut self.sessions, cells(called, folder, manifest)?);
        for (setting, value) in &manifest.environment.settings {
            push_row(&mut self.settings, [called, setting, value].map(String::from));
        }
        Ok(())
    }

    /// Adds what the analysis of a session found.
    pub(super) fn push_analysis(&mut self, called: &str, manifest: &Manifest, summary: &Summary) {
        for experiment in &summary.experiments {
            let design = manifest.designs.iter().find(|design| design.id == experiment.id);
            for row in &experiment.estimates {
                let Some(estimate) = row.estimate else { continue };
                let treatment = design.map(|design| report::briefly(design, &row.treatment));
                let [point, low, high] = numbers(Some(estimate));
                let samples = estimate.samples.to_string();
                let (id, unit) = (experiment.id.clone(), wording::unit(&row.unit));
                let treatment = treatment.unwrap_or_default();
                let cells = [called.into(), id, treatment, row.response.clone(), unit];
                push_row(&mut self.estimates, cells.into_iter().chain([point, low, high, samples]));
            }
            for claim in &experiment.claims {
                let [point, low, high] = numbers(claim.result.estimate);
                let p_value = claim.p_value.map_or(String::new(), |p| p.to_string());
                let verdict = format!("{:?}", claim.verdict).to_lowercase();
                let words = [experiment.id.clone(), claim.id.clone(), claim.text.clone(), verdict];
                let cells = std::iter::once(called.into()).chain(words);
                push_row(&mut self.verdicts, cells.chain([point, low, high, p_value]));
            }
        }
    }

    /// Writes them, and says how they are read.
    pub(super) fn write(&self, scratch: &Scratch) -> Result<String> {
        let mut script = String::new();
        let rows = [&self.sessions, &self.settings, &self.estimates, &self.verdicts];
        for ((name, _, columns), rows) in TABLES.iter().zip(rows) {
            let path = scratch.path().join(format!("{name}.csv"));
            let mut text = String::new();
            push_row(&mut text, columns.iter().map(|column| column.name.to_string()));
            text.push_str(rows);
            std::fs::write(&path, text)?;
            let kinds: Vec<String> =
                columns.iter().map(|it| format!("'{}': '{}'", it.name, it.kind)).collect();
            let (path, kinds, csv) = (sql::file(&path)?, kinds.join(", "), sql::CSV);
            writeln!(
                script,
                "CREATE TABLE {name} AS FROM read_csv({path}, {csv}, auto_detect = false, \
                 columns = {{{kinds}}});"
            )?;
        }
        Ok(script)
    }
}

/// Returns a number and the ends of its interval, empty where there is none.
fn numbers(estimate: Option<Estimate>) -> [String; 3] {
    estimate.map_or_else(Default::default, |it| [it.point, it.low, it.high].map(|x| x.to_string()))
}

/// Appends a row of CSV; what is empty is null.
fn push_row(out: &mut String, cells: impl IntoIterator<Item = String>) {
    for (index, cell) in cells.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        if !cell.is_empty() {
            let cell: String = cell.chars().take(CELL_CHARACTERS_MAX).collect();
            out.push('"');
            out.push_str(&cell.replace('"', "\"\""));
            out.push('"');
        }
    }
    out.push('\n');
}

/// Returns the tables for people who write SQL. `factors` are those of the sessions, with the experiments
/// that have them; none where no session was named.
pub(super) fn listed(factors: Option<&BTreeMap<String, Vec<String>>>) -> String {
    let mut text =
        "trials: one row per trial and response; a row without a value says why\n".to_string();
    let names = match factors {
        Some(factors) => factors.keys().map(String::as_str).collect(),
        None => vec!["NAME"],
    };
    for column in export::columns(Rows::Trials, &names) {
        let of = column.name.strip_prefix(FACTOR).and_then(|factor| factors?.get(factor));
        let of = of.map(|of| wording::cleaned(&format!("of {}", of.join(", "))));
        let name = wording::cleaned(&named(&column.name));
        push_line(&mut text, &name, kind(column.kind), of.as_deref().unwrap_or(column.what));
    }
    for (table, what, columns) in TABLES {
        let _ = writeln!(text, "\n{table}: {what}");
        for Column { name, kind, what } in columns {
            push_line(&mut text, name, kind, what);
        }
    }
    text
}

/// Returns the type of a column of `scruple export`; docs/exports.md says more of them.
pub(super) fn kind(of: Kind) -> &'static str {
    match of {
        Kind::Text => TEXT,
        Kind::Integer | Kind::Moment => INTEGER,
        Kind::Number => NUMBER,
    }
}

fn push_line(text: &mut String, name: &str, kind: &str, what: &str) {
    let _ = writeln!(text, "  {name:<24} {kind:<9} {what}");
}

/// Returns a name as SQL takes it: in quotes if it needs them.
fn named(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain { name.into() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}
