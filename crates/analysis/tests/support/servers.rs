//! Servers that are simulated, whose capacity can be computed to any precision by simulating them for longer.

use analysis::MeasuredRequest;
use laws::station::{Clients, Demand, Request, Station, Totals, Visit, closed, open_all};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How the demands of requests scatter around their mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scatter {
    /// All are equal.
    None,
    /// Exponentially distributed.
    Exponential,
    /// The sum of four exponentially distributed parts.
    Erlang4,
    /// One request in ten takes this multiple of the others, both exponentially distributed.
    Tenth(f64),
}

impl Scatter {
    fn draw(self, random: &mut ChaCha8Rng) -> f64 {
        let mut exponential = || -(1.0 - random.random::<f64>()).ln();
        match self {
            Scatter::None => 1.0,
            Scatter::Exponential => exponential(),
            Scatter::Erlang4 => (0..4).map(|_| exponential()).sum::<f64>() / 4.0,
            Scatter::Tenth(times) => {
                let long = (-exponential()).exp() < 0.1;
                exponential() * if long { times } else { 1.0 } / (0.9 + 0.1 * times)
            }
        }
    }
}

/// A server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Server {
    pub(crate) station: Station,
    /// The mean.
    pub(crate) demand: Demand,
    pub(crate) scatter: Scatter,
    /// What each response takes beyond the server: this, and exponentially distributed as much again.
    pub(crate) outside_ns: f64,
}

impl Server {
    pub(crate) fn new(station: Station, wait_ms: f64, cpu_ms: f64, scatter: Scatter) -> Self {
        let demand = Demand { wait_ns: (wait_ms * 1e6) as u64, cpu_ns: (cpu_ms * 1e6) as u64 };
        Server { station, demand, scatter, outside_ns: 30e3 }
    }

    fn asks(&self, random: &mut ChaCha8Rng) -> Demand {
        let times = self.scatter.draw(random);
        let of = |ns: u64| (ns as f64 * times).round() as u64;
        Demand { wait_ns: of(self.demand.wait_ns), cpu_ns: of(self.demand.cpu_ns) }
    }

    fn outside(&self, random: &mut ChaCha8Rng) -> u64 {
        (self.outside_ns * (1.0 - (1.0 - random.random::<f64>()).ln())) as u64
    }

    /// Returns the response times of connections that ask again at once, in ns, and what was played.
    pub(crate) fn closed(
        &self,
        connections: u32,
        requests: Option<u64>,
        until_ns: u64,
        random: &mut ChaCha8Rng,
    ) -> (Vec<f64>, Totals) {
        let clients = Clients { connections, requests, until_ns: Some(until_ns) };
        let mut responses = Vec::new();
        let mut draws = ChaCha8Rng::seed_from_u64(random.random());
        // The way through the kernel is the client's, which thinks for so long.
        let mut outsides = ChaCha8Rng::seed_from_u64(random.random());
        let think = || self.outside(&mut outsides);
        let each = |visit: &Visit| responses.extend(visit.response_ns());
        let totals =
            closed(&self.station, &clients, think, |_| self.asks(&mut draws), each).unwrap();
        let responses: Vec<f64> =
            responses.into_iter().map(|ns| (ns + self.outside(random)) as f64).collect();
        (responses, totals)
    }

    /// Returns the requests of an open load on connections in turns, the server being idle at first.
    pub(crate) fn open(
        &self,
        per_s: f64,
        constant: bool,
        length_ns: f64,
        connections: u32,
        random: &mut ChaCha8Rng,
    ) -> Vec<MeasuredRequest> {
        let (mut at, mut requests) = (0.0, Vec::new());
        loop {
            let gap = if constant { 1.0 } else { Scatter::Exponential.draw(random) };
            at += gap * 1e9 / per_s;
            if at >= length_ns {
                break;
            }
            let connection = requests.len() as u32 % connections;
            requests.push(Request { at_ns: at as u64, connection, demand: self.asks(random) });
        }
        let (visits, _) = open_all(&self.station, &requests).unwrap();
        let mut seen = |visit: &Visit| MeasuredRequest {
            at_ns: visit.came_ns,
            done_ns: visit.response_ns().map(|ns| visit.came_ns + ns + self.outside(random)),
            connection: visit.connection,
            refused: false,
        };
        visits.iter().map(&mut seen).collect()
    }

    /// Returns the rate per second at which 5 % of the requests take longer than a limit in the steady state,
    /// from loads of that number of requests.
    pub(crate) fn capacity(&self, limit_ns: f64, constant: bool, requests: f64) -> f64 {
        let load = |per_s: f64, requests: f64, seed| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            self.open(per_s, constant, requests / per_s * 1e9, 500, &mut random)
        };
        capacity_of(limit_ns, self.most_per_s(), requests, load)
    }

    /// Returns the highest throughput, per second.
    pub(crate) fn most_per_s(&self) -> f64 {
        let each = |ns: u64| if ns == 0 { f64::INFINITY } else { 1e9 / ns as f64 };
        let Demand { wait_ns, cpu_ns } = self.demand;
        let held = match (self.station.workers, self.station.waiting) {
            (Some(workers), laws::station::Waiting::Held) => {
                f64::from(workers) * each(wait_ns + cpu_ns)
            }
            (Some(workers), laws::station::Waiting::Apart) => f64::from(workers) * each(cpu_ns),
            (None, _) => f64::INFINITY,
        };
        held.min(self.station.cpus.map_or(f64::INFINITY, |cpus| f64::from(cpus) * each(cpu_ns)))
    }
}

/// Loads that a capacity is computed from.
const LOADS: u64 = 4;

/// Returns the rate per second at which 5 % of the requests take longer than a limit in the steady state, of
/// a server with this highest throughput, from that number of requests.
pub(crate) fn capacity_of(
    limit_ns: f64,
    most_per_s: f64,
    requests: f64,
    load: impl Fn(f64, f64, u64) -> Vec<MeasuredRequest>,
) -> f64 {
    let late = |per_s: f64, seed: u64| {
        let all = load(per_s, requests / LOADS as f64, seed);
        let counted = &all[all.len() / 20..];
        let is_late = |one: &&MeasuredRequest| {
            one.done_ns.is_none_or(|done_ns| (done_ns - one.at_ns) as f64 > limit_ns)
        };
        counted.iter().filter(is_late).count() as f64 / counted.len() as f64
    };
    let between = |mut low: f64, mut high: f64, loads: u64| {
        while high / low > 1.001 {
            let middle = (low * high).sqrt();
            let part = (0..loads).map(|seed| late(middle, seed)).sum::<f64>() / loads as f64;
            *(if part <= 0.05 { &mut low } else { &mut high }) = middle;
        }
        (low * high).sqrt()
    };
    let about = between(most_per_s / 100.0, most_per_s * 1.2, 1);
    let room = 1.0 + 0.2 * (1.0 - about / most_per_s).max(0.02);
    between(about / room, about * room, LOADS)
}
