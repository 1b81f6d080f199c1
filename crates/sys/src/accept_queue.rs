//! The queue of connections that a listening socket has not accepted yet.

use crate::{Error, Result};
use std::os::fd::{AsRawFd, BorrowedFd};

/// How full a queue is, and how full it may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptQueue {
    /// Connections that wait.
    pub waiting: u32,
    /// The most that may wait: what listen(2) was given, or `net.core.somaxconn` where that is less. The
    /// kernel takes one more.
    pub most: u32,
}

/// Reads the queue of a listening TCP socket (`TCP_INFO`, which of a listening socket shows this instead of
/// segments).
///
/// # Errors
/// `EOPNOTSUPP` or `ENOPROTOOPT` for a socket of another kind; `EINVAL` for one that does not listen.
pub fn of(listener: BorrowedFd<'_>) -> Result<AcceptQueue> {
    // SAFETY: `tcp_info` is made of integers, for which zero is a value.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut bytes = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the kernel writes `bytes` bytes at most to `info`, which has as many, and their number to
    // `bytes`. The descriptor is open while it is borrowed.
    let got = unsafe {
        libc::getsockopt(
            listener.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut bytes,
        )
    };
    if got != 0 {
        return Err(Error::new("getsockopt(TCP_INFO)", crate::error::last_errno()));
    }
    if i32::from(info.tcpi_state) != TCP_LISTEN {
        return Err(Error::new(
            "getsockopt(TCP_INFO) of a socket that does not listen",
            libc::EINVAL,
        ));
    }
    Ok(AcceptQueue { waiting: info.tcpi_unacked, most: info.tcpi_sacked })
}

/// The state of a socket that listens (`include/net/tcp_states.h`).
const TCP_LISTEN: i32 = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    #[test]
    fn those_that_wait_are_counted_until_they_are_accepted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let empty = of(listener.as_fd()).unwrap();
        assert!(empty.waiting == 0 && empty.most > 0, "{empty:?}");
        let clients: Vec<TcpStream> =
            (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
        assert_eq!(of(listener.as_fd()).unwrap(), AcceptQueue { waiting: 3, ..empty });
        for _ in &clients {
            listener.accept().unwrap();
        }
        assert_eq!(of(listener.as_fd()).unwrap(), empty);
        assert_eq!(of(clients[0].as_fd()).unwrap_err().errno(), Some(libc::EINVAL));
    }
}
