//! The laws fitted to points by weighted least squares, with intervals.
//!
//! [`fit`] gives a [`Fit`]: coefficients with standard errors and 95 % intervals of Student's t
//! with n − p degrees of freedom, the residual sum of squares, the small-sample criterion AICc.
//! [`bootstrap`] gives intervals that need no common noise. [`choose`] picks a law and says why as
//! data. [`Fit::peak`] names a peak only where the points reach it.
//!
//! A point is a **trial**, never an observation within one: points that are not independent make
//! every interval here too narrow.
//!
//! # Which interval holds where
//!
//! By simulation (`tests/simulation` holds it), 8 to 16 levels of n, 2000 sessions and more each:
//!
//! | noise | weights | t | bootstrap |
//! |---|---|---|---|
//! | the same amount at each n | equal | 94–96 % | 94–96 % |
//! | the same part of the throughput | [`weighted_by_level`] | 94–96 % | 93–96 % |
//! | a part that grows fourfold with n | equal | 71–100 % | 94–96 % |
//!
//! t needs no replicates; the bootstrap needs 4 trials or more at each n, and of a kink that lies
//! on a level it covers up to 98 %.
//!
//! # What others ran into
//!
//! γ is fitted like the rest: a law that is scaled by the one measurement at n = 1 inherits its
//! noise, and needs that measurement. Negative coefficients are neither refused nor turned
//! positive by their absolute value: [`Region::Physical`] finds the best coefficients that are not
//! negative, and keeps the interval that the unbounded fit gives.

mod bootstrap;
mod choose;
mod intervals;
mod kinked;
pub(crate) mod law;
mod peak;
mod smooth;
mod solve;

pub use bootstrap::{Bootstrap, ROUNDS_LEAST, bootstrap};
pub use choose::{
    Candidate, Choice, LackOfFit, REFUTED_BELOW, Reason, SUPPORTED_WITHIN, choose, lack_of_fit,
};
pub use law::{Coefficient, Law};
pub use peak::Peak;

use crate::Error;
use crate::error::{positive, workers};
use crate::tail::student_quantile;
use solve::{dot, times};

/// The confidence level of all intervals.
pub const LEVEL: f64 = 0.95;

/// No law has more coefficients.
const MOST: usize = 3;

/// One trial: n workers and the throughput they reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The number of workers, at least 1.
    pub n: f64,
    /// Operations per unit of time, above 0.
    pub throughput: f64,
    /// What its squared residual counts, above 0: the inverse of the variance of its noise, but
    /// for a factor that all points share.
    pub weight: f64,
}

impl Point {
    /// A point with the weight 1.
    pub fn new(n: f64, throughput: f64) -> Self {
        Point { n, throughput, weight: 1.0 }
    }
}

/// Where coefficients are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// α, β ≥ 0; a serial part from 0 to 1, and α of Amdahl's law and of a kink at most 1.
    Physical,
    /// Anywhere that gives every point a throughput above 0.
    Free,
}

/// A coefficient as fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Which one.
    pub coefficient: Coefficient,
    /// Its estimate.
    pub value: f64,
    /// Its standard error; `None` where the estimate lies at the edge of the region.
    pub standard_error: Option<f64>,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval. A kink's is cut at the range of the points, since beyond it
    /// they say nothing.
    pub high: f64,
}

/// A law fitted to points.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The law.
    pub law: Law,
    /// Its coefficients, γ first.
    pub parameters: Vec<Parameter>,
    /// Sum of the weighted squared residuals.
    pub residual_squares: f64,
    /// Points behind it.
    pub points: usize,
    /// Points less parameters.
    pub freedom: usize,
    /// The corrected criterion of Akaike (N. Sugiura 1978; Hurvich and Tsai, Biometrika 76, 1989),
    /// to be compared among fits of the same points alone; `None` with too few points for it.
    pub aicc: Option<f64>,
    /// The largest n among the points.
    pub largest_n: f64,
    values: Values,
    /// Where intervals are formed: the unbounded fit, if there is one.
    around: Values,
    covariance: solve::Matrix,
    bounds: solve::Bounds,
}

type Values = [f64; MOST];

impl Law {
    /// Throughput at n; not a number above 0 where the coefficients give none.
    fn value(self, v: &Values, n: f64) -> f64 {
        let more = n - 1.0;
        match self {
            Law::Linear => v[0] * n,
            Law::Gustafson => v[0] * (n - v[1] * more),
            Law::Amdahl => v[0] * n / (1.0 + v[1] * more),
            Law::Usl => v[0] * n / (1.0 + v[1] * more + v[2] * n * more),
            Law::Kink => v[0] * n.min(v[1]),
            Law::ContendedKink => Law::Amdahl.value(v, n.min(v[2])),
        }
    }

    /// The derivatives of throughput at n by each coefficient; at a kink, that of its right side.
    fn slopes(self, v: &Values, n: f64) -> Values {
        let more = n - 1.0;
        match self {
            Law::Linear => [n, 0.0, 0.0],
            Law::Gustafson => [n - v[1] * more, -v[0] * more, 0.0],
            Law::Amdahl | Law::Usl => {
                let beta = if self == Law::Usl { v[2] } else { 0.0 };
                let below = 1.0 + v[1] * more + beta * n * more;
                let by_alpha = -v[0] * n * more / (below * below);
                [n / below, by_alpha, if self == Law::Usl { by_alpha * n } else { 0.0 }]
            }
            Law::Kink if n > v[1] => [v[1], v[0], 0.0],
            Law::Kink => [n, 0.0, 0.0],
            Law::ContendedKink if n > v[2] => {
                let [by_gamma, by_alpha, _] = Law::Amdahl.slopes(v, v[2]);
                let below = 1.0 + v[1] * (v[2] - 1.0);
                [by_gamma, by_alpha, v[0] * (1.0 - v[1]) / (below * below)]
            }
            Law::ContendedKink => Law::Amdahl.slopes(v, n),
        }
    }
}

impl Fit {
    /// A coefficient of the law; `None` if it has no such one.
    pub fn parameter(&self, coefficient: Coefficient) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.coefficient == coefficient)
    }

    /// X(n) of the fitted curve.
    ///
    /// # Errors
    /// If n is not at least 1; [`Error::Pole`] where coefficients below 0 leave no throughput.
    pub fn throughput(&self, n: f64) -> Result<f64, Error> {
        let x = self.law.value(&self.values, workers(n)?);
        if x.is_finite() && x > 0.0 { Ok(x) } else { Err(Error::Pole { n }) }
    }

    /// The 95 % interval of the curve's height at n (of the mean, not of a further trial): the
    /// delta method, with t at n − p degrees of freedom; never below 0.
    ///
    /// # Errors
    /// As [`Fit::throughput`].
    pub fn interval_at(&self, n: f64) -> Result<(f64, f64), Error> {
        let point = self.throughput(n)?;
        let slopes = self.law.slopes(&self.around, n);
        let centre = self.law.value(&self.around, n);
        let variance = dot(&times(&self.covariance, &slopes), &slopes);
        let reach = self.t() * variance.max(0.0).sqrt();
        let (low, high) = (centre - reach, centre + reach);
        if !(low.is_finite() && high.is_finite()) {
            return Err(Error::Pole { n });
        }
        Ok((low.min(point).max(0.0), high.max(point)))
    }

    /// By how much the mean relative variance of the curve over some n would fall if a point of
    /// `weight` were added at n: the I-optimal choice of the next measurement (A. C. Atkinson, A. N.
    /// Donev and R. D. Tobias, *Optimum Experimental Designs*, Oxford 2007, 10.6). 0 where the curve
    /// has no value.
    ///
    /// A variance in the coefficients V and slopes g at the new n: V falls by
    /// V g gᵀ V / (σ²/weight + gᵀ V g).
    pub fn gain(&self, n: f64, weight: f64, over: &[f64]) -> f64 {
        let g = self.law.slopes(&self.around, n);
        let v = times(&self.covariance, &g);
        let below = self.residual_deviation().powi(2) / weight + dot(&v, &g);
        let fall = |&at: &f64| {
            let height = self.law.value(&self.around, at);
            (dot(&self.law.slopes(&self.around, at), &v) / height).powi(2) / below
        };
        let sum: f64 = over.iter().map(fall).sum::<f64>() / over.len() as f64;
        if sum.is_finite() { sum } else { 0.0 }
    }

    /// The standard deviation of a point of weight 1 about the curve.
    pub fn residual_deviation(&self) -> f64 {
        (self.residual_squares / self.freedom as f64).sqrt()
    }

    /// The quantile of its intervals.
    fn t(&self) -> f64 {
        student_quantile(self.freedom as f64, 1.0 - LEVEL)
    }
}

/// A law fitted to points by weighted least squares.
///
/// The smooth laws start from the linearisation of n/X in (1, n − 1, n (n − 1)) (Gunther 2007,
/// 5.6) and from some fixed places, and finish by Levenberg and Marquardt's method (D. W.
/// Marquardt, SIAM Journal 11, 1963). Kinks are searched between each two neighbouring n (D. J.
/// Hudson, *Fitting segmented curves whose join points have to be estimated*, Journal of the
/// American Statistical Association 61, 1966).
///
/// # Errors
/// [`Error::Wrong`] if a number of a point is not finite, n is below 1, or throughput or weight is
/// not above 0; [`Error::TooFew`] points or different n; [`Error::NotIdentified`] if the points do
/// not tell the coefficients apart. A kink is looked for up to the last n but one, since less than
/// two n cannot be seen to be flat; one that lies beyond fits badly there.
pub fn fit(law: Law, points: &[Point], region: Region) -> Result<Fit, Error> {
    intervals::fit(&smooth::Problem::new(law, points)?, region)
}

/// The points with the weights that suit a noise which is the same part of the throughput at each
/// n: the inverse square of the mean of each n. The mean, not each point's own throughput, which
/// would weigh the points that noise made small more than those it made large.
///
/// # Errors
/// As [`fit`], of the points.
pub fn weighted_by_level(points: &[Point]) -> Result<Vec<Point>, Error> {
    check(points)?;
    let levels = levels(points);
    let weigh = |point: &Point| {
        let at = levels.iter().find(|level| level.n == point.n);
        let mean = at.map_or(point.throughput, |level| level.mean_throughput(points));
        let weight = positive("weight", 1.0 / (mean * mean))?;
        Ok(Point { weight, ..*point })
    };
    points.iter().map(weigh).collect()
}

/// Every number of every point can be right.
fn check(points: &[Point]) -> Result<(), Error> {
    for point in points {
        workers(point.n)?;
        positive("throughput", point.throughput)?;
        positive("weight", point.weight)?;
    }
    Ok(())
}

/// The points of one n.
struct Level {
    n: f64,
    /// Where they stand among the points.
    members: Vec<usize>,
}

impl Level {
    /// Their mean, each by its weight.
    fn mean(&self, points: &[Point]) -> f64 {
        let heaviest = self.members.iter().map(|&i| points[i].weight).fold(0.0, f64::max);
        let (mut sum, mut weights) = (0.0, 0.0);
        for point in self.members.iter().map(|&i| points[i]) {
            let weight = point.weight / heaviest;
            sum += weight * point.throughput;
            weights += weight;
        }
        sum / weights
    }

    /// Their mean, all alike.
    fn mean_throughput(&self, points: &[Point]) -> f64 {
        let count = self.members.len() as f64;
        self.members.iter().map(|&i| points[i].throughput / count).sum()
    }
}

/// The points by n, in rising order.
fn levels(points: &[Point]) -> Vec<Level> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| points[a].n.total_cmp(&points[b].n));
    let levels = order.chunk_by(|&a, &b| points[a].n == points[b].n);
    levels.map(|own| Level { n: points[own[0]].n, members: own.to_vec() }).collect()
}

#[cfg(test)]
mod tests;
