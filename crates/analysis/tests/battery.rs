//! The quick part of the battery: noises with a known truth, all seeded, so that a failure is a change
//! of the method and never bad luck. The whole: `cargo bench -p analysis --bench battery`.

#[path = "../benches/battery/noise.rs"]
mod noise;
#[path = "../benches/battery/sessions.rs"]
mod sessions;

use noise::{Chances, Draws, Noise};
use sessions::{BLOCKS, INDEPENDENT, Known, NOISES, Test, frequency_is_covered};

const SESSIONS: usize = 300;

/// How far a share of `draws` may lie from its truth by chance: four standard errors.
fn chance(share: f64, draws: usize) -> f64 {
    4.0 * (share * (1.0 - share) / draws as f64).sqrt()
}

#[test]
fn at_most_5_percent_of_sessions_hold_a_wrong_verdict() {
    let mut all = (0, 0);
    for (index, (name, noise, least)) in NOISES.into_iter().enumerate() {
        if least < INDEPENDENT {
            continue;
        }
        let mut draws = Draws::new(1_000 + index as u64);
        let known = Known::new(noise, &mut draws);
        for claims in [1, 5, 10, 50] {
            for blocks in BLOCKS {
                let wrong =
                    (0..SESSIONS).filter(|_| known.judged(blocks, claims, &mut draws).0).count();
                let most = 0.05 + chance(0.05, SESSIONS);
                let share = wrong as f64 / SESSIONS as f64;
                assert!(share <= most, "{name}, {claims} claims, {blocks} blocks: {share}");
                all = (all.0 + wrong, all.1 + SESSIONS);
            }
        }
    }
    // Nor may verdicts be so timid that this could not fail.
    assert!(all.0 * 400 > all.1, "{all:?}");
}

#[test]
fn a_change_during_the_session_is_seen_or_decides_nothing() {
    for (name, noise) in [("steps", Noise::Steps), ("drifts", Noise::Trend)] {
        let mut draws = Draws::new(6_000);
        let known = Known::new(noise, &mut draws);
        let mut wrong = |blocks: usize| {
            let sessions = (0..SESSIONS).filter(|_| known.judged(blocks, 1, &mut draws).0);
            sessions.count() as f64 / SESSIONS as f64
        };
        assert!(wrong(12) <= 0.08 && wrong(20) <= 0.12, "{name}");
    }
}

#[test]
fn dependence_that_ten_numbers_show_is_no_cause_of_wrong_verdicts() {
    const DRAWN: usize = 100;
    let noises = [Noise::Wanders, Noise::OneSideWanders, Noise::WarmsUp, Noise::Steps];
    for (index, noise) in noises.into_iter().enumerate() {
        let mut draws = Draws::new(7_000 + index as u64);
        let known = Known::new(noise, &mut draws);
        let wrong = (0..DRAWN).filter(|_| known.judged(12, 10, &mut draws).0).count();
        let share = wrong as f64 / DRAWN as f64;
        assert!(share <= 0.05 + chance(0.05, DRAWN), "{noise:?}: {share}");
    }
    let mut draws = Draws::new(7_100);
    let known = Known::new(Noise::Wanders, &mut draws);
    let covered: u64 = (0..DRAWN).map(|_| known.covered(12, 10, &mut draws)).sum();
    assert!(covered >= 900, "{covered} of 1000, where one number alone covers 800");
}

#[test]
fn intervals_cover_95_percent() {
    const DRAWN: usize = 3_000;
    for (index, (name, noise, least)) in NOISES.into_iter().enumerate() {
        if least < INDEPENDENT {
            continue;
        }
        let mut draws = Draws::new(2_000 + index as u64);
        let known = Known::new(noise, &mut draws);
        for blocks in BLOCKS {
            let covered = (0..DRAWN).filter(|_| known.is_covered(blocks, &mut draws));
            let share = covered.count() as f64 / DRAWN as f64;
            assert!(share >= least - chance(least, DRAWN), "{name}, {blocks} blocks: {share}");
        }
    }
}

#[test]
fn a_stop_by_width_keeps_the_coverage() {
    const DRAWN: usize = 2_000;
    for (index, (name, noise, least)) in NOISES.into_iter().enumerate() {
        if least < INDEPENDENT {
            continue;
        }
        let mut draws = Draws::new(3_000 + index as u64);
        let known = Known::new(noise, &mut draws);
        for width in [0.03, 0.015] {
            let covered = (0..DRAWN).filter(|_| known.is_covered_when_stopped(width, &mut draws));
            let share = covered.count() as f64 / DRAWN as f64;
            assert!(share >= 0.93 - chance(0.93, DRAWN), "{name}, {width}: {share}");
        }
    }
}

#[test]
fn frequencies_are_covered_whatever_depends_on_what() {
    for (index, of) in [
        Chances::Independent(0.05),
        Chances::BetaBinomial(0.3),
        Chances::BetaBinomial(0.02),
        Chances::Bursts(0.02),
    ]
    .into_iter()
    .enumerate()
    {
        let mut draws = Draws::new(4_000 + index as u64);
        for trials in [2, 6, 12, 40] {
            let covered =
                (0..SESSIONS).filter(|_| frequency_is_covered(of, 100, trials, &mut draws)).count();
            let share = covered as f64 / SESSIONS as f64;
            assert!(share >= 0.95 - chance(0.95, SESSIONS), "{of:?}, {trials}: {share}");
        }
    }
}

#[test]
fn effects_are_found() {
    let mut draws = Draws::new(5_000);
    let mut found_by = |test: Test, effect: f64, blocks: usize, claims: usize| {
        let finds = (0..SESSIONS).filter(|_| test.finds(effect, (blocks, claims), &mut draws));
        finds.count() as f64 / SESSIONS as f64
    };
    // What the sign test pays for needing no normal noise is bounded.
    for test in [Test::Sign, Test::Paired, Test::Welch] {
        assert!(found_by(test, 0.06, 20, 5) > 0.95, "{test:?}");
    }
    let mut found = |effect, blocks, claims| found_by(Test::Sign, effect, blocks, claims);
    // Nine blocks decide one claim that is far from its edge, ten decide a hundred.
    assert!(found(1.0, 9, 1) == 1.0 && found(1.0, 10, 100) > 0.95);
    assert!(found(0.1, 12, 10) > 0.9 && found(0.05, 40, 100) > 0.9);
    assert_eq!((found(1.0, 8, 1), found(1.0, 8, 100)), (0.0, 0.0));
}
