//! The floor: the smallest difference that would have been found.

use crate::stats::tail::{student_800, student_975};

/// Returns the difference from the boundary that a two-sided 5 % verdict finds with 80 % power, given
/// the standard error of `samples` blocks: (t₀.₉₇₅ + t₀.₈₀) standard errors with
/// `samples − 1` degrees of freedom (Bloom, *Minimum detectable effects*, Evaluation Review 19,
/// 1995). On the scale of the standard error; `None` below 2 samples.
pub(crate) fn minimum_detectable(standard_error: f64, samples: usize) -> Option<f64> {
    if samples < 2 || !standard_error.is_finite() || standard_error <= 0.0 {
        return None;
    }
    Some((student_975(samples) + student_800(samples)) * standard_error)
}

/// Returns the same with `times` as many blocks that are like those measured: the standard error falls by
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
}
