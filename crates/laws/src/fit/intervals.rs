//! From a minimum to a [`Fit`]: standard errors, intervals, AICc.

use super::smooth::Problem;
use super::solve::{Matrix, Minimum, invert};
use super::{Fit, LEVEL, Parameter, Region, kinked};
use crate::Error;
use crate::error::representable;
use crate::tail::student_quantile;

fn solve(problem: &Problem, region: Region) -> Option<Minimum> {
    if problem.law.is_kinked() { kinked::solve(problem, region) } else { problem.solve(region) }
}

/// A law fitted, in the caller's units.
///
/// Within bounds, the interval is that of the unbounded fit, cut: what truth it holds, the bounds do
/// not take away. Without one, the bounded fit's own slopes must do.
pub(super) fn fit(problem: &Problem, region: Region) -> Result<Fit, Error> {
    let law = problem.law;
    let unknown = || Error::NotIdentified { law };
    let minimum = solve(problem, region).ok_or_else(unknown)?;
    let around = match region {
        Region::Free => minimum,
        Region::Physical => solve(problem, Region::Free).unwrap_or(minimum),
    };
    let used = std::array::from_fn(|i| i < problem.count());
    // (JᵀJ)⁻¹ where the intervals are formed.
    let inverse = invert(&problem.normal(&around.values).0, used).ok_or_else(unknown)?;
    let bounds = match law.is_kinked() {
        true => kinked::region(problem, region),
        false => problem.bounds(region),
    };
    let (points, count) = (problem.points.len(), law.coefficients().len());
    let freedom = points - count;
    let t = student_quantile(freedom as f64, 1.0 - LEVEL);
    let variance = around.squares / freedom as f64;
    let unit = |i: usize| if i == 0 { problem.unit } else { 1.0 };
    let covariance: Matrix = std::array::from_fn(|i| {
        std::array::from_fn(|j| inverse[i][j] * variance * unit(i) * unit(j))
    });
    let values = problem.unscaled(minimum.values);
    let centre = problem.unscaled(around.values);
    let mut parameters = Vec::with_capacity(count);
    for (i, &coefficient) in law.coefficients().iter().enumerate() {
        let error = representable("standard error", covariance[i][i].max(0.0).sqrt())?;
        let (least, most) = (bounds.low[i], bounds.high[i]);
        let inside = minimum.values[i] > least && minimum.values[i] < most;
        let cut = |end: f64| if i == 0 { end.max(0.0) } else { end.clamp(least, most) };
        parameters.push(Parameter {
            coefficient,
            value: representable("coefficient", values[i])?,
            standard_error: inside.then_some(error),
            low: cut(centre[i] - t * error).min(values[i]),
            high: cut(centre[i] + t * error).max(values[i]),
        });
    }
    if law.is_kinked()
        && let Some(cores) = parameters.last_mut()
    {
        (cores.low, cores.high) = kinked::profile_interval(problem, &minimum, freedom);
    }
    let squares = minimum.squares;
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
        around: centre,
        covariance,
        bounds,
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
