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

/// The interactive response time law R = N/X − Z: what `customers`, each of whom thinks for
/// `think` between a reply and the next request, wait for (Denning and Buzen, *The operational
/// analysis of queueing network models*, ACM Computing Surveys 10, 1978).
///
/// # Errors
/// If a number is not finite or negative, the throughput is not above 0, or no time is left for
/// the response: then the three cannot belong to one system.
pub fn interactive_response(customers: f64, throughput: f64, think: f64) -> Result<f64, Error> {
    let cycle = response(customers, throughput)?;
    let think = not_negative("think time", think)?;
    let left = cycle - think;
    if left < -1e-12 * cycle {
        let right = "at most the time from a request to the next, customers / throughput";
        return Err(Error::Wrong { what: "think time", value: think, right });
    }
    Ok(left.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numbers_of_which_two_make_the_third() {
        assert_eq!(present(200.0, 0.05), Ok(10.0));
        assert_eq!(throughput(10.0, 0.05), Ok(200.0));
        assert_eq!(response(10.0, 200.0), Ok(0.05));
        // 64 terminals, 2 requests per second, 30 seconds of thinking.
        assert_eq!(interactive_response(64.0, 2.0, 30.0), Ok(2.0));
    }

    #[test]
    fn what_cannot_be_is_said() {
        assert!(response(1.0, 0.0).is_err() && throughput(1.0, 0.0).is_err());
        assert!(present(f64::NAN, 1.0).is_err() && present(1e300, 1e300).is_err());
        let error = interactive_response(10.0, 2.0, 6.0).unwrap_err();
        assert!(error.to_string().starts_with("think time is 6; it must be at most"), "{error}");
    }
}
