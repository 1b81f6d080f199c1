//! The play against formulas, against naive players, and against answers that need neither.

mod formulas;
mod known;
#[path = "../../../tests/it/oracle.rs"]
#[expect(dead_code, reason = "the tests of `tests/it` need the rest")]
mod oracle;
mod paths;

use super::{Demand, Request};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const MS: u64 = 1_000_000;

fn cpu(cpu_ns: u64) -> Demand {
    Demand { wait_ns: 0, cpu_ns }
}

fn wait(wait_ns: u64) -> Demand {
    Demand { wait_ns, cpu_ns: 0 }
}

fn at(at_ns: u64, demand: Demand) -> Request {
    Request { at_ns, connection: 0, demand }
}

/// Draws with a seed.
struct Draws(ChaCha8Rng);

impl Draws {
    fn new(seed: u64) -> Self {
        Draws(ChaCha8Rng::seed_from_u64(seed))
    }

    fn even(&mut self) -> f64 {
        self.0.random()
    }

    fn exponential(&mut self, mean_ns: f64) -> u64 {
        (-(1.0 - self.even()).ln() * mean_ns) as u64
    }

    /// Most of them short, one in ten long, with this mean: v² = 6.6.
    fn scattered(&mut self, mean_ns: f64) -> u64 {
        let part = if self.even() < 0.9 { 4.0 / 9.0 } else { 6.0 };
        self.exponential(mean_ns * part)
    }
}
