//! Sleeping on a word of memory, and waking who sleeps there.

use crate::error::last_errno;
use crate::{Error, Result};
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Somebody woke us (or the kernel did so for no reason, which it may):
    /// look at the word again.
    Woken,
    /// The word had another value already; nobody slept.
    Changed,
    /// The time was up.
    TimedOut,
    /// A signal was handled.
    Interrupted,
}

/// Sleeps while `word` holds `expected`, between threads of this process.
///
/// # Errors
/// `EINVAL` for a timeout the kernel cannot represent.
pub fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) -> Result<Outcome> {
    wait_with(word, expected, timeout, libc::FUTEX_PRIVATE_FLAG)
}

/// As [`wait`], also between processes that share the word's page.
///
/// # Errors
/// As [`wait`].
pub fn wait_shared(word: &AtomicU32, expected: u32, timeout: Option<Duration>) -> Result<Outcome> {
    wait_with(word, expected, timeout, 0)
}

/// Wakes up to `count` threads of this process that sleep on `word`; returns
/// how many it were.
///
/// # Errors
/// None is known for a valid word.
pub fn wake(word: &AtomicU32, count: u32) -> Result<u32> {
    wake_with(word, count, libc::FUTEX_PRIVATE_FLAG)
}

/// As [`wake`], for those who used [`wait_shared`].
///
/// # Errors
/// None is known for a valid word.
pub fn wake_shared(word: &AtomicU32, count: u32) -> Result<u32> {
    wake_with(word, count, 0)
}

fn wait_with(
    word: &AtomicU32,
    expected: u32,
    timeout: Option<Duration>,
    flag: libc::c_int,
) -> Result<Outcome> {
    let time = timeout.map(|timeout| libc::timespec {
        tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    });
    let time_pointer = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word and the time outlive the call; the kernel reads the word
    // atomically and writes to neither.
    let result = unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | flag,
            expected,
            time_pointer,
        )
    };
    if result == 0 {
        return Ok(Outcome::Woken);
    }
    match last_errno() {
        libc::EAGAIN => Ok(Outcome::Changed),
        libc::ETIMEDOUT => Ok(Outcome::TimedOut),
        libc::EINTR => Ok(Outcome::Interrupted),
        errno => Err(Error::new("futex(FUTEX_WAIT)", errno)),
    }
}

fn wake_with(word: &AtomicU32, count: u32, flag: libc::c_int) -> Result<u32> {
    let count = libc::c_int::try_from(count).unwrap_or(libc::c_int::MAX);
    // SAFETY: the word is valid; FUTEX_WAKE uses its address only.
    let result =
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE | flag, count) };
    u32::try_from(result).map_err(|_| Error::new("futex(FUTEX_WAKE)", last_errno()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_changed_word_does_not_sleep() {
        let word = AtomicU32::new(1);
        assert_eq!(wait(&word, 0, None), Ok(Outcome::Changed));
        assert_eq!(wait_shared(&word, 0, None), Ok(Outcome::Changed));
    }

    #[test]
    fn a_wait_ends_when_its_time_is_up() {
        let word = AtomicU32::new(0);
        assert_eq!(wait(&word, 0, Some(Duration::from_millis(1))), Ok(Outcome::TimedOut));
        assert_eq!(wake(&word, 1), Ok(0));
    }

    #[test]
    fn a_sleeper_is_woken_and_counted() {
        let word = Arc::new(AtomicU32::new(0));
        let sleeper = {
            let word = Arc::clone(&word);
            std::thread::spawn(move || {
                while word.load(Ordering::Acquire) == 0 {
                    wait(&word, 0, None).unwrap();
                }
            })
        };
        // Counted once it sleeps: waking before the store proves it did.
        while wake(&word, 1).unwrap() == 0 {
            std::thread::yield_now();
        }
        word.store(1, Ordering::Release);
        wake(&word, 1).unwrap();
        sleeper.join().unwrap();
    }

    #[test]
    fn processes_wake_each_other_on_a_shared_word() {
        let memory = crate::pages::shared(8).unwrap();
        // The first half of the shared word serves as a futex.
        let word = first_half(&memory.words()[0]);
        let child = crate::task::fork_run(|| {
            while word.load(Ordering::Acquire) == 0 {
                if wait_shared(word, 0, Some(Duration::from_secs(20))) == Ok(Outcome::TimedOut) {
                    return 1;
                }
            }
            0
        })
        .unwrap();
        while wake_shared(word, 1).unwrap() == 0 {
            std::thread::yield_now();
        }
        word.store(1, Ordering::Release);
        wake_shared(word, 1).unwrap();
        assert_eq!(crate::task::wait(child).unwrap().code, Some(0));
    }

    fn first_half(word: &std::sync::atomic::AtomicU64) -> &AtomicU32 {
        // SAFETY: the test uses these eight bytes through this view only.
        unsafe { AtomicU32::from_ptr(word.as_ptr().cast()) }
    }
}
