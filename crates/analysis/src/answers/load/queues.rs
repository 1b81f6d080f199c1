//! Loads with known numbers: a queue, and times that depend on those before.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What makes response times.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// Exponentially distributed times of mean 1 ms, independent of each other.
    Independent,
    /// Single-server queue with random arrivals and service times of mean 1 ms, at a utilisation.
    Queue(Service, f64),
    /// Times whose logarithm is normally distributed with a deviation of 1/2 and the correlation `φ`
    /// with the one before; the median is 1 ms.
    Correlated(f64),
}

/// How the service times of a queue scatter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Service {
    /// All are equal: M/D/1.
    Equal,
    /// Exponentially distributed, and so are the response times: M/M/1.
    Exponential,
    /// One request in ten takes ten times as long as the others, both exponentially distributed: M/H2/1.
    Uneven,
}

/// Utilisation, and the 50th, 95th and 99th percentile of the response time in ms: of M/D/1 by Erlang's sum,
/// of M/H2/1 by the Pollaczek–Khinchine transform, whose two poles are the roots of a square.
const EQUAL: [(f64, [f64; 3]); 3] = [
    (0.5, [1.0, 3.0506, 4.3363]),
    (0.7, [1.7298, 5.1029, 7.4855]),
    (0.9, [4.0130, 15.1287, 22.8982]),
];
const UNEVEN: [(f64, [f64; 3]); 3] = [
    (0.5, [1.1068, 17.8262, 30.9064]),
    (0.7, [3.1886, 30.8462, 50.2717]),
    (0.9, [17.9387, 91.8541, 143.5188]),
];

/// Requests before a load, per square of 1 − ρ: the queue begins empty, and forgets that.
const BEFORE: f64 = 100.0;

/// A request of a load: when it ended, in s, and how long it took, in ns.
pub(crate) type Ended = (f64, f64);

fn uniform(random: &mut ChaCha8Rng) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

fn exponential(random: &mut ChaCha8Rng) -> f64 {
    -uniform(random).ln()
}

fn normal(random: &mut ChaCha8Rng) -> f64 {
    (-2.0 * uniform(random).ln()).sqrt() * (std::f64::consts::TAU * uniform(random)).cos()
}

impl Service {
    /// Returns a service time in ms.
    fn draw(self, random: &mut ChaCha8Rng) -> f64 {
        match self {
            Service::Equal => 1.0,
            Service::Exponential => exponential(random),
            Service::Uneven => {
                let times = if uniform(random) < 0.1 { 10.0 } else { 1.0 };
                exponential(random) * times / 1.9
            }
        }
    }

    /// Returns the square of the coefficient of variation.
    fn variation(self) -> f64 {
        match self {
            Service::Equal => 0.0,
            Service::Exponential => 1.0,
            Service::Uneven => 2.0 * (0.9 + 0.1 * 100.0) / (1.9 * 1.9) - 1.0,
        }
    }
}

impl Source {
    /// Returns the requests of `seconds`, from the steady state on, in the order of their ends.
    pub(crate) fn requests(self, seconds: f64, seed: u64) -> Vec<Ended> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let random = &mut random;
        let per_s = match self {
            Source::Queue(_, utilisation) => 1000.0 * utilisation,
            _ => 700.0,
        };
        let before = match self {
            Source::Queue(_, utilisation) => BEFORE / (1.0 - utilisation).powi(2) / per_s,
            _ => 0.0,
        };
        let (mut now, mut work) = (-before, 0.0_f64);
        let (mut level, mut all) = (normal(random), Vec::new());
        loop {
            let gap = exponential(random) / per_s;
            now += gap;
            let took = match self {
                Source::Independent => 1e-3 * exponential(random),
                Source::Queue(service, _) => {
                    work = (work - gap).max(0.0) + 1e-3 * service.draw(random);
                    work
                }
                Source::Correlated(correlation) => {
                    let rest = (1.0 - correlation * correlation).sqrt();
                    level = correlation * level + rest * normal(random);
                    1e-3 * (0.5 * level).exp()
                }
            };
            if now > seconds {
                break;
            }
            if now + took > 0.0 {
                all.push((now + took, took * 1e9));
            }
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    }

    /// Returns the true mean, in ns.
    pub(crate) fn mean_ns(self) -> f64 {
        match self {
            Source::Independent => 1e6,
            Source::Queue(service, busy) => {
                1e6 + 1e6 * busy * (1.0 + service.variation()) / (2.0 * (1.0 - busy))
            }
            Source::Correlated(_) => 1e6 * 0.125_f64.exp(),
        }
    }

    /// Returns the true percentile, in ns, of 50, 95 or 99 %.
    pub(crate) fn percentile_ns(self, percent: f64) -> f64 {
        let (place, normal) = match percent {
            50.0 => (0, 0.0),
            95.0 => (1, 1.644_853_627),
            _ => (2, 2.326_347_874),
        };
        let of = |table: &[(f64, [f64; 3])], busy: f64| {
            let row = table.iter().find(|(known, _)| (known - busy).abs() < 1e-9);
            row.map_or(f64::NAN, |row| 1e6 * row.1[place])
        };
        match self {
            Source::Correlated(_) => 1e6 * (0.5_f64 * normal).exp(),
            Source::Queue(Service::Equal, busy) => of(&EQUAL, busy),
            Source::Queue(Service::Uneven, busy) => of(&UNEVEN, busy),
            _ => -self.mean_ns() * (1.0 - percent / 100.0).ln(),
        }
    }
}

/// Returns a time as a histogram of three digits has it, in steps of a thousandth or less.
pub(crate) fn three_digits(ns: f64) -> u64 {
    let step = (2.0_f64).powf((ns / 1024.0).log2().floor().max(0.0));
    ((ns / step).floor() * step + step - 1.0) as u64
}

/// Slices of equal length: value and count of the times in each, ascending, by three digits.
pub(crate) fn slices(requests: &[Ended], seconds: f64, number: usize) -> Vec<Vec<(u64, u64)>> {
    let mut slices = vec![Vec::new(); number];
    for (ended, ns) in requests {
        let index = ((ended / seconds * number as f64) as usize).min(number - 1);
        slices[index].push((three_digits(*ns), 1));
    }
    for slice in &mut slices {
        slice.sort_unstable();
        slice.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
    }
    slices
}
