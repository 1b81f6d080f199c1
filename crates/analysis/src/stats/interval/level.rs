//! The centre of numbers that are no ratios: times, counts, bytes.

use super::Located;

impl Located {
    /// Returns the same as [`Located::following`] for a level, which may drift and decides no verdict alone: the
    /// variance has the degrees of freedom of all blocks. Where no number is negative, it is not either.
    pub(crate) fn drifting(self, correlation: Option<f64>) -> Self {
        let (all, freedom) = (self.ascending.clone(), self.samples as f64 - 1.0);
        let mut level = self.depending(correlation, freedom);
        if all.first().is_some_and(|least| *least >= 0.0) {
            (level.low, level.wide.0) = (level.low.max(0.0), level.wide.0.max(0.0));
        }
        level
    }
}
