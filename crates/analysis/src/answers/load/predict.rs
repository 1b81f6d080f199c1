//! A measured load beside a simulated one: what a request asks of a server, learned from two closed
//! loops, and the play of an open loop's very arrivals.

use crate::stats::order::mean;
use laws::station::{Demand, Request, Station, Visit, open_all};
use laws::{Error, queue};
use model::{
    PredictedByFormula, PredictedLoad, PredictedTime, ServerDemand, ServerKind, ServerLimit,
};

/// So much longer than alone, as a factor, a request may take while all its fellows are served, for
/// them not to be in each other's way.
const UNHINDERED: f64 = 1.25;

/// The closed loop that got the most answers from a server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saturated {
    /// Its connections.
    pub connections: u32,
    /// Answers per second.
    pub throughput_per_s: f64,
    /// CPU time that others than the generator used meanwhile, per answer, in ns; `None` where it is
    /// unknown.
    pub cpu_seen_ns: Option<f64>,
}

/// Returns how many CPUs a saturated server used, to the next whole number, at least 1 and at most `most`;
/// `most` where it is unknown.
pub fn cpus_seen(saturated: &Saturated, most: u32) -> u32 {
    let busy = |cpu_ns: f64| cpu_ns * saturated.throughput_per_s / 1e9;
    saturated.cpu_seen_ns.map_or(most, |cpu_ns| busy(cpu_ns).round().clamp(1.0, most.into()) as u32)
}

/// Returns what a request asks of a server, from the mean response time of one at a time and from a closed
/// loop that saturated it: S = c / X, the utilisation law at U = 1 (Denning and Buzen 1978).
///
/// If as many requests as are served at once take about as long each as one alone, c is the number of
/// workers, and what a worker does meanwhile is not asked; else those are in each other's way, and c is
/// the number of CPUs that they can use. What a request alone takes beyond a worker's time is outside
/// of the server; beyond CPU time it is a wait.
///
/// `None` if there was no answer.
pub fn server_demand(
    server: ServerKind,
    cpus: u32,
    alone_ns: f64,
    saturated: &Saturated,
) -> Option<ServerDemand> {
    let throughput = saturated.throughput_per_s;
    let each = |servers: u32| f64::from(servers) / throughput * 1e9;
    // Of those served at once, each takes so long; a single worker cannot be in its own way.
    let workers = match server {
        ServerKind::Single => Some(1),
        ServerKind::Pool(workers) => Some(workers.min(saturated.connections)),
        ServerKind::Each | ServerKind::EventLoop(_) => None,
    };
    let at_once = workers.unwrap_or(saturated.connections);
    let possible = |number: f64| number > 0.0 && number.is_finite();
    if !(possible(throughput) && possible(each(at_once)) && possible(alone_ns)) {
        return None;
    }
    let unhindered = at_once == 1 && workers.is_some() || each(at_once) <= UNHINDERED * alone_ns;
    let limit = match (unhindered, workers) {
        (false, _) => ServerLimit::Cpu,
        (true, Some(_)) => ServerLimit::Workers,
        (true, None) => ServerLimit::Nothing,
    };
    let (held_ns, cpu_ns) = match limit {
        // What they compute meanwhile is part of what holds them. CPU time that was seen is no better:
        // a neighbour's would be taken for theirs.
        ServerLimit::Workers => (each(at_once), 0.0),
        ServerLimit::Nothing => (alone_ns, 0.0),
        ServerLimit::Cpu => {
            let cpu = each(computing(server, cpus));
            (alone_ns.max(cpu), cpu)
        }
    };
    Some(ServerDemand {
        alone_ns,
        connections: saturated.connections,
        throughput_per_s: throughput,
        cpu_seen_ns: saturated.cpu_seen_ns,
        limit,
        wait_ns: (held_ns - cpu_ns).round() as u64,
        cpu_ns: cpu_ns.round() as u64,
        outside_ns: (alone_ns - held_ns).max(0.0).round() as u64,
    })
}

/// Returns how many requests can compute at once.
fn computing(server: ServerKind, cpus: u32) -> u32 {
    match server {
        ServerKind::Single => 1,
        ServerKind::Pool(threads) | ServerKind::EventLoop(threads) => threads.min(cpus),
        ServerKind::Each => cpus,
    }
}

/// Returns the queue that a server is taken for.
fn station(server: ServerKind, cpus: u32, keep_alive: bool) -> Station {
    match server {
        ServerKind::Single if keep_alive => Station::servers(1).bound(),
        ServerKind::Single => Station::servers(1),
        ServerKind::Pool(workers) if keep_alive => Station::pool(workers, cpus).bound(),
        ServerKind::Pool(workers) => Station::pool(workers, cpus),
        ServerKind::Each => Station::worker_each(cpus),
        ServerKind::EventLoop(threads) => Station::event_loop(threads, cpus.min(threads)),
    }
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
}

/// What was measured of one load.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredLoad<'a> {
    /// Requests per second that were to come.
    pub per_s: f64,
    /// Whether they came at random (a Poisson process), which the formulas ask for.
    pub random: bool,
    /// Whether a connection brings more than one request.
    pub keep_alive: bool,
    /// Every request, in the order of their coming.
    pub requests: &'a [MeasuredRequest],
    /// What makes it doubtful.
    pub doubts: &'a [String],
}

/// A load that was played.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedLoad {
    /// What is to be said of it.
    pub load: PredictedLoad,
    /// When each request is predicted to be answered, in the order of the measured ones, in ns; `None`
    /// if never.
    pub done_ns: Vec<Option<u64>>,
}

/// Plays a measured load's arrivals at the queue that the server is taken for.
///
/// # Errors
/// What [`laws::station::open`] refuses, in words: more workers or CPUs than it can play; and a request
/// that was answered before it came.
pub fn predicted_load(
    server: ServerKind,
    cpus: u32,
    demand: &ServerDemand,
    load: &MeasuredLoad<'_>,
) -> Result<PlayedLoad, String> {
    let queue = station(server, cpus, load.keep_alive);
    let asks = Demand { wait_ns: demand.wait_ns, cpu_ns: demand.cpu_ns };
    let done_ns = play(&queue, load.requests, asks, demand.outside_ns);
    let done_ns = done_ns.map_err(|error| error.to_string())?;
    let described = PredictedLoad {
        per_s: load.per_s,
        utilisation: load.per_s / demand.throughput_per_s,
        formula: load.random.then(|| formula(server, cpus, demand, load)).flatten(),
        doubts: load.doubts.to_vec(),
        ..compared(load.requests, &done_ns)
    };
    Ok(PlayedLoad { load: described, done_ns })
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
/// in both.
fn compared(measured: &[MeasuredRequest], predicted: &[Option<u64>]) -> PredictedLoad {
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
        Some(PredictedTime { measured_ns: of(&was)?, predicted_ns: of(&is)? })
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
fn formula(
    server: ServerKind,
    cpus: u32,
    demand: &ServerDemand,
    load: &MeasuredLoad<'_>,
) -> Option<PredictedByFormula> {
    let held_ns = (demand.wait_ns + demand.cpu_ns) as f64;
    // Half of M/M/c's wait where service takes always as long: exact for one server (Pollaczek and
    // Khinchine), and Lee and Longton's (1959) approximation for more.
    let constant = |servers: u32, service_ns: f64| {
        let steady = queue::many::mmc(load.per_s / 1e9, service_ns, servers).ok()?;
        let name = if servers == 1 { "M/D/1" } else { "M/D/c, about" };
        Some((name, steady.wait / 2.0))
    };
    let bound = load.keep_alive && matches!(server, ServerKind::Single | ServerKind::Pool(_));
    let (name, waits_ns) = match (demand.limit, server) {
        _ if bound => None,
        (ServerLimit::Nothing, _) => Some(("M/D/\u{221e}", 0.0)),
        (ServerLimit::Workers, ServerKind::Pool(workers)) => constant(workers, held_ns),
        (ServerLimit::Workers, _) => constant(1, held_ns),
        (ServerLimit::Cpu, ServerKind::EventLoop(_)) => {
            constant(computing(server, cpus), demand.cpu_ns as f64)
        }
        // Processor sharing has the mean of M/M/c, whatever the distribution (Kleinrock 1976).
        (ServerLimit::Cpu, ServerKind::Each) => {
            let steady = queue::many::mmc(load.per_s / 1e9, demand.cpu_ns as f64, cpus).ok()?;
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
    use laws::station::{Clients, closed};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    const MS: u64 = 1_000_000;

    fn saturated(connections: u32, throughput_per_s: f64, cpu_ns: f64) -> Saturated {
        Saturated { connections, throughput_per_s, cpu_seen_ns: Some(cpu_ns) }
    }

    fn of(server: ServerKind, cpus: u32, alone_ms: f64, seen: Saturated) -> ServerDemand {
        server_demand(server, cpus, alone_ms * 1e6, &seen).unwrap()
    }

    #[test]
    fn a_pool_whose_workers_sleep_is_held_by_them() {
        // 8 workers that sleep 20 ms and compute 0.1 ms; 0.2 ms through the kernel.
        let demand = of(ServerKind::Pool(8), 1, 20.3, saturated(32, 8.0 / 20.1e-3, 0.1e6));
        assert_eq!(demand.limit, ServerLimit::Workers);
        assert_eq!((demand.wait_ns, demand.cpu_ns, demand.outside_ns), (201 * MS / 10, 0, MS / 5));
    }

    #[test]
    fn a_pool_whose_workers_compute_is_held_by_the_cpus() {
        // 8 workers that compute 10 ms and sleep 10 ms, on one CPU.
        let demand = of(ServerKind::Pool(8), 1, 20.0, saturated(32, 100.0, 10e6));
        assert_eq!(demand.limit, ServerLimit::Cpu);
        assert_eq!((demand.wait_ns, demand.cpu_ns, demand.outside_ns), (10 * MS, 10 * MS, 0));
        let two = of(ServerKind::Pool(8), 2, 20.0, saturated(32, 200.0, 10e6));
        assert_eq!((two.wait_ns, two.cpu_ns), (10 * MS, 10 * MS));
    }

    #[test]
    fn what_nothing_holds_takes_as_long_as_alone() {
        let demand = of(ServerKind::EventLoop(1), 1, 20.0, saturated(64, 64.0 / 21e-3, 0.1e6));
        assert_eq!(demand.limit, ServerLimit::Nothing);
        assert_eq!(demand.wait_ns + demand.cpu_ns, 20 * MS);
        let busy = of(ServerKind::EventLoop(4), 2, 20.0, saturated(1024, 20_000.0, 0.1e6));
        assert_eq!((busy.limit, busy.cpu_ns), (ServerLimit::Cpu, MS / 10));
        let each = of(ServerKind::Each, 1, 20.0, saturated(16, 50.0, 20e6));
        assert_eq!((each.limit, each.cpu_ns, each.wait_ns), (ServerLimit::Cpu, 20 * MS, 0));
    }

    #[test]
    fn a_single_worker_is_always_the_limit() {
        let demand = of(ServerKind::Single, 1, 1.0, saturated(16, 500.0, 1e6));
        assert_eq!(demand.limit, ServerLimit::Workers);
        assert_eq!((demand.wait_ns + demand.cpu_ns, demand.outside_ns), (2 * MS, 0));
        for (alone, throughput) in [(0.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
            let seen = saturated(1, throughput, 0.0);
            assert_eq!(server_demand(ServerKind::Single, 1, alone, &seen), None);
        }
    }

    #[test]
    fn cpus_are_those_that_were_busy() {
        assert_eq!(cpus_seen(&saturated(16, 100.0, 9.6e6), 8), 1);
        assert_eq!(cpus_seen(&saturated(16, 100.0, 19e6), 8), 2);
        assert_eq!(cpus_seen(&saturated(16, 100.0, 0.1e6), 8), 1);
        assert_eq!(cpus_seen(&saturated(16, 100.0, 500e6), 8), 8);
        let unknown = Saturated { cpu_seen_ns: None, ..saturated(16, 100.0, 0.0) };
        assert_eq!(cpus_seen(&unknown, 8), 8);
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
            let demand = ServerDemand {
                alone_ns: 2e6,
                connections: 64,
                throughput_per_s: 1000.0,
                cpu_seen_ns: None,
                limit,
                wait_ns: MS,
                cpu_ns: MS,
                outside_ns: 5,
            };
            let queue = station(server, 1, false);
            let requests: Vec<_> = (0..400_u64)
                .map(|n| Request {
                    at_ns: n * n * 977 % (400 * MS),
                    connection: 0,
                    demand: Demand { wait_ns: MS, cpu_ns: MS },
                })
                .collect();
            let mut requests = requests;
            requests.sort_by_key(|request| request.at_ns);
            let (visits, _) = open_all(&queue, &requests).unwrap();
            let observed: Vec<MeasuredRequest> = visits
                .iter()
                .map(|visit| MeasuredRequest {
                    at_ns: visit.came_ns,
                    done_ns: visit.response_ns().map(|ns| visit.came_ns + ns + 5),
                    connection: 0,
                })
                .collect();
            let load = MeasuredLoad {
                per_s: 400.0,
                random: true,
                keep_alive: false,
                requests: &observed,
                doubts: &[],
            };
            let found = predicted_load(server, 1, &demand, &load).unwrap().load;
            assert_eq!(found.mean.and_then(|it| it.error()), Some(0.0), "{server:?}");
            assert_eq!((found.each_p99, found.requests), (Some(0.0), 400));
            assert_eq!((found.measured_alone, found.predicted_alone), (0, 0));
            assert!(found.formula.is_some(), "{server:?}");
        }
    }

    #[test]
    fn formulas_are_those_of_the_queues() {
        let demand = ServerDemand {
            alone_ns: 10e6,
            connections: 64,
            throughput_per_s: 100.0,
            cpu_seen_ns: None,
            limit: ServerLimit::Workers,
            wait_ns: 10 * MS,
            cpu_ns: 0,
            outside_ns: MS,
        };
        let load = |per_s, random| MeasuredLoad {
            per_s,
            random,
            keep_alive: false,
            requests: &[],
            doubts: &[],
        };
        // M/D/1 at half its capacity waits S/2 · ρ/(1 − ρ) = 5 ms.
        let found = predicted_load(ServerKind::Single, 1, &demand, &load(50.0, true)).unwrap().load;
        let formula = found.formula.unwrap();
        assert_eq!(formula.name, "M/D/1");
        assert!((formula.mean_ns - 16e6).abs() < 1.0, "{}", formula.mean_ns);
        assert_eq!((found.mean, found.utilisation), (None, 0.5));
        // Nothing is known of constant intervals, nor where there is no steady state.
        for load in [load(50.0, false), load(100.0, true)] {
            let found = predicted_load(ServerKind::Single, 1, &demand, &load).unwrap().load;
            assert_eq!(found.formula, None);
        }
        // Shared by two CPUs at ρ = 1/2: M/M/2 waits S ρ²/(1 − ρ²) = S/3.
        let shared =
            ServerDemand { limit: ServerLimit::Cpu, wait_ns: 0, cpu_ns: 10 * MS, ..demand };
        let found = predicted_load(ServerKind::Each, 2, &shared, &load(100.0, true)).unwrap().load;
        let formula = found.formula.unwrap();
        assert!((formula.mean_ns - (11.0 + 10.0 / 3.0) * 1e6).abs() < 1.0, "{}", formula.mean_ns);
    }

    fn cpu(cpu_ns: u64) -> Demand {
        Demand { wait_ns: 0, cpu_ns }
    }

    fn wait(wait_ns: u64) -> Demand {
        Demand { wait_ns, cpu_ns: 0 }
    }

    /// A load at a third to nine tenths of what the station bears, as its clients see it: with
    /// `beyond_ns` on top of each stay.
    fn measured(
        station: &Station,
        busy: f64,
        demand: Demand,
        beyond_ns: u64,
    ) -> Vec<MeasuredRequest> {
        let mut draws = ChaCha8Rng::seed_from_u64(7);
        let mut at_ns = 0;
        let gap_ns = (demand.wait_ns + demand.cpu_ns) as f64 / busy;
        let request = |number: u32| {
            at_ns += (-(1.0 - draws.random::<f64>()).ln() * gap_ns) as u64;
            Request { at_ns, connection: number % 64, demand }
        };
        let requests: Vec<Request> = (0..20_000).map(request).collect();
        let (visits, _) = open_all(station, &requests).unwrap();
        let observed = visits.iter().map(|visit| MeasuredRequest {
            at_ns: visit.came_ns,
            done_ns: visit.response_ns().map(|ns| visit.came_ns + ns + beyond_ns),
            connection: visit.connection,
        });
        observed.collect()
    }

    /// What a saturated closed loop and a request alone say of a server's demand.
    fn calibrated(
        server: ServerKind,
        cpus: u32,
        keep_alive: bool,
        demand: Demand,
        alone_ns: f64,
    ) -> ServerDemand {
        let clients = Clients { connections: 64, requests: None, until_ns: Some(10_000 * MS) };
        let queue = station(server, cpus, keep_alive);
        let totals = closed(&queue, &clients, || 0, |_| demand, |_| {}).unwrap();
        let seen = saturated(64, totals.throughput_per_s().unwrap(), demand.cpu_ns as f64);
        server_demand(server, cpus, alone_ns, &seen).unwrap()
    }

    #[test]
    fn one_number_from_another_load_predicts_each_request() {
        let (work, sleep) = (cpu(2 * MS), wait(2 * MS));
        for (server, cpus, demand, busy) in [
            (ServerKind::Single, 1, work, 0.9),
            (ServerKind::Pool(8), 2, sleep, 6.0),
            (ServerKind::Each, 2, work, 1.6),
            (ServerKind::EventLoop(2), 2, work, 1.8),
            (ServerKind::EventLoop(1), 1, sleep, 5.0),
        ] {
            let beyond_ns = 40_000;
            let found = calibrated(server, cpus, false, demand, (2 * MS + beyond_ns) as f64);
            let observed = measured(&station(server, cpus, false), busy, demand, beyond_ns);
            let load = MeasuredLoad {
                per_s: busy / 2e-3,
                random: true,
                keep_alive: false,
                requests: &observed,
                doubts: &[],
            };
            let played = predicted_load(server, cpus, &found, &load).unwrap();
            let residuals = played.load;
            assert_eq!(
                (residuals.requests, residuals.measured_alone, residuals.predicted_alone),
                (20_000, 0, 0)
            );
            for pair in [residuals.mean, residuals.p50, residuals.p99] {
                let error = pair.unwrap().error().unwrap();
                assert!(error.abs() < 0.02, "{server:?}: {residuals:?}");
            }
            assert!(residuals.each_p99.unwrap() < 0.05, "{server:?}: {residuals:?}");
            assert_eq!(played.done_ns.iter().flatten().count(), 20_000);
        }
    }

    #[test]
    fn the_wrong_model_is_seen() {
        // Computing that takes turns, where the prediction serves one after the other, and the reverse.
        let work = cpu(2 * MS);
        let observed = measured(&Station::servers(1), 0.9, work, 0);
        let residuals =
            |station: Station| compared(&observed, &play(&station, &observed, work, 0).unwrap());
        let error = |found: &PredictedLoad| found.mean.unwrap().error().unwrap();
        let right = residuals(Station::servers(1));
        assert_eq!((right.each_p99, error(&right)), (Some(0.0), 0.0));
        for wrong in [Station::worker_each(1), Station::servers(2), Station::event_loop(1, 1)] {
            let found = residuals(wrong);
            let alike = wrong == Station::event_loop(1, 1);
            assert_eq!(error(&found).abs() < 0.2, alike, "{found:?}");
        }
    }

    #[test]
    fn who_was_answered_in_one_of_both_is_counted_apart() {
        let of = |at_ns: u64, done_ns: Option<u64>, connection| MeasuredRequest {
            at_ns,
            done_ns,
            connection,
        };
        let observed = [of(0, Some(10), 0), of(0, Some(40), 1), of(5, None, 0), of(6, None, 1)];
        // One worker for two connections: the second starves.
        let station = Station::servers(1).bound();
        let done_ns = play(&station, &observed, cpu(20), 5).unwrap();
        assert_eq!(done_ns, [Some(25), None, Some(45), None]);
        let found = compared(&observed, &done_ns);
        // One request in both, one in each alone.
        assert_eq!((found.requests, found.measured_alone, found.predicted_alone), (4, 1, 1));
        let mean = PredictedTime { measured_ns: 10.0, predicted_ns: 25.0 };
        assert_eq!((found.mean, found.p99), (Some(mean), Some(mean)));
        assert_eq!((mean.error(), found.each_p50), (Some(1.5), Some(1.5)));
        // Nothing to compare.
        assert_eq!(play(&station, &[], cpu(1), 0), Ok(Vec::new()));
        assert_eq!(compared(&[], &[]), PredictedLoad::default());
        assert_eq!(PredictedTime { measured_ns: 0.0, predicted_ns: 1.0 }.error(), None);
        // An answer before the question.
        assert!(play(&station, &[of(5, Some(4), 0)], cpu(1), 0).is_err());
        // Found out of order.
        assert!(play(&station, &[of(5, None, 0), of(4, None, 0)], cpu(1), 0).is_err());
    }

    #[test]
    fn calibration_is_the_utilisation_law() {
        // Two CPUs that do 100 per second: 20 ms each.
        let two = |alone_ms| of(ServerKind::Pool(2), 2, alone_ms, saturated(16, 100.0, 20e6));
        assert_eq!((two(20.5).wait_ns, two(20.5).outside_ns), (20 * MS, MS / 2));
        assert_eq!((two(19.0).wait_ns, two(19.0).outside_ns), (20 * MS, 0));
        let none = |throughput, alone_ns| {
            let seen = saturated(16, throughput, 1.0);
            server_demand(ServerKind::Pool(5), 2, alone_ns, &seen).is_none()
        };
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300] {
            assert!(none(wrong, 1.0));
        }
        assert!(none(1.0, f64::NAN) && none(1.0, -1.0) && !none(1.0, 1.0));
        let nobody = saturated(16, 1.0, 1.0);
        assert_eq!(server_demand(ServerKind::Pool(0), 2, 1.0, &nobody), None);
    }
}
