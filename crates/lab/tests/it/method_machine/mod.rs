//! A made-up machine: it drifts, warms up, has neighbours that stay for a while, remembers its last
//! state, and minds where things lie in memory.

use model::{Counters, Measured, Outcome, Record, Series, Surroundings, Treatment};

/// Observations of one trial.
pub(crate) const OBSERVATIONS: usize = 5;

/// From block to block all gets faster or slower by a random step of 15 %, far more than a trial's
/// own noise; from trial to trial by 1 %.
const DRIFT: f64 = 0.15;
const CREEP: f64 = 0.01;

/// The first trial of a block is slower by a fifth, the next ones less and less.
const WARM_UP: f64 = 0.2;
const WARM_AFTER: f64 = 2.0;

/// A neighbour slows all by 20 % while it is there. It comes before one trial in 20 and leaves
/// before one in 5, so that it stays for several.
const SLOWED: f64 = 0.2;
const COMES: f64 = 0.05;
const LEAVES: f64 = 0.2;

/// What a trial does to the machine is half there in the next.
const REMEMBERED: f64 = 0.5;
const MEMORY: f64 = 0.02;

/// How much a treatment minds where its stack lies.
const LAYOUT: f64 = 0.1;

/// A trial's own noise is skewed: a time has a least. Observations scatter about the trial's level.
const BETWEEN_TRIALS: f64 = 0.03;
const WITHIN_TRIALS: f64 = 0.02;

/// SplitMix64 (Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, OOPSLA
/// 2014), from which draws are made.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x0123_4567_89ab_cdef)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Between 0 and 1, never 0.
    fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal (Box and Muller 1958).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// The numbers below `count` in a random order.
    pub(crate) fn permutation(&mut self, count: u32) -> Vec<u32> {
        let mut all: Vec<(u64, u32)> = (0..count).map(|number| (self.bits(), number)).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, number)| number).collect()
    }
}

pub(crate) struct Machine {
    random: Random,
    drift: f64,
    remembered: f64,
    has_neighbour: bool,
}

impl Machine {
    pub(crate) fn new(seed: u64) -> Self {
        Machine { random: Random::new(seed), drift: 0.0, remembered: 0.0, has_neighbour: false }
    }

    /// The observations of one trial, in ns: of an operation that takes 100 µs, times `effect`.
    pub(crate) fn measure(
        &mut self,
        treatment: &Treatment,
        position: usize,
        padding_bytes: u32,
        effect: f64,
    ) -> Vec<i64> {
        let random = &mut self.random;
        self.drift += if position == 0 { DRIFT } else { CREEP } * random.normal();
        self.remembered = REMEMBERED * self.remembered + MEMORY * random.normal();
        let change = if self.has_neighbour { LEAVES } else { COMES };
        self.has_neighbour ^= random.uniform() < change;
        let level = effect.ln()
            + self.drift
            + self.remembered
            + WARM_UP * (-(position as f64) / WARM_AFTER).exp()
            + if self.has_neighbour { SLOWED } else { 0.0 }
            + layout(treatment, padding_bytes)
            + (BETWEEN_TRIALS * random.normal().exp()).ln_1p();
        let observe = |()| (1e5 * (level + WITHIN_TRIALS * random.normal()).exp()).round() as i64;
        [(); OBSERVATIONS].map(observe).into()
    }
}

/// What the layout does to a treatment: a wave over the sizes of the padding, of which each
/// treatment has its own part. Over all sizes together it is nothing.
fn layout(treatment: &Treatment, padding_bytes: u32) -> f64 {
    let name = treatment.to_string();
    let phase = name.bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31) + u32::from(byte));
    let turns = f64::from(phase % 360) / 360.0 + f64::from(padding_bytes) / 4096.0;
    LAYOUT * (std::f64::consts::TAU * turns).sin()
}

pub(crate) fn record(
    experiment: &str,
    block: u32,
    position: usize,
    treatment: &Treatment,
    values: Vec<i64>,
) -> Record {
    let measured = Measured {
        series: vec![Series { response: "pass_ns".into(), per: 1, values }],
        counters: Counters::default(),
        ..Measured::default()
    };
    Record {
        trial: 0,
        experiment: experiment.into(),
        block,
        position: position as u32,
        treatment: treatment.clone(),
        started_unix_ms: 0,
        padding_bytes: 0,
        outcome: Outcome::Completed { leaked: 0 },
        observed: Default::default(),
        measured: Some(measured),
        process: None,
        spawn_to_ready_ns: None,
        harness_ns: None,
        measuring_ns: None,
        total_ns: 0,
        runner_cpu_ns: None,
        machine: Surroundings::default(),
        log: String::new(),
    }
}
