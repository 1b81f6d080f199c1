//! Quantiles of Student's t that are asked for often, and tails of the binomial distribution, by
//! the incomplete beta function (Abramowitz and Stegun 1964, 26.7.1).

use laws::tail::{incomplete_beta, student_quantile};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// By which multiple of the time, and so of the blocks, the floor is also foretold.
pub(crate) const TEN_TIMES: usize = 10;

/// The 97.5 % quantile of the standard normal distribution.
pub(crate) const NORMAL_975: f64 = 1.959_963_984_540_054;

/// The 80 % quantile of the standard normal distribution.
pub(crate) const NORMAL_800: f64 = 0.841_621_233_572_914_3;

/// Returns the 97.5 % quantile of Student's t with `count − 1` degrees of freedom, looked up because it
/// is asked for after every round. `count` is at least 2.
pub(crate) fn student_975(count: usize) -> f64 {
    static KNOWN: Known = [const { AtomicU64::new(0) }; KNOWN_COUNTS];
    look_up(&KNOWN, count, || student_quantile((count - 1) as f64, 0.05))
}

/// Returns the 80 % quantile of Student's t with `count − 1` degrees of freedom; `count` is at least 2.
pub(crate) fn student_800(count: usize) -> f64 {
    static KNOWN: Known = [const { AtomicU64::new(0) }; KNOWN_COUNTS];
    look_up(&KNOWN, count, || student_quantile((count - 1) as f64, 0.4))
}

/// Returns the quantile of Student's t outside of which lies that probability, looked up where it was asked
/// for before: the numbers of a session have a few counts of trials among them.
pub(crate) fn student_known(freedom: f64, outside: f64) -> f64 {
    static KNOWN: Mutex<BTreeMap<[u64; 2], f64>> = Mutex::new(BTreeMap::new());
    let key = [freedom, outside].map(f64::to_bits);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry(key).or_insert_with(|| student_quantile(freedom, outside))
}

/// As many blocks as there may be, ten times: a floor is foretold for ten times the time. A quantile
/// takes 20 microseconds, and a session of a thousand treatments asks for tens of thousands.
const KNOWN_COUNTS: usize = model::BLOCKS_MAX as usize * TEN_TIMES + 1;

/// The bits of each quantile, 0 where it is not known yet (no quantile is 0): all zero, so that
/// the table takes room in memory where it is used, and none in the binary.
type Known = [AtomicU64; KNOWN_COUNTS];

fn look_up(known: &Known, count: usize, compute: impl Fn() -> f64) -> f64 {
    let Some(known) = known.get(count) else { return compute() };
    match known.load(Relaxed) {
        0 => {
            // Two threads that both compute it store the same.
            let value = compute();
            known.store(value.to_bits(), Relaxed);
            value
        }
        bits => f64::from_bits(bits),
    }
}

/// Returns the probability of `events` or more in `trials` draws with chance `chance` each. Neither number
/// need be whole: the incomplete beta function joins the binomial distributions, which is what an
/// effective number of draws needs.
pub(crate) fn binomial_at_least(events: f64, trials: f64, chance: f64) -> f64 {
    if events <= 0.0 || chance >= 1.0 {
        return 1.0;
    }
    if events > trials || chance <= 0.0 {
        return 0.0;
    }
    incomplete_beta(events, trials - events + 1.0, chance)
}

/// Returns the probability of `events` or fewer in `trials` draws with chance `chance` each.
pub(crate) fn binomial_at_most(events: f64, trials: f64, chance: f64) -> f64 {
    // Counting the draws that are no event avoids the loss of digits in 1 − P(more).
    binomial_at_least((trials - events).max(0.0), trials, 1.0 - chance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_looked_up_as_they_are_computed() {
        for _ in 0..2 {
            assert!((student_975(6) - 2.570_581_836).abs() < 1e-8);
            assert!((student_975(1000) - 1.962_341).abs() < 1e-5);
        }
    }

    #[test]
    fn binomial_tails_are_sums_of_probabilities() {
        // 10 fair coins: 1, 10, 45 of 1024 ways for 0, 1, 2 heads.
        assert!((binomial_at_most(2.0, 10.0, 0.5) - 56.0 / 1024.0).abs() < 1e-12);
        assert!((binomial_at_least(9.0, 10.0, 0.5) - 11.0 / 1024.0).abs() < 1e-12);
        assert!((binomial_at_least(1.0, 3.0, 0.1) - 0.271).abs() < 1e-12);
        assert_eq!(binomial_at_least(0.0, 10.0, 0.3), 1.0);
        assert_eq!(binomial_at_least(1.0, 10.0, 0.0), 0.0);
        assert_eq!(binomial_at_most(10.0, 10.0, 0.3), 1.0);
        assert_eq!(binomial_at_most(3.0, 10.0, 1.0), 0.0);
    }

    /// Returns P(K ≤ k) for K of n draws, term by term.
    fn summed(events: u32, trials: f64, chance: f64) -> f64 {
        let mut term = (trials * (-chance).ln_1p()).exp();
        let mut sum = term;
        for k in 0..events {
            let k = f64::from(k);
            term *= (trials - k) / (k + 1.0) * chance / (1.0 - chance);
            sum += term;
        }
        sum
    }

    #[test]
    fn rare_events_among_millions_keep_their_digits() {
        for (events, trials, chance) in [(12, 3.4e6, 6e-6), (0, 1e9, 2e-9), (400, 2e6, 1.9e-4)] {
            let exact = summed(events, trials, chance);
            let found = binomial_at_most(f64::from(events), trials, chance);
            assert!((found / exact - 1.0).abs() < 1e-6, "{events} {trials}: {found} {exact}");
        }
    }

    #[test]
    fn half_of_millions_is_half() {
        // By symmetry P(K >= n/2 + 1/2) of fair draws is a half, for any n; and a tail two
        // standard deviations out is the normal one, except for a term in 1/√n.
        for trials in [101.0, 1e4 + 1.0, 1e6 + 1.0, 1e8 + 1.0] {
            let half = binomial_at_least((trials + 1.0) / 2.0, trials, 0.5);
            assert!((half - 0.5).abs() < 1e-6, "{trials}: {half}");
        }
        let far = binomial_at_least(5e7 + 1e4 + 0.5, 1e8, 0.5);
        assert!((far / 0.022_750_13 - 1.0).abs() < 1e-3, "{far}");
    }

    #[test]
    fn numbers_that_are_not_whole_lie_between_those_that_are() {
        let at = |events: f64| binomial_at_least(events, 20.0, 0.2);
        assert!(at(3.0) > at(3.5) && at(3.5) > at(4.0));
        // I_x(1, b) = 1 − (1 − x)^b, also for b = 6.5.
        let exact = 1.0 - 0.7_f64.powf(6.5);
        assert!((binomial_at_least(1.0, 6.5, 0.3) - exact).abs() < 1e-12);
    }
}
