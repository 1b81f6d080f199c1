//! What a panel shows, while its figure is put together.

use super::axis::Values;
use super::material::control_mark;
use crate::words;
use model::{Factor, Plot, Response, Treatment};

/// What a panel shows.
pub(super) struct Shown<'s, 'a> {
    pub(super) plot: &'s Plot,
    pub(super) axis: Option<&'s Values<'a>>,
    /// The factors that tell its lines or rows apart.
    pub(super) line: &'s [&'a Factor],
    pub(super) response: &'a Response,
    /// The factors that tell the treatments of the figure apart.
    pub(super) names: &'s [String],
}

impl Shown<'_, '_> {
    /// Returns the name of a treatment's line or row within its panel.
    pub(super) fn name(&self, treatment: &Treatment) -> String {
        let levels = self.line.iter();
        let levels = levels.filter_map(|it| Some(words::level_of(it, treatment.level(&it.name)?)));
        let levels: Vec<String> = levels.collect();
        let control = control_mark(self.response, treatment);
        if levels.is_empty() { String::new() } else { levels.join(", ") + control }
    }
}
