//! What a load says beyond its counts: distributions of times of which some were given up, the intervals
//! of its numbers, and the rate at which a server breaks.

#[cfg(test)]
mod coverage;
mod intervals;
mod knee;
mod limits;
mod pathologies;
#[cfg(test)]
mod queues;
mod versus;

pub use intervals::{TimeSlice, load_intervals};
pub use knee::{KneeSearch, KneeStep};
pub use limits::{load_errors_within, load_within};
pub use pathologies::load_pathologies;
pub use versus::{Known, load_gate, load_row, load_row_of_blocks};

/// A request as it was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeasuredRequest {
    /// When it came, in ns.
    pub at_ns: u64,
    /// When its answer was there, in ns; `None` if none came.
    pub done_ns: Option<u64>,
    /// The connection that brought it.
    pub connection: u32,
    /// Whether its answer had a status of 400 or above.
    pub refused: bool,
}

/// Returns the share of requests that were answered within a time, from counts by time of those whose time
/// is known and of those that were given up after it: the product-limit estimate (Kaplan and Meier,
/// *Nonparametric estimation from incomplete observations*, Journal of the American Statistical
/// Association 53, 1958). One pair of time and share, 0 to 1, for each time that is known, ascending.
///
/// The last share is below 1 where requests were given up beyond the longest known time: nobody
/// knows how long those would have taken. Of equal times the known come first, as is usual.
pub fn answered_within(known: &[(u64, u64)], given_up: &[(u64, u64)]) -> Vec<(u64, f64)> {
    let ascending = |counts: &[(u64, u64)]| {
        let mut counts: Vec<(u64, u64)> = counts.iter().copied().filter(|(_, n)| *n > 0).collect();
        counts.sort_unstable();
        counts
    };
    let (known, given_up) = (ascending(known), ascending(given_up));
    let mut waiting: u64 = known.iter().chain(&given_up).map(|(_, n)| n).sum();
    let mut censored = given_up.iter().peekable();
    let mut unanswered = 1.0;
    let mut shares: Vec<(u64, f64)> = Vec::with_capacity(known.len());
    for (time, count) in known {
        while let Some((_, gone)) = censored.next_if(|(at, _)| *at < time) {
            waiting -= gone;
        }
        unanswered *= (waiting - count) as f64 / waiting as f64;
        waiting -= count;
        match shares.last_mut() {
            Some(last) if last.0 == time => last.1 = 1.0 - unanswered,
            _ => shares.push((time, 1.0 - unanswered)),
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::answered_within;

    #[test]
    fn without_any_given_up_it_is_the_share_of_all() {
        assert_eq!(answered_within(&[(20, 1), (10, 3)], &[]), [(10, 0.75), (20, 1.0)]);
        assert_eq!(answered_within(&[], &[(5, 2)]), []);
        assert_eq!(answered_within(&[(7, 0)], &[]), []);
    }

    #[test]
    fn who_was_given_up_counts_until_then() {
        // Kaplan and Meier's own way: of 10, 2 answered at 10; 3 given up at 15; of the 5 left, 1 at
        // 20: 0.8 × 0.8 unanswered.
        let shares = answered_within(&[(10, 2), (20, 1)], &[(15, 3), (30, 4)]);
        assert_eq!(shares.len(), 2);
        assert!((shares[0].1 - 0.2).abs() < 1e-12 && (shares[1].1 - 0.36).abs() < 1e-12);
        // Given up at the very time of an answer: still waiting then.
        let shares = answered_within(&[(10, 1)], &[(10, 1)]);
        assert_eq!(shares, [(10, 0.5)]);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig {
            failure_persistence: None,
            ..proptest::prelude::ProptestConfig::default()
        })]

        #[test]
        fn shares_rise_and_stay_within_one(
            known in proptest::collection::vec((0u64..50, 0u64..9), 0..30),
            given_up in proptest::collection::vec((0u64..50, 0u64..9), 0..30),
        ) {
            let shares = answered_within(&known, &given_up);
            for pair in shares.windows(2) {
                proptest::prop_assert!(pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
            }
            for (_, share) in shares {
                proptest::prop_assert!((0.0..=1.0).contains(&share), "{share}");
            }
        }
    }
}
