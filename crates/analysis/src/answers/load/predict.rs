//! A measured load beside a simulated one: the play of an open loop's very arrivals.

use crate::stats::order::mean;
use laws::station::{Demand, Request, Station, Visit, open_all};
use laws::{Error, queue};
use model::{
    PredictedByFormula, PredictedLoad, PredictedTime, ServerDemand, ServerKind, ServerLimit,
};

/// The part of a load's time whose requests are played and not compared.
const FIRST_PART: f64 = 0.1;

/// A model of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Model {
    pub(super) server: ServerKind,
    /// Whether a worker that took a connection serves no other.
    pub(super) bound: bool,
}

/// Returns how many requests can compute at once.
pub(super) fn computing(server: ServerKind, cpus: u32) -> u32 {
    match server {
        ServerKind::Single => 1,
        ServerKind::Pool(threads) | ServerKind::EventLoop(threads) => threads.min(cpus),
        ServerKind::Each => cpus,
    }
}

/// Returns the queue that a server is taken for.
fn station(model: Model, cpus: u32) -> Station {
    let station = match model.server {
        ServerKind::Single => Station::servers(1),
        ServerKind::Pool(workers) => Station::pool(workers, cpus),
        ServerKind::Each => Station::worker_each(cpus),
        ServerKind::EventLoop(threads) => Station::event_loop(threads, cpus.min(threads)),
    };
    if model.bound { station.bound() } else { station }
}

/// A request as it was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeasuredRequest {
    /// When it came, in ns.
    pub at_ns: u64,
    /// When its answer was there, in ns; `None` if none came.
    pub done_ns: Option<u64>,
    /// The connection that brought it.
    pub connection: u32,
    /// Whether its answer had a status of 400 or above.
    pub refused: bool,
}

/// What was measured of one load.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredLoad<'a> {
    /// Requests per second that were to come, at random (a Poisson process).
    pub per_s: f64,
    /// That as a part of the highest throughput.
    pub utilisation: f64,
    /// Every request, in the order of their coming.
    pub requests: &'a [MeasuredRequest],
    /// What makes it doubtful.
    pub doubts: &'a [String],
}

/// Plays a measured load's arrivals at the queue that the server is taken for. Returns what is to be said of
/// it, and when each request is predicted to be answered, in ns; `None` if never.
///
/// # Errors
/// What [`laws::station::open`] refuses: more workers or CPUs than it can play; and a request that was answered
/// before it came.
pub(super) fn played(
    model: Model,
    demand: &ServerDemand,
    load: &MeasuredLoad<'_>,
) -> Result<(PredictedLoad, Vec<Option<u64>>), Error> {
    let queue = station(model, demand.cpus);
    let asks = Demand { wait_ns: demand.wait_ns, cpu_ns: demand.cpu_ns };
    let done_ns = play(&queue, load.requests, asks, demand.outside_ns)?;
    let described = PredictedLoad {
        per_s: load.per_s,
        utilisation: load.utilisation,
        formula: formula(model, demand, load.per_s),
        doubts: load.doubts.to_vec(),
        ..compared(load.requests, &done_ns)
    };
    Ok((described, done_ns))
}

/// Returns when each request of a measured load is predicted to be answered, in ns, if it asks for
/// `demand` at a station and for `outside_ns` beyond it; `None` if never.
fn play(
    station: &Station,
    measured: &[MeasuredRequest],
    demand: Demand,
    outside_ns: u64,
) -> Result<Vec<Option<u64>>, Error> {
    let too_early = |one: &MeasuredRequest| one.done_ns.filter(|done_ns| *done_ns < one.at_ns);
    if let Some(done_ns) = measured.iter().find_map(too_early) {
        let (what, right) = ("the answer of a request in ns", "at or after the arrival");
        return Err(Error::Wrong { what, value: done_ns as f64, right });
    }
    let request =
        |one: &MeasuredRequest| Request { at_ns: one.at_ns, connection: one.connection, demand };
    let requests: Vec<Request> = measured.iter().map(request).collect();
    let done = |visit: &Visit| {
        visit.response_ns().map(|ns| visit.came_ns.saturating_add(ns).saturating_add(outside_ns))
    };
    Ok(open_all(station, &requests)?.0.iter().map(done).collect())
}

/// Returns how far predicted response times are from measured ones, of the requests that were answered
/// in both and did not come first, when connections are opened.
fn compared(measured: &[MeasuredRequest], predicted: &[Option<u64>]) -> PredictedLoad {
    let last_ns = measured.last().map_or(0, |one| one.at_ns);
    let from = measured.partition_point(|one| (one.at_ns as f64) < FIRST_PART * last_ns as f64);
    let (measured, predicted) = (&measured[from..], &predicted[from..]);
    let response =
        |one: &MeasuredRequest, done_ns: Option<u64>| Some((done_ns? - one.at_ns) as f64);
    let pairs = measured.iter().zip(predicted);
    let both = pairs.filter_map(|(one, done)| response(one, one.done_ns).zip(response(one, *done)));
    let (mut was, mut is): (Vec<f64>, Vec<f64>) = both.unzip();
    // What took no time at all was right, or infinitely wrong.
    let off = |(was, is): (&f64, &f64)| if is == was { 0.0 } else { (is - was).abs() / was };
    let mut each: Vec<f64> = was.iter().zip(&is).map(off).collect();
    for times in [&mut was, &mut is, &mut each] {
        times.sort_unstable_by(f64::total_cmp);
    }
    let time = |of: &dyn Fn(&[f64]) -> Option<f64>| {
        let (measured_ns, predicted_ns) = (of(&was)?, of(&is)?);
        let (low_ns, high_ns) = (predicted_ns, predicted_ns);
        Some(PredictedTime { measured_ns, predicted_ns, low_ns, high_ns })
    };
    let answered = measured.iter().filter(|one| one.done_ns.is_some()).count();
    PredictedLoad {
        requests: measured.len() as u64,
        measured_alone: (answered - was.len()) as u64,
        predicted_alone: (predicted.iter().flatten().count() - was.len()) as u64,
        mean: time(&mean),
        p50: time(&|times| least_of(times, 0.5)),
        p99: time(&|times| least_of(times, 0.99)),
        each_p50: least_of(&each, 0.5),
        each_p99: least_of(&each, 0.99),
        ..PredictedLoad::default()
    }
}

/// Returns the least of sorted numbers that a share of them does not exceed; `None` of none.
fn least_of(sorted: &[f64], share: f64) -> Option<f64> {
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// Returns what a formula says of the mean, where the server is one of those that have one: every request
/// asks for the same, and comes at random.
fn formula(model: Model, demand: &ServerDemand, per_s: f64) -> Option<PredictedByFormula> {
    let server = model.server;
    let held_ns = (demand.wait_ns + demand.cpu_ns) as f64;
    // Half of M/M/c's wait where service takes always as long: exact for one server (Pollaczek and
    // Khinchine), and Lee and Longton's (1959) approximation for more.
    let constant = |servers: u32, service_ns: f64| {
        let steady = queue::many::mmc(per_s / 1e9, service_ns, servers).ok()?;
        let name = if servers == 1 { "M/D/1" } else { "M/D/c, about" };
        Some((name, steady.wait / 2.0))
    };
    let (name, waits_ns) = match (demand.limit, server) {
        _ if model.bound => None,
        (ServerLimit::Nothing, _) => Some(("M/D/\u{221e}", 0.0)),
        (ServerLimit::Workers, ServerKind::Pool(workers)) => constant(workers, held_ns),
        (ServerLimit::Workers, _) => constant(1, held_ns),
        (ServerLimit::Cpu, ServerKind::EventLoop(_)) => {
            constant(computing(server, demand.cpus), demand.cpu_ns as f64)
        }
        // Processor sharing has the mean of M/M/c, whatever the distribution (Kleinrock 1976).
        (ServerLimit::Cpu, ServerKind::Each) => {
            let steady = queue::many::mmc(per_s / 1e9, demand.cpu_ns as f64, demand.cpus).ok()?;
            Some(("M/G/c, shared", steady.wait))
        }
        (ServerLimit::Cpu, _) => None,
    }?;
    let mean_ns = held_ns + demand.outside_ns as f64 + waits_ns;
    Some(PredictedByFormula { name: name.into(), mean_ns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use laws::station::Station;

    const MS: u64 = 1_000_000;

    fn demand(limit: ServerLimit, wait_ns: u64, cpu_ns: u64, cpus: u32) -> ServerDemand {
        ServerDemand { limit, wait_ns, cpu_ns, outside_ns: 5, cpus }
    }

    /// A server that is exactly what it is taken for is predicted to the nanosecond.
    #[test]
    fn its_own_play_is_predicted_exactly() {
        for (server, limit) in [
            (ServerKind::Single, ServerLimit::Workers),
            (ServerKind::Pool(4), ServerLimit::Workers),
            (ServerKind::Each, ServerLimit::Cpu),
            (ServerKind::EventLoop(1), ServerLimit::Cpu),
        ] {
            let model = Model { server, bound: false };
            let asks = Demand { wait_ns: MS, cpu_ns: MS };
            let mut requests: Vec<_> = (0..400_u64)
                .map(|n| Request { at_ns: n * n * 977 % (400 * MS), connection: 0, demand: asks })
                .collect();
            requests.sort_by_key(|request| request.at_ns);
            let (visits, _) = open_all(&station(model, 1), &requests).unwrap();
            let observed: Vec<MeasuredRequest> = visits
                .iter()
                .map(|visit| MeasuredRequest {
                    at_ns: visit.came_ns,
                    done_ns: visit.response_ns().map(|ns| visit.came_ns + ns + 5),
                    ..MeasuredRequest::default()
                })
                .collect();
            let load =
                MeasuredLoad { per_s: 400.0, utilisation: 0.8, requests: &observed, doubts: &[] };
            let (found, done_ns) = played(model, &demand(limit, MS, MS, 1), &load).unwrap();
            assert_eq!(found.mean.and_then(|it| it.error()), Some(0.0), "{server:?}");
            let first = |one: &&MeasuredRequest| one.at_ns < requests[399].at_ns / 10;
            let counted = 400 - observed.iter().filter(first).count() as u64;
            assert!(counted < 380);
            assert_eq!((found.each_p99, found.requests), (Some(0.0), counted));
            assert_eq!((found.measured_alone, found.predicted_alone), (0, 0));
            assert!(found.formula.is_some(), "{server:?}");
            assert_eq!(done_ns.iter().flatten().count(), 400);
        }
    }

    #[test]
    fn formulas_are_those_of_the_queues() {
        let of = |server, demand: &ServerDemand, per_s| {
            formula(Model { server, bound: false }, demand, per_s)
        };
        let waits = ServerDemand { outside_ns: MS, ..demand(ServerLimit::Workers, 10 * MS, 0, 1) };
        // M/D/1 at half its capacity waits S/2 · ρ/(1 − ρ) = 5 ms.
        let found = of(ServerKind::Single, &waits, 50.0).unwrap();
        assert_eq!(found.name, "M/D/1");
        assert!((found.mean_ns - 16e6).abs() < 1.0, "{}", found.mean_ns);
        // Nothing is known where there is no steady state, or workers stay with connections.
        assert_eq!(of(ServerKind::Single, &waits, 100.0), None);
        assert_eq!(formula(Model { server: ServerKind::Single, bound: true }, &waits, 50.0), None);
        // Shared by two CPUs at ρ = 1/2: M/M/2 waits S ρ²/(1 − ρ²) = S/3.
        let shared = ServerDemand { outside_ns: MS, ..demand(ServerLimit::Cpu, 0, 10 * MS, 2) };
        let found = of(ServerKind::Each, &shared, 100.0).unwrap();
        assert!((found.mean_ns - (11.0 + 10.0 / 3.0) * 1e6).abs() < 1.0, "{}", found.mean_ns);
    }

    #[test]
    fn who_was_answered_in_one_of_both_is_counted_apart() {
        let of = |at_ns: u64, done_ns: Option<u64>, connection| MeasuredRequest {
            at_ns,
            done_ns,
            connection,
            refused: false,
        };
        let cpu = |cpu_ns| Demand { wait_ns: 0, cpu_ns };
        let observed = [of(5, Some(15), 0), of(5, Some(45), 1), of(10, None, 0), of(11, None, 1)];
        // One worker for two connections: the second starves.
        let station = Station::servers(1).bound();
        let done_ns = play(&station, &observed, cpu(20), 5).unwrap();
        assert_eq!(done_ns, [Some(30), None, Some(50), None]);
        let found = compared(&observed, &done_ns);
        // One request in both, one in each alone.
        assert_eq!((found.requests, found.measured_alone, found.predicted_alone), (4, 1, 1));
        let mean = found.mean.unwrap();
        assert_eq!((mean.measured_ns, mean.predicted_ns), (10.0, 25.0));
        assert_eq!((mean.error(), found.each_p50, found.p99), (Some(1.5), Some(1.5), Some(mean)));
        // Nothing to compare.
        assert_eq!(play(&station, &[], cpu(1), 0), Ok(Vec::new()));
        assert_eq!(compared(&[], &[]), PredictedLoad::default());
        assert_eq!(PredictedTime { measured_ns: 0.0, ..mean }.error(), None);
        // An answer before the question, and one out of order.
        assert!(play(&station, &[of(5, Some(4), 0)], cpu(1), 0).is_err());
        assert!(play(&station, &[of(5, None, 0), of(4, None, 0)], cpu(1), 0).is_err());
    }
}
