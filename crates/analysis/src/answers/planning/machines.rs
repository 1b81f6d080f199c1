//! Connections spread evenly over machines that are alike, by simulation of one of them.
//!
//! Machines that share nothing but what sends them connections do not disturb one another: what the
//! fullest of them does, none does worse. It is played request by request (`laws::station`), with
//! the costs that this session measured, and percentiles are counted where formulas take them from
//! the mean.

use super::case::{Case, Done, Kind, THROUGHPUT_PART, WORKERS_MAX, least};
use super::pools::{Arrivals, Pools};
use laws::station::{Clients, Demand, Station, Summary, closed};
use laws::{Error, little};
use model::Refusal;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The most connections of one machine.
pub(super) const EACH_MAX: u32 = 1_000_000;

/// The most CPUs of a machine that is simulated.
pub(super) const CPUS_SIMULATED_MAX: u32 = 256;

/// Where the draws come from; the same plan gives the same answer.
pub(super) const SEED: u64 = 1;

/// Rounds of requests of all connections that are played before any is counted: at first nobody is
/// there.
const WARM_ROUNDS: u64 = 2;

/// Requests that are counted at least, and rounds.
const COUNTED: u64 = 100_000;
const COUNTED_ROUNDS: u64 = 2;

/// Returns how many requests are counted on a machine with this number of connections.
pub(super) fn counted(connections: u32) -> u64 {
    (COUNTED_ROUNDS * u64::from(connections)).max(COUNTED)
}

/// Returns what a machine does with this number of connections.
pub(super) fn done(case: &Case<'_>, connections: u32) -> Result<Result<Done, Refusal>, Error> {
    let workers = match case.kind {
        Kind::Pool => pool(case, connections)?,
        Kind::Each => connections,
        Kind::Loop => 1,
    };
    let play = play(case, connections, workers)?;
    let holders = if case.kind == Kind::Pool { workers } else { connections };
    let response = play.response.mean_ns().unwrap_or(0.0);
    // The interactive response time law: all connections think or wait for an answer.
    let cycle = response + case.load.think_ns;
    let throughput = little::throughput(f64::from(connections), cycle)?;
    let queued = play.queued.mean_ns().unwrap_or(0.0);
    // In an event loop what waits has no thread, and does not wait for one.
    let wait = if case.kind == Kind::Loop { (queued - case.idle_ns).max(0.0) } else { queued };
    Ok(Ok(Done {
        workers,
        holders,
        least: 1,
        throughput,
        // The draws may have asked for a little less than their mean.
        cpus: (throughput * case.cpu_ns).min(f64::from(case.cpus)),
        busy: little::present(throughput, response - queued)?,
        wait,
        response,
        p95: play.response.quantile_ns(0.95)?.unwrap_or(0) as f64,
        rate_most: None,
    }))
}

/// Returns the workers given, or the fewest that do nearly what one for each connection would, by formula:
/// the simulation then says what they really do.
fn pool(case: &Case<'_>, connections: u32) -> Result<u32, Error> {
    if let Some(given) = case.load.workers {
        return Ok(given);
    }
    let most = connections.min(WORKERS_MAX);
    let pools = Pools::new(case, most);
    let steady = |workers| pools.steady(Arrivals::Closed(connections), workers);
    let all = steady(most)?.throughput;
    let enough = |workers| {
        let found = steady(workers)?;
        Ok(found.throughput >= THROUGHPUT_PART * all && found.waits_little(case.load))
    };
    Ok(least(1, most, enough)?.unwrap_or(most))
}

/// Draws a time that scatters as exponential ones do.
fn exponential(draws: &mut ChaCha8Rng, mean_ns: f64) -> u64 {
    (-(1.0 - draws.random::<f64>()).ln() * mean_ns).round() as u64
}

fn play(case: &Case<'_>, connections: u32, workers: u32) -> Result<Summary, Error> {
    let place = match case.kind {
        Kind::Pool => Station::pool(workers, case.cpus),
        Kind::Each => Station::worker_each(case.cpus),
        Kind::Loop => Station::event_loop(1, 1),
    };
    let [mut thinks, mut asks] = [SEED, SEED + 1].map(ChaCha8Rng::seed_from_u64);
    let think = || exponential(&mut thinks, case.load.think_ns);
    let demand = |_| Demand {
        wait_ns: exponential(&mut asks, case.idle_ns),
        cpu_ns: exponential(&mut asks, case.cpu_ns),
    };
    let warm = WARM_ROUNDS * u64::from(connections);
    let last = warm + counted(connections);
    let clients = Clients {
        connections,
        // While the counted ones are served, others must go on coming.
        requests: Some(last + u64::from(connections)),
        until_ns: None,
    };
    let mut summary = Summary::default();
    closed(&place, &clients, think, demand, |visit| {
        if (warm..last).contains(&visit.number) {
            summary.record(visit);
        }
    })?;
    Ok(summary)
}
