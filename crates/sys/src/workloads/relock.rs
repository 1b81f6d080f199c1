//! A lock that may be taken again by the thread that holds it, or not.

use crate::Result;
use crate::error::check_number;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU64, Ordering};

/// A mutex of POSIX threads, at an address that stays for ever.
#[derive(Debug)]
pub struct Relock {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    taken: AtomicU64,
}

// SAFETY: a mutex is made to be used from several threads.
unsafe impl Send for Relock {}
// SAFETY: as above.
unsafe impl Sync for Relock {}

impl Relock {
    /// A mutex of the default kind, or a recursive one (`PTHREAD_MUTEX_RECURSIVE`).
    ///
    /// # Errors
    /// None is known for these two kinds.
    pub fn leaked(recursive: bool) -> Result<&'static Self> {
        let lock: &'static Self = Box::leak(Box::new(Self {
            mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
            taken: AtomicU64::new(0),
        }));
        if !recursive {
            return Ok(lock);
        }
        let mut attributes = std::mem::MaybeUninit::<libc::pthread_mutexattr_t>::uninit();
        // SAFETY: init makes the attributes valid; they are not moved until destroy.
        let errno = unsafe { libc::pthread_mutexattr_init(attributes.as_mut_ptr()) };
        check_number(errno, || "pthread_mutexattr_init".to_string())?;
        // SAFETY: initialised above; the mutex is new, and nobody else knows it.
        let made = unsafe {
            let kind = libc::PTHREAD_MUTEX_RECURSIVE;
            check_number(libc::pthread_mutexattr_settype(attributes.as_mut_ptr(), kind), || {
                "pthread_mutexattr_settype".to_string()
            })
            .and_then(|()| {
                check_number(
                    libc::pthread_mutex_init(lock.mutex.get(), attributes.as_ptr()),
                    || "pthread_mutex_init".to_string(),
                )
            })
        };
        // SAFETY: initialised above and not used afterwards.
        unsafe { libc::pthread_mutexattr_destroy(attributes.as_mut_ptr()) };
        made.map(|()| lock)
    }

    /// Takes the lock, counts, and gives it back. In a handler this waits for ever if the code
    /// that was interrupted holds the lock and it is none that can be taken again.
    pub fn take_and_give(&self) {
        // SAFETY: initialised, and at this address for ever. The default kind does not fail; the
        // recursive one could at 2^32 levels.
        unsafe { libc::pthread_mutex_lock(self.mutex.get()) };
        // What the lock protects would stand here.
        self.taken.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above, and this thread holds it.
        unsafe { libc::pthread_mutex_unlock(self.mutex.get()) };
    }

    /// Returns how often it was taken.
    #[cfg(test)]
    fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Does `work` while holding the lock.
    #[cfg(test)]
    fn holding(&self, work: impl FnOnce()) {
        // SAFETY: as in `take_and_give`.
        unsafe { libc::pthread_mutex_lock(self.mutex.get()) };
        work();
        // SAFETY: as above, and this thread holds it.
        unsafe { libc::pthread_mutex_unlock(self.mutex.get()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{eventually, in_child};
    use crate::wait_signal::SleepReader;
    use crate::{process, task};

    #[test]
    fn a_recursive_lock_may_be_taken_again() {
        in_child(|| {
            let lock = Relock::leaked(true).unwrap();
            lock.holding(|| lock.take_and_give());
            lock.take_and_give();
            assert_eq!(lock.taken(), 2);
        });
    }

    #[test]
    fn a_plain_lock_taken_again_sleeps_for_ever() {
        let child = task::fork_run(|| {
            let Ok(lock) = Relock::leaked(false) else { return 1 };
            lock.holding(|| lock.take_and_give());
            0
        })
        .unwrap();
        let state = SleepReader::of(child, child).unwrap();
        eventually("its sleep", || state.asleep());
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert_eq!(task::try_wait(child).unwrap(), None);
        assert!(state.asleep());
        process::kill(child, libc::SIGKILL).unwrap();
        task::wait(child).unwrap();
    }
}
