//! One server, work arriving at random: M/M/1, M/D/1 and M/G/1.

use super::{Steady, level, stable, steady};
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

/// M/D/1: every service takes the same `service` time. Half the wait of M/M/1.
///
/// # Errors
/// As [`mg1`].
pub fn md1(arrivals: f64, service: f64) -> Result<Steady, Error> {
    let (arrivals, service) = stable(arrivals, service, 1.0)?;
    let busy = arrivals * service;
    steady(arrivals, service, 1.0, busy * service / (2.0 * (1.0 - busy)))
}

/// M/M/1: service times are exponential with the mean `service` (Kleinrock 1975, 3.2).
///
/// # Errors
/// As [`mg1`].
pub fn mm1(arrivals: f64, service: f64) -> Result<Steady, Error> {
    let (arrivals, service) = stable(arrivals, service, 1.0)?;
    let busy = arrivals * service;
    steady(arrivals, service, 1.0, busy * service / (1.0 - busy))
}

/// The time that a share `probability` of M/M/1's jobs stays within, first come first served: the
/// response time is exponential with the mean W.
///
/// # Errors
/// As [`mg1`]; if the probability is not at least 0 and below 1.
pub fn mm1_response_quantile(arrivals: f64, service: f64, probability: f64) -> Result<f64, Error> {
    let p = level(probability)?;
    Ok(-(-p).ln_1p() * mm1(arrivals, service)?.response)
}

/// The time that a share `probability` of M/M/1's jobs waits at most, first come first served;
/// 0 where the server is free for that many.
///
/// # Errors
/// As [`mm1_response_quantile`].
pub fn mm1_wait_quantile(arrivals: f64, service: f64, probability: f64) -> Result<f64, Error> {
    let p = level(probability)?;
    let station = mm1(arrivals, service)?;
    // P(wait > t) = ρ exp(−t/W).
    Ok(((station.utilisation / (1.0 - p)).ln() * station.response).max(0.0))
}
