//! Simulated sessions, judged as scruple judges them.

use crate::noise::{Chances, Draws, Noise};
use analysis::interval::{Located, centre};
use analysis::{claims_that_stand, frequency, mean, shared_correlation, variance};

/// The least coverage where blocks are independent.
pub(crate) const INDEPENDENT: f64 = 0.93;

/// All noises, by the name that the table gives them, and the least coverage. Below 93 % neighbouring
/// blocks are alike, or the answer changes during the session. The last ten were not used to choose the
/// method, and no independent one after the 21st was.
pub(crate) const NOISES: [(&str, Noise, f64); 42] = [
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
    ("one side with a correlation of 0.5", Noise::OneSideWanders, 0.9),
    ("Laplace", Noise::Laplace, INDEPENDENT),
    ("uniform", Noise::Uniform, INDEPENDENT),
    ("long tails on both sides", Noise::Opposed, INDEPENDENT),
    ("one trial of 50 twenty times as slow", Noise::RareStalls, INDEPENDENT),
    ("noise that grows by a tenth a block", Noise::Widens, INDEPENDENT),
    ("a third of the blocks + 3 %", Noise::SlowBlocks, INDEPENDENT),
    ("claims share a baseline, in both directions", Noise::Shared, INDEPENDENT),
    ("one side fast and slow by turns", Noise::Alternates, 0.9),
    ("one side warms up from + 6 %", Noise::WarmsUp, 0.0),
    ("one side + 6 % from the middle on", Noise::Steps, 0.0),
    ("one side + 0.5 % a block", Noise::Trend, 0.0),
    ("one side with a correlation of 0.3", Noise::Follows(0.3), 0.8),
    ("one side with a correlation of 0.8", Noise::Follows(0.8), 0.8),
    ("correlation 0.6, Student's t with 3 degrees", Noise::FollowsHeavily, 0.8),
    ("half the noise is also in the next block", Noise::Overlaps, 0.8),
    ("claims share a baseline with correlation 0.5", Noise::SharedFollows, 0.8),
    ("one side swings by 4 % over the session", Noise::Swings, 0.0),
    ("one side + 3 %, + 1.5 %, + 0 in thirds", Noise::TwoSteps, 0.0),
    ("one side starts cold, + 8 %, half each block", Noise::ColdStart, 0.0),
    ("one side + 5 % in a third of the session", Noise::Episode, 0.0),
    ("lognormal, sigma 0.2", Noise::Lognormal(0.2), INDEPENDENT),
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

    /// Judges a session of `claims` claims, each with its truth at the edge of its region: whether it holds a
    /// verdict, which would be a wrong one; and else whether a claim's blocks were seen to depend on each other
    /// or to change, so that their verdict may have been withheld.
    pub(crate) fn judged(self, blocks: usize, claims: usize, draws: &mut Draws) -> (bool, bool) {
        let located = self.together(blocks, claims, draws);
        let p_values: Vec<f64> = located.iter().map(|it| it.p_value_of_claim(self.truth)).collect();
        let wrong = claims_that_stand(&p_values).contains(&true);
        (wrong, !wrong && located.iter().any(Located::is_doubtful))
    }

    /// Returns the numbers of one experiment, judged together.
    fn together(self, blocks: usize, numbers: usize, draws: &mut Draws) -> Vec<Located> {
        let sessions = self.noise.claims(blocks, numbers, draws);
        let numbers: Vec<&[f64]> = sessions.iter().map(Vec::as_slice).collect();
        let alike = shared_correlation(&numbers);
        sessions.iter().filter_map(|it| Some(centre(it)?.following(alike))).collect()
    }

    /// Returns how many of the 95 % intervals of an experiment's numbers hold the truth.
    pub(crate) fn covered(self, blocks: usize, numbers: usize, draws: &mut Draws) -> u64 {
        let located = self.together(blocks, numbers, draws);
        located.iter().filter(|it| self.is_in(it)).count() as u64
    }

    /// Whether the 95 % interval of one session holds the truth.
    pub(crate) fn is_covered(self, blocks: usize, draws: &mut Draws) -> bool {
        self.located(blocks, draws).is_some_and(|it| self.is_in(&it))
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
}

/// A test of the null hypothesis that a number lies at the edge of its claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    /// The sign test over blocks: scruple's own.
    Sign,
    /// Student's t of the blocks' differences.
    Paired,
    /// Welch's t of the two sides, as if they had no blocks.
    Welch,
}

/// The noise of either side where effects are to be found: normal, 2 %.
const SIGMA: f64 = 0.02;

impl Test {
    fn p_value(self, effect: f64, blocks: usize, draws: &mut Draws) -> f64 {
        let mut side = |level: f64| -> Vec<f64> {
            (0..blocks).map(|_| level + SIGMA * draws.normal()).collect()
        };
        let (b, a) = (side(effect), side(0.0));
        let ratios: Vec<f64> = b.iter().zip(&a).map(|(b, a)| b - a).collect();
        let n = blocks as f64;
        let student = |mean: f64, variance: f64, freedom: f64| {
            laws::tail::student_outside(freedom, mean.abs() / (variance / n).sqrt())
        };
        let known = |of: &[f64]| mean(of).zip(variance(of)).unwrap_or_default();
        match self {
            Test::Sign => centre(&ratios).map_or(1.0, |it| it.p_value_of_claim(0.0)),
            Test::Paired => {
                let (mean, variance) = known(&ratios);
                student(mean, variance, n - 1.0)
            }
            Test::Welch => {
                let ((above, of_b), (below, of_a)) = (known(&b), known(&a));
                let squares = of_b.powi(2) + of_a.powi(2);
                let freedom = (n - 1.0) * (of_b + of_a).powi(2) / squares;
                student(above - below, of_b + of_a, freedom)
            }
        }
    }

    /// Reports whether an effect (as a logarithm) is found by one of `claims` claims, of which every sixth lies
    /// at its edge and all others are far from theirs.
    pub(crate) fn finds(
        self,
        effect: f64,
        (blocks, claims): (usize, usize),
        draws: &mut Draws,
    ) -> bool {
        let others = (1..claims).map(|at| if at % 6 == 0 { 0.0 } else { 1.0 });
        let effects = std::iter::once(effect).chain(others);
        let p_values: Vec<f64> = effects.map(|it| self.p_value(it, blocks, draws)).collect();
        claims_that_stand(&p_values)[0]
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
