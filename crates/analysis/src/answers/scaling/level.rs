//! The trials of each number of workers, and how two of them compare.

use super::trials::ScaleTrial;
use crate::stats::estimate::mean_estimate;
use crate::stats::interval::LEVEL;
use crate::stats::order;
use laws::fit::Law;
use laws::tail::student_quantile;
use model::{Estimate, ScaleCurve};

/// A loss below this share of the workers' time is not looked into: an account of looks some
/// milliseconds apart, beside neighbours that nobody sees, is not finer.
pub(super) const NOTABLE: f64 = 0.05;

/// One number of workers with its trials.
#[derive(Clone, Debug)]
pub(crate) struct Level<'a> {
    pub(crate) n: f64,
    pub(crate) trials: Vec<&'a ScaleTrial>,
}

impl Level<'_> {
    /// Returns a number of each trial that knows it.
    pub(super) fn values(&self, of: impl Fn(&ScaleTrial) -> Option<f64>) -> Vec<f64> {
        self.trials.iter().filter_map(|trial| of(trial)).collect()
    }

    /// Returns the mean over the trials that know it.
    pub(super) fn mean(&self, of: impl Fn(&ScaleTrial) -> Option<f64>) -> Option<f64> {
        order::mean(&self.values(of))
    }
}

/// Returns the laws to try: Gustafson's law is for work that grows with the workers, and is the same curve as
/// Amdahl's nowhere else.
pub(super) fn laws_for(grows: bool) -> Vec<Law> {
    let all = Law::ALL.into_iter();
    all.filter(|law| grows || *law != Law::Gustafson).collect()
}

/// Returns the levels of n, rising, without copies and trials on one CPU.
pub(super) fn levels(trials: &[ScaleTrial]) -> Vec<Level<'_>> {
    let is_plain = |trial: &&ScaleTrial| trial.copies == 1 && !trial.one_cpu;
    let mut order: Vec<&ScaleTrial> = trials.iter().filter(is_plain).collect();
    order.sort_by(|a, b| a.n.total_cmp(&b.n));
    let levels = order.chunk_by(|a, b| a.n == b.n);
    levels.map(|own| Level { n: own[0].n, trials: own.to_vec() }).collect()
}

/// Returns the mean with its interval; of a single trial, the number alone, which has none.
pub(crate) fn centre(values: &[f64]) -> Option<Estimate> {
    if let [point] = *values { Some(alone(point, 1)) } else { mean_estimate(values) }
}

/// Returns a number without an interval.
fn alone(point: f64, samples: u32) -> Estimate {
    Estimate { level: LEVEL, ..Estimate::exactly(point, samples) }
}

/// Returns the ratio of two means of separate trials, with the interval of Student's t on the logarithm
/// and Welch's degrees of freedom (B. L. Welch, Biometrika 34, 1947). The relative errors of the two means
/// add in squares.
pub(crate) fn ratio(above: &[f64], below: &[f64]) -> Option<Estimate> {
    let (a, b) = (order::mean(above)?, order::mean(below)?);
    let point = a / b;
    let samples = above.len().min(below.len()) as u32;
    if !point.is_finite() || point <= 0.0 {
        return None;
    }
    let of = |values: &[f64], mean: f64| {
        let count = values.len() as f64;
        Some((order::variance(values)? / (mean * mean) / count, count - 1.0))
    };
    let (Some((va, fa)), Some((vb, fb))) = (of(above, a), of(below, b)) else {
        return Some(alone(point, samples));
    };
    let error = (va + vb).sqrt();
    let freedom = (va + vb).powi(2) / (va * va / fa + vb * vb / fb);
    let freedom = if freedom.is_finite() { freedom.max(1.0) } else { fa + fb };
    let reach = student_quantile(freedom, 0.05) * error;
    let (low, high) = (point * (-reach).exp(), point * reach.exp());
    Some(Estimate { point, low, high, standard_error: Some(error), level: LEVEL, samples })
}

/// Returns the chosen fit's name, where there is one.
pub(crate) fn chosen(curve: &ScaleCurve) -> Option<&model::ScaleFit> {
    let name = curve.chosen.as_ref()?;
    curve.fits.iter().find(|fit| fit.law == *name)
}
