//! The mutex and condition variable of POSIX threads.

use crate::Result;
use crate::error::check_number;
use std::cell::UnsafeCell;

/// A number that threads pass on: one sets it and signals, another sleeps until
/// it has changed. One `pthread_mutex_t` and one `pthread_cond_t`, as a C
/// program would use them.
#[derive(Debug)]
pub struct Baton {
    // Boxed: the address of a mutex that is in use must not change.
    parts: Box<Parts>,
}

#[derive(Debug)]
struct Parts {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    changed: UnsafeCell<libc::pthread_cond_t>,
    number: UnsafeCell<u32>,
}

// SAFETY: the mutex and the condition variable are made to be used from several
// threads, and `number` is touched only while the mutex is held.
unsafe impl Send for Parts {}
// SAFETY: as above.
unsafe impl Sync for Parts {}

impl Baton {
    /// A baton that says 0.
    pub fn new() -> Self {
        let parts = Parts {
            mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
            changed: UnsafeCell::new(libc::PTHREAD_COND_INITIALIZER),
            number: UnsafeCell::new(0),
        };
        Self { parts: Box::new(parts) }
    }

    /// Sets the number and wakes one thread that sleeps in [`Baton::await_change`].
    ///
    /// # Errors
    /// None is known for a mutex of the default kind.
    #[inline]
    pub fn pass(&self, number: u32) -> Result<()> {
        self.lock()?;
        // SAFETY: the mutex is held.
        unsafe { *self.parts.number.get() = number };
        // SAFETY: initialised, and at this address for as long as `self` lives.
        let signalled = unsafe { libc::pthread_cond_signal(self.parts.changed.get()) };
        self.unlock()?;
        check_number(signalled, || "pthread_cond_signal".to_string())
    }

    /// Sleeps until the number differs from `known`, and returns it.
    ///
    /// # Errors
    /// As [`Baton::pass`].
    #[inline]
    pub fn await_change(&self, known: u32) -> Result<u32> {
        self.lock()?;
        let mut waited = 0;
        // SAFETY: the mutex is held here and whenever pthread_cond_wait returns.
        while waited == 0 && unsafe { *self.parts.number.get() } == known {
            // SAFETY: both are initialised and stay where they are; the mutex is
            // held by this thread.
            waited = unsafe {
                libc::pthread_cond_wait(self.parts.changed.get(), self.parts.mutex.get())
            };
        }
        // SAFETY: the mutex is held.
        let number = unsafe { *self.parts.number.get() };
        self.unlock()?;
        check_number(waited, || "pthread_cond_wait".to_string())?;
        Ok(number)
    }

    fn lock(&self) -> Result<()> {
        // SAFETY: initialised, and at this address for as long as `self` lives.
        let errno = unsafe { libc::pthread_mutex_lock(self.parts.mutex.get()) };
        check_number(errno, || "pthread_mutex_lock".to_string())
    }

    fn unlock(&self) -> Result<()> {
        // SAFETY: as in `lock`; called only by the thread that holds it.
        let errno = unsafe { libc::pthread_mutex_unlock(self.parts.mutex.get()) };
        check_number(errno, || "pthread_mutex_unlock".to_string())
    }
}

impl Default for Baton {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        // SAFETY: `&mut self`: no thread uses them any more, and neither will be
        // used again. The answers could only say that somebody still does.
        unsafe {
            libc::pthread_cond_destroy(self.changed.get());
            libc::pthread_mutex_destroy(self.mutex.get());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_there_and_back_and_none_is_lost() {
        let (there, back) = (Baton::new(), Baton::default());
        let seen = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let mut seen = Vec::new();
                for known in 0..1000 {
                    let number = there.await_change(known).unwrap();
                    seen.push(number);
                    back.pass(number).unwrap();
                }
                seen
            });
            for number in 1..=1000 {
                there.pass(number).unwrap();
                assert_eq!(back.await_change(number - 1).unwrap(), number);
            }
            other.join().unwrap()
        });
        assert_eq!(seen, (1..=1000).collect::<Vec<_>>());
    }

    #[test]
    fn a_change_that_came_first_is_not_slept_through() {
        let baton = Baton::new();
        baton.pass(7).unwrap();
        assert_eq!(baton.await_change(0), Ok(7));
    }
}
