//! Which p-values of a session become verdicts.
//!
//! **The promise: at most 5 % of sessions hold a wrong verdict on a claim.** Hommel's procedure
//! keeps it (*A stagewise rejective multiple test procedure based on a modified Bonferroni test*,
//! Biometrika 75, 1988): it is the closed test (Marcus, Peritz and Gabriel, Biometrika 63, 1976) that
//! judges each set of claims by Simes's inequality (Biometrika 73, 1986). The A/A controls and the
//! planted answers of a session are families of their own with 5 % each: they test the laboratory,
//! and no reader takes them home.
//!
//! *What it assumes.* Simes's inequality holds for independent and for positively dependent p-values
//! (Sarkar, *Some probability inequalities for ordered MTP2 random variables*, Annals of Statistics 26,
//! 1998; Finner, Roters and Strassburger, *On the Simes test under dependence*, 2017, find it hardly
//! exceeded elsewhere). Claims that share trials, a baseline or a block's disturbance are dependent in
//! both directions; `benches/battery` draws such claims.
//!
//! *Why a step-up procedure.* Sign tests of n blocks cannot fall below 2^(1−n). Holm's step-down
//! procedure (1979) begins with 0.05/m, which 12 blocks do not reach for 125 claims, so that it
//! decided none of 117 unanimous ones. Here all p-values stand where the largest is at most 0.01, and 117
//! unanimous claims stand next to 8 open ones from 9 blocks on.
//!
//! Rejected: a false discovery rate (Benjamini and Hochberg 1995) promises that 5 % of the verdicts
//! are wrong, which is several in every session of a hundred claims. A correction within each
//! experiment promises 5 % for each of twenty experiments. To count one direction of each p-value, since only
//! one of the two verdicts on a claim is wrong, holds 5 % of wrong directions; but a claim that lies at its edge
//! would have a verdict in 10 % of sessions of 50 claims and ten blocks. Hochberg's shorter procedure (1988) decides
//! nothing that this one does not.

/// The share of sessions that may hold one wrong verdict or more.
pub const FAMILY_ERROR: f64 = 0.05;

/// The largest p-value of a single verdict, however few others there are.
///
/// It guards against blocks that depend on each other where there are too few of them to see it. Of a
/// claim whose blocks have a correlation of 0.25 with their predecessors 8.1 % of the verdicts of 9
/// blocks would be wrong at 0.05, and 1.4 % are at 0.01; with a correlation of 0.5 it is 17 and 4.9 %.
/// A verdict on a claim takes less ([`claims_that_stand`]).
pub(crate) const VERDICT_ERROR: f64 = 0.01;

/// Returns which of several p-values stand when all of them together may err in 5 % of sessions.
///
/// A p-value stands at 0.05/j, where j is the size of the largest set of the largest p-values that
/// Simes's test does not reject, but never above [`VERDICT_ERROR`]. A p-value that is not a number counts
/// as 1.
pub fn hommel(p_values: &[f64]) -> Vec<bool> {
    stand(p_values, VERDICT_ERROR)
}

/// From this number of claims on their blocks show together whether they depend on each other
/// ([`shared_correlation`](crate::shared_correlation)).
const CLAIMS_THAT_SHOW: usize = 20;

/// The largest p-value of a verdict among that many claims: nine blocks that agree reach it, and twelve of thirteen.
const ERROR_AMONG_MANY: f64 = 0.004;

/// The largest p-value of a verdict on a single claim: nine blocks that agree reach it, and eleven of twelve.
const ERROR_OF_ONE: f64 = 0.007;

/// The largest p-value of a verdict among four claims or more that do not show it: eleven blocks that agree reach it.
const ERROR_AMONG_FEW: f64 = 0.0019;

/// Returns the largest p-value of a verdict among this number of claims: 0.007, 0.0035, 0.0023 and from four on
/// 0.0019, 0.004 from 20 on.
///
/// Each of a few claims could be wrong alone where blocks depend on each other and are too few to show it: of
/// five claims, eight blocks each, with a correlation of 0.5, one or more is wrong in 20 % of sessions at 0.01,
/// and in 8 % with ten blocks that all agree, 3 % with twelve. Of one claim, eight blocks that agree would be
/// wrong in 6.5 %, and in 12 % where one side warms up.
fn claim_error(claims: usize) -> f64 {
    match claims {
        0..CLAIMS_THAT_SHOW => (ERROR_OF_ONE / claims.max(1) as f64).max(ERROR_AMONG_FEW),
        _ => ERROR_AMONG_MANY,
    }
}

/// Returns which p-values of a session's claims stand: as [`hommel`] says, and by what few claims take.
pub fn claims_that_stand(p_values: &[f64]) -> Vec<bool> {
    stand(p_values, claim_error(p_values.len()))
}

/// Returns the p-value up to which one of some claims stands, if it and others, together `open`, are all that the
/// rest leaves open.
pub(crate) fn claim_limit(open: usize, claims: usize) -> f64 {
    limit(open).min(claim_error(claims))
}

fn stand(p_values: &[f64], most: f64) -> Vec<bool> {
    let known = |p: f64| if p.is_nan() { 1.0 } else { p };
    let mut ascending: Vec<f64> = p_values.iter().map(|p| known(*p)).collect();
    ascending.sort_unstable_by(f64::total_cmp);
    let limit = limit(largest_accepted(&ascending)).min(most);
    p_values.iter().map(|p| known(*p) <= limit).collect()
}

/// Returns the size of the largest set of the largest p-values that Simes's test does not reject; 0 where
/// it rejects all.
fn largest_accepted(ascending: &[f64]) -> usize {
    let is_accepted = |size: &usize| {
        let largest = &ascending[ascending.len() - size..];
        let within =
            |(rank, p): (usize, &f64)| *p * *size as f64 > (rank + 1) as f64 * FAMILY_ERROR;
        largest.iter().enumerate().all(within)
    };
    (1..=ascending.len()).rev().find(is_accepted).unwrap_or(0)
}

/// Returns the p-value up to which a verdict stands if it and others, together this number, are all that
/// the rest of the family leaves open. It is also the first step for that number of verdicts.
pub(crate) fn limit(open: usize) -> f64 {
    (FAMILY_ERROR / open.max(1) as f64).min(VERDICT_ERROR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn agrees_with_the_closed_test_by_hand() {
        // One alone needs 0.01, and so do up to five together.
        assert_eq!(hommel(&[0.01]), [true]);
        assert_eq!(hommel(&[0.011]), [false]);
        assert_eq!(hommel(&[0.01; 5]), [true; 5]);
        // Of six, Simes accepts the five that are left beside 0.008; together with it, it needs 0.0083.
        assert!(hommel(&[0.008, 0.5, 0.5, 0.5, 0.5, 0.5])[0]);
        assert!(!hommel(&[0.009, 0.5, 0.5, 0.5, 0.5, 0.5])[0]);
        // All six at 0.009 stand: each set has a p-value that Simes rejects.
        assert_eq!(hommel(&[0.009; 6]), [true; 6]);
        assert_eq!(hommel(&[f64::NAN, 0.01]), [false, true]);
        assert_eq!(hommel(&[]), Vec::<bool>::new());
    }

    #[test]
    fn a_few_claims_share_what_one_may_err() {
        assert_eq!(claims_that_stand(&[0.007]), [true]);
        assert_eq!(claims_that_stand(&[0.0036, 0.0034]), [false, true]);
        assert_eq!(claims_that_stand(&[0.0019; 19]), [true; 19]);
        assert_eq!(claims_that_stand(&[0.002; 19]), [false; 19]);
        assert_eq!(claims_that_stand(&[0.004; 20]), [true; 20]);
        assert_eq!(claims_that_stand(&[0.0041; 20]), [false; 20]);
        // One claim more takes one block more, or one less, and never many.
        let unanimous = |claims: usize| {
            (6..).find(|n| claims_that_stand(&vec![2.0_f64.powi(1 - n); claims])[0]).unwrap()
        };
        let needed: Vec<i32> = [1, 2, 3, 5, 10, 19, 20, 100].map(unanimous).to_vec();
        assert_eq!(needed, [9, 10, 10, 11, 11, 11, 9, 9]);
        assert!(claim_limit(3, 2) == 0.0035 && claim_limit(30, 100) < 0.002);
    }

    #[test]
    fn nine_blocks_decide_what_is_unanimous_beside_a_few_that_are_open() {
        let unanimous = 2.0_f64.powi(1 - 9);
        let of = |open: usize| {
            let p_values = [vec![unanimous; 117], vec![0.5; open]].concat();
            hommel(&p_values).iter().filter(|stands| **stands).count()
        };
        assert_eq!([of(8), of(11), of(12)], [117, 117, 0]);
    }

    /// Reports whether the closed test rejects, over all sets that hold the claim.
    fn closed(p_values: &[f64], claim: usize) -> bool {
        let sets = (1_u32..1 << p_values.len()).filter(|set| set >> claim & 1 == 1);
        let rejects = |set: u32| {
            let mut of: Vec<f64> = (0..p_values.len())
                .filter(|at| set >> at & 1 == 1)
                .map(|at| p_values[at])
                .collect();
            of.sort_unstable_by(f64::total_cmp);
            let size = of.len() as f64;
            of.iter().enumerate().any(|(rank, p)| *p * size <= (rank + 1) as f64 * FAMILY_ERROR)
        };
        p_values[claim] <= VERDICT_ERROR && sets.into_iter().all(rejects)
    }

    proptest! {
        #[test]
        fn is_the_closed_test(p_values in prop::collection::vec(0.0..0.03_f64, 1..9)) {
            let stands = hommel(&p_values);
            for (claim, stands) in stands.into_iter().enumerate() {
                prop_assert_eq!(stands, closed(&p_values, claim));
            }
        }

        #[test]
        fn a_smaller_p_value_never_loses(
            p_values in prop::collection::vec(0.0..0.02_f64, 1..60),
            which in any::<prop::sample::Index>(),
            by in 0.0..1.0_f64,
        ) {
            let before = hommel(&p_values);
            let mut smaller = p_values.clone();
            let index = which.index(p_values.len());
            smaller[index] *= by;
            let after = hommel(&smaller);
            for (was, is) in before.iter().zip(&after) {
                prop_assert!(!was || *is);
            }
            // Between Bonferroni and no correction at all.
            for (p, stands) in p_values.iter().zip(&before) {
                prop_assert!(*stands || *p > limit(p_values.len()));
                prop_assert!(!*stands || *p <= VERDICT_ERROR);
            }
        }
    }
}
