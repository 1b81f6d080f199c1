//! Tails of Student's t and of F, by the incomplete beta function (Abramowitz and Stegun 1964,
//! 26.5.24 and 26.6.2).

use crate::roots::bisect;
use statrs::function::beta::beta_reg;

/// The probability that |T| exceeds `t` ≥ 0, for Student's T with `freedom` > 0 degrees of freedom.
fn student_outside(freedom: f64, t: f64) -> f64 {
    beta_reg(freedom / 2.0, 0.5, (freedom / (freedom + t * t)).clamp(0.0, 1.0))
}

/// The t that |T| exceeds with probability `outside` (above 0, below 1), for `freedom` degrees of
/// freedom, at least 1: the two-sided quantile.
pub(crate) fn student_quantile(freedom: f64, outside: f64) -> f64 {
    let mut high = 2.0;
    while student_outside(freedom, high) > outside && high < 1e12 {
        high *= 2.0;
    }
    bisect(0.0, high, |t| student_outside(freedom, t) > outside)
}

/// The probability that F with `above` and `below` degrees of freedom (both positive) exceeds
/// `ratio`.
pub(crate) fn fisher_above(above: f64, below: f64, ratio: f64) -> f64 {
    if ratio.is_nan() || ratio <= 0.0 {
        return 1.0;
    }
    if ratio.is_infinite() {
        return 0.0;
    }
    beta_reg(below / 2.0, above / 2.0, (below / (below + above * ratio)).clamp(0.0, 1.0))
        .clamp(0.0, 1.0)
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
