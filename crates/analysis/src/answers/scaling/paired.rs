//! Throughputs without what whole blocks share.
//!
//! Noise that slows a whole block (a neighbour, the clock of the CPU) moves all its trials alike. It
//! says nothing of the curve's shape, and taken for scatter it hides which law holds: with 10 % of
//! it the wrong law was chosen in 57 to 71 % of simulated sessions. So the logarithm of a throughput
//! is split into a part of its n and a part of its block (two-way analysis by least squares, by
//! sweeps over both until nothing moves: Yates, *The analysis of multiple classifications with
//! unequal numbers in the different classes*, Journal of the American Statistical Association 29,
//! 1934), and the block's part is taken away.
//!
//! A block with L different n spends one of L on its own part, so that what scatters is left too
//! small by √((L − 1)/L). It is made larger by that, since what follows (t, the bootstrap, the
//! criterion of Akaike) takes the trials for independent. The height of the curve is not known
//! better than blocks scatter: [`Paired::error`] says by how much.

use crate::stats::order;
use std::collections::BTreeMap;

/// A trial: n, its block, its throughput.
pub(super) type Blocked = (f64, u32, f64);

/// Trials without what their blocks share.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Paired {
    /// n and throughput of each.
    pub(super) points: Vec<(f64, f64)>,
    /// The standard error of the curve's height that blocks cause, as a part of it.
    pub(super) error: f64,
    /// Blocks that were compared within.
    pub(super) blocks: usize,
}

/// Sweeps of the two-way analysis: unequal numbers need some dozens, equal ones one.
const SWEEPS: usize = 200;

/// Takes away what blocks share, where two blocks or more have two different n each; else the trials
/// are as they were.
pub(super) fn paired(trials: &[Blocked]) -> Paired {
    let plain = || Paired {
        points: trials.iter().map(|&(n, _, x)| (n, x)).collect(),
        error: 0.0,
        blocks: 0,
    };
    let mut of_block: BTreeMap<u32, Vec<(usize, f64)>> = BTreeMap::new();
    let levels = by_level(&trials.iter().map(|&(n, _, x)| (n, x)).collect::<Vec<_>>());
    for &(n, block, x) in trials {
        let level = levels.iter().position(|(known, _)| *known == n).unwrap_or(0);
        of_block.entry(block).or_default().push((level, x.ln()));
    }
    // A block with one n says nothing of how two differ.
    of_block.retain(|_, own| own.iter().any(|(level, _)| *level != own[0].0));
    let seen: std::collections::BTreeSet<usize> =
        of_block.values().flatten().map(|(level, _)| *level).collect();
    if of_block.len() < 2 || seen.len() < levels.len() {
        return plain();
    }
    let (heights, parts) = two_way(&of_block, levels.len());
    let mut points = Vec::new();
    for (own, part) in of_block.values().zip(&parts) {
        let different: std::collections::BTreeSet<usize> = own.iter().map(|it| it.0).collect();
        let count = different.len() as f64;
        let larger = (count / (count - 1.0)).sqrt();
        for (level, log) in own {
            let rest = larger * (log - heights[*level] - part);
            points.push((levels[*level].0, (heights[*level] + rest).exp()));
        }
    }
    let error = order::variance(&parts).map_or(0.0, |it| (it / parts.len() as f64).sqrt());
    Paired { points, error, blocks: parts.len() }
}

/// Returns the throughputs of each n.
pub(super) fn by_level(points: &[(f64, f64)]) -> Vec<(f64, Vec<f64>)> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let levels = sorted.chunk_by(|a, b| a.0 == b.0);
    levels.map(|own| (own[0].0, own.iter().map(|(_, x)| *x).collect())).collect()
}

/// Returns the part of each level and of each block, the latter with the mean 0.
fn two_way(of_block: &BTreeMap<u32, Vec<(usize, f64)>>, levels: usize) -> (Vec<f64>, Vec<f64>) {
    let mut heights = vec![0.0; levels];
    let mut parts = vec![0.0; of_block.len()];
    for _ in 0..SWEEPS {
        let mut sums = vec![(0.0, 0.0); levels];
        for (own, part) in of_block.values().zip(&parts) {
            for (level, log) in own {
                sums[*level].0 += log - part;
                sums[*level].1 += 1.0;
            }
        }
        heights = sums.iter().map(|(sum, count)| sum / f64::max(*count, 1.0)).collect();
        let before = parts.clone();
        for (own, part) in of_block.values().zip(&mut parts) {
            let rests = own.iter().map(|(level, log)| log - heights[*level]);
            *part = rests.sum::<f64>() / own.len() as f64;
        }
        let mean = parts.iter().sum::<f64>() / parts.len() as f64;
        parts.iter_mut().for_each(|part| *part -= mean);
        let moved = parts.iter().zip(&before).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if moved < 1e-12 {
            break;
        }
    }
    (heights, parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_block_shares_is_taken_away_and_its_share_of_the_scatter_given_back() {
        // Two blocks, the second twice as fast; n = 4 is three times as fast as n = 1, ± 10 %.
        let trials =
            [(1.0, 0, 10.0), (4.0, 0, 33.0), (1.0, 1, 20.0), (4.0, 1, 54.545_454_545_454_55)];
        let found = paired(&trials);
        assert_eq!(found.blocks, 2);
        // The level at n = 1 is √200; what is left of the ± 10 % is halved by the block and given back
        // by √2.
        let at = |place: usize| found.points[place].1;
        assert!((at(0) * at(2) - 200.0).abs() < 1e-9 && (at(1) * at(3) - 1800.0).abs() < 1e-9);
        let rest = (at(1) / at(3)).ln() / 2.0;
        assert!((rest - 1.1_f64.ln() / 2.0 * 2f64.sqrt()).abs() < 1e-9, "{rest}");
        // The blocks' parts are the mean logarithms 5.80 and 6.99, halved and less their mean.
        let part = ((20.0 * 54.545_454_545_454_55) / (10.0 * 33.0_f64)).ln() / 4.0;
        assert!((found.error - part).abs() < 1e-9, "{found:?} {part}");
    }

    #[test]
    fn without_blocks_that_compare_nothing_changes() {
        for trials in [
            vec![(1.0, 0, 10.0), (2.0, 0, 19.0)],
            vec![(1.0, 0, 10.0), (2.0, 1, 19.0), (4.0, 2, 30.0)],
            Vec::new(),
        ] {
            let found = paired(&trials);
            let points: Vec<(f64, f64)> = trials.iter().map(|&(n, _, x)| (n, x)).collect();
            assert_eq!((found.points, found.error), (points, 0.0));
        }
    }

    #[test]
    fn missing_trials_do_not_shift_a_level() {
        // n = 8 was measured in the fast blocks alone.
        let mut trials = Vec::new();
        for block in 0..8_u32 {
            let speed = if block % 2 == 0 { 1.0 } else { 1.5 };
            trials.extend([(1.0, block, 10.0 * speed), (4.0, block, 30.0 * speed)]);
            if block % 2 == 1 {
                trials.push((8.0, block, 50.0 * speed));
            }
        }
        let found = paired(&trials);
        let mean = |n: f64| {
            let own = found.points.iter().filter(|it| it.0 == n).map(|it| it.1.ln());
            order::mean(&own.collect::<Vec<_>>()).unwrap()
        };
        assert!(((mean(8.0) - mean(1.0)).exp() - 5.0).abs() < 1e-6);
    }
}
