//! Tails of Student's t and of F, behind the intervals of fits and of measurements, by the
//! incomplete beta function (Abramowitz and Stegun 1964, 26.5.24 and 26.6.2).
//!
//! A probability without a meaning (an argument that is not a number) is 1, so that it rules chance
//! out nowhere.

use crate::roots::bisect;
use statrs::function::gamma::ln_gamma;

/// The probability that |T| exceeds `t`, for Student's T with `freedom` degrees of freedom
/// (positive, not necessarily whole).
#[must_use]
pub fn student_outside(freedom: f64, t: f64) -> f64 {
    if t.is_nan() {
        return 1.0;
    }
    if t.is_infinite() {
        return 0.0;
    }
    incomplete_beta(freedom / 2.0, 0.5, (freedom / (freedom + t * t)).clamp(0.0, 1.0))
}

/// The t that |T| exceeds with probability `outside` (above 0, below 1), for `freedom`
/// degrees of freedom (positive, not necessarily whole): the two-sided quantile.
///
/// By bisection of the very function that gives p-values, so that a boundary at the end of a
/// 95 % interval has p = 0.05 to the last digits.
#[must_use]
pub fn student_quantile(freedom: f64, outside: f64) -> f64 {
    let mut high = 2.0;
    while student_outside(freedom, high) > outside && high < 1e12 {
        high *= 2.0;
    }
    bisect(0.0, high, |t| student_outside(freedom, t) > outside)
}

/// The probability that F with `above` and `below` degrees of freedom (both positive) exceeds
/// `ratio`.
pub fn fisher_above(above: f64, below: f64, ratio: f64) -> f64 {
    if ratio.is_nan() || ratio <= 0.0 {
        return 1.0;
    }
    if ratio.is_infinite() {
        return 0.0;
    }
    let x = (below / (below + above * ratio)).clamp(0.0, 1.0);
    incomplete_beta(below / 2.0, above / 2.0, x).clamp(0.0, 1.0)
}

/// Steps of the continued fraction, enough for parameters up to 10⁹: it converges in
/// the order of the root of the larger one.
const STEPS_MAX: u32 = 200_000;

/// The regularised incomplete beta function I_x(a, b), 0 to 1, for positive `a` and `b`, by its
/// continued fraction (Abramowitz and Stegun 26.5.8, evaluated as Lentz, *Generating Bessel
/// functions in Mie scattering calculations using continued fractions*, Applied Optics 15, 1976).
///
/// The libraries at hand stop after some hundred steps, which is right for dozens of draws and far
/// from it for the millions behind a rate per million.
#[must_use]
pub fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let log_front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p();
    if x < (a + 1.0) / (a + b + 2.0) {
        log_front.exp() * beta_fraction(a, b, x) / a
    } else {
        1.0 - log_front.exp() * beta_fraction(b, a, 1.0 - x) / b
    }
}

/// The continued fraction of [`incomplete_beta`], for x below (a + 1)/(a + b + 2).
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let away_from_0 = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_0(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..STEPS_MAX {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut last = 1.0;
        for numerator in [even, odd] {
            d = 1.0 / away_from_0(1.0 + numerator * d);
            c = away_from_0(1.0 + numerator / c);
            last = c * d;
            fraction *= last;
        }
        if (last - 1.0).abs() <= 1e-15 {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // Fisher and Yates, Statistical Tables, table III; more digits from R's qt().
        for (freedom, outside, t) in [
            (1.0, 0.05, 12.706_204_736),
            (3.0, 0.05, 3.182_446_305),
            (9.0, 0.05, 2.262_157_163),
            (30.0, 0.05, 2.042_272_456),
            (1000.0, 0.05, 1.962_339_081),
            (2.0, 0.05, 4.302_652_730),
            (5.0, 0.01, 4.032_142_984),
            (5.0, 0.4, 0.919_543_780),
        ] {
            let found = student_quantile(freedom, outside);
            assert!((found / t - 1.0).abs() < 1e-7, "{freedom}: {found}");
        }
    }

    #[test]
    fn tails_of_f_are_those_of_the_tables() {
        // The tables of F at 5 % and 1 %; with 1 degree above it is the square of t; the last by
        // Simpson's integral of the density.
        for (above, below, ratio, p) in [
            (5.0, 24.0, 2.620_654, 0.05),
            (3.0, 10.0, 6.552_313, 0.01),
            (1.0, 9.0, 2.262_157_163 * 2.262_157_163, 0.05),
            (12.0, 2000.0, 1.757_005_95, 0.05),
        ] {
            let found = fisher_above(above, below, ratio);
            assert!((found / p - 1.0).abs() < 2e-5, "{above} {below}: {found}");
        }
        assert_eq!(fisher_above(2.0, 5.0, 0.0), 1.0);
        assert_eq!(fisher_above(2.0, 5.0, f64::INFINITY), 0.0);
    }
}
