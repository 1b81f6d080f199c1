//! Where a ratio stands: beyond a margin around 1, within it, or across one of its ends.
//!
//! "Makes no difference" is a region, not the absence of a finding ([`crate::session::verdict`]): two
//! sides are alike if the whole interval lies in the region. An interval on one side of 1 shows a
//! difference, however small.

use model::{Estimate, Likeness, Quantity, Region};

/// Ratios that differ from 1 by less than this factor make no practical difference: the precision to
/// which the experiments of the catalog measure their findings (`precision` of a design), so that no
/// smaller margin would be decided.
const MARGIN: f64 = 0.05;

/// Returns where the interval of a ratio stands; `None` for other quantities.
pub(crate) fn likeness(quantity: &Quantity, estimate: Option<&Estimate>) -> Option<Likeness> {
    let estimate = estimate.filter(|it| it.low.is_finite() && it.high.is_finite())?;
    match quantity {
        _ if quantity.is_multiple() => {
            Some(Likeness::of(estimate.low, estimate.high, Region::about(1.0, MARGIN)))
        }
        _ => None,
    }
}
