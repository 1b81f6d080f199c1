//! The floor: the smallest difference that would have been found.

use crate::holm::FAMILY_ERROR;
use crate::tail::{NORMAL_800, NORMAL_975, THIN, student_800, student_975, student_975_thin};
use laws::tail::student_quantile;

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

/// The same for one of so many verdicts, at least 1, that share their error, if no other of them is
/// decided: Holm's first step then asks for [`FAMILY_ERROR`]` / verdicts`, and beyond an end of its
/// 95 % interval a number's p-value falls as Student's t with [`THIN`] degrees of freedom does
/// ([`crate::interval::Located::p_value`]). So large a multiple of a standard error scatters itself,
/// since the standard error does, with a variance of 1/(2 (n − 1)): the power is that of a noncentral
/// t (Johnson and Welch, *Applications of the non-central t-distribution*, Biometrika 31, 1940). Bloom
/// leaves that out; for 50 verdicts from 6 blocks his 80 % would be 60.
pub(crate) fn minimum_detectable_among(
    verdicts: usize,
    standard_error: f64,
    samples: usize,
) -> Option<f64> {
    if samples < 2 || !standard_error.is_finite() || standard_error <= 0.0 {
        return None;
    }
    let freedom = (samples - 1) as f64;
    let further = student_quantile(THIN * freedom, FAMILY_ERROR / verdicts.max(1) as f64)
        / student_975_thin(samples);
    let quantile = student_975(samples) * further;
    let scatter = (1.0 + quantile.powi(2) / (2.0 * freedom)).sqrt();
    Some((quantile + NORMAL_800 * scatter) * standard_error)
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

/// The same for a frequency, whose standard error is known from the frequency itself.
pub(crate) fn minimum_detectable_normal(standard_error: f64) -> Option<f64> {
    (standard_error > 0.0).then_some((NORMAL_975 + NORMAL_800) * standard_error)
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
        assert!((minimum_detectable_normal(1.0).unwrap() - 2.801_6).abs() < 1e-3);
        assert_eq!(minimum_detectable(1.0, 1), None);
        assert_eq!(minimum_detectable(0.0, 9), None);
        // Ten times 6 blocks: 59 degrees of freedom, 2.001 + 0.848.
        assert!((minimum_detectable_in(10, 10f64.sqrt(), 6).unwrap() - 2.848_7).abs() < 1e-3);
        assert_eq!(minimum_detectable_in(1, 0.3, 6), minimum_detectable(0.3, 6));
        assert_eq!(minimum_detectable_in(10, 1.0, 1), None);
    }

    #[test]
    fn a_verdict_among_many_needs_more() {
        let near = |a: Option<f64>, b: f64| assert!((a.unwrap() - b).abs() < 5e-3, "{a:?} {b}");
        // 2.571 + 0.842 · √(1 + 2.571²/10), a little more than Bloom's 3.490.
        near(minimum_detectable_among(1, 1.0, 6), 3.655);
        // With 3 degrees of freedom 3.182 becomes 12.924 at 0.1 %: 2.571 · 4.061 is 10.438.
        near(minimum_detectable_among(50, 1.0, 6), 10.438 + 0.842 * (1.0_f64 + 10.895).sqrt());
        assert_eq!(minimum_detectable_among(50, 1.0, 1), None);
        // Of many blocks the normal quantiles: 3.290 + 0.842.
        assert!((minimum_detectable_among(50, 1.0, 100_000).unwrap() - 4.132).abs() < 1e-2);
    }
}
