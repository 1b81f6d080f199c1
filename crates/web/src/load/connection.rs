//! One connection of the generator: connecting, writing a request, reading its answer.

use super::Times;
use super::answer::{Answer, Known, Progress};
use super::request::{Detour, Request};
use super::tally::{Tally, record};
use super::transport::{Route, Stream, Taken, is_pending, reason};
use hdrhistogram::Histogram;
use mio::{Registry, Token};
use model::{LateEnds, LoadError};
use std::io::{self, ErrorKind};
use sys::clock::now_ns;

/// How often one connection is read before others have their turn.
const READS_MAX: u32 = 16;

/// What a connection is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// It is not open, and has nothing to do.
    #[default]
    Vacant,
    /// It is being opened before there is a request for it.
    Opening,
    /// It is being opened for a request.
    Connecting,
    /// A request is being written, or its answer read.
    Asking,
    /// It is open and has nothing to do.
    Idle,
    /// It failed, and is not opened again before a while has passed.
    Resting,
}

/// What became of a connection.
#[derive(Debug)]
pub(super) enum Step {
    /// Nothing yet.
    Waiting,
    /// More can be read at once, after others have had their turn.
    Unread,
    /// The answer is whole.
    Done {
        /// Its status.
        status: u16,
        /// Whether the connection may be asked again.
        reusable: bool,
    },
    /// It is open, and has no request yet.
    Open,
    /// The request has failed.
    Failed(LoadError, io::Error),
    /// The server had closed the kept connection before any byte of an answer, or has not looked at the
    /// request: it may be sent again on a new one.
    Stale(LoadError, io::Error),
    /// It was idle, and the server has closed it or said something unasked.
    Gone,
}

/// What all connections of a thread share.
pub(super) struct Wire<'a> {
    /// The requests.
    pub(super) requests: &'a [Request],
    /// Whether a request may be sent again where the server may have carried it out.
    pub(super) repeats: bool,
    /// Whether answers have no body whatever they say.
    pub(super) bodiless: bool,
    /// The head of the last answer.
    pub(super) known: Known,
    /// Where answers are read to.
    pub(super) buffer: Box<[u8]>,
    /// Where they are read to before they are decrypted.
    pub(super) cipher: Box<[u8]>,
    /// Bytes read.
    pub(super) read_bytes: u64,
    /// Bytes written.
    pub(super) written_bytes: u64,
    /// Answers that ended late, and those whose first part was acknowledged at once.
    pub(super) late_ends: u64,
    pub(super) hurried: u64,
}

/// After this number of answers that ended late, the first part of some is acknowledged at once.
const LATE_ENDS: u64 = 20;
const HURRIED_MAX: u64 = 10;

impl Wire<'_> {
    fn hurries(&self) -> bool {
        self.late_ends >= LATE_ENDS && self.hurried < HURRIED_MAX
    }
}

/// What is known of a connection from an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ready {
    /// There is something to read, an end or an error included.
    pub(super) readable: bool,
    /// An end or an error will come, so that a short reading is not the last.
    pub(super) ending: bool,
}

/// Which of the histograms of a time.
type Place = fn(&mut Times) -> &mut Histogram<u64>;

/// A connection, or the place of one, which at first is vacant.
#[derive(Debug, Default)]
pub(super) struct Connection {
    stream: Option<Stream>,
    pub(super) phase: Phase,
    /// The number of its request.
    pub(super) request: u32,
    /// What is sent in its place since a redirect.
    pub(super) detour: Option<Box<Detour>>,
    /// Bytes of the request that are written.
    written: usize,
    pub(super) answer: Answer,
    /// When its request came due.
    pub(super) due_ns: u64,
    /// When its request was sent, or connecting for it began.
    pub(super) sent_ns: u64,
    /// When a part of its answer had come and the rest had not; 0 if it has come in one piece.
    begun_ns: u64,
    /// Whether that part was acknowledged at once.
    is_hurried: bool,
    /// How much earlier it could have been sent, in ns.
    pub(super) own_late_ns: u64,
    /// Whether it, or one that was in its place before, has had a request to send.
    pub(super) was_asked: bool,
    /// Answers, on this connection and on those that were in its place before.
    pub(super) answers: u64,
    /// Whether this one has had an answer.
    pub(super) proven: bool,
    /// Whether its request is a part of the load, and does not warm it up.
    pub(super) is_counted: bool,
    /// Whether its request is sent for the second time.
    pub(super) retried: bool,
    /// How often it has failed without an answer, in a row.
    pub(super) failures: u32,
    /// Whether it is listed as having more to read.
    pub(super) is_listed: bool,
}

impl Connection {
    /// Returns the place of one, which follows redirects or does not.
    pub(super) fn new(follows: bool) -> Self {
        let mut connection = Self::default();
        connection.answer.follows = follows;
        connection
    }

    /// Whether it has a socket of its own.
    pub(super) fn is_open(&self) -> bool {
        self.stream.is_some()
    }

    /// Whether it has a request that is neither answered nor given up.
    pub(super) fn is_busy(&self) -> bool {
        matches!(self.phase, Phase::Connecting | Phase::Asking)
    }

    /// Records the times of its request, which ended or was given up at `now_ns`, as known or as
    /// given up.
    pub(super) fn record(&self, now_ns: u64, tally: &mut Tally, place: Place) {
        let response_ns = now_ns.saturating_sub(self.due_ns);
        if self.sent_ns == self.due_ns {
            record(place(&mut tally.prompt), response_ns);
            return;
        }
        record(place(&mut tally.response), response_ns);
        record(place(&mut tally.service), now_ns.saturating_sub(self.sent_ns));
        record(place(&mut tally.punctual), response_ns.saturating_sub(self.own_late_ns));
    }

    /// Counts whether its answer, which is whole, ended as late after its beginning as a delayed
    /// acknowledgement comes. It is delayed by 40 ms (`TCP_DELACK_MIN`), and timers have steps of up to 10 ms.
    pub(super) fn count_late_end(&self, now_ns: u64, wire: &mut Wire<'_>, ends: &mut LateEnds) {
        if self.begun_ns == 0 {
            return;
        }
        let is_late = (38_000_000..=50_000_000).contains(&now_ns.saturating_sub(self.begun_ns));
        if self.is_hurried {
            ends.hurried += 1;
            ends.hurried_late += u64::from(is_late);
        } else {
            ends.count += u64::from(is_late);
            wire.late_ends += u64::from(is_late);
        }
    }

    /// Opens it before there is a request.
    pub(super) fn open(&mut self, registry: &Registry, token: Token, route: &Route) -> Step {
        self.phase = Phase::Opening;
        self.proven = false;
        match route.open(registry, token) {
            Ok(stream) => {
                self.stream = Some(stream);
                Step::Waiting
            }
            Err(error) => Step::Failed(reason(&error), error),
        }
    }

    /// Sends a request, on the open connection or on a new one.
    pub(super) fn ask(
        &mut self,
        registry: &Registry,
        token: Token,
        route: &Route,
        wire: &mut Wire<'_>,
    ) -> Step {
        self.answer.reset();
        (self.begun_ns, self.is_hurried) = (0, false);
        self.written = 0;
        self.was_asked = true;
        if self.stream.is_some() {
            self.phase = Phase::Asking;
            return self.advance(Ready { readable: false, ending: false }, wire);
        }
        let step = self.open(registry, token, route);
        self.phase = Phase::Connecting;
        step
    }

    /// Goes on after an event.
    pub(super) fn advance(&mut self, ready: Ready, wire: &mut Wire<'_>) -> Step {
        if self.phase == Phase::Opening {
            return self.go_on_opening();
        }
        let mut broken = None;
        if self.is_busy()
            && let Err(error) = self.write(wire)
        {
            if self.phase == Phase::Connecting {
                return Step::Failed(reason(&error), error);
            }
            // The server may have answered before it closed.
            broken = Some(error);
        }
        let ready = if broken.is_some() { Ready { readable: true, ending: true } } else { ready };
        let open = matches!(self.phase, Phase::Asking | Phase::Idle);
        let step = if ready.readable && open { self.read(ready, wire) } else { Step::Waiting };
        let step = match (step, broken) {
            (Step::Waiting, Some(error)) => Step::Failed(reason(&error), error),
            (step, _) => step,
        };
        match step {
            Step::Failed(error @ (LoadError::Closed | LoadError::Reset), cause)
                if self.is_stale(wire) =>
            {
                Step::Stale(error, cause)
            }
            step => step,
        }
    }

    /// Whether the server closed a kept connection before it answered, so that the request may be sent
    /// again (RFC 9112, 9.3.1).
    fn is_stale(&self, wire: &Wire<'_>) -> bool {
        wire.repeats && self.proven && !self.retried && self.answer.is_untouched()
    }

    fn go_on_opening(&mut self) -> Step {
        match self.stream.as_mut().map(Stream::connect) {
            Some(Ok(true)) => {
                self.phase = Phase::Idle;
                Step::Open
            }
            Some(Ok(false)) | None => Step::Waiting,
            Some(Err(error)) => Step::Failed(reason(&error), error),
        }
    }

    /// Writes what the socket takes of the request.
    fn write(&mut self, wire: &mut Wire<'_>) -> io::Result<()> {
        let request = match &self.detour {
            None => &wire.requests[self.request as usize].bytes,
            Some(detour) => &detour.request.bytes,
        };
        let Some(stream) = &mut self.stream else { return Ok(()) };
        if self.written == request.len() {
            return stream.flush();
        }
        while self.written < request.len() {
            match stream.write(&request[self.written..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => {
                    self.written += count;
                    wire.written_bytes += count as u64;
                    // What takes bytes is connected.
                    self.phase = Phase::Asking;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_pending(&error) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads what has come.
    fn read(&mut self, ready: Ready, wire: &mut Wire<'_>) -> Step {
        let Some(stream) = &mut self.stream else { return Step::Waiting };
        for _ in 0..READS_MAX {
            let Taken { count, drained } = match stream.read(&mut wire.buffer, &mut wire.cipher) {
                Ok(taken) => taken,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Waiting,
                Err(_) if self.phase == Phase::Idle => return Step::Gone,
                Err(error) => return Step::Failed(reason(&error), error),
            };
            if self.phase == Phase::Idle {
                return Step::Gone;
            }
            wire.read_bytes += count as u64;
            let progress = match count {
                0 => self.answer.end(),
                _ => self.answer.feed(&wire.buffer[..count], wire.bodiless, &mut wire.known),
            };
            match progress {
                Progress::Done { status, reusable } => {
                    // What was answered before it was asked in full is not asked again.
                    let whole = self.written == self.request_bytes(wire);
                    return Step::Done { status, reusable: reusable && whole };
                }
                Progress::Garbage => {
                    let complaint = self.answer.complaint(&wire.buffer[..count]);
                    return Step::Failed(LoadError::Garbage, io::Error::other(complaint));
                }
                Progress::More if count == 0 => {
                    return Step::Failed(LoadError::Closed, ErrorKind::UnexpectedEof.into());
                }
                Progress::More if drained && !ready.ending => {
                    if self.begun_ns == 0 {
                        self.begun_ns = now_ns();
                        self.is_hurried = wire.hurries() && stream.acknowledge();
                        wire.hurried += u64::from(self.is_hurried);
                    }
                    return Step::Waiting;
                }
                Progress::More => {}
            }
        }
        Step::Unread
    }

    /// How long its request is, in bytes.
    fn request_bytes(&self, wire: &Wire<'_>) -> usize {
        match &self.detour {
            None => wire.requests[self.request as usize].bytes.len(),
            Some(detour) => detour.request.bytes.len(),
        }
    }

    /// Closes it. Its place is vacant.
    pub(super) fn close(&mut self) {
        // The kernel forgets the descriptor's events with it.
        self.stream = None;
        self.phase = Phase::Vacant;
    }

    /// It has nothing to do any more. It is open if it has a stream of its own, or if the connection
    /// that it is a part of is open.
    pub(super) fn free(&mut self, shared_is_open: bool) {
        let open = self.stream.is_some() || shared_is_open;
        self.phase = if open { Phase::Idle } else { Phase::Vacant };
    }
}
