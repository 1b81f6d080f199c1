//! One thread with epoll: a request that waits for a timer or a peer costs no thread.

use super::answer::Answer;
use super::request::{Inbox, Next};
use super::slots::{Slots, Ticket};
use super::{LINGER, LINGER_BYTES, LOOK, RETRY, Server};
use mio::net::{TcpListener, TcpStream};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::{ErrorKind, Read, Result, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// Events that are taken from the kernel at a time.
const EVENTS: usize = 1024;

const LISTENER: Token = Token(usize::MAX);
const INTERRUPT: Token = Token(usize::MAX - 1);

/// What a connection waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// Bytes of its peer.
    Reading,
    /// A connection to the database or a timer, before this answer.
    Serving(Answer),
    /// Room to write the rest of an answer.
    Writing(Answer),
    /// Its peer's end, after the last answer: since when, and how many bytes were thrown away.
    Lingering(Instant, usize),
}

#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    inbox: Inbox,
    state: State,
    /// Tells it from an earlier one in the same place, for timers that come late.
    serial: u64,
    /// Whether a read may find something. The kernel says so once (edge-triggered).
    readable: bool,
    /// Whether the peer has ended its side: a read that is short has not seen that yet.
    peer_ended: bool,
    /// Whether it is also registered for writing.
    wants_to_write: bool,
    /// When something last came of its peer, or was written to it.
    active: Instant,
}

/// How far a connection came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// It waits.
    Waits,
    /// It waits for a timer of this time.
    Sleeps(Duration),
    /// It waits for a connection to the database, and then for a timer.
    Queues(Ticket),
    /// It is over.
    Ends,
}

pub(super) struct Loop<'a> {
    server: &'a Server,
    poll: Poll,
    listener: TcpListener,
    /// When the listener is asked again although the kernel said nothing: nothing was left to
    /// accept with.
    accept_at: Option<Instant>,
    connections: Vec<Option<Connection>>,
    /// Places in `connections` that are free.
    free: Vec<usize>,
    serial: u64,
    /// When which connection's wait is over.
    timers: BinaryHeap<Reverse<(Instant, u64, usize)>>,
    /// Which connections wait for the database, in the order of their coming.
    queue: VecDeque<(Ticket, u64, usize)>,
    /// When it is next looked for connections that are silent for too long.
    visit_at: Instant,
    /// The time of this turn.
    now: Instant,
}

/// Serves until the process is asked to end.
pub(super) fn run(listener: std::net::TcpListener, server: &Server) -> Result<()> {
    Loop::new(listener, server)?.serve()
}

impl<'a> Loop<'a> {
    /// Makes all that the loop needs.
    pub(super) fn new(listener: std::net::TcpListener, server: &'a Server) -> Result<Self> {
        listener.set_nonblocking(true)?;
        let mut listener = TcpListener::from_std(listener);
        let poll = Poll::new()?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        if let Some(descriptor) = sys::interrupt::descriptor() {
            let descriptor = descriptor.as_raw_fd();
            let mut source = SourceFd(&descriptor);
            poll.registry().register(&mut source, INTERRUPT, Interest::READABLE)?;
        }
        let now = Instant::now();
        Ok(Loop {
            server,
            poll,
            listener,
            accept_at: None,
            connections: Vec::new(),
            free: Vec::new(),
            serial: 0,
            timers: BinaryHeap::new(),
            queue: VecDeque::new(),
            visit_at: now + LOOK,
            now,
        })
    }

    /// Serves until the process is asked to end.
    pub(super) fn serve(mut self) -> Result<()> {
        let mut events = Events::with_capacity(EVENTS);
        while !self.server.is_over() {
            self.turn(&mut events)?;
        }
        Ok(())
    }

    /// Waits until something happens, and deals with all that has.
    fn turn(&mut self, events: &mut Events) -> Result<()> {
        let timer = self.timers.peek().map(|Reverse((at, _, _))| *at);
        let next = [timer, self.accept_at].into_iter().flatten().fold(self.visit_at, Instant::min);
        match self.poll.poll(events, Some(next.saturating_duration_since(Instant::now()))) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
            _ => self.now = Instant::now(),
        }
        for event in events.iter() {
            match event.token() {
                LISTENER => self.accept_all(),
                INTERRUPT => return Ok(()),
                Token(place) => {
                    if let Some(Some(connection)) = self.connections.get_mut(place) {
                        let ended = event.is_read_closed() || event.is_error();
                        connection.peer_ended |= ended;
                        connection.readable |= event.is_readable() || ended;
                        self.go_on(place);
                    }
                }
            }
        }
        if self.accept_at.is_some_and(|at| at <= self.now) {
            self.accept_all();
        }
        self.ring();
        if self.visit_at <= self.now {
            self.visit();
        }
        Ok(())
    }

    /// Takes all connections that wait, and then serves them. If each were served at once, others
    /// would come meanwhile and be served before those that were taken already: where requests
    /// compute, for ever.
    fn accept_all(&mut self) {
        let mut admitted = Vec::new();
        self.accept_at = loop {
            match self.listener.accept() {
                Ok((stream, _)) => admitted.extend(self.admit(stream)),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => break None,
                    ErrorKind::Interrupted | ErrorKind::ConnectionAborted => {}
                    // The kernel will not say again that some are waiting.
                    _ => break Some(self.now + RETRY),
                },
            }
        };
        for place in admitted {
            self.go_on(place);
        }
    }

    /// Gives a connection a place, unless the kernel refuses to watch it: then it is closed.
    fn admit(&mut self, mut stream: TcpStream) -> Option<usize> {
        let place = self.free.pop().unwrap_or(self.connections.len());
        if self.poll.registry().register(&mut stream, Token(place), Interest::READABLE).is_err() {
            if place < self.connections.len() {
                self.free.push(place);
            }
            return None;
        }
        self.serial += 1;
        let connection = Connection {
            stream,
            inbox: Inbox::default(),
            state: State::Reading,
            serial: self.serial,
            // Most peers have sent their request by now.
            readable: true,
            peer_ended: false,
            wants_to_write: false,
            active: self.now,
        };
        match self.connections.get_mut(place) {
            Some(free) => *free = Some(connection),
            None => self.connections.push(Some(connection)),
        }
        Some(place)
    }

    /// Lets a connection go as far as it comes.
    fn go_on(&mut self, place: usize) {
        let Some(Some(connection)) = self.connections.get_mut(place) else { return };
        match connection.go_on(self.server, self.now, &self.poll, Token(place)) {
            Progress::Waits => {}
            Progress::Sleeps(time) => {
                // Not from the beginning of the turn: others may have computed meanwhile.
                let at = Instant::now() + time;
                self.timers.push(Reverse((at, connection.serial, place)));
            }
            Progress::Queues(ticket) => self.queue.push_back((ticket, connection.serial, place)),
            Progress::Ends => {
                // Closing the socket takes it out of epoll's list.
                self.connections[place] = None;
                self.free.push(place);
            }
        }
    }

    /// Answers those whose wait is over.
    fn ring(&mut self) {
        while let Some(Reverse((at, serial, place))) = self.timers.peek().copied() {
            if at > self.now {
                return;
            }
            self.timers.pop();
            if let Some(slots) = &self.server.slots {
                slots.leave();
                self.take_turns(slots);
            }
            if let Some(Some(connection)) = self.connections.get_mut(place)
                && connection.serial == serial
                && let State::Serving(answer) = connection.state
            {
                connection.state = State::Writing(answer);
                connection.active = self.now;
                self.go_on(place);
            }
        }
    }

    /// Begins the time that a request holds a connection to the database, of those that have one now.
    fn take_turns(&mut self, slots: &Slots) {
        let time = self.server.plan.service.parts().0;
        while let Some((_, serial, place)) = self.queue.pop_front_if(|it| slots.has_turn(it.0)) {
            self.timers.push(Reverse((Instant::now() + time, serial, place)));
        }
    }

    /// Leaves those that are silent for too long.
    fn visit(&mut self) {
        self.visit_at = self.now + LOOK.min(self.server.silence);
        for (place, slot) in self.connections.iter_mut().enumerate() {
            let is_lost = slot.as_ref().is_some_and(|connection| match connection.state {
                State::Serving(_) => false,
                State::Lingering(since, _) => self.now - since >= LINGER,
                _ => self.now - connection.active >= self.server.silence,
            });
            if is_lost {
                *slot = None;
                self.free.push(place);
            }
        }
    }
}

impl Connection {
    fn go_on(&mut self, server: &Server, now: Instant, poll: &Poll, token: Token) -> Progress {
        loop {
            match self.state {
                State::Serving(_) => return Progress::Waits,
                State::Writing(answer) => match self.write(answer, now) {
                    Ok(true) if !answer.is_last => self.state = State::Reading,
                    Ok(true) if self.inbox.is_empty() => return Progress::Ends,
                    Ok(true) if self.stream.shutdown(Shutdown::Write).is_err() => {
                        return Progress::Ends;
                    }
                    Ok(true) => self.state = State::Lingering(now, 0),
                    Ok(false) => return self.wait_to_write(poll, token),
                    Err(_) => return Progress::Ends,
                },
                State::Lingering(since, seen) => match self.waste() {
                    Ok(None) => return Progress::Waits,
                    Ok(Some(bytes)) if bytes > 0 && seen < LINGER_BYTES => {
                        self.state = State::Lingering(since, seen + bytes);
                    }
                    _ => return Progress::Ends,
                },
                State::Reading => match self.inbox.next() {
                    Next::More => match self.read(now) {
                        Ok(Some(0)) | Err(_) => return Progress::Ends,
                        Ok(Some(_)) => {}
                        Ok(None) => return Progress::Waits,
                    },
                    Next::Garbage => self.state = State::Writing(Answer::to_garbage()),
                    Next::Request(request) => {
                        let answer = Answer::to(request, server.plan.keep_alive);
                        let wait = server.begin();
                        if let Some(slots) = &server.slots {
                            let Some(ticket) = slots.enter() else {
                                let answer = Answer::too_busy(request, server.plan.keep_alive);
                                self.state = State::Writing(answer);
                                continue;
                            };
                            self.state = State::Serving(answer);
                            let has_turn = slots.has_turn(ticket);
                            return if has_turn {
                                Progress::Sleeps(wait)
                            } else {
                                Progress::Queues(ticket)
                            };
                        }
                        if !wait.is_zero() {
                            self.state = State::Serving(answer);
                            return Progress::Sleeps(wait);
                        }
                        self.state = State::Writing(answer);
                    }
                },
            }
        }
    }

    /// Reads once: bytes (0: the peer has ended), or `None` where there are none now.
    fn read(&mut self, now: Instant) -> Result<Option<usize>> {
        let room = self.inbox.room();
        let size = room.len();
        let bytes = read_once(&mut self.stream, room, &mut self.readable)?;
        if let Some(bytes) = bytes {
            self.inbox.read(bytes);
            self.active = now;
            // A short read has emptied the socket, and the kernel will tell of what comes later.
            self.readable = self.peer_ended || bytes == size;
        }
        Ok(bytes)
    }

    /// Reads once, and throws it away.
    fn waste(&mut self) -> Result<Option<usize>> {
        read_once(&mut self.stream, &mut [0; 4096], &mut self.readable)
    }

    /// Whether all is written; what is not stays in the state.
    fn write(&mut self, answer: Answer, now: Instant) -> Result<bool> {
        let mut left = answer.bytes;
        while !left.is_empty() {
            match self.stream.write(left) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(bytes) => {
                    left = &left[bytes..];
                    self.active = now;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.state = State::Writing(Answer { bytes: left, ..answer });
                    return Ok(false);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Asks the kernel to tell when there is room again.
    fn wait_to_write(&mut self, poll: &Poll, token: Token) -> Progress {
        if self.wants_to_write {
            return Progress::Waits;
        }
        self.wants_to_write = true;
        let both = Interest::READABLE | Interest::WRITABLE;
        match poll.registry().reregister(&mut self.stream, token, both) {
            Ok(()) => Progress::Waits,
            Err(_) => Progress::Ends,
        }
    }
}

/// Reads if there may be something: `None` where there is nothing now.
fn read_once(
    stream: &mut TcpStream,
    room: &mut [u8],
    readable: &mut bool,
) -> Result<Option<usize>> {
    while *readable {
        match stream.read(room) {
            Ok(bytes) => return Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => *readable = false,
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
