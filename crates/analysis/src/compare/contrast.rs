//! Two numbers of different sessions, each with its own interval, held against each other.
//!
//! Trials of different sessions have no block in common, so that nothing cancels and each side
//! scatters in its own way: another machine or a missing shield changes the noise with the number.
//! Each side therefore keeps its own interval ([`crate::interval::centre`]: the pseudomedian with
//! the ends of the signed-rank test), and the difference gets the ends
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
//! The choice was made by simulation of 3,000 pairs of samples for each cell, whose last column
//! `simulation/unpaired.rs` repeats as a test. Coverage in per cent, smallest and largest over 6 : 6,
//! 8 : 8, 6 : 12, 12 : 12, 6 : 40, 40 : 6, 20 : 20 and 40 : 40 trials:
//!
//! | logarithms of the two sides | Welch | 20 % trimmed Welch | Mann–Whitney | these |
//! |---|---|---|---|---|
//! | normal, the same noise | 94–96 | 93–96 | 94–96 | 94–97 |
//! | normal, three times the noise on one side | 94–96 | 93–95 | 83–100 | 94–96 |
//! | skewed | 89–97 | 91–97 | 94–95 | 94–96 |
//! | skewed against quiet | 84–93 | 90–94 | 78–100 | 93–95 |
//! | Student's t with 3 degrees of freedom | 95–96 | 94–96 | 94–96 | 95–96 |
//! | 10 % of the trials ten times as noisy | 96–99 | 94–97 | 95–96 | 94–96 |
//! | 20 % of one side's trials slowed | 71–93 | 94–97 | 91–98 | 94–95 |
//! | two modes on one side | 94–96 | 78–96 | 78–100 | 94–97 |
//!
//! The interval of Mann and Whitney, which peers use, supposes that both sides have the same
//! distribution but for its place; where the side with fewer trials is the noisier, one in five of
//! its intervals misses. With 3 or 4 trials on a side no method holds under skew (88 to 92 %).

use crate::holm::FAMILY_ERROR;
use crate::interval::{LEVEL, Located};
use crate::tail::{NORMAL_800, student_975};
use laws::tail::{student_outside, student_quantile};
use model::Estimate;

/// The degrees of freedom, as a multiple of those of the interval, of the tails beyond it.
///
/// What lies far out is known less well than what lies near. By simulation of 20,000 pairs, the
/// share of p-values up to 0.001 where nothing differs, with 1, 0.8 and 0.6: 0.07, 0.06 and 0.02 %
/// with 6 normal trials a side, 0.22, 0.15 and 0.09 % with three times the noise on one, 0.65, 0.50
/// and 0.28 % where a skewed side meets a quiet one. The 0.6 of [`crate::interval`] would make a
/// floor among 400 comparisons nearly twice as large again, for sides that are mostly alike.
const TAILS: f64 = 0.8;

/// A number with its interval, of one side: on the logarithmic scale or as it is.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// They are counts, or bytes: where they agree, there is no noise to learn of.
    pub(crate) counted: bool,
    /// Of a sign test where ties leave no width: the p-values below and above the point.
    ties: Option<Located>,
}

impl Arm {
    pub(crate) fn of(located: Located, counted: bool) -> Self {
        let Located { point, low, high, samples, agrees, .. } = located;
        let freedom = (samples - 1) as f64;
        Arm { point, low, high, freedom, samples, agrees, counted, ties: Some(located) }
    }

    /// A number that stands alone.
    pub(crate) fn single(point: f64, counted: bool) -> Self {
        let (low, high) = (point, point);
        Arm { point, low, high, freedom: 0.0, samples: 1, agrees: true, counted, ties: None }
    }

    /// An interval, or a number that stands alone, without what it knows of ties.
    pub(crate) fn bare(
        point: f64,
        (low, high): (f64, f64),
        samples: usize,
        agrees: bool,
        counted: bool,
    ) -> Self {
        let freedom = samples.saturating_sub(1) as f64;
        Arm { point, low, high, freedom, samples, agrees, counted, ties: None }
    }

    /// An interval that comes from elsewhere.
    pub(crate) fn given(estimate: &Estimate, samples: usize) -> Self {
        let Estimate { point, low, high, .. } = *estimate;
        let freedom = (samples.max(2) - 1) as f64;
        Arm { point, low, high, freedom, samples, agrees: false, counted: false, ties: None }
    }

    /// Whether it is one number without noise.
    pub(crate) fn is_exact(&self) -> bool {
        self.agrees && self.counted && self.samples >= 2
    }

    /// The same on the scale of the numbers themselves, from that of their logarithms.
    pub(crate) fn exp(self) -> Self {
        let (point, low, high) = (self.point.exp(), self.low.exp(), self.high.exp());
        Arm { point, low, high, ties: None, ..self }
    }

    /// The same, as a multiple of it above 0.
    fn times(self, multiple: f64) -> Self {
        let [point, low, high] = [self.point, self.low, self.high].map(|x| x * multiple);
        Arm { point, low, high, ties: None, ..self }
    }

    /// The two standard errors, towards the lower end and towards the upper.
    fn errors(&self) -> (f64, f64) {
        let quantile = quantile_975(self.freedom);
        ((self.point - self.low) / quantile, (self.high - self.point) / quantile)
    }

    /// As an estimate; `from` translates the scale.
    pub(crate) fn estimate(&self, from: fn(f64) -> f64) -> Estimate {
        let (below, above) = if self.freedom > 0.0 { self.errors() } else { (0.0, 0.0) };
        Estimate {
            point: from(self.point),
            low: from(self.low),
            high: from(self.high),
            standard_error: Some(f64::midpoint(below, above)),
            level: LEVEL,
            samples: self.samples as u32,
        }
    }
}

/// Several sessions of one side taken together, each with the same weight, with the scatter of
/// their trials alone. `None` if none of them has an interval.
pub(crate) fn averaged(arms: &[Arm]) -> Option<Arm> {
    let arms: Vec<Arm> = arms.iter().copied().filter(|arm| arm.freedom > 0.0).collect();
    let first = *arms.first()?;
    if arms.len() == 1 {
        return Some(first);
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
        counted: first.counted,
        ties: None,
    })
}

/// The 97.5 % quantile of Student's t, from the table where the degrees of freedom are whole.
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
    /// From independent standard errors with their degrees of freedom (Satterthwaite, *An
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

/// One side less another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Contrast {
    pub(crate) point: f64,
    below: Reach,
    above: Reach,
    of: Arm,
    to: Arm,
}

impl Contrast {
    /// `None` where one of them is a single number.
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

    /// Whether both sides are counts that are the same in all their trials.
    pub(crate) fn is_exact(&self) -> bool {
        self.of.is_exact() && self.to.is_exact()
    }

    /// What is compared with, where it is a number and no logarithm.
    pub(crate) fn base(&self) -> f64 {
        self.to.point
    }

    /// Whether the whole interval of what is compared with lies above 0.
    pub(crate) fn base_is_above_0(&self) -> bool {
        self.to.low > 0.0
    }

    /// Numbers behind the side that has fewer.
    pub(crate) fn samples(&self) -> usize {
        self.of.samples.min(self.to.samples)
    }

    /// Twice the one-sided p-value of a difference of `boundary` or beyond it, seen from the point;
    /// 0.05 at an end of the interval. Beyond that it follows Student's t with [`TAILS`] of the
    /// degrees of freedom, as [`Located::p_value`] does.
    ///
    /// Counts without noise are taken as they are. Where ties of a coarse clock leave no width, the
    /// sign test asks on either side how many trials lie towards the other.
    pub(crate) fn p_value(&self, boundary: f64) -> f64 {
        let distance = (boundary - self.point).abs();
        if distance == 0.0 || boundary.is_nan() {
            return 1.0;
        }
        if self.is_exact() {
            return 0.0;
        }
        let reach = if boundary < self.point { self.below } else { self.above };
        if reach.half <= 1e-12 * self.of.point.abs().max(self.to.point.abs()).max(1e-3) {
            return self.tied_p_value(boundary);
        }
        let freedom = (TAILS * reach.freedom).max(TAILS);
        student_outside(freedom, student_quantile(freedom, 1.0 - LEVEL) * distance / reach.half)
    }

    /// The same against a multiple of the base, for numbers that have no logarithm: the noise of
    /// the base counts as often as the base itself (Fieller, *Some problems in
    /// interval estimation*, Journal of the Royal Statistical Society B 16, 1954). Held against a difference that
    /// is taken for known, a multiple of 3 was found exceeded in 17 % of pairs that just reach it.
    pub(crate) fn p_value_of_multiple(&self, multiple: f64) -> f64 {
        let scaled = Contrast::new(self.of, self.to.times(multiple));
        match scaled.filter(|it| it.below.half > 0.0 || it.above.half > 0.0) {
            Some(scaled) => scaled.p_value(0.0),
            None => self.p_value((multiple - 1.0) * self.to.point),
        }
    }

    fn tied_p_value(&self, boundary: f64) -> f64 {
        let shift = (self.point - boundary) / 2.0;
        let one = |arm: &Arm, towards: f64| match arm.ties {
            _ if arm.is_exact() => 0.0,
            Some(located) => located.p_value(arm.point - towards),
            None => 1.0,
        };
        one(&self.of, shift).max(one(&self.to, -shift))
    }

    fn standard_error(&self) -> f64 {
        let one = |reach: Reach| reach.half / reach.quantile;
        f64::midpoint(one(self.below), one(self.above))
    }

    fn freedom(&self) -> f64 {
        self.below.freedom.min(self.above.freedom)
    }

    /// The difference that is found with 80 % power for one of so many comparisons, if no other of
    /// them is found: [`crate::floor::minimum_detectable`] for one, and with Holm's first step as
    /// [`crate::floor::minimum_detectable_among`] for more. `None` without noise.
    pub(crate) fn floor(&self, among: usize) -> Option<f64> {
        let (error, freedom) = (self.standard_error(), self.freedom());
        if error <= 0.0 || !error.is_finite() {
            return None;
        }
        let first = quantile_975(freedom);
        if among <= 1 {
            return Some((first + student_quantile(freedom, 0.4)) * error);
        }
        let thin = (TAILS * freedom).max(TAILS);
        let further = student_quantile(thin, FAMILY_ERROR / among as f64);
        let quantile = first * further / student_quantile(thin, FAMILY_ERROR);
        let scatter = (1.0 + quantile.powi(2) / (2.0 * freedom)).sqrt();
        Some((quantile + NORMAL_800 * scatter) * error)
    }

    /// As an estimate; `from` translates the scale.
    pub(crate) fn estimate(&self, from: fn(f64) -> f64) -> Estimate {
        Estimate {
            point: from(self.point),
            low: from(self.low()),
            high: from(self.high()),
            standard_error: Some(self.standard_error()),
            level: LEVEL,
            samples: self.samples() as u32,
        }
    }

    /// The side divided by the other, for numbers that have no logarithm: the same idea for a ratio
    /// (equation 9 of Donner and Zou, *Closed-form confidence intervals for functions of the normal
    /// mean and standard deviation*, Statistical Methods in Medical Research 21, 2012, 347–359;
    /// `MOVERR` of R's package pairwiseCI is the same formula), as Fieller's for
    /// normal numbers, with the degrees of freedom of the difference of the side from that multiple
    /// of the other. `None` where the other is not told from 0, or lies below it.
    pub(crate) fn ratio(&self) -> Option<Estimate> {
        let (x, y) = (self.of, self.to);
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
        let standard_error = Some(self.standard_error() / y.point);
        let (low, high) = (low.min(point), high.max(point));
        let samples = self.samples() as u32;
        Some(Estimate { point, low, high, standard_error, level: LEVEL, samples })
    }
}
