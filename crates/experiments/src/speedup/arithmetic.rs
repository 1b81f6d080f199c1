//! The workloads that need a CPU and nothing else: steps of arithmetic, and how the workers get in
//! each other's way with them.

use super::stage::{Wait, share};
use crate::support::Padded;
use crate::support::passes::{generate, leap};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// What keeps the workers from sharing the work evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Nothing.
    Independent,
    /// The first does a tenth of it alone.
    Serial,
    /// Half of it is done under one lock that puts who waits to sleep.
    Mutex,
    /// The same under a lock that is waited for by looking.
    Spin,
    /// A word that all of them add to, again and again.
    SharedLine,
    /// One has twice as much to do as each of the others.
    Imbalanced,
}

/// Steps of a round: about two milliseconds on one CPU. A tenth, and a share for 1, 2, 3, 4, 5, 6 or
/// 8 workers of the rest, are whole numbers.
const STEPS: u64 = 1_920_000;

/// The part that one worker does alone, of [`Way::Serial`].
const SERIAL_PART: u64 = 10;

/// Turns under a lock of a round, all workers together, and the steps of a turn under it and
/// without it: half and half. A turn must be long beside a hand-over, and there must be many of
/// them, since the first of each worker waits for nobody.
const TURNS: u64 = 24;
const TURN_STEPS: u64 = STEPS / TURNS / 2;

/// Additions to the shared word of a round, and the steps before each of them.
const ADDITIONS: u64 = 60_000;
const ADDITION_STEPS: u64 = 8;

/// What the workers share.
#[derive(Debug)]
pub(super) struct Arithmetic {
    pub(super) way: Way,
    workers: u64,
    /// How many times the usual work a round holds.
    scale: u64,
    /// 1 as soon as the serial part is done.
    handed_over: Padded,
    mutex: Mutex<()>,
    /// 1 while somebody has the lock that is waited for by looking.
    spin: Padded,
    counter: Padded,
    /// Where each worker's arithmetic has come to.
    states: Vec<Padded>,
}

impl Arithmetic {
    pub(super) fn new(way: Way, workers: usize, scale: u64) -> Self {
        Arithmetic {
            way,
            workers: workers as u64,
            scale,
            handed_over: Padded::default(),
            mutex: Mutex::new(()),
            spin: Padded::default(),
            counter: Padded::default(),
            states: (0..workers).map(|_| Padded::default()).collect(),
        }
    }

    /// How many steps a worker does in a round.
    pub(super) fn steps(&self, index: usize) -> u64 {
        let all = STEPS * self.scale;
        match self.way {
            Way::Independent => share(all, index, self.workers),
            Way::Serial => {
                let alone = if index == 0 { all / SERIAL_PART } else { 0 };
                alone + share(all - all / SERIAL_PART, index, self.workers)
            }
            Way::Mutex | Way::Spin => self.turns(index) * 2 * TURN_STEPS,
            Way::SharedLine => self.additions(index) * ADDITION_STEPS,
            Way::Imbalanced if self.workers == 1 => all,
            Way::Imbalanced => {
                let one = all / (self.workers + 1);
                if index == 0 { all - (self.workers - 1) * one } else { one }
            }
        }
    }

    fn turns(&self, index: usize) -> u64 {
        share(TURNS * self.scale, index, self.workers)
    }

    fn additions(&self, index: usize) -> u64 {
        share(ADDITIONS * self.scale, index, self.workers)
    }

    /// The part of all steps that one worker does alone or under a lock.
    pub(super) fn exclusive_part(&self) -> f64 {
        match self.way {
            Way::Serial => 1.0 / SERIAL_PART as f64,
            Way::Mutex | Way::Spin => 0.5,
            _ => 0.0,
        }
    }

    /// One worker's part of a round. Returns how long it was alone at work (in the serial part, or
    /// under the lock), in nanoseconds.
    pub(super) fn work(&self, index: usize, wait: Wait) -> u64 {
        let (state, alone_ns) = match self.way {
            Way::Independent | Way::Imbalanced => (generate(1, self.steps(index)), 0),
            Way::Serial => self.serial(index, wait),
            Way::Mutex => self.locked(index, |work| {
                // A worker that panicked has failed the trial already.
                let _held = self.mutex.lock().unwrap_or_else(PoisonError::into_inner);
                work()
            }),
            Way::Spin => self.locked(index, |work| {
                self.take_spin();
                let done = work();
                self.spin.0.store(0, Ordering::Release);
                done
            }),
            Way::SharedLine => {
                let mut state = 1;
                for _ in 0..self.additions(index) {
                    state = generate(state, ADDITION_STEPS);
                    self.counter.0.fetch_add(1, Ordering::Relaxed);
                }
                (state, 0)
            }
        };
        self.states[index].0.store(state, Ordering::Relaxed);
        alone_ns
    }

    fn serial(&self, index: usize, wait: Wait) -> (u64, u64) {
        let handed_over = &self.handed_over.0;
        let (mut state, mut alone_ns) = (1, 0);
        if index == 0 {
            let begun_ns = sys::clock::now_ns();
            state = generate(state, STEPS * self.scale / SERIAL_PART);
            alone_ns = sys::clock::now_ns() - begun_ns;
            handed_over.store(1, Ordering::Release);
        } else {
            wait.until(|| handed_over.load(Ordering::Acquire) == 1);
        }
        let all = STEPS * self.scale;
        (generate(state, share(all - all / SERIAL_PART, index, self.workers)), alone_ns)
    }

    fn locked(
        &self,
        index: usize,
        under_lock: impl Fn(&mut dyn FnMut() -> u64) -> u64,
    ) -> (u64, u64) {
        let (mut state, mut alone_ns) = (1, 0);
        for _ in 0..self.turns(index) {
            state = under_lock(&mut || {
                let begun_ns = sys::clock::now_ns();
                let state = generate(state, TURN_STEPS);
                alone_ns += sys::clock::now_ns() - begun_ns;
                state
            });
            state = generate(state, TURN_STEPS);
        }
        (state, alone_ns)
    }

    /// Looks until the lock is free, and never gives its CPU away: that is what is measured.
    fn take_spin(&self) {
        let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
        let spin = &self.spin.0;
        while spin.load(relaxed) != 0 || spin.compare_exchange(0, 1, acquire, relaxed).is_err() {
            std::hint::spin_loop();
        }
    }

    /// Whether all did their part of the round; makes all ready for the next.
    pub(super) fn settle(&self) -> bool {
        self.handed_over.0.store(0, Ordering::Relaxed);
        let added = self.counter.0.swap(0, Ordering::Relaxed);
        let expected = if self.way == Way::SharedLine { ADDITIONS * self.scale } else { 0 };
        let stepped = (0..self.states.len()).all(|index| {
            self.states[index].0.swap(0, Ordering::Relaxed) == leap(1, self.steps(index))
        });
        stepped && added == expected
    }
}

#[cfg(test)]
mod tests {
    use super::super::stage::Wait;
    use super::{Arithmetic, STEPS, Way};

    const WAYS: [Way; 6] =
        [Way::Independent, Way::Serial, Way::Mutex, Way::Spin, Way::SharedLine, Way::Imbalanced];

    #[test]
    fn all_of_the_work_is_done_however_many_share_it() {
        for way in WAYS {
            let alone = Arithmetic::new(way, 1, 1).steps(0);
            for workers in [1, 2, 3, 4, 5, 7, 8, 16, 64] {
                let shared = Arithmetic::new(way, workers, 1);
                let all: u64 = (0..workers).map(|index| shared.steps(index)).sum();
                assert_eq!(all, alone, "{way:?} by {workers}");
            }
        }
        assert_eq!(Arithmetic::new(Way::Independent, 3, 24).steps(1), STEPS * 8);
    }

    #[test]
    fn every_way_is_carried_out_and_seen_to_be() {
        for way in WAYS {
            let shared = Arithmetic::new(way, 2, 1);
            for _ in 0..2 {
                let alone_ns: u64 = std::thread::scope(|scope| {
                    let work = |index| shared.work(index, Wait::Yielding);
                    [0, 1]
                        .map(|index| scope.spawn(move || work(index)))
                        .map(|t| t.join().unwrap_or(0))
                })
                .into_iter()
                .sum();
                assert!(shared.settle(), "{way:?}");
                assert_eq!(alone_ns > 0, shared.exclusive_part() > 0.0, "{way:?}");
            }
            assert!(!shared.settle(), "{way:?}: nobody worked");
        }
    }

    #[test]
    fn the_part_that_only_one_may_do_is_as_planted() {
        let serial = Arithmetic::new(Way::Serial, 4, 1);
        let more = serial.steps(0) - serial.steps(1);
        assert_eq!(more * 10, STEPS);
        let one_of_two = Arithmetic::new(Way::Imbalanced, 2, 1);
        assert_eq!(one_of_two.steps(0), 2 * one_of_two.steps(1));
    }
}
