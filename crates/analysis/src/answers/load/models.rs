//! Which models of a server are consistent with what was measured of it.
//!
//! Each model has one demand with which it has the server's throughput where that is saturated: S = c / X,
//! the utilisation law at U = 1 (Denning and Buzen 1978). Where one request at a time, or the CPU time of the
//! server's own processes, contradicts that demand, the model is refuted at once. The others get the arrivals
//! of loads that were measured, and are refuted if they predict other response times.

use super::predict::{Model, computing, played};
use super::{MeasuredLoad, MeasuredRequest};
use laws::Error;
use model::{
    ModelFault, PredictedLoad, PredictedModel, PredictedTime, ServerDemand, ServerKind,
    ServerLimit, ServerSeen,
};

/// So much longer than alone, as a factor, a request may take while all its fellows are served, for
/// them not to be in each other's way.
const UNHINDERED: f64 = 1.25;

/// CPUs are what limits a server if its own processes keep them busy for at least this part of the time.
const BUSY_LEAST: f64 = 0.8;

/// The sizes of pools that are tried at most where the time of a single request is uncertain.
const SIZES_MAX: usize = 4;

/// No pool is looked for by the number of its workers if they are busy for at least this part.
const ALL_BUSY: f64 = 0.9;

/// What a request alone takes outside of the server at most: in ns, or as a part of its time.
const OUTSIDE_NS: f64 = 500e3;
const OUTSIDE_PART: f64 = 0.03;

/// Pools whose workers compute differ little from each other. These are tried.
const POOLS: [u32; 5] = [2, 4, 8, 16, 32];

/// How uncertain the throughput is at least, and at most: its pieces may agree by chance, and what they
/// disagree by is not the model's fault.
const UNCERTAIN_LEAST: f64 = 0.01;
const UNCERTAIN_MOST: f64 = 0.03;

/// A prediction within these parts of the measured number is consistent with it: the mean, and the 99th
/// percentile, each up to a utilisation of [`BUSY`] and above, where a hundredth of the throughput is a tenth
/// of the response time.
const BUSY: f64 = 0.8;
const MEAN: [f64; 2] = [0.10, 0.15];
const P99: [f64; 2] = [0.25, 0.30];

/// Answered only in the measurement, or only in the simulation: this part of the requests at most.
const ANSWERED: f64 = 0.02;

/// Requests of each load that are played.
const PLAYED_MAX: usize = 200_000;

/// Returns the models with what they predict, those that are consistent first, and the best of them before
/// the others. `asked` is among them, whatever was measured.
///
/// # Errors
/// What [`laws::station::open`] refuses, in words: more workers than it can play, and a request that was
/// answered before it came.
pub fn predicted_models(
    seen: &ServerSeen,
    asked: Option<ServerKind>,
    keep_alive: bool,
    loads: &[MeasuredLoad<'_>],
) -> Result<Vec<PredictedModel>, String> {
    let mut models: Vec<(f64, PredictedModel)> = Vec::new();
    for model in candidates(seen, asked, keep_alive) {
        let judged = judged(model, seen, loads).map_err(|error| error.to_string())?;
        models.push(judged);
    }
    models.sort_by(|a, b| a.1.fault.is_some().cmp(&b.1.fault.is_some()).then(a.0.total_cmp(&b.0)));
    Ok(models.into_iter().map(|(_, model)| model).collect())
}

/// Returns when each request of a load is predicted to be answered, in ns; `None` if never, or if the model
/// has no demand.
pub fn predicted_ends(model: &PredictedModel, requests: &[MeasuredRequest]) -> Vec<Option<u64>> {
    let load = MeasuredLoad { per_s: 1.0, utilisation: 1.0, requests, doubts: &[] };
    let of = Model { server: model.server, bound: model.bound };
    let ends = model.demand.and_then(|demand| played(of, &demand, &load).ok());
    ends.map_or_else(|| vec![None; requests.len()], |(_, ends)| ends)
}

/// Returns the models that are tried.
fn candidates(seen: &ServerSeen, asked: Option<ServerKind>, keep_alive: bool) -> Vec<Model> {
    // Little's law: as many are served at once as come in the time that each takes.
    let at_once = |alone_ns: f64| (seen.throughput_per_s.point * alone_ns / 1e9).round() as u32;
    let sizes = at_once(seen.alone_ns.low)..=at_once(seen.alone_ns.high);
    let most = (0.8 * f64::from(seen.connections)) as u32;
    let mut servers = vec![ServerKind::Single];
    let busy = cpus_used(seen);
    // Busy CPUs explain the throughput, whatever that number is.
    let computes = seen.cpus_busy.is_some_and(|cpus| cpus >= ALL_BUSY * f64::from(busy));
    if !computes {
        let sizes = sizes.filter(|size| (2..most).contains(size)).take(SIZES_MAX);
        servers.extend(sizes.map(ServerKind::Pool));
    }
    if is_saturated(seen, busy) {
        servers.extend(POOLS.iter().filter(|it| **it > busy).map(|it| ServerKind::Pool(*it)));
    }
    servers.extend([ServerKind::Each, ServerKind::EventLoop(busy)]);
    servers.extend(asked);
    let mut models = Vec::new();
    for server in servers {
        let has_workers = matches!(server, ServerKind::Single | ServerKind::Pool(_));
        for bound in [false, true] {
            let model = Model { server, bound };
            if (!bound || keep_alive && has_workers) && !models.contains(&model) {
                models.push(model);
            }
        }
    }
    models
}

/// Returns how many CPUs a saturated server used, to the next whole number.
fn cpus_used(seen: &ServerSeen) -> u32 {
    let used = seen.cpus_busy.map_or(seen.cpus, |busy| busy.round() as u32);
    used.clamp(1, seen.cpus.max(1))
}

/// Reports whether the server kept that number of CPUs busy; true where that is unknown.
fn is_saturated(seen: &ServerSeen, cpus: u32) -> bool {
    seen.cpus_busy.is_none_or(|busy| busy >= BUSY_LEAST * f64::from(cpus))
}

/// Returns what a request asks of a server of some model that answers `per_s` requests.
///
/// If as many requests as are served at once take about as long each as one alone, c is the number of
/// workers, and what a worker does meanwhile is not asked; else those are in each other's way, and c is
/// the number of CPUs that they can use, which must have been busy. What a request alone takes beyond a
/// worker's time is outside of the server; beyond CPU time it is a wait.
fn demand(model: Model, seen: &ServerSeen, per_s: f64) -> Result<ServerDemand, ModelFault> {
    let alone_ns = seen.alone_ns.point;
    let each = |servers: u32| f64::from(servers) / per_s * 1e9;
    let workers = match model.server {
        ServerKind::Single => Some(1),
        ServerKind::Pool(workers) => Some(workers),
        ServerKind::Each | ServerKind::EventLoop(_) => None,
    };
    let at_once = workers.unwrap_or(seen.connections);
    let is_unhindered = each(at_once) <= UNHINDERED * alone_ns;
    let cpus = match model.server {
        ServerKind::EventLoop(threads) => threads.min(seen.cpus),
        _ => cpus_used(seen),
    };
    let computing = computing(model.server, cpus);
    let limit = match workers {
        _ if !is_unhindered && !is_saturated(seen, computing) => {
            return Err(ModelFault::Throughput(f64::from(at_once) / alone_ns * 1e9));
        }
        _ if !is_unhindered => ServerLimit::Cpu,
        Some(_) => ServerLimit::Workers,
        None => ServerLimit::Nothing,
    };
    let (held_ns, cpu_ns) = match limit {
        // What they compute meanwhile is part of what holds them.
        ServerLimit::Workers => (each(at_once), 0.0),
        ServerLimit::Nothing => (alone_ns, 0.0),
        ServerLimit::Cpu => (alone_ns.max(each(computing)), each(computing)),
    };
    let outside_ns = (alone_ns - held_ns).max(0.0);
    let certain_ns = outside_ns - (alone_ns - seen.alone_ns.low);
    if certain_ns > OUTSIDE_NS.max(OUTSIDE_PART * alone_ns) {
        return Err(ModelFault::Alone(outside_ns));
    }
    Ok(ServerDemand {
        limit,
        wait_ns: (held_ns - cpu_ns).round() as u64,
        cpu_ns: cpu_ns.round() as u64,
        outside_ns: outside_ns.round() as u64,
        cpus,
    })
}

/// Returns a model with what it predicts, and how far that is from what was measured: up to 1 it is
/// consistent. The demand is the one that predicts best within the uncertainty of the throughput.
fn judged(
    model: Model,
    seen: &ServerSeen,
    loads: &[MeasuredLoad<'_>],
) -> Result<(f64, PredictedModel), Error> {
    let per_s = seen.throughput_per_s;
    let half = (per_s.high - per_s.low) / (2.0 * per_s.point);
    let uncertain = half.clamp(UNCERTAIN_LEAST, UNCERTAIN_MOST);
    let of = PredictedModel {
        server: model.server,
        bound: model.bound,
        demand: None,
        fault: None,
        loads: Vec::new(),
    };
    let central = match demand(model, seen, per_s.point) {
        Ok(central) => central,
        Err(fault) => return Ok((f64::INFINITY, PredictedModel { fault: Some(fault), ..of })),
    };
    let mut tried: Vec<(ServerDemand, Vec<PredictedLoad>)> = Vec::new();
    for shift in [0.0, -0.5, 0.5, -1.0, 1.0] {
        let asked = demand(model, seen, per_s.point * (1.0 + shift * uncertain));
        let asked = asked.unwrap_or(central);
        let mut all = Vec::new();
        for load in loads {
            let requests = &load.requests[..load.requests.len().min(PLAYED_MAX)];
            all.push(played(model, &asked, &MeasuredLoad { requests, ..*load })?.0);
        }
        tried.push((asked, all));
    }
    let best = tried.iter().min_by(|a, b| distance(&a.1).0.total_cmp(&distance(&b.1).0));
    let Some((asked, best)) = best else { return Ok((0.0, of)) };
    let (distance, fault) = distance(best);
    let with_range = |(number, load): (usize, &PredictedLoad)| {
        let all: Vec<&PredictedLoad> = tried.iter().map(|(_, loads)| &loads[number]).collect();
        let range = |time: fn(&PredictedLoad) -> Option<PredictedTime>| {
            let ns = || all.iter().filter_map(|load| Some(time(load)?.predicted_ns));
            let (low_ns, high_ns) = (ns().reduce(f64::min)?, ns().reduce(f64::max)?);
            Some(PredictedTime { low_ns, high_ns, ..time(load)? })
        };
        PredictedLoad {
            mean: range(|load| load.mean),
            p50: range(|load| load.p50),
            p99: range(|load| load.p99),
            ..load.clone()
        }
    };
    let loads = best.iter().enumerate().map(with_range).collect();
    let fault = fault.filter(|_| distance > 1.0);
    Ok((distance, PredictedModel { demand: Some(*asked), fault, loads, ..of }))
}

/// Returns how far predictions are from what was measured, as a multiple of what is consistent, and by what. Of
/// loads whose measurement is doubtful only the highest, which decides, refutes a model.
fn distance(loads: &[PredictedLoad]) -> (f64, Option<ModelFault>) {
    let mut worst: (f64, Option<ModelFault>) = (0.0, None);
    let counts = |load: &&PredictedLoad| load.doubts.is_empty() || load.utilisation > BUSY;
    for load in loads.iter().filter(counts) {
        let at = load.utilisation;
        let busy = usize::from(at > BUSY);
        let error = |time: Option<PredictedTime>| time.and_then(|time| time.error());
        let alone = (load.measured_alone + load.predicted_alone) as f64;
        let part = alone / load.requests.max(1) as f64;
        let mut faults = vec![(part / ANSWERED, ModelFault::Answered { at, by: part })];
        faults.extend(
            error(load.mean).map(|by| (by.abs() / MEAN[busy], ModelFault::Mean { at, by })),
        );
        faults.extend(error(load.p99).map(|by| (by.abs() / P99[busy], ModelFault::P99 { at, by })));
        for (far, fault) in faults {
            if far > worst.0 {
                worst = (far, Some(fault));
            }
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::servers::{Scatter, Server};
    use laws::station::Station;
    use model::Estimate;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    const SECOND: f64 = 1e9;

    fn about(point: f64, part: f64, samples: u32) -> Estimate {
        let (low, high) = (point * (1.0 - part), point * (1.0 + part));
        Estimate { point, low, high, standard_error: None, level: 0.95, samples }
    }

    /// What a generator sees of a server: alone, saturated, and at 50, 70 and 90 % of that.
    fn measured(
        server: &Server,
        seed: u64,
        seconds: f64,
    ) -> (ServerSeen, Vec<(f64, f64, Vec<MeasuredRequest>)>) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (alone, _) = server.closed(1, Some(200), 1 << 50, &mut random);
        let mut best = (0.0, 0, 0.0);
        let mut connections = 16;
        while connections <= 1024 {
            let until_ns = (2.0 * SECOND) as u64;
            let (_, totals) = server.closed(connections, None, until_ns, &mut random);
            // Without the first turn, as whole turns count.
            let per_s = totals.throughput_per_s().unwrap();
            let gains = per_s > 1.03 * best.0;
            if per_s > best.0 {
                best = (per_s, connections, totals.cpu_ns as f64 / totals.elapsed_ns as f64);
            }
            if !gains {
                // As many as bring no more show that something limits it.
                best.1 = connections;
                break;
            }
            connections *= 2;
        }
        let (_, totals) = server.closed(best.1, None, (seconds * SECOND) as u64, &mut random);
        let per_s = totals.throughput_per_s().unwrap();
        let seen = ServerSeen {
            alone_ns: about(crate::mean(&alone).unwrap(), 0.003, 6),
            connections: best.1,
            throughput_per_s: about(per_s, 0.005, 3),
            cpu_ns: Some(best.2 / best.0 * SECOND),
            cpus_busy: Some(best.2),
            cpus: 2,
        };
        let loads = [0.5, 0.7, 0.9].map(|part| {
            // On twice as many connections as saturate it.
            let length_ns = seconds * SECOND;
            (
                part * per_s,
                part,
                server.open(part * per_s, false, length_ns, 2 * best.1, &mut random),
            )
        });
        (seen, loads.into())
    }

    fn judge(server: &Server, asked: Option<ServerKind>, keep_alive: bool) -> Vec<PredictedModel> {
        let (seen, loads) = measured(server, 7, 8.0);
        judged(&seen, &loads, asked, keep_alive)
    }

    fn judged(
        seen: &ServerSeen,
        loads: &[(f64, f64, Vec<MeasuredRequest>)],
        asked: Option<ServerKind>,
        keep_alive: bool,
    ) -> Vec<PredictedModel> {
        let loads: Vec<MeasuredLoad<'_>> = loads
            .iter()
            .map(|(per_s, utilisation, requests)| MeasuredLoad {
                per_s: *per_s,
                utilisation: *utilisation,
                requests,
                doubts: &[],
            })
            .collect();
        predicted_models(seen, asked, keep_alive, &loads).unwrap()
    }

    fn consistent(models: &[PredictedModel]) -> Vec<(ServerKind, bool)> {
        let all = models.iter().filter(|model| model.fault.is_none());
        all.map(|model| (model.server, model.bound)).collect()
    }

    /// Eight servers of eight models: the right one is always consistent, and alone where waits or the queue
    /// tell it from the others.
    #[test]
    fn the_right_model_is_among_the_consistent_ones() {
        let of = |station, wait_ms, cpu_ms| Server::new(station, wait_ms, cpu_ms, Scatter::None);
        let servers = [
            (of(Station::servers(1), 5.0, 0.0), (ServerKind::Single, false), true),
            (of(Station::servers(4), 20.0, 0.0), (ServerKind::Pool(4), false), true),
            (of(Station::servers(8), 10.0, 0.0), (ServerKind::Pool(8), false), true),
            (of(Station::servers(3), 5.0, 0.0), (ServerKind::Pool(3), false), true),
            (of(Station::pool(16, 2), 20.0, 0.2), (ServerKind::Pool(16), false), true),
            (of(Station::worker_each(2), 0.0, 2.0), (ServerKind::Each, false), false),
            (of(Station::event_loop(2, 2), 0.0, 2.0), (ServerKind::EventLoop(2), false), false),
            (of(Station::event_loop(1, 1), 10.0, 2.0), (ServerKind::EventLoop(1), false), true),
        ];
        let (mut alone, mut all) = (0, Vec::new());
        for (server, right, is_alone) in servers {
            let models = judge(&server, None, false);
            let found = consistent(&models);
            assert!(found.contains(&right), "{right:?}: {models:#?}");
            alone += u32::from(found.len() == 1);
            all.push(found.clone());
            assert!(!is_alone || found.len() == 1, "{right:?}: {found:?}");
            for model in models.iter().filter(|model| model.fault.is_none()) {
                let error = model.loads[2].mean.unwrap().error().unwrap();
                assert!(error.abs() <= 0.15, "{model:?}");
            }
        }
        assert!(alone >= 6, "{alone}: {all:?}");
    }

    #[test]
    fn workers_that_keep_their_connections_are_told_from_those_that_do_not() {
        let keeping = Server::new(Station::servers(4).bound(), 5.0, 0.0, Scatter::None);
        let models = judge(&keeping, None, true);
        assert_eq!(consistent(&models), [(ServerKind::Pool(4), true)], "{models:#?}");
        let sharing = Server::new(Station::servers(4), 5.0, 0.0, Scatter::None);
        assert_eq!(consistent(&judge(&sharing, None, true)), [(ServerKind::Pool(4), false)]);
    }

    #[test]
    fn a_pool_of_another_size_is_refuted_by_its_throughput() {
        let four = Server::new(Station::servers(4), 20.0, 0.0, Scatter::None);
        let models = judge(&four, Some(ServerKind::Pool(8)), false);
        let eight = models.iter().find(|it| it.server == ServerKind::Pool(8)).unwrap();
        let Some(ModelFault::Throughput(would)) = eight.fault else { panic!("{eight:?}") };
        // 8 workers that take 20 ms each.
        assert!((would / 400.0 - 1.0).abs() < 0.02, "{would}");
        assert!(eight.loads.is_empty() && eight.demand.is_none());
        let two = judge(&four, Some(ServerKind::Pool(2)), false);
        let two = two.iter().find(|it| it.server == ServerKind::Pool(2)).unwrap();
        assert!(matches!(two.fault, Some(ModelFault::Alone(ns)) if ns > 9e6), "{two:?}");
    }

    #[test]
    fn a_server_like_no_model_is_refuted_as_all() {
        // One request in ten takes thirty times as long.
        let uneven = Server::new(Station::servers(1), 5.0, 0.0, Scatter::Tenth(30.0));
        let models = judge(&uneven, None, false);
        assert_eq!(consistent(&models), []);
        assert!(models.iter().all(|model| model.fault.is_some()));
    }

    #[test]
    fn where_no_cpu_time_is_known_more_is_consistent() {
        let server = Server::new(Station::worker_each(2), 0.0, 2.0, Scatter::None);
        let (seen, loads) = measured(&server, 7, 4.0);
        let seen = ServerSeen { cpu_ns: None, cpus_busy: None, ..seen };
        let models = judged(&seen, &loads, None, false);
        assert!(consistent(&models).contains(&(ServerKind::Each, false)));
        let ends = predicted_ends(&models[0], &loads[0].2);
        assert!(ends.iter().flatten().count() > 0 && ends.len() == loads[0].2.len());
        let none = PredictedModel { demand: None, ..models[0].clone() };
        assert_eq!(predicted_ends(&none, &loads[0].2[..1]), [None]);
    }
}
