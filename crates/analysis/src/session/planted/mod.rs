//! Known answers that were put into the session: was each found, and does its interval hold it?
//!
//! Two families of tests share their error over all planted answers of a session (Hommel), since
//! they answer two questions. *Found* asks whether the number differs from what it would be
//! without the planting; *excluded* whether it differs from the truth. The first says what the
//! machine can see, the second that the laboratory errs; an honest one excludes a truth in at most
//! 5 % of sessions.

use crate::session::effect::{Effect, effect};
use crate::session::evidence::{Evidence, Side};
use crate::session::sample::Table;
use crate::session::verdict::lean;
use crate::stats::hommel::hommel;
use model::{Estimate, Planted, PlantedResult, Quantity, QuantityResult, Region};

/// No ratio is asked to be more precise than this: clocks and neighbours do not give it.
pub(crate) const FINEST: f64 = 0.005;

/// Numbers that differ by no more than this part of themselves are the same: a ratio of counts that
/// comes back from its logarithm has another last digit.
const LAST_DIGIT: f64 = 1e-9;

/// The part of the distance between the truth and nothing that half an interval may be.
const OF_THE_DISTANCE: f64 = 2.0;

/// Returns the planted answers of all experiments, in their order.
pub(crate) fn planted(tables: &[Table<'_>]) -> Vec<Vec<PlantedResult>> {
    let looked: Vec<Vec<Looked<'_>>> = tables
        .iter()
        .map(|table| table.design.planted.iter().map(|one| Looked::at(table, one)).collect())
        .collect();
    let stands = |p_value: fn(&Looked<'_>) -> Option<f64>| {
        let p_values: Vec<f64> = looked.iter().flatten().filter_map(p_value).collect();
        hommel(&p_values).into_iter()
    };
    let mut differs = stands(|looked| looked.from_nothing);
    let mut excluded = stands(|looked| looked.from_truth);
    let mut of_table = |(table, looked): (&Table<'_>, &Vec<Looked<'_>>)| {
        let mut result = |one: &Looked<'_>| {
            let differs = one.from_nothing.and_then(|_| differs.next());
            let excluded = one.from_truth.and_then(|_| excluded.next());
            one.result(table, differs, excluded)
        };
        looked.iter().map(&mut result).collect()
    };
    tables.iter().zip(&looked).map(&mut of_table).collect()
}

/// A planted answer with what its trials say, before the correction for the others.
struct Looked<'d> {
    planted: &'d Planted,
    truth: Region,
    effect: Effect,
    /// Two-sided p-value of a difference from what there would be without the planting.
    from_nothing: Option<f64>,
    /// The same of a difference from the truth.
    from_truth: Option<f64>,
}

impl<'d> Looked<'d> {
    fn at(table: &Table<'d>, planted: &'d Planted) -> Self {
        let effect = effect(table, &planted.quantity);
        let truth = widened(planted.truth);
        let estimate = effect.evidence.estimate();
        let from_nothing =
            estimate.map(|found| difference(&effect.evidence, found.point, planted.without));
        let from_truth = estimate.map(|_| {
            let leaning = lean(&planted.quantity, &effect.evidence, truth);
            let against = leaning.filter(|leaning| !leaning.holds);
            against.map_or(1.0, |leaning| leaning.p_value.unwrap_or(0.0))
        });
        Looked { planted, truth, effect, from_nothing, from_truth }
    }

    fn result(
        &self,
        table: &Table<'_>,
        differs: Option<bool>,
        excluded: Option<bool>,
    ) -> PlantedResult {
        let (planted, result) = (self.planted, self.effect.result(table, &self.planted.quantity));
        let meets = |found: Estimate| {
            self.truth.low.is_none_or(|low| found.high >= low)
                && self.truth.high.is_none_or(|high| found.low <= high)
        };
        let side = side(self.truth, planted.without);
        let on_its_side = result.estimate.is_some_and(|found| match side {
            Some(Side::Above) => found.point > planted.without,
            Some(Side::Below) => found.point < planted.without,
            None => true,
        });
        PlantedResult {
            id: planted.id.clone(),
            what: planted.what.clone(),
            holds: result.estimate.map(meets),
            result,
            without: planted.without,
            truth: planted.truth,
            size: planted.size,
            found: differs.map(|differs| differs && on_its_side),
            excluded,
        }
    }
}

/// Returns the region with its ends a last digit further out.
fn widened(region: Region) -> Region {
    Region {
        low: region.low.map(|low| low - LAST_DIGIT * low.abs()),
        high: region.high.map(|high| high + LAST_DIGIT * high.abs()),
    }
}

/// Returns on which side of a number a region lies; `None` if it holds the number.
fn side(region: Region, number: f64) -> Option<Side> {
    match region {
        Region { low: Some(low), .. } if low > number => Some(Side::Above),
        Region { high: Some(high), .. } if high < number => Some(Side::Below),
        _ => None,
    }
}

/// Returns the two-sided p-value of a number's difference from another.
fn difference(evidence: &Evidence, point: f64, from: f64) -> f64 {
    if (point - from).abs() <= LAST_DIGIT * point.abs().max(from.abs()) {
        return 1.0;
    }
    if evidence.is_certain() {
        return 0.0;
    }
    evidence.p_value(from, if from < point { Side::Below } else { Side::Above })
}

/// Returns the half-width at which a planted answer is known well enough, in the terms of
/// [`crate::session::need::half_width`], of which `half` is the result: half of the distance from
/// `without` to the nearest end of the truth, so that the answer is distinguishable from nothing even after
/// Hommel's correction over a few dozen others. Never below 0.005, as for claims: a smaller planting
/// is for a session with a fixed number of blocks.
///
/// It depends on what was planted, never on what was found. Where the truth holds `without`, the
/// distance is that to the truth's own nearer end; where that is 0 or infinite it is the design's
/// precision.
pub(crate) fn asked_of_planted(
    planted: &Planted,
    result: &QuantityResult,
    half: f64,
    precision: f64,
) -> f64 {
    let (without, truth) = (planted.without, planted.truth);
    let ends = [truth.low, truth.high].into_iter().flatten();
    let nearest = ends.min_by(|a, b| (a - without).abs().total_cmp(&(b - without).abs()));
    let Some(end) = nearest.filter(|end| *end != without) else { return precision };
    let distance = (end - without).abs();
    let relative = match planted.quantity {
        _ if planted.quantity.is_multiple() && end > 0.0 && without > 0.0 => {
            ((end / without).ln().abs() / OF_THE_DISTANCE).exp_m1()
        }
        Quantity::Ratio { .. }
        | Quantity::Quotient { .. }
        | Quantity::Proportion { .. }
        | Quantity::Value { .. } => distance / end.abs().max(without.abs()) / OF_THE_DISTANCE,
        Quantity::Difference { .. } => {
            // The half-width is relative to a level that only the data know.
            let wide = result.estimate.map_or(0.0, |found| (found.high - found.low) / 2.0);
            if wide > 0.0 { half / wide * distance / OF_THE_DISTANCE } else { precision }
        }
        Quantity::Frequency { .. } => {
            let arcsine = |share: f64| share.clamp(0.0, 1.0).sqrt().asin();
            return (arcsine(end) - arcsine(without)).abs() / OF_THE_DISTANCE;
        }
        _ => distance / OF_THE_DISTANCE,
    };
    relative.max(FINEST)
}

#[cfg(test)]
mod tests;
