//! Disturbed trials: which tags they carry, and what the estimates are without them.

use super::chapter::Chapter;
use super::evidence::differs_visibly;
use crate::doc::{Block, Table, Text};
use crate::format::Terms;
use crate::words::counted;
use model::EstimateRow;

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
        return Block::small("No trial carries a tag.");
    }
    let moved = rows.iter().filter(|row| differs(row)).count();
    rows.sort_by_key(|row| !differs(row));
    let shown = moved.clamp(ROWS_MAX, DIFFERING_MAX).min(rows.len());
    let tagged = summary.tags.iter().map(|(tag, trials)| {
        Text::strong(tag.clone()).then(format!(": {}", counted(*trials, "trial")))
    });
    let about = "Tagged trials are kept: they are in every estimate. A row is marked where the \
                 estimate without them lies more than a quarter of the interval's width away.";
    let mut blocks = vec![Block::list(tagged), Block::small(about)];
    if shown > 0 {
        blocks.push(Block::Table(table(chapter, &rows[..shown])));
    }
    blocks.extend(Block::more(rows.len(), shown, "summary.json"));
    let label = format!("Disturbed trials: {}", headline(chapter, rows.len(), moved));
    Block::details("tags", label, moved > 0 && rows.len() <= OPEN_ROWS_MAX, blocks)
}

fn headline(chapter: &Chapter<'_>, rows: usize, moved: usize) -> String {
    let tags = chapter.summary.tags.iter().take(4).map(|(tag, trials)| format!("{tag} {trials}"));
    let tags: Vec<String> = tags.collect();
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
    let heads = ["treatment", "response", "#all trials", "#without the tagged", "#tagged"];
    let cells = rows.iter().map(|row| {
        let number = |estimate| Text::known(estimate, Terms::In(&row.unit));
        let mark = if differs(row) { Text::strong("≠ ") } else { Text::default() };
        let without = match row.untagged {
            None => "too few are left".into(),
            without => mark.then(number(without)),
        };
        [
            chapter.name(&row.treatment).into(),
            Text::code(row.response.clone()),
            number(row.estimate),
            without,
            row.tagged.to_string().into(),
        ]
    });
    Table::of(&heads).kind("wide", "estimates with and without tagged trials").rows(cells)
}
