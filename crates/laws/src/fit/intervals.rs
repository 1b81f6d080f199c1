//! From a minimum to a [`Fit`]: standard errors, intervals, AICc.

use super::smooth::Problem;
use super::solve::{Bounds, Matrix, Minimum};
use super::{Fit, LEVEL, Parameter};
use crate::Error;
use crate::error::representable;
use crate::tail::student_quantile;

/// A law's coefficients as found, on the problem's scale.
pub(super) struct Estimated {
    /// The best within the region.
    pub(super) minimum: Minimum,
    /// Where the intervals are formed.
    pub(super) around: Minimum,
    /// (JᵀJ)⁻¹ there.
    pub(super) inverse: Matrix,
    /// The region.
    pub(super) bounds: Bounds,
}

/// The fit, in the caller's units.
pub(super) fn finish(problem: &Problem, found: &Estimated) -> Result<Fit, Error> {
    let law = problem.law;
    let (points, count) = (problem.points.len(), law.coefficients().len());
    let freedom = points - count;
    let t = student_quantile(freedom as f64, 1.0 - LEVEL);
    let variance = found.around.squares / freedom as f64;
    let unit = |i: usize| if i == 0 { problem.unit } else { 1.0 };
    let covariance: Matrix = std::array::from_fn(|i| {
        std::array::from_fn(|j| found.inverse[i][j] * variance * unit(i) * unit(j))
    });
    let values = problem.unscaled(found.minimum.values);
    let around = problem.unscaled(found.around.values);
    let mut parameters = Vec::with_capacity(count);
    for (i, &coefficient) in law.coefficients().iter().enumerate() {
        let error = representable("standard error", covariance[i][i].max(0.0).sqrt())?;
        let (least, most) = (found.bounds.low[i], found.bounds.high[i]);
        let inside = found.minimum.values[i] > least && found.minimum.values[i] < most;
        let cut = |end: f64| if i == 0 { end.max(0.0) } else { end.clamp(least, most) };
        parameters.push(Parameter {
            coefficient,
            value: representable("coefficient", values[i])?,
            standard_error: inside.then_some(error),
            low: cut(around[i] - t * error).min(values[i]),
            high: cut(around[i] + t * error).max(values[i]),
        });
    }
    let squares = found.minimum.squares;
    let residual_squares =
        representable("residual sum of squares", squares * problem.unit.powi(2) * problem.weight)?;
    Ok(Fit {
        law,
        parameters,
        residual_squares,
        points,
        freedom,
        aicc: aicc(problem, squares),
        largest_n: problem.levels.last().copied().unwrap_or(1.0),
        values,
        around,
        covariance,
        bounds: found.bounds,
    })
}

/// m ln(RSS/m) + 2k + 2k(k + 1)/(m − k − 1), with k coefficients and the variance among them; on
/// the problem's scale, which all laws of the same points share.
fn aicc(problem: &Problem, squares: f64) -> Option<f64> {
    let points = problem.points.len() as f64;
    let k = (problem.law.coefficients().len() + 1) as f64;
    let left = points - k - 1.0;
    // Points that lie on the curve to the last digit say no more than their digits can.
    let floor = points * 1e-24;
    (left > 0.0)
        .then(|| points * (squares.max(floor) / points).ln() + 2.0 * k + 2.0 * k * (k + 1.0) / left)
}
