//! Axes in letters: where a value lies, and the ticks that say so.

use super::strip::Strip;
use crate::chart::{Scale, log_tick};
use crate::format::{Terms, axis_unit, tick};
use crate::text::{DIM, columns};

/// Columns for each label of a horizontal axis.
const LABEL_COLUMNS: usize = 12;

/// An axis along a number of columns or lines, with the words of its ticks.
pub(super) struct Axis {
    scale: Scale,
    cells: usize,
    /// Value and word, ascending.
    pub(super) ticks: Vec<(f64, String)>,
    /// What the ticks are counted in; empty where each says it itself or nothing is counted.
    pub(super) unit: String,
}

impl Axis {
    /// Returns an axis over a number of cells with about a number of ticks.
    pub(super) fn new(scale: Scale, cells: usize, about: usize, terms: Terms<'_>) -> Self {
        let values = scale.ticks(about);
        let largest = values.iter().copied().fold(0.0, |a: f64, b| a.max(b.abs()));
        let step = values.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
        let word = |value: f64| match scale.is_log() {
            true => log_tick(value, terms),
            false => tick(value, step, largest, terms),
        };
        let unit = match scale.is_log() {
            true => "log scale".to_string(),
            false => axis_unit(largest, terms),
        };
        let ticks = values.into_iter().map(|value| (value, word(value))).collect();
        Axis { scale, cells, ticks, unit }
    }

    /// A horizontal axis, with as many ticks as there is room for.
    pub(super) fn across(scale: Scale, cells: usize, terms: Terms<'_>) -> Self {
        Axis::new(scale, cells, (cells / LABEL_COLUMNS).clamp(1, 6), terms)
    }

    /// How many cells it has.
    pub(super) fn cells(&self) -> usize {
        self.cells
    }

    /// The cell in which a value lies, from 0.
    pub(super) fn cell(&self, value: f64) -> usize {
        let last = self.cells.saturating_sub(1);
        ((self.scale.place(value) * last as f64).round() as usize).min(last)
    }

    /// The cell in which a value lies, if it lies on the axis.
    pub(super) fn row(&self, value: f64) -> Option<usize> {
        self.scale.holds(value).then(|| self.cell(value))
    }

    /// The line of a horizontal axis, and its labels below; a label that has no room is left out.
    pub(super) fn drawn(&self) -> [Strip; 2] {
        let mut line = Strip::new(self.cells);
        for at in 0..self.cells {
            line.put(at, '─', DIM);
        }
        let places: Vec<(usize, &str)> =
            self.ticks.iter().map(|(value, word)| (self.cell(*value), word.as_str())).collect();
        for (at, _) in &places {
            line.put(*at, '┬', DIM);
        }
        if self.scale.has_break() {
            break_after_zero(&mut line, &places);
        }
        [line, labels(&places, self.cells)]
    }

    /// Whether 0 stands outside the logarithm.
    pub(super) fn has_break(&self) -> bool {
        self.scale.has_break()
    }
}

/// Breaks the line of a logarithmic axis between 0, which has a place of its own, and the next tick.
pub(super) fn break_after_zero(line: &mut Strip, places: &[(usize, &str)]) {
    if let [(zero, _), (next, _), ..] = places
        && *next > zero + 2
    {
        line.put(zero.midpoint(*next), '╱', DIM);
    }
}

/// Words under their places, as far as they have room: the first and the last before the others.
pub(super) fn labels(places: &[(usize, &str)], cells: usize) -> Strip {
    let mut strip = Strip::new(cells);
    let mut taken: Vec<(usize, usize)> = Vec::new();
    let last = places.len().saturating_sub(1);
    for index in [0, last].into_iter().chain(1..last) {
        let Some((at, word)) = places.get(index) else { continue };
        let long = columns(word);
        if long > cells || word.chars().count() != long {
            continue;
        }
        let begin = at.saturating_sub(long / 2).min(cells - long);
        let end = begin + long;
        if taken.iter().all(|(from, to)| end < *from || *to < begin) {
            taken.push((begin, end));
            strip.write(begin, word, DIM);
        }
    }
    strip
}
