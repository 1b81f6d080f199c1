//! A gate that threads and forked children wait at together.
//!
//! Two words for [`crate::futex`] in a page that a fork shares: one counts who has arrived, the
//! other tells that the gate is open.

use crate::Result;
use crate::futex::{wait_shared, wake_shared};
use crate::shared_futexes::SharedFutexes;
use std::sync::atomic::{AtomicU32, Ordering};

/// Two futex words in memory that children forked later share.
#[derive(Debug)]
pub struct SharedGate(SharedFutexes);

impl SharedGate {
    /// A closed gate at which nobody has arrived.
    ///
    /// # Errors
    /// `ENOMEM`.
    pub fn new() -> Result<Self> {
        SharedFutexes::new(2).map(SharedGate)
    }

    /// How many have arrived; 0 at first.
    pub fn arrived(&self) -> &AtomicU32 {
        self.0.word(0)
    }

    /// Not 0 once the gate is open.
    pub fn released(&self) -> &AtomicU32 {
        self.0.word(1)
    }

    /// Says that one has arrived, the only one that is waited for, and waits until the gate is open.
    pub fn arrive_and_wait(&self) {
        self.arrived().store(1, Ordering::Release);
        let _ = wake_shared(self.arrived(), 1);
        self.wait();
    }

    /// Waits until the gate is open.
    pub fn wait(&self) {
        self.hear(0);
    }

    /// Opens the gate for all who wait at it.
    pub fn open(&self) {
        self.say(1);
    }

    /// Says a number to all who wait at the gate.
    pub fn say(&self, number: u32) {
        self.released().store(number, Ordering::Release);
        let _ = wake_shared(self.released(), u32::MAX);
    }

    /// Sleeps until another number is said than the last, 0 at first.
    pub fn hear(&self, last: u32) -> u32 {
        loop {
            let number = self.released().load(Ordering::Acquire);
            if number != last {
                return number;
            }
            // An error here is a spurious return; the loop looks again.
            let _ = wait_shared(self.released(), last, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn the_two_words_are_two() {
        let gate = SharedGate::new().unwrap();
        gate.arrived().store(u32::MAX, Ordering::Relaxed);
        assert_eq!(gate.released().load(Ordering::Relaxed), 0);
        gate.released().store(7, Ordering::Relaxed);
        assert_eq!(gate.arrived().load(Ordering::Relaxed), u32::MAX);
    }

    #[test]
    fn a_forked_child_waits_at_it_and_passes() {
        let gate = SharedGate::new().unwrap();
        let child = crate::task::fork_run(|| {
            gate.arrived().fetch_add(1, Ordering::AcqRel);
            gate.wait();
            3
        })
        .unwrap();
        crate::testing::eventually("the child's arrival", || {
            gate.arrived().load(Ordering::Acquire) == 1
        });
        assert_eq!(crate::task::try_wait(child).unwrap(), None, "it waits");
        gate.open();
        assert_eq!(crate::task::wait(child).unwrap().code, Some(3));
    }
}
