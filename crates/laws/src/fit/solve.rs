//! The small dense matrices of the normal equations, and where a minimum may lie.

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
    std::array::from_fn(|i| dot(&matrix[i], vector))
}

/// The product of two vectors.
pub(super) fn dot(a: &Values, b: &Values) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Where coefficients may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) low: Values,
    pub(super) high: Values,
}

/// A minimum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Minimum {
    pub(super) values: Values,
    pub(super) squares: f64,
}
