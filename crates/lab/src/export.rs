//! `scruple export`: a stored session in the layouts of other tools.

use crate::cli::{ExportArgs, ExportFormat};
use crate::destination::Destination;
use crate::exit::Exit;
use crate::{catalog, input, lookup, redaction, session, ui};
use anyhow::{bail, ensure};
use export::{Choice, LeftOut, Rows, Session};
use model::{Manifest, Response};
use store::Stored;

/// What a build without Parquet answers to who asks for it.
const WITHOUT_PARQUET: &str = "this scruple was built without Parquet; \
`cargo build --release --features parquet` makes one that has it, or turn the CSV into Parquet: \
`duckdb -c \"COPY (FROM 'session.csv') TO 'session.parquet'\"`";

/// Names of left-out responses that are shown; the rest is counted.
const NAMES_SHOWN: usize = 3;

pub(crate) fn export(args: &ExportArgs) -> anyhow::Result<Exit> {
    let format = format(args)?;
    let rows = if args.observations { Rows::Observations } else { Rows::Trials };
    let table = matches!(format, ExportFormat::Csv | ExportFormat::Parquet);
    if args.observations && !table {
        bail!("--observations: only csv and parquet have a place for each observation");
    }
    ensure!(format != ExportFormat::Parquet || cfg!(feature = "parquet"), "{WITHOUT_PARQUET}");
    let mut stored = store::open(&lookup::session(args.session.as_deref())?)?;
    if format == ExportFormat::Session {
        return copy(stored, args);
    }
    if args.redact {
        stored = redaction::redacted(stored)?;
    }
    let ids: Vec<&str> = stored.manifest.designs.iter().map(|it| it.id.as_str()).collect();
    for name in &args.experiments {
        catalog::known("no experiment of this session is named", name, &ids)?;
    }
    let choice =
        Choice { experiments: args.experiments.clone(), responses: args.responses.clone() };
    let session = Session { manifest: &stored.manifest, records: &stored.records };
    let binary = format == ExportFormat::Parquet;
    let mut destination = Destination::open(args.output.as_deref(), binary)?;
    session::say_what_is_odd(&stored);
    match write(&session, format, &choice, rows, &mut destination) {
        Ok(notes) => {
            destination.end(Ok(()))?;
            notes.iter().chain(&absent(&stored.manifest, args)).for_each(|note| ui::note(note));
        }
        Err(export::Error::Io(error)) => destination.end(Err(error))?,
        Err(other) => return Err(other.into()),
    }
    Ok(Exit::Done)
}

/// Says which experiments that were asked for have none of the responses that were asked for.
fn absent(manifest: &Manifest, args: &ExportArgs) -> Vec<String> {
    let is_chosen = |response: &Response| args.responses.contains(&response.name);
    let named = manifest.designs.iter().filter(|design| args.experiments.contains(&design.id));
    let without = named.filter(|design| !design.responses.iter().any(is_chosen));
    let asked = args.responses.join(" or ");
    match args.responses.is_empty() {
        true => Vec::new(),
        false => without.map(|design| format!("{} has no {asked}: no row", design.id)).collect(),
    }
}

/// Writes the session into a folder of its own.
fn copy(stored: Stored, args: &ExportArgs) -> anyhow::Result<Exit> {
    let Some(dir) = args.output.as_deref().filter(|path| !input::is_standard(path)) else {
        bail!("--format session makes a folder: --output DIR");
    };
    if !args.experiments.is_empty() || !args.responses.is_empty() {
        bail!("--format session has all experiments and responses");
    }
    session::say_what_is_odd(&stored);
    let stored = if args.redact { redaction::redacted(stored)? } else { stored };
    redaction::copy(&stored, dir)?;
    ui::note(&format!("{} trials in {}", stored.records.len(), dir.display()));
    Ok(Exit::Done)
}

/// Writes the session, and returns what is to be noted about it.
fn write(
    session: &Session<'_>,
    format: ExportFormat,
    choice: &Choice,
    rows: Rows,
    out: &mut Destination,
) -> Result<Vec<String>, export::Error> {
    let counted = |count: u64| vec![format!("{count} rows")];
    Ok(match format {
        ExportFormat::Csv => counted(export::write_csv(session, choice, rows, false, out)?),
        #[cfg(feature = "parquet")]
        ExportFormat::Parquet => counted(export::write_parquet(session, choice, rows, out)?),
        #[cfg(not(feature = "parquet"))]
        ExportFormat::Parquet => {
            return Err(std::io::Error::new(std::io::ErrorKind::Unsupported, WITHOUT_PARQUET))?;
        }
        ExportFormat::Hyperfine => left_out(&export::hyperfine(session, choice, out)?),
        ExportFormat::GoogleBenchmark => left_out(&export::google_benchmark(session, choice, out)?),
        ExportFormat::Bencher => left_out(&export::bencher(session, choice, out)?),
        ExportFormat::Table => {
            let Session { manifest, records } = *session;
            let summary = session::summarise(manifest, records, &manifest.designs);
            let whole = report::Session { manifest, records, summary: &summary };
            let table = report::estimates(&whole, &choice.experiments, &choice.responses);
            std::io::Write::write_all(out, table.as_bytes())?;
            Vec::new()
        }
        ExportFormat::Session => Vec::new(),
    })
}

/// Returns the format that was asked for, or the one that the file's name tells.
fn format(args: &ExportArgs) -> anyhow::Result<ExportFormat> {
    if let Some(format) = args.format {
        return Ok(format);
    }
    let Some(path) = args.output.as_deref().filter(|path| !input::is_standard(path)) else {
        return Ok(ExportFormat::Csv);
    };
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    match ending.as_ref().and_then(|ending| ending.to_str()) {
        Some("csv") => Ok(ExportFormat::Csv),
        Some("md") => Ok(ExportFormat::Table),
        Some("parquet") => Ok(ExportFormat::Parquet),
        Some("json") => {
            bail!("{}: which JSON? --format hyperfine, google-benchmark or bencher", path.display())
        }
        _ => bail!(
            "{}: its ending does not tell the format; say --format csv, table, parquet, hyperfine, \
             google-benchmark or bencher",
            path.display()
        ),
    }
}

/// Says what the layout has no place for.
fn left_out(it: &LeftOut) -> Vec<String> {
    let mut notes = Vec::new();
    if !it.no_times.is_empty() {
        let names = responses(&it.no_times, "that are no times", "that is no time");
        notes.push(format!(
            "left out: {names}, since the layout takes times alone; --format csv has all"
        ));
    }
    if !it.stand_as_cpu_time.is_empty() {
        let names = responses(&it.stand_as_cpu_time, "of CPU time", "of CPU time");
        notes.push(format!("beside the time that each belongs to: {names}"));
    }
    if it.not_completed > 0 {
        let s = if it.not_completed == 1 { "" } else { "s" };
        notes.push(format!("left out: {} trial{s} that did not complete", it.not_completed));
    }
    if it.without_number > 0 {
        let count = it.without_number;
        notes.push(format!("left out: {count} pairs of response and treatment without a number"));
    }
    notes
}

/// Names some responses: `12 responses that are no times (create.switches_count, … and 9 more)`.
fn responses(names: &[String], many: &str, one: &str) -> String {
    let shown: Vec<&str> = names.iter().take(NAMES_SHOWN).map(String::as_str).collect();
    let more = match names.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let noun = if names.len() == 1 { "response" } else { "responses" };
    let which = if names.len() == 1 { one } else { many };
    format!("{} {noun} {which} ({}{more})", names.len(), shown.join(", "))
}
