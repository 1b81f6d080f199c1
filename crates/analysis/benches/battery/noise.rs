//! Noises with a known truth: one number per block, as a session's analysis would form it.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A source of draws.
pub(crate) struct Draws {
    bits: ChaCha8Rng,
}

impl Draws {
    /// The same draws for the same seed.
    pub(crate) fn new(seed: u64) -> Self {
        Draws { bits: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// Between 0 and 1, never 0.
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.bits.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Standard normal (Box and Muller 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// True with that chance.
    pub(crate) fn chance(&mut self, chance: f64) -> bool {
        self.uniform() < chance
    }
}

/// What disturbs the trials of two treatments, `b` and `a`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Noise {
    /// Both normal, 2 %.
    Normal,
    /// `b` normal 3 %, `a` normal 1 %.
    Unequal,
    /// `b` slower by `by` in a share `of` of its trials.
    OneMode { of: f64, by: f64 },
    /// Both sides slower by 8 % in half of their trials.
    BothModes,
    /// `b` lognormal with that sigma, `a` normal.
    Lognormal(f64),
    /// `b` slowed by a Pareto variable with the exponent 1.5, whose variance is infinite.
    Pareto,
    /// Both Student's t with that many degrees of freedom (1: Cauchy).
    Heavy(u32),
    /// `b` fast now and then: one side, the other direction.
    FastNowAndThen,
    /// A metric with two digits.
    TwoDigits,
    /// A metric with two digits, noisy on one side only, and skewed.
    SkewedDigits,
    /// A random walk of 10 % a block, shared by both sides.
    Drift,
    /// A trial after `b` is slower by 5 %; blocks are shuffled.
    CarryOver,
    /// `b` keeps one of two modes, 8 % apart, and changes it after a block with that chance.
    KeptMode(f64),
    /// The block's number follows its predecessor (correlation 0.5).
    Wanders,
    /// `b` follows its predecessor (correlation 0.5), `a` does not.
    OneSideWanders,
    /// Both Laplace.
    Laplace,
    /// Both uniform.
    Uniform,
    /// `b` with a long tail to the right, `a` with one to the left.
    Opposed,
    /// `b` twenty times as slow in one trial of fifty.
    RareStalls,
    /// The noise of both sides grows by a tenth a block.
    Widens,
    /// `b` is fast and slow by turns, 5 % apart.
    Alternates,
    /// `b` is slower by 6 % at first, and by half as much every two blocks later.
    WarmsUp,
    /// `b` is slower by 6 % from the middle of the session on.
    Steps,
    /// `b` becomes slower by 0.5 % a block; the truth is that of the middle.
    Trend,
    /// A third of the blocks is slow, and `b` by 3 % more than `a`.
    SlowBlocks,
    /// `b` follows its predecessor with that correlation, `a` does not.
    Follows(f64),
    /// The same with a correlation of 0.6 and Student's t with 3 degrees of freedom.
    FollowsHeavily,
    /// Half of a block's noise is also in the next block.
    Overlaps,
    /// `b` swings by 4 % over the session, beginning anywhere.
    Swings,
    /// `b` is slower by 3 % in the first third of the session, and by 1.5 % in the second.
    TwoSteps,
    /// `b` is slower by 8 % in the first block, and by half as much in each block later.
    ColdStart,
    /// All claims of a session compare with the same `a`, which follows its predecessor (correlation 0.5).
    SharedFollows,
    /// `b` is 5 % slower in a third of the session, anywhere in it.
    Episode,
    /// Normal, and all claims of a session compare with the same `a`, every other one the other way round.
    Shared,
}

impl Noise {
    /// The logarithms of `blocks` ratios `b / a` of a session.
    pub(crate) fn session(self, blocks: usize, draws: &mut Draws) -> Vec<f64> {
        match self {
            Noise::Drift => drift(blocks, draws),
            Noise::CarryOver => carry_over(blocks, draws),
            Noise::KeptMode(changes) => kept_mode(blocks, changes, draws),
            Noise::Wanders => wanders(blocks, draws),
            Noise::OneSideWanders | Noise::SharedFollows => {
                let side = wanders(blocks, draws).into_iter();
                side.map(|b| b - 0.02 * draws.normal()).collect()
            }
            Noise::Follows(correlation) => {
                let side = follows(blocks, correlation, draws, Draws::normal).into_iter();
                side.map(|b| b - 0.02 * draws.normal()).collect()
            }
            Noise::FollowsHeavily => follows(blocks, 0.6, draws, |draws| student(3, draws)),
            Noise::Overlaps => {
                let all: Vec<f64> = (0..=blocks).map(|_| 0.02 * draws.normal()).collect();
                all.windows(2).map(|two| two[0] + two[1]).collect()
            }
            Noise::Swings | Noise::Episode => {
                let start = draws.uniform();
                let part = |block: usize| {
                    let at = (block as f64 / blocks as f64 + start).fract();
                    if self == Noise::Swings {
                        return 0.04 * (std::f64::consts::TAU * at).sin();
                    }
                    if at < 1.0 / 3.0 { 0.05 } else { 0.0 }
                };
                (0..blocks).map(|block| part(block) + 0.02 * draws.normal()).collect()
            }
            Noise::Widens => {
                let widths = (0..blocks).map(|block| 0.01 * 1.1_f64.powi(block as i32));
                widths.map(|width| width * (draws.normal() - draws.normal())).collect()
            }
            Noise::Alternates
            | Noise::WarmsUp
            | Noise::Steps
            | Noise::Trend
            | Noise::TwoSteps
            | Noise::ColdStart => {
                let part = |block: usize| self.moved(block, blocks);
                (0..blocks).map(|block| part(block) + 0.02 * draws.normal()).collect()
            }
            _ => (0..blocks).map(|_| self.block(draws)).collect(),
        }
    }

    /// The same for all claims of a session.
    pub(crate) fn claims(self, blocks: usize, claims: usize, draws: &mut Draws) -> Vec<Vec<f64>> {
        if !matches!(self, Noise::Shared | Noise::SharedFollows) {
            return (0..claims).map(|_| self.session(blocks, draws)).collect();
        }
        let base: Vec<f64> = match self {
            Noise::SharedFollows => wanders(blocks, draws),
            _ => (0..blocks).map(|_| 0.02 * draws.normal()).collect(),
        };
        let mut claim = |at: usize| {
            let sign = if at.is_multiple_of(2) { 1.0 } else { -1.0 };
            base.iter().map(|a| sign * (0.02 * draws.normal() - a)).collect()
        };
        (0..claims).map(&mut claim).collect()
    }

    fn block(self, draws: &mut Draws) -> f64 {
        let quiet = |draws: &mut Draws| 0.01 * draws.normal();
        match self {
            Noise::Unequal => 0.03 * draws.normal() - quiet(draws),
            Noise::OneMode { of, by } => {
                let slow = if draws.chance(of) { by.ln_1p() } else { 0.0 };
                slow + quiet(draws) - quiet(draws)
            }
            Noise::BothModes => {
                let mut one = || if draws.chance(0.5) { 0.08_f64.ln_1p() } else { 0.0 };
                one() - one() + 0.01 * draws.normal()
            }
            Noise::Lognormal(sigma) => sigma * (draws.normal().exp() - 1.0) - quiet(draws),
            Noise::Pareto => (0.02 * draws.uniform().powf(-1.0 / 1.5)).ln_1p() - quiet(draws),
            Noise::Heavy(freedom) => 0.01 * (student(freedom, draws) - student(freedom, draws)),
            Noise::FastNowAndThen => {
                let fast = if draws.chance(0.3) { 0.2 * draws.uniform() } else { 0.0 };
                quiet(draws) - fast
            }
            Noise::TwoDigits => {
                (two_digits(0.24, 0.01, draws) / two_digits(0.24, 0.01, draws)).ln()
            }
            Noise::SkewedDigits => {
                let skewed = 0.205 + 0.02 * draws.normal().exp();
                ((skewed * 100.0).round() / 23.0).ln()
            }
            Noise::Laplace => laplace(draws) - laplace(draws),
            Noise::Uniform => 0.04 * (draws.uniform() - draws.uniform()),
            Noise::Opposed => {
                let mut tail = || 0.02 * (draws.normal().exp() - 1.0);
                tail() + tail()
            }
            Noise::RareStalls => {
                let stalled = if draws.chance(0.02) { 20.0_f64.ln() } else { 0.0 };
                stalled + quiet(draws) - quiet(draws)
            }
            Noise::SlowBlocks => {
                let slow = if draws.chance(1.0 / 3.0) { 0.03 } else { 0.0 };
                slow + quiet(draws) - quiet(draws)
            }
            _ => 0.02 * (draws.normal() - draws.normal()),
        }
    }

    /// By how much `b` is slower in a block than the session's truth: its end where a side warms up, its first
    /// half where it steps, its middle where it drifts.
    fn moved(self, block: usize, blocks: usize) -> f64 {
        match self {
            Noise::Alternates => 0.05 * f64::from(u8::from(block.is_multiple_of(2))),
            Noise::WarmsUp => 0.06 * 0.5_f64.powf(block as f64 / 2.0),
            Noise::Steps => 0.06 * f64::from(u8::from(2 * block >= blocks)),
            Noise::TwoSteps => 0.015 * f64::from(2 - (3 * block / blocks) as u32),
            Noise::ColdStart => 0.08 * 0.5_f64.powi(block as i32),
            Noise::Trend => 0.005 * (block as f64 - (blocks as f64 - 1.0) / 2.0),
            _ => 0.0,
        }
    }

    /// The estimand: the median of a block's number.
    pub(crate) fn truth(self, draws: &mut Draws) -> f64 {
        match self {
            // By symmetry; a mixture's median is hard to find by simulation inside its gap.
            Noise::KeptMode(_) | Noise::OneMode { of: 0.5, .. } => self.middle(),
            Noise::WarmsUp
            | Noise::Steps
            | Noise::Trend
            | Noise::TwoSteps
            | Noise::ColdStart
            | Noise::Swings
            | Noise::Episode => 0.0,
            Noise::Alternates => 0.025,
            _ => {
                let mut many: Vec<f64> = (0..4_000).flat_map(|_| self.session(50, draws)).collect();
                many.sort_unstable_by(f64::total_cmp);
                many[many.len() / 2]
            }
        }
    }

    fn middle(self) -> f64 {
        let by: f64 = if let Noise::OneMode { by, .. } = self { by } else { 0.08 };
        by.ln_1p() / 2.0
    }
}

fn laplace(draws: &mut Draws) -> f64 {
    let sign = if draws.chance(0.5) { 1.0 } else { -1.0 };
    -0.02 * sign * draws.uniform().ln()
}

fn student(freedom: u32, draws: &mut Draws) -> f64 {
    let squares: f64 = (0..freedom).map(|_| draws.normal().powi(2)).sum();
    draws.normal() / (squares / f64::from(freedom)).sqrt()
}

fn two_digits(level: f64, sigma: f64, draws: &mut Draws) -> f64 {
    ((level + sigma * draws.normal()) * 100.0).round() / 100.0
}

fn drift(blocks: usize, draws: &mut Draws) -> Vec<f64> {
    let mut level = 0.0;
    let mut block = || {
        level += 0.1 * draws.normal();
        let (b, a) = (level + 0.02 * draws.normal(), level + 0.02 * draws.normal());
        (b.exp() / a.exp()).ln()
    };
    (0..blocks).map(|_| block()).collect()
}

fn carry_over(blocks: usize, draws: &mut Draws) -> Vec<f64> {
    let mut after_b = false;
    let mut block = || {
        let slowed = |after_b: bool| if after_b { 0.05 } else { 0.0 };
        let b_first = draws.chance(0.5);
        let (b, a) = match b_first {
            true => (slowed(after_b), slowed(true)),
            false => (slowed(false), slowed(after_b)),
        };
        after_b = !b_first;
        b - a + 0.01 * draws.normal()
    };
    (0..blocks).map(|_| block()).collect()
}

fn kept_mode(blocks: usize, changes: f64, draws: &mut Draws) -> Vec<f64> {
    let mut slow = draws.chance(0.5);
    let mut block = || {
        slow ^= draws.chance(changes);
        f64::from(u8::from(slow)) * 0.08_f64.ln_1p() + 0.01 * draws.normal()
    };
    (0..blocks).map(|_| block()).collect()
}

/// Returns numbers that follow their predecessors, 2 % wide.
fn follows(
    blocks: usize,
    correlation: f64,
    draws: &mut Draws,
    noise: fn(&mut Draws) -> f64,
) -> Vec<f64> {
    let rest = (1.0 - correlation * correlation).sqrt();
    let mut at = noise(draws);
    let mut block = || {
        at = correlation * at + rest * noise(draws);
        0.02 * at
    };
    // What came before the session shapes its first block.
    (0..20).for_each(|_| _ = block());
    (0..blocks).map(|_| block()).collect()
}

fn wanders(blocks: usize, draws: &mut Draws) -> Vec<f64> {
    let mut at = draws.normal();
    let mut block = || {
        at = 0.5 * at + 0.75_f64.sqrt() * draws.normal();
        0.02 * at
    };
    (0..blocks).map(|_| block()).collect()
}

/// What happens to the chances of one trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Chances {
    /// Each is an event with that chance.
    Independent(f64),
    /// The trial's own frequency is beta distributed, with that mean and the correlation 0.2 between
    /// two chances.
    BetaBinomial(f64),
    /// In that share of the trials half of all chances are events, in the others none.
    Bursts(f64),
}

impl Chances {
    /// The events among `chances` of one trial.
    pub(crate) fn trial(self, chances: u64, draws: &mut Draws) -> u64 {
        let own = match self {
            Chances::Independent(share) => share,
            Chances::BetaBinomial(share) => {
                let whole = 1.0 / 0.2 - 1.0;
                let (one, other) =
                    (gamma(share * whole, draws), gamma((1.0 - share) * whole, draws));
                one / (one + other)
            }
            Chances::Bursts(of) => f64::from(u8::from(draws.chance(of))) / 2.0,
        };
        (0..chances).filter(|_| draws.chance(own)).count() as u64
    }

    /// The frequency of events.
    pub(crate) fn truth(self) -> f64 {
        match self {
            Chances::Independent(share) | Chances::BetaBinomial(share) => share,
            Chances::Bursts(of) => of / 2.0,
        }
    }
}

/// From the gamma distribution of that shape and scale 1 (Marsaglia and Tsang, *A simple method for
/// generating gamma variables*, 2000).
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
