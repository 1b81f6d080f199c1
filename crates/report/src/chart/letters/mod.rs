//! Figures drawn in letters: those that the page draws.
//!
//! One drawing serves every terminal. Marks differ by shape and not by colour alone, numbers stand
//! in columns, and nothing is framed, so that a line that wraps stays legible. Braille is not used:
//! few fonts of a server's console hold it, and those that do give it other widths.

pub(crate) mod accounts;
mod axis;
mod distributions;
mod lines;
mod rows;
mod strip;

pub(crate) use rows::draw_in as rows_in;

use crate::chart::{Body, Figure};
use crate::text::{self, DIM, Letters, paint, wrapped};

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

/// Returns the drawing of a figure as lines.
pub(crate) fn drawn(figure: &Figure<'_>, sheet: Sheet) -> Vec<String> {
    match &figure.body {
        Body::Panels { axis: Some(axis), panels } => lines::draw(axis, panels, sheet),
        Body::Panels { axis: None, panels } => rows::panels(panels, sheet),
        Body::Distributions { response, curves } => distributions::draw(response, curves, sheet),
    }
}

/// Returns what must be known with a drawing, in lines.
fn note(text: &str, sheet: Sheet) -> Vec<String> {
    let lines = wrapped(text, sheet.prose.saturating_sub(2));
    lines.iter().map(|line| format!("  {}", paint(DIM, line))).collect()
}
