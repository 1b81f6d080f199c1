//! c servers and one queue before them, work arriving at random: M/M/c (A. K. Erlang, *Solution of
//! some problems in the theory of probabilities of significance in automatic telephone exchanges*,
//! 1917; Kleinrock 1975, 3.5).

use super::{Steady, count, level, stable, steady};
use crate::Error;
use crate::error::{positive, representable};
use crate::roots::bisect;

/// Erlang's B: the part of arrivals that find all of `servers` busy where nobody waits, with
/// `offered` load a = λ S in servers. By its recursion B(k) = a B(k−1) / (k + a B(k−1)), which
/// neither overflows nor cancels.
///
/// # Errors
/// If there is no server, or the load is not above 0.
pub fn erlang_b(servers: u32, offered: f64) -> Result<f64, Error> {
    count("servers", servers)?;
    let a = positive("offered load", offered)?;
    // From the inverse, which stays finite in the other direction: 1/B(k) = 1 + k/a · 1/B(k−1).
    let mut inverse = 1.0;
    for k in 1..=servers {
        inverse = 1.0 + f64::from(k) / a * inverse;
    }
    Ok(1.0 / inverse)
}

/// Erlang's C: the part of arrivals that have to wait, with `offered` load a = λ S below the number
/// of servers.
///
/// # Errors
/// As [`erlang_b`]; [`Error::Unstable`] if the load is not below the number of servers.
pub fn erlang_c(servers: u32, offered: f64) -> Result<f64, Error> {
    let c = count("servers", servers)?;
    let (a, _) = stable(offered, 1.0, c)?;
    let blocked = erlang_b(servers, a)?;
    let busy = a / c;
    Ok(blocked / (1.0 - busy * (1.0 - blocked)))
}

/// M/M/c: `arrivals` λ per unit of time, exponential service with the mean `service` S, `servers` c:
/// Wq = C S / (c − a).
///
/// # Errors
/// [`Error::Unstable`] if λ S ≥ c; [`Error::Wrong`] if a number is not above 0.
pub fn mmc(arrivals: f64, service: f64, servers: u32) -> Result<Steady, Error> {
    let c = count("servers", servers)?;
    let (arrivals, service) = stable(arrivals, service, c)?;
    let offered = arrivals * service;
    let wait = erlang_c(servers, offered)? * service / (c - offered);
    steady(arrivals, service, c, representable("wait", wait)?)
}

/// The time that a share `probability` of M/M/c's jobs waits at most, first come first served, from
/// P(wait > t) = C exp(−(c − a) t / S); 0 where that many find a server free.
///
/// # Errors
/// As [`mmc`]; if the probability is not at least 0 and below 1.
pub fn mmc_wait_quantile(
    arrivals: f64,
    service: f64,
    servers: u32,
    probability: f64,
) -> Result<f64, Error> {
    let p = level(probability)?;
    let c = count("servers", servers)?;
    let (arrivals, service) = stable(arrivals, service, c)?;
    let offered = arrivals * service;
    let waits = erlang_c(servers, offered)?;
    let wait = (waits / (1.0 - p)).ln() * service / (c - offered);
    representable("wait", wait.max(0.0))
}

/// The time that a share `probability` of M/M/c's jobs stays within, first come first served: the
/// sum of a wait and an exponential service (Kleinrock 1975, problem 3.10), inverted by bisection.
///
/// # Errors
/// As [`mmc_wait_quantile`].
pub fn mmc_response_quantile(
    arrivals: f64,
    service: f64,
    servers: u32,
    probability: f64,
) -> Result<f64, Error> {
    let p = level(probability)?;
    let c = count("servers", servers)?;
    let (arrivals, service) = stable(arrivals, service, c)?;
    let offered = arrivals * service;
    let waits = erlang_c(servers, offered)?;
    let later = |t: f64| stays_longer(waits, c - offered, t) > 1.0 - p;
    let mut high = 1.0;
    while later(high) && high < 1e300 {
        high *= 2.0;
    }
    representable("response time", bisect(0.0, high, later) * service)
}

/// The probability that a job stays longer than `t` services where a part `waits` of them wait for
/// an exponential time of the rate `drain` per service.
fn stays_longer(waits: f64, drain: f64, t: f64) -> f64 {
    // e^(−t) + C (e^(−t) − e^(−drain t)) / (drain − 1), and its limit C t e^(−t) at drain = 1.
    let apart = drain - 1.0;
    if apart.abs() * t < 1e-9 {
        return (-t).exp() * (1.0 + waits * t);
    }
    (-t).exp() + waits * ((-t).exp() - (-drain * t).exp()) / apart
}
