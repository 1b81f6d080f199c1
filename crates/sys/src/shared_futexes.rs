//! Words for [`crate::futex`] that threads and forked children share, each on cache lines of its
//! own.

use crate::pages::SharedWords;
use crate::{Error, Result};
use std::sync::atomic::{AtomicU32, AtomicU64};

/// From one word to the next: two lines of 64 bytes, since some processors fetch lines in pairs.
const STRIDE_BYTES: usize = 128;

/// Some futex words in memory that children forked later share.
#[derive(Debug)]
pub struct SharedFutexes {
    memory: SharedWords,
    count: usize,
}

impl SharedFutexes {
    /// Makes that number of words, 0 at first.
    ///
    /// # Errors
    /// `ENOMEM`; `EINVAL` for none.
    pub fn new(count: usize) -> Result<Self> {
        let bytes = count.checked_mul(STRIDE_BYTES);
        let bytes = bytes.ok_or_else(|| Error::new("mmap(words)", libc::ENOMEM))?;
        Ok(SharedFutexes { memory: crate::pages::shared(bytes)?, count })
    }

    /// A word by its number, from 0.
    ///
    /// # Panics
    /// Beyond the last.
    pub fn word(&self, index: usize) -> &AtomicU32 {
        assert!(index < self.count, "futex {index} of {}", self.count);
        let word: &AtomicU64 = &self.memory.words()[index * (STRIDE_BYTES / size_of::<u64>())];
        // SAFETY: the address is aligned for eight bytes, so also for four; the word is mapped for
        // as long as `self` is borrowed; nobody else can name it (the memory is private to these
        // futexes), so all access to these four bytes is atomic and of this size.
        unsafe { AtomicU32::from_ptr(word.as_ptr().cast::<u32>()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn each_word_is_its_own_and_a_child_writes_to_it() {
        let words = SharedFutexes::new(3).unwrap();
        words.word(0).store(u32::MAX, Ordering::Relaxed);
        let child = crate::task::fork_run(|| {
            words.word(2).store(7, Ordering::Release);
            crate::futex::wake_shared(words.word(2), 1).map_or(1, |_| 0)
        })
        .unwrap();
        while words.word(2).load(Ordering::Acquire) == 0 {
            crate::futex::wait_shared(words.word(2), 0, None).unwrap();
        }
        let seen: Vec<u32> =
            (0..3).map(|index| words.word(index).load(Ordering::Acquire)).collect();
        assert_eq!(seen, [u32::MAX, 0, 7]);
        assert_eq!(crate::task::wait(child).unwrap().code, Some(0));
        let apart = words.word(1).as_ptr().addr() - words.word(0).as_ptr().addr();
        assert_eq!(apart, STRIDE_BYTES);
    }

    #[test]
    fn none_is_refused() {
        assert_eq!(SharedFutexes::new(0).unwrap_err().errno(), Some(libc::EINVAL));
    }
}
