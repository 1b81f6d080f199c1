//! Being asked to stop: SIGINT, SIGTERM, SIGHUP.

use crate::error::check;
use crate::{Error, Result};
use std::os::fd::BorrowedFd;
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
        // SAFETY: creates a descriptor; touches no memory.
        let descriptor = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        check(descriptor.into(), || "eventfd".to_string())?;
        let stored =
            DESCRIPTOR.compare_exchange(-1, descriptor, Ordering::AcqRel, Ordering::Acquire);
        if stored.is_err() {
            // Another thread was first.
            // SAFETY: the descriptor is ours and nobody has seen it.
            unsafe { libc::close(descriptor) };
        }
    }
    for signal in SIGNALS {
        set_handler(signal)?;
    }
    Ok(())
}

fn set_handler(signal: libc::c_int) -> Result<()> {
    let call = || format!("sigaction(signal {signal})");
    // SAFETY: all-zero bytes are a valid sigaction (default action, empty mask).
    let mut earlier: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: a null new action only asks; `earlier` is ours.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut earlier) };
    check(asked.into(), call)?;
    if earlier.sa_sigaction == libc::SIG_IGN {
        return Ok(());
    }
    // SAFETY: as above.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = note as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: the handler is async-signal-safe: it uses atomics and write(2),
    // and leaves errno as it was. The action outlives the call.
    let set = unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
    check(set.into(), call).map(|_| ())
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

/// Gives the three signals their default action back, in a forked child that
/// should end by them.
///
/// # Errors
/// None is known.
pub fn restore_default() -> Result<()> {
    for signal in SIGNALS {
        // SAFETY: sets the default action, which involves no code of ours.
        if unsafe { libc::signal(signal, libc::SIG_DFL) } == libc::SIG_ERR {
            return Err(Error::new(format!("signal({signal})"), crate::error::last_errno()));
        }
    }
    Ok(())
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
