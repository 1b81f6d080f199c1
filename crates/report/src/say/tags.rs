//! Disturbed trials: which tags they carry, and what the estimates are without them.

use super::chapter::Chapter;
use super::evidence::differs_visibly;
use crate::doc::{Block, Role, Table, Text};
use crate::format::{Terms, parts};
use crate::words::counted;
use model::{Estimate, EstimateRow};

/// Rows shown at most: those that differ, and this number altogether where fewer do. A page of twenty
/// experiments has to stay light.
const DIFFERING_MAX: usize = 30;
const ROWS_MAX: usize = 16;

/// Rows that are open from the start, where any differ.
const OPEN_ROWS_MAX: usize = 12;

/// Returns tags with their trials, then every estimate that has tagged trials behind it, with and without
/// them.
pub(crate) fn tags(chapter: &Chapter<'_>) -> Block<'static> {
    let summary = chapter.summary;
    let mut rows: Vec<&EstimateRow> =
        summary.estimates.iter().filter(|row| row.tagged > 0 && row.estimate.is_some()).collect();
    if summary.tags.is_empty() && rows.is_empty() {
        return Block::paragraph(Role::Small, "No trial carries a tag.");
    }
    let moved = rows.iter().filter(|row| differs(row)).count();
    rows.sort_by_key(|row| !differs(row));
    let shown = moved.clamp(ROWS_MAX, DIFFERING_MAX).min(rows.len());
    let tagged = |(tag, trials): (&String, &u64)| {
        Text::strong(tag.clone()).then(format!(": {}", counted(*trials, "trial")))
    };
    let about = "Tagged trials are kept: they are in every estimate. A row is marked where the \
                 estimate without them lies more than a quarter of the interval's width away.";
    let mut blocks = vec![
        Block::List(summary.tags.iter().map(|(tag, trials)| tagged((tag, trials))).collect()),
        Block::paragraph(Role::Small, about),
    ];
    if shown > 0 {
        blocks.push(Block::Table(table(chapter, &rows[..shown])));
    }
    if rows.len() > shown {
        let more = Text::from(format!("and {} more, in ", rows.len() - shown));
        blocks.push(Block::paragraph(Role::Small, more.then(Text::code("summary.json")).then(".")));
    }
    let label = format!("Disturbed trials: {}", headline(chapter, rows.len(), moved));
    Block::details("tags", label, moved > 0 && rows.len() <= OPEN_ROWS_MAX, blocks)
}

fn headline(chapter: &Chapter<'_>, rows: usize, moved: usize) -> String {
    let tags: Vec<String> = chapter
        .summary
        .tags
        .iter()
        .take(4)
        .map(|(tag, trials)| format!("{tag} {trials}"))
        .collect();
    let mut text = if tags.is_empty() { counted(rows as u64, "estimate") } else { tags.join(", ") };
    if rows > 0 {
        text.push_str(&match moved {
            0 => "; without them no estimate differs visibly".to_string(),
            1 => format!("; without them 1 of {rows} estimates differs visibly"),
            n => format!("; without them {n} of {rows} estimates differ visibly"),
        });
    }
    text
}

fn differs(row: &EstimateRow) -> bool {
    matches!((&row.estimate, &row.untagged), (Some(with), Some(without))
        if differs_visibly(with, without))
}

fn table(chapter: &Chapter<'_>, rows: &[&EstimateRow]) -> Table {
    let varying = chapter.varying();
    let heads = ["treatment", "response", "#all trials", "#without the tagged", "#tagged"];
    let mut table = Table::of(&heads).kind("wide", "estimates with and without tagged trials");
    for row in rows {
        let number = |estimate: &Estimate| Text::number(parts(estimate, Terms::In(&row.unit)));
        let without = match &row.untagged {
            Some(without) if differs(row) => Text::strong("≠ ").then(number(without)),
            Some(without) => number(without),
            None => "too few are left".into(),
        };
        table.row([
            chapter.name(&row.treatment, &varying).into(),
            Text::code(row.response.clone()),
            row.estimate.as_ref().map(number).unwrap_or_default(),
            without,
            row.tagged.to_string().into(),
        ]);
    }
    table
}
