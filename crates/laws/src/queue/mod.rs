//! Queues in their steady state (L. Kleinrock, *Queueing Systems*, volume 1, Wiley 1975).
//!
//! Open stations have work arriving at random (a Poisson stream) from outside, whatever the queue:
//! [`single`] for one server (M/G/1) and [`many`] for c servers (M/M/c). An open formula overstates the
//! queue of a closed system, whose customers wait for their answer before they ask again.

pub mod many;
pub mod single;

use crate::Error;
use crate::error::{positive, within};
use crate::little;

/// A station in its steady state. Times are in the caller's unit, rates per that unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// Jobs done per unit of time; in an open system, as many as arrive.
    pub throughput: f64,
    /// The part of its time that a server is busy, 0 to 1.
    pub utilisation: f64,
    /// Lq: jobs that wait for a server, on average.
    pub queued: f64,
    /// L: jobs that wait or are served, on average.
    pub present: f64,
    /// Wq: how long a job waits for a server, on average.
    pub wait: f64,
    /// W: how long a job stays, wait and service, on average.
    pub response: f64,
}

/// An open station where jobs come at `arrivals` per unit of time, wait for `wait` and are served
/// for `service` by one of `servers`; the rest is Little's law.
fn steady(arrivals: f64, service: f64, servers: f64, wait: f64) -> Result<Steady, Error> {
    let response = wait + service;
    Ok(Steady {
        throughput: arrivals,
        utilisation: arrivals * service / servers,
        queued: little::present(arrivals, wait)?,
        present: little::present(arrivals, response)?,
        wait,
        response,
    })
}

/// Arrivals per unit of time and the mean service time that `servers` can bear: all above 0, and
/// fewer arrivals than can be served.
fn stable(arrivals: f64, service: f64, servers: f64) -> Result<(f64, f64), Error> {
    let arrivals = positive("arrival rate", arrivals)?;
    let service = positive("service time", service)?;
    let capacity = positive("service rate", servers / service)?;
    if arrivals >= capacity {
        return Err(Error::Unstable { arrivals, capacity });
    }
    Ok((arrivals, service))
}

/// The most servers or customers that are computed one by one.
pub const COUNT_MAX: u32 = 1_000_000;

/// A number of servers or customers.
pub(crate) fn count(what: &'static str, count: u32) -> Result<f64, Error> {
    let holds = (1..=COUNT_MAX).contains(&count);
    within(what, f64::from(count), holds, "between 1 and 1,000,000")
}
