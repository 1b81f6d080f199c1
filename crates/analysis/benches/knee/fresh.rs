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
    /// How long it works until it stops, and for how long, in ms.
    stops: Option<(f64, f64)>,
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
    /// Returns the time that it worked until some time on the clock.
    fn worked(&self, ns: u64) -> u64 {
        let Some((works, stops)) = self.stops.map(|(a, b)| ((a * 1e6) as u64, (b * 1e6) as u64))
        else {
            return ns;
        };
        ns / (works + stops) * works + (ns % (works + stops)).min(works)
    }

    /// Returns the time on the clock when it has worked for some time.
    fn clock(&self, ns: u64) -> u64 {
        let Some((works, stops)) = self.stops.map(|(a, b)| ((a * 1e6) as u64, (b * 1e6) as u64))
        else {
            return ns;
        };
        ns + ns.saturating_sub(1) / works * stops
    }

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
        let mut times: Vec<u64> = came.iter().map(|ns| self.worked(*ns)).collect();
        for stage in &self.stages {
            times = stage.done(&times, random);
        }
        let seen = |(at_ns, done): (u64, u64)| MeasuredRequest {
            at_ns,
            done_ns: Some(self.clock(done).max(at_ns) + Self::outside(random)),
            connection: 0,
        };
        came.into_iter().zip(times).map(seen).collect()
    }

    fn alone(&self, requests: u64, length_ns: f64, random: &mut ChaCha8Rng) -> Vec<f64> {
        let demands: Vec<Vec<Demand>> =
            self.stages.iter().map(|stage| stage.demands(requests as usize, random)).collect();
        let (mut now, mut times) = (0, Vec::new());
        for number in 0..requests as usize {
            let took = demands.iter().map(|of| of[number].wait_ns + of[number].cpu_ns).sum::<u64>();
            let done = self.clock(self.worked(now) + took) + Self::outside(random);
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
        let works = self.stops.map_or(1.0, |(works, stops)| works / (works + stops));
        let most = self.stages.iter().map(|stage| stage.most_per_s()).fold(f64::INFINITY, f64::min);
        let load = |per_s: f64, requests: f64, seed| {
            self.open(per_s, requests / per_s * 1e9, &mut ChaCha8Rng::seed_from_u64(seed))
        };
        capacity_of(limit_ns, works * most, requests, load)
    }
}

/// Returns twenty servers, from about 20 to about 20,000 requests per second.
pub(crate) fn fresh() -> Vec<Fresh> {
    use Draw::{Correlated, Equal, Erlang2, Exponential, Lognormal, Part, Uniform};
    let stage = |station: Station, wait_ms, cpu_ms, draw| Stage { station, wait_ms, cpu_ms, draw };
    let pool = |workers, ms, draw| stage(Station::servers(workers), ms, 0.0, draw);
    let shared = |cpus, ms, draw| stage(Station::worker_each(cpus), 0.0, ms, draw);
    let case = |name, stages: Vec<Stage>, limit_ms| Fresh { name, limit_ms, stages, stops: None };
    let stopping = |name, stages: Vec<Stage>, limit_ms, works, stops| Fresh {
        stops: Some((works, stops)),
        ..case(name, stages, limit_ms)
    };
    vec![
        case("lognormal 0.5, 8 ms", vec![pool(1, 8.0, Lognormal(0.5))], Some(60.0)),
        case("lognormal 1, 1 ms", vec![pool(1, 1.0, Lognormal(1.0))], Some(20.0)),
        case("pool of 3, 30 ms", vec![pool(3, 30.0, Equal)], Some(100.0)),
        case("pool of 3, 10 ms lognormal", vec![pool(3, 10.0, Lognormal(0.5))], None),
        case("pool of 2, 15 ms exponential", vec![pool(2, 15.0, Exponential)], Some(80.0)),
        case(
            "pool of 16, 10 to 50 ms",
            vec![pool(16, 30.0, Uniform(1.0 / 3.0, 5.0 / 3.0))],
            Some(90.0),
        ),
        case("one in ten takes 6 times, 3 ms", vec![pool(1, 3.0, Part(0.1, 6.0))], Some(40.0)),
        case(
            "4 ms, then 3 ms exponential",
            vec![pool(1, 4.0, Equal), pool(1, 3.0, Exponential)],
            Some(50.0),
        ),
        case(
            "pool of 4 of 10 ms, then 2 ms",
            vec![pool(4, 10.0, Equal), pool(1, 2.0, Exponential)],
            Some(40.0),
        ),
        case("2 CPUs, 8 ms exponential", vec![shared(2, 8.0, Exponential)], Some(80.0)),
        case("4 CPUs, 1 ms lognormal", vec![shared(4, 1.0, Lognormal(0.5))], Some(8.0)),
        case("1 CPU, one in ten 6 times", vec![shared(1, 2.0, Part(0.1, 6.0))], Some(30.0)),
        stopping("1 ms, stops 30 ms a second", vec![pool(1, 1.0, Equal)], Some(20.0), 970.0, 30.0),
        stopping(
            "pool of 4, stops 100 ms in 4 s",
            vec![pool(4, 5.0, Exponential)],
            Some(60.0),
            3900.0,
            100.0,
        ),
        case(
            "event loop, 10 + 0.2 ms lognormal",
            vec![stage(Station::event_loop(1, 1), 10.0, 0.2, Lognormal(0.5))],
            Some(40.0),
        ),
        case("correlated 0.9, 5 ms", vec![pool(1, 5.0, Correlated(0.9))], Some(60.0)),
        case("lognormal 0.5, 0.05 ms", vec![pool(1, 0.05, Lognormal(0.5))], Some(2.0)),
        case("pool of 4, 0.25 ms", vec![pool(4, 0.25, Equal)], Some(2.0)),
        case("pool of 2, 60 ms exponential", vec![pool(2, 60.0, Exponential)], None),
        case("Erlang 2, 40 ms", vec![pool(1, 40.0, Erlang2)], Some(400.0)),
    ]
}
