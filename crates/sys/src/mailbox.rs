//! Signals as messages: waited for, one after the other, instead of interrupting.

use crate::error::{check, last_errno};
use crate::{Error, Pid, Result};

pub use libc::{SIGCHLD, SIGHUP, SIGQUIT};

/// Some signals that are held back from their default action until they are
/// asked for.
#[derive(Debug)]
pub struct Mailbox {
    signals: libc::sigset_t,
    earlier: libc::sigset_t,
}

/// A signal that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Letter {
    /// Which.
    pub signal: i32,
    /// The process that sent it; `None` where it was the kernel, as it is for
    /// what a terminal's keys and a child's end send.
    pub sender: Option<Pid>,
}

impl Mailbox {
    /// From now on these signals wait. Programs executed later inherit that, so
    /// it is opened after the fork. It holds for the calling thread, which
    /// should be the only one. A signal that was ignored stays ignored, except
    /// SIGCHLD: without it the end of a child would go unnoticed.
    ///
    /// # Errors
    /// `EINVAL` for a signal that does not exist.
    pub fn open(signals: &[i32]) -> Result<Self> {
        // SAFETY: all-zero bytes are a valid sigset_t: it holds integers only.
        let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
        // SAFETY: `set` is ours.
        unsafe { libc::sigemptyset(&raw mut set) };
        for signal in signals {
            if *signal == SIGCHLD {
                // SAFETY: sets the default action, which involves no code of ours.
                unsafe { libc::signal(SIGCHLD, libc::SIG_DFL) };
            } else if is_ignored(*signal)? {
                continue;
            }
            // SAFETY: `set` is ours.
            let added = unsafe { libc::sigaddset(&raw mut set, *signal) };
            check(added.into(), || format!("sigaddset({signal})"))?;
        }
        // SAFETY: as above.
        let mut earlier: libc::sigset_t = unsafe { std::mem::zeroed() };
        // SAFETY: both sets are ours and outlive the call.
        let errno =
            unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, &raw mut earlier) };
        crate::error::check_number(errno, || "pthread_sigmask".to_string())?;
        Ok(Self { signals: set, earlier })
    }

    /// Waits for the next signal.
    ///
    /// # Errors
    /// None is known.
    pub fn next_letter(&self) -> Result<Letter> {
        // SAFETY: all-zero bytes are a valid siginfo_t.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        loop {
            // SAFETY: both are ours and outlive the call.
            let signal = unsafe { libc::sigwaitinfo(&raw const self.signals, &raw mut info) };
            if signal > 0 {
                // Codes above 0 mean that the kernel has sent it. SAFETY: for the others it
                // tells the sender.
                let sender = (info.si_code <= 0).then(|| unsafe { info.si_pid() });
                return Ok(Letter { signal, sender });
            }
            if last_errno() != libc::EINTR {
                return Err(Error::new("sigwaitinfo", last_errno()));
            }
        }
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        // SAFETY: the set is ours; it was the mask before.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.earlier, std::ptr::null_mut())
        };
    }
}

fn is_ignored(signal: i32) -> Result<bool> {
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
    use crate::testing::in_child;
    use crate::{process, task};

    #[test]
    fn a_signal_waits_until_it_is_asked_for_and_names_its_sender() {
        in_child(|| {
            let mailbox = Mailbox::open(&[libc::SIGTERM, SIGCHLD]).unwrap();
            process::kill(process::pid(), libc::SIGTERM).unwrap();
            let letter = mailbox.next_letter().unwrap();
            assert_eq!(letter, Letter { signal: libc::SIGTERM, sender: Some(process::pid()) });
            let child = task::fork_exit(false).unwrap();
            let letter = mailbox.next_letter().unwrap();
            assert_eq!(letter, Letter { signal: SIGCHLD, sender: None });
            task::wait(child).unwrap();
        });
    }

    #[test]
    fn an_ignored_signal_stays_ignored_and_nonsense_is_refused() {
        in_child(|| {
            // SAFETY: ignoring a signal involves no code of ours.
            unsafe { libc::signal(SIGHUP, libc::SIG_IGN) };
            let mailbox = Mailbox::open(&[SIGHUP, libc::SIGTERM]).unwrap();
            process::kill(process::pid(), SIGHUP).unwrap();
            process::kill(process::pid(), libc::SIGTERM).unwrap();
            assert_eq!(mailbox.next_letter().unwrap().signal, libc::SIGTERM);
            assert!(Mailbox::open(&[4096]).is_err());
        });
    }

    #[test]
    fn closing_it_gives_the_default_action_back() {
        let child = task::fork_run(|| {
            drop(Mailbox::open(&[libc::SIGTERM]));
            let _ = process::kill(process::pid(), libc::SIGTERM);
            0
        })
        .unwrap();
        assert_eq!(task::wait(child).unwrap().signal, Some(libc::SIGTERM));
    }
}
