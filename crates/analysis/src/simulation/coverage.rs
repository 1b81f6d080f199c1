//! What the 95 % intervals cover.

use super::*;
use crate::median;
use crate::stats::estimate::mean_estimate;
use crate::stats::interval::{Located, centre, median_located, ratio_of_centres};

const DRAWN: usize = 2_000;

fn covers(located: Option<Located>, truth: f64) -> bool {
    located.is_some_and(|located| located.low <= truth && truth <= located.high)
}

/// Asserts that the coverage over `DRAWN` draws lies between 93 and 97 %, within the sampling error
/// of that number of draws.
fn check(name: &str, blocks: usize, covered: usize) -> f64 {
    let coverage = covered as f64 / DRAWN as f64;
    assert!(near_95(covered, DRAWN), "{name}, {blocks} blocks: {coverage}");
    coverage
}

/// All cells together must come nearer to 95 % than each alone can be shown to.
fn check_mean(cells: &[f64]) {
    let mean = cells.iter().sum::<f64>() / cells.len() as f64;
    assert!((0.94..=0.975).contains(&mean), "mean coverage {mean} of {cells:?}");
}

fn ratio_cells(pairs: &[(&str, Pair)], seed: u64) {
    let mut cells = Vec::new();
    for (index, (name, pair)) in pairs.iter().enumerate() {
        let mut draws = Draws::new(seed + index as u64);
        let truth = pair.truth(&mut draws);
        for blocks in BLOCKS {
            let covered = (0..DRAWN)
                .filter(|_| covers(centre(&pair.effects(blocks, &mut draws)), truth))
                .count();
            cells.push(check(name, blocks, covered));
        }
    }
    check_mean(&cells);
}

#[test]
fn ratios_cover_their_truth() {
    ratio_cells(&PAIRS[..5], 100);
}

#[test]
fn ratios_of_disturbed_trials_cover_their_truth() {
    ratio_cells(&PAIRS[5..], 200);
}

#[test]
fn three_to_five_blocks_cover_if_effects_are_normal() {
    let mut draws = Draws::new(400);
    let pair = PAIRS[0].1;
    for blocks in [2, 3, 4, 5] {
        let effects = (0..DRAWN).map(|_| pair.effects(blocks, &mut draws));
        check("normal", blocks, effects.filter(|e| covers(centre(e), 0.0)).count());
        // The level's interval is meant for the logarithms of what varies by a factor.
        let levels = (0..DRAWN).map(|_| -> Vec<f64> {
            (0..blocks).map(|_| 100.0 * (0.2 * draws.normal()).exp()).collect()
        });
        check("level", blocks, levels.filter(|l| covers(median_located(l), 100.0)).count());
    }
}

#[test]
fn medians_of_levels_cover_their_truth() {
    let noises = [
        Noise::Normal(0.1),
        Noise::Skewed(0.3),
        Noise::Heavy(0.05),
        Noise::Contaminated(0.02),
        Noise::Slowed(0.02, 0.2),
        Noise::Modes(0.02, 0.3),
    ];
    let mut cells = Vec::new();
    for (index, noise) in noises.into_iter().enumerate() {
        let mut draws = Draws::new(500 + index as u64);
        let level = |draws: &mut Draws| 100.0 * noise.draw(draws).exp();
        let many: Vec<f64> = (0..100_000).map(|_| level(&mut draws)).collect();
        let truth = median(&many).unwrap();
        for blocks in BLOCKS {
            let covered = (0..DRAWN).filter(|_| {
                let levels: Vec<f64> = (0..blocks).map(|_| level(&mut draws)).collect();
                covers(median_located(&levels), truth)
            });
            cells.push(check(&format!("{noise:?}"), blocks, covered.count()));
        }
    }
    check_mean(&cells);
}

#[test]
fn medians_of_a_drifting_level_cover_the_middle_of_the_session() {
    // A steady drift spreads the trials evenly over its range, more evenly than chance would:
    // the interval may cover too often, but not too seldom.
    let mut draws = Draws::new(600);
    for blocks in BLOCKS {
        let covered = (0..DRAWN).filter(|_| {
            let levels: Vec<f64> = (0..blocks)
                .map(|block| 100.0 + 20.0 * block as f64 / (blocks - 1) as f64 + draws.normal())
                .collect();
            covers(median_located(&levels), 110.0)
        });
        let coverage = covered.count() as f64 / DRAWN as f64;
        assert!(coverage > 0.95, "{blocks} blocks: {coverage}");
    }
}

#[test]
fn shares_cover_their_truth() {
    let noises = [Noise::Normal(0.03), Noise::Skewed(0.1), Noise::Heavy(0.02)];
    let mut cells = Vec::new();
    for (index, noise) in noises.into_iter().enumerate() {
        let mut draws = Draws::new(700 + index as u64);
        // Of a gap of 5 between 10 and 5 a removed cause explains about 3.
        let gaps = |blocks: usize, draws: &mut Draws| -> (Vec<f64>, Vec<f64>) {
            let block = |_| {
                let drift = (0.1 * draws.normal()).exp();
                let mut at = |level: f64| drift * level * noise.draw(draws).exp();
                let (whole, without, base) = (at(10.0), at(7.0), at(5.0));
                (whole - without, whole - base)
            };
            (0..blocks).map(block).unzip()
        };
        let (above, below) = gaps(100_000, &mut draws);
        let ratios = above.iter().zip(&below).map(|(above, below)| above / below);
        let truth = median(&ratios.collect::<Vec<f64>>()).unwrap();
        for blocks in BLOCKS {
            let covered = (0..DRAWN).filter(|_| {
                let (above, below) = gaps(blocks, &mut draws);
                // A gap that is indistinguishable from 0 has no share, hence none that could be wrong.
                ratio_of_centres(&above, &below).is_none_or(|share| covers(Some(share), truth))
            });
            cells.push(check(&format!("share, {noise:?}"), blocks, covered.count()));
        }
    }
    check_mean(&cells);
}

#[test]
fn exponents_cover_their_truth() {
    let mut cells = Vec::new();
    for (index, noise) in [Noise::Skewed(0.1), Noise::Heavy(0.03)].into_iter().enumerate() {
        let mut draws = Draws::new(800 + index as u64);
        for blocks in BLOCKS {
            let covered = (0..DRAWN).filter(|_| {
                let slopes: Vec<f64> = (0..blocks)
                    .map(|_| {
                        let drift = 0.1 * draws.normal();
                        // Levels 1, 2, 4, 8 and the exponent 0.7: weights of the slope in log 2.
                        let at = |draws: &mut Draws, power: f64| {
                            drift + 0.7 * power * 2f64.ln() + noise.draw(draws)
                        };
                        let logs = [0.0, 1.0, 2.0, 3.0].map(|power| at(&mut draws, power));
                        let slope = 3.0 * (logs[3] - logs[0]) + (logs[2] - logs[1]);
                        slope / 10.0 / 2f64.ln()
                    })
                    .collect();
                covers(centre(&slopes), 0.7)
            });
            cells.push(check(&format!("exponent, {noise:?}"), blocks, covered.count()));
        }
    }
    check_mean(&cells);
}

#[test]
fn pooled_observations_do_not_cover() {
    // The mistake that scruple exists to avoid: 100 observations of each of 8 trials taken as 800
    // independent numbers. Trials differ as much as observations within one do.
    let mut draws = Draws::new(900);
    let (mut pooled_covers, mut pooled_median_covers, mut trial_covers) = (0, 0, 0);
    let sessions = 500;
    for _ in 0..sessions {
        let mut pooled = Vec::new();
        let mut trials = Vec::new();
        for _ in 0..8 {
            let level = 100.0 + draws.normal();
            let observations: Vec<f64> = (0..100).map(|_| level + draws.normal()).collect();
            trials.push(median(&observations).unwrap());
            pooled.extend(observations);
        }
        let within = |low: f64, high: f64| usize::from((low..=high).contains(&100.0));
        let pool = mean_estimate(&pooled).unwrap();
        pooled_covers += within(pool.low, pool.high);
        let pool = median_located(&pooled).unwrap();
        pooled_median_covers += within(pool.low, pool.high);
        let right = median_located(&trials).unwrap();
        trial_covers += within(right.low, right.high);
    }
    let share = |covers: usize| covers as f64 / f64::from(sessions);
    assert!(share(pooled_covers) < 0.5, "{}", share(pooled_covers));
    assert!(share(pooled_median_covers) < 0.5, "{}", share(pooled_median_covers));
    let error = binomial_error(0.95, 500);
    assert!((share(trial_covers) - 0.95).abs() < 0.02 + 3.0 * error, "{}", share(trial_covers));
}
