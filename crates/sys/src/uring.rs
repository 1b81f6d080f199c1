//! Sockets by io_uring(7): what is to be done is queued in memory that the kernel shares, and one system call
//! hands in all of it and waits for what is done.

use crate::{Error, Result};
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// Entries of the queue to the kernel; a full one is handed in at once.
const ENTRIES: u32 = 256;

/// Tells a system that has no io_uring, or refuses it, from other failures.
fn refused(error: io::Error) -> Error {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES | libc::ENOSYS) => {
            Error::unsupported("io_uring_setup", error.to_string())
        }
        _ => Error::io("io_uring_setup", &error),
    }
}

/// What is done, and for whom.
#[derive(Debug)]
pub enum Done {
    /// A connection, or why there is none, and whether more are accepted: else [`Ring::accept`] is to be called
    /// again.
    Accepted(io::Result<OwnedFd>, bool),
    /// The key, the room that was lent, and how many bytes of it were read to.
    Read(u64, Vec<u8>, io::Result<usize>),
    /// The key, and how many bytes were written.
    Written(u64, io::Result<usize>),
}

/// What the kernel works at.
#[derive(Debug)]
enum Flight {
    Accept,
    /// The kernel writes to this room until it is done.
    Read(u64, Vec<u8>),
    Write(u64),
}

/// Two queues that the kernel shares.
pub struct Ring {
    ring: IoUring,
    /// What is in flight, in the place that its entry names.
    flights: Vec<Option<Flight>>,
    free: Vec<usize>,
}

impl Ring {
    /// Makes one, in the thread that is to use it. (The kernel interrupts that thread once more, some time after
    /// the ring was dropped, even in calls that a signal would not.)
    ///
    /// # Errors
    /// Unsupported where the kernel has no io_uring, or it is refused (`kernel.io_uring_disabled`, a
    /// container's filter of system calls).
    pub fn new() -> Result<Self> {
        // Completions wait for the thread's next call instead of interrupting it (Linux 6.1).
        let deferred =
            IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(ENTRIES);
        let ring = match deferred {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                IoUring::builder().build(ENTRIES)
            }
            made => made,
        };
        let ring = ring.map_err(refused)?;
        if !ring.params().is_feature_ext_arg() {
            return Err(Error::unsupported(
                "io_uring_enter",
                "waits without end before Linux 5.11",
            ));
        }
        Ok(Ring { ring, flights: Vec::new(), free: Vec::new() })
    }

    /// Accepts connections from a listening socket, one after the other, until one fails: with `EINVAL` before
    /// Linux 5.19.
    ///
    /// # Errors
    /// What the kernel says where the queue is full.
    pub fn accept(&mut self, listener: BorrowedFd<'_>) -> Result<()> {
        let entry = opcode::AcceptMulti::new(types::Fd(listener.as_raw_fd()))
            .flags(libc::SOCK_CLOEXEC)
            .build();
        self.push(entry, Flight::Accept)
    }

    /// Reads from a socket to `room[from..]`, once something is there. It is to be kept open until that is
    /// done.
    ///
    /// # Errors
    /// As [`Ring::accept`].
    ///
    /// # Panics
    /// Where `from` lies beyond the room.
    pub fn read(
        &mut self,
        socket: BorrowedFd<'_>,
        key: u64,
        mut room: Vec<u8>,
        from: usize,
    ) -> Result<()> {
        let part = &mut room[from..];
        let bytes = u32::try_from(part.len()).unwrap_or(u32::MAX);
        let entry =
            opcode::Recv::new(types::Fd(socket.as_raw_fd()), part.as_mut_ptr(), bytes).build();
        self.push(entry, Flight::Read(key, room))
    }

    /// Writes to a socket. It is to be kept open until that is done.
    ///
    /// # Errors
    /// As [`Ring::accept`].
    pub fn write(&mut self, socket: BorrowedFd<'_>, key: u64, bytes: &'static [u8]) -> Result<()> {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let entry = opcode::Send::new(types::Fd(socket.as_raw_fd()), bytes.as_ptr(), length)
            .flags(libc::MSG_NOSIGNAL)
            .build();
        self.push(entry, Flight::Write(key))
    }

    fn push(&mut self, entry: squeue::Entry, flight: Flight) -> Result<()> {
        let place = self.free.pop().unwrap_or_else(|| {
            self.flights.push(None);
            self.flights.len() - 1
        });
        let entry = entry.user_data(place as u64);
        if self.ring.submission().is_full() {
            self.ring.submit().map_err(|error| Error::io("io_uring_enter", &error))?;
        }
        self.flights[place] = Some(flight);
        // SAFETY: what the entry points to lives until it is done: room that is read to is kept in `flights`
        // (moving a vector does not move its bytes), and is leaked when the ring is dropped before; bytes that
        // are written are static.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        pushed.map_err(|_| Error::new("io_uring_enter: the queue stays full", libc::EBUSY))
    }

    /// Hands in what was queued, waits for something to be done, for this time at most or until a signal is
    /// handled, and adds what is.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn wait(&mut self, time: Duration, done: &mut Vec<Done>) -> Result<()> {
        let time = types::Timespec::from(time);
        let arguments = types::SubmitArgs::new().timespec(&time);
        match self.ring.submitter().submit_with_args(1, &arguments) {
            Err(error)
                if ![libc::ETIME, libc::EINTR, libc::EBUSY, libc::EAGAIN]
                    .contains(&error.raw_os_error().unwrap_or(0)) =>
            {
                return Err(Error::io("io_uring_enter", &error));
            }
            _ => {}
        }
        let Ring { ring, flights, free } = self;
        for entry in ring.completion() {
            let place = entry.user_data() as usize;
            let Some(slot) = flights.get_mut(place) else { continue };
            let result = match entry.result() {
                number if number < 0 => Err(io::Error::from_raw_os_error(-number)),
                number => Ok(number as usize),
            };
            let goes_on = cqueue::more(entry.flags());
            let Some(flight) = slot.take() else { continue };
            match flight {
                Flight::Accept => {
                    // SAFETY: the kernel has just made this descriptor for us, and nobody else knows it.
                    let socket =
                        result.map(|number| unsafe { OwnedFd::from_raw_fd(number as i32) });
                    done.push(Done::Accepted(socket, goes_on));
                    if goes_on {
                        *slot = Some(Flight::Accept);
                        continue;
                    }
                }
                Flight::Read(key, room) => done.push(Done::Read(key, room, result)),
                Flight::Write(key) => done.push(Done::Written(key, result)),
            }
            free.push(place);
        }
        Ok(())
    }
}

impl Drop for Ring {
    /// Leaves the kernel the room that it may still write to: it stops some time after the ring is closed.
    fn drop(&mut self) {
        for flight in self.flights.drain(..).flatten() {
            std::mem::forget(flight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpListener, TcpStream};
    use std::os::fd::AsFd;

    /// What is done next.
    fn next(ring: &mut Ring) -> Done {
        let mut done = Vec::new();
        while done.is_empty() {
            ring.wait(Duration::from_secs(10), &mut done).unwrap();
        }
        assert_eq!(done.len(), 1, "{done:?}");
        done.pop().unwrap()
    }

    #[test]
    fn sockets_are_accepted_read_and_written() {
        let Ok(mut ring) = Ring::new() else { return };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        ring.accept(listener.as_fd()).unwrap();
        for round in 0..3 {
            let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let Done::Accepted(Ok(socket), true) = next(&mut ring) else { panic!("{round}") };
            ring.read(socket.as_fd(), 7, vec![9; 8], 2).unwrap();
            peer.write_all(b"abc").unwrap();
            let Done::Read(7, room, Ok(3)) = next(&mut ring) else { panic!("{round}") };
            assert_eq!(room, [9, 9, b'a', b'b', b'c', 9, 9, 9]);
            ring.write(socket.as_fd(), 8, b"answer").unwrap();
            assert!(matches!(next(&mut ring), Done::Written(8, Ok(6))));
            let mut answer = [0; 6];
            peer.read_exact(&mut answer).unwrap();
            assert_eq!(&answer, b"answer");
            ring.read(socket.as_fd(), 9, room, 0).unwrap();
            peer.shutdown(Shutdown::Write).unwrap();
            assert!(matches!(next(&mut ring), Done::Read(9, _, Ok(0))));
        }
        let mut none = Vec::new();
        ring.wait(Duration::from_millis(1), &mut none).unwrap();
        assert!(none.is_empty());
    }

    #[test]
    fn more_than_the_queue_has_room_for_is_handed_in() {
        let Ok(mut ring) = Ring::new() else { return };
        // All read from one socket: a user may open 1,024 files.
        let (ours, mut theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let reads = 2 * ENTRIES as usize;
        (0..reads).for_each(|key| ring.read(ours.as_fd(), key as u64, vec![0], 0).unwrap());
        theirs.write_all(&vec![b'x'; reads]).unwrap();
        let mut done = Vec::new();
        while done.len() < reads {
            ring.wait(Duration::from_secs(10), &mut done).unwrap();
        }
        let mut keys: Vec<u64> = done
            .iter()
            .map(|done| match done {
                Done::Read(key, room, Ok(1)) if room == b"x" => *key,
                other => panic!("{other:?}"),
            })
            .collect();
        keys.sort_unstable();
        assert!(keys.into_iter().eq(0..reads as u64));
    }

    #[test]
    fn a_refusal_is_told_from_a_lack_of_memory() {
        let error = |number| refused(io::Error::from_raw_os_error(number));
        for number in [libc::EPERM, libc::EACCES, libc::ENOSYS] {
            assert!(error(number).is_unsupported());
        }
        assert!(!error(libc::ENOMEM).is_unsupported());
    }

    #[test]
    fn a_ring_that_is_dropped_leaves_what_is_in_flight() {
        let Ok(mut ring) = Ring::new() else { return };
        let (ours, mut theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        ring.read(ours.as_fd(), 1, vec![0; 64], 0).unwrap();
        let mut none = Vec::new();
        ring.wait(Duration::ZERO, &mut none).unwrap();
        drop(ring);
        // The room is still there, whether it is written to or not.
        theirs.write_all(&[1; 64]).unwrap();
        assert!(none.is_empty());
    }
}
