//! Waiting for descriptors.

use crate::{Error, Result};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::time::Timespec;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// Waits until `fd` is readable or `timeout` has passed; returns whether it is.
/// A hang-up or an error counts as readable: the next read will tell.
///
/// # Errors
/// `ENOMEM`, `EINVAL` beyond the limit on open files.
pub fn readable(fd: BorrowedFd<'_>, timeout: Duration) -> Result<bool> {
    readable_any(&[fd], timeout).map(|readable| readable[0])
}

/// Waits until one of `fds` is readable or `timeout` has passed; returns for
/// each whether it is. Hang-ups and errors count as readable.
///
/// # Errors
/// As [`readable`].
pub fn readable_any(fds: &[BorrowedFd<'_>], timeout: Duration) -> Result<Vec<bool>> {
    let mut polled: Vec<PollFd<'_>> = fds.iter().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
    wait(&mut polled, timeout)?;
    Ok(polled.iter().map(|one| !one.revents().is_empty()).collect())
}

/// `ppoll` until something happens or the deadline passes. A signal does not
/// end the wait; who wants to be woken by one adds
/// [`crate::interrupt::descriptor`] to the list.
fn wait(polled: &mut [PollFd<'_>], timeout: Duration) -> Result<()> {
    let start = Instant::now();
    loop {
        // A deadline that cannot be represented is as good as none: a day.
        let left = timeout.saturating_sub(start.elapsed()).min(Duration::from_secs(86_400));
        let time = Timespec { tv_sec: left.as_secs() as _, tv_nsec: left.subsec_nanos().into() };
        match poll(polled, Some(&time)) {
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Error::of("ppoll")(errno)),
            Ok(0) if start.elapsed() < timeout => {}
            Ok(_) => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn nothing_then_bytes_then_a_hang_up() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        assert!(!readable(ours.as_fd(), Duration::ZERO).unwrap());
        assert!(!readable(ours.as_fd(), Duration::from_millis(2)).unwrap());
        theirs.write_all(b"x").unwrap();
        assert!(readable(ours.as_fd(), Duration::from_secs(20)).unwrap());
        drop(theirs);
        assert!(readable(ours.as_fd(), Duration::from_secs(20)).unwrap());
    }

    #[test]
    fn each_descriptor_has_its_answer() {
        let (first, _first_end) = UnixStream::pair().unwrap();
        let (second, mut second_end) = UnixStream::pair().unwrap();
        let (third, third_end) = UnixStream::pair().unwrap();
        second_end.write_all(b"x").unwrap();
        drop(third_end);
        let all = [first.as_fd(), second.as_fd(), third.as_fd()];
        assert_eq!(readable_any(&all, Duration::from_secs(20)).unwrap(), [false, true, true]);
        assert_eq!(readable_any(&[], Duration::ZERO).unwrap(), Vec::<bool>::new());
    }

    #[test]
    fn the_deadline_is_kept_from_below() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let start = Instant::now();
        assert!(!readable(ours.as_fd(), Duration::from_millis(3)).unwrap());
        assert!(start.elapsed() >= Duration::from_millis(3));
    }
}
