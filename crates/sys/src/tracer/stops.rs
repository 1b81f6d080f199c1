//! Counting the system-call stops of one child, and asking nothing at any of
//! them: the least that a tracer costs.

use super::SYSCALL_STOP;
use super::request::{plain, seize, wait_for};
use crate::task::Ended;
use crate::{Error, Pid, Result};

/// A child that this thread traces and that makes no other task.
#[derive(Debug)]
pub struct StopCounter {
    pid: Pid,
}

/// What following a child to its end has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Followed {
    /// Stops at the entry or the exit of a system call.
    pub stops: u64,
    /// How the child ended. It is reaped.
    pub ended: Ended,
}

impl StopCounter {
    /// Attaches to the child `pid` and stops it. All that follows must be done by this thread:
    /// the kernel knows a tracer by its thread.
    ///
    /// # Errors
    /// Unsupported where tracing is forbidden; `ESRCH` where the child has ended.
    pub fn attach(pid: Pid) -> Result<Self> {
        seize(pid, 0).map(|()| StopCounter { pid })
    }

    /// Lets the child go on, from one system-call stop to the next, until it ends. What it makes
    /// is not followed.
    ///
    /// # Errors
    /// What `ptrace` and `wait4` say.
    pub fn follow(self) -> Result<Followed> {
        let StopCounter { pid } = self;
        let mut stops = 0;
        let mut signal = 0;
        loop {
            match plain(libc::PTRACE_SYSCALL as _, "PTRACE_SYSCALL", pid, signal) {
                // Killed in the middle of a stop: the wait tells how it ended.
                Err(error) if error.errno() == Some(libc::ESRCH) => {}
                other => other?,
            }
            let Some(waited) = wait_for(pid, true)? else {
                return Err(Error::new(format!("wait4(process {pid})"), libc::ECHILD));
            };
            let status = waited.status;
            if !libc::WIFSTOPPED(status) {
                return Ok(Followed { stops, ended: Ended::of(status, waited.usage) });
            }
            signal = 0;
            match libc::WSTOPSIG(status) {
                SYSCALL_STOP => stops += 1,
                // An event of ptrace itself (its number stands above the signal) is nothing to
                // hand on.
                handed_on if status >> 16 == 0 => signal = handed_on,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::SharedGate;
    use crate::process;
    use std::sync::atomic::Ordering;

    fn child_of_calls(gate: &SharedGate, calls: u64) -> Pid {
        crate::task::fork_run(|| {
            gate.arrived().store(1, Ordering::Release);
            while gate.released().load(Ordering::Acquire) == 0 {
                std::hint::spin_loop();
            }
            for _ in 0..calls {
                crate::syscall::getppid();
            }
            5
        })
        .unwrap()
    }

    fn stops_of(calls: u64) -> Option<u64> {
        let gate = SharedGate::new().unwrap();
        let pid = child_of_calls(&gate, calls);
        crate::testing::eventually("the child's arrival", || {
            gate.arrived().load(Ordering::Acquire) == 1
        });
        let traced = match StopCounter::attach(pid) {
            Ok(traced) => traced,
            Err(error) => {
                assert!(error.is_unsupported(), "{error}");
                gate.released().store(1, Ordering::Release);
                crate::task::wait(pid).unwrap();
                return None;
            }
        };
        gate.released().store(1, Ordering::Release);
        let followed = traced.follow().unwrap();
        assert_eq!(followed.ended.code, Some(5));
        Some(followed.stops)
    }

    #[test]
    fn every_system_call_is_two_stops() {
        if let (Some(none), Some(hundred)) = (stops_of(0), stops_of(100)) {
            assert_eq!(hundred - none, 200);
        }
    }

    #[test]
    fn a_child_that_is_killed_is_followed_to_its_end() {
        let gate = SharedGate::new().unwrap();
        let pid = child_of_calls(&gate, 0);
        match StopCounter::attach(pid) {
            Ok(traced) => {
                process::kill(pid, libc::SIGKILL).unwrap();
                assert_eq!(traced.follow().unwrap().ended.signal, Some(libc::SIGKILL));
            }
            Err(error) => {
                assert!(error.is_unsupported(), "{error}");
                process::kill(pid, libc::SIGKILL).unwrap();
                crate::task::wait(pid).unwrap();
            }
        }
    }
}
