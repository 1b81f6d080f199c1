//! `perf bench sched messaging --group 1`, as tools/perf/bench/sched-messaging.c of Linux has it
//! (hackbench by Rusty Russell).
//!
//! Twenty senders and twenty receivers, each receiver with a socket pair (or a pipe) of its own.
//! Each sender writes 100 bytes to each receiver in turn, so many times round; each receiver reads
//! until all are there. All say that they are ready and sleep in poll; the time begins before the
//! byte that wakes them is written and ends when all have been awaited: their ends are in it.

use super::definitions::{OPERATION_NS, keep_switches};
use kit::{Stop, Trial};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use sys::clock::now_ns;

/// How often a sender goes round its receivers. perf prints milliseconds, and the ends of its forty
/// processes, which are larger than ours, are in its time: the whole must be long against both.
pub(crate) const LOOPS: usize = 1500;

/// Senders, and receivers.
const SIDE: usize = 20;

const MESSAGE_BYTES: usize = 100;

/// In all.
pub(crate) const MESSAGES: u64 = (LOOPS * SIDE * SIDE) as u64;

/// perf gives its threads the least stack there is; Rust rounds this up where it must.
const STACK_BYTES: usize = 16 << 10;

/// How long a worker waits for the start.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Clone, Copy)]
enum Over {
    Sockets,
    Pipes,
}

pub(crate) fn processes(trial: &mut Trial<'_>) -> Result<(), Stop> {
    by_processes(trial, Over::Sockets)
}

pub(crate) fn pipes(trial: &mut Trial<'_>) -> Result<(), Stop> {
    by_processes(trial, Over::Pipes)
}

/// Two ends: what is read from the first was written into the second.
fn ends(over: Over) -> io::Result<(File, File)> {
    let (read, write): (OwnedFd, OwnedFd) = match over {
        Over::Sockets => {
            let (read, write) = UnixStream::pair()?;
            (read.into(), write.into())
        }
        Over::Pipes => {
            let (read, write) = io::pipe()?;
            (read.into(), write.into())
        }
    };
    Ok((File::from(read), File::from(write)))
}

/// The start: who is ready says so, and all wait for one byte that nobody reads.
struct Start {
    ready: (File, File),
    wake: (File, File),
}

impl Start {
    fn new(over: Over) -> io::Result<Self> {
        Ok(Start { ready: ends(over)?, wake: ends(over)? })
    }

    /// A worker is ready, and sleeps until all may go.
    fn wait(&self) -> io::Result<()> {
        (&self.ready.1).write_all(b"r")?;
        match sys::poll::readable(self.wake.0.as_fd(), PATIENCE) {
            Ok(true) => Ok(()),
            _ => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// Until all workers are ready.
    fn gather(&self) -> io::Result<()> {
        (&self.ready.0).read_exact(&mut [0; 2 * SIDE])
    }

    fn go(&self) -> io::Result<()> {
        (&self.wake.1).write_all(b"g")
    }
}

fn send(start: &Start, receivers: &[File]) -> io::Result<()> {
    let message = [0; MESSAGE_BYTES];
    start.wait()?;
    for _ in 0..LOOPS {
        for mut receiver in receivers {
            receiver.write_all(&message)?;
        }
    }
    Ok(())
}

fn receive(start: &Start, mut messages: &File) -> io::Result<()> {
    let mut message = [0; MESSAGE_BYTES];
    start.wait()?;
    for _ in 0..LOOPS * SIDE {
        messages.read_exact(&mut message)?;
    }
    Ok(())
}

fn by_processes(trial: &mut Trial<'_>, over: Over) -> Result<(), Stop> {
    let start = Start::new(over)?;
    let code = |done: io::Result<()>| i32::from(done.is_err());
    let mut into = Vec::with_capacity(SIDE);
    let mut workers = Vec::with_capacity(2 * SIDE);
    for _ in 0..SIDE {
        let (read, write) = ends(over)?;
        workers.push(sys::task::fork_run(|| code(receive(&start, &read)))?);
        // The senders inherit the ends into which they write, and no other.
        drop(read);
        into.push(write);
    }
    for _ in 0..SIDE {
        workers.push(sys::task::fork_run(|| code(send(&start, &into)))?);
    }
    drop(into);
    start.gather()?;
    trial.begin()?;
    let begun_ns = now_ns();
    start.go()?;
    for worker in workers {
        if sys::task::wait(worker)?.code != Some(0) {
            return Err(Stop::failed("a sender or receiver did not end well"));
        }
    }
    keep(trial, now_ns() - begun_ns)
}

pub(crate) fn threads(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let start = Arc::new(Start::new(Over::Sockets)?);
    let mut into = Vec::with_capacity(SIDE);
    let mut workers = Vec::with_capacity(2 * SIDE);
    for _ in 0..SIDE {
        let (read, write) = ends(Over::Sockets)?;
        let start = Arc::clone(&start);
        workers.push(spawn(move || receive(&start, &read))?);
        into.push(write);
    }
    let into = Arc::new(into);
    for _ in 0..SIDE {
        let (start, into) = (Arc::clone(&start), Arc::clone(&into));
        workers.push(spawn(move || send(&start, &into))?);
    }
    start.gather()?;
    trial.begin()?;
    let begun_ns = now_ns();
    start.go()?;
    for worker in workers {
        if !matches!(worker.join(), Ok(Ok(()))) {
            return Err(Stop::failed("a sender or receiver did not end well"));
        }
    }
    keep(trial, now_ns() - begun_ns)
}

fn spawn(
    work: impl FnOnce() -> io::Result<()> + Send + 'static,
) -> io::Result<JoinHandle<io::Result<()>>> {
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work)
}

fn keep(trial: &mut Trial<'_>, whole_ns: u64) -> Result<(), Stop> {
    trial.end()?;
    trial.record(OPERATION_NS, MESSAGES, vec![whole_ns as i64]);
    keep_switches(trial, MESSAGES);
    Ok(())
}
