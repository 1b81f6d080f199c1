//! Figures drawn in letters: those that the page draws.
//!
//! One drawing serves every terminal. Marks differ by shape and not by colour alone, numbers stand
//! in columns, and nothing is framed, so that a line that wraps stays legible. Braille is not used:
//! few fonts of a server's console hold it, and those that do give it other widths.

pub(crate) mod accounts;
mod axis;
mod lines;
mod rows;
pub(super) mod strip;

pub(crate) use rows::{draw_in as rows_in, without_axis};

use crate::chart::{Body, Cell, Curve, Figure, Zero, scale_of_cells};
use crate::text::{self, DIM, Letters, paint, wrapped};
use model::Response;
use wording::number::Terms;

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
        // Where one law is known of one line, the numbers at the levels matter more than the way between.
        Body::Panels { axis: Some(axis), panels }
            if !panels.iter().any(|it| (it.lines.len(), it.laws.len()) == (1, 1)) =>
        {
            lines::draw(axis, panels, sheet)
        }
        Body::Panels { panels, .. } => rows::panels(panels, sheet),
        Body::Distributions { response, curves, .. } => distributions(response, curves, sheet),
    }
}

/// Returns a row for each quantile that the page marks.
fn distributions(response: &Response, curves: &[Curve], sheet: Sheet) -> Vec<String> {
    let about = "Quantiles of single observations, each trial with the same weight; here the bar \
                 reaches from the lowest of the trials' own to the highest.";
    let marked = curves.iter().flat_map(|curve| {
        curve.marked.iter().map(|(name, (_, quantile))| {
            let label = format!("{} · {name}", curve.name);
            (curve.style, Cell::alone(label, *quantile, curve.trials))
        })
    });
    let marked: Vec<(usize, Cell)> = marked.collect();
    let scale = scale_of_cells(marked.iter().map(|(_, cell)| cell), Zero::IfNear);
    let mut lines = note(about, sheet);
    lines.extend(rows::draw_in(Terms::In(&response.unit), scale, &marked, sheet));
    lines
}

/// Returns what must be known with a drawing, in lines.
fn note(text: &str, sheet: Sheet) -> Vec<String> {
    let lines = wrapped(text, sheet.prose.saturating_sub(2));
    lines.iter().map(|line| format!("  {}", paint(DIM, line))).collect()
}
