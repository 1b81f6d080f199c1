//! The floor: the smallest difference that would have been found.

use crate::holm::limit;
use crate::interval::BLOCKS_FREE;
use crate::tail::{binomial_at_least, binomial_at_most, student_800, student_975};
use laws::roots::bisect;
use laws::tail::student_quantile;

/// The share of sessions in which a difference as large as the floor is found.
const POWER: f64 = 0.8;

/// By which multiple of the time, and so of the blocks, the floor is also foretold.
pub(crate) const TEN_TIMES: usize = 10;

/// The difference from the boundary that a two-sided 5 % verdict finds with 80 % power, given
/// the standard error of `samples` blocks: (t₀.₉₇₅ + t₀.₈₀) standard errors with
/// `samples − 1` degrees of freedom (Bloom, *Minimum detectable effects*, Evaluation Review 19,
/// 1995). On the scale of the standard error; `None` below 2 samples.
pub fn minimum_detectable(standard_error: f64, samples: usize) -> Option<f64> {
    if samples < 2 || !standard_error.is_finite() || standard_error <= 0.0 {
        return None;
    }
    Some((student_975(samples) + student_800(samples)) * standard_error)
}

/// Returns the difference that one of `verdicts` (at least 1) that share their error decides with
/// 80 % power, even if no other of them is decided: its sign test must then reach the first step of
/// [`crate::holm()`]. `None` where so few blocks cannot, however large the difference.
///
/// The power is that of the sign test for normal blocks (Dixon, *Power functions of the sign test and
/// power efficiency for normal alternatives*, Annals of Mathematical Statistics 24, 1953), whose
/// standard deviation follows from the standard error of their median, σ √(π/2n).
pub(crate) fn minimum_detectable_among(
    verdicts: usize,
    standard_error: f64,
    samples: usize,
) -> Option<f64> {
    if samples < BLOCKS_FREE || !standard_error.is_finite() || standard_error <= 0.0 {
        return None;
    }
    let n = samples as f64;
    let may_disagree = |count: f64| 2.0 * binomial_at_most(count, n, 0.5) <= limit(verdicts.max(1));
    let most = (0..samples / 2).rev().map(|count| count as f64).find(|count| may_disagree(*count))?;
    let share = bisect(0.5, 1.0, |share| binomial_at_least(n - most, n, share) < POWER);
    let quantile = student_quantile(f64::from(u32::MAX), 2.0 * (1.0 - share));
    let deviation = standard_error * n.sqrt() * std::f64::consts::FRAC_2_PI.sqrt();
    Some(quantile * deviation)
}

/// The same with `times` as many blocks that are like those measured: the standard error falls by
/// the root of it, and the degrees of freedom rise.
///
/// It assumes that blocks are independent. Noise that comes and goes over minutes makes
/// neighbouring blocks alike; what whole blocks share cancels in an effect, but where the effect
/// itself wanders ten times the time brings less than this.
pub(crate) fn minimum_detectable_in(
    times: usize,
    standard_error: f64,
    samples: usize,
) -> Option<f64> {
    if samples < 2 {
        return None;
    }
    minimum_detectable(standard_error / (times as f64).sqrt(), samples.saturating_mul(times))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blooms_multiples() {
        // Bloom 1995, table 1: 2.8 standard errors for many, 3.1 for 10 degrees of freedom
        // (2.228 + 0.879), 3.5 for 5 (2.571 + 0.920).
        assert!((minimum_detectable(1.0, 11).unwrap() - 3.107_2).abs() < 1e-3);
        assert!((minimum_detectable(2.0, 6).unwrap() - 2.0 * 3.490_1).abs() < 1e-3);
        assert!((minimum_detectable(1.0, 100_000).unwrap() - 2.801_6).abs() < 1e-3);
        assert_eq!(minimum_detectable(1.0, 1), None);
        assert_eq!(minimum_detectable(0.0, 9), None);
        // Ten times 6 blocks: 59 degrees of freedom, 2.001 + 0.848.
        assert!((minimum_detectable_in(10, 10f64.sqrt(), 6).unwrap() - 2.848_7).abs() < 1e-3);
        assert_eq!(minimum_detectable_in(1, 0.3, 6), minimum_detectable(0.3, 6));
        assert_eq!(minimum_detectable_in(10, 1.0, 1), None);
    }

    #[test]
    fn a_verdict_among_many_needs_more() {
        // 8 blocks reach p = 0.0078 at best, 9 reach 0.0039, which is below 0.005.
        assert_eq!(minimum_detectable_among(1, 1.0, 8), None);
        assert_eq!(minimum_detectable_among(50, 1.0, 10), None);
        // All of 9 blocks must agree: 0.9755^9 = 0.8, the normal quantile 1.9688, the deviation
        // 3 · √(2/π).
        let nine = minimum_detectable_among(1, 1.0, 9).unwrap();
        assert!((nine - 1.968_8 * 3.0 * 0.797_885).abs() < 1e-2, "{nine}");
        assert!(minimum_detectable_among(10, 1.0, 20) < minimum_detectable_among(100, 1.0, 20));
        // Of many blocks the normal quantiles of the sign test: at 0.05/50 it is 3.290 + 0.842.
        let many = minimum_detectable_among(50, 1.0, 10_000).unwrap();
        assert!((many - 4.132).abs() < 0.1, "{many}");
    }
}
