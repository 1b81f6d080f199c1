//! Signals as messages: waited for, one after the other, instead of interrupting.

use crate::error::last_errno;
use crate::signal::{heed, is_ignored};
use crate::wait_signal::{self, SignalSet};
use crate::{Error, Pid, Result};

pub use libc::{SIGCHLD, SIGHUP, SIGQUIT};

/// Some signals that are held back from their default action until they are
/// asked for.
#[derive(Debug)]
pub struct Mailbox {
    signals: SignalSet,
    earlier: SignalSet,
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
        let mut waiting = Vec::with_capacity(signals.len());
        for signal in signals {
            if *signal == SIGCHLD {
                heed(SIGCHLD)?;
            } else if is_ignored(*signal)? {
                continue;
            }
            waiting.push(*signal);
        }
        let mailbox = Self { signals: SignalSet::of(&waiting), earlier: wait_signal::blocked()? };
        wait_signal::block(&mailbox.signals)?;
        Ok(mailbox)
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
            let signal = unsafe { libc::sigwaitinfo(&raw const self.signals.raw, &raw mut info) };
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
        let _ = wait_signal::change(libc::SIG_SETMASK, &self.earlier);
    }
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
