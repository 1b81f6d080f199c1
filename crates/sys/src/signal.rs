//! The numbers of the signals that other rooms send or tell apart.

use crate::error::{check, last_errno};
use crate::{Error, Result};

pub use libc::{
    SIGABRT, SIGALRM, SIGBUS, SIGCHLD, SIGCONT, SIGINT, SIGKILL, SIGSEGV, SIGSTOP, SIGTERM,
    SIGUSR1, SIGUSR2,
};

/// The first real-time signal that libc leaves to programs.
pub fn real_time() -> i32 {
    libc::SIGRTMIN()
}

/// The highest number of a signal.
pub fn highest() -> i32 {
    libc::SIGRTMAX()
}

/// Lists numbers of libc with their names.
macro_rules! named {
    ($($name:ident)*) => {
        [$((libc::$name, stringify!($name))),*]
    };
}
pub(crate) use named;

/// The names of signal(7), without those of real-time signals.
const NAMES: [(i32, &str); 31] = named! {
    SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGUSR1 SIGSEGV SIGUSR2
    SIGPIPE SIGALRM SIGTERM SIGSTKFLT SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGXCPU
    SIGXFSZ SIGVTALRM SIGPROF SIGWINCH SIGIO SIGPWR SIGSYS
};

/// Returns the name of a signal; `None` for a real-time signal and for what is none.
pub fn name(signal: i32) -> Option<&'static str> {
    NAMES.iter().find(|(number, _)| *number == signal).map(|(_, name)| *name)
}

/// From now on SIGHUP, SIGINT and SIGTERM do nothing to this process.
///
/// # Errors
/// None is known.
pub fn ignore_requests_to_end() -> Result<()> {
    [libc::SIGHUP, libc::SIGINT, libc::SIGTERM].into_iter().try_for_each(ignore)
}

/// Gives a signal its default action back, in this process and in what it starts. A shell without
/// job control starts what stands before an `&` with SIGINT ignored, which programs inherit.
///
/// # Errors
/// `EINVAL` for a signal that does not exist or has one action only.
pub fn heed(signal: i32) -> Result<()> {
    // SAFETY: sets the default action, which involves no code of ours.
    taken(signal, unsafe { libc::signal(signal, libc::SIG_DFL) })
}

/// Blocks no signal in the calling thread any more.
///
/// # Errors
/// None is known.
pub(crate) fn unblock_all() -> Result<()> {
    // SAFETY: all-zero bytes are a valid signal set, which sigemptyset then fills in; both calls
    // get a pointer to it that outlives them.
    let set = unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut())
    };
    check(set.into(), || "sigprocmask".into()).map(|_| ())
}

/// From now on a write beyond the limit on file sizes (`ulimit -f`) fails with
/// `EFBIG` instead of ending this process. Programs executed later inherit it.
///
/// # Errors
/// None is known.
pub fn ignore_file_size_signal() -> Result<()> {
    ignore(libc::SIGXFSZ)
}

fn ignore(signal: i32) -> Result<()> {
    // SAFETY: ignoring a signal involves no code of ours.
    taken(signal, unsafe { libc::signal(signal, libc::SIG_IGN) })
}

/// Turns the answer of `signal` into a result.
fn taken(signal: i32, answer: libc::sighandler_t) -> Result<()> {
    match answer {
        libc::SIG_ERR => Err(Error::new(
            format!("signal({})", name(signal).map_or(signal.to_string(), String::from)),
            last_errno(),
        )),
        _ => Ok(()),
    }
}

/// From now on `handler` is called for a signal, with these flags of sigaction(2).
///
/// # Errors
/// `EINVAL` for what is no signal, or for one that cannot be caught.
///
/// # Safety
/// What the handler does must be safe in the middle of whatever code the signal interrupts.
pub(crate) unsafe fn handle(
    signal: i32,
    handler: extern "C" fn(libc::c_int),
    flags: libc::c_int,
) -> Result<()> {
    // SAFETY: all-zero bytes are a valid sigaction (no flags, empty mask).
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as libc::sighandler_t;
    action.sa_flags = flags;
    // SAFETY: the action outlives the call; of the handler the caller promises it.
    let set = unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
    check(set.into(), || format!("sigaction(signal {signal})")).map(|_| ())
}

/// Whether this process ignores a signal.
///
/// # Errors
/// `EINVAL` for what is no signal.
pub(crate) fn is_ignored(signal: i32) -> Result<bool> {
    // SAFETY: all-zero bytes are a valid sigaction (default action, empty mask).
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: a null new action only asks; `action` is ours.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
    check(asked.into(), || format!("sigaction(signal {signal})"))?;
    Ok(action.sa_sigaction == libc::SIG_IGN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{self, Resource};
    use crate::testing::in_child;
    use crate::{process, task};
    use std::io::Write;

    #[test]
    fn what_is_heeded_ends_a_process_that_was_told_to_ignore_it() {
        let child = task::fork_run(|| {
            let done = ignore_requests_to_end().and_then(|()| heed(SIGINT));
            let _ = process::kill(process::pid(), SIGTERM);
            let _ = process::kill(process::pid(), SIGINT);
            i32::from(done.is_err())
        })
        .unwrap();
        assert_eq!(task::wait(child).unwrap().signal, Some(SIGINT));
        assert!(heed(SIGKILL).is_err());
    }

    #[test]
    fn a_file_that_may_not_grow_is_an_error_and_not_the_end() {
        in_child(|| {
            ignore_file_size_signal().unwrap();
            limits::set(Resource::FileSize, Some(4)).unwrap();
            let mut file = tempfile::tempfile().unwrap();
            assert_eq!(file.write(b"12345678").unwrap(), 4);
            let error = file.write(b"5678").unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EFBIG));
        });
    }
}
