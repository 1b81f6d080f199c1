//! What a session's folder and its analysis have to do with each other.

use crate::plan::Purpose;
use crate::schedule::{self, Course};
use crate::ui;
use anyhow::Context;
use model::{Design, Manifest, Record, Summary};
use std::path::Path;
use store::Stored;

/// The version of scruple that analyses.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the name of a session that begins now.
pub(crate) fn name(started_unix_ms: u64, host: &str, purpose: Purpose) -> String {
    let name = store::session_name(started_unix_ms, host);
    if purpose == Purpose::Run { name } else { format!("{name}-{}", purpose.command()) }
}

/// Returns what the stored trials say.
pub(crate) fn summarise(manifest: &Manifest, records: &[Record], designs: &[Design]) -> Summary {
    analysis::summarise(&analysis::Input {
        scruple: VERSION,
        session: &manifest.session,
        complete: is_complete(manifest, records),
        environment: &manifest.environment,
        shield: &manifest.shield,
        designs,
        records,
    })
}

/// Returns how far each experiment of a session is.
pub(crate) fn courses(manifest: &Manifest, records: &[Record]) -> Vec<Course> {
    let new = |design: &Design| Course::new(design.clone(), &manifest.options);
    let mut courses: Vec<Course> = manifest.designs.iter().map(new).collect();
    for record in records {
        if let Some(course) = courses.iter_mut().find(|it| record.experiment == it.design.id) {
            course.note(record);
        }
    }
    courses
}

/// Reports whether every experiment has the blocks that its session was to measure at the least.
pub(crate) fn is_complete(manifest: &Manifest, records: &[Record]) -> bool {
    schedule::incomplete(&courses(manifest, records)).next().is_none()
}

/// Returns what is odd about a stored session without being an error, with its folder.
pub(crate) fn oddity(stored: &Stored) -> Option<String> {
    odd(stored).map(|odd| format!("{}: {odd}", stored.dir.display()))
}

/// Returns what a stored session says, its damage first among the conditions.
pub(crate) fn summary(stored: &Stored) -> Summary {
    let Stored { manifest, records, .. } = stored;
    let mut summary = summarise(manifest, records, &manifest.designs);
    summary.meter.conditions.splice(0..0, condition(odd(stored)));
    summary
}

/// Returns what is odd about a session as one of its conditions.
pub(crate) fn condition(odd: Option<String>) -> Option<String> {
    odd.map(|odd| format!("{}.", wording::capital(&odd)))
}

/// Returns what is odd about a stored session without being an error.
pub(crate) fn odd(stored: &Stored) -> Option<String> {
    let torn = stored.torn.as_ref().map(|torn| {
        let line = torn.line;
        format!("line {line} of trials.ndjson is torn; the trial it belonged to is not counted")
    });
    let repeated = (stored.repeated > 0).then(|| {
        let lines = wording::counted(stored.repeated, "line");
        format!("left out of trials.ndjson: {lines}, each a copy of an earlier one")
    });
    let all: Vec<String> = torn.into_iter().chain(repeated).chain(damage(stored)).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Returns which lines of a stored session are no records of it.
fn damage(stored: &Stored) -> Option<String> {
    let store::Damage { lines, first } = &stored.damage;
    let (_, what) = first.first()?;
    let all = stored.records.len() as u64 + stored.repeated + lines;
    let named: Vec<String> = first.iter().map(|(line, _)| line.to_string()).collect();
    let more = if first.len() as u64 == *lines { "" } else { ", …" };
    let (are, named) = (
        if *lines == 1 { "is no record: line" } else { "are no records: lines" },
        named.join(", "),
    );
    let counted = wording::counted(*lines, "line");
    Some(format!(
        "left out of trials.ndjson: {counted} of {all} {are} {named}{more} (the first: {what})"
    ))
}

/// Warns of what is odd about a stored session; reports whether anything is.
pub(crate) fn say_what_is_odd(stored: &Stored) -> bool {
    oddity(stored).inspect(|odd| ui::warn(odd)).is_some()
}

/// Says where the pages of a session are, how to open them, and how a terminal shows more.
pub(crate) fn say_where(report: &Path, summary: &Summary, beside: bool) -> anyhow::Result<()> {
    let path = wording::cleaned(&report.display().to_string());
    let claims = summary.experiments.iter().any(|experiment| !experiment.claims.is_empty());
    let and = match claims && beside {
        true => format!(", and the claims: {} beside it", report::CLAIMS_PAGE),
        false => String::new(),
    };
    let mut text = format!("\nReport: {path}{and}\nOpen it: xdg-open {}", wording::quoted(&path));
    let first = summary.experiments.first().filter(|_| beside);
    if let (Some(first), Some(dir)) = (first, report.parent()) {
        let dir = wording::quoted(&wording::cleaned(&dir.display().to_string()));
        let id = wording::quoted(&wording::cleaned(&first.id));
        text.push_str(&format!("\nMore here: scruple report {dir} {id}, or --all"));
    }
    ui::result(&text)
}

/// Puts a new analysis and its pages into a session's folder.
pub(crate) fn rewrite(dir: &Path, whole: &report::Session<'_>) -> anyhow::Result<()> {
    let hint = "cannot write into the session (--output FILE writes the page elsewhere)";
    write(&store::Pages::of(dir).context(hint)?, whole)?;
    Ok(())
}

/// Puts an analysis and its pages into their folder.
pub(crate) fn write(pages: &store::Pages, whole: &report::Session<'_>) -> Result<(), store::Error> {
    pages.write_summary(whole.summary)?;
    pages.write_report(&report::html(whole))?;
    pages.write_claims(&report::claims_html(whole))
}
