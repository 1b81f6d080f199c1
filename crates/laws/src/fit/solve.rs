//! Small dense least squares: the normal equations, and Levenberg and Marquardt's method within
//! bounds.

use super::{MOST, Values};

/// A symmetric matrix with as many rows as a law has coefficients.
pub(super) type Matrix = [[f64; MOST]; MOST];

/// Below this share of its diagonal, what elimination leaves of a row is rounding.
const PIVOT_LEAST: f64 = 1e-13;

/// The inverse of the part of a symmetric, positive matrix whose rows are `used`; zeros elsewhere.
/// `None` if it is singular to the last digits. Gauss and Jordan's elimination after scaling to a
/// diagonal of ones, so that coefficients of very different size do not hide one another.
pub(super) fn invert(matrix: &Matrix, used: [bool; MOST]) -> Option<Matrix> {
    let scale = |i: usize| if used[i] { matrix[i][i].sqrt() } else { 1.0 };
    let scales: Values = std::array::from_fn(scale);
    if scales.iter().any(|&scale| !scale.is_finite() || scale <= 0.0) {
        return None;
    }
    let mut left: Matrix = std::array::from_fn(|i| {
        std::array::from_fn(|j| match (used[i] && used[j], i == j) {
            (true, _) => matrix[i][j] / (scales[i] * scales[j]),
            (false, same) => f64::from(u8::from(same)),
        })
    });
    let mut right: Matrix =
        std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
    for k in 0..MOST {
        let pivot = left[k][k];
        if pivot.is_nan() || pivot < PIVOT_LEAST {
            return None;
        }
        for j in 0..MOST {
            left[k][j] /= pivot;
            right[k][j] /= pivot;
        }
        for i in (0..MOST).filter(|&i| i != k) {
            let factor = left[i][k];
            for j in 0..MOST {
                left[i][j] -= factor * left[k][j];
                right[i][j] -= factor * right[k][j];
            }
        }
    }
    let back = |i: usize, j: usize| {
        if used[i] && used[j] { right[i][j] / (scales[i] * scales[j]) } else { 0.0 }
    };
    Some(std::array::from_fn(|i| std::array::from_fn(|j| back(i, j))))
}

/// A matrix times a vector.
pub(super) fn times(matrix: &Matrix, vector: &Values) -> Values {
    std::array::from_fn(|i| matrix[i].iter().zip(vector).map(|(a, b)| a * b).sum())
}

/// Where coefficients may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) low: Values,
    pub(super) high: Values,
}

/// What is minimised: a sum of squared residuals.
pub(super) trait Squares {
    /// How many coefficients there are, at most [`MOST`].
    fn count(&self) -> usize;

    /// The sum of squares; `None` where the model has no value.
    fn squares(&self, values: &Values) -> Option<f64>;

    /// JᵀJ and Jᵀr: the products of the model's slopes with one another and with the residuals.
    fn normal(&self, values: &Values) -> (Matrix, Values);

    /// A sum of squares that is nothing but rounding.
    fn negligible(&self) -> f64;
}

/// A minimum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Minimum {
    pub(super) values: Values,
    pub(super) squares: f64,
}

/// Steps after which a search that does not end is given up.
const STEPS_MAX: u32 = 300;

/// The part of the residuals that still lies along the model's slopes when a search has arrived
/// (the relative offset of Bates and Watts, *Nonlinear Regression Analysis*, Wiley 1988, 2.2.3).
const OFFSET_ARRIVED: f64 = 1e-9;

/// The same where rounding allows no better step.
const OFFSET_TOLERABLE: f64 = 1e-4;

/// The minimum that is reached from `start`, within `bounds`; `None` if none is.
///
/// A coefficient at its bound that the slope pushes outwards is held there for the step (D. P.
/// Bertsekas, *Projected Newton methods for optimization problems with simple constraints*, SIAM
/// Journal on Control and Optimization 20, 1982).
pub(super) fn minimise(problem: &impl Squares, start: &Values, bounds: &Bounds) -> Option<Minimum> {
    let clamp = |v: Values| -> Values {
        std::array::from_fn(|i| v[i].clamp(bounds.low[i], bounds.high[i]))
    };
    let mut values = clamp(*start);
    let mut squares = problem.squares(&values)?;
    let mut damping = 1e-3;
    for _ in 0..STEPS_MAX {
        let (matrix, slope) = problem.normal(&values);
        let used = free(problem.count(), &values, &slope, bounds);
        if squares <= problem.negligible() || used == [false; MOST] {
            return Some(Minimum { values, squares });
        }
        let offset = offset(&matrix, &slope, used, squares)?;
        if offset < OFFSET_ARRIVED {
            return Some(Minimum { values, squares });
        }
        loop {
            let mut damped = matrix;
            for (i, row) in damped.iter_mut().enumerate() {
                row[i] *= 1.0 + damping;
            }
            let step = times(&invert(&damped, used)?, &slope);
            let next = clamp(std::array::from_fn(|i| values[i] + step[i]));
            if let Some(better) = problem.squares(&next).filter(|&next| next < squares) {
                (values, squares) = (next, better);
                damping = (damping / 10.0).max(1e-15);
                break;
            }
            damping *= 10.0;
            if damping > 1e12 {
                return (offset < OFFSET_TOLERABLE).then_some(Minimum { values, squares });
            }
        }
    }
    None
}

/// The coefficients that may move: all but those at a bound that the slope pushes outwards.
fn free(count: usize, values: &Values, slope: &Values, bounds: &Bounds) -> [bool; MOST] {
    std::array::from_fn(|i| {
        let out_low = values[i] <= bounds.low[i] && slope[i] <= 0.0;
        let out_high = values[i] >= bounds.high[i] && slope[i] >= 0.0;
        i < count && !out_low && !out_high
    })
}

/// The part of the residuals that lies along the slopes; `None` if the slopes are not independent.
fn offset(matrix: &Matrix, slope: &Values, used: [bool; MOST], squares: f64) -> Option<f64> {
    let along = times(&invert(matrix, used)?, slope);
    let explained: f64 =
        (0..MOST).filter(|&i| used[i]).map(|i| along[i] * slope[i]).sum::<f64>().max(0.0);
    Some((explained / squares).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_is_one_of_any_size() {
        let matrix = [[1e12, 2.0, 1e-3], [2.0, 3e-4, 0.0], [1e-3, 0.0, 5e-9]];
        let inverse = invert(&matrix, [true; 3]).unwrap();
        for i in 0..3 {
            let unit = times(&matrix, &std::array::from_fn(|j| inverse[j][i]));
            let scale = matrix[i][i].sqrt();
            for (j, &found) in unit.iter().enumerate() {
                let wanted = f64::from(u8::from(i == j));
                assert!(
                    (found - wanted).abs() * scale / matrix[j][j].sqrt() < 1e-9,
                    "{i} {j} {found}"
                );
            }
        }
        let part = invert(&matrix, [true, false, true]).unwrap();
        assert_eq!((part[0][1], part[1][1]), (0.0, 0.0));
        assert_eq!(invert(&[[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]], [true; 3]), None);
        assert_eq!(invert(&[[f64::NAN; 3]; 3], [true; 3]), None);
    }
}
