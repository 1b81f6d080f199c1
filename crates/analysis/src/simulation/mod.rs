//! Simulated trials with known truth: what the intervals cover and how often verdicts err.
//!
//! Everything is seeded, so that a failure here is a change of the method, never bad luck.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

mod answers;
mod coverage;
mod error;
mod grades;
mod machine;
mod neighbour;
mod rates;
mod session;
mod sources;
mod unpaired;

/// The counts of blocks at which everything is tried.
const BLOCKS: [usize; 5] = [6, 8, 12, 20, 40];

/// A source of draws from the distributions that occur here.
pub(crate) struct Draws {
    bits: ChaCha8Rng,
    spare: Option<f64>,
}

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        Draws { bits: ChaCha8Rng::seed_from_u64(seed), spare: None }
    }

    /// Between 0 and 1, never 0.
    fn uniform(&mut self) -> f64 {
        ((self.bits.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
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

    /// True with that chance.
    fn chance(&mut self, chance: f64) -> bool {
        self.uniform() < chance
    }

    /// Student's t with 3 degrees of freedom: a normal over the root of a mean of 3 squares.
    fn student_3(&mut self) -> f64 {
        let squares: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
        self.normal() / (squares / 3.0).sqrt()
    }
}

/// The logarithm of one trial's value about its level.
#[derive(Clone, Copy, Debug)]
enum Noise {
    /// Normal with that standard deviation.
    Normal(f64),
    /// A time that has a least and is lognormal beyond it: ln(1 + size · e^Z).
    Skewed(f64),
    /// Student's t with 3 degrees of freedom, scaled.
    Heavy(f64),
    /// Normal, but one trial in ten is ten times as noisy.
    Contaminated(f64),
    /// Normal, but with that chance a trial is slowed by 10 to 100 %.
    Slowed(f64, f64),
    /// Two modes 20 % apart, the upper with that chance.
    Modes(f64, f64),
}

impl Noise {
    fn draw(self, draws: &mut Draws) -> f64 {
        match self {
            Noise::Normal(sigma) => sigma * draws.normal(),
            Noise::Skewed(size) => (size * draws.normal().exp()).ln_1p(),
            Noise::Heavy(scale) => scale * draws.student_3(),
            Noise::Contaminated(sigma) => {
                let factor = if draws.chance(0.1) { 10.0 } else { 1.0 };
                factor * sigma * draws.normal()
            }
            Noise::Slowed(sigma, chance) => {
                let slow = if draws.chance(chance) { 0.1 + 0.6 * draws.uniform() } else { 0.0 };
                sigma * draws.normal() + slow
            }
            Noise::Modes(sigma, chance) => {
                let mode = if draws.chance(chance) { 0.2 } else { 0.0 };
                sigma * draws.normal() + mode
            }
        }
    }
}

/// Two treatments: the noise of either.
#[derive(Clone, Copy, Debug)]
struct Pair(Noise, Noise);

impl Pair {
    /// One log-ratio per block. What drifts from block to block moves both sides alike: a random
    /// walk of 10 % a step, far more than the noise, must cancel.
    fn effects(self, blocks: usize, draws: &mut Draws) -> Vec<f64> {
        let mut drift = 0.0;
        let mut effects = Vec::with_capacity(blocks);
        for _ in 0..blocks {
            drift += 0.1 * draws.normal();
            let of = (drift + self.0.draw(draws)).exp();
            let to = (drift + self.1.draw(draws)).exp();
            effects.push((of / to).ln());
        }
        effects
    }

    /// The median of the log-ratio, from a large sample.
    fn truth(self, draws: &mut Draws) -> f64 {
        crate::median(&self.effects(100_000, draws)).unwrap()
    }
}

/// The pairs of noises that the intervals must stand. The same noise on both sides makes effects
/// symmetric, different noise makes them skewed.
const PAIRS: [(&str, Pair); 10] = [
    ("normal, three times the noise", Pair(Noise::Normal(0.01), Noise::Normal(0.03))),
    ("skewed", Pair(Noise::Skewed(0.1), Noise::Skewed(0.1))),
    ("skewed, three times the noise", Pair(Noise::Skewed(0.1), Noise::Skewed(0.03))),
    ("skewed against quiet", Pair(Noise::Skewed(0.1), Noise::Normal(0.005))),
    ("heavy, three times the noise", Pair(Noise::Heavy(0.01), Noise::Heavy(0.03))),
    ("contaminated", Pair(Noise::Contaminated(0.01), Noise::Contaminated(0.01))),
    ("slowed", Pair(Noise::Slowed(0.02, 0.1), Noise::Slowed(0.02, 0.1))),
    ("slowed on one side", Pair(Noise::Slowed(0.02, 0.2), Noise::Normal(0.02))),
    ("two modes", Pair(Noise::Modes(0.02, 0.5), Noise::Modes(0.02, 0.2))),
    ("two modes on one side", Pair(Noise::Modes(0.02, 0.5), Noise::Normal(0.02))),
];

/// Returns the standard error of a share that was found in `draws` draws.
fn binomial_error(share: f64, draws: usize) -> f64 {
    (share * (1.0 - share) / draws as f64).sqrt()
}

/// Reports whether a coverage counted in `drawn` draws lies between 93 and 97 %, within three
/// standard errors.
fn near_95(covered: usize, drawn: usize) -> bool {
    let low = 0.93 - 3.0 * binomial_error(0.93, drawn);
    let high = 0.97 + 3.0 * binomial_error(0.97, drawn);
    (low..=high).contains(&(covered as f64 / drawn as f64))
}
