//! Which p-values of a session become verdicts.
//!
//! **The promise: at most 5 % of sessions hold a wrong verdict on a claim.** Holm's step-down
//! correction keeps it (*A simple sequentially rejective multiple test procedure*, Scandinavian
//! Journal of Statistics 6, 1979). The A/A controls and the planted answers of a session are
//! families of their own with 5 % each: they test the laboratory, and no reader takes them home.
//!
//! Rejected: a false discovery rate (Benjamini and Hochberg 1995) promises that 5 % of the verdicts
//! are wrong, which is several in every session of a hundred claims. Holm within each experiment
//! promises 5 % for each of twenty experiments.

/// The share of sessions that may hold one wrong verdict or more.
pub const FAMILY_ERROR: f64 = 0.05;

/// The largest p-value of a single verdict, however few others there are (Benjamin et al.,
/// *Redefine statistical significance*, Nature Human Behaviour 2, 2018).
///
/// It also guards against blocks that depend on each other where there are too few of them to see
/// it: with 8 blocks or fewer there is no verdict.
pub(crate) const VERDICT_ERROR: f64 = 0.005;

/// Returns which of several p-values stand when all of them together may err in 5 % of sessions.
///
/// The smallest is compared with 0.05/m, the next with 0.05/(m − 1) and so on, but never with more
/// than [`VERDICT_ERROR`], up to the first that fails. This controls the error whatever the
/// dependence between the p-values, which matters here: claims share trials.
pub fn holm(p_values: &[f64]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut stands = vec![false; p_values.len()];
    for (step, &index) in order.iter().enumerate() {
        // A p-value that is not a number fails here as well.
        let left = p_values.len() - step;
        if !p_values[index].le(&limit(left)) {
            break;
        }
        stands[index] = true;
    }
    stands
}

/// Returns the p-value up to which the smallest of `verdicts` (at least 1) stands.
pub(crate) fn limit(verdicts: usize) -> f64 {
    (FAMILY_ERROR / verdicts as f64).min(VERDICT_ERROR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn steps_down_until_the_first_failure() {
        // Holm 1979's procedure by hand, m = 20: limits 0.0025, 0.00263, 0.00278, 0.00294.
        let mut p_values = vec![0.002, 0.0029, 0.0027, 0.0026];
        p_values.extend([0.5; 16]);
        assert_eq!(holm(&p_values)[..4], [true; 4]);
        p_values[3] = 0.0027;
        assert_eq!(holm(&p_values)[..4], [true, false, false, false]);
        // A few alone need 0.005 each.
        assert_eq!(holm(&[0.005, 0.006]), vec![true, false]);
        assert_eq!(holm(&[0.005]), vec![true]);
        assert_eq!(holm(&[]), Vec::<bool>::new());
        assert_eq!(holm(&[f64::NAN, 0.001]), vec![false, true]);
    }

    proptest! {
        #[test]
        fn a_smaller_p_value_never_loses(
            p_values in prop::collection::vec(0.0..0.02_f64, 1..60),
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
                prop_assert!(*stands || *p > limit(p_values.len()));
                prop_assert!(!*stands || *p <= VERDICT_ERROR);
            }
        }
    }
}
