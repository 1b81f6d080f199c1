//! Holm's step-down correction (*A simple sequentially rejective multiple test procedure*,
//! Scandinavian Journal of Statistics 6, 1979).

/// The share of sessions that may hold one false verdict or more.
pub const FAMILY_ERROR: f64 = 0.05;

/// Which of several p-values stand when all of them together may err in 5 % of sessions.
///
/// The smallest is compared with 0.05/m, the next with 0.05/(m − 1) and so on, up to the first
/// that fails. This controls the error whatever the dependence between the p-values, which
/// matters here: claims share trials.
pub fn holm(p_values: &[f64]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut stands = vec![false; p_values.len()];
    for (step, &index) in order.iter().enumerate() {
        // A p-value that is not a number fails here as well.
        let left = (p_values.len() - step) as f64;
        if !p_values[index].le(&(FAMILY_ERROR / left)) {
            break;
        }
        stands[index] = true;
    }
    stands
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn steps_down_until_the_first_failure() {
        // Holm 1979's procedure by hand, m = 4: limits 0.0125, 0.0167, 0.025, 0.05.
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005]), vec![true, false, false, true]);
        assert_eq!(holm(&[0.01, 0.015, 0.02, 0.04]), vec![true; 4]);
        assert_eq!(holm(&[0.02, 0.02, 0.02, 0.02]), vec![false; 4]);
        assert_eq!(holm(&[0.05]), vec![true]);
        assert_eq!(holm(&[]), Vec::<bool>::new());
        assert_eq!(holm(&[f64::NAN, 0.001]), vec![false, true]);
    }

    proptest! {
        #[test]
        fn a_smaller_p_value_never_loses(
            p_values in prop::collection::vec(0.0..0.2_f64, 1..30),
            which in any::<prop::sample::Index>(),
            by in 0.0..1.0_f64,
        ) {
            let before = holm(&p_values);
            let mut smaller = p_values.clone();
            let index = which.index(p_values.len());
            smaller[index] *= by;
            let after = holm(&smaller);
            for (was, is) in before.iter().zip(&after) {
                prop_assert!(!was || *is);
            }
            // The verdicts follow the order of the p-values.
            for (i, p) in p_values.iter().enumerate() {
                for (j, q) in p_values.iter().enumerate() {
                    prop_assert!(!(p < q && before[j]) || before[i]);
                }
            }
            // Between Bonferroni and no correction at all.
            for (p, stands) in p_values.iter().zip(&before) {
                prop_assert!(*stands || *p > FAMILY_ERROR / p_values.len() as f64);
                prop_assert!(!*stands || *p <= FAMILY_ERROR);
            }
        }
    }
}
