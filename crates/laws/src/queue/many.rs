//! c servers and one queue before them, work arriving at random: M/M/c (A. K. Erlang, *Solution of
//! some problems in the theory of probabilities of significance in automatic telephone exchanges*,
//! 1917; Kleinrock 1975, 3.5).

use super::{Steady, count, stable, steady};
use crate::Error;
use crate::error::{positive, representable};

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
