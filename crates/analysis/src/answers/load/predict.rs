//! A measured load beside a simulated one: what a request asks of a server, learned from two closed
//! loops, and the play of an open loop's very arrivals.

use laws::queue;
use laws::station::{self, Demand, Station, predict::Observed};
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
    if !(throughput > 0.0 && throughput.is_finite() && alone_ns > 0.0 && alone_ns.is_finite()) {
        return None;
    }
    let each = |servers: u32| f64::from(servers) / throughput * 1e9;
    // Of those served at once, each takes so long; a single worker cannot be in its own way.
    let workers = match server {
        ServerKind::Single => Some(1),
        ServerKind::Pool(workers) => Some(workers.min(saturated.connections)),
        ServerKind::Each | ServerKind::EventLoop(_) => None,
    };
    let at_once = workers.unwrap_or(saturated.connections);
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
    pub requests: &'a [Observed],
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
/// What [`laws::station::predict::predict`] refuses, in words: more workers or CPUs than it can play.
pub fn predicted_load(
    server: ServerKind,
    cpus: u32,
    demand: &ServerDemand,
    load: &MeasuredLoad<'_>,
) -> Result<PlayedLoad, String> {
    let queue = station(server, cpus, load.keep_alive);
    let asks = Demand { wait_ns: demand.wait_ns, cpu_ns: demand.cpu_ns };
    let prediction = station::predict::predict(&queue, load.requests, |_| asks, demand.outside_ns)
        .map_err(|error| error.to_string())?;
    let residuals = prediction.residuals;
    let time = |pair: station::predict::Pair| PredictedTime {
        measured_ns: pair.measured,
        predicted_ns: pair.predicted,
    };
    let answered = |of: fn(&Observed) -> bool| load.requests.iter().filter(|one| of(one)).count();
    let described = PredictedLoad {
        per_s: load.per_s,
        utilisation: load.per_s / demand.throughput_per_s,
        requests: load.requests.len() as u64,
        measured_alone: residuals
            .map_or_else(|| answered(|one| one.done_ns.is_some()) as u64, |it| it.measured_alone),
        predicted_alone: residuals.map_or_else(
            || prediction.done_ns.iter().flatten().count() as u64,
            |it| it.predicted_alone,
        ),
        mean: residuals.map(|it| time(it.mean_ns)),
        p50: residuals.map(|it| time(it.p50_ns)),
        p99: residuals.map(|it| time(it.p99_ns)),
        each_p50: residuals.map(|it| it.each_p50),
        each_p99: residuals.map(|it| it.each_p99),
        formula: load.random.then(|| formula(server, cpus, demand, load)).flatten(),
        doubts: load.doubts.to_vec(),
    };
    Ok(PlayedLoad { load: described, done_ns: prediction.done_ns })
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
                .map(|n| station::Request {
                    at_ns: n * n * 977 % (400 * MS),
                    connection: 0,
                    demand: Demand { wait_ns: MS, cpu_ns: MS },
                })
                .collect();
            let mut requests = requests;
            requests.sort_by_key(|request| request.at_ns);
            let (visits, _) = station::open_all(&queue, &requests).unwrap();
            let observed: Vec<Observed> = visits
                .iter()
                .map(|visit| Observed {
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
}
