//! Distributions in letters: rows of quantiles.

use super::{Sheet, note, rows};
use crate::chart::{Cell, Curve};
use model::{Estimate, Response};

/// A row for each quantile that the page marks.
pub(super) fn draw(response: &Response, curves: &[Curve], sheet: Sheet) -> Vec<String> {
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
