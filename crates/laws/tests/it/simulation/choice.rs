//! Which law is chosen, and what is said of a peak, in simulated sessions with known truth.

use laws::fit::{Law, Peak, Point, Reason, Region, choose, fit, weighted_by_level};

use super::planted::{Draws, Noise, Plant};

const EIGHT: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0];
const SESSIONS: u32 = 300;

fn plant(law: Law, truth: &[f64], ns: &[f64], noise: Noise) -> Plant {
    Plant { law, truth: truth.to_vec(), ns: ns.to_vec(), trials: 5, noise }
}

fn weighted(plant: &Plant, draws: &mut Draws) -> Vec<Point> {
    weighted_by_level(&plant.points(draws)).unwrap()
}

#[test]
fn the_true_law_is_chosen_in_nine_of_ten_sessions() {
    let noise = Noise::Part(0.02);
    let small = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    for plant in [
        plant(Law::Linear, &[50.0], &EIGHT, noise),
        plant(Law::Gustafson, &[50.0, 0.3], &EIGHT, noise),
        plant(Law::Amdahl, &[50.0, 0.1], &EIGHT, noise),
        plant(Law::Usl, &[50.0, 0.05, 0.01], &EIGHT, noise),
        plant(Law::Usl, &[50.0, 0.02, 0.004], &EIGHT, noise),
        plant(Law::Kink, &[50.0, 4.0], &EIGHT, noise),
        // As on two cores, and with a quota of two and a half.
        plant(Law::Kink, &[50.0, 2.0], &small, noise),
        plant(Law::Kink, &[50.0, 2.5], &small, noise),
        plant(Law::ContendedKink, &[50.0, 0.1, 6.0], &EIGHT, noise),
    ] {
        let mut draws = Draws::new(21);
        let mut chosen: Vec<(Law, u32)> = Law::ALL.map(|law| (law, 0)).to_vec();
        for _ in 0..SESSIONS {
            let choice = choose(&Law::ALL, &weighted(&plant, &mut draws)).unwrap();
            for (law, count) in &mut chosen {
                *count += u32::from(*law == choice.law());
            }
        }
        println!("{:?} {:?}: {chosen:?}", plant.law, plant.truth);
        let right = chosen.iter().find(|(law, _)| *law == plant.law).unwrap().1;
        assert!(10 * right >= 9 * SESSIONS, "{plant:?}: {chosen:?}");
    }
}

#[test]
fn what_no_law_describes_is_said_to_be_only_near() {
    // Throughput that falls to half at one n, as where a NUMA node is full.
    let mut draws = Draws::new(22);
    let law = plant(Law::Linear, &[50.0], &EIGHT, Noise::Part(0.02));
    for _ in 0..50 {
        let mut points = weighted(&law, &mut draws);
        for point in points.iter_mut().filter(|point| point.n == 6.0) {
            point.throughput *= 0.5;
            point.weight *= 4.0;
        }
        let choice = choose(&Law::ALL, &points).unwrap();
        assert!(matches!(choice.reason, Reason::Nearest { p_value } if p_value < 1e-6));
    }
}

#[test]
fn a_peaks_interval_holds_the_peak() {
    // √(0.95/0.004) = 15.4, measured up to 16; √(0.98/0.02) = 7.
    for (alpha, beta) in [(0.05, 0.004), (0.02, 0.02)] {
        let truth = f64::sqrt((1.0 - alpha) / beta);
        let plant = plant(Law::Usl, &[50.0, alpha, beta], &EIGHT, Noise::Part(0.03));
        let mut draws = Draws::new(23);
        let (rounds, mut held) = (4000, 0);
        for _ in 0..rounds {
            let fit = fit(Law::Usl, &weighted(&plant, &mut draws), Region::Physical).unwrap();
            held += u32::from(match fit.peak() {
                Peak::Within { low, high, .. } => {
                    low <= truth && high.is_none_or(|high| truth <= high)
                }
                Peak::Beyond { low, .. } => low <= truth,
                Peak::None => false,
            });
        }
        let share = 100.0 * f64::from(held) / f64::from(rounds);
        println!("peak at {truth:.1}: {share:.1} %");
        assert!((93.0..=97.0).contains(&share), "peak at {truth}: {share:.1} %");
    }
}

#[test]
fn a_law_without_a_peak_is_seldom_given_one() {
    // So noisy that some sessions look as if they had one.
    let plant = Plant { trials: 2, ..plant(Law::Amdahl, &[50.0, 0.1], &EIGHT, Noise::Part(0.15)) };
    let mut draws = Draws::new(24);
    let (mut closed, mut named) = (0, 0);
    for _ in 0..2000 {
        let fit = fit(Law::Usl, &weighted(&plant, &mut draws), Region::Physical).unwrap();
        closed += u32::from(matches!(fit.peak(), Peak::Within { high: Some(_), .. }));
        named += u32::from(matches!(fit.peak(), Peak::Within { .. }));
    }
    println!("of 2000 sessions without a peak: {named} named one, {closed} closed its interval");
    // One side of a 95 % interval errs in 2.5 % of sessions: 50.
    assert!(named > 100 && closed <= 75, "{named} {closed} of 2000");
}

#[test]
fn a_peak_far_beyond_the_points_is_not_printed() {
    // The true peak is at 35.6; measured up to 8, once each, with 3 % of noise.
    let truth = [50.0, 0.05, 0.95 / (35.6 * 35.6)];
    let ns = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    let plant = Plant { trials: 1, ..plant(Law::Usl, &truth, &ns, Noise::Part(0.03)) };
    let mut draws = Draws::new(25);
    let (mut within, mut beyond, mut none) = (0, 0, 0);
    for _ in 0..2000 {
        let fit = fit(Law::Usl, &plant.points(&mut draws), Region::Physical).unwrap();
        match fit.peak() {
            Peak::Within { .. } => within += 1,
            Peak::Beyond { .. } => beyond += 1,
            Peak::None => none += 1,
        }
    }
    println!("of 2000: {within} within reach, {beyond} beyond, {none} none");
    // Some 42 in 100 show none at all, the rest one at any place: none is fit to print.
    assert!((600..=1000).contains(&none), "{none} of 2000 show none");
    assert!(within <= 40, "{within} of 2000 named one");
}
