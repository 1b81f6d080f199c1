//! Simulated sessions with a known law.

use crate::scaling::{amdahl, gustafson, kink, universal};
use laws::fit::{Law, Point};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A source of draws.
pub(crate) struct Draws {
    bits: ChaCha8Rng,
    spare: Option<f64>,
}

impl Draws {
    /// The same draws for the same seed.
    pub(crate) fn new(seed: u64) -> Self {
        Draws { bits: ChaCha8Rng::seed_from_u64(seed), spare: None }
    }

    /// Between 0 and 1, never either.
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.bits.next_u64() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }

    /// Standard normal (Box and Muller 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        let (sine, cosine) = (std::f64::consts::TAU * self.uniform()).sin_cos();
        self.spare = Some(radius * sine);
        radius * cosine
    }
}

/// How trials scatter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Noise {
    /// By the same amount at each n, a part of the greatest throughput.
    Same(f64),
    /// By the same part of the throughput at each n.
    Part(f64),
    /// By a part that grows: so much at the least n, four times as much at the largest.
    Growing(f64),
}

/// A law with its coefficients, and how it is measured.
#[derive(Clone, Debug)]
pub(crate) struct Plant {
    /// The law.
    pub(crate) law: Law,
    /// Its coefficients, in the order of the fit.
    pub(crate) truth: Vec<f64>,
    /// The levels of n.
    pub(crate) ns: Vec<f64>,
    /// Trials at each.
    pub(crate) trials: u32,
    /// How they scatter.
    pub(crate) noise: Noise,
}

impl Plant {
    /// Throughput without noise, by the forward formulas and not by those of the fit.
    pub(crate) fn throughput(&self, n: f64) -> f64 {
        let t = &self.truth;
        match self.law {
            Law::Linear => t[0] * n,
            Law::Gustafson => t[0] * gustafson(t[1], n),
            Law::Amdahl => t[0] * amdahl(t[1], n),
            Law::Usl => universal([t[0], t[1], t[2]], n),
            Law::Kink => kink([t[0], 0.0, t[1]], n),
            Law::ContendedKink => kink([t[0], t[1], t[2]], n),
        }
    }

    /// One session's trials.
    pub(crate) fn points(&self, draws: &mut Draws) -> Vec<Point> {
        let most = self.ns.iter().map(|&n| self.throughput(n)).fold(0.0, f64::max);
        let last = self.ns[self.ns.len() - 1];
        let mut points = Vec::new();
        for &n in &self.ns {
            let x = self.throughput(n);
            let deviation = match self.noise {
                Noise::Same(part) => part * most,
                Noise::Part(part) => part * x,
                Noise::Growing(part) => part * x * (1.0 + 3.0 * (n - 1.0) / (last - 1.0)),
            };
            for _ in 0..self.trials {
                // A throughput is above 0, however unlikely the draw.
                points.push(Point::new(n, (x + deviation * draws.normal()).max(1e-9 * x)));
            }
        }
        points
    }
}
