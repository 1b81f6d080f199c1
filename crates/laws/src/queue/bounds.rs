//! What no distribution can change: asymptotic bounds of closed systems (Denning and Buzen, *The
//! operational analysis of queueing network models*, ACM Computing Surveys 10, 1978; E. D.
//! Lazowska et al., *Quantitative System Performance*, Prentice-Hall 1984, chapter 5).
//!
//! They need no more than mean demands: the time that one request spends in service at each
//! station, all visits together. One server each; a station of c servers is entered with its
//! demand over c as [`Demands::largest`].

use crate::Error;
use crate::error::{not_negative, positive, representable, within, workers};

/// The demands of a closed system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demands {
    /// D: the demand of a request at all stations.
    total: f64,
    /// The demand at the station that has the largest one.
    largest: f64,
    /// Z: think time.
    think: f64,
}

/// The least and the greatest that a system can do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The least.
    pub low: f64,
    /// The greatest.
    pub high: f64,
}

impl Demands {
    /// A system whose requests need `total` service, `largest` of it at one station, with `think`
    /// time between a reply and the next request.
    ///
    /// # Errors
    /// If a demand is not above 0, the largest is above the total, or the think time is negative.
    pub fn new(total: f64, largest: f64, think: f64) -> Result<Self, Error> {
        let total = positive("total demand", total)?;
        let largest = positive("largest demand", largest)?;
        within("largest demand", largest, largest <= total, "at most the total demand")?;
        Ok(Demands { total, largest, think: not_negative("think time", think)? })
    }

    /// Between which throughput lies with n customers:
    /// n/(nD + Z) ≤ X ≤ min(1/Dmax, n/(D + Z)).
    ///
    /// # Errors
    /// If n is not at least 1.
    pub fn throughput(&self, n: f64) -> Result<Bounds, Error> {
        let n = workers(n)?;
        let low = n / representable("total demand", n * self.total + self.think)?;
        let alone = n / representable("cycle", self.total + self.think)?;
        let high = representable("throughput", (1.0 / self.largest).min(alone))?;
        Ok(Bounds { low, high })
    }

    /// Between which the response time lies with n customers: max(D, n Dmax − Z) ≤ R ≤ n D.
    ///
    /// # Errors
    /// If n is not at least 1.
    pub fn response(&self, n: f64) -> Result<Bounds, Error> {
        let n = workers(n)?;
        let high = representable("response time", n * self.total)?;
        Ok(Bounds { low: self.total.max(n * self.largest - self.think), high })
    }

    /// N* = (D + Z)/Dmax: the number of customers from which some must wait, whatever the
    /// distributions.
    ///
    /// # Errors
    /// If it leaves the range of numbers.
    pub fn saturation(&self) -> Result<f64, Error> {
        representable("n", (self.total + self.think) / self.largest)
    }
}
