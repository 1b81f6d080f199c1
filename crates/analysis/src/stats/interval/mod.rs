//! Where the centre of a few numbers lies, one number per block: the 95 % intervals of scruple,
//! and the p-values behind its verdicts.
//!
//! **The estimand is the median over blocks** of the block's own number (its ratio, its
//! difference, its exponent). The median needs no symmetry: whatever one side's noise looks like,
//! a block lies above the true median with probability one half. That alone gives a test and an
//! interval.
//!
//! *Test.* The exact sign test counts the blocks on either side of a boundary. Its p-value cannot
//! fall below 2^(1−n), so that few blocks never claim to know much. A block that ties with the
//! boundary counts against the verdict: dropping it would test whether more blocks lie above than
//! below, and with a coarse, skewed clock that can hold while the median is the boundary itself.
//!
//! *Interval, from 6 blocks up.* Two order statistics, interpolated to 95 % (Hettmansperger and
//! Sheather, *Confidence intervals based on interpolated order statistics*, Statistics &
//! Probability Letters 4, 1986). At an end next to a gap between two groups of blocks one of the two
//! stands without interpolation, since an end inside an empty gap would mean nothing: the inner one
//! where that covers 93 %, else the outer.
//!
//! *Dependence.* If neighbouring blocks are alike, fewer blocks are independent than were measured:
//! n blocks with the lag-1 autocorrelation r count as n (1 − r)/(1 + r) (Bayley and Hammersley, *The
//! "effective" number of independent observations in an autocorrelated time series*, JRSS Supplement
//! 8, 1946). For the interval r is that of the numbers, tested at 1 %. For the test it is that of the
//! sides on which the blocks lie, tested at 10 %: a level that drifts far from the boundary makes the
//! numbers alike, but says nothing against blocks that all lie on one side.
//!
//! Where the blocks of an experiment follow their predecessors in all its numbers together
//! ([`shared_correlation`](crate::shared_correlation)), as they do when a level warms up, steps or wanders,
//! blocks that all lie on one side prove little. There the distance counts, too
//! ([`Located::following`]): the interval holds also that of Student's t with the variance of the mean that
//! the correlation leaves, and a p-value is no less than that of this t.
//!
//! *Two groups.* Where the blocks fall into two groups with a gap between them, a treatment may have
//! two modes and keep each for a while. So dependence is tested at 10 % there, by the sequence of
//! groups. A mode that is kept for most of a session cannot be seen in that session.
//!
//! *Changes.* Where the level of the blocks changes during the session (a side that warms up, a step;
//! Pettitt, *A non-parametric approach to the change-point problem*, Applied Statistics 28, 1979, tested at
//! 5 %), the median of all describes neither part. Then a boundary that some block lies beyond is judged in
//! both parts of six blocks or more, and the larger p-value counts: a verdict needs both to agree. It finds a step
//! of two standard deviations in the middle of 12 normal blocks in 45 % of sessions, of 20 in 90 %; one of
//! three in 86 and 99.9 %; and a change where there is none in at most 3 %.
//!
//! *With 2 to 5 blocks* no distribution-free interval reaches 95 % (five numbers enclose their
//! median with 93.75 %). Student's t stands in for display, and no verdict is possible.
//!
//! What was tried instead, and rejected by simulation (`docs/calibration.md` has the table):
//! the Hodges–Lehmann estimate with the signed-rank test (between two groups of blocks its
//! estimand, the pseudomedian, lies in the gap; 28 to 72 % of sessions held a wrong verdict once
//! the p-values went beyond the exact ones), Student's t, trimmed t, and the bootstrap of the mean.

use crate::stats::order::{mean, sorted, variance};
use crate::stats::tail::{NORMAL_975, binomial_at_most, student_975, student_known};
use laws::tail::student_outside;
use model::Estimate;
use std::sync::Arc;

/// From this number of blocks on, intervals are distribution-free.
pub const BLOCKS_FREE: usize = 6;

/// The error of the interval that must be narrow before a session may stop. A session that stopped when
/// its 95 % interval is narrow would stop too often where that is narrow by chance.
const STOP_ERROR: f64 = 0.005;

/// Confidence level of all intervals.
pub const LEVEL: f64 = 0.95;

/// The part of the interval above which the segment at its end is a gap.
const GAP_AT_END: f64 = 0.5;

/// The coverage from which on the inner of two order statistics may stand alone at a gap.
const GAP_COVERAGE: f64 = 0.929;

/// The part of the range of all blocks above which a gap parts them into two groups.
const GAP_OF_GROUPS: f64 = 0.55;

/// From this number of blocks on two groups are looked for.
const BLOCKS_FOR_GROUPS: usize = 8;

/// The fewest blocks that make a group.
const GROUP_MIN: usize = 2;

/// The 99 % quantile of the standard normal distribution: dependence is tested at 1 %.
const NORMAL_990: f64 = 2.326_347_874_040_841;

/// The 90 % quantile, for blocks in two groups: a mode that is kept is likelier there.
const NORMAL_900: f64 = 1.281_551_565_544_600_5;

/// No correlation is taken for larger than this.
const CORRELATION_MAX: f64 = 0.95;

/// However few independent blocks there are, their variance has this many degrees of freedom: with fewer
/// Student's t decides nothing at any distance.
const FREEDOM_MIN: f64 = 2.0;

/// A centre with its interval, on the scale on which it was formed.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// The centre: the median from 6 blocks up.
    pub point: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
    /// The ends at the 99.5 % level ([`STOP_ERROR`]): of the whole range of few blocks.
    pub(crate) wide: (f64, f64),
    /// Standard error: the length of the interval divided by twice the normal quantile; below 6
    /// blocks by twice that of Student's t.
    pub standard_error: f64,
    /// Blocks or trials behind it.
    pub samples: usize,
    /// Whether all numbers were the same.
    pub agrees: bool,
    /// The lag-1 correlation of the blocks, where they are found to depend on each other.
    pub correlation: Option<f64>,
    /// Whether the blocks fall into two groups with a gap between them.
    pub two_groups: bool,
    /// The blocks before their level changed, where it did.
    pub(crate) changed_after: Option<usize>,
    /// Independent blocks that they are worth: `samples`, or fewer where they depend.
    pub effective: f64,
    /// The standard error of the level and its degrees of freedom, where blocks follow their predecessors.
    level: Option<(f64, f64)>,
    /// The numbers in the order of the blocks, without those that could lie anywhere.
    blocks: Arc<[f64]>,
    /// The same in ascending order.
    ascending: Arc<[f64]>,
}

/// The p-value of a boundary inside the interval is at least this.
pub(crate) const NOT_DECIDED: f64 = 0.050_001;

/// Reports whether two numbers are the same except for the last digit, which a logarithm or a division
/// may change.
pub(crate) fn near(a: f64, b: f64) -> bool {
    a == b
        || a.is_finite() && b.is_finite() && (a - b).abs() <= 1e-12 * a.abs().max(b.abs()).max(1e-3)
}

impl Located {
    /// Returns the same as what one block says that was taken twice.
    pub(crate) fn of_one_block(self) -> Self {
        let first = |numbers: &[f64]| numbers.iter().take(1).copied().collect::<Arc<[f64]>>();
        let (blocks, ascending) = (first(&self.blocks), first(&self.ascending));
        Located { samples: 1, effective: 1.0, blocks, ascending, ..self }
    }

    fn new(values: &[f64], point: f64, low: f64, high: f64) -> Self {
        let samples = values.len();
        Located {
            point,
            low: low.min(point),
            high: high.max(point),
            wide: (low, high),
            standard_error: (high - low) / (2.0 * student_975(samples)),
            samples,
            agrees: values.iter().all(|&value| near(value, values[0])),
            correlation: None,
            two_groups: false,
            changed_after: None,
            effective: samples as f64,
            level: None,
            blocks: values.into(),
            ascending: sorted(values).into(),
        }
    }

    /// Returns twice the one-sided p-value of the exact sign test of the hypothesis that the median
    /// is at `boundary` or beyond it, seen from the point; at most 1.
    ///
    /// It is at least 2^(1−n) for n independent blocks, and 1 below [`BLOCKS_FREE`] blocks. A boundary
    /// for which it is 0.05 or less lies outside the interval.
    pub fn p_value(&self, boundary: f64) -> f64 {
        if near(boundary, self.point) {
            return 1.0;
        }
        let one_sided = match boundary < self.point {
            true => self.at_most(boundary),
            false => self.at_least(boundary),
        };
        let is_inside = self.low <= boundary && boundary <= self.high;
        let least = if is_inside { NOT_DECIDED } else { 0.0 };
        (2.0 * one_sided).max(self.of_distance(boundary)).clamp(least, 1.0)
    }

    /// Returns the p-value of Student's t for the distance of a boundary, where the blocks follow their
    /// predecessors; else 0.
    fn of_distance(&self, boundary: f64) -> f64 {
        let distance = (boundary - self.point).abs();
        self.level.map_or(0.0, |(error, freedom)| student_outside(freedom, distance / error))
    }

    /// Returns the same where each block follows its predecessor with that correlation: the interval and the
    /// p-values also count the distance from the point, by Student's t of as many numbers as there are
    /// independent blocks, n (1 − r)/(1 + r).
    ///
    /// Without a correlation, below 6 blocks, and where all agree, it stays as it is.
    pub fn following(self, correlation: Option<f64>) -> Self {
        let own = self.correlation.unwrap_or(0.0);
        let among = correlation.map(|it| effective(self.samples, Some(it.max(own))));
        self.depending(correlation, among.map_or(0.0, |among| (among - 1.0).max(FREEDOM_MIN)))
    }

    fn depending(self, correlation: Option<f64>, freedom: f64) -> Self {
        let Some(correlation) = correlation else { return self };
        if self.ascending.len() < BLOCKS_FREE || self.agrees {
            return self;
        }
        let correlation = self.correlation.unwrap_or(0.0).max(correlation);
        let effective = effective(self.samples, Some(correlation)).min(self.effective);
        // Winsorised: a single block at either end that lies far away moves no median.
        let (least, most) = (self.ascending[1], self.ascending[self.ascending.len() - 2]);
        let from_point = |value: &f64| (value.clamp(least, most) - self.point).powi(2);
        let squares: f64 = self.blocks.iter().map(from_point).sum();
        let error = (squares / (self.samples as f64 - 1.0) / effective).sqrt();
        let half = student_known(freedom, 1.0 - LEVEL) * error;
        let wide = student_known(freedom, STOP_ERROR) * error;
        Located {
            low: self.low.min(self.point - half),
            high: self.high.max(self.point + half),
            wide: (self.wide.0.min(self.point - wide), self.wide.1.max(self.point + wide)),
            standard_error: self.standard_error.max(error),
            correlation: Some(correlation),
            effective,
            level: Some((error, freedom)).filter(|(error, _)| *error > 0.0),
            ..self
        }
    }

    /// Returns the p-value of the sign test of the hypothesis that the median is at most `boundary`:
    /// 1 below [`BLOCKS_FREE`] blocks.
    pub(crate) fn at_most(&self, boundary: f64) -> f64 {
        self.sign_test(|value| value > boundary && !near(value, boundary))
    }

    /// Returns the same of the hypothesis that the median is at least `boundary`.
    pub(crate) fn at_least(&self, boundary: f64) -> f64 {
        self.sign_test(|value| value < boundary && !near(value, boundary))
    }

    /// Returns twice the p-value of the hypothesis that the median is another number than `number`, and
    /// how many blocks have just that. Were the median another one, at most half of all blocks had it,
    /// so that it takes a count or a coarse clock to decide.
    pub(crate) fn is_just(&self, number: f64) -> (f64, usize) {
        let p_value = (2.0 * self.sign_test(|value| near(value, number))).min(1.0);
        (p_value, self.blocks.iter().filter(|value| near(**value, number)).count())
    }

    fn sign_test(&self, speaks_for: impl Fn(f64) -> bool) -> f64 {
        let sides = self.sides(speaks_for);
        let (against, effective) = self.counted(&sides);
        tail(against, self.samples, effective)
    }

    /// Returns the p-value with which a claim's verdict rests on a boundary: where the level changed and some
    /// block lies beyond the boundary, no less than that of either part.
    pub fn p_value_of_claim(&self, boundary: f64) -> f64 {
        let whole = self.p_value(boundary);
        let sides = self.sides(|value| self.is_beyond(value, boundary));
        let Some(before) = self.changed_after.filter(|_| sides.contains(&0.0)) else {
            return whole;
        };
        let (first, second) = sides.split_at(before);
        let judged = [first, second].into_iter().filter(|part| part.len() >= BLOCKS_FREE);
        judged.map(|part| (2.0 * of_part(part)).min(1.0)).fold(whole, f64::max)
    }

    /// Reports whether a number lies on the point's side of a boundary.
    fn is_beyond(&self, value: f64, boundary: f64) -> bool {
        let is_beyond = if boundary < self.point { value > boundary } else { value < boundary };
        is_beyond && !near(value, boundary)
    }

    /// Returns for each block 1 if it speaks for a statement, else 0.
    fn sides(&self, speaks_for: impl Fn(f64) -> bool) -> Vec<f64> {
        self.blocks.iter().map(|value| f64::from(u8::from(speaks_for(*value)))).collect()
    }

    /// Returns how many blocks do not speak for a statement, and the independent blocks that the sign
    /// test counts all of them as.
    fn counted(&self, sides: &[f64]) -> (usize, f64) {
        let against = self.samples - sides.iter().filter(|side| **side > 0.5).count();
        let correlation = if against > 1 { correlation(sides, NORMAL_900) } else { None };
        (against, effective(self.samples, correlation))
    }

    /// Returns the independent blocks that [`Located::p_value`] counts against a boundary.
    pub(crate) fn independent(&self, boundary: f64) -> f64 {
        let of_sides = self.counted(&self.sides(|value| self.is_beyond(value, boundary))).1;
        if self.level.is_some() { of_sides.min(self.effective) } else { of_sides }
    }

    /// Reports whether half of the 99.5 % interval is at most that wide: the sign that a session may stop.
    pub fn is_within(&self, half_width: f64) -> bool {
        self.wide.1 - self.wide.0 <= 2.0 * half_width
    }

    /// Returns how far a boundary must lie from the point, in the worse direction, for a p-value of at
    /// most `error`; `None` where so few blocks cannot reach it.
    pub(crate) fn reach(&self, error: f64) -> Option<f64> {
        if let Some((of_level, freedom)) = self.level {
            let least = 2.0 * tail(0, self.samples, self.samples as f64);
            let distance = student_known(freedom, error) * of_level;
            return (least <= error).then_some(distance);
        }
        (self.outside(1) <= error).then_some(())?;
        let index = self.depth(error).checked_sub(1 + self.samples - self.ascending.len())?;
        let (low, high) =
            (self.ascending.get(index)?, self.ascending.get(self.ascending.len() - 1 - index)?);
        Some((self.point - low).max(high - self.point))
    }

    /// Reports whether the blocks depend on each other, fall into two groups, or change during the session.
    pub fn is_doubtful(&self) -> bool {
        self.correlation.is_some() || self.two_groups || self.changed_after.is_some()
    }

    /// Returns how many blocks lie on the point's side of a boundary.
    pub fn beyond(&self, boundary: f64) -> usize {
        self.blocks.iter().filter(|value| self.is_beyond(**value, boundary)).count()
    }

    /// Returns the same numbers on another scale, which keeps their order.
    pub(crate) fn scaled(&self, to: impl Fn(f64) -> f64) -> Self {
        Located {
            point: to(self.point),
            low: to(self.low),
            high: to(self.high),
            wide: (to(self.wide.0), to(self.wide.1)),
            blocks: self.blocks.iter().map(|value| to(*value)).collect(),
            ascending: self.ascending.iter().map(|value| to(*value)).collect(),
            ..self.clone()
        }
    }

    /// Returns the numbers in the order of the blocks.
    pub(crate) fn blocks(&self) -> &[f64] {
        &self.blocks
    }

    /// Returns the numbers in ascending order.
    pub(crate) fn ascending(&self) -> &[f64] {
        &self.ascending
    }

    /// Returns the probability that their median lies outside the numbers at that depth from either end.
    fn outside(&self, depth: usize) -> f64 {
        2.0 * tail(depth - 1, self.samples, self.effective)
    }

    /// Returns the largest depth at which no more than that lies outside, at least 1.
    fn depth(&self, outside: f64) -> usize {
        let deeper = (2..=self.samples / 2).take_while(|depth| self.outside(*depth) <= outside);
        deeper.count() + 1
    }

    /// Returns the ends of the interval outside of which the median lies with a probability of at most
    /// `outside`, with that probability: the whole range where so few blocks cannot be as sure. `None`
    /// where blocks that could lie anywhere leave no end.
    pub(crate) fn ends(&self, outside: f64) -> Option<(f64, f64, f64)> {
        let depth = self.depth(outside);
        let index = depth.checked_sub(1 + self.samples - self.ascending.len())?;
        let last = self.ascending.len().checked_sub(1 + index)?;
        Some((*self.ascending.get(index)?, *self.ascending.get(last)?, self.outside(depth)))
    }

    /// Returns it as an estimate in the words of the session's files; `from` translates the scale, and the
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

/// Returns the centre of effects, one per block and in the order of the blocks: the median with
/// its interval of order statistics from 6 blocks up, the mean with Student's t from 2 to 5,
/// `None` below 2 or if a number is not finite.
pub fn centre(effects: &[f64]) -> Option<Located> {
    if effects.len() < 2 || effects.iter().any(|effect| !effect.is_finite()) {
        return None;
    }
    if effects.len() < BLOCKS_FREE { student(effects) } else { located(effects, 0) }
}

/// Returns the same for a level, whose noise multiplies: below 6 numbers the point is also the median, and
/// the interval is Student's t of the logarithms if all are positive, else of the numbers. It
/// always contains the median.
pub fn median_located(values: &[f64]) -> Option<Located> {
    if values.len() >= BLOCKS_FREE || values.len() < 2 {
        return centre(values);
    }
    if values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let point = crate::stats::order::median(values)?;
    if values.iter().all(|&value| value > 0.0) {
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let t = student(&logs)?;
        return Some(Located::new(values, point, t.low.exp(), t.high.exp()));
    }
    let t = student(values)?;
    Some(Located::new(values, point, t.low, t.high))
}

/// Returns the mean with the interval of Student's t (Student 1908); `None` below 2 numbers.
pub fn student(values: &[f64]) -> Option<Located> {
    let (point, variance) = (mean(values)?, variance(values)?);
    let half = student_975(values.len()) * (variance / values.len() as f64).sqrt();
    Some(Located::new(values, point, point - half, point + half))
}

/// Returns the ratio of two parts whose lower one may come near 0, block by block: the number r
/// for which half of the blocks have `above − r · below` above 0. That is Fieller's idea (*Some
/// problems in interval estimation*, JRSS B 16, 1954) with the sign test in place of Student's.
///
/// A block whose lower part has the other sign could move either end, so that it counts against
/// both: the interval gets wider. There is none (`None`) if `below` itself is not distinguishable from 0.
/// Below 6 blocks it is Fieller's own interval.
pub fn ratio_of_centres(above: &[f64], below: &[f64]) -> Option<Located> {
    let centre_below = centre(below)?;
    if above.len() != below.len() || centre_below.low <= 0.0 && centre_below.high >= 0.0 {
        return None;
    }
    let sign = centre_below.point.signum();
    let above: Vec<f64> = above.iter().map(|value| value * sign).collect();
    let below: Vec<f64> = below.iter().map(|value| value * sign).collect();
    if above.len() < BLOCKS_FREE {
        return fieller(&above, &below);
    }
    let blocks = above.iter().zip(&below);
    let effects: Vec<f64> =
        blocks.filter(|(_, below)| **below > 0.0).map(|(above, below)| above / below).collect();
    let lost = above.len() - effects.len();
    located(&effects, lost)
}

/// Returns the median of effects, where `lost` more blocks could lie at either end.
fn located(effects: &[f64], lost: usize) -> Option<Located> {
    let point = crate::stats::order::median(effects)?;
    let samples = effects.len() + lost;
    let mut located = Located::new(effects, point, point, point);
    located.samples = samples;
    located.effective = samples as f64;
    if located.agrees && lost == 0 {
        return Some(located);
    }
    let gap = gap_of_groups(&located.ascending);
    located.two_groups = gap.is_some();
    located.changed_after = change_point(effects);
    located.correlation = match gap {
        None => correlation(effects, NORMAL_990),
        Some(gap) => {
            let group = |effect: &f64| f64::from(u8::from(*effect > gap));
            correlation(&effects.iter().map(group).collect::<Vec<f64>>(), NORMAL_900)
        }
    };
    located.effective = effective(samples, located.correlation);
    let depth = located.depth(1.0 - LEVEL);
    let coverage = (1.0 - located.outside(depth), 1.0 - located.outside(depth + 1));
    let weight = interpolated(samples, depth, coverage, located.correlation.is_some());
    let index = depth.checked_sub(1 + lost)?;
    let values = &located.ascending;
    let (low, high) = (*values.get(index)?, *values.get(values.len().checked_sub(1 + index)?)?);
    let inner = (values[index + 1], values[values.len() - 2 - index]);
    let at_end = |outer: f64, inner: f64| {
        let is_gap = (inner - outer).abs() > GAP_AT_END * (high - low);
        let weight = if is_gap { f64::from(u8::from(coverage.1 >= GAP_COVERAGE)) } else { weight };
        (1.0 - weight) * outer + weight * inner
    };
    let (low, high) = (at_end(low, inner.0), at_end(high, inner.1));
    located.standard_error = (high - low) / (2.0 * NORMAL_975);
    (located.low, located.high) = (low.min(point), high.max(point));
    let wide = located.depth(STOP_ERROR).saturating_sub(1 + lost);
    located.wide = (located.ascending[wide], located.ascending[located.ascending.len() - 1 - wide]);
    Some(located)
}

/// Returns the independent blocks that this number with that correlation is worth, at least 1.
fn effective(samples: usize, correlation: Option<f64>) -> f64 {
    let r = correlation.unwrap_or(0.0);
    (samples as f64 * (1.0 - r) / (1.0 + r)).max(1.0)
}

/// Returns the probability that at most `count` of the blocks lie on one side of their median.
fn tail(count: usize, samples: usize, effective: f64) -> f64 {
    if samples < BLOCKS_FREE {
        return 1.0;
    }
    binomial_at_most(count as f64 * effective / samples as f64, effective, 0.5)
}

/// Returns the weight of the inner of two order statistics (Hettmansperger and Sheather 1986), given the
/// coverage of the outer and of the inner pair.
fn interpolated(count: usize, depth: usize, (outer, inner): (f64, f64), depends: bool) -> f64 {
    // Their formula is for independent numbers; without it the interval is a little wider.
    if depends || outer < LEVEL {
        return 0.0;
    }
    let (n, d) = (count as f64, depth as f64);
    let part = (outer - LEVEL) / (outer - inner);
    (n - d) * part / (d + (n - 2.0 * d) * part)
}

/// Returns the lag-1 autocorrelation of the blocks, raised by 2/n for its bias, where it is larger than
/// chance explains, given the normal quantile of a one-sided test (mean and variance of Moran, *Some
/// theorems on time series II*, Biometrika 35, 1948).
fn correlation(effects: &[f64], quantile: f64) -> Option<f64> {
    let n = effects.len() as f64;
    let centre = mean(effects)?;
    let squares: f64 = effects.iter().map(|value| (value - centre).powi(2)).sum();
    let products: f64 =
        effects.windows(2).map(|pair| (pair[0] - centre) * (pair[1] - centre)).sum();
    let found = products / squares;
    let deviation = (n - 2.0) / (n * (n - 1.0).sqrt());
    let is_more = squares > 0.0 && found > -1.0 / n + quantile * deviation;
    is_more.then(|| (found + 2.0 / n).min(CORRELATION_MAX))
}

/// Returns the p-value of the sign test in a part of the blocks, of which 1 speaks for the verdict.
fn of_part(sides: &[f64]) -> f64 {
    let against = sides.iter().filter(|side| **side < 0.5).count();
    tail(against, sides.len(), sides.len() as f64)
}

/// The error with which a change of the level is seen where there is none.
const CHANGE_ERROR: f64 = 0.05;

/// From this number of blocks on a change is looked for: fewer do not reach [`CHANGE_ERROR`].
const BLOCKS_FOR_CHANGE: usize = 12;

/// Returns the number of blocks before the level changes, where Pettitt's test finds a change, with the
/// approximation of its p-value for large samples (1979, equation 2.3).
fn change_point(effects: &[f64]) -> Option<usize> {
    let n = effects.len();
    if n < BLOCKS_FOR_CHANGE {
        return None;
    }
    let sign = |a: f64, b: f64| f64::from(i8::from(a > b) - i8::from(a < b));
    let ranks =
        effects.iter().map(|one| effects.iter().map(|other| sign(*one, *other)).sum::<f64>());
    let mut sum = 0.0;
    let sums = ranks.map(|rank| {
        sum += rank;
        sum.abs()
    });
    let (before, largest) = (1..).zip(sums).take(n - 1).max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let (n, squared) = (n as f64, largest * largest);
    let p_value = 2.0 * (-6.0 * squared / (n * n * n + n * n)).exp();
    (p_value <= CHANGE_ERROR).then_some(before)
}

/// Returns the middle of a gap between two groups of numbers that is more than [`GAP_OF_GROUPS`] of their
/// whole range.
fn gap_of_groups(ascending: &[f64]) -> Option<f64> {
    let count = ascending.len();
    if count < BLOCKS_FOR_GROUPS {
        return None;
    }
    let range = ascending[count - 1] - ascending[0];
    let inside = &ascending[GROUP_MIN - 1..=count - GROUP_MIN];
    let gap = inside.windows(2).find(|pair| pair[1] - pair[0] > GAP_OF_GROUPS * range)?;
    Some(f64::midpoint(gap[0], gap[1]))
}

/// Returns Fieller's interval of mean(above) / mean(below), whose lower part is known to differ from 0.
fn fieller(above: &[f64], below: &[f64]) -> Option<Located> {
    let effects: Vec<f64> = above.iter().zip(below).map(|(a, b)| a / b).collect();
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
    Some(Located::new(&effects, top / bottom, low, high))
}

mod level;
#[cfg(test)]
mod tests;
