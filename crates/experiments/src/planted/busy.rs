//! What the planted answers are made of: steps of arithmetic that last as long wherever they are
//! done, waits of a known length, and waiting that keeps a CPU as busy as working does.

use crate::null::generate;
use sys::black_box;
use sys::clock::now_ns;

/// Steps of arithmetic between two looks of somebody who waits: some tens of nanoseconds.
const LOOK_STEPS: u64 = 64;

/// The longest time between two readings of the clock that still counts as waited, on clocks that
/// are read in less: neither an interrupt nor another task comes and goes in it.
const GAP_NS_MAX: u64 = 1_000;

/// Where two readings take longer than that, so many steps of the clock count.
const GAP_STEPS_MAX: u64 = 4;

/// Works until it is told not to.
///
/// It does what it would do if it had not to wait: two hyperthreads of one core, or two cores
/// under one power limit, slow each other when both work, and would slow each other less if one
/// stood in a `pause`. So a planted share stays a share, whatever the CPUs have in common.
pub(super) fn work_until(mut done: impl FnMut() -> bool) {
    let mut state = 1;
    while !done() {
        state = generate(state, LOOK_STEPS);
    }
    black_box(state);
}

/// Waits of a known length.
///
/// A wait looks at the clock again and again. The last look comes late by up to one reading; the
/// next wait is shorter by that, so that so many waits together are exact to one reading. Time in
/// which the clock could not be looked at, since an interrupt or another task had the CPU, is not
/// counted: the wait is as long in CPU time as it is on an idle machine by the wall clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    each_ns: u64,
    gap_ns_max: u64,
    asked_ns: u64,
    waited_ns: u64,
}

impl Wait {
    /// Waits of `each_ns` nanoseconds; with 0 the clock is read all the same.
    pub(super) fn of(each_ns: u64) -> Self {
        let gap_ns_max = GAP_NS_MAX.max(GAP_STEPS_MAX * sys::clock::step_ns());
        Wait { each_ns, gap_ns_max, asked_ns: 0, waited_ns: 0 }
    }

    /// Waits once.
    pub(super) fn once(&mut self) {
        self.once_by(now_ns);
    }

    #[inline(always)]
    fn once_by(&mut self, mut clock: impl FnMut() -> u64) {
        self.asked_ns += self.each_ns;
        let mut last_ns = clock();
        while self.waited_ns < self.asked_ns {
            let now_ns = clock();
            let gap_ns = now_ns - last_ns;
            if gap_ns <= self.gap_ns_max {
                self.waited_ns += gap_ns;
            }
            last_ns = now_ns;
        }
    }

    /// How much longer than asked for all waits together were, in nanoseconds.
    pub(super) fn late_ns(&self) -> u64 {
        self.waited_ns - self.asked_ns
    }

    /// The most that they can be.
    pub(super) fn late_ns_max(&self) -> u64 {
        self.gap_ns_max
    }
}

#[cfg(test)]
mod tests {
    use super::{Wait, work_until};

    const HUNDRED: Wait = Wait { each_ns: 100, gap_ns_max: 50, asked_ns: 0, waited_ns: 0 };

    /// A clock that goes on by 30 ns with each reading, and by 9,000 with each thousandth.
    fn clock() -> impl FnMut() -> u64 {
        let (mut now_ns, mut readings) = (0, 0_u64);
        move || {
            readings += 1;
            now_ns += if readings.is_multiple_of(1000) { 9_000 } else { 30 };
            now_ns
        }
    }

    #[test]
    fn lateness_does_not_add_up_and_what_others_take_does_not_count() {
        let (mut wait, mut clock) = (HUNDRED, clock());
        for waits in 1..=10_000_u64 {
            wait.once_by(&mut clock);
            assert!(wait.waited_ns >= 100 * waits && wait.late_ns() < 30, "{wait:?}");
        }
        assert!(clock() > 100 * 10_000 + 40 * 8_000, "the clock had gaps of others");
    }

    #[test]
    fn no_wait_reads_the_clock_once() {
        let mut wait = Wait { each_ns: 0, ..HUNDRED };
        let mut readings = 0;
        for _ in 0..10 {
            wait.once_by(|| {
                readings += 1;
                readings
            });
        }
        assert_eq!((readings, wait.late_ns()), (10, 0));
    }

    #[test]
    fn real_waits_are_as_long_as_asked_for_together() {
        let mut wait = Wait::of(2_000);
        let begun_ns = super::now_ns();
        for _ in 0..200 {
            wait.once();
        }
        assert!(super::now_ns() - begun_ns >= 200 * 2_000);
        assert!(wait.late_ns() <= wait.late_ns_max());
    }

    #[test]
    fn who_waits_looks_first() {
        let mut looks = 0;
        work_until(|| {
            looks += 1;
            looks > 3
        });
        assert_eq!(looks, 4);
    }
}
