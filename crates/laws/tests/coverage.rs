//! What the intervals cover, by simulation with known truth. Seeded: a failure is a change of the
//! method, never bad luck. The rounds are so many that chance moves a share by half a per cent.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use laws::fit::{Fit, Law, Region, bootstrap, fit, weighted_by_level};

mod planted;
use planted::{Draws, Noise, Plant};

const EIGHT: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0];
const SIXTEEN: [f64; 16] =
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0];

/// Whose intervals.
#[derive(Clone, Copy, Debug)]
enum By {
    /// Student's t, with equal weights.
    T,
    /// Student's t, with the weights of a noise that is the same part of the throughput.
    WeightedT,
    /// Trials resampled at each n.
    Bootstrap,
}

/// How often, of `rounds` simulated sessions, each coefficient's interval holds the truth.
fn coverage(plant: &Plant, by: By, region: Region, rounds: u32, seed: u64) -> Vec<f64> {
    let mut draws = Draws::new(seed);
    let mut held = vec![0_u32; plant.truth.len()];
    for _ in 0..rounds {
        let points = plant.points(&mut draws);
        let intervals: Vec<(f64, f64)> = match by {
            By::T => ends(&fit(plant.law, &points, region).unwrap()),
            By::WeightedT => {
                ends(&fit(plant.law, &weighted_by_level(&points).unwrap(), region).unwrap())
            }
            By::Bootstrap => {
                let drawn = bootstrap(plant.law, &points, region, 200, || draws.uniform());
                drawn.unwrap().intervals()
            }
        };
        for (held, ((low, high), truth)) in held.iter_mut().zip(intervals.iter().zip(&plant.truth))
        {
            *held += u32::from(low <= truth && truth <= high);
        }
    }
    held.iter().map(|&held| 100.0 * f64::from(held) / f64::from(rounds)).collect()
}

fn ends(fit: &Fit) -> Vec<(f64, f64)> {
    fit.parameters.iter().map(|parameter| (parameter.low, parameter.high)).collect()
}

fn plants(noise: Noise, trials: u32) -> Vec<Plant> {
    let plant = |law, truth: &[f64], ns: &[f64]| Plant {
        law,
        truth: truth.to_vec(),
        ns: ns.to_vec(),
        trials,
        noise,
    };
    vec![
        plant(Law::Linear, &[50.0], &EIGHT),
        plant(Law::Gustafson, &[50.0, 0.2], &EIGHT),
        plant(Law::Amdahl, &[50.0, 0.1], &EIGHT),
        plant(Law::Usl, &[50.0, 0.05, 0.004], &EIGHT),
        plant(Law::Usl, &[50.0, 0.02, 0.02], &SIXTEEN),
    ]
}

#[test]
fn explore() {
    for trials in [3, 4, 6] {
        for noise in [Noise::Same(0.03), Noise::Part(0.03), Noise::Growing(0.02)] {
            let mut all = plants(noise, trials);
            for (law, truth) in [
                (Law::Kink, vec![50.0, 4.0]),
                (Law::Kink, vec![50.0, 4.6]),
                (Law::ContendedKink, vec![50.0, 0.05, 6.0]),
                (Law::ContendedKink, vec![50.0, 0.05, 6.7]),
            ] {
                all.push(Plant { law, truth, ns: EIGHT.to_vec(), trials, noise });
            }
            for plant in all {
                let rounds = if matches!(plant.law, Law::ContendedKink) { 300 } else { 1000 };
                let t = coverage(&plant, By::T, Region::Free, rounds, 1);
                let w = coverage(&plant, By::WeightedT, Region::Physical, rounds, 2);
                let b = if matches!(plant.law, Law::ContendedKink) {
                    vec![]
                } else {
                    coverage(&plant, By::Bootstrap, Region::Physical, rounds / 2, 3)
                };
                println!(
                    "{trials} {noise:?} {:?} {:?}: t {t:.1?} weighted {w:.1?} boot {b:.1?}",
                    plant.law, plant.truth
                );
            }
        }
    }
}
