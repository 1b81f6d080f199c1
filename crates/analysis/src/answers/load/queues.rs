//! Loads with known numbers: a queue, and times that depend on those before.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What makes response times.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// Exponentially distributed times of mean 1 ms, independent of each other.
    Independent,
    /// Single-server queue with random arrivals and service times of mean 1 ms, at a utilisation: the
    /// response times are exponentially distributed.
    Queue(f64),
    /// Times whose logarithm is normally distributed with a deviation of 1/2 and the correlation `φ`
    /// with the one before; the median is 1 ms.
    Correlated(f64),
}

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

impl Source {
    /// Returns the requests of `seconds`, from the steady state on, in the order of their ends.
    pub(crate) fn requests(self, seconds: f64, seed: u64) -> Vec<Ended> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let random = &mut random;
        let per_s = match self {
            Source::Queue(utilisation) => 1000.0 * utilisation,
            _ => 700.0,
        };
        let (mut now, mut level, mut all) = (0.0, normal(random), Vec::new());
        // The work that a random arrival finds: none, or exponentially distributed.
        let mut work = match self {
            Source::Queue(utilisation) if uniform(random) < utilisation => {
                1e-3 * exponential(random) / (1.0 - utilisation)
            }
            _ => 0.0,
        };
        loop {
            let gap = exponential(random) / per_s;
            now += gap;
            let took = match self {
                Source::Independent => 1e-3 * exponential(random),
                Source::Queue(_) => {
                    work = (work - gap).max(0.0) + 1e-3 * exponential(random);
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
            all.push((now + took, took * 1e9));
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    }

    /// Returns the true mean, in ns.
    pub(crate) fn mean_ns(self) -> f64 {
        match self {
            Source::Independent => 1e6,
            Source::Queue(utilisation) => 1e6 / (1.0 - utilisation),
            Source::Correlated(_) => 1e6 * 0.125_f64.exp(),
        }
    }

    /// Returns the true percentile, in ns, of 50, 95 or 99 %.
    pub(crate) fn percentile_ns(self, percent: f64) -> f64 {
        let normal = match percent {
            50.0 => 0.0,
            95.0 => 1.644_853_627,
            _ => 2.326_347_874,
        };
        match self {
            Source::Correlated(_) => 1e6 * (0.5_f64 * normal).exp(),
            _ => -self.mean_ns() * (1.0 - percent / 100.0).ln(),
        }
    }
}

/// Slices of equal length: value and count of the times in each, ascending, by three digits.
pub(crate) fn slices(requests: &[Ended], seconds: f64, number: usize) -> Vec<Vec<(u64, u64)>> {
    let mut slices = vec![Vec::new(); number];
    for (ended, ns) in requests {
        let index = ((ended / seconds * number as f64) as usize).min(number - 1);
        // As a histogram of three digits has them: steps of a thousandth or less.
        let step = (2.0_f64).powf((ns / 1024.0).log2().floor().max(0.0));
        slices[index].push((((ns / step).floor() * step + step - 1.0) as u64, 1));
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
