//! The capacity of a server by a model of it.
//!
//! Demands of a right model do not hang on how busy the server was: shuffled, and simulated with the same
//! arrivals, they give the response times that were measured. So models that do not are refuted, and the
//! demands of the best, simulated for long, give the capacity. Demands are known better than the number of
//! requests that were late, which come in bunches.
//!
//! Where no model passes, demands may depend on the one before. Then runs of them are shuffled. Where a server
//! stops now and then, its models are those of the time that it works.

use super::demands::Kind;
use super::simulated_queue::{HALF_WIDTH_LEAST, SKEWED, Trace};
use super::stops::{Stops, found, gaps};
use crate::stats::interval::student;
use crate::stats::tail::NORMAL_975;
use laws::station::{Request, Visit, open};
use model::{Estimate, KneeRules};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Shuffles that a model is tested with.
const SHUFFLES: usize = 20;

/// Where between the time of one request alone and the limit response times are compared.
const PLACES: [f64; 4] = [0.25, 0.5, 0.75, 1.0];

/// Numbers of late requests that differ by less than this part differ by nothing that matters, nor do those
/// that differ by this part of all requests.
const SAME: f64 = 0.1;
const SAME_OF_ALL: f64 = 1e-3;

/// The same for the mean demand of requests that found the server busy, and those that did not.
const SAME_DEMAND: f64 = 0.05;

/// A model that deviates by more than this number of standard errors is refuted. One that deviates by less
/// than the second number more than the best may be right.
const REFUTED: f64 = 4.0;
const AS_GOOD: f64 = 1.0;

/// One that deviates by no more than this explains the measurement well.
const EXPLAINS: f64 = 1.0;

/// The demand of requests that found the server busy is shorter by this number of standard errors where a
/// part of each response is spent outside of the server.
const SHORTER: f64 = 2.0;

/// How many requests a run has where demands depend on the one before.
const RUN: usize = 100;

/// Requests of a simulated load: to find about where the capacity is, and to find it.
const REQUESTS_FEW: usize = 100_000;
const REQUESTS: usize = 1_000_000;

/// By how much stops are made longer and rarer to see what the capacity owes to them, as a logarithm.
const STOPS_STEP: f64 = 0.2;

/// Parts of the measurement that the interval is from, and requests that it needs.
const GROUPS: usize = 20;
const DEMANDS_LEAST: usize = 400;

/// Around the number of servers that the throughput suggests these are tried, as factors.
const AROUND: [f64; 5] = [1.0, 0.85, 0.95, 1.05, 1.15];

/// What was measured near the capacity, and what is asked of it.
#[derive(Clone, Debug)]
pub(super) struct Measured<'a> {
    pub(super) traces: Vec<&'a Trace>,
    /// What one request at a time takes, and may take, in ns.
    pub(super) alone_ns: f64,
    pub(super) limit_ns: f64,
    /// Whether requests come at constant intervals.
    pub(super) constant: bool,
    /// Requests that the saturated server works on at once.
    pub(super) at_once: f64,
    /// The stops of each trial, and its requests in the time that the server worked; empty without stops.
    pub(super) stops: Vec<(Stops, Trace)>,
}

impl Measured<'_> {
    /// Returns the capacity by the models that explain what was measured; `None` where none does.
    pub(super) fn capacity(&self) -> Option<Estimate> {
        let mut models = self.models();
        if models.iter().all(|(_, model)| model.deviates > REFUTED) {
            models.iter_mut().for_each(|(measured, model)| model.depend(measured));
        }
        models.retain(|(_, model)| model.deviates <= REFUTED);
        // A server that explains all without stops needs none.
        let explains = |(with, model): &(Measured<'_>, Model)| {
            with.stops.is_empty() && model.run == 1 && model.deviates <= EXPLAINS
        };
        if models.iter().any(explains) {
            models.retain(|(with, _)| with.stops.is_empty());
        }
        models.sort_by(|a, b| a.1.deviates.total_cmp(&b.1.deviates));
        let (measured, best) = models.first()?;
        let about = best.about(measured);
        let (place, half) = best.capacity(measured, about)?;
        let half = (SKEWED * half).hypot(HALF_WIDTH_LEAST);
        // Runs say less of a model than single requests, so all that pass count.
        let is_as_good = |(_, model): &&(Measured<'_>, Model)| {
            model.run > 1 || model.deviates < best.deviates + AS_GOOD
        };
        let as_good = models.iter().filter(is_as_good);
        let apart: Vec<f64> = as_good.map(|(with, model)| model.about(with) - about).collect();
        Some(Estimate {
            point: place.exp(),
            low: (place + apart.iter().copied().fold(-half, f64::min)).exp(),
            high: (place + apart.iter().copied().fold(half, f64::max)).exp(),
            standard_error: None,
            level: 0.95,
            samples: self.traces.len() as u32,
        })
    }

    /// Returns the models. One that does not make the times without an answer that were measured is a model of a
    /// server that stops then.
    fn models(&self) -> Vec<(Self, Model)> {
        let each = |kind| {
            let model = Model::of(kind, self)?;
            let stops = found(&self.traces, &model.gaps(self));
            if stops.is_empty() {
                return Some((self.clone(), model));
            }
            let working = self.working(stops);
            Model::of(kind, &working).map(|model| (working, model))
        };
        self.kinds().into_iter().filter_map(each).collect()
    }

    /// Returns the same with the stops of each trial.
    fn working(&self, stops: Vec<Stops>) -> Self {
        let worked = |(stops, trace): (Stops, &&Trace)| {
            let due_ns = trace.due_ns.iter().map(|ns| stops.worked(*ns)).collect();
            let done = |done: &Option<u64>| done.map(|ns| stops.worked(ns));
            let done_ns = trace.done_ns.iter().map(done).collect();
            let trace = Trace { due_ns, done_ns, counted: trace.counted.clone(), ..**trace };
            (stops, trace)
        };
        let stops = stops.into_iter().zip(&self.traces).map(worked).collect();
        Measured { stops, ..self.clone() }
    }

    /// Returns the requests of each trial in the time that the server worked.
    fn worked(&self) -> Vec<&Trace> {
        match self.stops.as_slice() {
            [] => self.traces.clone(),
            stops => stops.iter().map(|(_, worked)| worked).collect(),
        }
    }

    /// Returns the models that are tried.
    fn kinds(&self) -> Vec<Kind> {
        let around = AROUND.map(|times| (times * self.at_once).round() as u32);
        let [floor, ceil] = [self.at_once.floor(), self.at_once.ceil()].map(|it| it as u32);
        let mut servers: Vec<u32> = [1, 2, floor, ceil].into_iter().chain(around).collect();
        servers.retain(|servers| (1..=1_000_000).contains(servers));
        servers.sort_unstable();
        servers.dedup();
        servers
            .into_iter()
            .flat_map(|servers| [Kind::Pool(servers), Kind::Shared(servers)])
            .collect()
    }

    /// Returns the time within which one of a hundred requests is answered.
    fn shortest_ns(&self) -> Option<f64> {
        let of = |trace: &&Trace| {
            let all = trace.due_ns.iter().zip(&trace.done_ns);
            all.filter_map(|(due, done)| done.map(|done| done.saturating_sub(*due))).collect()
        };
        let mut responses: Vec<u64> =
            self.worked().iter().flat_map(|trace| -> Vec<u64> { of(trace) }).collect();
        let place = responses.len() / 100;
        (!responses.is_empty()).then(|| *responses.select_nth_unstable(place).1 as f64)
    }

    /// Returns how many requests are simulated for a rough answer: stops are rare, and few requests see few of them.
    fn requests_few(&self) -> usize {
        if self.stops.is_empty() { REQUESTS_FEW } else { REQUESTS }
    }

    /// Returns for how long the server worked before each stop, and how long each lasted, in ns.
    fn spells(&self) -> Vec<(u64, u64)> {
        let mut rest = 0;
        let each = self.stops.iter().zip(&self.traces);
        let of = each.flat_map(|((stops, _), trace)| {
            stops.spells(&mut rest, trace.due_ns.last().copied().unwrap_or(0))
        });
        of.collect()
    }

    /// Returns stops for a simulated load of a length, each that was measured as often as any other, with these
    /// multiples of the times between them and of their lengths.
    fn stops_of(&self, length_ns: f64, times: [f64; 2]) -> Stops {
        let (mut spells, mut stops) = (self.spells(), Vec::new());
        let (mut random, mut at) = (ChaCha8Rng::seed_from_u64(3), 0.0);
        while at < 1.1 * length_ns && !spells.is_empty() {
            spells.shuffle(&mut random);
            for (spell, length) in &spells {
                at += times[0] * (*spell).max(1) as f64;
                stops.push((at as u64, (times[1] * *length as f64) as u64));
                at += times[1] * *length as f64;
            }
        }
        Stops::new(stops)
    }

    /// Returns how many of the requests that count took longer than each of [`PLACES`].
    fn longer(&self, response_ns: impl Fn(usize, usize) -> Option<f64>) -> [f64; PLACES.len()] {
        let places = PLACES.map(|part| self.alone_ns + part * (self.limit_ns - self.alone_ns));
        let mut sums = [0.0; PLACES.len()];
        for (index, trace) in self.traces.iter().enumerate() {
            for number in trace.counted.clone() {
                let ns = response_ns(index, number).unwrap_or(f64::INFINITY);
                for (sum, place) in sums.iter_mut().zip(places) {
                    *sum += f64::from(u8::from(ns > place));
                }
            }
        }
        sums
    }
}

/// Returns the mean, and the variance of one value.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (mean, squares / (n - 1.0).max(1.0))
}

/// A model of a server, with the demands that the requests have by it.
#[derive(Clone, Debug)]
struct Model {
    kind: Kind,
    /// What a response takes outside of the server.
    outside_ns: f64,
    /// In the order of the requests.
    demands: Vec<f64>,
    mean_ns: f64,
    /// How many demands that follow each other stay together.
    run: usize,
    /// By how many standard errors it deviates.
    deviates: f64,
}

impl Model {
    fn of(kind: Kind, measured: &Measured<'_>) -> Option<Model> {
        let worked = measured.worked();
        // By how much demands are longer of requests that found the server busy, and the standard error.
        let longer = |outside_ns| {
            let [mut idle, mut busy] = [Vec::new(), Vec::new()];
            for trace in &worked {
                let demands = kind.demands(trace, outside_ns);
                for (ns, was_busy) in demands[..trace.counted.end].iter().copied().flatten() {
                    (if was_busy { &mut busy } else { &mut idle }).push(ns);
                }
            }
            let [one, other] = [&idle, &busy].map(|it| moments(it));
            let error = (one.1 / idle.len() as f64 + other.1 / busy.len() as f64).sqrt();
            if idle.len().min(busy.len()) < 2 { (0.0, 1.0) } else { (other.0 - one.0, error) }
        };
        let is_shorter = |outside_ns| {
            let (longer, error) = longer(outside_ns);
            longer < -SHORTER * error
        };
        let shortest_ns = measured.shortest_ns()?;
        let (mut outside_ns, mut most_ns) =
            (0.0, if is_shorter(0.0) { shortest_ns.min(measured.limit_ns) } else { 0.0 });
        while most_ns - outside_ns > 1e-4 * shortest_ns.max(1.0) {
            let middle = f64::midpoint(outside_ns, most_ns);
            *(if is_shorter(middle) { &mut outside_ns } else { &mut most_ns }) = middle;
        }
        let mut demands = Vec::new();
        for trace in &worked {
            let all = kind.demands(trace, outside_ns);
            demands.extend(all[..trace.counted.end].iter().flatten().map(|it| it.0));
        }
        let mean_ns = moments(&demands).0;
        if demands.len() < DEMANDS_LEAST || mean_ns < 1.0 {
            return None;
        }
        let (longer, error) = longer(outside_ns);
        let deviates = longer.abs() / error.hypot(SAME_DEMAND * mean_ns);
        let mut model = Model { kind, outside_ns, demands, mean_ns, run: 1, deviates };
        if deviates <= REFUTED {
            model.deviates = model.deviation(measured).max(deviates);
        }
        Some(model)
    }

    /// Lets demands depend on the one before.
    fn depend(&mut self, measured: &Measured<'_>) {
        self.run = RUN;
        self.deviates = self.deviation(measured);
    }

    /// Returns by how many standard errors the response times deviate from those of shuffled demands.
    fn deviation(&self, measured: &Measured<'_>) -> f64 {
        let mut shuffled = [(); PLACES.len()].map(|()| Vec::new());
        let each = |done_ns: &[Vec<Option<u64>>]| {
            let sums = measured.longer(|trace, number| {
                let (done, due) = (done_ns[trace][number]?, measured.traces[trace].due_ns[number]);
                let done = measured.stops.get(trace).map_or(done, |(stops, _)| stops.clock(done));
                Some(done.saturating_sub(due) as f64 + self.outside_ns)
            });
            shuffled.iter_mut().zip(sums).for_each(|(of, sum)| of.push(sum));
        };
        if !self.shuffle(measured, each) {
            return f64::INFINITY;
        }
        let was = measured.longer(|trace, number| {
            let trace = measured.traces[trace];
            trace.done_ns[number].map(|done| done.saturating_sub(trace.due_ns[number]) as f64)
        });
        let all = measured.traces.iter().map(|it| it.counted.len()).sum::<usize>() as f64;
        let deviates = |(was, shuffled): (&f64, &Vec<f64>)| {
            let (mean, variance) = moments(shuffled);
            let scatter = (variance * (1.0 + 1.0 / SHUFFLES as f64)).sqrt();
            (was - mean).abs() / scatter.hypot(SAME * mean).hypot(SAME_OF_ALL * all).hypot(1.0)
        };
        was.iter().zip(&shuffled).map(deviates).fold(0.0, f64::max)
    }

    /// Passes when each request would be done, in the time that the server works, if demands are shuffled;
    /// false if that cannot be simulated.
    fn shuffle(&self, measured: &Measured<'_>, mut each: impl FnMut(&[Vec<Option<u64>>])) -> bool {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut runs: Vec<&[f64]> = self.demands.chunks(self.run).collect();
        (0..SHUFFLES).all(|_| {
            runs.shuffle(&mut random);
            let mut demands = runs.iter().copied().flatten().cycle();
            let mut done = |trace: &&Trace| {
                let mut done_ns = vec![None; trace.counted.end];
                let request = |due: &u64| {
                    let demand = self.kind.demand(*demands.next().unwrap_or(&0.0));
                    Request { at_ns: *due, connection: 0, demand }
                };
                let requests = trace.due_ns[..trace.counted.end].iter().map(request);
                let done = |visit: &Visit| {
                    done_ns[visit.number as usize] =
                        visit.response_ns().map(|ns| visit.came_ns + ns);
                };
                open(&self.kind.station(), requests, done).is_ok().then_some(done_ns)
            };
            let all: Option<Vec<_>> = measured.worked().iter().map(&mut done).collect();
            all.is_some_and(|all| {
                each(&all);
                true
            })
        })
    }

    /// Returns the times without an answer while requests are there, if demands are shuffled.
    fn gaps(&self, measured: &Measured<'_>) -> Vec<Vec<u64>> {
        let mut all = Vec::new();
        let each = |done_ns: &[Vec<Option<u64>>]| {
            let of = measured.traces.iter().zip(done_ns);
            let of = of.flat_map(|(trace, done_ns)| gaps(&trace.due_ns, done_ns));
            all.push(of.map(|gap| gap.1).collect());
        };
        self.shuffle(measured, each);
        all
    }

    /// Returns runs of demands in ascending order of their sums, without those of one of the groups.
    fn ascending(&self, left: Option<usize>) -> Vec<&[f64]> {
        let count = self.demands.len().div_ceil(self.run);
        let runs = self.demands.chunks(self.run).enumerate();
        let kept = runs.filter(|(number, _)| Some(number * GROUPS / count) != left);
        let mut kept: Vec<(f64, &[f64])> = kept.map(|(_, run)| (run.iter().sum(), run)).collect();
        kept.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        kept.into_iter().map(|(_, run)| run).collect()
    }

    /// Returns the logarithm of the part of requests that are late, as a multiple of the allowed one, in a
    /// simulated load of a rate, without the demands of a group and with multiples of the stops.
    fn over(
        &self,
        left: Option<usize>,
        rate: f64,
        measured: &Measured<'_>,
        requests: usize,
        times: [f64; 2],
    ) -> f64 {
        let (half, first) = (requests / 2, requests / 20);
        let (runs, gap_ns) = (self.ascending(left), 1e9 / rate.exp());
        let stops = measured.stops_of(half as f64 * gap_ns, times);
        let mut late = 0_usize;
        // Where the one half has much to do, the other has little.
        for mirrored in [0.0, 1.0] {
            let mut random = ChaCha8Rng::seed_from_u64(2);
            let (mut at, mut run, mut due_ns) = (0.0, [].iter(), Vec::with_capacity(half));
            let each = (0..half).map(|_| {
                let [gap, place] = [(); 2].map(|()| f64::abs(mirrored - random.random::<f64>()));
                at += gap_ns * if measured.constant { 1.0 } else { -(1.0 - gap).max(1e-18).ln() };
                let ns = run.next().or_else(|| {
                    run = runs[((place * runs.len() as f64) as usize).min(runs.len() - 1)].iter();
                    run.next()
                });
                due_ns.push(at as u64);
                let demand = self.kind.demand(*ns.unwrap_or(&0.0));
                Request { at_ns: stops.worked(at as u64), connection: 0, demand }
            });
            let requests: Vec<Request> = each.collect();
            let count = |visit: &Visit| {
                let done = visit.response_ns().map(|ns| stops.clock(visit.came_ns + ns));
                let ns = done.map_or(f64::INFINITY, |done| {
                    done.saturating_sub(due_ns[visit.number as usize]) as f64
                });
                let is_late = ns + self.outside_ns > measured.limit_ns;
                late += usize::from(visit.number as usize >= first && is_late);
            };
            if open(&self.kind.station(), requests, count).is_err() {
                late = 2 * half;
            }
        }
        let part = late as f64 / (2 * (half - first)) as f64;
        (part.max(1e-6) / (1.0 - KneeRules::WITHIN_LEAST)).ln()
    }

    /// Returns the logarithm of the capacity by a number of simulated requests, between two others.
    fn between(&self, ends: [f64; 2], measured: &Measured<'_>, requests: usize) -> f64 {
        let [mut low, mut high] = ends;
        while high - low > 1e-3 {
            let middle = f64::midpoint(low, high);
            let held = self.over(None, middle, measured, requests, [1.0; 2]) <= 0.0;
            *(if held { &mut low } else { &mut high }) = middle;
        }
        f64::midpoint(low, high)
    }

    /// Returns the logarithm of the highest throughput.
    fn most(&self) -> f64 {
        (self.kind.servers() * 1e9 / self.mean_ns).ln()
    }

    /// Returns the logarithm of about the capacity.
    fn about(&self, measured: &Measured<'_>) -> f64 {
        self.between([self.most() - 7.0, self.most() + 0.1], measured, measured.requests_few())
    }

    /// Returns the logarithm of the capacity, which is about there, and half of its 95 % interval, by the
    /// jackknife over groups of requests.
    fn capacity(&self, measured: &Measured<'_>, about: f64) -> Option<(f64, f64)> {
        let free = (1.0 - (about - self.most()).exp()).clamp(0.01, 0.3);
        let ends = [about - 0.2 * free, about + 0.2 * free];
        let place = self.between(ends, measured, REQUESTS);
        let spells = measured.spells();
        let few = measured.requests_few();
        let over = |left, rate| self.over(left, rate, measured, few, [1.0; 2]);
        // By how much the late part changes with the rate.
        let step = 0.1 * free;
        let slope = (over(None, place + step) - over(None, place - step)) / (2.0 * step);
        let (here, others) = (over(None, place), GROUPS as f64 - 1.0);
        let apart = |left| others * (over(Some(left), place) - here) / slope.max(0.5);
        let located = student(&(0..GROUPS).map(apart).collect::<Vec<_>>())?;
        // What is not known of the stops: of n, the mean is known to cv / √n.
        let part = |of: fn(&(u64, u64)) -> u64, times: fn(f64) -> [f64; 2]| {
            let (mean, variance) =
                moments(&spells.iter().map(|it| of(it) as f64).collect::<Vec<_>>());
            let over = |by: f64| self.over(None, place, measured, REQUESTS, times(by.exp()));
            let change = (over(STOPS_STEP) - over(-STOPS_STEP)) / (2.0 * STOPS_STEP);
            change / slope.max(0.5) * NORMAL_975 * (variance / spells.len() as f64).sqrt() / mean
        };
        let parts = match spells.as_slice() {
            [] => [0.0; 2],
            _ => [part(|it| it.0, |times| [times, 1.0]), part(|it| it.1, |times| [1.0, times])],
        };
        Some((place, parts.iter().fold((located.high - located.low) / 2.0, |a, b| a.hypot(*b))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laws::station::open_all;

    /// Returns traces of a load of 120 per second, if a request asks for 20 ms times what somebody says.
    fn traces(kind: Kind, mut times: impl FnMut(&mut ChaCha8Rng) -> f64) -> Vec<Trace> {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut trace = || {
            let mut at = 0.0;
            let mut request = || {
                at -= (1.0 - random.random::<f64>()).ln() * 1e9 / 120.0;
                let demand = kind.demand(20e6 * times(&mut random));
                Request { at_ns: at as u64, connection: 0, demand }
            };
            let requests: Vec<Request> = (0..2_000).map(|_| request()).collect();
            let (visits, _) = open_all(&kind.station(), &requests).unwrap();
            Trace {
                per_s: 120.0,
                due_ns: requests.iter().map(|it| it.at_ns).collect(),
                done_ns: visits.iter().map(|it| Some(it.came_ns + it.response_ns()?)).collect(),
                counted: 200..2_000,
                late: 0,
            }
        };
        (0..3).map(|_| trace()).collect()
    }

    fn measured<'a>(traces: &'a [Trace], at_once: f64) -> Measured<'a> {
        Measured {
            traces: traces.iter().collect(),
            alone_ns: 60e6,
            limit_ns: 150e6,
            constant: false,
            at_once,
            stops: Vec::new(),
        }
    }

    #[test]
    fn the_model_that_made_the_answers_is_among_the_best() {
        let exponential = |random: &mut ChaCha8Rng| -(1.0 - random.random::<f64>()).ln();
        for kind in [Kind::Pool(3), Kind::Shared(3)] {
            let traces = traces(kind, exponential);
            let measured = measured(&traces, 3.2);
            let kinds = measured.kinds();
            assert!(kinds.contains(&kind) && kinds.contains(&Kind::Pool(1)), "{kinds:?}");
            let passes = |kind| Model::of(kind, &measured).unwrap().deviates <= REFUTED;
            assert!(passes(kind) && !passes(Kind::Pool(1)), "{kind:?}");
            let found = measured.capacity().unwrap();
            assert!((found.high / found.low - 1.0) < 0.3, "{found:?}");
        }
    }

    #[test]
    fn what_a_response_takes_elsewhere_is_no_demand() {
        let mut traces = traces(Kind::Pool(3), |_| 1.0);
        for done in traces.iter_mut().flat_map(|trace| &mut trace.done_ns) {
            *done = done.map(|ns| ns + 30_000_000);
        }
        let model = Model::of(Kind::Pool(3), &measured(&traces, 3.0)).unwrap();
        assert!((model.outside_ns / 30e6 - 1.0).abs() < 0.01, "{}", model.outside_ns);
        assert!((model.mean_ns / 20e6 - 1.0).abs() < 0.02 && model.deviates < 1.0, "{model:?}");
    }

    #[test]
    fn a_server_that_stops_has_the_demands_of_the_time_that_it_works() {
        let exponential = |random: &mut ChaCha8Rng| -(1.0 - random.random::<f64>()).ln();
        let mut traces = traces(Kind::Pool(3), exponential);
        let pool = |traces: &[Trace]| -> (Vec<(u64, u64)>, Model) {
            let models = measured(traces, 3.0).models();
            let mut models = models.into_iter().filter(|(_, model)| model.kind == Kind::Pool(3));
            models.next().map(|(with, model)| (with.spells(), model)).unwrap()
        };
        assert_eq!(pool(&traces).0, []);
        for trace in &mut traces {
            let stops = Stops::new((1..20).map(|n| (n * 2_000_000_000, 150_000_000)));
            let clock = |ns: &mut u64| *ns = stops.clock(*ns);
            trace.due_ns.iter_mut().for_each(clock);
            trace.done_ns.iter_mut().flatten().for_each(clock);
        }
        let (spells, pool) = pool(&traces);
        assert!((20..=30).contains(&spells.len()), "{spells:?}");
        let (mean, _) = moments(&spells.iter().map(|it| it.1 as f64).collect::<Vec<_>>());
        assert!((mean / 150e6 - 1.0).abs() < 0.1, "{spells:?}");
        assert!((pool.mean_ns / 20e6 - 1.0).abs() < 0.05 && pool.deviates < 2.0, "{pool:?}");
    }

    #[test]
    fn demands_that_depend_on_the_one_before_are_shuffled_in_runs() {
        let mut level = 0.0_f64;
        let phases = |random: &mut ChaCha8Rng| {
            level =
                if random.random::<f64>() < 0.01 { 2.0 * random.random::<f64>() } else { level };
            level.max(0.1)
        };
        let traces = traces(Kind::Pool(3), phases);
        let measured = measured(&traces, 3.0);
        let mut model = Model::of(Kind::Pool(3), &measured).unwrap();
        assert!(model.deviates > REFUTED, "{}", model.deviates);
        model.depend(&measured);
        assert!(model.deviates <= REFUTED, "{}", model.deviates);
    }

    #[test]
    fn a_server_that_refuses_has_no_model() {
        let mut traces = traces(Kind::Pool(3), |_| 1.0);
        for trace in &mut traces {
            trace.done_ns.iter_mut().step_by(7).for_each(|done| *done = None);
        }
        assert_eq!(measured(&traces, 3.0).capacity(), None);
        assert_eq!(measured(&[], 3.0).capacity(), None);
    }
}
