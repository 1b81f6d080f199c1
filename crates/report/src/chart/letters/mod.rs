//! Figures drawn in letters: those that the page draws.
//!
//! One drawing serves every terminal. Marks differ by shape and not by colour alone, numbers stand
//! in columns, and nothing is framed, so that a line that wraps stays legible. Braille is not used:
//! few fonts of a server's console hold it, and those that do give it other widths.

pub(crate) mod accounts;
mod axis;
mod lines;
mod others;
mod rows;
mod strip;

pub(crate) use rows::draw_in as rows_in;

use crate::chart::{Body, Figure};
use crate::text::{self, BOLD, DIM, Letters, paint, wrapped};
use crate::words::capital;

/// What the marks mean.
pub(crate) const KEY: &str =
    "· is one trial; ├──●──┤ or ● on │ is the estimate with its 95 % confidence interval.";

/// How wide things are, and in which letters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sheet {
    /// For drawings.
    width: usize,
    /// For sentences, which are hard to read where they are long.
    prose: usize,
    letters: Letters,
}

impl Sheet {
    /// Returns a sheet of at most `width` columns.
    pub(crate) fn new(width: usize, letters: Letters) -> Sheet {
        Sheet { width, prose: text::bounded(width).min(width), letters }
    }
}

/// Returns a figure as lines: its title, the drawing, and what must be known of it.
pub(crate) fn figure(figure: &Figure<'_>, sheet: Sheet) -> Vec<String> {
    let title = wrapped(&capital(&figure.title), sheet.prose.saturating_sub(2));
    let mut lines: Vec<String> =
        title.iter().map(|line| format!("  {}", paint(BOLD, line))).collect();
    match &figure.body {
        Body::Rows { response, rows, absent } => {
            lines.extend(rows::draw(response, rows, absent, sheet));
        }
        Body::Lines { axis, groups, shared } => {
            lines.extend(lines::draw(axis, groups, *shared, sheet));
        }
        Body::Heat { response, grids, .. } => lines.extend(others::heat(response, grids, sheet)),
        Body::Slopes { ends, panels, .. } => lines.extend(others::slopes(ends, panels, sheet)),
        Body::Distributions { response, curves } => {
            lines.extend(others::distributions(response, curves, sheet));
        }
    }
    let mut notes = Vec::new();
    if let Body::Lines { axis, .. } = &figure.body
        && !axis.landmarks.is_empty()
    {
        let sizes = axis.landmarks.iter().map(|(_, name)| name.as_str());
        notes.push(format!("This machine: {}.", sizes.collect::<Vec<_>>().join(", ")));
    }
    if !figure.held.is_empty() {
        notes.push(format!("Held still: {}.", figure.held));
    }
    if figure.left_out > 0 {
        notes.push(format!("{} more are in the report's table.", figure.left_out));
    }
    notes.extend(figure.clock.clone());
    notes.extend(figure.definition.as_ref().map(|definition| capital(definition)));
    if let Some(absent) = &figure.absent {
        notes.push(format!("{}: {}.", capital(&absent.lead), absent.why));
    }
    for note in notes {
        let note = wrapped(&note, sheet.prose.saturating_sub(2));
        lines.extend(note.iter().map(|line| format!("  {}", paint(DIM, line))));
    }
    lines
}
