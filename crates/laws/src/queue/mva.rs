//! Exact mean value analysis of a closed network (M. Reiser and S. S. Lavenberg, *Mean-value
//! analysis of closed multichain queuing networks*, Journal of the ACM 27, 1980), for one class
//! of customers.
//!
//! It rests on the arrival theorem: who arrives at a station finds the queue that would be there
//! without him. It holds for exponential service in order of arrival, and for any service that is
//! shared equally among those present.

use super::count;
use crate::Error;
use crate::error::{not_negative, positive};

/// A place where a request spends time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Station {
    /// One server with a queue; the demand of a request there, all visits together.
    Queue(f64),
    /// As many servers as customers: nobody waits. The time of a request there.
    Delay(f64),
}

/// What a closed network does with n customers.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Requests done per unit of time.
    pub throughput: f64,
    /// How long a request takes, all stations together, without thinking.
    pub response: f64,
    /// Each station, in the caller's order.
    pub stations: Vec<At>,
}

/// One station of a [`Network`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct At {
    /// The time of a request there, with waiting.
    pub residence: f64,
    /// Customers there, on average.
    pub present: f64,
    /// The part of its time that the server is busy; for a delay, the customers there.
    pub utilisation: f64,
}

/// The network with `customers` that think for `think` on average between requests.
///
/// # Errors
/// If there is no customer, a demand or the think time is negative or not finite, or no station has
/// a demand above 0.
pub fn mva(customers: u32, think: f64, stations: &[Station]) -> Result<Network, Error> {
    count("customers", customers)?;
    let think = not_negative("think time", think)?;
    let mut total = 0.0;
    for &(Station::Queue(demand) | Station::Delay(demand)) in stations {
        total += not_negative("demand", demand)?;
    }
    positive("total demand", total)?;
    let mut present = vec![0.0; stations.len()];
    let mut residence = vec![0.0; stations.len()];
    let (mut throughput, mut response) = (0.0, 0.0);
    for n in 1..=customers {
        for ((residence, &before), &station) in residence.iter_mut().zip(&present).zip(stations) {
            *residence = match station {
                Station::Queue(demand) => demand * (1.0 + before),
                Station::Delay(time) => time,
            };
        }
        response = positive("response time", residence.iter().sum())?;
        throughput = positive("throughput", f64::from(n) / (response + think))?;
        for (present, residence) in present.iter_mut().zip(&residence) {
            *present = throughput * residence;
        }
    }
    let at = |((&station, &residence), &present): ((&Station, &f64), &f64)| {
        let (Station::Queue(demand) | Station::Delay(demand)) = station;
        At { residence, present, utilisation: throughput * demand }
    };
    let stations = stations.iter().zip(&residence).zip(&present).map(at).collect();
    Ok(Network { throughput, response, stations })
}
