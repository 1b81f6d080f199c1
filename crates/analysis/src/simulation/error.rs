//! What verdicts find, and that Hommel's procedure is needed. How often they err: `benches/battery`.

use super::*;
use crate::session::evidence::{Evidence, Scale};
use crate::session::verdict::lean;
use crate::stats::hommel::claim_limit;
use crate::stats::interval::centre;
use model::{Cell, Quantity, Region};

const CLAIMS: usize = 20;

fn ratio() -> Quantity {
    let cell = Cell::default();
    Quantity::Ratio { response: "task_ns".into(), of: cell.clone(), to: cell }
}

fn evidence(effects: &[f64]) -> Evidence {
    match centre(effects) {
        Some(located) => Evidence::Blocks { located, scale: Scale::Log, computed: false },
        None => Evidence::None,
    }
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
            lean(&ratio(), &evidence(&effects), Region::below(1.0)).unwrap().p_value <= Some(0.08)
        })
    });
    assert!(wrong.count() as f64 / f64::from(sessions) > 0.5);
}

/// Returns the share of sessions that find an effect to differ from 1, and their median floor. The
/// effect is one of `verdicts` verdicts, of which no other is decided.
fn power(pair: Pair, effect: f64, blocks: usize, verdicts: usize, draws: &mut Draws) -> (f64, f64) {
    let sessions = 1_000;
    let mut found = 0;
    let mut floors = Vec::new();
    for _ in 0..sessions {
        let effects: Vec<f64> =
            pair.effects(blocks, draws).into_iter().map(|log| log + effect.ln()).collect();
        let evidence = evidence(&effects);
        floors.extend(match verdicts {
            1 => evidence.floor(),
            _ => evidence.floor_among(verdicts, 100),
        });
        let leaning = lean(&ratio(), &evidence, Region::above(1.0)).unwrap();
        // The floor of a number is one of its interval, that of a verdict of its p-value.
        let stands = match verdicts {
            1 => evidence.estimate().unwrap().low > 1.0,
            _ => leaning.p_value.unwrap() <= claim_limit(verdicts, 100),
        };
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
            assert!((0.5..=0.92).contains(&at), "{noise:?}, {blocks} blocks: {at}");
            let (twice, _) = power(pair, 1.0 + 2.0 * floor, blocks, 1, &mut draws);
            assert!(twice >= 0.85, "{noise:?}, {blocks} blocks: {twice}");
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
            for blocks in [12, 16, 30] {
                let (_, floor) = power(pair, 1.0, blocks, verdicts, &mut draws);
                let (at, _) = power(pair, 1.0 + floor, blocks, verdicts, &mut draws);
                let (twice, _) = power(pair, 1.0 + 2.0 * floor, blocks, verdicts, &mut draws);
                let name = format!("{noise:?}, {verdicts} verdicts, {blocks} blocks");
                // 80 % by its definition. With few blocks of skewed noise it is less at the floor,
                // but not at twice of it.
                assert!((0.4..=0.9).contains(&at), "{name}: {at}");
                assert!(twice >= 0.8, "{name}: {twice}");
            }
        }
    }
}
