//! What can go wrong between this program and the kernel.

use crate::refusal;
use std::io;

pub(crate) use crate::errno::last_errno;

/// The result of asking the kernel for something.
pub type Result<T> = std::result::Result<T, Error>;

/// A request that failed: which call, on which object, and why.
///
/// It reads `sched_setaffinity(CPU 7): Invalid argument (os error 22)`, and goes on with what would help where
/// the kernel or a filter refuses the call as such ([`refusal`]).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{call}: {reason}{}", self.remedy())]
pub struct Error {
    call: String,
    reason: Reason,
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Reason {
    /// The kernel's own error number.
    #[error("{}", io::Error::from_raw_os_error(*.0))]
    Errno(i32),
    /// This machine, kernel or user cannot do it; the text says what would help.
    #[error("{0}")]
    Unsupported(String),
    /// The kernel answered, and the answer could not be read.
    #[error("{0}")]
    Unreadable(String),
}

impl Error {
    /// A call that failed with the kernel's error number `errno`.
    pub fn new(call: impl Into<String>, errno: i32) -> Self {
        Self { call: call.into(), reason: Reason::Errno(errno) }
    }

    /// Something this machine, kernel or user cannot do; `why` says what would
    /// change that.
    pub fn unsupported(call: impl Into<String>, why: impl Into<String>) -> Self {
        Self { call: call.into(), reason: Reason::Unsupported(why.into()) }
    }

    /// An answer of the kernel that could not be understood.
    pub(crate) fn unreadable(call: impl Into<String>, why: impl Into<String>) -> Self {
        Self { call: call.into(), reason: Reason::Unreadable(why.into()) }
    }

    /// Returns how an error of `rustix` in the named call becomes one of ours.
    pub(crate) fn of(call: impl Into<String>) -> impl FnOnce(rustix::io::Errno) -> Self {
        |errno| Self::new(call, errno.raw_os_error())
    }

    /// An error of the standard library's I/O, with the call it came from.
    pub fn io(call: impl Into<String>, error: &io::Error) -> Self {
        match error.raw_os_error() {
            Some(errno) => Self::new(call, errno),
            None => Self::unreadable(call, error.to_string()),
        }
    }

    /// The kernel's error number, where the failure has one.
    pub fn errno(&self) -> Option<i32> {
        match self.reason {
            Reason::Errno(errno) => Some(errno),
            Reason::Unsupported(_) | Reason::Unreadable(_) => None,
        }
    }

    /// Whether this machine, kernel or user simply cannot do what was asked,
    /// which a trial reports as `Unsupported` and not as a failure.
    pub fn is_unsupported(&self) -> bool {
        match &self.reason {
            Reason::Unsupported(_) => true,
            Reason::Errno(errno) => {
                *errno == libc::EOPNOTSUPP || refusal::is_refused(&self.call, *errno)
            }
            Reason::Unreadable(_) => false,
        }
    }

    /// What would allow the call where it is refused as such.
    fn remedy(&self) -> String {
        match self.reason {
            Reason::Errno(errno) => refusal::remedy(&self.call, errno),
            Reason::Unsupported(_) | Reason::Unreadable(_) => String::new(),
        }
    }
}

/// Turns the classic "-1 and errno" into a result. `errno` is read before
/// `call` may allocate and change it.
pub(crate) fn check(result: i64, call: impl FnOnce() -> String) -> Result<i64> {
    if result == -1 {
        let errno = last_errno();
        Err(Error::new(call(), errno))
    } else {
        Ok(result)
    }
}

/// Turns the pthread style, which returns the error number, into a result.
pub(crate) fn check_number(errno: i32, call: impl FnOnce() -> String) -> Result<()> {
    if errno == 0 { Ok(()) } else { Err(Error::new(call(), errno)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_call_object_and_errno() {
        let error = Error::new("sched_setaffinity(CPU 7)", libc::EINVAL);
        assert_eq!(error.to_string(), "sched_setaffinity(CPU 7): Invalid argument (os error 22)");
        assert_eq!(error.errno(), Some(libc::EINVAL));
        assert!(!error.is_unsupported());
    }

    #[test]
    fn unsupported_says_what_would_help() {
        let error = Error::unsupported("perf_event_open(cycles)", "this machine has no PMU");
        assert_eq!(error.to_string(), "perf_event_open(cycles): this machine has no PMU");
        assert_eq!(error.errno(), None);
        assert!(error.is_unsupported());
        assert!(Error::new("clone3", libc::ENOSYS).is_unsupported());
    }

    #[test]
    fn a_call_that_is_refused_is_unsupported_with_what_would_allow_it() {
        let error = Error::new("pidfd_open(77)", libc::EPERM);
        assert!(error.is_unsupported());
        assert_eq!(
            error.to_string(),
            "pidfd_open(77): Operation not permitted (os error 1): a filter of system calls (seccomp) refuses \
             pidfd_open; scruple needs it to wait for the end of trials and programs. In a container, \
             --security-opt seccomp=unconfined, or a profile with pidfd_open, allows it"
        );
        let error = Error::new("pidfd_open(77)", libc::ENOSYS).to_string();
        assert!(error.contains("pidfd_open needs Linux 5.3 (here: "), "{error}");
        // That a process lacks a right is another matter.
        for call in ["kill(process 1, signal 9)", "setpriority(nice -20)", "open(/x)"] {
            let error = Error::new(call, libc::EPERM);
            assert!(!error.is_unsupported());
            assert!(error.to_string().ends_with("(os error 1)"), "{error}");
        }
    }

    #[test]
    fn check_keeps_the_errno_of_the_call() {
        // SAFETY: closing a descriptor number that cannot be open touches nothing.
        let result = unsafe { libc::close(-1) };
        let error = check(result.into(), || "close(-1)".to_string()).unwrap_err();
        assert_eq!(error.errno(), Some(libc::EBADF));
        assert_eq!(check(3, String::new), Ok(3));
    }
}
