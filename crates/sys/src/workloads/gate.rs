//! A gate that threads and forked children wait at together.
//!
//! Two words for [`crate::futex`] in a page that a fork shares: one counts who has arrived, the
//! other tells that the gate is open.

use crate::Result;
use crate::pages::SharedWords;
use std::sync::atomic::AtomicU32;

/// Two futex words in memory that children forked later share.
#[derive(Debug)]
pub struct SharedGate {
    words: SharedWords,
}

impl SharedGate {
    /// A closed gate at which nobody has arrived.
    ///
    /// # Errors
    /// `ENOMEM`.
    pub fn new() -> Result<Self> {
        Ok(SharedGate { words: crate::pages::shared(2 * size_of::<u64>())? })
    }

    /// How many have arrived; 0 at first.
    pub fn arrived(&self) -> &AtomicU32 {
        self.half_word(0)
    }

    /// Not 0 once the gate is open.
    pub fn released(&self) -> &AtomicU32 {
        self.half_word(1)
    }

    fn half_word(&self, index: usize) -> &AtomicU32 {
        let word = &self.words.words()[index];
        // SAFETY: the address is aligned for eight bytes, so also for four; the word is mapped for
        // as long as `self` is borrowed; nobody else can name it (the words are private to this
        // gate), so all access to these four bytes is atomic and of this size.
        unsafe { AtomicU32::from_ptr(word.as_ptr().cast::<u32>()) }
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
            while gate.released().load(Ordering::Acquire) == 0 {
                let _ = crate::futex::wait_shared(gate.released(), 0, None);
            }
            3
        })
        .unwrap();
        crate::testing::eventually("the child's arrival", || {
            gate.arrived().load(Ordering::Acquire) == 1
        });
        assert_eq!(crate::task::try_wait(child).unwrap(), None, "it waits");
        gate.released().store(1, Ordering::Release);
        crate::futex::wake_shared(gate.released(), u32::MAX).unwrap();
        assert_eq!(crate::task::wait(child).unwrap().code, Some(3));
    }
}
