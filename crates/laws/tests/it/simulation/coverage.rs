//! What the intervals cover, by simulation with known truth. Seeded: a failure is a change of the
//! method, never bad luck. The rounds are so many that chance moves a share by half a per cent.

use laws::fit::{Fit, Law, Region, bootstrap, fit, weighted_by_level};

use super::planted::{Draws, Noise, Plant};

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

fn plant(law: Law, truth: &[f64], ns: &[f64], trials: u32, noise: Noise) -> Plant {
    Plant { law, truth: truth.to_vec(), ns: ns.to_vec(), trials, noise }
}

fn plants(noise: Noise, trials: u32) -> Vec<Plant> {
    vec![
        plant(Law::Linear, &[50.0], &EIGHT, trials, noise),
        plant(Law::Gustafson, &[50.0, 0.2], &EIGHT, trials, noise),
        plant(Law::Amdahl, &[50.0, 0.1], &EIGHT, trials, noise),
        plant(Law::Usl, &[50.0, 0.05, 0.004], &EIGHT, trials, noise),
        plant(Law::Usl, &[50.0, 0.02, 0.02], &SIXTEEN, trials, noise),
        // A kink at a level, where its slope is another to either side, and one between two.
        plant(Law::Kink, &[50.0, 4.0], &EIGHT, trials, noise),
        plant(Law::Kink, &[50.0, 4.6], &EIGHT, trials, noise),
    ]
}

/// Every share lies between 93 and 97 %.
fn assert_covers(plant: &Plant, by: By, region: Region, rounds: u32, seed: u64) {
    let shares = coverage(plant, by, region, rounds, seed);
    println!(
        "{by:?} {:?} {:?} {:?} {}: {shares:.1?}",
        plant.law, plant.truth, plant.noise, plant.trials
    );
    for share in shares {
        assert!((93.0..=97.0).contains(&share), "{by:?} {plant:?}: {share:.1} %");
    }
}

#[test]
fn t_covers_where_the_weights_are_those_of_the_noise() {
    for trials in [1, 4] {
        for plant in plants(Noise::Same(0.03), trials) {
            assert_covers(&plant, By::T, Region::Free, 2500, 11);
        }
    }
    for plant in plants(Noise::Same(0.03), 4) {
        assert_covers(&plant, By::T, Region::Physical, 2500, 12);
    }
    for plant in plants(Noise::Part(0.03), 4) {
        assert_covers(&plant, By::WeightedT, Region::Physical, 2500, 13);
    }
}

#[test]
fn a_contended_kink_is_covered() {
    for cores in [6.0, 6.7] {
        let plant = plant(Law::ContendedKink, &[50.0, 0.05, cores], &EIGHT, 4, Noise::Part(0.03));
        let shares = coverage(&plant, By::WeightedT, Region::Physical, 800, 14);
        println!("{plant:?}: {shares:.1?}");
        // Fewer rounds, since each searches many places; the kink is not quite regular.
        for share in shares {
            assert!((93.0..=98.5).contains(&share), "{plant:?}: {share:.1} %");
        }
    }
}

#[test]
fn the_bootstrap_covers_a_noise_that_grows() {
    let all = plants(Noise::Growing(0.02), 5);
    for (plant, seed) in all.iter().filter(|plant| plant.law != Law::Kink).zip(31..) {
        assert_covers(plant, By::Bootstrap, Region::Physical, 2000, seed);
        // What it is for: t knows one noise for all.
        let t = coverage(plant, By::T, Region::Free, 1000, seed);
        println!("  t: {t:.1?}");
        assert!(t.iter().any(|share| !(92.0..=98.0).contains(share)), "{plant:?}: {t:.1?}");
    }
}

#[test]
fn a_bootstrapped_kink_is_covered_or_a_little_more() {
    for plant in plants(Noise::Growing(0.02), 5).iter().filter(|plant| plant.law == Law::Kink) {
        let shares = coverage(plant, By::Bootstrap, Region::Physical, 600, 41);
        println!("{plant:?}: {shares:.1?}");
        for share in shares {
            assert!((92.5..=99.0).contains(&share), "{plant:?}: {share:.1} %");
        }
    }
}

/// How often, of `rounds` sessions, the interval of the curve's height holds it, at some n.
fn height_coverage(plant: &Plant, by: By, rounds: u32, seed: u64) -> Vec<f64> {
    let ns = [1.0, 5.0, 24.0];
    let mut draws = Draws::new(seed);
    let mut held = [0_u32; 3];
    for _ in 0..rounds {
        let points = plant.points(&mut draws);
        let interval = |n: f64, draws: &mut Draws| match by {
            By::Bootstrap => {
                let drawn = bootstrap(plant.law, &points, Region::Free, 200, || draws.uniform());
                drawn.unwrap().interval_at(n).unwrap()
            }
            _ => fit(plant.law, &points, Region::Free).unwrap().interval_at(n).unwrap(),
        };
        for (held, n) in held.iter_mut().zip(ns) {
            let (low, high) = interval(n, &mut draws);
            *held += u32::from((low..=high).contains(&plant.throughput(n)));
        }
    }
    held.map(|held| 100.0 * f64::from(held) / f64::from(rounds)).to_vec()
}

#[test]
fn the_height_of_the_curve_is_covered_within_and_beyond_the_points() {
    // So few points that the degrees of freedom matter: 2 of 5.
    let five = [1.0, 2.0, 4.0, 8.0, 16.0];
    let few = plant(Law::Usl, &[50.0, 0.05, 0.004], &five, 1, Noise::Same(0.02));
    let many = plant(Law::Amdahl, &[50.0, 0.1], &EIGHT, 5, Noise::Growing(0.02));
    for (plant, by, rounds) in [(few, By::T, 3000), (many, By::Bootstrap, 600)] {
        let shares = height_coverage(&plant, by, rounds, 51);
        println!("{by:?} {plant:?}: {shares:.1?}");
        for share in shares {
            assert!((92.5..=97.5).contains(&share), "{by:?} {plant:?}: {share:.1} %");
        }
    }
}
