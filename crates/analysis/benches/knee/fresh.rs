//! Servers of other kinds than those that the estimator was made with.

use crate::searches::{conduct, rules};
use crate::servers::capacity_of;
use analysis::MeasuredRequest;
use laws::station::{Demand, Request, Station, open_all};
use model::Knee;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How the demands of requests scatter around their mean.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Draw {
    /// All are equal.
    Equal,
    /// Exponentially distributed.
    Exponential,
    /// The sum of two exponentially distributed parts.
    Erlang2,
    /// Their logarithm is normally distributed with this deviation.
    Lognormal(f64),
    /// The same with a deviation of 0.5, and this correlation with the request before.
    Correlated(f64),
    /// Equally likely between two multiples of the mean.
    Uniform(f64, f64),
    /// This part of them takes this multiple of the time of the others.
    Part(f64, f64),
}

/// One of the stations that a request passes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stage {
    station: Station,
    wait_ms: f64,
    cpu_ms: f64,
    draw: Draw,
}

/// Stations in a row, all of which stop now and then.
#[derive(Clone, Debug)]
pub(crate) struct Fresh {
    pub(crate) name: &'static str,
    pub(crate) limit_ms: Option<f64>,
    stages: Vec<Stage>,
    stops: Option<Stopping>,
}

/// How all stations stop at once, in ms.
#[derive(Clone, Copy, Debug)]
struct Stopping {
    /// How long they work until then, always or on average.
    works: f64,
    is_random: bool,
    /// How long they stop at least and at most.
    stops: [f64; 2],
}

/// When they stop: when a stop begins on the clock and in the time that was worked, and how long it is.
#[derive(Clone, Debug, Default)]
struct Stops(Vec<(u64, u64, u64)>);

impl Stops {
    fn until(stopping: Option<Stopping>, end_ns: f64, random: &mut ChaCha8Rng) -> Self {
        let (mut all, mut at, mut worked) = (Vec::new(), 0.0, 0.0);
        let Some(Stopping { works, is_random, stops: [least, most] }) = stopping else {
            return Stops(all);
        };
        while at < end_ns {
            let part = match (is_random, all.is_empty()) {
                (true, _) => exponential(random),
                // The first comes in the midst of one.
                (false, true) => random.random::<f64>(),
                (false, false) => 1.0,
            };
            let length = 1e6 * (least + (most - least) * random.random::<f64>());
            (at, worked) = (at + 1e6 * works * part, worked + 1e6 * works * part);
            all.push((at as u64, worked as u64, length as u64));
            at += length;
        }
        Stops(all)
    }

    /// Returns the time that was worked until some time on the clock.
    fn worked(&self, ns: u64) -> u64 {
        let before = self.0.partition_point(|stop| stop.0 < ns).checked_sub(1);
        before.map_or(ns, |last| {
            let (at, worked, length) = self.0[last];
            worked + (ns - at).saturating_sub(length)
        })
    }

    /// Returns the time on the clock when some time was worked.
    fn clock(&self, ns: u64) -> u64 {
        let before = self.0.partition_point(|stop| stop.1 < ns).checked_sub(1);
        before.map_or(ns, |last| {
            let (at, worked, length) = self.0[last];
            at + length + (ns - worked)
        })
    }
}

/// What each response takes beyond the server, in ns: this, and exponentially distributed as much again.
const OUTSIDE_NS: f64 = 40e3;

fn exponential(random: &mut ChaCha8Rng) -> f64 {
    -(1.0 - random.random::<f64>()).ln()
}

fn normal(random: &mut ChaCha8Rng) -> f64 {
    let angle = std::f64::consts::TAU * random.random::<f64>();
    (2.0 * exponential(random)).sqrt() * angle.cos()
}

impl Draw {
    fn draw(self, level: &mut f64, random: &mut ChaCha8Rng) -> f64 {
        match self {
            Draw::Equal => 1.0,
            Draw::Exponential => exponential(random),
            Draw::Erlang2 => f64::midpoint(exponential(random), exponential(random)),
            Draw::Lognormal(sigma) => (sigma * normal(random) - sigma * sigma / 2.0).exp(),
            Draw::Correlated(with) => {
                *level = with * *level + (1.0 - with * with).sqrt() * normal(random);
                (0.5 * *level - 0.125).exp()
            }
            Draw::Uniform(least, most) => least + (most - least) * random.random::<f64>(),
            Draw::Part(part, times) => {
                let of = if random.random::<f64>() < part { times } else { 1.0 };
                of / (1.0 - part + part * times)
            }
        }
    }
}

impl Stage {
    fn demands(self, count: usize, random: &mut ChaCha8Rng) -> Vec<Demand> {
        let mut level = normal(random);
        let mut one = || {
            let times = 1e6 * self.draw.draw(&mut level, random);
            let [wait_ns, cpu_ns] = [self.wait_ms, self.cpu_ms].map(|ms| (ms * times) as u64);
            Demand { wait_ns, cpu_ns }
        };
        (0..count).map(|_| one()).collect()
    }

    /// Returns when each of some requests that come at these times is done.
    fn done(self, at_ns: &[u64], random: &mut ChaCha8Rng) -> Vec<u64> {
        let demands = self.demands(at_ns.len(), random);
        let mut order: Vec<usize> = (0..at_ns.len()).collect();
        order.sort_by_key(|number| at_ns[*number]);
        let request = |number: &usize| Request {
            at_ns: at_ns[*number],
            connection: 0,
            demand: demands[*number],
        };
        let requests: Vec<Request> = order.iter().map(request).collect();
        let (visits, _) = open_all(&self.station, &requests).unwrap();
        let mut done = vec![0; at_ns.len()];
        for (number, visit) in order.iter().zip(&visits) {
            done[*number] = visit.came_ns + visit.response_ns().unwrap();
        }
        done
    }

    fn most_per_s(self) -> f64 {
        let held = |count: Option<u32>, ms: f64| count.map_or(f64::INFINITY, f64::from) * 1e3 / ms;
        let Stage { station, wait_ms, cpu_ms, .. } = self;
        let waits = station.waiting == laws::station::Waiting::Held;
        let worker_ms = if waits { wait_ms + cpu_ms } else { cpu_ms };
        held(station.workers, worker_ms).min(held(station.cpus, cpu_ms))
    }
}

impl Fresh {
    fn outside(random: &mut ChaCha8Rng) -> u64 {
        (OUTSIDE_NS * (1.0 + exponential(random))) as u64
    }

    fn open(&self, per_s: f64, length_ns: f64, random: &mut ChaCha8Rng) -> Vec<MeasuredRequest> {
        let (mut at, mut came) = (0.0, Vec::new());
        loop {
            at += exponential(random) * 1e9 / per_s;
            if at >= length_ns {
                break;
            }
            came.push(at as u64);
        }
        let stops = Stops::until(self.stops, 2.0 * length_ns, random);
        let mut times: Vec<u64> = came.iter().map(|ns| stops.worked(*ns)).collect();
        for stage in &self.stages {
            times = stage.done(&times, random);
        }
        let seen = |(at_ns, done): (u64, u64)| MeasuredRequest {
            at_ns,
            done_ns: Some(stops.clock(done).max(at_ns) + Self::outside(random)),
            ..MeasuredRequest::default()
        };
        came.into_iter().zip(times).map(seen).collect()
    }

    fn alone(&self, requests: u64, length_ns: f64, random: &mut ChaCha8Rng) -> Vec<f64> {
        let demands: Vec<Vec<Demand>> =
            self.stages.iter().map(|stage| stage.demands(requests as usize, random)).collect();
        let stops = Stops::until(self.stops, 2.0 * length_ns, random);
        let (mut now, mut times) = (0, Vec::new());
        for number in 0..requests as usize {
            let took = demands.iter().map(|of| of[number].wait_ns + of[number].cpu_ns).sum::<u64>();
            let done = stops.clock(stops.worked(now) + took) + Self::outside(random);
            if done as f64 > length_ns {
                break;
            }
            times.push((done - now) as f64);
            now = done;
        }
        times
    }

    pub(crate) fn search(&self, seed: u64) -> (Knee, f64) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut other = ChaCha8Rng::seed_from_u64(!seed);
        let open = |per_s: f64, length_ns: f64| {
            let all = self.open(per_s, length_ns, &mut random);
            let drained_ns = all.iter().filter_map(|one| one.done_ns).max().unwrap_or(0) as f64;
            let seen = |one: MeasuredRequest| MeasuredRequest {
                done_ns: one.done_ns.filter(|done_ns| *done_ns as f64 <= length_ns),
                ..one
            };
            (all.into_iter().map(seen).collect(), (drained_ns - length_ns).max(0.0))
        };
        let alone = |requests: u64, length_ns: f64| self.alone(requests, length_ns, &mut other);
        conduct(rules(self.limit_ms), alone, open)
    }

    pub(crate) fn capacity(&self, limit_ns: f64, requests: f64) -> f64 {
        let works = self
            .stops
            .map_or(1.0, |it| it.works / (it.works + f64::midpoint(it.stops[0], it.stops[1])));
        let most = self.stages.iter().map(|stage| stage.most_per_s()).fold(f64::INFINITY, f64::min);
        let load = |per_s: f64, requests: f64, seed| {
            self.open(per_s, requests / per_s * 1e9, &mut ChaCha8Rng::seed_from_u64(seed))
        };
        capacity_of(limit_ns, works * most, requests, load)
    }
}

fn pool(workers: u32, ms: f64, draw: Draw) -> Stage {
    Stage { station: Station::servers(workers), wait_ms: ms, cpu_ms: 0.0, draw }
}

fn shared(cpus: u32, ms: f64, draw: Draw) -> Stage {
    Stage { station: Station::worker_each(cpus), wait_ms: 0.0, cpu_ms: ms, draw }
}

fn event_loop(wait_ms: f64, cpu_ms: f64, draw: Draw) -> Stage {
    Stage { station: Station::event_loop(1, 1), wait_ms, cpu_ms, draw }
}

fn case(name: &'static str, stages: impl Into<Vec<Stage>>, limit_ms: Option<f64>) -> Fresh {
    Fresh { name, limit_ms, stages: stages.into(), stops: None }
}

fn stopping(works: f64, is_random: bool, stops: [f64; 2], of: Fresh) -> Fresh {
    Fresh { stops: Some(Stopping { works, is_random, stops }), ..of }
}

/// Returns twenty servers, from about 20 to about 20,000 requests per second, after which the search was changed.
pub(crate) fn second() -> Vec<Fresh> {
    use Draw::{Correlated, Equal, Erlang2, Exponential, Lognormal, Part, Uniform};
    let wide = Uniform(1.0 / 3.0, 5.0 / 3.0);
    let stops_often = case("1 ms, stops 30 ms a second", [pool(1, 1.0, Equal)], Some(20.0));
    let stops = case("pool of 4, stops 100 ms in 4 s", [pool(4, 5.0, Exponential)], Some(60.0));
    vec![
        case("lognormal 0.5, 8 ms", [pool(1, 8.0, Lognormal(0.5))], Some(60.0)),
        case("lognormal 1, 1 ms", [pool(1, 1.0, Lognormal(1.0))], Some(20.0)),
        case("pool of 3, 30 ms", [pool(3, 30.0, Equal)], Some(100.0)),
        case("pool of 3, 10 ms lognormal", [pool(3, 10.0, Lognormal(0.5))], None),
        case("pool of 2, 15 ms exponential", [pool(2, 15.0, Exponential)], Some(80.0)),
        case("pool of 16, 10 to 50 ms", [pool(16, 30.0, wide)], Some(90.0)),
        case("one in ten takes 6 times, 3 ms", [pool(1, 3.0, Part(0.1, 6.0))], Some(40.0)),
        case(
            "4 ms, then 3 ms exponential",
            [pool(1, 4.0, Equal), pool(1, 3.0, Exponential)],
            Some(50.0),
        ),
        case(
            "pool of 4 of 10 ms, then 2 ms",
            [pool(4, 10.0, Equal), pool(1, 2.0, Exponential)],
            Some(40.0),
        ),
        case("2 CPUs, 8 ms exponential", [shared(2, 8.0, Exponential)], Some(80.0)),
        case("4 CPUs, 1 ms lognormal", [shared(4, 1.0, Lognormal(0.5))], Some(8.0)),
        case("1 CPU, one in ten 6 times", [shared(1, 2.0, Part(0.1, 6.0))], Some(30.0)),
        stopping(970.0, false, [30.0; 2], stops_often),
        stopping(3_900.0, false, [100.0; 2], stops),
        case(
            "event loop, 10 + 0.2 ms lognormal",
            [event_loop(10.0, 0.2, Lognormal(0.5))],
            Some(40.0),
        ),
        case("correlated 0.9, 5 ms", [pool(1, 5.0, Correlated(0.9))], Some(60.0)),
        case("lognormal 0.5, 0.05 ms", [pool(1, 0.05, Lognormal(0.5))], Some(2.0)),
        case("pool of 4, 0.25 ms", [pool(4, 0.25, Equal)], Some(2.0)),
        case("pool of 2, 60 ms exponential", [pool(2, 60.0, Exponential)], None),
        case("Erlang 2, 40 ms", [pool(1, 40.0, Erlang2)], Some(400.0)),
    ]
}

/// Returns twenty others, on which nothing was tuned.
pub(crate) fn third() -> Vec<Fresh> {
    use Draw::{Equal, Erlang2, Exponential, Lognormal, Uniform};
    let stops = case("pool of 8, stops at random", [pool(8, 6.0, Exponential)], Some(50.0));
    let shared_stops = case("2 CPUs, stop 50 ms in 3 s", [shared(2, 2.0, Equal)], Some(40.0));
    vec![
        case("2 ms", [pool(1, 2.0, Equal)], Some(15.0)),
        case("15 to 45 ms", [pool(1, 30.0, Uniform(0.5, 1.5))], None),
        case("0.1 ms exponential", [pool(1, 0.1, Exponential)], Some(3.0)),
        case("25 ms exponential", [pool(1, 25.0, Exponential)], Some(250.0)),
        case("0.5 ms exponential", [pool(1, 0.5, Exponential)], None),
        case("Erlang 2, 4 ms", [pool(1, 4.0, Erlang2)], Some(30.0)),
        case("pool of 2, 8 ms", [pool(2, 8.0, Equal)], Some(20.0)),
        case("pool of 5, 100 ms", [pool(5, 100.0, Equal)], None),
        case("pool of 6, 12 ms lognormal", [pool(6, 12.0, Lognormal(0.5))], Some(40.0)),
        case("pool of 12, 3 ms exponential", [pool(12, 3.0, Exponential)], Some(12.0)),
        case("pool of 32, 20 to 60 ms", [pool(32, 40.0, Uniform(0.5, 1.5))], Some(100.0)),
        case("pool of 64, 250 ms exponential", [pool(64, 250.0, Exponential)], Some(1_000.0)),
        case("1 CPU, 3 ms", [shared(1, 3.0, Equal)], Some(30.0)),
        case("2 CPUs, 0.5 ms exponential", [shared(2, 0.5, Exponential)], Some(5.0)),
        case("4 CPUs, 6 ms lognormal", [shared(4, 6.0, Lognormal(0.7))], None),
        case("event loop, 5 + 1 ms", [event_loop(5.0, 1.0, Equal)], Some(30.0)),
        case("event loop, 0.3 ms exponential", [event_loop(0.0, 0.3, Exponential)], Some(4.0)),
        stopping(2_000.0, true, [20.0, 60.0], stops),
        stopping(2_950.0, false, [50.0; 2], shared_stops),
        case(
            "pool of 2 of 10 ms, then 2 ms of CPU",
            [pool(2, 10.0, Equal), shared(1, 2.0, Equal)],
            Some(60.0),
        ),
    ]
}

/// Returns servers of several queues in a row, which no model of the search is.
pub(crate) fn rows() -> Vec<Fresh> {
    use Draw::{Equal, Exponential, Lognormal};
    let three = [pool(1, 2.0, Exponential), pool(1, 2.0, Exponential), pool(1, 2.0, Exponential)];
    vec![
        case(
            "6 ms exponential, then 4 ms",
            [pool(1, 6.0, Exponential), pool(1, 4.0, Equal)],
            Some(80.0),
        ),
        case(
            "3 ms exponential, then the same",
            [pool(1, 3.0, Exponential), pool(1, 3.0, Exponential)],
            Some(60.0),
        ),
        case(
            "10 ms, then 8 ms lognormal",
            [pool(1, 10.0, Equal), pool(1, 8.0, Lognormal(0.5))],
            Some(120.0),
        ),
        case(
            "pool of 3 of 12 ms, then 3 ms, exponential",
            [pool(3, 12.0, Exponential), pool(1, 3.0, Exponential)],
            Some(80.0),
        ),
        case(
            "2 ms lognormal, then 1 ms of CPU",
            [pool(1, 2.0, Lognormal(1.0)), shared(1, 1.0, Exponential)],
            Some(40.0),
        ),
        case("2 ms, then 1.9 ms", [pool(1, 2.0, Equal), pool(1, 1.9, Equal)], Some(25.0)),
        case("three times 2 ms exponential", three, Some(50.0)),
    ]
}
