//! Tails of Student's t and of the binomial distribution, by the incomplete beta function
//! (Abramowitz and Stegun 1964, 26.5.24 and 26.7.1).

use statrs::function::beta::beta_reg;
use std::sync::OnceLock;

/// The 97.5 % quantile of the standard normal distribution.
pub(crate) const NORMAL_975: f64 = 1.959_963_984_540_054;
/// The 80 % quantile of the standard normal distribution.
pub(crate) const NORMAL_800: f64 = 0.841_621_233_572_914_3;

/// The probability that |T| exceeds `t`, for Student's T with `freedom` degrees of freedom
/// (positive, not necessarily whole).
pub(crate) fn student_outside(freedom: f64, t: f64) -> f64 {
    if t.is_nan() {
        return 1.0;
    }
    if t.is_infinite() {
        return 0.0;
    }
    beta_reg(freedom / 2.0, 0.5, (freedom / (freedom + t * t)).clamp(0.0, 1.0))
}

/// The t that |T| exceeds with probability `outside` (above 0, below 1): the two-sided quantile.
///
/// By bisection of the very function that gives p-values, so that a boundary at the end of a
/// 95 % interval has p = 0.05 to the last digits.
pub(crate) fn student_quantile(freedom: f64, outside: f64) -> f64 {
    let mut high = 2.0;
    while student_outside(freedom, high) > outside && high < 1e12 {
        high *= 2.0;
    }
    bisect(0.0, high, |t| student_outside(freedom, t) > outside)
}

/// The 97.5 % quantile of Student's t with `count − 1` degrees of freedom, looked up because it
/// is asked for after every round. `count` is at least 2.
pub(crate) fn student_975(count: usize) -> f64 {
    static KNOWN: Known = [const { OnceLock::new() }; KNOWN_COUNTS];
    look_up(&KNOWN, count, || student_quantile((count - 1) as f64, 0.05))
}

/// The degrees of freedom, as a multiple of n − 1, of the tails beyond a rank interval.
pub(crate) const THIN: f64 = 0.6;

/// The same with [`THIN`]` (count − 1)` degrees of freedom.
pub(crate) fn student_975_thin(count: usize) -> f64 {
    static KNOWN: Known = [const { OnceLock::new() }; KNOWN_COUNTS];
    look_up(&KNOWN, count, || student_quantile(THIN * (count - 1) as f64, 0.05))
}

const KNOWN_COUNTS: usize = 256;

type Known = [OnceLock<f64>; KNOWN_COUNTS];

fn look_up(known: &Known, count: usize, compute: impl Fn() -> f64) -> f64 {
    known.get(count).map_or_else(&compute, |known| *known.get_or_init(&compute))
}

/// The probability of `events` or more in `trials` draws with chance `chance` each.
pub(crate) fn binomial_at_least(events: u64, trials: u64, chance: f64) -> f64 {
    if events == 0 || chance >= 1.0 {
        return 1.0;
    }
    if events > trials || chance <= 0.0 {
        return 0.0;
    }
    beta_reg(events as f64, (trials - events + 1) as f64, chance)
}

/// The probability of `events` or fewer in `trials` draws with chance `chance` each.
pub(crate) fn binomial_at_most(events: u64, trials: u64, chance: f64) -> f64 {
    // Counting the draws that are no event avoids the loss of digits in 1 − P(more).
    binomial_at_least(trials.saturating_sub(events), trials, 1.0 - chance)
}

/// Where a condition that is true at `low` and false at `high` turns.
pub(crate) fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    // 200 halvings exhaust the digits of any pair of numbers met here.
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if holds(middle) { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_student_are_those_of_the_tables() {
        // Fisher and Yates, Statistical Tables, table III; more digits from R's qt().
        let table = [
            (1.0, 0.05, 12.706_204_736),
            (2.0, 0.05, 4.302_652_730),
            (5.0, 0.05, 2.570_581_836),
            (5.0, 0.01, 4.032_142_984),
            (9.0, 0.05, 2.262_157_163),
            (30.0, 0.05, 2.042_272_456),
            (5.0, 0.4, 0.919_543_780),
            (39.0, 0.001, 3.558_1),
        ];
        for (freedom, outside, t) in table {
            let found = student_quantile(freedom, outside);
            assert!((found / t - 1.0).abs() < 1e-5, "{freedom} {outside}: {found}");
        }
        assert!((student_975(6) - 2.570_581_836).abs() < 1e-8);
        assert!((student_975(1000) - 1.962_341).abs() < 1e-5);
    }

    #[test]
    fn binomial_tails_are_sums_of_probabilities() {
        // 10 fair coins: 1, 10, 45 of 1024 ways for 0, 1, 2 heads.
        assert!((binomial_at_most(2, 10, 0.5) - 56.0 / 1024.0).abs() < 1e-12);
        assert!((binomial_at_least(9, 10, 0.5) - 11.0 / 1024.0).abs() < 1e-12);
        assert!((binomial_at_least(1, 3, 0.1) - 0.271).abs() < 1e-12);
        assert_eq!(binomial_at_least(0, 10, 0.3), 1.0);
        assert_eq!(binomial_at_least(1, 10, 0.0), 0.0);
        assert_eq!(binomial_at_most(10, 10, 0.3), 1.0);
        assert_eq!(binomial_at_most(3, 10, 1.0), 0.0);
    }
}
