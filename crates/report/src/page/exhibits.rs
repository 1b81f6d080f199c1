//! What trials saw, as tables.

use super::Chapter;
use crate::exhibits::{Shown, shown};
use crate::words::{self, capital, short};
use maud::{Markup, html};
use model::Exhibit;

/// A single exhibit of at most so many rows is open from the start.
const OPEN_ROWS_MAX: usize = 12;

/// Exhibits of one experiment, and columns and rows of one of them, at most. The kit keeps fewer
/// rows; what comes from elsewhere is bounded here.
const SHOWN_MAX: usize = 40;
const COLUMNS_MAX: usize = 16;
const ROWS_MAX: usize = 200;

/// The most characters of one cell.
const CELL_CHARACTERS: usize = 300;

/// All exhibits of an experiment.
pub(super) fn exhibits(chapter: &Chapter<'_>) -> Markup {
    let all = shown(chapter.design, &chapter.records);
    let (several, varying) = (all.len() > 1, chapter.varying());
    html! {
        @if !all.is_empty() {
            h3 { "What a trial saw" }
            @for shown in all.iter().take(SHOWN_MAX) {
                (one(shown, &chapter.name(shown.treatment, &varying), several))
            }
            @if all.len() > SHOWN_MAX {
                p.quiet { "and " (all.len() - SHOWN_MAX) " more, in " code { "trials.ndjson" } "." }
            }
        }
    }
}

fn one(shown: &Shown<'_>, place: &str, several: bool) -> Markup {
    let exhibit = shown.exhibit;
    let open = !several && exhibit.rows.len() <= OPEN_ROWS_MAX;
    html! {
        details.exhibit open[open] {
            summary {
                b { (place) } ": " (short(&exhibit.title, 200))
                " " span.quiet { "(" (words::counted(rows(exhibit), "row")) ")" }
            }
            p.small { (shown.origin()) }
            div.scroll tabindex="0" role="region" aria-label=(capital(&short(&exhibit.title, 200))) {
                (table(exhibit))
            }
            @let left_out = rows(exhibit) - exhibit.rows.len().min(ROWS_MAX) as u64;
            @if left_out > 0 {
                p.small { (words::counted(left_out, "more row")) " not shown." }
            }
        }
    }
}

/// Rows that there were, kept or not.
fn rows(exhibit: &Exhibit) -> u64 {
    (exhibit.rows.len() as u64).saturating_add(exhibit.rows_left_out)
}

fn table(exhibit: &Exhibit) -> Markup {
    let numeric: Vec<bool> = (0..exhibit.columns.len().min(COLUMNS_MAX))
        .map(|column| is_numeric(exhibit, column))
        .collect();
    html! {
        table.seen {
            thead {
                tr {
                    @for (title, number) in exhibit.columns.iter().zip(&numeric) {
                        th.number[*number] scope="col" { (short(title, 80)) }
                    }
                }
            }
            tbody {
                @for row in exhibit.rows.iter().take(ROWS_MAX) {
                    tr {
                        @for (text, number) in row.iter().zip(&numeric) {
                            td.number[*number] { bdi { (short(text, CELL_CHARACTERS)) } }
                        }
                    }
                }
            }
        }
    }
}

/// Whether every cell of a column is a decimal number, so that it reads best from the right.
fn is_numeric(exhibit: &Exhibit, column: usize) -> bool {
    let mut cells = exhibit.rows.iter().filter_map(|row| row.get(column)).peekable();
    cells.peek().is_some() && cells.all(|cell| cell.len() <= 24 && cell.parse::<f64>().is_ok())
}
