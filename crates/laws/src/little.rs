//! Little's law: jobs present = throughput × time each stays (J. D. C. Little, *A proof for the
//! queuing formula L = λW*, Operations Research 9, 1961). It holds for any system that neither
//! loses nor invents jobs, over any time in which it begins and ends alike.

use crate::Error;
use crate::error::{not_negative, positive, representable};

/// Jobs present on average: throughput (per unit of time) × the time each stays.
///
/// # Errors
/// If a number is not finite or is negative, or their product leaves the range of numbers.
pub fn present(throughput: f64, response: f64) -> Result<f64, Error> {
    let (x, r) =
        (not_negative("throughput", throughput)?, not_negative("response time", response)?);
    representable("jobs present", x * r)
}

/// Throughput: jobs present over the time each stays.
///
/// # Errors
/// If the jobs are negative, the time is not above 0, or either is not finite.
pub fn throughput(present: f64, response: f64) -> Result<f64, Error> {
    let (l, r) = (not_negative("jobs present", present)?, positive("response time", response)?);
    representable("throughput", l / r)
}

/// The time each job stays: jobs present over throughput.
///
/// # Errors
/// If the jobs are negative, the throughput is not above 0, or either is not finite.
pub fn response(present: f64, throughput: f64) -> Result<f64, Error> {
    let (l, x) = (not_negative("jobs present", present)?, positive("throughput", throughput)?);
    representable("response time", l / x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numbers_of_which_two_make_the_third() {
        assert_eq!(present(200.0, 0.05), Ok(10.0));
        assert_eq!(throughput(10.0, 0.05), Ok(200.0));
        assert_eq!(response(10.0, 200.0), Ok(0.05));
    }

    #[test]
    fn what_cannot_be_is_said() {
        assert!(response(1.0, 0.0).is_err() && throughput(1.0, 0.0).is_err());
        assert!(present(f64::NAN, 1.0).is_err() && present(1e300, 1e300).is_err());
    }
}
