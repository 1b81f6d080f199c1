//! What the page draws in shapes that letters have not: heat maps, slopes and distributions as rows.

use super::{Sheet, rows};
use crate::chart::{Cell, Curve, Field, Grid, Scale, Slopes, Zero};
use crate::format::Terms;
use crate::text::{BOLD, DIM, cut, paint, wrapped};
use crate::words::capital;
use model::{Estimate, Response};

/// A row for each field: in letters a number says more than a shade.
pub(super) fn heat(response: &Response, grids: &[Grid], sheet: Sheet) -> Vec<String> {
    let (mut measured, mut absent) = (Vec::new(), Vec::new());
    for (style, (_, fields)) in grids.iter().flat_map(|grid| grid.rows.iter().enumerate()) {
        for field in fields {
            match field {
                Field::Measured(cell) => measured.push((style, cell.clone())),
                Field::Absent(name, word) => absent.push((name.clone(), word.clone())),
                Field::None => {}
            }
        }
    }
    rows::draw(response, &measured, &absent, sheet)
}

/// A row for each slope: the ratio of its ends, paired by block.
pub(super) fn slopes(ends: &[String; 2], panels: &[Slopes], sheet: Sheet) -> Vec<String> {
    let about = format!("{} ÷ {}, paired by block", ends[1], ends[0]);
    let mut lines = note(&about, sheet);
    let ratios = panels.iter().flat_map(|panel| &panel.slopes).filter_map(|slope| slope.ratio);
    let scale = scale_of(ratios);
    for panel in panels {
        if !panel.heading.is_empty() {
            let heading = cut(&capital(&panel.heading), sheet.width.saturating_sub(2));
            lines.push(format!("  {}", paint(BOLD, &heading)));
        }
        let known = panel.slopes.iter().map(|slope| {
            let trials = slope.from.trials.min(slope.to.trials);
            let label = slope.name.clone();
            (slope.style, Cell { label, estimate: slope.ratio, dots: Vec::new(), trials })
        });
        let known: Vec<(usize, Cell)> = known.collect();
        lines.extend(rows::draw_in(Terms::Times, scale, &known, &[], sheet));
    }
    lines
}

/// A row for each quantile that the page marks.
pub(super) fn distributions(response: &Response, curves: &[Curve], sheet: Sheet) -> Vec<String> {
    let about = "Quantiles of single observations, each trial with the same weight; here the bar \
                 reaches from the lowest of the trials' own to the highest.";
    let mut lines = note(about, sheet);
    let marked = curves.iter().flat_map(|curve| {
        curve.marked.iter().map(|(name, quantile)| {
            let (point, low, high) = (quantile.value, quantile.low, quantile.high);
            let samples = u32::try_from(curve.trials).unwrap_or(u32::MAX);
            let estimate =
                Some(Estimate { point, low, high, standard_error: None, level: 0.0, samples });
            let label = format!("{} · {name}", curve.name);
            (curve.style, Cell { label, estimate, dots: Vec::new(), trials: curve.trials })
        })
    });
    let marked: Vec<(usize, Cell)> = marked.collect();
    lines.extend(rows::draw(response, &marked, &[], sheet));
    lines
}

fn scale_of(estimates: impl Iterator<Item = Estimate>) -> Option<Scale> {
    Scale::over(estimates.flat_map(|e| [e.point, e.low, e.high, 1.0]), Zero::IfNear)
}

fn note(text: &str, sheet: Sheet) -> Vec<String> {
    let lines = wrapped(text, sheet.prose.saturating_sub(2));
    lines.iter().map(|line| format!("  {}", paint(DIM, line))).collect()
}
