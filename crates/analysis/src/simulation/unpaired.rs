//! Sessions that have no block in common: what their intervals cover, and where they do not.

use super::*;
use crate::answers::compare::{Arm, Contrast};
use crate::median;
use crate::stats::hommel::{hommel, limit};
use crate::stats::interval::{centre, student};

const DRAWN: usize = 1_000;

/// Trials of the side and of the base.
const TRIALS: [(usize, usize); 7] =
    [(6, 6), (6, 12), (12, 6), (12, 12), (6, 40), (40, 6), (40, 40)];

fn trials(noise: Noise, count: usize, draws: &mut Draws) -> Vec<f64> {
    (0..count).map(|_| noise.draw(draws)).collect()
}

/// Returns whether any of `numbers` comparisons whose medians differ by `truth` is found to differ.
fn errs(pair: Pair, counts: (usize, usize), numbers: usize, truth: f64, draws: &mut Draws) -> bool {
    let p_values: Vec<f64> = (0..numbers)
        .map(|_| {
            let (of, to) = (trials(pair.0, counts.0, draws), trials(pair.1, counts.1, draws));
            contrast(&of, &to).p_value(truth)
        })
        .collect();
    hommel(&p_values).contains(&true)
}

fn contrast(of: &[f64], to: &[f64]) -> Contrast {
    let arm = |values: &[f64]| Arm::of(centre(values).unwrap(), false);
    Contrast::new(arm(of), arm(to)).unwrap()
}

/// The median of a noise, from a large sample.
fn median_of(noise: Noise, draws: &mut Draws) -> f64 {
    median(&trials(noise, 200_000, draws)).unwrap()
}

fn coverage(pair: Pair, counts: (usize, usize), truth: f64, draws: &mut Draws) -> f64 {
    let covered = (0..DRAWN).filter(|_| {
        let found = contrast(&trials(pair.0, counts.0, draws), &trials(pair.1, counts.1, draws));
        found.low() <= truth && truth <= found.high()
    });
    covered.count() as f64 / DRAWN as f64
}

#[test]
fn differences_of_sessions_cover_their_truth() {
    let same = [
        ("normal", Pair(Noise::Normal(0.02), Noise::Normal(0.02))),
        ("heavy", Pair(Noise::Heavy(0.02), Noise::Heavy(0.02))),
    ];
    let mut cells = Vec::new();
    for (index, (name, pair)) in same.into_iter().chain(PAIRS).enumerate() {
        let mut draws = Draws::new(7000 + index as u64);
        let truth = median_of(pair.0, &mut draws) - median_of(pair.1, &mut draws);
        for counts in TRIALS {
            let found = coverage(pair, counts, truth, &mut draws);
            // 92 to 98 %, within the sampling error of the draws: skewed against quiet has 93.5.
            assert!((0.92 - 0.02..=0.985).contains(&found), "{name}, {counts:?}: {found}");
            cells.push(found);
        }
    }
    let mean = cells.iter().sum::<f64>() / cells.len() as f64;
    assert!((0.94..=0.97).contains(&mean), "mean coverage {mean} of {cells:?}");
}

#[test]
fn few_trials_cover_if_they_are_normal() {
    let mut draws = Draws::new(7100);
    for pair in [Pair(Noise::Normal(0.02), Noise::Normal(0.02)), PAIRS[0].1] {
        for counts in [(3, 3), (4, 4), (5, 5), (3, 6), (6, 3), (4, 40)] {
            let found = coverage(pair, counts, 0.0, &mut draws);
            assert!((0.93 - 0.02..=0.985).contains(&found), "{pair:?}, {counts:?}: {found}");
        }
    }
    // Few trials of skewed times: the known weak spot is no weaker than said.
    let skewed = PAIRS[3].1;
    let truth = median_of(skewed.0, &mut draws) - median_of(skewed.1, &mut draws);
    for counts in [(3, 3), (4, 4)] {
        let found = coverage(skewed, counts, truth, &mut draws);
        assert!((0.87..=0.95).contains(&found), "skewed, {counts:?}: {found}");
    }
}

#[test]
fn far_tails_err_as_seldom_as_said() {
    const PAIRS_DRAWN: usize = 10_000;
    for (index, pair, most) in [
        (0, Pair(Noise::Normal(0.02), Noise::Normal(0.02)), 0.001),
        (1, PAIRS[0].1, 0.002),
        (2, Pair(Noise::Heavy(0.02), Noise::Heavy(0.02)), 0.001),
    ] {
        let mut draws = Draws::new(7200 + index);
        let wrong = (0..PAIRS_DRAWN).filter(|_| {
            let found = contrast(&trials(pair.0, 6, &mut draws), &trials(pair.1, 6, &mut draws));
            found.p_value(0.0) <= 0.001
        });
        let share = wrong.count() as f64 / PAIRS_DRAWN as f64;
        let error = 3.0 * binomial_error(most, PAIRS_DRAWN);
        assert!(share <= most + error, "{pair:?}: {share}");
    }
}

#[test]
fn a_multiple_that_is_just_reached_is_seldom_found_exceeded() {
    // Numbers as they are: the noise of the base counts as often as the base.
    for (index, counts, multiple) in [(0, (6, 6), 3.0), (1, (12, 12), 1.0), (2, (40, 6), 5.0)] {
        let mut draws = Draws::new(7250 + index);
        let (mut covered, mut exceeded) = (0, 0);
        for _ in 0..DRAWN {
            let mut about = |centre: f64, count: usize| -> Vec<f64> {
                (0..count).map(|_| centre + 0.1 * draws.normal()).collect()
            };
            let found = contrast(&about(multiple, counts.0), &about(1.0, counts.1));
            let ratio = found.ratio().unwrap();
            covered += usize::from(ratio.low <= multiple && multiple <= ratio.high);
            let beyond = ratio.point > multiple && found.p_value_of_multiple(multiple) <= 0.05;
            exceeded += usize::from(beyond);
        }
        let share = |count: usize| count as f64 / DRAWN as f64;
        assert!(share(exceeded) <= 0.045, "{counts:?}: {}", share(exceeded));
        assert!((0.93..=0.985).contains(&share(covered)), "{counts:?}: {}", share(covered));
    }
}

/// A session's trials about a level of its own, with blocks that are alike: each block's own part
/// is as large as a trial's noise and keeps most of the block's before.
fn session(blocks: usize, between: f64, persistence: f64, draws: &mut Draws) -> Vec<f64> {
    let own = between * draws.normal();
    let mut drift = draws.normal();
    let fresh = (1.0 - persistence * persistence).sqrt();
    (0..blocks)
        .map(|_| {
            drift = persistence * drift + fresh * draws.normal();
            own + 0.01 * drift + 0.01 * draws.normal()
        })
        .collect()
}

/// Returns how many of 100 pairs of like sessions hold the truth, that nothing differs: by trials,
/// and by `sessions` sessions on each side.
fn like_sessions(between: f64, persistence: f64, sessions: usize, seed: u64) -> (f64, f64) {
    let mut draws = Draws::new(seed);
    let (mut by_trial, mut by_session) = (0, 0);
    for _ in 0..DRAWN {
        let mut side = || -> Vec<Vec<f64>> {
            (0..sessions).map(|_| session(12, between, persistence, &mut draws)).collect()
        };
        let (of, to) = (side(), side());
        let one = contrast(&of[0], &to[0]);
        by_trial += usize::from(one.low() <= 0.0 && 0.0 <= one.high());
        let over = |side: &[Vec<f64>]| {
            let points: Vec<f64> = side.iter().map(|it| centre(it).unwrap().point).collect();
            Arm::over_sessions(student(&points).unwrap(), false)
        };
        let all = Contrast::new(over(&of), over(&to)).unwrap();
        by_session += usize::from(all.low() <= 0.0 && 0.0 <= all.high());
    }
    (by_trial as f64 / DRAWN as f64, by_session as f64 / DRAWN as f64)
}

#[test]
fn sessions_hold_what_trials_cannot() {
    // Nothing changes between sessions, nothing drifts: both are right.
    let (by_trial, by_session) = like_sessions(0.0, 0.0, 3, 7300);
    assert!(by_trial > 0.93 && by_session > 0.93, "{by_trial} {by_session}");
    // A drift within sessions, or a level of each session's own that is as large as the noise of a
    // trial: the intervals of trials miss what they cannot know of.
    for (between, persistence, least) in [(0.0, 0.9, 0.50), (0.01, 0.0, 0.45), (0.02, 0.9, 0.25)] {
        let (by_trial, by_session) = like_sessions(between, persistence, 3, 7301);
        assert!(by_trial < 0.85 && by_trial > least - 0.15, "{between} {persistence}: {by_trial}");
        assert!((0.93..0.99).contains(&by_session), "{between} {persistence}: {by_session}");
    }
    let (_, two) = like_sessions(0.02, 0.9, 2, 7302);
    assert!((0.93..=1.0).contains(&two), "{two}");
}

#[test]
fn false_differences_are_seldom_among_one_and_among_many() {
    const COMPARISONS: usize = 300;
    let alike = |noise: Noise| Pair(noise, noise);
    let all = [
        ("normal", alike(Noise::Normal(0.02)), true),
        ("skewed", alike(Noise::Skewed(0.1)), true),
        ("heavy", alike(Noise::Heavy(0.02)), true),
        ("outliers of both", alike(Noise::Slowed(0.02, 0.1)), true),
        ("two modes", alike(Noise::Modes(0.02, 0.3)), true),
        ("three times the noise", PAIRS[0].1, false),
        ("skewed against quiet", PAIRS[3].1, false),
        ("outliers of one", PAIRS[7].1, false),
    ];
    let mut found = (0, 0);
    for (index, (name, pair, is_alike)) in all.into_iter().enumerate() {
        let mut draws = Draws::new(7400 + index as u64);
        let truth = match is_alike {
            true => 0.0,
            false => median_of(pair.0, &mut draws) - median_of(pair.1, &mut draws),
        };
        for (counts, numbers) in [((6, 6), 1), ((12, 12), 1), ((6, 6), 20), ((12, 20), 20)] {
            let wrong =
                (0..COMPARISONS).filter(|_| errs(pair, counts, numbers, truth, &mut draws)).count();
            // Where only the scatter changed, few trials err a little more often among many.
            let most = if is_alike || numbers == 1 { 0.05 } else { 0.10 };
            let share = wrong as f64 / COMPARISONS as f64;
            let chance = 3.0 * binomial_error(most, COMPARISONS);
            assert!(share <= most + chance, "{name}, {counts:?}, {numbers}: {share}");
            found = (found.0 + wrong, found.1 + COMPARISONS);
        }
    }
    // Nor may verdicts be so timid that this could not fail.
    assert!(found.0 * 200 > found.1, "{found:?}");
}

#[test]
fn a_difference_as_large_as_the_floor_is_found_in_four_of_five_cases() {
    const DRAWN: usize = 400;
    let noise = Noise::Normal(0.02);
    for (counts, open) in
        [((6, 6), 1), ((6, 6), 20), ((12, 12), 1), ((12, 12), 30), ((12, 12), 230), ((12, 20), 230)]
    {
        let mut draws = Draws::new(7500 + open as u64);
        let mut draw = || {
            let (of, to) =
                (trials(noise, counts.0, &mut draws), trials(noise, counts.1, &mut draws));
            contrast(&of, &to)
        };
        let floors: Vec<f64> = (0..DRAWN).filter_map(|_| draw().floor(open)).collect();
        let floor = median(&floors).unwrap();
        let (mut of_all, mut of_own) = (0, 0);
        for _ in 0..DRAWN {
            let found = draw();
            let finds = |by: f64| -by < found.point && found.p_value(-by) <= limit(open);
            of_all += usize::from(finds(floor));
            of_own += usize::from(found.floor(open).is_some_and(finds));
        }
        for power in [of_all, of_own].map(|count| count as f64 / DRAWN as f64) {
            assert!((0.66..=0.93).contains(&power), "{counts:?}, {open}: {power}");
        }
    }
    // 924 orders of six and six trials decide one of 20, and none of 230.
    let mut draws = Draws::new(7600);
    let six = contrast(&trials(noise, 6, &mut draws), &trials(noise, 6, &mut draws));
    assert_eq!((six.floor(230), six.trials_needed(230)), (None, Some(8)));
    assert_eq!(six.trials_needed(20), None);
}

#[test]
fn six_trials_against_six_find_ten_percent() {
    let (noise, mut draws) = (Noise::Normal(0.02), Draws::new(7700));
    for numbers in [1, 20] {
        let found = (0..200).filter(|_| {
            let slower: Vec<f64> =
                trials(noise, 6, &mut draws).iter().map(|it| it + 0.1_f64.ln_1p()).collect();
            contrast(&slower, &trials(noise, 6, &mut draws)).p_value(0.0) <= limit(numbers)
        });
        assert!(found.count() >= 170, "{numbers}");
    }
}
