//! Which of several requests is sent next.

use model::{LoadOptions, RequestOrder};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The numbers of the requests of one thread, without end.
#[derive(Debug)]
pub(super) enum Picks {
    /// There is but one.
    Only,
    /// Every `step`-th, and again from the first.
    InOrder { next: u64, step: u64, count: u64 },
    /// Each drawn from `count`.
    Random { bits: Box<ChaCha8Rng>, count: u64 },
}

impl Picks {
    /// The part of thread `thread` of `threads`, of `count` requests.
    pub(super) fn new(options: &LoadOptions, count: usize, thread: u32, threads: u32) -> Self {
        let count = count as u64;
        match options.order {
            _ if count <= 1 => Self::Only,
            RequestOrder::InOrder => {
                Self::InOrder { next: thread.into(), step: threads.into(), count }
            }
            RequestOrder::Random { seed } => {
                let mut bits = ChaCha8Rng::seed_from_u64(seed);
                bits.set_stream(thread.into());
                Self::Random { bits: Box::new(bits), count }
            }
        }
    }

    /// The next.
    pub(super) fn next(&mut self) -> u32 {
        match self {
            Self::Only => 0,
            Self::InOrder { next, step, count } => {
                let number = *next % *count;
                *next = number + *step;
                number as u32
            }
            // The bias of a remainder is below one in 2³² for as many requests as fit a number of 32 bits.
            Self::Random { bits, count } => (bits.next_u64() % *count) as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picks(order: RequestOrder, thread: u32, threads: u32) -> Vec<u32> {
        let options = LoadOptions { order, ..LoadOptions::default() };
        let mut picks = Picks::new(&options, 5, thread, threads);
        (0..1000).map(|_| picks.next()).collect()
    }

    #[test]
    fn threads_share_an_order_and_draw_apart() {
        assert_eq!(picks(RequestOrder::InOrder, 0, 1)[..6], [0, 1, 2, 3, 4, 0]);
        assert_eq!(picks(RequestOrder::InOrder, 1, 2)[..6], [1, 3, 0, 2, 4, 1]);
        let random = RequestOrder::Random { seed: 3 };
        let (one, other) = (picks(random, 0, 2), picks(random, 1, 2));
        assert!(one != other && one == picks(random, 0, 2));
        for number in 0..5 {
            let share = one.iter().filter(|pick| **pick == number).count();
            assert!((150..250).contains(&share), "{share}");
        }
    }
}
