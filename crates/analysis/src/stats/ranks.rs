//! The exact test of two samples by ranks.

use laws::tail::student_outside;

/// The most pairs of which the distribution is counted; of more it is normal to the third digit.
const PAIRS_COUNTED: usize = 2_500;

/// Returns the probability that of all pairs of two samples at most `against` lie in one order, if all
/// orders of their `n` and `m` numbers have the same chance (Mann and Whitney, *On a test of whether one
/// of two random variables is stochastically larger than the other*, Annals of Mathematical Statistics
/// 18, 1947).
pub(crate) fn pairs_at_most(against: usize, n: usize, m: usize) -> f64 {
    if against >= n * m {
        return 1.0;
    }
    if n * m > PAIRS_COUNTED {
        let (mean, variance) = ((n * m) as f64 / 2.0, (n * m * (n + m + 1)) as f64 / 12.0);
        let distance = (against as f64 + 0.5 - mean) / variance.sqrt();
        let outside = student_outside(f64::from(u32::MAX), distance.abs()) / 2.0;
        return if distance < 0.0 { outside } else { 1.0 - outside };
    }
    // The generating function: the product of (1 − x^(m+i)) / (1 − x^i) over i = 1 … n.
    let mut ways = vec![0.0; against + 1];
    ways[0] = 1.0;
    let mut orders = 1.0;
    for i in 1..=n {
        for pairs in (m + i..=against).rev() {
            ways[pairs] -= ways[pairs - m - i];
        }
        for pairs in i..=against {
            ways[pairs] += ways[pairs - i];
        }
        orders *= (m + i) as f64 / i as f64;
    }
    (ways.iter().sum::<f64>() / orders).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_tables() {
        // Of 924 orders of six and six: 1, 1, 2, 3, 5 with 0 … 4 pairs against.
        assert!((pairs_at_most(0, 6, 6) * 924.0 - 1.0).abs() < 1e-9);
        assert!((pairs_at_most(4, 6, 6) * 924.0 - 12.0).abs() < 1e-9);
        // Critical values at 2.5 %, by counting all sums of ranks.
        for (critical, n) in [(2, 5), (5, 6), (13, 8), (23, 10), (37, 12), (127, 20)] {
            assert!(pairs_at_most(critical, n, n) <= 0.025, "{n}");
            assert!(pairs_at_most(critical + 1, n, n) > 0.025, "{n}");
        }
        assert_eq!(pairs_at_most(36, 6, 6), 1.0);
        // Half of all by symmetry: 17 or fewer are as likely as 19 or more.
        let middle = pairs_at_most(17, 6, 6) + (1.0 - pairs_at_most(18, 6, 6));
        assert!((pairs_at_most(18, 6, 6) - pairs_at_most(17, 6, 6) + middle - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_normal_distribution_takes_over_smoothly() {
        let (exact, normal) = (pairs_at_most(800, 50, 50), pairs_at_most(816, 50, 51));
        assert!((exact.ln() - normal.ln()).abs() < 0.1, "{exact} {normal}");
    }
}
