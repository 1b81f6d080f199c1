//! Where the centre of a few numbers lies, one number per block: the 95 % intervals of scruple.
//!
//! **From 6 blocks up** the centre of effects is the Hodges–Lehmann estimate (*Estimates of
//! location based on rank tests*, Annals of Mathematical Statistics 34, 1963): the median of the
//! means of all pairs, each number also paired with itself. Its interval inverts Wilcoxon's
//! signed-rank test: two order statistics of the same pair means, interpolated to 95 %
//! (`signed_rank.rs`). The target parameter is the *pseudomedian*, the median of the mean
//! of two independent blocks; for a symmetric distribution that is its centre, whether or not it
//! has a mean.
//!
//! The choice was made by a simulation of 10,000 sessions for each cell (400 for BCa), whose last
//! column `simulation.rs` repeats as a test. Coverage in per cent, smallest and largest over 6, 8,
//! 12, 20 and 40 blocks:
//!
//! | block effects | t | 20 % trimmed t | BCa of the mean | signed rank |
//! |---|---|---|---|---|
//! | normal, noise 1 : 3 | 95–96 | 94–95 | 87–93 | 94–96 |
//! | log of a skewed time against a quiet one | 86–92 | 92–94 | 81–93 | 94–95 |
//! | Student's t with 3 degrees of freedom | 95–96 | 95 | 84–92 | 95–96 |
//! | 10 % of the trials ten times as noisy | 96–98 | 95–97 | 81–85 | 95 |
//! | 10 % of one side's trials slowed by 10–100 % | 58–89 | 95 | 50–90 | 95 |
//! | two modes on both sides | 94–98 | 94–98 | 77–95 | 95–96 |
//! | two equal modes on one side | 94–97 | 78–96 | 94–98 | 95–97 |
//!
//! Where it fails: two sharp modes on one side only, in proportions near 29 : 71. There half of
//! all pairs fall on either side of an empty gap, so that the pseudomedian itself is hardly
//! defined; coverage was 88 to 94 %.
//!
//! **With 2 to 5 blocks** no distribution-free interval reaches 95 % (five numbers enclose their
//! median with 93.75 %), so Student's t over blocks stands in, which assumes a normal
//! distribution; whoever prints it says so.

use crate::order::{mean, median, median_in_place, variance};
use crate::signed_rank::{Place, place};
use crate::tail::{THIN, binomial_at_most, student_975, student_975_thin};
use laws::tail::student_outside;
use model::Estimate;

/// From so many blocks on, intervals are distribution-free.
pub const BLOCKS_FREE: usize = 6;

/// Confidence level of all intervals.
pub const LEVEL: f64 = 0.95;

/// A centre with its interval, on the scale on which it was formed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Located {
    /// The centre.
    pub point: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
    /// Standard error: from the length of the interval divided by twice the t quantile (Lehmann,
    /// *Nonparametric confidence intervals for a shift parameter*, 1963); of the mean below 6.
    pub standard_error: f64,
    /// Blocks or trials behind it.
    pub samples: usize,
    /// Whether all numbers were the same.
    pub agrees: bool,
    below: usize,
    above: usize,
}

impl Located {
    fn new(values: &[f64], point: f64, low: f64, high: f64) -> Self {
        let samples = values.len();
        // Equal numbers may differ in their last digit after a logarithm or a division.
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs().max(b.abs()).max(1e-3);
        Located {
            point,
            low: low.min(point),
            high: high.max(point),
            standard_error: (high - low) / (2.0 * student_975(samples)),
            samples,
            agrees: values.iter().all(|&value| near(value, values[0])),
            below: values.iter().filter(|&&v| v < point && !near(v, point)).count(),
            above: values.iter().filter(|&&v| v > point && !near(v, point)).count(),
        }
    }

    fn all_agree(values: &[f64]) -> Option<Self> {
        let first = *values.first()?;
        let located = Located::new(values, first, first, first);
        located.agrees.then_some(located)
    }

    /// Twice the one-sided p-value of the hypothesis that the centre is at `boundary` or beyond
    /// it, seen from the point. At an end of the interval it is 0.05, so that verdict and
    /// interval agree.
    ///
    /// Between point and end, and beyond the end, the p-value follows Student's t on the scale
    /// that the distance from the point to that end sets. The signed-rank test itself could not
    /// go below 2^(1−n), which would leave every claim of a session with a dozen claims
    /// undecided below 10 blocks, however far the boundary.
    ///
    /// The degrees of freedom are 0.6 (n − 1), by simulation: with n − 1 the error at p = 0.001
    /// was 1.6 times too large for normal and 2.8 times for uniform effects; with 0.6 (n − 1) it
    /// is at most what it should be for every symmetric distribution with one mode, and up to 3
    /// times too large where one side alone is strongly skewed. The price of going beyond the
    /// exact test: where one side has two far modes of like weight and there are 6 to 12 blocks,
    /// an error of 0.25 % becomes 1 to 3 %.
    pub fn p_value(&self, boundary: f64) -> f64 {
        let distance = (boundary - self.point).abs();
        if distance == 0.0 || boundary.is_nan() {
            return 1.0;
        }
        let downwards = boundary < self.point;
        let side = if downwards { self.point - self.low } else { self.high - self.point };
        if side <= 1e-12 * self.point.abs().max(1e-3) {
            let against = if downwards { self.below } else { self.above };
            return self.sign_p_value(against);
        }
        let freedom = THIN * (self.samples - 1) as f64;
        let quantile = student_975_thin(self.samples);
        student_outside(freedom, quantile * distance / side)
    }

    /// Where ties leave no width to scale a distance by: the sign test, which asks only how many
    /// blocks lie towards the boundary.
    fn sign_p_value(&self, against: usize) -> f64 {
        if self.samples < BLOCKS_FREE {
            return 1.0;
        }
        (2.0 * binomial_at_most(against as f64, self.samples as f64, 0.5)).min(1.0)
    }

    /// As an estimate in the words of the session's files; `from` translates the scale, and the
    /// standard error stays on the scale it was formed on.
    pub fn estimate(&self, from: impl Fn(f64) -> f64) -> Estimate {
        Estimate {
            point: from(self.point),
            low: from(self.low),
            high: from(self.high),
            standard_error: Some(self.standard_error),
            level: LEVEL,
            samples: self.samples as u32,
        }
    }
}

/// The centre of effects, one per block: the pseudomedian with its signed-rank interval from 6
/// blocks up, the mean with Student's t from 2 to 5, nothing below.
pub fn centre(effects: &[f64]) -> Option<Located> {
    if effects.len() < 2 || effects.iter().any(|effect| !effect.is_finite()) {
        return None;
    }
    if let Some(located) = Located::all_agree(effects) {
        return Some(located);
    }
    let Some(at) = place(effects.len()) else {
        return student(effects);
    };
    let mut sums = pair_sums(effects);
    let (low, high) = ends(&mut sums, at, 0)?;
    let point = median_in_place(&mut sums)?;
    Some(Located::new(effects, point / 2.0, low / 2.0, high / 2.0))
}

/// The mean with the interval of Student's t (Student 1908); `None` below 2 numbers.
pub fn student(values: &[f64]) -> Option<Located> {
    let (point, variance) = (mean(values)?, variance(values)?);
    let half = student_975(values.len()) * (variance / values.len() as f64).sqrt();
    Some(Located::new(values, point, point - half, point + half))
}

/// The median with the interval between two order statistics, interpolated to 95 %
/// (Hettmansperger and Sheather, *Confidence intervals based on interpolated order statistics*,
/// Statistics & Probability Letters 4, 1986; Nyblom 1992 finds the coverage within half a
/// per cent of 95 for most distributions, symmetric or not).
///
/// With 2 to 5 numbers the interval is Student's t, of the logarithms if all are positive (noise
/// in times and sizes multiplies), else of the numbers; it always contains the median.
pub fn median_located(values: &[f64]) -> Option<Located> {
    if values.len() < 2 || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let point = median(values)?;
    if values.len() < BLOCKS_FREE {
        if values.iter().all(|&value| value > 0.0) {
            let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
            let t = student(&logs)?;
            return Some(Located::new(values, point, t.low.exp(), t.high.exp()));
        }
        let t = student(values)?;
        return Some(Located::new(values, point, t.low, t.high));
    }
    let ascending = crate::order::sorted(values);
    let count = ascending.len();
    let n = count as f64;
    let coverage = |depth: usize| 1.0 - 2.0 * binomial_at_most(depth as f64 - 1.0, n, 0.5);
    let mut depth = 1;
    while depth < count / 2 && coverage(depth + 1) >= LEVEL {
        depth += 1;
    }
    let (outer, inner) = (coverage(depth), coverage(depth + 1));
    let part = (outer - LEVEL) / (outer - inner);
    let d = depth as f64;
    let weight = (n - d) * part / (d + (n - 2.0 * d) * part);
    let low = (1.0 - weight) * ascending[depth - 1] + weight * ascending[depth];
    let high = (1.0 - weight) * ascending[count - depth] + weight * ascending[count - depth - 1];
    Some(Located::new(values, point, low, high))
}

/// A ratio of two centres whose lower part may come near 0: Fieller's idea (*Some problems in
/// interval estimation*, JRSS B 16, 1954) with the signed-rank test in place of Student's.
///
/// A ratio r is in the interval if the centre of `above − r · below` over blocks may be 0. With
/// all pair sums of `below` positive that is the case between two order statistics of
/// `(above_i + above_j) / (below_i + below_j)`. A pair whose sum is not positive could move
/// either end, so it counts against both: the interval gets wider, and there is none
/// (`None`) exactly if the interval of `below` itself contains 0. Below 6 blocks it is Fieller's
/// own interval.
pub fn ratio_of_centres(above: &[f64], below: &[f64]) -> Option<Located> {
    let centre_below = centre(below)?;
    if above.len() != below.len() || centre_below.low <= 0.0 && centre_below.high >= 0.0 {
        return None;
    }
    let sign = centre_below.point.signum();
    let above: Vec<f64> = above.iter().map(|value| value * sign).collect();
    let below: Vec<f64> = below.iter().map(|value| value * sign).collect();
    let effects: Vec<f64> = above.iter().zip(&below).map(|(a, b)| a / b).collect();
    if let Some(located) = Located::all_agree(&effects) {
        return Some(located);
    }
    let Some(at) = place(above.len()) else {
        return fieller(&above, &below, &effects);
    };
    let sums_below = pair_sums(&below);
    let mut ratios: Vec<f64> = pair_sums(&above)
        .into_iter()
        .zip(&sums_below)
        .filter(|(_, below)| **below > 0.0)
        .map(|(above, below)| above / below)
        .collect();
    let lost = sums_below.len() - ratios.len();
    let (low, high) = ends(&mut ratios, at, lost)?;
    let point = median_in_place(&mut ratios)?;
    Some(Located::new(&effects, point, low, high))
}

/// Fieller's interval of mean(above) / mean(below), whose lower part is known to differ from 0.
fn fieller(above: &[f64], below: &[f64], effects: &[f64]) -> Option<Located> {
    let (top, bottom) = (mean(above)?, mean(below)?);
    let n = above.len() as f64;
    let t = student_975(above.len());
    let covariance: f64 =
        above.iter().zip(below).map(|(a, b)| (a - top) * (b - bottom)).sum::<f64>() / (n - 1.0);
    let scale = t * t / n;
    let square = bottom * bottom - scale * variance(below)?;
    let linear = top * bottom - scale * covariance;
    let constant = top * top - scale * variance(above)?;
    let root = (linear * linear - square * constant).max(0.0).sqrt();
    if square <= 0.0 {
        return None;
    }
    let (low, high) = ((linear - root) / square, (linear + root) / square);
    Some(Located::new(effects, top / bottom, low, high))
}

/// The sums of all pairs, each number also with itself.
fn pair_sums(values: &[f64]) -> Vec<f64> {
    let mut sums = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
    for (index, one) in values.iter().enumerate() {
        for other in &values[index..] {
            sums.push(one + other);
        }
    }
    sums
}

/// The numbers at `at`, counted from both ends, when `lost` more numbers may lie beyond either.
/// Reorders the slice.
fn ends(pairs: &mut [f64], at: Place, lost: usize) -> Option<(f64, f64)> {
    let index = at.place.checked_sub(1 + lost)?;
    let count = pairs.len();
    if index + 1 >= count {
        return None;
    }
    let (_, &mut low_outer, rest) = pairs.select_nth_unstable_by(index, f64::total_cmp);
    let low_inner = rest.iter().copied().min_by(f64::total_cmp)?;
    let (rest, &mut high_outer, _) =
        pairs.select_nth_unstable_by(count - 1 - index, f64::total_cmp);
    let high_inner = rest.iter().copied().max_by(f64::total_cmp)?;
    let between = |outer: f64, inner: f64| outer + at.weight * (inner - outer);
    Some((between(low_outer, low_inner), between(high_outer, high_inner)))
}

#[cfg(test)]
mod tests;
