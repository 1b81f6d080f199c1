//! What the intervals of frequencies cover: by trials whatever depends on what, by chances where these
//! are independent.

use super::*;
use crate::stats::frequency::{Frequency, Tally};

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

    /// How often the intervals hold the truth, by trials or where chances are declared independent.
    fn coverage(self, trials: usize, independent: bool, seed: u64) -> f64 {
        let mut draws = Draws::new(seed);
        let covered = (0..DRAWN).filter(|_| {
            let tallies: Vec<Tally> = (0..trials).map(|_| self.trial(&mut draws)).collect();
            let interval = Frequency::over(&tallies, independent).unwrap().estimate();
            interval.low <= self.truth && self.truth <= interval.high
        });
        covered.count() as f64 / DRAWN as f64
    }
}

const RATES: [(f64, u64); 4] = [(0.3, 50), (0.05, 200), (0.01, 100), (2e-4, 40_000)];

#[test]
fn independent_chances_are_covered() {
    for (index, (truth, chances)) in RATES.into_iter().enumerate() {
        for trials in [6, 12, 40] {
            let rate = Rate { truth, chances, excess: 1.0 };
            let found = rate.coverage(trials, true, 2000 + index as u64);
            // Exact limits of few trials err on the safe side.
            let low = 0.95 - 3.0 * binomial_error(0.95, DRAWN);
            assert!((low..=0.998).contains(&found), "{rate:?}, {trials} trials: {found}");
        }
    }
}

#[test]
fn bursts_are_covered_by_trials() {
    // From five times the variance of chance to trials that are all or nothing.
    for (index, (truth, chances)) in RATES.into_iter().enumerate() {
        for excess in [1.0, 5.0, 20.0, chances as f64 / 2.0] {
            for trials in [2, 6, 12, 40] {
                let rate = Rate { truth, chances, excess };
                let found = rate.coverage(trials, false, 2100 + index as u64);
                let low = 0.95 - 3.0 * binomial_error(0.95, DRAWN);
                assert!(found >= low, "{rate:?}, {trials} trials: {found}");
            }
        }
    }
}

#[test]
fn a_wrong_declaration_of_independence_would_not_cover() {
    let rate = Rate { truth: 0.01, chances: 100, excess: 20.0 };
    let found = rate.coverage(12, true, 2200);
    assert!(found < 0.9, "{found}");
}
