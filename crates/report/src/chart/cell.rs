//! What is drawn of one treatment.

use model::{Estimate, Treatment};

/// Treatments with what was measured there.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// The treatment in words.
    pub(crate) label: String,
    /// The treatment, where it is one.
    pub(crate) treatment: Option<Treatment>,
    pub(crate) estimate: Option<Estimate>,
    /// Block and number of the trials that are drawn.
    pub(crate) dots: Vec<(u32, f64)>,
    /// Trials with a number, drawn or not.
    pub(crate) trials: usize,
}

impl Cell {
    /// Returns a number without its trials.
    pub(crate) fn alone(label: String, estimate: Estimate, trials: usize) -> Cell {
        Cell { label, treatment: None, estimate: Some(estimate), dots: Vec::new(), trials }
    }

    /// Returns it with an estimate that no trial has alone.
    pub(super) fn with(self, estimate: Estimate) -> Cell {
        Cell { estimate: Some(estimate), dots: Vec::new(), ..self }
    }

    /// Returns all values that are drawn of it.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> + '_ {
        let estimate = self.estimate.map(|e| [e.point, e.low, e.high]);
        self.dots.iter().map(|(_, value)| *value).chain(estimate.into_iter().flatten())
    }
}
