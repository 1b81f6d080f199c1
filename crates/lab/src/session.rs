//! What a session's folder and its analysis have to do with each other.

use crate::ui;
use anyhow::Context;
use model::{Design, Manifest, Record, Summary};
use std::path::Path;
use store::Stored;

/// The version of scruple that analyses.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

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

/// Reports whether every experiment has the blocks that its session was to measure at the least.
pub(crate) fn is_complete(manifest: &Manifest, records: &[Record]) -> bool {
    let mut courses: Vec<_> = manifest
        .designs
        .iter()
        .map(|design| crate::schedule::Course::new(design.clone(), &manifest.options))
        .collect();
    for record in records {
        if let Some(course) = courses.iter_mut().find(|c| c.design.id == record.experiment) {
            course.note(record);
        }
    }
    crate::schedule::incomplete(&courses, &manifest.options).next().is_none()
}

/// Warns of what is odd about a stored session without being an error.
pub(crate) fn say_what_is_odd(stored: &Stored) {
    if let Some(torn) = &stored.torn {
        let (line, bytes) = (torn.line, torn.bytes);
        ui::warn(&format!(
            "line {line} of trials.ndjson is torn ({bytes} bytes without an end); \
             the trial it belonged to is not counted"
        ));
    }
    let doubles = stored.duplicates();
    if !doubles.is_empty() {
        ui::warn(&format!("{} trials are stored twice: {:?}", doubles.len(), doubles[0]));
    }
}

/// Says where the pages of a session are.
pub(crate) fn say_where(report: &Path, summary: &Summary, beside: bool) -> anyhow::Result<()> {
    let claims = summary.experiments.iter().any(|experiment| !experiment.claims.is_empty());
    let and = if claims && beside {
        format!(", and the claims: {} beside it", report::CLAIMS_PAGE)
    } else {
        String::new()
    };
    ui::result(&format!("\nReport: {}{and}", report::harmless(&report.display().to_string())))
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
