//! What an axis says: its ticks in words, and their unit.

use super::scale::Scale;
use wording::number::{Terms, axis_unit, rounded, tick};

/// The ticks of an axis.
pub(crate) struct Ticks {
    /// Value and word, ascending.
    pub(crate) at: Vec<(f64, String)>,
    /// What they are counted in, or that the axis is logarithmic: there each tick carries its own unit, as
    /// in "10 µs", "1 ms". Empty where nothing is counted.
    pub(crate) unit: String,
}

impl Ticks {
    /// Returns ticks at nice values, about as many as asked for.
    pub(crate) fn new(scale: &Scale, about: usize, terms: Terms<'_>) -> Ticks {
        Ticks::at(scale, scale.ticks(about), terms)
    }

    /// Returns ticks at some values, ascending.
    pub(crate) fn at(scale: &Scale, values: Vec<f64>, terms: Terms<'_>) -> Ticks {
        let largest = values.iter().copied().fold(0.0, |a: f64, b| a.max(b.abs()));
        let step = values.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
        let word = |value: f64| match scale.is_log() {
            true if value == 0.0 => "0".to_string(),
            true => rounded(value, terms),
            false => tick(value, step, largest, terms),
        };
        let unit = match scale.is_log() {
            true => "log scale".to_string(),
            false => axis_unit(largest, terms),
        };
        Ticks { at: values.into_iter().map(|value| (value, word(value))).collect(), unit }
    }
}
