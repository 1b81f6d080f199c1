//! Being asked to stop: SIGINT, SIGTERM, SIGHUP.

use crate::{Error, Result, signal};
use rustix::event::EventfdFlags;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd};
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

/// The first signal that came; 0 while none has.
static FIRST: AtomicU32 = AtomicU32::new(0);
/// An eventfd that becomes readable with the first signal; -1 before `install`.
static DESCRIPTOR: AtomicI32 = AtomicI32::new(-1);

/// The signals that ask this program to stop.
const SIGNALS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// From now on SIGINT, SIGTERM and SIGHUP do not end this process but are
/// noted: see [`requested`]. A signal that was ignored when the program began
/// stays ignored (that is how `nohup` protects a program). Programs executed
/// later get the default action back; forked children keep the handler.
///
/// # Errors
/// `EMFILE` where no descriptor is left.
pub fn install() -> Result<()> {
    if DESCRIPTOR.load(Ordering::Acquire) < 0 {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let event = rustix::event::eventfd(0, flags).map_err(Error::of("eventfd"))?;
        let number = event.as_raw_fd();
        // Where another thread was first, the descriptor is closed here.
        if DESCRIPTOR.compare_exchange(-1, number, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            let _ = event.into_raw_fd();
        }
    }
    for signal in SIGNALS {
        if !signal::is_ignored(signal)? {
            // SAFETY: the handler is async-signal-safe: it uses atomics and write(2), and leaves
            // errno as it was.
            unsafe { signal::handle(signal, note, 0) }?;
        }
    }
    Ok(())
}

/// The handler.
extern "C" fn note(signal: libc::c_int) {
    let _ = FIRST.compare_exchange(0, signal.unsigned_abs(), Ordering::AcqRel, Ordering::Acquire);
    let descriptor = DESCRIPTOR.load(Ordering::Acquire);
    let one = 1_u64;
    // SAFETY: errno's address is valid on this thread; write(2) is allowed in a
    // handler, reads eight bytes of `one`, and cannot block on this eventfd.
    unsafe {
        let errno = libc::__errno_location();
        let kept = *errno;
        libc::write(descriptor, (&raw const one).cast(), size_of::<u64>());
        *errno = kept;
    }
}

/// The first signal that asked this process to stop; `None` while none has.
pub fn requested() -> Option<i32> {
    match FIRST.load(Ordering::Acquire) {
        0 => None,
        signal => i32::try_from(signal).ok(),
    }
}

/// A descriptor that is readable once a signal has come (and stays so), to be
/// polled together with others; `None` before [`install`].
pub fn descriptor() -> Option<BorrowedFd<'static>> {
    let descriptor = DESCRIPTOR.load(Ordering::Acquire);
    // SAFETY: the eventfd is never closed once it is stored.
    (descriptor >= 0).then(|| unsafe { BorrowedFd::borrow_raw(descriptor) })
}

/// Gives the three signals their default action back, which is to end this process.
///
/// The first process of a container (PID 1) has no default action: the kernel drops what it does not handle. It
/// gets a handler that ends it.
///
/// # Errors
/// None is known.
pub fn restore_default() -> Result<()> {
    let is_first = crate::process::pid() == 1;
    SIGNALS.into_iter().try_for_each(|signal| match is_first {
        // SAFETY: the handler calls `_exit` alone, which is async-signal-safe.
        true => unsafe { signal::handle(signal, end, 0) },
        false => signal::heed(signal),
    })
}

/// The handler that stands in for a default action, with the exit code that a shell would give.
extern "C" fn end(signal: libc::c_int) {
    crate::task::exit_now(128 + signal);
}

/// Gives the three signals their default action back and forgets those that came, with the
/// descriptor, in a forked child that has a business of its own: it may [`install`] anew, and shares
/// nothing with its parent's then. The descriptor is left open.
///
/// # Errors
/// None is known.
pub fn forget() -> Result<()> {
    restore_default()?;
    DESCRIPTOR.store(-1, Ordering::Release);
    FIRST.store(0, Ordering::Release);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::in_child;
    use crate::{poll, process, task};
    use std::time::Duration;

    #[test]
    fn the_first_signal_is_kept_and_all_are_counted() {
        in_child(|| {
            // A shell without job control lets what it starts in the background ignore SIGINT.
            restore_default().unwrap();
            install().unwrap();
            install().unwrap();
            assert_eq!(requested(), None);
            let waker = descriptor().unwrap();
            assert!(!poll::readable(waker, Duration::ZERO).unwrap());
            // A forked process has one thread, so it handles its own signal
            // before `kill` returns.
            process::kill(process::pid(), libc::SIGTERM).unwrap();
            process::kill(process::pid(), libc::SIGINT).unwrap();
            assert_eq!(requested(), Some(libc::SIGTERM));
            assert!(poll::readable(waker, Duration::from_secs(20)).unwrap());
        });
    }

    #[test]
    fn an_ignored_hang_up_stays_ignored() {
        in_child(|| {
            // SAFETY: ignoring a signal involves no code of ours.
            unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
            install().unwrap();
            process::kill(process::pid(), libc::SIGHUP).unwrap();
            assert_eq!(requested(), None);
        });
    }

    #[test]
    fn a_child_that_forgets_its_parents_signals_has_its_own() {
        in_child(|| {
            restore_default().unwrap();
            install().unwrap();
            process::kill(process::pid(), libc::SIGINT).unwrap();
            let child = task::fork_run(|| {
                forget().unwrap();
                install().unwrap();
                let before = (requested(), poll::readable(descriptor().unwrap(), Duration::ZERO));
                process::kill(process::pid(), libc::SIGTERM).unwrap();
                i32::from(before != (None, Ok(false)) || requested() != Some(libc::SIGTERM))
            })
            .unwrap();
            assert_eq!(task::wait(child).unwrap().code, Some(0));
            assert_eq!(requested(), Some(libc::SIGINT));
        });
    }

    #[test]
    fn a_child_with_the_default_back_ends_by_the_signal() {
        let child = task::fork_run(|| {
            let done = install().and_then(|()| restore_default());
            let _ = process::kill(process::pid(), libc::SIGTERM);
            i32::from(done.is_err())
        })
        .unwrap();
        assert_eq!(task::wait(child).unwrap().signal, Some(libc::SIGTERM));
    }
}
