//! A measured load, played again: its own arrivals into a simulated station, and what came out of
//! either side by side.
//!
//! The station knows one number of the server that it imitates, what a request asks for, and that
//! number is not taken from the load that it is held against but from another one that saturated the
//! server ([`demand_at_saturation`]). What the response time has beside it, such as two ways through
//! the kernel, is taken from a request alone ([`outside`]).

use super::{Demand, Request, Station, Totals, Visit, open_all};
use crate::Error;
use crate::error::{not_negative, positive, representable};

/// Returns what a request asks of each of `servers` that were always busy at a throughput in answers
/// per second, in ns: S = c/X, the utilisation law U = X·S/c at U = 1 (Denning and Buzen, *The
/// operational analysis of queueing network models*, ACM Computing Surveys 10, 1978).
///
/// `servers` are whatever was saturated: workers, CPUs, or the connections of a closed loop where
/// each request had a worker of its own.
///
/// # Errors
/// If the throughput is not above 0, or there is no server.
pub fn demand_at_saturation(throughput_per_s: f64, servers: u32) -> Result<f64, Error> {
    let rate = positive("throughput", throughput_per_s)?;
    let servers = positive("servers", f64::from(servers))?;
    representable("the demand of a request", servers / rate * 1e9)
}

/// The part of a response time that is not spent at the station, in ns: what a request alone took,
/// less what it asks for. 0 where it took less, as it may where a saturated server does worse.
///
/// # Errors
/// If a number is not finite or negative.
pub fn outside(alone_ns: f64, demand_ns: f64) -> Result<f64, Error> {
    let alone = not_negative("the response time of a request alone", alone_ns)?;
    Ok((alone - not_negative("the demand of a request", demand_ns)?).max(0.0))
}

/// A request as it was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// When it came, in ns.
    pub at_ns: u64,
    /// When its answer was there, in ns; `None` if none came.
    pub done_ns: Option<u64>,
    /// The connection that brought it.
    pub connection: u32,
}

/// A number as it was measured and as it was predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// As measured.
    pub measured: f64,
    /// As predicted.
    pub predicted: f64,
}

impl Pair {
    /// predicted / measured − 1; `None` where 0 was measured.
    pub fn error(&self) -> Option<f64> {
        (self.measured > 0.0).then(|| self.predicted / self.measured - 1.0)
    }
}

/// How far predicted response times are from measured ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residuals {
    /// Requests that were answered in both.
    pub both: u64,
    /// Requests that were answered in the measurement alone.
    pub measured_alone: u64,
    /// Requests that were answered in the simulation alone.
    pub predicted_alone: u64,
    /// The mean response time of those in both, in ns.
    pub mean_ns: Pair,
    /// The response time that half of those do not exceed, in ns.
    pub p50_ns: Pair,
    /// The response time that 99 % of those do not exceed, in ns.
    pub p99_ns: Pair,
    /// |predicted − measured| / measured of single requests: what half of them do not exceed.
    pub each_p50: f64,
    /// What 99 % of them do not exceed.
    pub each_p99: f64,
}

/// What a simulation says of a measured load.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// When each request is predicted to be answered, in ns; `None` if never.
    pub done_ns: Vec<Option<u64>>,
    /// The station's view of each request, without what is outside of it.
    pub visits: Vec<Visit>,
    /// What the simulation adds up to.
    pub totals: Totals,
    /// How far it is from what was measured; `None` if no request was answered in both.
    pub residuals: Option<Residuals>,
}

/// Plays the requests of a measured load, in the order of their coming, at a station where the
/// request of each number asks for its `demand`; `outside_ns` is added to each stay.
///
/// # Errors
/// As [`super::open`]; [`Error::Wrong`] if a request was answered before it came.
pub fn predict(
    station: &Station,
    observed: &[Observed],
    mut demand: impl FnMut(usize) -> Demand,
    outside_ns: u64,
) -> Result<Prediction, Error> {
    for one in observed {
        if let Some(done_ns) = one.done_ns.filter(|done_ns| *done_ns < one.at_ns) {
            let right = "at or after the arrival";
            let what = "the answer of a request in ns";
            return Err(Error::Wrong { what, value: done_ns as f64, right });
        }
    }
    let request = |(number, one): (usize, &Observed)| Request {
        at_ns: one.at_ns,
        connection: one.connection,
        demand: demand(number),
    };
    let requests: Vec<Request> = observed.iter().enumerate().map(request).collect();
    let (visits, totals) = open_all(station, &requests)?;
    let done = |visit: &Visit| {
        visit.response_ns().map(|ns| visit.came_ns.saturating_add(ns).saturating_add(outside_ns))
    };
    let done_ns: Vec<Option<u64>> = visits.iter().map(done).collect();
    let residuals = residuals(observed, &done_ns);
    Ok(Prediction { done_ns, visits, totals, residuals })
}

fn residuals(observed: &[Observed], predicted: &[Option<u64>]) -> Option<Residuals> {
    let (mut measured_alone, mut predicted_alone) = (0, 0);
    let (mut measured, mut simulated, mut each) = (Vec::new(), Vec::new(), Vec::new());
    for (one, predicted) in observed.iter().zip(predicted) {
        match (one.done_ns, *predicted) {
            (Some(done_ns), Some(predicted_ns)) => {
                let (was, is) = ((done_ns - one.at_ns) as f64, (predicted_ns - one.at_ns) as f64);
                measured.push(was);
                simulated.push(is);
                // What took no time at all was right, or infinitely wrong.
                let off = (is - was).abs();
                each.push(if off == 0.0 { 0.0 } else { off / was });
            }
            (Some(_), None) => measured_alone += 1,
            (None, Some(_)) => predicted_alone += 1,
            (None, None) => {}
        }
    }
    if measured.is_empty() {
        return None;
    }
    for times in [&mut measured, &mut simulated, &mut each] {
        times.sort_unstable_by(f64::total_cmp);
    }
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
    let pair =
        |of: &dyn Fn(&[f64]) -> f64| Pair { measured: of(&measured), predicted: of(&simulated) };
    Some(Residuals {
        both: measured.len() as u64,
        measured_alone,
        predicted_alone,
        mean_ns: pair(&mean),
        p50_ns: pair(&|times| quantile(times, 0.5)),
        p99_ns: pair(&|times| quantile(times, 0.99)),
        each_p50: quantile(&each, 0.5),
        each_p99: quantile(&each, 0.99),
    })
}

/// The least of sorted numbers, of which there is one at least, that a share of them does not exceed.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}
