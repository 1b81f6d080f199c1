//! What the planted answers are made of: steps of arithmetic that last as long wherever they are
//! done, waits of a known length, and waiting that keeps a CPU as busy as working does.

use crate::support::party::Party;
use crate::support::passes::generate;
use kit::workers::Rounds;
use kit::{Result, Trial};
use std::sync::atomic::{AtomicU64, Ordering};
use sys::black_box;
use sys::clock::{now_ns, thread_cpu_ns};

/// Steps of arithmetic between two looks of somebody who waits: some tens of nanoseconds.
const LOOK_STEPS: u64 = 64;

/// The longest time between two readings of the clock that still counts as waited, on clocks that
/// are read in less: neither an interrupt nor another task comes and goes in it.
const GAP_NS_MAX: u64 = 1_000;

/// The same limit in steps of the clock; the longer of the two applies.
const GAP_STEPS_MAX: u64 = 4;

/// Works until `done` says so.
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

/// Does something under a lock: a word that is 1 while somebody has it.
pub(super) fn under_lock<T>(lock: &AtomicU64, work: impl FnOnce() -> T) -> T {
    work_until(|| {
        let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
        lock.load(relaxed) == 0 && lock.compare_exchange(0, 1, acquire, relaxed).is_ok()
    });
    let done = work();
    lock.store(0, Ordering::Release);
    done
}

/// Takes a lock again and again: works the first number of steps under it, and then the second one
/// without it. Returns the state that the work comes to from another.
pub(super) fn hold(lock: &AtomicU64, times: u64, steps: [u64; 2], mut state: u64) -> u64 {
    let [held, free] = steps;
    for _ in 0..times {
        state = under_lock(lock, || generate(state, held));
        state = generate(state, free);
    }
    state
}

/// Work that the first thread does alone, and then work that is divided: both in steps.
pub(super) fn divide(handed_over: &AtomicU64, index: usize, steps: [u64; 2], state: u64) -> u64 {
    let [alone, divided] = steps;
    let mut state = state;
    if index == 0 {
        state = generate(state, alone);
        handed_over.store(1, Ordering::Release);
    } else {
        work_until(|| handed_over.load(Ordering::Acquire) == 1);
    }
    generate(state, divided)
}

/// What [`kit::workers::Repeated::settle`] says of a round in which all was done.
pub(super) const RIGHT: u64 = 1;

/// Records how long the rounds took, and looks whether all was done in them, by all at a time.
pub(super) fn record(trial: &mut Trial, party: &Party, rounds: &Rounds, time: &str) -> Result<()> {
    trial.record_all(time, 1, rounds.walls_ns());
    let wrong = (0..rounds.count()).filter(|round| rounds.found(*round) != RIGHT).count();
    trial.check("rounds in which a thread did not do its part", wrong as f64, 0.0, 0.0);
    party.record_overlap(trial, rounds, true)
}

/// Waits of a known length.
///
/// A wait looks at the clock again and again. The last look comes late by up to one reading; the
/// next wait is shorter by that, so that all waits together are exact to one reading. Where the
/// clock could not be looked at for a while, since an interrupt or another task had the CPU, the
/// thread's CPU clock says how much of the while was its own: the wait is as long in CPU time as it
/// is on an idle machine by the wall clock. (To count nothing of it is not right: the kernel charges
/// interrupts and switches to the thread, and beside busy neighbours 20 µs became 20.25 µs of CPU
/// time.)
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
        self.once_by(now_ns, thread_cpu_ns);
    }

    #[inline(always)]
    fn once_by(&mut self, mut clock: impl FnMut() -> u64, mut cpu_clock: impl FnMut() -> u64) {
        self.asked_ns += self.each_ns;
        let (before_ns, cpu_began_ns) = (self.waited_ns, cpu_clock());
        let mut last_ns = clock();
        while self.waited_ns < self.asked_ns {
            let now_ns = clock();
            let gap_ns = now_ns - last_ns;
            if gap_ns <= self.gap_ns_max {
                self.waited_ns += gap_ns;
            } else {
                let own_ns = before_ns + (cpu_clock() - cpu_began_ns);
                self.waited_ns = self.waited_ns.max(own_ns);
            }
            last_ns = now_ns;
        }
    }

    /// How much longer than asked for all waits together were, in nanoseconds.
    pub(super) fn late_ns(&self) -> u64 {
        self.waited_ns - self.asked_ns
    }

    /// The most that they can be, unless an interrupt came into the last of them.
    pub(super) fn late_ns_max(&self) -> u64 {
        self.gap_ns_max
    }
}

#[cfg(test)]
mod tests {
    use super::{Wait, work_until};
    use std::cell::Cell;

    const HUNDRED: Wait = Wait { each_ns: 100, gap_ns_max: 50, asked_ns: 0, waited_ns: 0 };

    #[test]
    fn lateness_does_not_add_up_and_of_gaps_the_own_part_counts() {
        // Each reading takes 30 ns. With each thousandth others have the CPU for 9,000, after an
        // interrupt of 20 that is charged to the thread.
        let (now_ns, others_ns, mut readings) = (Cell::new(0), Cell::new(0), 0_u64);
        let mut wait = HUNDRED;
        for waits in 1..=10_000_u64 {
            let cpu_began_ns = now_ns.get() - others_ns.get();
            let late_before_ns = wait.late_ns();
            wait.once_by(
                || {
                    readings += 1;
                    if readings.is_multiple_of(1000) {
                        now_ns.set(now_ns.get() + 9_020);
                        others_ns.set(others_ns.get() + 9_000);
                    }
                    now_ns.set(now_ns.get() + 30);
                    now_ns.get()
                },
                || now_ns.get() - others_ns.get(),
            );
            let own_ns = now_ns.get() - others_ns.get() - cpu_began_ns;
            assert!(wait.waited_ns >= 100 * waits && wait.late_ns() < 80, "{wait:?}");
            // Without the first reading, which begins the wait.
            let waited_ns = 100 + wait.late_ns() - late_before_ns;
            assert!((waited_ns..=waited_ns + 50).contains(&own_ns), "{own_ns}, {wait:?}");
        }
        assert!(others_ns.get() > 40 * 9_000, "others had the CPU, too");
    }

    #[test]
    fn no_wait_reads_the_clock_once() {
        let mut wait = Wait { each_ns: 0, ..HUNDRED };
        let mut readings = 0;
        for _ in 0..10 {
            wait.once_by(
                || {
                    readings += 1;
                    readings
                },
                || 0,
            );
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
        // An interrupt may come into the last one.
        assert!(wait.late_ns() <= wait.late_ns_max() + 5_000_000);
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
