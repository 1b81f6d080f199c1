//! A process as a descriptor: it can be polled together with others, and cannot
//! come to mean another process.

use crate::{Error, Pid, Result};
use rustix::process::PidfdFlags;
use std::os::fd::OwnedFd;

/// A descriptor that becomes readable when the process `pid` has ended
/// (`pidfd_open(2)`, Linux 5.3).
///
/// # Errors
/// `ESRCH` where there is no such process, `EMFILE`; `ENOSYS` on older kernels.
pub fn open(pid: Pid) -> Result<OwnedFd> {
    let call = format!("pidfd_open({pid})");
    let Some(pid) = crate::process::single(pid) else { return Err(Error::new(call, libc::EINVAL)) };
    rustix::process::pidfd_open(pid, PidfdFlags::empty()).map_err(Error::of(call))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{poll, process, task};
    use std::os::fd::AsFd;
    use std::time::Duration;

    #[test]
    fn it_is_readable_once_the_process_has_ended_and_not_before() {
        let child = task::fork_run(|| {
            std::thread::sleep(Duration::from_secs(60));
            0
        })
        .unwrap();
        let descriptor = open(child).unwrap();
        assert!(!poll::readable(descriptor.as_fd(), Duration::ZERO).unwrap());
        process::kill(child, libc::SIGKILL).unwrap();
        assert!(poll::readable(descriptor.as_fd(), Duration::from_secs(20)).unwrap());
        task::wait(child).unwrap();
    }

    #[test]
    fn a_process_that_is_not_there_is_an_error() {
        let child = task::fork_exit(false).unwrap();
        task::wait(child).unwrap();
        assert_eq!(open(child).unwrap_err().errno(), Some(libc::ESRCH));
    }
}
