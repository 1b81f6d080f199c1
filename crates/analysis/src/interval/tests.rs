use super::*;
use proptest::prelude::*;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

/// Hamilton's depression scale before and after a tranquilliser: table 3.1 of Hollander and
/// Wolfe, Nonparametric Statistical Methods.
#[expect(clippy::approx_constant, reason = "3.14 is what a patient scored")]
fn depression() -> Vec<f64> {
    let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
    let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
    after.iter().zip(before).map(|(after, before)| after - before).collect()
}

#[test]
fn the_pseudomedian_is_that_of_the_textbook() {
    let located = centre(&depression()).unwrap();
    // The book: estimate -0.46, 96.1 % interval from -0.786 to -0.010, the 6th pair means from
    // either end; the 7th are -0.771 and -0.1415 and enclose 94.5 %.
    assert!(close(located.point, -0.46), "{located:?}");
    let weight = (0.05 - 20.0 / 512.0) / (8.0 / 512.0);
    assert!(close(located.low, -0.786 + weight * (0.786 - 0.771)), "{located:?}");
    assert!(close(located.high, -0.010 - weight * (0.1415 - 0.010)), "{located:?}");
}

#[test]
fn the_interval_of_the_mean_is_students() {
    // Student 1908: extra hours of sleep, optical isomers; R's t.test(extra ~ group, paired):
    // mean 1.58, 95 % interval 0.7001142 to 2.4598858.
    let sleep = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
    let located = student(&sleep).unwrap();
    assert!(close(located.point, 1.58));
    assert!((located.low - 0.700_114_2).abs() < 1e-6 && (located.high - 2.459_885_8).abs() < 1e-6);
    assert!((located.standard_error - 0.388_958_7).abs() < 1e-6);
}

#[test]
fn the_interval_of_the_median_is_interpolated() {
    // n = 10: order statistics 2 and 9 enclose the median with 97.85 %, 3 and 8 with 89.06 %.
    let values: Vec<f64> = (1..=10).map(|value| (value * value) as f64).collect();
    let located = median_located(&values).unwrap();
    let part = (0.978_515_625 - 0.95) / (0.978_515_625 - 0.890_625);
    let weight = 8.0 * part / (2.0 + 6.0 * part);
    assert!(close(located.point, 30.5));
    assert!(close(located.low, 4.0 + weight * 5.0), "{located:?}");
    assert!(close(located.high, 81.0 - weight * 17.0), "{located:?}");
}

#[test]
fn few_numbers_get_the_interval_of_student() {
    let located = median_located(&[1.0, 10.0, 100.0]).unwrap();
    // Logarithms 0, 1, 2 in tens: mean 1, standard error 1/sqrt(3), t 4.302653.
    let half = 4.302_652_73 / 3f64.sqrt();
    assert!(close(located.point, 10.0));
    assert!((located.low.log10() - (1.0 - half)).abs() < 1e-6);
    assert!((located.high.log10() - (1.0 + half)).abs() < 1e-6);
    let signed = median_located(&[-1.0, 0.0, 1.0]).unwrap();
    assert!((signed.high - half).abs() < 1e-6);
    assert_eq!(centre(&[1.0]), None);
    assert_eq!(median_located(&[1.0]), None);
    assert_eq!(centre(&[1.0, f64::NAN, 2.0]), None);
}

#[test]
fn ratio_of_centres_by_hand() {
    // The lower part is constant, so the ratio is a tenth of the centre of the upper part.
    let above: Vec<f64> = depression().iter().map(|value| value + 5.0).collect();
    let direct = centre(&above).unwrap();
    let located = ratio_of_centres(&above, &[10.0; 9]).unwrap();
    assert!(close(located.point, direct.point / 10.0));
    assert!(close(located.low, direct.low / 10.0) && close(located.high, direct.high / 10.0));
    // A common sign does not matter.
    let mirrored: Vec<f64> = above.iter().map(|value| -value).collect();
    let turned = ratio_of_centres(&mirrored, &[-10.0; 9]).unwrap();
    assert!(close(turned.low, located.low) && close(turned.high, located.high));
    // A lower part that may be 0 gives no ratio.
    assert_eq!(ratio_of_centres(&above, &depression().map_last(0.9)), None);
}

trait MapLast {
    fn map_last(self, last: f64) -> Vec<f64>;
}

impl MapLast for Vec<f64> {
    fn map_last(mut self, last: f64) -> Vec<f64> {
        if let Some(end) = self.last_mut() {
            *end = last;
        }
        self
    }
}

#[test]
fn fiellers_interval_solves_his_equation() {
    let above = [3.0, 4.1, 2.9, 3.6];
    let below = [1.9, 2.2, 2.0, 2.3];
    let located = ratio_of_centres(&above, &below).unwrap();
    assert!(close(located.point, 13.6 / 8.4));
    // At either end the mean of above − r·below lies exactly t standard errors from 0.
    for end in [located.low, located.high] {
        let left: Vec<f64> = above.iter().zip(below).map(|(a, b)| a - end * b).collect();
        let t = mean(&left).unwrap() / (variance(&left).unwrap() / 4.0).sqrt();
        assert!((t.abs() - 3.182_446).abs() < 1e-5, "{t}");
    }
}

#[test]
fn a_pair_that_could_move_either_end_counts_against_both() {
    // Ratios 1 to 12 in tenths but for one block whose lower part is negative: of 78 pairs only
    // that block with itself has no positive sum.
    let above: Vec<f64> = (1..=12).map(f64::from).collect();
    let mut below = vec![10.0; 12];
    below[11] = -1.0;
    let located = ratio_of_centres(&above, &below).unwrap();
    let mut ratios = Vec::new();
    for i in 0..12 {
        for j in i..12 {
            ratios.push((above[i] + above[j]) / (below[i] + below[j]));
        }
    }
    let ratios: Vec<f64> = crate::order::sorted(&ratios);
    assert!(ratios[0] < 0.0 && ratios[1] > 0.0);
    // n = 12: the 14th pair means from either end enclose 95.75 %; here the 14th from below,
    // the negative one among them, and the 13th from above.
    let at = place(12).unwrap();
    assert_eq!(at.place, 14);
    assert!(close(located.low, ratios[13] + at.weight * (ratios[14] - ratios[13])));
    assert!(close(located.high, ratios[65] + at.weight * (ratios[64] - ratios[65])));
}

#[test]
fn p_values_follow_thin_tails_from_the_interval_on() {
    // 1 to 11: mean 6; the ends are one p-value of 0.05 away. Six degrees of freedom of ten:
    // t at 0.05 is 2.446912; twice the distance is t 4.893824, p = 0.00273 (R: 2 * pt(-4.893824, 6)).
    let effects: Vec<f64> = (1..=11).map(f64::from).collect();
    let located = centre(&effects).unwrap();
    assert!(close(located.point, 6.0));
    let far = located.point - 2.0 * (located.point - located.low);
    assert!((located.p_value(located.low) - 0.05).abs() < 1e-9);
    assert!((located.p_value(far) - 0.002_727).abs() < 2e-5, "{}", located.p_value(far));
    assert_eq!(located.p_value(6.0), 1.0);
}

#[test]
fn agreement_and_ties_are_judged_by_the_sign_test() {
    let seven = centre(&[0.1 + 0.2, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3]).unwrap();
    assert!(seven.agrees);
    assert!(close(seven.p_value(0.0), 2.0 / 128.0));
    let three = centre(&[0.3; 3]).unwrap();
    assert_eq!(three.p_value(0.0), 1.0);
    assert_eq!((three.low, three.high), (0.3, 0.3));
    // 19 of 20 agree and one lies above: the interval has no width.
    let mut twenty = vec![16.0; 19];
    twenty.push(17.0);
    let located = centre(&twenty).unwrap();
    assert!(!located.agrees && located.low == 16.0 && located.high == 16.0);
    assert!(close(located.p_value(16.5), 2.0 * 21.0 / 1_048_576.0));
    assert!(close(located.p_value(15.5), 2.0 / 1_048_576.0));
}

fn effects() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-5.0..5.0_f64, 2..30)
}

proptest! {
    #[test]
    fn intervals_contain_their_point(effects in effects()) {
        for located in [centre(&effects), median_located(&effects), student(&effects)] {
            let located = located.unwrap();
            prop_assert!(located.low <= located.point && located.point <= located.high);
            prop_assert!(located.standard_error >= 0.0);
        }
    }

    #[test]
    fn the_order_of_blocks_is_irrelevant(effects in effects(), turn in 0..30_usize) {
        let mut turned = effects.clone();
        turned.rotate_left(turn % effects.len());
        turned.reverse();
        for method in [centre, median_located] {
            let (a, b) = (method(&effects).unwrap(), method(&turned).unwrap());
            prop_assert!(close(a.point, b.point) && close(a.low, b.low) && close(a.high, b.high));
        }
    }

    #[test]
    fn scale_and_shift_go_through(effects in effects(), scale in 0.01..100.0_f64, shift in -9.0..9.0_f64) {
        let moved: Vec<f64> = effects.iter().map(|effect| scale * effect + shift).collect();
        let (a, b) = (centre(&effects).unwrap(), centre(&moved).unwrap());
        let near = |x: f64, y: f64| (scale * x + shift - y).abs() < 1e-7 * (1.0 + scale);
        prop_assert!(near(a.point, b.point) && near(a.low, b.low) && near(a.high, b.high));
        // A change of unit goes through the median of positive numbers, few or many.
        let positive: Vec<f64> = effects.iter().map(|effect| effect.exp()).collect();
        let larger: Vec<f64> = positive.iter().map(|value| value * scale).collect();
        let (a, b) = (median_located(&positive).unwrap(), median_located(&larger).unwrap());
        prop_assert!((a.low * scale / b.low - 1.0).abs() < 1e-9);
        prop_assert!((a.high * scale / b.high - 1.0).abs() < 1e-9);
    }

    #[test]
    fn p_value_and_interval_agree(effects in effects(), boundary in -6.0..6.0_f64) {
        for located in [centre(&effects).unwrap(), median_located(&effects).unwrap()] {
            if located.agrees {
                continue;
            }
            let inside = located.low <= boundary && boundary <= located.high;
            let p = located.p_value(boundary);
            prop_assert!((0.0..=1.0).contains(&p));
            prop_assert!(inside == (p >= 0.05) || (p - 0.05).abs() < 1e-9, "{p} {located:?}");
            // Farther is less likely.
            let farther = boundary + (boundary - located.point);
            prop_assert!(located.p_value(farther) <= p + 1e-12);
        }
    }

    #[test]
    fn swapping_a_ratio_turns_it_over(pairs in prop::collection::vec((1.0..3.0_f64, 1.0..3.0_f64), 6..20)) {
        let (above, below): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let a = ratio_of_centres(&above, &below).unwrap();
        let b = ratio_of_centres(&below, &above).unwrap();
        // The ends are order statistics of reciprocal numbers; only the interpolation between
        // neighbours differs, so the two agree to the distance between neighbours.
        prop_assert!((a.low * b.high - 1.0).abs() < 0.2 && (a.high * b.low - 1.0).abs() < 0.2);
        prop_assert!(a.low <= a.point && a.point <= a.high);
    }
}
