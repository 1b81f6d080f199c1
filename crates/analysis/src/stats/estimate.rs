//! Estimates of a level: one number per trial in, a centre with its interval out.

use crate::stats::interval::{median_located, student};
use model::Estimate;

/// Returns the median over trials with its 95 % interval; `None` below 2 trials.
///
/// The interval is distribution-free from 6 trials up; with 2 to 5 it is that of Student's t
/// over the logarithms ([`crate::stats::interval::median_located`]). It covers the median of the
/// distribution that the trials were drawn from: where the machine drifts during a session, of
/// the mixture over that session, which another session need not share.
pub fn median_estimate(values: &[f64]) -> Option<Estimate> {
    Some(median_located(values)?.estimate(|value| value))
}

/// Returns the mean with the 95 % interval of Student's t over blocks; `None` below 2 numbers.
///
/// For comparison with other tools. scruple's own verdicts do not use it: one slow trial in ten
/// on one side brought its coverage down to 60 % ([`crate::interval`]).
pub(crate) fn mean_estimate(values: &[f64]) -> Option<Estimate> {
    if values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    Some(student(values)?.estimate(|value| value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_carry_their_level_and_their_trials() {
        let values = [3.0, 1.0, 2.0, 6.0, 5.0, 4.0, 7.0];
        let estimate = median_estimate(&values).unwrap();
        assert_eq!((estimate.point, estimate.samples, estimate.level), (4.0, 7, 0.95));
        // n = 7: the outermost enclose 98.44 %, the next 87.5 %.
        let part = (0.984_375 - 0.95) / (0.984_375 - 0.875);
        let weight = 6.0 * part / (1.0 + 5.0 * part);
        assert!((estimate.low - (1.0 + weight)).abs() < 1e-9);
        assert!((estimate.high - (7.0 - weight)).abs() < 1e-9);
        let mean = mean_estimate(&values).unwrap();
        assert_eq!(mean.point, 4.0);
        assert!((mean.standard_error.unwrap() - (28.0 / 6.0 / 7.0_f64).sqrt()).abs() < 1e-9);
        assert_eq!(median_estimate(&[1.0]), None);
        assert_eq!(mean_estimate(&[1.0]), None);
        assert_eq!(mean_estimate(&[1.0, f64::INFINITY]), None);
    }
}
