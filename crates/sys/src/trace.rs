//! Watching a child's system calls by `ptrace`, as `strace` does: the child stops at every entry
//! and every exit, and goes on when its tracer says so.

use crate::error::{check, last_errno};
use crate::task::Ended;
use crate::usage::Usage;
use crate::{Error, Pid, Result};

/// What `PTRACE_O_TRACESYSGOOD` adds to the signal of a system-call stop.
const SYSCALL_STOP: i32 = libc::SIGTRAP | 0x80;

/// A child that this thread traces. It is killed if the tracer ends.
#[derive(Debug)]
pub struct Traced {
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

/// How a traced child answered a wait.
enum Event {
    SyscallStop,
    /// Any other stop, with the signal to hand on (0: none).
    Stop(i32),
    Ended(Ended),
}

impl Traced {
    /// Attaches to the child `pid` and stops it. All that follows must be done by this thread:
    /// the kernel knows a tracer by its thread.
    ///
    /// # Errors
    /// Unsupported where tracing is forbidden; `ESRCH` where the child has ended.
    pub fn stop(pid: Pid) -> Result<Self> {
        let options = libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_EXITKILL;
        match request(libc::PTRACE_SEIZE, "PTRACE_SEIZE", pid, options) {
            Err(error) if matches!(error.errno(), Some(libc::EPERM | libc::ENOSYS)) => {
                return Err(Error::unsupported(
                    format!("ptrace(PTRACE_SEIZE, process {pid})"),
                    "tracing is forbidden here; kernel.yama.ptrace_scope of 0 or 1, or the \
                     capability CAP_SYS_PTRACE, would allow it",
                ));
            }
            other => other?,
        }
        request(libc::PTRACE_INTERRUPT, "PTRACE_INTERRUPT", pid, 0)?;
        match wait(pid)? {
            Event::Ended(_) => Err(Error::new(format!("ptrace(process {pid})"), libc::ESRCH)),
            Event::SyscallStop | Event::Stop(_) => Ok(Traced { pid }),
        }
    }

    /// Lets the child go on, from one system-call stop to the next, until it ends.
    ///
    /// # Errors
    /// What `ptrace` and `wait4` say.
    pub fn follow(self) -> Result<Followed> {
        let mut stops = 0;
        let mut signal = 0;
        loop {
            match request(libc::PTRACE_SYSCALL, "PTRACE_SYSCALL", self.pid, signal) {
                // Killed in the middle of a stop: the wait tells how it ended.
                Err(error) if error.errno() == Some(libc::ESRCH) => {}
                other => other?,
            }
            signal = 0;
            match wait(self.pid)? {
                Event::SyscallStop => stops += 1,
                Event::Stop(handed_on) => signal = handed_on,
                Event::Ended(ended) => return Ok(Followed { stops, ended }),
            }
        }
    }
}

fn request(request: libc::c_uint, name: &str, pid: Pid, data: i32) -> Result<()> {
    // SAFETY: none of the requests used here has the kernel read or write memory of ours: their
    // data is a number (options or a signal), and the address is unused.
    let result = unsafe {
        libc::ptrace(request as _, pid, std::ptr::null_mut::<u8>(), data as libc::c_long)
    };
    check(result, || format!("ptrace({name}, process {pid})")).map(|_| ())
}

fn wait(pid: Pid) -> Result<Event> {
    let mut status: libc::c_int = 0;
    // SAFETY: all-zero bytes are a valid rusage: it holds integers only.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: `status` and `usage` are ours and outlive the call.
        let result = unsafe { libc::wait4(pid, &raw mut status, libc::__WALL, &raw mut usage) };
        if result == -1 && last_errno() == libc::EINTR {
            continue;
        }
        check(result.into(), || format!("wait4(process {pid})"))?;
        break;
    }
    if !libc::WIFSTOPPED(status) {
        let code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
        let signal = libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status));
        return Ok(Event::Ended(Ended { code, signal, usage: Usage::from_raw(&usage) }));
    }
    Ok(match libc::WSTOPSIG(status) {
        SYSCALL_STOP => Event::SyscallStop,
        // An event of ptrace itself (its number stands above the signal) is nothing to hand on.
        _ if status >> 16 != 0 => Event::Stop(0),
        signal => Event::Stop(signal),
    })
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
        let traced = match Traced::stop(pid) {
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
        match Traced::stop(pid) {
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
