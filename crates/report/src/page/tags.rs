//! Disturbed trials: which tags they carry, and what the estimates are without them.

use super::Chapter;
use crate::evidence::differs_visibly;
use crate::format::{Terms, joined, parts};
use crate::words::{counted, short};
use maud::{Markup, html};
use model::EstimateRow;

/// Rows shown at most: those that differ, and so many altogether where fewer do. A page of twenty
/// experiments has to stay light.
const DIFFERING_MAX: usize = 30;
const ROWS_MAX: usize = 16;

/// Rows that are open from the start, where any differ.
const OPEN_ROWS_MAX: usize = 12;

/// Tags with their trials, then every estimate that has tagged trials behind it, with and without
/// them.
pub(super) fn tags(chapter: &Chapter<'_>) -> Markup {
    let summary = chapter.summary;
    let mut rows: Vec<&EstimateRow> =
        summary.estimates.iter().filter(|row| row.tagged > 0 && row.estimate.is_some()).collect();
    let moved = rows.iter().filter(|row| differs(row)).count();
    rows.sort_by_key(|row| !differs(row));
    let shown = moved.clamp(ROWS_MAX, DIFFERING_MAX).min(rows.len());
    html! {
        @if summary.tags.is_empty() && rows.is_empty() {
            p.small { "No trial carries a tag." }
        } @else {
            details.tags open[moved > 0 && rows.len() <= OPEN_ROWS_MAX] {
                summary { "Disturbed trials: " (headline(chapter, rows.len(), moved)) }
                ul {
                    @for (tag, trials) in &summary.tags {
                        li { b { (short(tag, 120)) } ": " (counted(*trials, "trial")) }
                    }
                }
                p.small {
                    "Tagged trials are kept: they are in every estimate. A row is marked where the \
                     estimate without them lies more than a quarter of the interval's width away."
                }
                @if shown > 0 { (table(chapter, &rows[..shown])) }
                @if rows.len() > shown {
                    p.quiet { "and " (rows.len() - shown) " more, in " code { "summary.json" } "." }
                }
            }
        }
    }
}

fn headline(chapter: &Chapter<'_>, rows: usize, moved: usize) -> String {
    let tags: Vec<String> = chapter
        .summary
        .tags
        .iter()
        .take(4)
        .map(|(tag, trials)| format!("{} {trials}", short(tag, 40)))
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

fn table(chapter: &Chapter<'_>, rows: &[&EstimateRow]) -> Markup {
    let varying = chapter.varying();
    html! {
        div.scroll tabindex="0" role="region" aria-label="estimates with and without tagged trials" {
            table.wide {
                thead {
                    tr {
                        th scope="col" { "treatment" }
                        th scope="col" { "response" }
                        th.number scope="col" { "all trials" }
                        th.number scope="col" { "without the tagged" }
                        th.number scope="col" { "tagged" }
                    }
                }
                tbody {
                    @for row in rows {
                        @let terms = Terms::In(&row.unit);
                        tr {
                            th scope="row" { (chapter.name(&row.treatment, &varying)) }
                            td { code { (short(&row.response, 80)) } }
                            td {
                                @if let Some(with) = &row.estimate { (joined(&parts(with, terms))) }
                            }
                            td {
                                @match &row.untagged {
                                    Some(without) => {
                                        @if differs(row) { b { "≠ " } }
                                        (joined(&parts(without, terms)))
                                    }
                                    None => "too few are left",
                                }
                            }
                            td { (row.tagged) }
                        }
                    }
                }
            }
        }
    }
}
