//! Simulated servers that refuse what is too much for them.

use crate::searches::{conduct, rules};
use analysis::MeasuredRequest;
use model::{Knee, KneeRules};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;

const SECOND: f64 = 1e9;

/// What a server refuses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Refusing {
    /// A request that comes while this number are served: Erlang's loss system.
    Busy(usize),
    /// One that comes while one is served and this number wait.
    Full(usize),
    /// One that would wait for longer than this, in ms, for the only worker.
    Patient(f64),
    /// What comes beyond this number per second, of which at most the second number is saved.
    Bucket(f64, f64),
    /// What comes beyond this number in each second of the clock.
    Window(f64),
}

/// A server of requests that take this time on average, in ms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refuser {
    pub(crate) name: &'static str,
    pub(crate) refusing: Refusing,
    pub(crate) ms: f64,
    /// Whether times are exponentially distributed, not equal.
    pub(crate) scatters: bool,
    pub(crate) limit_ms: f64,
    /// The rate at which 5 % are refused or late; computed by `capacity` from two million requests.
    pub(crate) capacity_per_s: f64,
}

fn exponential(random: &mut ChaCha8Rng) -> f64 {
    -(1.0 - random.random::<f64>()).ln()
}

impl Refuser {
    fn takes_ns(&self, random: &mut ChaCha8Rng) -> f64 {
        self.ms * 1e6 * if self.scatters { exponential(random) } else { 1.0 }
    }

    /// Returns the requests of a load on a server that is idle at first.
    pub(crate) fn open(
        &self,
        per_s: f64,
        length_ns: f64,
        random: &mut ChaCha8Rng,
    ) -> Vec<MeasuredRequest> {
        let mut all = Vec::new();
        // The ends of what is served, those of equal length in order.
        let (mut ends, mut free): (VecDeque<f64>, f64) = (VecDeque::new(), 0.0);
        let (mut saved, mut then, phase) = (f64::INFINITY, 0.0, random.random::<f64>() * SECOND);
        let (mut window, mut at) = (-1.0, 0.0);
        let mut passed = 0.0;
        loop {
            at += exponential(random) * SECOND / per_s;
            if at >= length_ns {
                return all;
            }
            let takes = self.takes_ns(random);
            ends.retain(|end| *end > at);
            let start = f64::max(free, at);
            let (passes, done) = match self.refusing {
                Refusing::Busy(most) => (ends.len() < most, at + takes),
                Refusing::Full(wait) => (ends.len() <= wait, start + takes),
                Refusing::Patient(ms) => (start - at <= ms * 1e6, start + takes),
                Refusing::Bucket(rate, most) => {
                    saved = f64::min(saved + rate * (at - then) / SECOND, most);
                    then = at;
                    (saved >= 1.0, at + takes)
                }
                Refusing::Window(most) => {
                    let now = ((at + phase) / SECOND).floor();
                    passed = if now == window { passed } else { 0.0 };
                    window = now;
                    (passed < most, at + takes)
                }
            };
            if passes {
                ends.push_back(done);
                free = done;
                saved -= 1.0;
                passed += 1.0;
            }
            let done_ns = Some(if passes { done } else { at + 2e5 } as u64);
            all.push(MeasuredRequest {
                at_ns: at as u64,
                done_ns,
                refused: !passes,
                connection: 0,
            });
        }
    }

    /// Returns what a search finds, and how long it takes, in s. Some of its trials are `disturbed`: for a
    /// fifth of each of these nobody is served in time.
    pub(crate) fn search(&self, budget_s: f64, disturbed: f64, seed: u64) -> (Knee, f64) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut other = ChaCha8Rng::seed_from_u64(!seed);
        let open = |per_s: f64, length_ns: f64| {
            let mut all = self.open(per_s, length_ns, &mut random);
            if random.random::<f64>() < disturbed {
                let from = random.random::<f64>() * 0.8 * length_ns;
                let stops = from as u64..(from + 0.2 * length_ns) as u64;
                let hit = all.iter_mut().filter(|one| stops.contains(&one.at_ns));
                hit.for_each(|one| one.done_ns = Some(stops.end + 200_000_000));
            }
            (all, 0.0)
        };
        let alone = |requests: u64, length_ns: f64| {
            let (mut times, mut spent) = (Vec::new(), 0.0);
            while times.len() < requests as usize && spent < length_ns {
                times.push(self.takes_ns(&mut other));
                spent += times[times.len() - 1];
            }
            times
        };
        let rules =
            KneeRules { budget_ns: (budget_s * SECOND) as u64, ..rules(Some(self.limit_ms)) };
        conduct(rules, alone, open)
    }

    /// Returns the rate at which 5 % are refused or late, from this number of requests.
    pub(crate) fn capacity(&self, requests: f64) -> f64 {
        let late = |per_s: f64| {
            let mut random = ChaCha8Rng::seed_from_u64(1);
            let all = self.open(per_s, requests / per_s * SECOND, &mut random);
            let counted = &all[all.len() / 20..];
            let within = |one: &&MeasuredRequest| {
                let took = one.done_ns.map_or(f64::INFINITY, |done| (done - one.at_ns) as f64);
                !one.refused && took <= self.limit_ms * 1e6
            };
            1.0 - counted.iter().filter(within).count() as f64 / counted.len() as f64
        };
        let (mut low, mut high) = (1.0, 1e5);
        while high / low > 1.0005 {
            let middle = f64::sqrt(low * high);
            *(if late(middle) <= 0.05 { &mut low } else { &mut high }) = middle;
        }
        f64::sqrt(low * high)
    }
}

/// Returns servers of every kind.
pub(crate) fn refusers() -> Vec<Refuser> {
    use Refusing::{Bucket, Busy, Full, Patient, Window};
    let case = |name, refusing, ms, scatters, limit_ms, capacity_per_s| Refuser {
        name,
        refusing,
        ms,
        scatters,
        limit_ms,
        capacity_per_s,
    };
    vec![
        case("1 at once, 2 ms", Busy(1), 2.0, false, 50.0, 26.27),
        case("4 at once, 10 ms", Busy(4), 10.0, false, 50.0, 152.62),
        case("4 at once, 10 ms exponential", Busy(4), 10.0, true, 50.0, 144.48),
        case("16 at once, 40 ms", Busy(16), 40.0, false, 200.0, 289.28),
        case("1 works on 5 ms, 3 wait", Full(3), 5.0, false, 100.0, 153.91),
        case("1 works on 1 ms exponential, 20 wait", Full(20), 1.0, true, 100.0, 1_010.1),
        case("shed after 20 ms, 5 ms exponential", Patient(20.0), 5.0, true, 80.0, 117.51),
        case("shed after 50 ms, 2 ms", Patient(50.0), 2.0, false, 80.0, 524.57),
        case("200 a second, 50 saved", Bucket(200.0, 50.0), 1.0, false, 50.0, 210.71),
        case("60 a second, 200 saved", Bucket(60.0, 200.0), 1.0, false, 50.0, 63.25),
        case("3,000 a second, 300 saved", Bucket(3_000.0, 300.0), 0.2, false, 50.0, 3_162.2),
        case("100 in each second", Window(100.0), 1.0, false, 50.0, 102.14),
    ]
}
