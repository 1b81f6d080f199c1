//! When requests come due.

use model::{Arrivals, LoadPlan};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The moments at which the requests of one thread come due, in ns after the start, one after the
/// other and without end. It holds no more than the next.
#[derive(Clone, Debug)]
pub(super) enum Schedule {
    /// Every `threads`-th of a constant rate; each moment is computed from its number, so that no
    /// error adds up.
    Constant {
        /// Between two requests of all threads together.
        interval_ns: f64,
        /// The number of the next among those of all threads.
        index: u64,
        /// How many threads share them.
        threads: u64,
    },
    /// A Poisson process. The processes of all threads together are one of the sum of their rates.
    Poisson {
        /// The mean interval of this thread.
        mean_ns: f64,
        /// The next moment.
        next_ns: f64,
        /// Where the intervals come from.
        bits: Box<ChaCha8Rng>,
    },
}

impl Schedule {
    /// The part of thread `thread` of `threads`; `None` for a closed loop, where an answer makes
    /// the next request due.
    pub(super) fn new(arrivals: &Arrivals, thread: u32, threads: u32) -> Option<Self> {
        match *arrivals {
            Arrivals::Closed => None,
            Arrivals::Paced { per_s } | Arrivals::Constant { per_s } => Some(Self::Constant {
                interval_ns: 1e9 / per_s,
                index: thread.into(),
                threads: threads.into(),
            }),
            Arrivals::Poisson { per_s, seed } => {
                let mut bits = ChaCha8Rng::seed_from_u64(seed);
                bits.set_stream(thread.into());
                let mean_ns = 1e9 * f64::from(threads) / per_s;
                let next_ns = exponential(&mut bits) * mean_ns;
                Some(Self::Poisson { mean_ns, next_ns, bits: Box::new(bits) })
            }
        }
    }

    /// When the next request comes due.
    pub(super) fn peek_ns(&self) -> u64 {
        match self {
            Self::Constant { interval_ns, index, .. } => (*index as f64 * interval_ns) as u64,
            Self::Poisson { next_ns, .. } => *next_ns as u64,
        }
    }

    /// Goes on to the one after it.
    pub(super) fn advance(&mut self) {
        match self {
            Self::Constant { index, threads, .. } => *index += *threads,
            Self::Poisson { mean_ns, next_ns, bits } => *next_ns += exponential(bits) * *mean_ns,
        }
    }
}

/// A draw from the exponential distribution of mean 1, by inversion. The 53 upper bits of a word
/// make a number above 0 and up to 1, whose logarithm is finite.
fn exponential(bits: &mut ChaCha8Rng) -> f64 {
    let uniform = ((bits.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    -uniform.ln()
}

/// A [`Schedule`] that may end after a number of requests.
#[derive(Clone, Debug)]
pub(super) struct Due {
    schedule: Schedule,
    left: u64,
}

impl Due {
    /// The part of thread `thread` of `threads`, of the plan's `requests` too.
    pub(super) fn new(plan: &LoadPlan, thread: u32, threads: u32) -> Option<Self> {
        let schedule = Schedule::new(&plan.arrivals, thread, threads)?;
        let share = |requests: u64| {
            requests.saturating_sub(thread.into()).div_ceil(u64::from(threads).max(1))
        };
        Some(Self { schedule, left: plan.requests.map_or(u64::MAX, share) })
    }

    /// When the next comes due, in ns after the start; `None` after the last.
    pub(super) fn peek_ns(&self) -> Option<u64> {
        (self.left > 0).then(|| self.schedule.peek_ns())
    }

    /// The next, if it is due by `now_ns`.
    pub(super) fn next_by(&mut self, now_ns: u64) -> Option<u64> {
        let due_ns = self.peek_ns().filter(|due_ns| *due_ns <= now_ns)?;
        self.schedule.advance();
        self.left -= 1;
        Some(due_ns)
    }
}

/// The very moments at which the requests of a plan come due, in ns after the start, in their
/// order: what a load of this plan sends, unless it ends before. None for a closed loop, whose
/// requests come due by answers; without end where the plan has no number of `requests`.
pub fn due_ns(plan: &LoadPlan) -> impl Iterator<Item = u64> {
    let threads = threads(plan);
    let mut parts: Vec<Due> =
        (0..threads).filter_map(|thread| Due::new(plan, thread, threads)).collect();
    std::iter::from_fn(move || {
        let first = parts
            .iter_mut()
            .filter(|part| part.left > 0)
            .min_by_key(|part| part.schedule.peek_ns())?;
        first.next_by(u64::MAX)
    })
}

/// How many threads a plan has: no more than connections, since each has one at least.
pub(super) fn threads(plan: &LoadPlan) -> u32 {
    plan.threads.min(plan.connections).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(arrivals: Arrivals, threads: u32, requests: Option<u64>) -> LoadPlan {
        LoadPlan {
            url: "http://h/".into(),
            method: "GET".into(),
            headers: Vec::new(),
            body_bytes: 0,
            arrivals,
            connections: 64,
            keep_alive: true,
            threads,
            duration_ms: None,
            requests,
            timeout_ms: 1000,
            options: Default::default(),
        }
    }

    #[test]
    fn a_constant_rate_is_the_same_on_any_number_of_threads() {
        for threads in [1, 2, 3, 7] {
            let plan = plan(Arrivals::Constant { per_s: 1000.0 }, threads, Some(10));
            let due: Vec<u64> = due_ns(&plan).collect();
            let expected: Vec<u64> = (0..10).map(|index| index * 1_000_000).collect();
            assert_eq!(due, expected, "{threads}");
        }
    }

    #[test]
    fn a_constant_rate_does_not_drift() {
        let plan = plan(Arrivals::Paced { per_s: 3.0 }, 1, None);
        assert_eq!(due_ns(&plan).nth(3_000_000), Some(1_000_000_000_000_000));
    }

    #[test]
    fn poisson_arrivals_have_their_mean_and_variance_and_repeat() {
        for threads in [1, 4] {
            let plan = plan(Arrivals::Poisson { per_s: 1000.0, seed: 7 }, threads, Some(100_000));
            let due: Vec<u64> = due_ns(&plan).collect();
            assert_eq!(due.len(), 100_000);
            assert!(due.is_sorted());
            let gaps: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let variance =
                gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
            assert!((mean / 1e6 - 1.0).abs() < 0.05, "{mean}");
            assert!((variance / mean.powi(2) - 1.0).abs() < 0.1, "{variance}");
            assert_eq!(due, due_ns(&plan).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn threads_share_a_number_of_requests_without_loss() {
        for (requests, threads) in [(0, 3), (1, 3), (2, 3), (10, 3), (12, 3)] {
            let plan = plan(Arrivals::Poisson { per_s: 10.0, seed: 1 }, threads, Some(requests));
            assert_eq!(due_ns(&plan).count() as u64, requests);
        }
    }

    #[test]
    fn only_what_is_due_is_taken() {
        let plan = plan(Arrivals::Constant { per_s: 10.0 }, 1, Some(2));
        let mut due = Due::new(&plan, 0, 1).unwrap();
        assert_eq!(due.next_by(0), Some(0));
        assert_eq!(due.next_by(99_999_999), None);
        assert_eq!(due.peek_ns(), Some(100_000_000));
        assert_eq!(due.next_by(100_000_000), Some(100_000_000));
        assert_eq!((due.peek_ns(), due.next_by(u64::MAX)), (None, None));
        assert!(Due::new(&LoadPlan { arrivals: Arrivals::Closed, ..plan }, 0, 1).is_none());
    }
}
