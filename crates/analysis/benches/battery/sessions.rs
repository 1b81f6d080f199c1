//! Simulated sessions, judged as scruple judges them.

use crate::noise::{Chances, Draws, Noise};
use analysis::interval::{Located, centre};
use analysis::{frequency, hommel};

/// The least coverage where blocks are independent.
pub(crate) const INDEPENDENT: f64 = 0.93;

/// All noises, by the name that the table gives them, and the least coverage. Below 93 % neighbouring
/// blocks are alike: a mode that is kept for most of a session cannot be seen in it.
pub(crate) const NOISES: [(&str, Noise, f64); 20] = [
    ("normal", Noise::Normal, INDEPENDENT),
    ("normal, three times the noise on one side", Noise::Unequal, INDEPENDENT),
    ("one side bimodal, half of it + 8 %", Noise::OneMode { of: 0.5, by: 0.08 }, INDEPENDENT),
    ("one side bimodal, 30 % of it + 22 %", Noise::OneMode { of: 0.3, by: 0.22 }, INDEPENDENT),
    ("one side bimodal, 45 % of it + 100 %", Noise::OneMode { of: 0.45, by: 1.0 }, INDEPENDENT),
    ("one side bimodal, 10 % of it + 50 %", Noise::OneMode { of: 0.1, by: 0.5 }, INDEPENDENT),
    ("both sides bimodal", Noise::BothModes, INDEPENDENT),
    ("one side lognormal", Noise::Lognormal(0.05), INDEPENDENT),
    ("one side Pareto 1.5", Noise::Pareto, INDEPENDENT),
    ("Student's t, 3 degrees of freedom", Noise::Heavy(3), INDEPENDENT),
    ("Cauchy", Noise::Heavy(1), INDEPENDENT),
    ("one side fast now and then", Noise::FastNowAndThen, INDEPENDENT),
    ("a metric with two digits", Noise::TwoDigits, INDEPENDENT),
    ("two digits, one side skewed", Noise::SkewedDigits, INDEPENDENT),
    ("drift of 10 % a block", Noise::Drift, INDEPENDENT),
    ("carry-over of 5 %", Noise::CarryOver, INDEPENDENT),
    ("a mode kept for 5 blocks", Noise::KeptMode(0.2), 0.9),
    ("a mode kept for 10 blocks", Noise::KeptMode(0.1), 0.65),
    ("a mode kept for 3 blocks", Noise::KeptMode(0.33), 0.9),
    ("correlation 0.5", Noise::Wanders, 0.9),
];

/// Blocks at which everything is tried.
pub(crate) const BLOCKS: [usize; 5] = [6, 8, 12, 20, 40];

/// A noise with its truth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    noise: Noise,
    truth: f64,
}

impl Known {
    /// The truth is found by simulation where there is no formula.
    pub(crate) fn new(noise: Noise, draws: &mut Draws) -> Self {
        Known { noise, truth: noise.truth(draws) }
    }

    fn located(self, blocks: usize, draws: &mut Draws) -> Option<Located> {
        centre(&self.noise.session(blocks, draws))
    }

    /// Whether a session of `claims` claims, each with its truth at the edge of its region, holds a
    /// verdict: it would be a wrong one.
    pub(crate) fn is_wrong(self, blocks: usize, claims: usize, draws: &mut Draws) -> bool {
        let p_value = |_| self.located(blocks, draws).map_or(1.0, |it| it.p_value(self.truth));
        let p_values: Vec<f64> = (0..claims).map(p_value).collect();
        hommel(&p_values).contains(&true)
    }

    /// Whether the 95 % interval of one session holds the truth.
    pub(crate) fn is_covered(self, blocks: usize, draws: &mut Draws) -> bool {
        self.located(blocks, draws).is_some_and(|it| self.is_in(&it))
    }

    /// Whether the interval holds the truth, or a claim whose edge it is gets no verdict.
    pub(crate) fn is_covered_or_silent(self, blocks: usize, draws: &mut Draws) -> bool {
        let Some(located) = self.located(blocks, draws) else { return true };
        self.is_in(&located) || !hommel(&[located.p_value(self.truth)])[0]
    }

    fn is_in(self, located: &Located) -> bool {
        let digit = 1e-9;
        located.low <= self.truth + digit && self.truth - digit <= located.high
    }

    /// Whether the interval holds the truth when the session ends as soon as it is narrow enough, by
    /// scruple's own rule: never before a verdict is possible, and not while the blocks fall into two
    /// groups.
    pub(crate) fn is_covered_when_stopped(self, half_width: f64, draws: &mut Draws) -> bool {
        let effects = self.noise.session(40, draws);
        let stops = |blocks: &usize| {
            let narrow = |it: Located| it.is_within(half_width) && !it.two_groups;
            centre(&effects[..*blocks]).is_some_and(narrow)
        };
        let blocks = (13..40).find(stops).unwrap_or(40);
        centre(&effects[..blocks]).is_some_and(|it| self.is_in(&it))
    }

    /// Whether an effect of that size (as a logarithm) is found by one of `claims` claims.
    pub(crate) fn is_found(
        self,
        effect: f64,
        blocks: usize,
        claims: usize,
        draws: &mut Draws,
    ) -> bool {
        let Some(located) = self.located(blocks, draws) else { return false };
        let mut p_values = vec![1.0; claims];
        p_values[0] = located.p_value(self.truth - effect);
        hommel(&p_values)[0]
    }
}

/// Whether the limits of a frequency hold the truth.
pub(crate) fn frequency_is_covered(
    of: Chances,
    chances: u64,
    trials: usize,
    draws: &mut Draws,
) -> bool {
    let tallies: Vec<(u64, u64)> =
        (0..trials).map(|_| (of.trial(chances, draws), chances)).collect();
    let truth = of.truth();
    frequency(&tallies, false).is_some_and(|found| found.low <= truth && truth <= found.high)
}
