//! Times in which this process, or the whole machine, stood still.

use crate::{Pid, Result, proc, signal};
use std::sync::atomic::{AtomicU32, Ordering};

/// The number of SIGCONT that this process received.
static CONTINUED: AtomicU32 = AtomicU32::new(0);

/// From now on [`continued`] counts. Programs executed later get the default action back.
///
/// # Errors
/// None is known.
pub fn watch() -> Result<()> {
    // Who reads or writes meanwhile need not know of it: SA_RESTART.
    // SAFETY: the handler is async-signal-safe: it adds to an atomic.
    unsafe { signal::handle(libc::SIGCONT, note, libc::SA_RESTART) }
}

/// The handler. The kernel lets a stopped process go on whether or not there is one.
extern "C" fn note(_signal: libc::c_int) {
    CONTINUED.fetch_add(1, Ordering::AcqRel);
}

/// Returns how often SIGCONT has come since [`watch`]: what ends a SIGSTOP or a Ctrl-Z. (It may
/// also come to a process that was not stopped.) The kernel does not say how long a stop lasted.
pub fn continued() -> u32 {
    CONTINUED.load(Ordering::Acquire)
}

/// Whether a process is stopped (SIGSTOP).
pub fn is_stopped(pid: Pid) -> bool {
    state_of(pid) == Some('T')
}

/// Whether a tracer holds a process, for the moment of a system call or for longer.
pub fn is_held_by_tracer(pid: Pid) -> bool {
    state_of(pid) == Some('t')
}

fn state_of(pid: Pid) -> Option<char> {
    Some(proc::stat(pid)?.state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{eventually, in_child};
    use crate::{process, task};

    #[test]
    fn a_stop_is_seen_and_remembered() {
        let mut sleeper = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = sleeper.id() as crate::Pid;
        assert!(!is_stopped(pid));
        process::kill(pid, libc::SIGSTOP).unwrap();
        eventually("the stop", || is_stopped(pid));
        assert!(!process::take_continued(pid).unwrap());
        process::kill(pid, libc::SIGCONT).unwrap();
        assert!(!is_stopped(pid));
        // A stop is remembered when it is over, once.
        assert!(process::take_continued(pid).unwrap());
        assert!(!process::take_continued(pid).unwrap());
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert!(!is_stopped(pid));
        assert!(process::take_continued(pid).is_err());
    }

    #[test]
    fn a_stop_is_noticed_when_it_is_over() {
        in_child(|| {
            watch().unwrap();
            assert_eq!(continued(), 0);
            let parent = process::pid();
            let waker = task::fork_run(|| {
                let stopped = || {
                    let text = std::fs::read_to_string(format!("/proc/{parent}/stat"));
                    text.is_ok_and(|it| {
                        it.rsplit(") ").next().is_some_and(|it| it.starts_with('T'))
                    })
                };
                while !stopped() {
                    crate::clock::sleep_ns(100_000);
                }
                i32::from(process::kill(parent, libc::SIGCONT).is_err())
            })
            .unwrap();
            process::kill(parent, libc::SIGSTOP).unwrap();
            assert_eq!(task::wait(waker).unwrap().code, Some(0));
            assert_eq!(continued(), 1);
        });
    }
}
