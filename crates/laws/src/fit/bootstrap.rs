//! Intervals from the trials themselves, resampled at each n.

use super::smooth::Problem;
use super::solve::{dot, invert, times};
use super::{Coefficient, Fit, LEVEL, Law, Level, Point, Region, Values, fit, kinked, levels};
use crate::Error;
use crate::error::within;
use crate::tail::student_quantile;

/// The fewest resamplings: a standard error from that number is uncertain by 5 %.
pub const ROUNDS_LEAST: usize = 200;

/// The share of resamplings that may give no fit; with more, the intervals would be those of the
/// docile ones.
const LOST_MOST: f64 = 0.05;

/// A law fitted again and again to resampled trials.
#[derive(Clone, Debug, PartialEq)]
pub struct Bootstrap {
    /// The fit of the trials as they are.
    pub fit: Fit,
    /// Resamplings that gave no fit.
    pub lost: usize,
    draws: Vec<Values>,
    shares: Vec<Share>,
    /// Where the fit's intervals are formed, on the problem's scale.
    around: Values,
}

/// What one n contributes to the scatter of the coefficients, on the problem's scale.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Share {
    /// By how much each coefficient follows the mean of its trials.
    follows: Values,
    /// The variance of that mean.
    variance: f64,
    /// Trials beyond one.
    freedom: f64,
}

/// The fit of `law`, with intervals by `rounds` resamplings of the trials within each n (A. C.
/// Davison and D. V. Hinkley, *Bootstrap Methods and their Application*, Cambridge 1997, 6.2 and
/// 3.2: strata).
///
/// `uniform` gives independent numbers from 0 to below 1; the same numbers give the same
/// intervals.
///
/// Each n keeps its own noise, whatever it is. Two things that few trials per n would spoil are
/// put right: r trials resampled scatter by (r − 1)/r too little, so deviations are stretched by
/// √(r/(r − 1)); and percentiles of so few know nothing of a t distribution's tails, so the
/// interval is the estimate with t bootstrap standard errors to either side. The degrees of freedom
/// of t are those of F. E. Satterthwaite (Biometrics Bulletin 2, 1946): where one noisy n decides
/// a coefficient, that n's few trials are all that is known of its error. (With the freedom of all
/// trials together, coverage fell to 89 %.)
///
/// # Errors
/// As [`super::fit`]; [`Error::NoReplicates`] if an n has a single trial; [`Error::Wrong`] with
/// fewer than [`ROUNDS_LEAST`] rounds or a number out of its range; [`Error::NotIdentified`] if
/// more than a twentieth of the resamplings give no fit.
pub fn bootstrap(
    law: Law,
    points: &[Point],
    region: Region,
    rounds: usize,
    mut uniform: impl FnMut() -> f64,
) -> Result<Bootstrap, Error> {
    let first = fit(law, points, region)?;
    let problem = Problem::new(law, points)?;
    let levels = levels(points);
    if levels.iter().any(|level| level.members.len() < 2) {
        return Err(Error::NoReplicates { points: points.len(), levels: levels.len() });
    }
    within("rounds", rounds as f64, rounds >= ROUNDS_LEAST, "200 or more")?;
    let mut around = first.around;
    around[0] /= problem.unit;
    let mut draws = Vec::with_capacity(rounds);
    let mut throughputs = vec![0.0; points.len()];
    for _ in 0..rounds {
        for level in &levels {
            let (mean, count) = (level.mean_throughput(points), level.members.len() as f64);
            let stretch = (count / (count - 1.0)).sqrt();
            for &place in &level.members {
                let drawn = points[level.members[pick(&mut uniform, level.members.len())?]];
                throughputs[place] = mean + stretch * (drawn.throughput - mean);
            }
        }
        draws.extend(again(&problem.with(throughputs.iter().copied()), &around));
    }
    let lost = rounds - draws.len();
    if lost as f64 > LOST_MOST * rounds as f64 {
        return Err(Error::NotIdentified { law });
    }
    let shares = shares(&problem, &around, &levels)?;
    Ok(Bootstrap { fit: first, lost, draws, shares, around })
}

/// What each n contributes: the solution follows a mean by (JᵀWJ)⁻¹JᵀW.
fn shares(problem: &Problem, around: &Values, levels: &[Level]) -> Result<Vec<Share>, Error> {
    let used = std::array::from_fn(|i| i < problem.count());
    let inverse = invert(&problem.normal(around).0, used);
    let inverse = inverse.ok_or(Error::NotIdentified { law: problem.law })?;
    let share = |level: &Level| {
        let points = || level.members.iter().map(|&i| problem.points[i]);
        let weight: f64 = points().map(|point| point.weight).sum();
        let slopes = problem.law.slopes(around, level.n);
        let (mean, count) = (level.mean_throughput(&problem.points), level.members.len() as f64);
        let squares: f64 = points().map(|point| (point.throughput - mean).powi(2)).sum();
        Share {
            follows: times(&inverse, &slopes.map(|slope| weight * slope)),
            variance: squares / (count * (count - 1.0)),
            freedom: count - 1.0,
        }
    };
    Ok(levels.iter().map(share).collect())
}

/// A place among `count`.
fn pick(uniform: &mut impl FnMut() -> f64, count: usize) -> Result<usize, Error> {
    let value = uniform();
    within("random number", value, (0.0..1.0).contains(&value), "at least 0 and below 1")?;
    Ok(((value * count as f64) as usize).min(count - 1))
}

/// The coefficients of resampled trials. Unbounded: cut at a bound, they would scatter too little.
fn again(problem: &Problem, start: &Values) -> Option<Values> {
    let found = match problem.law.is_kinked() {
        true => kinked::solve(problem, Region::Free),
        false => problem.solve_from(start, Region::Free),
    };
    Some(problem.unscaled(found?.values))
}

impl Bootstrap {
    /// The 95 % interval of each coefficient, in the order of [`Fit::parameters`], cut at the
    /// region like those of the fit and never without the estimate.
    pub fn intervals(&self) -> Vec<(f64, f64)> {
        let one = |i: usize| {
            let along = std::array::from_fn(|j| f64::from(u8::from(i == j)));
            let (low, high) = self.interval_of(|values| values[i], self.fit.around[i], &along);
            let parameter = &self.fit.parameters[i];
            let (least, most) = match parameter.coefficient {
                Coefficient::Gamma => (0.0, f64::MAX),
                Coefficient::Cores => (self.fit.bounds.low[i], self.fit.largest_n),
                _ => (self.fit.bounds.low[i], self.fit.bounds.high[i]),
            };
            (low.max(least).min(parameter.value), high.min(most).max(parameter.value))
        };
        (0..self.fit.parameters.len()).map(one).collect()
    }

    /// The 95 % interval of the curve's height at n, never below 0.
    ///
    /// # Errors
    /// As [`Fit::throughput`].
    pub fn interval_at(&self, n: f64) -> Result<(f64, f64), Error> {
        let point = self.fit.throughput(n)?;
        let law = self.fit.law;
        let centre = law.value(&self.fit.around, n);
        let along = law.slopes(&self.around, n);
        let (low, high) = self.interval_of(|values| law.value(values, n), centre, &along);
        if !(low.is_finite() && high.is_finite()) {
            return Err(Error::Pole { n });
        }
        Ok((low.max(0.0).min(point), high.max(point)))
    }

    /// The interval of a function of the coefficients, whose slopes are `along`.
    fn interval_of(&self, of: impl Fn(&Values) -> f64, centre: f64, along: &Values) -> (f64, f64) {
        let values: Vec<f64> = self.draws.iter().map(of).collect();
        let count = values.len() as f64;
        let mean = values.iter().map(|value| value / count).sum::<f64>();
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let error = (squares / (count - 1.0)).sqrt();
        let t = student_quantile(self.freedom(along), 1.0 - LEVEL);
        (centre - t * error, centre + t * error)
    }

    /// Satterthwaite's degrees of freedom: (Σ v)² / Σ (v²/ν), v the variance that an n contributes
    /// and ν its trials beyond one.
    fn freedom(&self, along: &Values) -> f64 {
        let (mut sum, mut squares, mut all) = (0.0, 0.0, 0.0);
        for share in &self.shares {
            let variance = dot(&share.follows, along).powi(2) * share.variance;
            sum += variance;
            squares += variance * variance / share.freedom;
            all += share.freedom;
        }
        let freedom = sum * sum / squares;
        // Trials without any scatter, or without any that is left after squaring.
        if freedom.is_finite() { freedom.clamp(1.0, all) } else { all }
    }
}
