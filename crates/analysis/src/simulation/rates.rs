//! What the intervals of frequencies cover, where chances are independent and where they are not.

use super::*;
use crate::frequency::{Frequency, Tally};

const DRAWN: usize = 500;

/// Events among chances that are each one with probability `chance`: by the gaps between events
/// (Devroye, *Non-Uniform Random Variate Generation*, 1986, X.4).
fn events(chances: u64, chance: f64, draws: &mut Draws) -> u64 {
    if chance <= 0.0 {
        return 0;
    }
    let (mut events, mut at) = (0, 0.0);
    loop {
        at += (draws.uniform().ln() / (-chance).ln_1p()).floor() + 1.0;
        if at > chances as f64 {
            return events;
        }
        events += 1;
    }
}

/// From the gamma distribution of that shape and scale 1 (Marsaglia and Tsang, *A simple method
/// for generating gamma variables*, 2000).
fn gamma(shape: f64, draws: &mut Draws) -> f64 {
    if shape < 1.0 {
        return gamma(shape + 1.0, draws) * draws.uniform().powf(1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = draws.normal();
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && draws.uniform().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

/// A made-up rate: its truth, the chances of a trial, and how many times as much as by chance the
/// trials' counts vary (1: they do not differ at all).
#[derive(Clone, Copy, Debug)]
struct Rate {
    truth: f64,
    chances: u64,
    excess: f64,
}

impl Rate {
    /// One trial: its own frequency from the beta distribution, then its events.
    fn trial(self, draws: &mut Draws) -> Tally {
        let mut own = self.truth;
        if self.excess > 1.0 {
            let within = (self.excess - 1.0) / (self.chances as f64 - 1.0);
            let whole = 1.0 / within - 1.0;
            let happens = gamma(self.truth * whole, draws);
            own = happens / (happens + gamma((1.0 - self.truth) * whole, draws));
        }
        Tally { events: events(self.chances, own, draws), chances: self.chances }
    }

    /// How often the intervals of the trial's unit and of pooled chances hold the truth.
    fn coverage(self, trials: usize, seed: u64) -> (f64, f64) {
        let mut draws = Draws::new(seed);
        let (mut right, mut naive) = (0, 0);
        for _ in 0..DRAWN {
            let tallies: Vec<Tally> = (0..trials).map(|_| self.trial(&mut draws)).collect();
            let found = Frequency::over(&tallies).unwrap();
            let pooled = Frequency { effective: found.all.chances as f64, ..found };
            let holds = |frequency: Frequency| {
                let interval = frequency.estimate();
                usize::from(interval.low <= self.truth && self.truth <= interval.high)
            };
            right += holds(found);
            naive += holds(pooled);
        }
        (right as f64 / DRAWN as f64, naive as f64 / DRAWN as f64)
    }
}

const RATES: [(f64, u64); 3] = [(0.3, 50), (0.05, 200), (2e-4, 40_000)];

#[test]
fn independent_chances_are_covered() {
    let mut cells = Vec::new();
    for (index, (truth, chances)) in RATES.into_iter().enumerate() {
        for trials in [6, 12, 40] {
            let rate = Rate { truth, chances, excess: 1.0 };
            let (right, naive) = rate.coverage(trials, 2000 + index as u64);
            // Exact limits of few trials err on the safe side; in the simulation of the method
            // coverage was 96 to 99 %.
            let low = 0.95 - 3.0 * binomial_error(0.95, DRAWN);
            assert!((low..=0.995).contains(&right), "{rate:?}, {trials} trials: {right}");
            assert!(right >= naive, "{rate:?}: {right} {naive}");
            cells.push(right);
        }
    }
    let mean = cells.iter().sum::<f64>() / cells.len() as f64;
    assert!((0.95..=0.985).contains(&mean), "mean coverage {mean} of {cells:?}");
}

#[test]
fn bursts_are_covered_and_pooled_chances_would_not_be() {
    let mut cells = Vec::new();
    for (index, (truth, chances)) in RATES.into_iter().enumerate() {
        for trials in [6, 12, 40] {
            let rate = Rate { truth, chances, excess: 5.0 };
            let (right, naive) = rate.coverage(trials, 2100 + index as u64);
            let low = 0.93 - 3.0 * binomial_error(0.93, DRAWN);
            assert!((low..=0.985).contains(&right), "{rate:?}, {trials} trials: {right}");
            // 1.96/√5 normal deviations hold 62 %.
            assert!((0.55..=0.72).contains(&naive), "{rate:?}, {trials} trials: {naive}");
            cells.push(right);
        }
    }
    let mean = cells.iter().sum::<f64>() / cells.len() as f64;
    assert!((0.935..=0.97).contains(&mean), "mean coverage {mean} of {cells:?}");
}

#[test]
fn the_known_weak_spot_of_rates_is_no_weaker_than_said() {
    // Two or three independent bursts in the whole session: see `frequency`.
    let rate = Rate { truth: 1e-5, chances: 100_000, excess: 5.0 };
    let (right, naive) = rate.coverage(6, 2200);
    assert!((0.86..0.97).contains(&right), "{right}");
    assert!(naive < 0.72, "{naive}");
}
