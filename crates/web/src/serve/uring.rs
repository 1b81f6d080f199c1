//! One thread with io_uring: the kernel reads and writes, and one system call per turn hands in what is to be
//! done next and takes what is done.

use super::answer::Answer;
use super::event_loop::State;
use super::request::{Inbox, Next};
use super::{LINGER, LINGER_BYTES, LOOK, RETRY, Server};
use socket2::SockRef;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{Error, ErrorKind, Result};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::time::Instant;
use sys::uring::{Done, Ring};

/// Bytes that are thrown away at a time.
const WASTE_BYTES: usize = 4096;

/// A connection. The kernel works for it at one thing at most, so it is closed only when that is done.
#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    inbox: Inbox,
    state: State,
    /// When something last came of its peer, or was written to it.
    active: Instant,
}

struct Loop<'a> {
    server: &'a Server,
    ring: Ring,
    listener: TcpListener,
    /// When the kernel is asked for connections again after it had nothing left to accept with.
    accept_at: Option<Instant>,
    connections: Vec<Option<Connection>>,
    /// Places in `connections` that are free.
    free: Vec<usize>,
    /// When which connection's wait is over. It cannot end before.
    timers: BinaryHeap<Reverse<(Instant, usize)>>,
    /// When it is next looked for connections that are silent for too long.
    visit_at: Instant,
    /// The time of this turn.
    now: Instant,
}

/// Serves until the process is asked to end.
pub(super) fn run(listener: TcpListener, server: &Server) -> Result<()> {
    let now = Instant::now();
    let mut this = Loop {
        server,
        ring: Ring::new().map_err(refused)?,
        listener,
        accept_at: Some(now),
        connections: Vec::new(),
        free: Vec::new(),
        timers: BinaryHeap::new(),
        visit_at: now + LOOK,
        now,
    };
    let mut done = Vec::new();
    let ended = loop {
        if server.is_over() {
            break Ok(());
        }
        if let Err(error) = this.turn(&mut done) {
            break Err(error);
        }
    };
    // The kernel gives up the socket itself some time after the end of the process.
    SockRef::from(&this.listener).shutdown(Shutdown::Both).and(ended)
}

/// Tells a system without io_uring from other failures.
fn refused(error: sys::Error) -> Error {
    let kind = if error.is_unsupported() { ErrorKind::Unsupported } else { ErrorKind::Other };
    Error::new(kind, error)
}

impl Loop<'_> {
    /// Waits until something is done, and deals with all that is.
    fn turn(&mut self, done: &mut Vec<Done>) -> Result<()> {
        if self.accept_at.is_some_and(|at| at <= self.now) {
            self.ring.accept(self.listener.as_fd()).map_err(Error::other)?;
            self.accept_at = None;
        }
        let timer = self.timers.peek().map(|Reverse((at, _))| *at);
        let next = [timer, self.accept_at].into_iter().flatten().fold(self.visit_at, Instant::min);
        let time = next.saturating_duration_since(Instant::now());
        self.ring.wait(time, done).map_err(Error::other)?;
        self.now = Instant::now();
        for done in done.drain(..) {
            match done {
                Done::Accepted(Ok(socket), goes_on) => {
                    if !goes_on {
                        self.accept_at = Some(self.now);
                    }
                    self.admit(socket.into());
                }
                // Before Linux 5.19.
                Done::Accepted(Err(error), _) if error.kind() == ErrorKind::InvalidInput => {
                    return Err(Error::new(ErrorKind::Unsupported, error));
                }
                // Nothing is left to accept with.
                Done::Accepted(Err(_), _) => self.accept_at = Some(self.now + RETRY),
                Done::Read(place, room, read) => self.has_read(place as usize, room, read),
                Done::Written(place, written) => self.has_written(place as usize, written),
            }
        }
        self.answer_those_whose_wait_is_over();
        if self.visit_at <= self.now {
            self.visit();
        }
        Ok(())
    }

    fn admit(&mut self, stream: TcpStream) {
        let (inbox, state, active) = (Inbox::default(), State::Reading, self.now);
        let connection = Some(Connection { stream, inbox, state, active });
        let place = self.free.pop().unwrap_or(self.connections.len());
        match self.connections.get_mut(place) {
            Some(free) => *free = connection,
            None => self.connections.push(connection),
        }
        self.go_on(place);
    }

    /// Has the kernel, or a timer, do what a connection needs next.
    fn go_on(&mut self, place: usize) {
        let Some(Some(connection)) = self.connections.get_mut(place) else { return };
        let (ring, key) = (&mut self.ring, place as u64);
        if matches!(connection.state, State::Reading) {
            connection.state = match connection.inbox.next() {
                Next::More => State::Reading,
                Next::Garbage => State::Writing(Answer::to_garbage()),
                Next::Request(request) => {
                    let answer = Answer::to(request, self.server.plan.keep_alive);
                    let wait = self.server.begin();
                    if wait.is_zero() {
                        State::Writing(answer)
                    } else {
                        // Not from the beginning of the turn: others may have computed meanwhile.
                        self.timers.push(Reverse((Instant::now() + wait, place)));
                        State::Serving(answer)
                    }
                }
            };
        }
        let socket = connection.stream.as_fd();
        let queued = match connection.state {
            State::Serving(_) => Ok(()),
            State::Writing(answer) => ring.write(socket, key, answer.bytes),
            State::Lingering(..) => ring.read(socket, key, vec![0; WASTE_BYTES], 0),
            State::Reading => {
                let (room, from) = connection.inbox.lend();
                ring.read(socket, key, room, from)
            }
        };
        if queued.is_err() {
            self.end(place);
        }
    }

    fn has_read(&mut self, place: usize, room: Vec<u8>, read: Result<usize>) {
        let Some(Some(connection)) = self.connections.get_mut(place) else { return };
        let bytes = read.unwrap_or(0);
        match &mut connection.state {
            State::Reading if bytes > 0 => {
                connection.inbox.take_back(room);
                connection.inbox.read(bytes);
                connection.active = self.now;
            }
            State::Lingering(_, seen) if bytes > 0 && *seen < LINGER_BYTES => *seen += bytes,
            _ => return self.end(place),
        }
        self.go_on(place);
    }

    fn has_written(&mut self, place: usize, written: Result<usize>) {
        let Some(Some(connection)) = self.connections.get_mut(place) else { return };
        let State::Writing(answer) = connection.state else { return };
        let left = match written {
            Ok(bytes) if bytes > 0 => answer.bytes.get(bytes..).unwrap_or_default(),
            _ => return self.end(place),
        };
        connection.active = self.now;
        connection.state = if !left.is_empty() {
            State::Writing(Answer { bytes: left, ..answer })
        } else if !answer.is_last {
            State::Reading
        } else if connection.inbox.is_empty()
            || connection.stream.shutdown(Shutdown::Write).is_err()
        {
            return self.end(place);
        } else {
            State::Lingering(self.now, 0)
        };
        self.go_on(place);
    }

    fn end(&mut self, place: usize) {
        self.connections[place] = None;
        self.free.push(place);
    }

    fn answer_those_whose_wait_is_over(&mut self) {
        while let Some(Reverse((at, place))) = self.timers.peek().copied() {
            if at > self.now {
                return;
            }
            self.timers.pop();
            if let Some(Some(connection)) = self.connections.get_mut(place)
                && let State::Serving(answer) = connection.state
            {
                connection.state = State::Writing(answer);
                connection.active = self.now;
                self.go_on(place);
            }
        }
    }

    /// Leaves those that are silent for too long: what the kernel does for them then fails, and they end.
    fn visit(&mut self) {
        self.visit_at = self.now + LOOK.min(self.server.silence);
        for connection in self.connections.iter().flatten() {
            let is_lost = match connection.state {
                State::Serving(_) => false,
                State::Lingering(since, _) => self.now - since >= LINGER,
                _ => self.now - connection.active >= self.server.silence,
            };
            if is_lost {
                // It fails for one whose peer is gone already, which ends by itself.
                let _ = connection.stream.shutdown(Shutdown::Both);
            }
        }
    }
}
