//! Models that are made of processes. They fork, and so run in processes of one thread only.

use super::blocking::{self, converse};
use super::{RETRY, Server};
use std::collections::HashSet;
use std::net::TcpListener;
use std::time::{Duration, Instant};
use sys::Pid;

/// How long children may take to end before they are killed.
const FAREWELL: Duration = Duration::from_secs(2);

/// How often the maker of a pool of processes looks after them.
const VISIT: Duration = Duration::from_millis(100);

/// Refuses to fork where that is dangerous: a child has one thread of its parent's, and waits for
/// ever for a lock that another of them held.
pub(super) fn must_be_alone() -> std::io::Result<()> {
    let threads = sys::proc::status(sys::process::pid()).map_err(std::io::Error::other)?.threads;
    if threads == 1 {
        return Ok(());
    }
    let what = format!("a server that forks needs a process of one thread; this has {threads}");
    Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, what))
}

/// The children of this process: those that live, as far as is known. They end with it.
#[derive(Debug, Default)]
struct Children {
    living: HashSet<Pid>,
}

impl Children {
    /// Forks a child that does something and ends.
    fn fork(&mut self, work: impl FnOnce()) -> sys::Result<()> {
        let pid = sys::task::fork_run(|| {
            work();
            0
        })?;
        self.living.insert(pid);
        Ok(())
    }

    /// Takes leave of those that have ended, with one system call where there is none.
    fn reap(&mut self) {
        while !self.living.is_empty() {
            match sys::task::try_wait_any() {
                Ok(Some((pid, _))) => self.living.remove(&pid),
                Ok(None) | Err(_) => return,
            };
        }
    }

    fn tell(&self, signal: i32) {
        for pid in &self.living {
            // Who has ended meanwhile needs no telling; nobody has taken its number before it is
            // reaped.
            let _ = sys::process::kill(*pid, signal);
        }
    }
}

impl Drop for Children {
    /// Ends all of them: a process that does not listen is killed.
    fn drop(&mut self) {
        self.tell(sys::signal::SIGTERM);
        let begun = Instant::now();
        self.reap();
        while !self.living.is_empty() && begun.elapsed() < FAREWELL {
            std::thread::sleep(Duration::from_millis(1));
            self.reap();
        }
        self.tell(sys::signal::SIGKILL);
        for pid in self.living.drain() {
            let _ = sys::task::wait(pid);
        }
    }
}

/// A process for each connection: with keep-alive it serves all requests of that, else one. A
/// connection for which none can be made is closed.
pub(super) fn fork_per_request(listener: &TcpListener, server: &Server) {
    let mut children = Children::default();
    blocking::each(listener, server, |stream| {
        if stream.is_some_and(|stream| children.fork(|| converse(&stream, server)).is_err()) {
            // As where a connection cannot be accepted: others may end meanwhile.
            std::thread::sleep(RETRY);
        }
        children.reap();
    });
}

/// Makes that number of processes, which each take one connection after the other, and replaces one
/// that dies.
pub(super) fn pre_fork(
    listener: &TcpListener,
    processes: u32,
    server: &Server,
) -> std::io::Result<()> {
    let worker = || {
        // A wake-up of its own, which a signal to it does not share with its maker.
        let begun = sys::interrupt::forget().and_then(|()| sys::interrupt::install());
        if begun.is_ok() {
            blocking::single(listener, server);
        }
    };
    let mut children = Children::default();
    while children.living.len() < processes as usize {
        children.fork(worker).map_err(std::io::Error::other)?;
    }
    while !server.is_over() {
        server.sleep(VISIT)?;
        children.reap();
        while children.living.len() < processes as usize && !server.is_over() {
            if children.fork(worker).is_err() {
                break;
            }
        }
    }
    Ok(())
}
