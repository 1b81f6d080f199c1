//! Whether blocks follow their predecessors, judged of all numbers of an experiment together.
//!
//! A dozen blocks of one number show a correlation of 0.5 in one session of three, but the numbers of one
//! experiment are measured in the same blocks: together they show it where it is theirs. The
//! statistic is the sum of the rank autocorrelations at lags 1 and 2 over all numbers (Wald and Wolfowitz,
//! *An exact test for randomness in the non-parametric case based on serial correlation*, Annals of
//! Mathematical Statistics 14, 1943), which a level that drifts, steps or warms up also makes large.
//! The order of the blocks is permuted for all numbers at once, so that numbers that share trials keep
//! what they share: the test needs no independence between them.

use crate::stats::order::mean;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// The error with which dependence is found where there is none.
const ALIKE_ERROR: f64 = 0.05;

/// Numbers of fewer blocks do not count: they decide nothing.
const BLOCKS_MIN: usize = 8;

/// No correlation is taken for larger than this: a dozen blocks are worth three independent ones then, and
/// fewer would decide nothing at any distance.
const CORRELATION_MAX: f64 = 0.6;

/// Orders that are tried.
const PERMUTATIONS: usize = 199;

/// Fewer blocks of all numbers together do not show how fast a correlation decays.
const BLOCKS_FOR_DECAY: usize = 100;

/// No correlation decays more slowly than by this factor a block.
const DECAY_MAX: f64 = 0.9;

/// No more numbers than this are looked at: the first ones of a design are those that it is about.
const NUMBERS_MAX: usize = 128;

/// Returns the correlation with their predecessors that the blocks of several numbers show together, each number
/// in the order of its blocks; `None` where chance explains it, at the 5 % level.
///
/// Numbers of fewer than 8 blocks, and those whose blocks all agree, do not count.
pub fn shared_correlation(numbers: &[&[f64]]) -> Option<f64> {
    let ranked: Vec<Vec<f64>> =
        numbers.iter().filter_map(|blocks| ranks(blocks)).take(NUMBERS_MAX).collect();
    let longest = ranked.iter().map(Vec::len).max()?;
    let mut order: Vec<usize> = (0..longest).collect();
    let found = likeness(&ranked, &order);
    let mut random = ChaCha8Rng::seed_from_u64(longest as u64);
    let allowed = (ALIKE_ERROR * (PERMUTATIONS + 1) as f64) as usize - 1;
    let mut as_alike = 0;
    for _ in 0..PERMUTATIONS {
        order.shuffle(&mut random);
        as_alike += usize::from(likeness(&ranked, &order) >= found - 1e-9);
        if as_alike > allowed {
            return None;
        }
    }
    let at = |lag: usize| {
        let each: Vec<f64> = ranked.iter().map(|ranks| unbiased(ranks, lag)).collect();
        Some(mean(&each)?.max(0.0))
    };
    let blocks: usize = ranked.iter().map(Vec::len).sum();
    let (first, second) = (at(1)?, at(2)?);
    let of_mean = if blocks < BLOCKS_FOR_DECAY { first } else { of_mean(first, second) };
    Some(of_mean.min(CORRELATION_MAX))
}

/// Returns the correlation r with which (1 + r)/(1 − r) times the variance of independent blocks is that of
/// their mean, given the autocorrelations at lags 1 and 2: those at further lags decay as the second from the
/// first. Where one of two sides follows its predecessors and the other does not, lag 1 alone shows too little.
fn of_mean(first: f64, second: f64) -> f64 {
    let first = first.min(CORRELATION_MAX);
    let decay = (second / first.max(f64::MIN_POSITIVE)).clamp(first, DECAY_MAX);
    let sum = first / (1.0 - decay);
    sum / (1.0 + sum)
}

/// Returns the ranks less their mean, with a sum of squares of 1.
fn ranks(blocks: &[f64]) -> Option<Vec<f64>> {
    if blocks.len() < BLOCKS_MIN {
        return None;
    }
    let sign = |a: f64, b: f64| f64::from(i8::from(a > b) - i8::from(a < b));
    let rank = |one: &f64| blocks.iter().map(|other| sign(*one, *other)).sum::<f64>();
    let ranks: Vec<f64> = blocks.iter().map(rank).collect();
    let length = ranks.iter().map(|rank| rank * rank).sum::<f64>().sqrt();
    (length > 0.0).then(|| ranks.into_iter().map(|rank| rank / length).collect())
}

/// Returns the sum of the autocorrelations at lags 1 and 2, the blocks taken in that order.
fn likeness(ranked: &[Vec<f64>], order: &[usize]) -> f64 {
    let of_one = |ranks: &Vec<f64>| {
        let (mut sum, mut last, mut before) = (0.0, 0.0, 0.0);
        for rank in order.iter().filter_map(|block| ranks.get(*block)) {
            sum += rank * (last + before);
            (before, last) = (last, *rank);
        }
        sum
    };
    ranked.iter().map(of_one).sum()
}

/// Returns the autocorrelation of ranks at a lag without most of its bias, which is −(1 + 4 r)/n at lag 1 (Kendall,
/// *Note on bias in the estimation of autocorrelation*, Biometrika 41, 1954).
fn unbiased(ranks: &[f64], lag: usize) -> f64 {
    let n = ranks.len() as f64;
    let found: f64 = ranks.iter().zip(&ranks[lag..]).map(|(one, later)| one * later).sum();
    (found + 1.0 / n) / (1.0 - 4.0 / n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    /// Returns numbers that follow their predecessors.
    fn follow(correlation: f64, numbers: usize, blocks: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut noise =
            || (0..12).map(|_| f64::from(random.next_u32()) / 4_294_967_296.0).sum::<f64>() - 6.0;
        let rest = (1.0 - correlation * correlation).sqrt();
        let mut one = || {
            let mut level = noise();
            let mut next = || {
                level = correlation * level + rest * noise();
                level
            };
            (0..blocks).map(|_| next()).collect()
        };
        (0..numbers).map(|_| one()).collect()
    }

    fn found(numbers: &[Vec<f64>]) -> Option<f64> {
        shared_correlation(&numbers.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    #[test]
    fn chance_is_found_as_seldom_as_promised() {
        for (numbers, blocks) in [(1, 12), (10, 8), (30, 12)] {
            let among = |seed: &u64| found(&follow(0.0, numbers, blocks, *seed)).is_some();
            let count = (0..400).filter(among).count();
            assert!((4..=40).contains(&count), "{numbers} {blocks}: {count}");
        }
    }

    #[test]
    fn numbers_that_share_their_noise_are_no_evidence_twice() {
        let alike = |seed: &u64| {
            let one = follow(0.0, 1, 12, *seed).remove(0);
            found(&vec![one; 20]).is_some()
        };
        assert!((0..400).filter(alike).count() <= 40);
    }

    #[test]
    fn what_one_number_hides_ten_show() {
        let seen = |numbers: usize| {
            let results = (0..200).filter_map(move |seed| found(&follow(0.5, numbers, 12, seed)));
            let found: Vec<f64> = results.collect();
            (found.len(), mean(&found).unwrap())
        };
        let (ten, correlation) = seen(10);
        assert!(ten >= 190 && (0.35..=0.65).contains(&correlation), "{ten} {correlation}");
        assert!(seen(1).0 < 120);
    }

    #[test]
    fn too_few_blocks_and_constants_say_nothing() {
        assert_eq!(shared_correlation(&[]), None);
        assert_eq!(shared_correlation(&[&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]]), None);
        assert_eq!(shared_correlation(&[&[1.0; 9]]), None);
        // A number with fewer blocks does not hide the others.
        let steps = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
        assert_eq!(shared_correlation(&[&steps, &[1.0; 9], &steps[..8]]), Some(CORRELATION_MAX));
    }
}
