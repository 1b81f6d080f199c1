//! A model under a load, played request by request ([`laws::station`]).

use super::case::{Case, Done, Kind, Spread};
use laws::station::{Clients, Demand, Request, Station, Summary, Visit, closed, open};
use laws::{Error, little};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::TAU;

/// Where the draws come from; the same plan gives the same answer.
pub(super) const SEED: u64 = 1;

/// Rounds of requests of all connections that are played before any is counted, since at first nobody is there;
/// and rounds that are counted at least.
const WARM_ROUNDS: u64 = 2;
const COUNTED_ROUNDS: u64 = 2;

/// The same of an open load, as one of this number of requests.
const WARM_ONE_OF: u64 = 10;

/// A play has its own unit of time, in which a request takes this long, unless a pause takes longer than the
/// other: whole numbers, of which the largest is bounded.
const UNITS: f64 = 1e6;
const PAUSE_UNITS: f64 = 1e11;

/// An open load in which requests are further apart than this multiple of their own time is played with that:
/// they do not meet.
const APART: f64 = 1e4;

/// How requests come to the workers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arrivals {
    /// At random at a rate per ns, whatever becomes of those before them.
    Open(f64),
    /// From this number of connections, each of which thinks and waits for its answer.
    Closed(u32),
}

/// Returns how many requests are counted on a machine with this number of connections.
pub(super) fn counted(connections: u32, least: u64) -> u64 {
    (COUNTED_ROUNDS * u64::from(connections)).max(least)
}

/// Returns what this number of workers does, in ns.
///
/// # Errors
/// What [`laws::station`] refuses.
pub(super) fn done(case: &Case<'_>, arrivals: Arrivals, workers: u32) -> Result<Done, Error> {
    let unit_ns = unit_ns(case);
    let play = play(case, arrivals, workers, unit_ns)?;
    let response = play.response.mean_ns().unwrap_or(0.0) * unit_ns;
    let queued = play.queued.mean_ns().unwrap_or(0.0) * unit_ns;
    let throughput = match arrivals {
        Arrivals::Open(rate) => rate,
        // The interactive response time law: all connections think or wait for an answer.
        Arrivals::Closed(connections) => {
            little::throughput(f64::from(connections), response + case.load.think_ns)?
        }
    };
    let wait = match case.kind {
        Kind::Pool => queued,
        Kind::Each => 0.0,
        // In an event loop what waits has no thread, and does not wait for one.
        Kind::Loop => (queued - case.idle_ns).max(0.0),
    };
    Ok(Done {
        workers,
        holders: workers,
        least: 1,
        throughput,
        // The draws may have asked for a little less than their mean.
        cpus: (throughput * case.cpu_ns).min(f64::from(case.cpus)),
        busy: little::present(throughput, (response - wait).max(0.0))?,
        wait,
        response,
        p95: play.response.quantile_ns(0.95)?.unwrap_or(0) as f64 * unit_ns,
        rate_most: None,
    })
}

/// Returns the unit of time of a play, in ns.
fn unit_ns(case: &Case<'_>) -> f64 {
    ((case.idle_ns + case.cpu_ns) / UNITS).max(case.load.think_ns / PAUSE_UNITS)
}

/// Returns the visits in units of time.
fn play(case: &Case<'_>, arrivals: Arrivals, workers: u32, unit_ns: f64) -> Result<Summary, Error> {
    let place = match case.kind {
        Kind::Pool => Station::pool(workers, case.cpus),
        Kind::Each => Station::worker_each(case.cpus),
        Kind::Loop => Station::event_loop(1, 1),
    };
    let [mut comes, mut needs] = [SEED, SEED + 1].map(ChaCha8Rng::seed_from_u64);
    let mut demand = || {
        let times = drawn(&mut needs, case.spread) / unit_ns;
        let cpu = times * (case.cpu_ns - case.added_ns) + case.added_ns / unit_ns;
        Demand { wait_ns: (times * case.idle_ns).round() as u64, cpu_ns: cpu.round() as u64 }
    };
    let mut summary = Summary::default();
    match arrivals {
        Arrivals::Open(rate) => {
            let warm = case.counted / WARM_ONE_OF;
            let apart = (1.0 / rate / unit_ns).min(APART * UNITS);
            let mut at_ns = 0.0;
            let request = |_| {
                at_ns += apart * drawn(&mut comes, Spread::Exponential);
                Request { at_ns: at_ns as u64, connection: 0, demand: demand() }
            };
            let requests = (0..warm + case.counted).map(request);
            open(&place, requests, |visit| note(&mut summary, visit, warm, u64::MAX))?;
        }
        Arrivals::Closed(connections) => {
            let think_ns = case.load.think_ns / unit_ns;
            let think = || (drawn(&mut comes, Spread::Exponential) * think_ns).round() as u64;
            let warm = WARM_ROUNDS * u64::from(connections);
            let last = warm + counted(connections, case.counted);
            // While the counted ones are served, others must go on coming.
            let requests = Some(last + u64::from(connections));
            let clients = Clients { connections, requests, until_ns: None };
            closed(
                &place,
                &clients,
                think,
                |_| demand(),
                |visit| {
                    note(&mut summary, visit, warm, last);
                },
            )?;
        }
    }
    Ok(summary)
}

/// Adds a visit whose number is within these.
fn note(summary: &mut Summary, visit: &Visit, from: u64, until: u64) {
    if (from..until).contains(&visit.number) {
        summary.record(visit);
    }
}

/// Draws a number with the mean 1.
fn drawn(draws: &mut ChaCha8Rng, spread: Spread) -> f64 {
    let mut exponential = || -(1.0 - draws.random::<f64>()).ln();
    match spread {
        Spread::Equal => 1.0,
        Spread::Exponential => exponential(),
        // By the method of Box and Muller.
        Spread::Lognormal(deviation) => {
            let radius = (2.0 * exponential()).sqrt();
            let normal = radius * (TAU * draws.random::<f64>()).cos();
            (deviation * normal - deviation * deviation / 2.0).exp()
        }
    }
}
