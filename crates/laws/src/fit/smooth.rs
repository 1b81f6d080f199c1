//! The laws without a kink, and Levenberg and Marquardt's method within bounds.

use super::solve::{Bounds, Matrix, Minimum, invert, times};
use super::{Law, MOST, Point, Region, Values, check, levels};
use crate::Error;

/// Points that can tell a law, on a scale of their own: throughputs of at most 1, weights of at
/// most 1, so that nothing overflows on the way.
pub(super) struct Problem {
    pub(super) law: Law,
    pub(super) points: Vec<Point>,
    /// The different n, in rising order.
    pub(super) levels: Vec<f64>,
    /// What the throughputs were divided by.
    pub(super) unit: f64,
    /// What the weights were divided by.
    pub(super) weight: f64,
    /// The sum of the weighted squared throughputs.
    total: f64,
}

impl Problem {
    /// # Errors
    /// If a number cannot be right, or the points are too few for the law.
    pub(super) fn new(law: Law, points: &[Point]) -> Result<Self, Error> {
        check(points)?;
        let levels: Vec<f64> = levels(points).iter().map(|level| level.n).collect();
        let needed = law.levels_needed();
        if levels.len() < needed || points.len() <= law.coefficients().len() {
            let (points, levels) = (points.len(), levels.len());
            return Err(Error::TooFew { law, points, levels, needed });
        }
        let unit = points.iter().map(|point| point.throughput).fold(0.0, f64::max);
        let weight = points.iter().map(|point| point.weight).fold(0.0, f64::max);
        let scaled = |point: &Point| Point {
            n: point.n,
            throughput: point.throughput / unit,
            weight: point.weight / weight,
        };
        let points: Vec<Point> = points.iter().map(scaled).collect();
        let total = points.iter().map(|p| p.weight * p.throughput * p.throughput).sum();
        Ok(Problem { law, points, levels, unit, weight, total })
    }

    /// The same points with other throughputs, one for each, in the caller's unit.
    pub(super) fn with(&self, throughputs: impl Iterator<Item = f64>) -> Self {
        let again = |(point, throughput): (&Point, f64)| Point {
            throughput: throughput / self.unit,
            ..*point
        };
        let points = self.points.iter().zip(throughputs).map(again).collect();
        Problem { points, levels: self.levels.clone(), ..*self }
    }

    /// The same points under Amdahl's law, with no more than `cores` workers at any of them.
    pub(super) fn bent(&self, cores: f64) -> Self {
        let bend = |point: &Point| Point { n: point.n.min(cores), ..*point };
        let points = self.points.iter().map(bend).collect();
        Problem { law: Law::Amdahl, points, levels: self.levels.clone(), ..*self }
    }

    /// From the problem's scale to the caller's: γ alone has the unit of a throughput.
    pub(super) fn unscaled(&self, mut values: Values) -> Values {
        values[0] *= self.unit;
        values
    }

    pub(super) fn bounds(&self, region: Region) -> Bounds {
        // γ above 0 keeps the sign of the whole; the least is far below any that is met.
        let mut low = [1e-300, f64::MIN, f64::MIN];
        let mut high = [f64::MAX; MOST];
        if region == Region::Physical {
            (low[1], low[2]) = (0.0, 0.0);
            if matches!(self.law, Law::Gustafson | Law::Amdahl) {
                high[1] = 1.0;
            }
        }
        Bounds { low, high }
    }

    /// Where to begin: the solution of the linearised law, and fixed places for points so noisy
    /// that it makes no sense.
    fn starts(&self) -> Vec<Values> {
        let per_worker =
            self.points.iter().map(|point| point.throughput / point.n).fold(0.0, f64::max);
        let mut starts: Vec<Values> = self.linearised().into_iter().collect();
        for (part, beta) in [(0.02, 0.0), (0.3, 1e-3), (0.9, 0.0)] {
            starts.push([per_worker, part, beta]);
        }
        starts
    }

    /// n/X = (1 + α (n − 1) + β n (n − 1)) / γ is linear in 1/γ, α/γ and β/γ; a residual of n/X
    /// counts X⁴/n² of one of X. Gustafson's law is linear as it stands.
    fn linearised(&self) -> Option<Values> {
        let count = self.law.coefficients().len();
        let mut matrix: Matrix = [[0.0; MOST]; MOST];
        let mut right = [0.0; MOST];
        for point in &self.points {
            let (n, x) = (point.n, point.throughput);
            let (by, to, weight) = if self.law == Law::Gustafson {
                ([n, 1.0 - n, 0.0], x, point.weight)
            } else {
                ([1.0, n - 1.0, n * (n - 1.0)], n / x, point.weight * (x * x / n).powi(2))
            };
            for i in 0..count {
                right[i] += weight * by[i] * to;
                for j in 0..count {
                    matrix[i][j] += weight * by[i] * by[j];
                }
            }
        }
        let solved = times(&invert(&matrix, std::array::from_fn(|i| i < count))?, &right);
        let gamma = if self.law == Law::Gustafson { solved[0] } else { 1.0 / solved[0] };
        let rest = if self.law == Law::Gustafson { 1.0 / solved[0] } else { gamma };
        let start = [gamma, solved[1] * rest, solved[2] * rest];
        (solved[0] > 0.0 && start.iter().all(|value| value.is_finite())).then_some(start)
    }

    /// The best minimum of all starts.
    pub(super) fn solve(&self, region: Region) -> Option<Minimum> {
        let bounds = self.bounds(region);
        let minima = self.starts().into_iter().filter_map(|start| minimise(self, &start, &bounds));
        minima.min_by(|a, b| a.squares.total_cmp(&b.squares))
    }

    /// The minimum near a place.
    pub(super) fn solve_from(&self, start: &Values, region: Region) -> Option<Minimum> {
        minimise(self, start, &self.bounds(region))
    }

    /// How many coefficients there are.
    pub(super) fn count(&self) -> usize {
        self.law.coefficients().len()
    }

    /// The sum of squared residuals; `None` where the law has no value.
    pub(super) fn squares(&self, values: &Values) -> Option<f64> {
        let mut sum = 0.0;
        for point in &self.points {
            let x = self.law.value(values, point.n);
            if x.is_nan() || x <= 0.0 {
                return None;
            }
            let residual = point.throughput - x;
            sum += point.weight * residual * residual;
        }
        sum.is_finite().then_some(sum)
    }

    /// JᵀJ and Jᵀr: the products of the law's slopes with one another and with the residuals.
    pub(super) fn normal(&self, values: &Values) -> (Matrix, Values) {
        let mut matrix: Matrix = [[0.0; MOST]; MOST];
        let mut slope = [0.0; MOST];
        for point in &self.points {
            let by = self.law.slopes(values, point.n);
            let residual = point.throughput - self.law.value(values, point.n);
            for i in 0..MOST {
                slope[i] += point.weight * by[i] * residual;
                for j in 0..MOST {
                    matrix[i][j] += point.weight * by[i] * by[j];
                }
            }
        }
        (matrix, slope)
    }

    /// A sum of squares that is nothing but rounding.
    pub(super) fn negligible(&self) -> f64 {
        // Residuals of a hundred times the rounding of their points.
        1e-28 * self.total
    }
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
pub(super) fn minimise(problem: &Problem, start: &Values, bounds: &Bounds) -> Option<Minimum> {
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
