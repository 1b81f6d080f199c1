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
    let values: Vec<f64> = [3, 9, 1, 8, 5, 10, 2, 7, 4, 6].map(|v| f64::from(v * v)).to_vec();
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
fn a_block_that_could_move_either_end_counts_against_both() {
    // Ratios 1 to 12 in tenths, but the last block's lower part is negative.
    let above = [3.0, 9.0, 1.0, 11.0, 8.0, 5.0, 10.0, 2.0, 7.0, 4.0, 6.0, 12.0];
    let mut below = vec![10.0; 12];
    below[11] = -1.0;
    let located = ratio_of_centres(&above, &below).unwrap();
    // n = 12: the 3rd from either end enclose 96.1 %, the 4th 85.4 %; here the 2nd and 3rd of the
    // eleven that are left.
    let (outer, inner) = (1.0 - 2.0 * 79.0 / 4096.0, 1.0 - 2.0 * 299.0 / 4096.0);
    let part = (outer - 0.95) / (outer - inner);
    let weight = 9.0 * part / (3.0 + 6.0 * part);
    assert!(close(located.low, 0.2 + 0.1 * weight), "{located:?}");
    assert!(close(located.high, 1.0 - 0.1 * weight), "{located:?}");
    assert_eq!((located.samples, located.beyond(0.05)), (12, 11));
    assert!(close(located.p_value(0.05), 2.0 * 13.0 / 4096.0));
}

#[test]
fn p_values_are_those_of_the_sign_test() {
    // Depression scores of nine patients: 7 below 0. R: binom.test(7, 9): p = 0.1797.
    let located = centre(&depression()).unwrap();
    assert_eq!((located.point, located.beyond(0.0)), (-0.49, 7));
    assert!((located.p_value(0.0) - 0.179_687_5).abs() < 1e-9);
    // However far the boundary, nine blocks know no more than 2⁻⁸.
    assert!(close(located.p_value(1e6), 2f64.powi(-8)));
    assert_eq!(located.p_value(located.point), 1.0);
    // A tie with the boundary counts against: 8 of 9 lie above −0.952, one is it.
    let least = crate::stats::order::sorted(&depression())[0];
    assert!(close(located.p_value(least), 2.0 * 10.0 / 512.0));
}

#[test]
fn few_blocks_and_agreement_decide_nothing_they_cannot() {
    let seven = centre(&[0.1 + 0.2, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3]).unwrap();
    assert!(seven.agrees && close(seven.p_value(0.0), 2.0 / 128.0));
    let five = centre(&[0.3; 5]).unwrap();
    assert_eq!((five.p_value(0.0), five.low, five.high), (1.0, 0.3, 0.3));
    // A coarse clock: 19 of 20 agree and one lies above. Nothing lies below 16.
    let mut twenty = vec![16.0; 19];
    twenty.push(17.0);
    let located = centre(&twenty).unwrap();
    assert!(!located.agrees && located.low == 16.0 && located.high == 16.0);
    assert_eq!(located.p_value(16.0), 1.0);
    assert!(close(located.p_value(15.5), 2.0 / 1_048_576.0));
}

#[test]
fn an_end_inside_a_gap_moves_to_its_outer_side() {
    // Ten blocks in two groups: the 2nd and 9th numbers enclose 97.85 %, the 3rd and 8th 89.06 %.
    let two = [2.0, 2.04, 1.0, 2.01, 2.07, 2.02, 2.06, 1.01, 2.03, 2.05];
    let located = centre(&two).unwrap();
    assert_eq!(located.low, 1.01);
    assert!(located.high < 2.06 && located.two_groups, "{located:?}");
    let even: Vec<f64> = (0..10).map(f64::from).collect();
    assert!(!centre(&even.map_last(9.5)).unwrap().two_groups);
}

/// Twenty numbers in another order.
fn mixed(values: &[f64]) -> Vec<f64> {
    (0..20).map(|block| values[block * 7 % 20]).collect()
}

#[test]
fn blocks_that_depend_on_each_other_count_as_fewer() {
    // Twenty blocks that change sides once.
    let kept_by_halves: Vec<f64> =
        (0..20).map(|block| if block < 10 { 1.0 } else { 2.0 } + 0.01 * f64::from(block)).collect();
    let located = centre(&kept_by_halves).unwrap();
    let correlation = located.correlation.unwrap();
    assert!(correlation > 0.7 && located.effective < 4.0, "{located:?}");
    assert_eq!((located.low, located.high), (1.0, 2.19));
    // Nothing speaks against a boundary beyond them all; but 16 of 20 blocks in a row on one side of a
    // boundary say less than 16 of 20 here and there.
    assert!(close(located.p_value(0.0), 2f64.powi(-19)));
    let kept: Vec<f64> = (0..20).map(|block| if block < 4 { 1.0 } else { 2.0 }).collect();
    let (wild, kept) = (centre(&mixed(&kept)).unwrap(), centre(&kept).unwrap());
    assert!(kept.p_value(1.5) > 0.05 && wild.p_value(1.5) < 0.02, "{kept:?} {wild:?}");
    // The same numbers in another order are independent.
    let located = centre(&mixed(&kept_by_halves)).unwrap();
    assert_eq!((located.correlation, located.effective), (None, 20.0));
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
    fn the_direction_of_time_is_irrelevant(effects in effects()) {
        let mut turned = effects.clone();
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
    fn what_the_test_excludes_lies_outside_the_interval(
        effects in effects(),
        boundary in -6.0..6.0_f64,
    ) {
        let located = centre(&effects).unwrap();
        let p = located.p_value(boundary);
        prop_assert!(p <= 1.0 && p >= 0.999 * 2f64.powi(1 - effects.len() as i32));
        if p <= 0.05 {
            prop_assert!(boundary < located.low || boundary > located.high, "{p} {located:?}");
        }
    }

    #[test]
    fn swapping_a_ratio_turns_it_over(pairs in prop::collection::vec((1.0..3.0_f64, 1.0..3.0_f64), 6..20)) {
        let (above, below): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let a = ratio_of_centres(&above, &below).unwrap();
        let b = ratio_of_centres(&below, &above).unwrap();
        // The ends are order statistics of reciprocal numbers; only the interpolation between
        // neighbours differs, what counts as a gap, and whether neighbours are alike.
        if a.correlation.is_none() && b.correlation.is_none() {
            prop_assert!((a.wide.0 * b.wide.1).ln().abs() < 1e-9);
        }
        prop_assert!(a.low <= a.point && a.point <= a.high);
    }
}
