//! One server, work arriving at random: M/G/1.

use super::{Steady, stable, steady};
use crate::Error;
use crate::error::{not_negative, representable};

/// M/G/1, any distribution of service times, by the formula of Pollaczek and Khinchine
/// (Kleinrock 1975, 5.6):
///
/// ```text
/// Wq = ρ S (1 + v²) / (2 (1 − ρ)),  ρ = λ S
/// ```
///
/// `arrivals` λ per unit of time, mean `service` time S, and `variation` v, the standard deviation
/// of service times over their mean: 0 for equal ones, 1 for exponential ones. First come, first
/// served; the mean holds for any order that does not look at the service times.
///
/// # Errors
/// [`Error::Unstable`] if λ S ≥ 1; [`Error::Wrong`] if λ or S is not above 0 or v is negative.
pub fn mg1(arrivals: f64, service: f64, variation: f64) -> Result<Steady, Error> {
    let (arrivals, service) = stable(arrivals, service, 1.0)?;
    let variation = not_negative("variation of service times", variation)?;
    let busy = arrivals * service;
    let wait = busy * service * (1.0 + variation * variation) / (2.0 * (1.0 - busy));
    steady(arrivals, service, 1.0, representable("wait", wait)?)
}
