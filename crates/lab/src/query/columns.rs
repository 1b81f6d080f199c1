//! What the tables hold: column by column, with its type and what it is.

use super::sql;
use crate::scratch::Scratch;
use model::{Manifest, Moment};
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

/// Where the columns of factors stand, one for each.
pub(super) const FACTORS: &str = "factor_NAME";

/// The columns of `scruple export`; docs/exports.md says more of them.
pub(super) const TRIALS: [Column; 18] = [
    column(
        "session",
        TEXT,
        "the session's name; one that several have is numbered: base, base (2)",
    ),
    column("host", TEXT, "the machine's name"),
    column("experiment", TEXT, "the experiment"),
    column("version", INTEGER, "the version of its design: numbers of two are not comparable"),
    column("trial", INTEGER, "the trial's number in the session, from 0"),
    column("block", INTEGER, "the block: pair treatments by it, within a session"),
    column("position", INTEGER, "the trial's place in the block's random order, from 0"),
    column("treatment", TEXT, "all levels in one text"),
    column(FACTORS, TEXT, "the level of that factor; null where the experiment has none of it"),
    column("response", TEXT, "what was measured"),
    column("unit", TEXT, "ns, bytes, count, ppm, per_second, or a study's own"),
    column("value", NUMBER, "what estimates are made from: measured_value, less its control"),
    column("measured_value", NUMBER, "the trial's one number as it was measured"),
    column("observations", INTEGER, "observations behind it"),
    column("outcome", TEXT, "completed, unsupported, failed, died, timed_out, …"),
    column("reason", TEXT, "why, where there is a reason"),
    column("tags", TEXT, "what happened to the trial, with ; between them"),
    column("started_unix_ms", INTEGER, "when it was started, in ms since 1970"),
];

/// A column of `sessions`, and where its cell comes from.
type OfSession = (Column, fn(&Read<'_>) -> String);

/// A session of which a row is made.
pub(super) struct Read<'a> {
    /// What it is called in all tables.
    pub(super) called: &'a str,
    /// Its folder, as it was named or found.
    pub(super) folder: &'a Path,
    pub(super) manifest: &'a Manifest,
}

const SESSIONS: [OfSession; 22] = [
    (column("session", TEXT, "the session's name, as in trials"), |it| it.called.into()),
    (column("folder", TEXT, "its folder"), |it| it.folder.display().to_string()),
    (column("started", "TIMESTAMP", "when it began (UTC)"), |it| {
        moment(it.manifest.started_unix_ms)
    }),
    (column("host", TEXT, "the machine's name"), |it| it.manifest.environment.host.clone()),
    (column("machine", TEXT, "a hash that tells one machine from another"), |it| {
        it.manifest.environment.machine.clone()
    }),
    (column("boot", TEXT, "the boot"), |it| it.manifest.environment.boot.clone()),
    (column("kernel", TEXT, "the kernel's release"), |it| it.manifest.environment.kernel.clone()),
    (column("cpu_model", TEXT, "the processor"), |it| it.manifest.environment.cpu_model.clone()),
    (column("cpus_online", INTEGER, "CPUs online"), |it| {
        it.manifest.environment.cpus_online.to_string()
    }),
    (column("cpus_allowed", INTEGER, "CPUs that scruple might use"), |it| {
        it.manifest.environment.cpus_allowed.len().to_string()
    }),
    (column("threads_per_core", INTEGER, "threads per core"), |it| {
        it.manifest.environment.threads_per_core.to_string()
    }),
    (column("memory_bytes", INTEGER, "memory"), |it| {
        it.manifest.environment.memory_bytes.to_string()
    }),
    (column("hypervisor", TEXT, "the hypervisor; null where there is none"), |it| {
        it.manifest.environment.hypervisor.clone()
    }),
    (column("libc", TEXT, "the C library"), |it| it.manifest.environment.libc.clone()),
    (column("rights", TEXT, "root or user"), |it| it.manifest.environment.rights.clone()),
    (column("load", NUMBER, "load average when it began"), |it| {
        it.manifest.environment.load.to_string()
    }),
    (column("scruple", TEXT, "the version of scruple"), |it| it.manifest.scruple.clone()),
    (column("build", TEXT, "release or debug"), |it| it.manifest.environment.build.clone()),
    (column("rustc", TEXT, "what built it"), |it| it.manifest.environment.rustc.clone()),
    (column("asked", TEXT, "run, selftest, study, scale or why"), |it| asked(it.manifest).into()),
    (column("seed", "UBIGINT", "where the random order comes from"), |it| {
        it.manifest.seed.to_string()
    }),
    (column("command", TEXT, "the command line"), |it| report::command_line(&it.manifest.command)),
];

const SETTINGS: [Column; 3] = [
    column("session", TEXT, "the session's name, as in trials"),
    column("setting", TEXT, "a setting of the machine that moves numbers"),
    column("value", TEXT, "what it was"),
];

/// The tables, in the order in which they are listed.
const TABLES: [(&str, &str); 3] = [
    ("trials", "one row per trial and response; a row without a value says why"),
    ("sessions", "one row per session"),
    ("settings", "one row per setting of a session's machine"),
];

/// The most characters of a cell of the two small tables: nobody's manifest makes a line that no reader
/// takes.
const CELL_CHARACTERS_MAX: usize = 10_000;

fn asked(manifest: &Manifest) -> &'static str {
    match manifest.options.inquiry {
        Some(inquiry) => inquiry.command(),
        None if manifest.options.selftest => "selftest",
        None => "run",
    }
}

fn moment(unix_ms: u64) -> String {
    let it = Moment::of_unix_ms(unix_ms);
    // What DuckDB reads as a time ends before the year 10000.
    if it.year > 9999 {
        return String::new();
    }
    format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:03}",
        it.year,
        it.month,
        it.day,
        it.hour,
        it.minute,
        it.second,
        unix_ms % 1000
    )
}

/// The rows of the two small tables, as they grow.
#[derive(Debug, Default)]
pub(super) struct Small {
    sessions: String,
    settings: String,
}

impl Small {
    pub(super) fn push(&mut self, read: &Read<'_>) {
        push_row(&mut self.sessions, SESSIONS.iter().map(|(_, cell)| cell(read)));
        for (setting, value) in &read.manifest.environment.settings {
            let cells = [read.called.to_string(), setting.clone(), value.clone()];
            push_row(&mut self.settings, cells.into_iter());
        }
    }

    /// Writes both, and says how they are read.
    pub(super) fn write(&self, scratch: &Scratch) -> anyhow::Result<String> {
        let mut script = String::new();
        let sessions: Vec<&Column> = SESSIONS.iter().map(|(column, _)| column).collect();
        let settings: Vec<&Column> = SETTINGS.iter().collect();
        for (name, columns, rows) in
            [("sessions", sessions, &self.sessions), ("settings", settings, &self.settings)]
        {
            let path = scratch.path().join(format!("{name}.csv"));
            let mut text = String::new();
            push_row(&mut text, columns.iter().map(|column| column.name.to_string()));
            text.push_str(rows);
            std::fs::write(&path, text)?;
            let kinds: Vec<String> =
                columns.iter().map(|it| format!("'{}': '{}'", it.name, it.kind)).collect();
            let (path, kinds) = (sql::file(&path)?, kinds.join(", "));
            let csv = sql::CSV;
            writeln!(
                script,
                "CREATE TABLE {name} AS FROM read_csv({path}, {csv}, auto_detect = false, \
                 columns = {{{kinds}}});"
            )?;
        }
        Ok(script)
    }
}

/// Appends a row of CSV; what is empty is null.
fn push_row(out: &mut String, cells: impl Iterator<Item = String>) {
    for (index, cell) in cells.enumerate() {
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
    let mut text = String::new();
    for (index, (table, what)) in TABLES.iter().enumerate() {
        let gap = if index == 0 { "" } else { "\n" };
        let _ = writeln!(text, "{gap}{table}: {what}");
        for (name, kind, what) in lines(index, factors) {
            let _ = writeln!(text, "  {name:<24} {kind:<9} {what}");
        }
    }
    text
}

type Line = (String, &'static str, String);

fn lines(table: usize, factors: Option<&BTreeMap<String, Vec<String>>>) -> Vec<Line> {
    let plain = |it: &Column| (it.name.to_string(), it.kind, it.what.to_string());
    let factor = |(name, of): (&String, &Vec<String>)| {
        let of = format!("of {}", of.join(", "));
        (report::harmless(&named(&format!("factor_{name}"))), TEXT, report::harmless(&of))
    };
    match (table, factors) {
        (0, Some(factors)) => TRIALS
            .iter()
            .flat_map(|it| match it.name {
                FACTORS => factors.iter().map(factor).collect(),
                _ => vec![plain(it)],
            })
            .collect(),
        (0, None) => TRIALS.iter().map(plain).collect(),
        (1, _) => SESSIONS.iter().map(|(it, _)| plain(it)).collect(),
        _ => SETTINGS.iter().map(plain).collect(),
    }
}

/// Returns a name as SQL takes it: in quotes if it needs them.
fn named(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain { name.into() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}
