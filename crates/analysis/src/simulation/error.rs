//! How often verdicts err, and what they find.

use super::*;
use crate::evidence::{Evidence, Scale};
use crate::holm::{FAMILY_ERROR, holm};
use crate::interval::centre;
use crate::verdict::lean;
use model::{Cell, Quantity, Region, Verdict};

const CLAIMS: usize = 20;

fn ratio() -> Quantity {
    let cell = Cell::default();
    Quantity::Ratio { response: "task_ns".into(), of: cell.clone(), to: cell }
}

fn evidence(effects: &[f64]) -> Evidence {
    match centre(effects) {
        Some(located) => {
            Evidence::Blocks { located, scale: Scale::Log, counted: false, computed: false }
        }
        None => Evidence::None,
    }
}

/// Verdicts of one session whose claims all stand at the very edge of truth, so that every
/// verdict is a false one: "faster" and "slower" of treatments that are the same, and "the same
/// within 5 %" of treatments that differ by exactly 5 %.
fn false_verdicts(pair: Pair, blocks: usize, draws: &mut Draws) -> usize {
    let quantity = ratio();
    let mut leanings = Vec::new();
    for claim in 0..CLAIMS {
        let mut effects = pair.effects(blocks, draws);
        let region = match claim % 3 {
            0 => Region::below(1.0),
            1 => Region::above(1.0),
            _ => {
                effects.iter_mut().for_each(|effect| *effect += 1.05_f64.ln());
                Region::about(1.0, 0.05)
            }
        };
        leanings.extend(lean(&quantity, &evidence(&effects), region));
    }
    assert_eq!(leanings.len(), CLAIMS);
    let p_values: Vec<f64> = leanings.iter().map(|leaning| leaning.p_value).collect();
    let verdicts = leanings.iter().zip(holm(&p_values)).map(|(l, stands)| l.verdict(stands));
    verdicts.filter(|verdict| *verdict != Verdict::Inconclusive).count()
}

#[test]
fn sessions_of_claims_at_the_edge_seldom_hold_a_false_verdict() {
    let sessions = 1_000;
    let limit = FAMILY_ERROR + 3.0 * binomial_error(FAMILY_ERROR, sessions);
    let same = [
        Noise::Normal(0.02),
        Noise::Skewed(0.1),
        Noise::Heavy(0.01),
        Noise::Slowed(0.02, 0.1),
        Noise::Modes(0.02, 0.3),
    ];
    let mut rates = Vec::new();
    for (index, noise) in same.into_iter().enumerate() {
        let mut draws = Draws::new(1000 + index as u64);
        for blocks in [4, 6, 12] {
            let false_sessions = (0..sessions)
                .filter(|_| false_verdicts(Pair(noise, noise), blocks, &mut draws) > 0)
                .count();
            let rate = false_sessions as f64 / sessions as f64;
            assert!(rate <= limit, "{noise:?}, {blocks} blocks: {rate}");
            rates.push(rate);
        }
    }
    // Nor may the verdicts be so timid that the simulation could not fail.
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    assert!((0.005..=FAMILY_ERROR).contains(&mean), "{mean} {rates:?}");
}

#[test]
fn without_holm_half_of_the_sessions_would_hold_a_false_verdict() {
    // The correction is what keeps the error: 1 − 0.95^20 is 64 %.
    let mut draws = Draws::new(1100);
    let noise = Noise::Normal(0.02);
    let sessions = 300;
    let wrong = (0..sessions).filter(|_| {
        (0..CLAIMS).any(|_| {
            let effects = Pair(noise, noise).effects(8, &mut draws);
            lean(&ratio(), &evidence(&effects), Region::below(1.0)).unwrap().p_value <= 0.05
        })
    });
    assert!(wrong.count() as f64 / f64::from(sessions) > 0.5);
}

/// The share of sessions in which an effect is told from 1 as one of so many verdicts of which no
/// other is decided, and their median floor.
fn power(pair: Pair, effect: f64, blocks: usize, verdicts: usize, draws: &mut Draws) -> (f64, f64) {
    let sessions = 1_000;
    let mut found = 0;
    let mut floors = Vec::new();
    for _ in 0..sessions {
        let effects: Vec<f64> =
            pair.effects(blocks, draws).into_iter().map(|log| log + effect.ln()).collect();
        let evidence = evidence(&effects);
        floors.extend(evidence.floor_among(verdicts));
        let leaning = lean(&ratio(), &evidence, Region::above(1.0)).unwrap();
        let stands = leaning.p_value <= FAMILY_ERROR / verdicts as f64;
        found += usize::from(leaning.holds && stands);
    }
    (found as f64 / f64::from(sessions), crate::median(&floors).unwrap())
}

#[test]
fn an_effect_above_the_floor_is_found() {
    let noises = [Noise::Normal(0.02), Noise::Heavy(0.01), Noise::Skewed(0.05)];
    for (index, noise) in noises.into_iter().enumerate() {
        let mut draws = Draws::new(1200 + index as u64);
        let pair = Pair(noise, noise);
        for blocks in [6, 8, 12, 20] {
            let (nothing, floor) = power(pair, 1.0, blocks, 1, &mut draws);
            assert!(nothing < 0.025 + 0.015, "{noise:?}, {blocks} blocks: {nothing}");
            // At the floor 80 % by its definition; the floor is itself an estimate, and its
            // formula is one for normal means, so the test leaves room.
            let (at, _) = power(pair, 1.0 + floor, blocks, 1, &mut draws);
            assert!((0.68..=0.92).contains(&at), "{noise:?}, {blocks} blocks: {at}");
            let (twice, _) = power(pair, 1.0 + 2.0 * floor, blocks, 1, &mut draws);
            assert!(twice >= 0.88, "{noise:?}, {blocks} blocks: {twice}");
        }
    }
}

#[test]
fn an_effect_above_the_floor_of_a_verdict_is_decided() {
    let noises = [Noise::Normal(0.005), Noise::Heavy(0.003), Noise::Skewed(0.01)];
    for (index, noise) in noises.into_iter().enumerate() {
        let mut draws = Draws::new(1300 + index as u64);
        let pair = Pair(noise, noise);
        for verdicts in [5, 50] {
            for blocks in [3, 5, 6, 12] {
                let (_, floor) = power(pair, 1.0, blocks, verdicts, &mut draws);
                let (at, _) = power(pair, 1.0 + floor, blocks, verdicts, &mut draws);
                let (twice, _) = power(pair, 1.0 + 2.0 * floor, blocks, verdicts, &mut draws);
                let name = format!("{noise:?}, {verdicts} verdicts, {blocks} blocks");
                // 80 % by its definition. With few blocks of skewed noise it is less at the floor,
                // but not at twice of it.
                assert!((0.6..=0.85).contains(&at), "{name}: {at}");
                assert!(twice >= 0.8, "{name}: {twice}");
            }
        }
    }
}
