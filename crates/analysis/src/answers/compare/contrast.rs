//! Two numbers of different sessions, each with its own interval, held against each other.
//!
//! Trials of different sessions have no block in common, so that nothing cancels and each side
//! scatters in its own way: another machine or a missing shield changes the noise with the number.
//! Each side therefore keeps its own interval ([`crate::stats::interval::centre`]: the median between two
//! order statistics), and the difference gets the ends
//!
//! point − √((x − lₓ)² + (u_y − y)²) and point + √((uₓ − x)² + (y − l_y)²)
//!
//! (Zou and Donner, *Construction of confidence limits about effect measures: a general approach*,
//! Statistics in Medicine 27, 2008), where each arm is first divided by the quantile of Student's t
//! that belongs to it and the sum multiplied by that of Welch's degrees of freedom (Welch, *The
//! generalization of "Student's" problem when several different population variances are involved*,
//! Biometrika 34, 1947): else two sides of 6 trials would be 97 % sure. With 2 to 5 numbers on both
//! sides that is Welch's own interval.
//!
//! Whether one session differs from another is decided by sign tests ([`Contrast::p_value`]).
//!
//! The interval was chosen by simulation of 3,000 pairs of samples for each cell; `simulation/unpaired.rs`
//! repeats the last column as a test. Coverage in per cent, smallest and largest over 6 : 6, 8 : 8, 6 : 12,
//! 12 : 12, 6 : 40, 40 : 6, 20 : 20 and 40 : 40 trials:
//!
//! | logarithms of the two sides | Welch | 20 % trimmed Welch | Mann–Whitney | these |
//! |---|---|---|---|---|
//! | normal, the same noise | 94–96 | 93–96 | 94–96 | 94–98 |
//! | normal, three times the noise on one side | 94–96 | 93–95 | 83–100 | 94–98 |
//! | skewed | 89–97 | 91–97 | 94–95 | 94–98 |
//! | skewed against quiet | 84–93 | 90–94 | 78–100 | 94–98 |
//! | Student's t with 3 degrees of freedom | 95–96 | 94–96 | 94–96 | 94–98 |
//! | 10 % of the trials ten times as noisy | 96–99 | 94–97 | 95–96 | 94–98 |
//! | 20 % of one side's trials slowed | 71–93 | 94–97 | 91–98 | 94–98 |
//! | two modes on one side | 94–96 | 78–96 | 78–100 | 94–98 |
//!
//! The interval of Mann and Whitney, which peers use, supposes that both sides have the same
//! distribution except for its place; where the side with fewer trials is the noisier, one in five of
//! its intervals misses. With 3 or 4 trials on a side no method holds under skew (88 to 92 %).

use crate::stats::hommel::limit;
use crate::stats::interval::{BLOCKS_FREE, LEVEL, Located, NOT_DECIDED};
use crate::stats::tail::student_975;
use laws::tail::{student_outside, student_quantile};
use model::Estimate;

/// A number with its interval, of one side: on the logarithmic scale or as it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arm {
    pub(crate) point: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Degrees of freedom of the interval; 0 for a single number, which has none.
    pub(crate) freedom: f64,
    /// Numbers behind it.
    pub(crate) samples: usize,
    /// All numbers behind it are the same.
    pub(crate) agrees: bool,
    /// They are computed: where they agree, there is no noise to learn of.
    pub(crate) computed: bool,
    /// The trials of one session, for the sign test; none where several sessions stand behind it.
    trials: Option<Box<Located>>,
}

impl Arm {
    pub(crate) fn of(located: Located, computed: bool) -> Self {
        let Located { point, low, high, samples, agrees, .. } = located;
        let freedom = (samples - 1) as f64;
        Arm {
            point,
            low,
            high,
            freedom,
            samples,
            agrees,
            computed,
            trials: Some(Box::new(located)),
        }
    }

    /// Gathers several sessions, each of which is one number.
    pub(crate) fn over_sessions(located: Located, computed: bool) -> Self {
        Arm { trials: None, ..Arm::of(located, computed) }
    }

    /// Returns a number that stands alone.
    pub(crate) fn single(point: f64, computed: bool) -> Self {
        let (low, high) = (point, point);
        Arm { point, low, high, freedom: 0.0, samples: 1, agrees: true, computed, trials: None }
    }

    /// Returns an interval that comes from elsewhere.
    pub(crate) fn given(estimate: &Estimate, samples: usize) -> Self {
        let Estimate { point, low, high, .. } = *estimate;
        let freedom = (samples.max(2) - 1) as f64;
        Arm { point, low, high, freedom, samples, agrees: false, computed: false, trials: None }
    }

    /// Forgets the trials: several sessions stand beside it.
    pub(crate) fn drop_trials(&mut self) {
        self.trials = None;
    }

    /// Reports whether it is one number without noise.
    pub(crate) fn is_exact(&self) -> bool {
        self.agrees && self.computed && self.samples >= 2
    }

    /// Returns the same on the scale of the numbers themselves, from that of their logarithms.
    pub(crate) fn exp(self) -> Self {
        self.scaled(f64::exp)
    }

    /// Returns the same, as a multiple of it above 0.
    fn times(&self, multiple: f64) -> Self {
        self.clone().scaled(|value| value * multiple)
    }

    fn scaled(self, to: impl Fn(f64) -> f64) -> Self {
        let (point, low, high) = (to(self.point), to(self.low), to(self.high));
        let trials = self.trials.map(|trials| Box::new(trials.scaled(to)));
        Arm { point, low, high, trials, ..self }
    }

    /// Returns the two standard errors, towards the lower end and towards the upper.
    fn errors(&self) -> (f64, f64) {
        let quantile = quantile_975(self.freedom);
        ((self.point - self.low) / quantile, (self.high - self.point) / quantile)
    }

    /// Returns it as an estimate; `from` translates the scale.
    pub(crate) fn estimate(&self, from: fn(f64) -> f64) -> Estimate {
        let (below, above) = if self.freedom > 0.0 { self.errors() } else { (0.0, 0.0) };
        let ends = [self.point, self.low, self.high].map(from);
        estimate(ends, f64::midpoint(below, above), self.samples)
    }
}

fn estimate([point, low, high]: [f64; 3], standard_error: f64, samples: usize) -> Estimate {
    let (standard_error, samples) = (Some(standard_error), samples as u32);
    Estimate { point, low, high, standard_error, level: LEVEL, samples }
}

/// Returns several sessions of one side taken together, each with the same weight, with the scatter of
/// their trials alone. `None` if none of them has an interval.
pub(crate) fn averaged(arms: &[Arm]) -> Option<Arm> {
    let arms: Vec<&Arm> = arms.iter().filter(|arm| arm.freedom > 0.0).collect();
    let first = *arms.first()?;
    if arms.len() == 1 {
        return Some(first.clone());
    }
    let share = 1.0 / arms.len() as f64;
    let below: Vec<(f64, f64)> = arms.iter().map(|a| (share * a.errors().0, a.freedom)).collect();
    let above: Vec<(f64, f64)> = arms.iter().map(|a| (share * a.errors().1, a.freedom)).collect();
    let point = share * arms.iter().map(|arm| arm.point).sum::<f64>();
    let (below, above) = (Reach::of(&below), Reach::of(&above));
    Some(Arm {
        point,
        low: point - below.half,
        high: point + above.half,
        freedom: below.freedom.min(above.freedom),
        samples: arms.iter().map(|arm| arm.samples).sum(),
        agrees: arms.iter().all(|arm| arm.agrees && arm.point == first.point),
        computed: first.computed,
        trials: None,
    })
}

/// Returns the 97.5 % quantile of Student's t, from the table where the degrees of freedom are whole.
fn quantile_975(freedom: f64) -> f64 {
    match freedom.fract() == 0.0 && freedom < 1e6 {
        true => student_975(freedom as usize + 1),
        false => student_quantile(freedom, 1.0 - LEVEL),
    }
}

/// How far an end lies from the point, and by how many degrees of freedom that is known.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Reach {
    half: f64,
    freedom: f64,
    /// The 97.5 % quantile of Student's t with these.
    quantile: f64,
}

impl Reach {
    /// Forms it from independent standard errors with their degrees of freedom (Satterthwaite, *An
    /// approximate distribution of estimates of variance components*, Biometrics Bulletin 2, 1946).
    fn of(errors: &[(f64, f64)]) -> Self {
        let variance: f64 = errors.iter().map(|(error, _)| error * error).sum();
        if variance.is_nan() || variance <= 0.0 {
            let freedom = errors.iter().map(|(_, freedom)| *freedom).fold(f64::MAX, f64::min);
            return Reach { half: 0.0, freedom, quantile: 1.0 };
        }
        // As shares of the whole, so that nothing large or small is raised to the fourth power.
        let spread =
            errors.iter().map(|(error, freedom)| (error * error / variance).powi(2) / freedom);
        let freedom = 1.0 / spread.sum::<f64>();
        let quantile = quantile_975(freedom);
        Reach { half: quantile * variance.sqrt(), freedom, quantile }
    }
}

/// The part of the error that Fisher's combination may have.
const FISHERS: f64 = 0.1;

/// How much farther the sign tests of two sides reach for the same p-value than one test of their
/// difference would: by simulation of normal trials, 12 to 40 a side.
const SIDES: f64 = 1.25;

/// Returns the p-value for a hypothesis that implies two others of independent data, given theirs:
/// the smaller of Fisher's combination of two (*Statistical Methods for Research Workers*, 1932),
/// which finds two moderate ones, and of Bonferroni's, which finds a single small one. A tenth of the
/// error is Fisher's: where all trials of a side lie beyond those of the other, Bonferroni's decides,
/// and few trials leave it nothing to spare.
fn combined(one: f64, other: f64) -> f64 {
    let product = one * other;
    let fisher = product * (1.0 - product.ln());
    (fisher / FISHERS).min(2.0 * one.min(other) / (1.0 - FISHERS))
}

/// Returns twice the p-value of the hypothesis that the medians of two sides differ by `boundary` or
/// less (`above`), or by that or more.
fn sign_test(of: &Located, to: &Located, boundary: f64, above: bool) -> f64 {
    // The p-values change where the base's median would pass a trial of either side.
    let shifted = of.ascending().iter().map(|value| value - boundary);
    let medians = to.ascending().iter().copied().chain(shifted);
    let at = |median: f64| match above {
        true => combined(of.at_most(median + boundary), to.at_least(median)),
        false => combined(of.at_least(median + boundary), to.at_most(median)),
    };
    (2.0 * medians.map(at).fold(0.0, f64::max)).min(1.0)
}

/// One side less another.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Contrast {
    pub(crate) point: f64,
    below: Reach,
    above: Reach,
    of: Arm,
    to: Arm,
}

impl Contrast {
    /// Returns the difference of two arms; `None` where one of them is a single number.
    pub(crate) fn new(of: Arm, to: Arm) -> Option<Self> {
        if of.freedom <= 0.0 || to.freedom <= 0.0 {
            return None;
        }
        let ((of_below, of_above), (to_below, to_above)) = (of.errors(), to.errors());
        let below = Reach::of(&[(of_below, of.freedom), (to_above, to.freedom)]);
        let above = Reach::of(&[(of_above, of.freedom), (to_below, to.freedom)]);
        let contrast = Contrast { point: of.point - to.point, below, above, of, to };
        [contrast.point, below.half, above.half].iter().all(|x| x.is_finite()).then_some(contrast)
    }

    pub(crate) fn low(&self) -> f64 {
        self.point - self.below.half
    }

    pub(crate) fn high(&self) -> f64 {
        self.point + self.above.half
    }

    /// Reports whether both sides are counts that are the same in all their trials.
    pub(crate) fn is_exact(&self) -> bool {
        self.of.is_exact() && self.to.is_exact()
    }

    /// Reports whether either side has the same number in all its trials, of which there are enough to say
    /// so.
    pub(crate) fn agrees(&self) -> bool {
        let all = |arm: &Arm| arm.agrees && arm.samples >= BLOCKS_FREE;
        all(&self.of) && all(&self.to)
    }

    /// Returns what is compared with, where it is a number and no logarithm.
    pub(crate) fn base(&self) -> f64 {
        self.to.point
    }

    /// Reports whether the whole interval of what is compared with lies above 0.
    pub(crate) fn base_is_above_0(&self) -> bool {
        self.to.low > 0.0
    }

    /// Returns numbers behind the side that has fewer.
    pub(crate) fn samples(&self) -> usize {
        self.of.samples.min(self.to.samples)
    }

    /// Returns twice the one-sided p-value of a difference of `boundary` or beyond it, seen from the
    /// point; above 0.05 for a boundary inside the interval, and 0 for counts without noise.
    ///
    /// One session a side is judged by sign tests. If the base's median were x, the trials of the
    /// base would have to be that high, or those of the side that low; the p-values of the two are
    /// combined at each x, and the largest counts ([`combined`]). Several sessions a side are judged
    /// by Welch's t over sessions, which assumes that sessions scatter normally.
    pub(crate) fn p_value(&self, boundary: f64) -> f64 {
        if boundary == self.point || boundary.is_nan() {
            return 1.0;
        }
        if self.is_exact() {
            return 0.0;
        }
        let p_value = match (&self.of.trials, &self.to.trials) {
            (Some(of), Some(to)) => sign_test(of, to, boundary, boundary < self.point),
            _ => self.by_sessions(boundary),
        };
        let is_inside = self.low() <= boundary && boundary <= self.high();
        if is_inside { p_value.max(NOT_DECIDED) } else { p_value.min(1.0) }
    }

    fn by_sessions(&self, boundary: f64) -> f64 {
        let reach = if boundary < self.point { self.below } else { self.above };
        let distance = (boundary - self.point).abs();
        student_outside(reach.freedom, reach.quantile * distance / reach.half)
    }

    /// Returns the same against a multiple of the base, for numbers that have no logarithm: the noise of
    /// the base counts as often as the base itself (Fieller, *Some problems in interval estimation*,
    /// Journal of the Royal Statistical Society B 16, 1954). Compared with a difference that is taken
    /// for known, a multiple of 3 was found exceeded in 17 % of pairs that just reach it.
    pub(crate) fn p_value_of_multiple(&self, multiple: f64) -> f64 {
        match Contrast::new(self.of.clone(), self.to.times(multiple)) {
            Some(scaled) => scaled.p_value(0.0),
            None => 1.0,
        }
    }

    fn standard_error(&self) -> f64 {
        let one = |reach: Reach| reach.half / reach.quantile;
        f64::midpoint(one(self.below), one(self.above))
    }

    fn freedom(&self) -> f64 {
        self.below.freedom.min(self.above.freedom)
    }

    /// Returns the difference that is found with 80 % power for one of this number of comparisons, if no
    /// other of them is found. `None` without noise, and where the sign tests of so few trials cannot
    /// reach the limit.
    pub(crate) fn floor(&self, among: usize) -> Option<f64> {
        let (error, freedom) = (self.standard_error(), self.freedom());
        if error <= 0.0 || !error.is_finite() {
            return None;
        }
        if among <= 1 {
            return Some((quantile_975(freedom) + student_quantile(freedom, 0.4)) * error);
        }
        let limit = limit(among);
        match (&self.of.trials, &self.to.trials) {
            (Some(of), Some(to)) => {
                let least = of.effective.min(to.effective);
                (2.0 * combined(1.0, 0.5_f64.powf(least)) <= limit).then_some(())?;
                // Each side's own sign test must reach about the root of the combined p-value.
                let normal = |outside| student_quantile(f64::from(u32::MAX), outside);
                Some((SIDES * normal(limit) + normal(0.4)) * error)
            }
            _ => Some((student_quantile(freedom, limit) + student_quantile(freedom, 0.4)) * error),
        }
    }

    /// Returns it as an estimate; `from` translates the scale.
    pub(crate) fn estimate(&self, from: fn(f64) -> f64) -> Estimate {
        let ends = [self.point, self.low(), self.high()].map(from);
        estimate(ends, self.standard_error(), self.samples())
    }

    /// Returns the side divided by the other, for numbers that have no logarithm: the same idea for a
    /// ratio (equation 9 of Donner and Zou, *Closed-form confidence intervals for functions of the normal
    /// mean and standard deviation*, Statistical Methods in Medical Research 21, 2012, 347–359; `MOVERR`
    /// of R's package pairwiseCI is the same formula), as Fieller's for normal numbers, with the degrees
    /// of freedom of the difference of the side from that multiple of the other. `None` where the other is
    /// not distinguishable from 0, or lies below it.
    pub(crate) fn ratio(&self) -> Option<Estimate> {
        let (x, y) = (&self.of, &self.to);
        if y.low <= 0.0 || x.freedom <= 0.0 || y.freedom <= 0.0 {
            return None;
        }
        let point = x.point / y.point;
        let ((x_below, x_above), (y_below, y_above)) = (x.errors(), y.errors());
        let end = |of_error: f64, to_error: f64, sign: f64| {
            let shares = [(of_error, x.freedom), (point * to_error, y.freedom)];
            let reach = sign * Reach::of(&shares).quantile;
            let (of_end, to_end) = (x.point + reach * of_error, y.point - reach * to_error);
            let product = x.point * y.point;
            let below = to_end * (2.0 * y.point - to_end);
            let square = product.powi(2) - of_end * (2.0 * x.point - of_end) * below;
            (below > 0.0).then(|| (product + sign * square.max(0.0).sqrt()) / below)
        };
        let exact = self.is_exact();
        let low = if exact { point } else { end(x_below, y_above, -1.0)? };
        let high = if exact { point } else { end(x_above, y_below, 1.0)? };
        let ends = [point, low.min(point), high.max(point)];
        Some(estimate(ends, self.standard_error() / y.point, self.samples()))
    }
}
