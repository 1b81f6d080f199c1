//! Axes in letters: where a value lies, and the ticks that say so.

use super::strip::Strip;
use crate::chart::{LevelAxis, Scale, Ticks};
use crate::text::{DIM, columns};
use wording::number::Terms;

/// Columns for each label of a horizontal axis.
const LABEL_COLUMNS: usize = 12;

/// Free columns at each side of an axis of levels, so that marks that are moved apart keep their place.
const SIDE: usize = 3;

/// An axis along a number of columns or lines.
pub(super) struct Axis {
    pub(super) scale: Scale,
    pub(super) cells: usize,
    /// Cells that stay free at each side.
    pub(super) side: usize,
    /// The words of its ticks, and what they are counted in.
    pub(super) ticks: Ticks,
}

impl Axis {
    /// Returns an axis over a number of cells with about a number of ticks.
    pub(super) fn new(scale: Scale, cells: usize, about: usize, terms: Terms<'_>) -> Self {
        Axis { scale, cells, side: 0, ticks: Ticks::new(&scale, about, terms) }
    }

    /// Returns a horizontal axis, with as many ticks as there is room for.
    pub(super) fn across(scale: Scale, cells: usize, terms: Terms<'_>) -> Self {
        Axis::new(scale, cells, (cells / LABEL_COLUMNS).clamp(1, 6), terms)
    }

    /// Returns a horizontal axis of measured levels, with room for the marks of some lines at each.
    pub(super) fn of_levels(axis: &LevelAxis, lines: usize, cells: usize) -> Self {
        let ticks = Ticks { at: axis.levels.clone(), unit: axis.unit.clone() };
        Axis { scale: axis.scale, cells, side: SIDE.max(lines / 2).min(cells / 4), ticks }
    }

    /// Returns the cell in which a value lies, from 0.
    pub(super) fn cell(&self, value: f64) -> usize {
        let last = self.cells.saturating_sub(2 * self.side + 1);
        self.side + (self.scale.place(value) * last as f64).round() as usize
    }

    /// Returns the cell in which a value lies, if it lies on the axis.
    pub(super) fn row(&self, value: f64) -> Option<usize> {
        self.scale.holds(value).then(|| self.cell(value))
    }

    /// Returns the line of a horizontal axis, and its labels below; a label that has no room is left out.
    pub(super) fn drawn(&self) -> [Strip; 2] {
        let mut line = Strip::filled(self.cells, '─', DIM);
        let ticks = self.ticks.at.iter();
        let places: Vec<(usize, &str)> =
            ticks.map(|(value, word)| (self.cell(*value), word.as_str())).collect();
        for (at, _) in &places {
            line.put(*at, '┬', DIM);
        }
        // 0 has a place of its own outside a logarithm: the line breaks between it and the next tick.
        if let [(zero, _), (next, _), ..] = places[..]
            && self.scale.has_break()
            && next > zero + 2
        {
            line.put(zero.midpoint(next), '╱', DIM);
        }
        [line, labels(&places, self.cells)]
    }
}

/// Returns words under their places, as far as they have room: the first and the last before the others.
fn labels(places: &[(usize, &str)], cells: usize) -> Strip {
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
