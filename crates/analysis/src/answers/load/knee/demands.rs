//! What each request asked of the server, as its answers show it, and the rate that such requests break.
//!
//! A model of a server says when it began with a request: a pool of K workers when less than K of those
//! before it were left, CPUs that all share at once. What passed from then until the answer is the
//! request's demand. If the model is right, demands do not hang on how busy the server was: shuffled, and
//! simulated with the same arrivals, they give the same response times. The demands of a right model,
//! simulated for long, give the capacity; they are known better than the number of those that were late,
//! which come in bunches.

use super::twin::Trace;
use crate::stats::interval::student;
use laws::station::{Demand, Request, Station, Visit, open};
use model::KneeRules;
use rand::{RngExt, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Shuffles that a model is tested with.
const SHUFFLES: usize = 10;

/// Where between the time of one request alone and the limit response times are compared.
const PLACES: [f64; 4] = [0.25, 0.5, 0.75, 1.0];

/// Requests of a simulated load: to find about where the capacity is, and to find it.
const REQUESTS_FEW: usize = 100_000;
const REQUESTS: usize = 1_000_000;

/// Parts of the measurement that the interval is of.
const GROUPS: usize = 20;

/// A model that deviates by more than this many standard errors is refuted.
const DEVIATES: f64 = 3.0;

/// Who serves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// Workers with one request each, in order of coming.
    Pool(u32),
    /// CPUs that all requests share equally.
    Shared(u32),
}

impl Kind {
    fn station(self) -> Station {
        match self {
            Kind::Pool(workers) => Station::servers(workers),
            Kind::Shared(cpus) => Station::worker_each(cpus),
        }
    }

    fn demand(self, ns: f64) -> Demand {
        let ns = ns.max(1.0) as u64;
        match self {
            Kind::Pool(_) => Demand { wait_ns: ns, cpu_ns: 0 },
            Kind::Shared(_) => Demand { wait_ns: 0, cpu_ns: ns },
        }
    }

    fn servers(self) -> f64 {
        let (Kind::Pool(servers) | Kind::Shared(servers)) = self;
        f64::from(servers)
    }

    /// Returns the demand of each request that was answered, and whether it found all servers busy, if each
    /// response takes a time outside of the server.
    fn demands(self, trace: &Trace, outside_ns: f64) -> Vec<Option<(f64, bool)>> {
        let done = |number: usize| {
            let done = trace.done_ns[number]?;
            Some((done as f64 - outside_ns).max(trace.due_ns[number] as f64))
        };
        match self {
            Kind::Pool(workers) => pool(workers as usize, trace, done),
            Kind::Shared(cpus) => shared(cpus as f64, trace, done),
        }
    }
}

fn pool(
    workers: usize,
    trace: &Trace,
    done: impl Fn(usize) -> Option<f64>,
) -> Vec<Option<(f64, bool)>> {
    // The latest ends of those before; the first of as many as there are workers lets the next one in.
    let mut ends: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
    let each = |(number, due): (usize, &u64)| {
        let free = if ends.len() < workers { 0 } else { ends.peek().map_or(0, |it| it.0) };
        let end = done(number);
        ends.push(Reverse(end.map_or(u64::MAX, |end| end as u64)));
        if ends.len() > workers {
            ends.pop();
        }
        let begun = free.max(*due) as f64;
        (free < u64::MAX).then_some(())?;
        end.map(|end| ((end - begun).max(0.0), free > *due))
    };
    trace.due_ns.iter().enumerate().map(each).collect()
}

fn shared(
    cpus: f64,
    trace: &Trace,
    done: impl Fn(usize) -> Option<f64>,
) -> Vec<Option<(f64, bool)>> {
    // How much each of those present got until now, and until when.
    let (mut got, mut now, mut present) = (0.0_f64, 0.0_f64, 0_u32);
    let mut ends: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    let mut begun = vec![(0.0, false); trace.due_ns.len()];
    let mut demands = vec![None; trace.due_ns.len()];
    let mut until = |time: f64, present: u32| {
        if present > 0 {
            got += (time - now).max(0.0) * (cpus / f64::from(present)).min(1.0);
        }
        now = now.max(time);
        got
    };
    let mut finish = |up_to: u64,
                      ends: &mut BinaryHeap<Reverse<(u64, usize)>>,
                      present: &mut u32,
                      begun: &[(f64, bool)],
                      until: &mut dyn FnMut(f64, u32) -> f64| {
        while let Some(Reverse((end, number))) = ends.peek().copied().filter(|it| it.0.0 <= up_to) {
            ends.pop();
            let got = until(end as f64, *present);
            *present -= 1;
            demands[number] = Some((got - begun[number].0, begun[number].1));
        }
    };
    for (number, due) in trace.due_ns.iter().enumerate() {
        finish(*due, &mut ends, &mut present, &begun, &mut until);
        begun[number] = (until(*due as f64, present), f64::from(present) >= cpus);
        present += 1;
        if let Some(end) = done(number) {
            ends.push(Reverse((end as u64, number)));
        }
    }
    finish(u64::MAX, &mut ends, &mut present, &begun, &mut until);
    demands
}

/// Mean and variance of the mean.
fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (mean, squares / n / (n - 1.0).max(1.0))
}

/// A model with the demands that the traces have by it.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) kind: Kind,
    pub(super) outside_ns: f64,
    /// Of each request that counts, in their order.
    demands: Vec<f64>,
    /// By how many standard errors it deviates.
    pub(super) deviates: f64,
}

impl Model {
    /// Returns how much longer demands are of requests that found the server busy, and the standard error.
    fn depends(kind: Kind, traces: &[&Trace], outside_ns: f64) -> (f64, f64) {
        let (mut busy, mut idle) = (Vec::new(), Vec::new());
        for trace in traces {
            let demands = kind.demands(trace, outside_ns);
            for (ns, was_busy) in demands[..trace.counted.end].iter().copied().flatten() {
                (if was_busy { &mut busy } else { &mut idle }).push(ns);
            }
        }
        if busy.len() < 2 || idle.len() < 2 {
            return (0.0, f64::INFINITY);
        }
        let (busy, idle) = (mean(&busy), mean(&idle));
        (busy.0 - idle.0, (busy.1 + idle.1).sqrt())
    }

    /// Returns a model of the traces, tested by them: one request alone takes `alone_ns`.
    pub(super) fn of(kind: Kind, traces: &[&Trace], alone_ns: f64, limit_ns: f64) -> Option<Model> {
        let mut responses: Vec<f64> = Vec::new();
        for trace in traces {
            let all = trace.due_ns.iter().zip(&trace.done_ns);
            responses.extend(all.filter_map(|(due, done)| Some((*done)? as f64 - *due as f64)));
        }
        let (_, least, _) = {
            let place = responses.len() / 100;
            (place < responses.len())
                .then(|| responses.select_nth_unstable_by(place, f64::total_cmp))?
        };
        let most_ns = least.max(0.0).min(limit_ns);
        let (longer, error) = Model::depends(kind, traces, 0.0);
        let mut outside_ns = 0.0;
        if longer < -2.0 * error {
            let (mut low, mut high) = (0.0, most_ns);
            for _ in 0..12 {
                let middle = f64::midpoint(low, high);
                *(if Model::depends(kind, traces, middle).0 < 0.0 {
                    &mut low
                } else {
                    &mut high
                }) = middle;
            }
            outside_ns = f64::midpoint(low, high);
        }
        let mut demands = Vec::new();
        for trace in traces {
            let of = kind.demands(trace, outside_ns);
            demands.extend(of[..trace.counted.end].iter().flatten().map(|it| it.0));
        }
        if demands.len() < GROUPS * 5 {
            return None;
        }
        let mut model = Model { kind, outside_ns, demands, deviates: 0.0 };
        let (longer, error) = Model::depends(kind, traces, outside_ns);
        let mean_ns = mean(&model.demands).0;
        model.deviates = longer.abs() / error.hypot(0.05 * mean_ns);
        if model.deviates <= DEVIATES {
            model.deviates = model.deviation(traces, alone_ns, limit_ns).max(model.deviates);
        }
        Some(model)
    }

    /// Returns by how many standard errors the response times deviate from those of shuffled demands.
    fn deviation(&self, traces: &[&Trace], alone_ns: f64, limit_ns: f64) -> f64 {
        let places = PLACES.map(|part| alone_ns + part * (limit_ns - alone_ns));
        let count = |ns: Option<f64>| places.map(|place| f64::from(ns.is_none_or(|ns| ns > place)));
        let mut measured = [0.0; PLACES.len()];
        let mut all = 0.0;
        for trace in traces {
            for number in trace.counted.clone() {
                let ns = trace.done_ns[number].map(|done| (done - trace.due_ns[number]) as f64);
                for (sum, one) in measured.iter_mut().zip(count(ns)) {
                    *sum += one;
                }
                all += 1.0;
            }
        }
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut demands = self.demands.clone();
        let mut shuffled = [(); PLACES.len()].map(|()| Vec::new());
        for _ in 0..SHUFFLES {
            demands.shuffle(&mut random);
            let mut next = demands.iter().cycle();
            let mut sums = [0.0; PLACES.len()];
            for trace in traces {
                let request = |due: &u64| Request {
                    at_ns: *due,
                    connection: 0,
                    demand: self.kind.demand(*next.next().unwrap_or(&0.0)),
                };
                let requests = trace.due_ns[..trace.counted.end].iter().map(request);
                let each = |visit: &Visit| {
                    if trace.counted.contains(&(visit.number as usize)) {
                        let ns = visit.response_ns().map(|ns| ns as f64 + self.outside_ns);
                        for (sum, one) in sums.iter_mut().zip(count(ns)) {
                            *sum += one;
                        }
                    }
                };
                if open(&self.kind.station(), requests, each).is_err() {
                    return f64::INFINITY;
                }
            }
            for (of, sum) in shuffled.iter_mut().zip(sums) {
                of.push(sum);
            }
        }
        let z = |(measured, shuffled): (&f64, &Vec<f64>)| {
            let (middle, variance) = mean(shuffled);
            let scatter = (variance * shuffled.len() as f64 * (1.0 + 1.0 / SHUFFLES as f64)).sqrt();
            let error = scatter.hypot(0.1 * middle).hypot(1.0).hypot(0.001 * all);
            (measured - middle).abs() / error
        };
        measured.iter().zip(&shuffled).map(z).fold(0.0, f64::max)
    }

    pub(super) fn is_refuted(&self) -> bool {
        self.deviates > DEVIATES
    }

    /// Returns the part of the requests that are late at a rate, of a number of simulated ones with these demands,
    /// which ascend.
    fn late(&self, demands: &[f64], per_s: f64, asked: &Asked, number: usize) -> f64 {
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let mut at = 0.0;
        let requests = (0..number).map(|_| {
            let [gap, place]: [f64; 2] = [random.random(), random.random()];
            at += 1e9 / per_s * if asked.constant { 1.0 } else { -(1.0 - gap).ln() };
            let ns = demands[(place * demands.len() as f64) as usize];
            Request { at_ns: at as u64, connection: 0, demand: self.kind.demand(ns) }
        });
        let (mut late, first) = (0_usize, number / 20);
        let count = |visit: &Visit| {
            let ns = visit.response_ns().map_or(f64::INFINITY, |ns| ns as f64);
            late += usize::from(
                visit.number as usize >= first && ns + self.outside_ns > asked.limit_ns,
            );
        };
        match open(&self.kind.station(), requests, count) {
            Ok(_) => late as f64 / (number - first) as f64,
            Err(_) => 1.0,
        }
    }

    /// Returns the highest rate that the server could sustain at all, per second.
    fn most(&self) -> f64 {
        self.kind.servers() * 1e9 / mean(&self.demands).0.max(1.0)
    }

    /// Returns the demands in ascending order, without those of one of the groups.
    fn ascending(&self, left: Option<usize>) -> Vec<f64> {
        let n = self.demands.len();
        let of = |number: &usize| Some(number * GROUPS / n) != left;
        let mut kept: Vec<f64> = (0..n).filter(of).map(|number| self.demands[number]).collect();
        kept.sort_unstable_by(f64::total_cmp);
        kept
    }

    /// Returns the logarithm of the late share, as a multiple of the allowed one, by that of the rate.
    fn over(&self, demands: &[f64], place: f64, asked: &Asked, number: usize) -> f64 {
        let late = self.late(demands, place.exp(), asked, number);
        (late.max(1e-6) / (1.0 - KneeRules::WITHIN_LEAST)).ln()
    }

    /// Returns the logarithm of the capacity by a number of simulated requests, between two others.
    fn between(&self, mut low: f64, mut high: f64, asked: &Asked, number: usize) -> f64 {
        let demands = self.ascending(None);
        while high - low > 1e-3 {
            let middle = f64::midpoint(low, high);
            let held = self.over(&demands, middle, asked, number) <= 0.0;
            *(if held { &mut low } else { &mut high }) = middle;
        }
        f64::midpoint(low, high)
    }

    /// Returns the logarithm of about the capacity.
    pub(super) fn about(&self, asked: &Asked) -> f64 {
        let most = self.most();
        self.between((most * 1e-3).ln(), (most * 1.1).ln(), asked, REQUESTS_FEW)
    }

    /// Returns the logarithm of the capacity, and the half width of its 95 % interval by the jackknife over
    /// groups of requests; it is `about` there.
    pub(super) fn capacity(&self, asked: &Asked, about: f64) -> Option<(f64, f64)> {
        let free = (1.0 - about.exp() / self.most()).clamp(0.01, 0.3);
        let place = self.between(about - 0.2 * free, about + 0.2 * free, asked, REQUESTS);
        let over = |left, place| self.over(&self.ascending(left), place, asked, REQUESTS_FEW);
        // By how much the late share changes with the rate.
        let step = 0.1 * free;
        let slope = (over(None, place + step) - over(None, place - step)) / (2.0 * step);
        let (here, others) = (over(None, place), GROUPS as f64 - 1.0);
        let apart = |left| others * (over(Some(left), place) - here) / slope.max(0.5);
        let located = student(&(0..GROUPS).map(apart).collect::<Vec<_>>())?;
        Some((place, (located.high - located.low) / 2.0))
    }
}

/// What the capacity is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) limit_ns: f64,
    /// Whether requests come at constant intervals.
    pub(super) constant: bool,
}
