//! One connection of HTTP/2, and the requests that it carries at once.

use super::frame;
use crate::load::connection::{Ready, Wire};
use crate::load::request::Request;
use crate::load::transport::{Route, Stream, Taken, is_pending, reason};
use mio::{Registry, Token};
use model::LoadError;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{self, ErrorKind};

/// How often one connection is read before others have their turn.
const READS_MAX: u32 = 16;

/// Bodies wait while more than this is to be written, in bytes.
const BACKLOG_BYTES: usize = 256 << 10;

/// What else is to be written (answers to pings and settings, cancellations) is at most this, in bytes.
const OUT_BYTES_MAX: usize = 16 << 20;

/// The greatest number of a stream, and the largest window.
pub(super) const NUMBER_MAX: u32 = 0x7fff_ffff;

/// What a server did to one request, by its place on the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::load) enum Heard {
    /// The answer is whole.
    Done { slot: u16, status: u16 },
    /// The server reset its stream.
    Reset { slot: u16, code: u32 },
    /// The server has not looked at it, and says so.
    Refused { slot: u16 },
    /// The answer has another length than it says.
    Malformed { slot: u16 },
}

/// Why a connection is no longer one.
pub(in crate::load) type Lost = (LoadError, io::Error);

/// Hashes the number of a stream, which are consecutive.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbers(u64);

impl Hasher for Numbers {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |sum, byte| sum << 8 | u64::from(*byte));
    }

    fn write_u32(&mut self, number: u32) {
        // Fibonacci hashing: the table uses both the low and the high bits.
        self.0 = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// One request under way, or the place of one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    pub(super) number: u32,
    pub(super) request: u32,
    /// 0 before the answer's head.
    pub(super) status: u16,
    /// Bytes of the body that were put into frames.
    pub(super) framed: usize,
    /// Bytes that the server takes on this stream.
    pub(super) window: i64,
    /// Bytes that came since the last WINDOW_UPDATE.
    pub(super) received: u32,
    /// The length of the answer's content as it says, and what came of it.
    pub(super) length: Option<u64>,
    pub(super) body: u64,
    pub(super) waits: bool,
}

/// A body's frame that is being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    pub(super) stream: u32,
    pub(super) left: usize,
    pub(super) ends: bool,
}

/// A header block that is being read.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) stream: u32,
    pub(super) ends: bool,
    pub(super) bytes: Vec<u8>,
}

/// What there is of a connection from its opening to its end.
#[derive(Debug)]
pub(super) struct State {
    pub(super) connected: bool,
    /// Whether the server has sent its settings, which come first.
    pub(super) up: bool,
    /// Whether it takes no further requests.
    pub(super) leaving: bool,
    /// What the server said of that.
    pub(super) farewell: Option<String>,
    pub(super) out: Vec<u8>,
    pub(super) written: usize,
    /// A frame that has come in part.
    pub(super) kept: Vec<u8>,
    pub(super) data: Option<Data>,
    pub(super) block: Option<Block>,
    /// Places by the numbers of their streams.
    pub(super) numbers: HashMap<u32, u16, BuildHasherDefault<Numbers>>,
    /// Places whose bodies are not sent in full.
    pub(super) sending: VecDeque<u16>,
    pub(super) next: u32,
    pub(super) window: i64,
    pub(super) initial: i64,
    pub(super) frame_bytes: usize,
    pub(super) streams_max: u32,
    pub(super) received: u32,
}

impl State {
    fn new() -> Self {
        let mut out = Vec::with_capacity(4096);
        frame::preface(&mut out);
        Self {
            connected: false,
            up: false,
            leaving: false,
            farewell: None,
            out,
            written: 0,
            kept: Vec::new(),
            data: None,
            block: None,
            numbers: HashMap::default(),
            sending: VecDeque::new(),
            next: 1,
            window: frame::WINDOW_DEFAULT.into(),
            initial: frame::WINDOW_DEFAULT.into(),
            frame_bytes: frame::BYTES_MAX,
            streams_max: u32::MAX,
            received: 0,
        }
    }
}

/// A connection, or the place of one.
#[derive(Debug)]
pub(in crate::load) struct Session {
    stream: Option<Stream>,
    pub(super) state: State,
    pub(super) slots: Box<[Slot]>,
    /// Whether answers have no content whatever their heads say.
    pub(super) bodiless: bool,
    /// Places whose requests wait for a free stream.
    waiting: VecDeque<u16>,
    /// When it was opened, in ns of the monotonic clock.
    pub(in crate::load) opened_ns: u64,
    /// Whether it is listed as having something to write, and as having more to read.
    pub(in crate::load) is_touched: bool,
    pub(in crate::load) is_listed: bool,
}

impl Session {
    /// Makes the place of one that carries `streams` requests at once.
    pub(in crate::load) fn new(streams: u32, bodiless: bool) -> Self {
        Self {
            stream: None,
            state: State::new(),
            slots: vec![Slot::default(); streams as usize].into_boxed_slice(),
            bodiless,
            waiting: VecDeque::new(),
            opened_ns: 0,
            is_touched: false,
            is_listed: false,
        }
    }

    /// Whether it is open, or being opened.
    pub(in crate::load) fn is_open(&self) -> bool {
        self.stream.is_some()
    }

    /// Whether the server has said its first word.
    pub(in crate::load) fn is_up(&self) -> bool {
        self.state.up
    }

    /// Whether it takes no further requests and has none.
    pub(in crate::load) fn is_spent(&self) -> bool {
        self.state.leaving && self.state.numbers.is_empty()
    }

    /// Returns why the server refuses requests.
    pub(in crate::load) fn refusal(&self) -> io::Error {
        io::Error::other(self.state.farewell.as_deref().unwrap_or("REFUSED_STREAM"))
    }

    pub(in crate::load) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Opens it. What waits for a stream is sent at once: a client need not wait for the server's
    /// settings.
    pub(in crate::load) fn open(
        &mut self,
        (registry, token): (&Registry, Token),
        route: &Route,
        requests: &[Request],
        now_ns: u64,
    ) -> Result<(), Lost> {
        self.state = State::new();
        self.opened_ns = now_ns;
        self.stream = Some(route.open(registry, token).map_err(lost)?);
        self.start_waiting(requests);
        Ok(())
    }

    /// Takes a request. It is written by [`Self::flush`].
    pub(in crate::load) fn ask(&mut self, slot: u16, request: u32, requests: &[Request]) {
        self.slots[usize::from(slot)] = Slot { request, waits: true, ..Slot::default() };
        self.waiting.push_back(slot);
        self.start_waiting(requests);
    }

    pub(super) fn start_waiting(&mut self, requests: &[Request]) {
        while self.is_open() && self.has_room() {
            let Some(slot) = self.waiting.pop_front() else { return };
            self.start(slot, requests);
        }
    }

    fn has_room(&self) -> bool {
        let State { leaving, numbers, streams_max, .. } = &self.state;
        !leaving && numbers.len() < *streams_max as usize
    }

    fn start(&mut self, slot: u16, requests: &[Request]) {
        let State { next, numbers, out, initial, sending, leaving, .. } = &mut self.state;
        let one = &mut self.slots[usize::from(slot)];
        let request = &requests[one.request as usize];
        (one.number, one.window, one.waits) = (*next, *initial, false);
        numbers.insert(*next, slot);
        let at = out.len();
        out.extend_from_slice(&request.bytes[..request.head]);
        out[at + 5..at + 9].copy_from_slice(&next.to_be_bytes());
        // Numbers are not used again: a connection that has none left is followed by another.
        *leaving |= *next >= NUMBER_MAX - 1;
        *next += 2;
        if request.head < request.bytes.len() {
            sending.push_back(slot);
            self.pump(requests);
        }
    }

    /// Puts bodies into frames, as far as the server's windows let it.
    pub(super) fn pump(&mut self, requests: &[Request]) {
        let State { sending, out, written, window, frame_bytes, .. } = &mut self.state;
        for _ in 0..sending.len() {
            let Some(slot) = sending.pop_front() else { return };
            let one = &mut self.slots[usize::from(slot)];
            let request = &requests[one.request as usize];
            let body = &request.bytes[request.head..];
            while one.framed < body.len() && out.len() - *written < BACKLOG_BYTES {
                let room = one.window.min(*window).clamp(0, *frame_bytes as i64) as usize;
                let count = room.min(body.len() - one.framed);
                if count == 0 {
                    break;
                }
                let part = &body[one.framed..one.framed + count];
                one.framed += count;
                one.window -= count as i64;
                *window -= count as i64;
                let ends = if one.framed == body.len() { frame::END_STREAM } else { 0 };
                frame::head(out, count, frame::DATA, ends, one.number);
                out.extend_from_slice(part);
            }
            if one.framed < body.len() {
                sending.push_back(slot);
            }
        }
    }

    /// Goes on after an event; whether there is more to read. What became of requests is added to
    /// `heard`, also where the connection is lost.
    pub(in crate::load) fn advance(
        &mut self,
        ready: Ready,
        wire: &mut Wire<'_>,
        heard: &mut Vec<Heard>,
    ) -> Result<bool, Lost> {
        let Some(stream) = &mut self.stream else { return Ok(false) };
        if !self.state.connected {
            self.state.connected = stream.connect().map_err(lost)?;
            if !self.state.connected {
                return Ok(false);
            }
        }
        let broken = self.flush(wire).err();
        // The server may have said why before it closed.
        let ending = ready.ending || broken.is_some();
        if ready.readable || ending {
            for _ in 0..READS_MAX {
                let Some(stream) = &mut self.stream else { return Ok(false) };
                let Taken { count, drained } = match stream.read(&mut wire.buffer, &mut wire.cipher)
                {
                    Ok(taken) => taken,
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {
                        return broken.map_or(Ok(false), Err);
                    }
                    Err(error) => return Err(self.ended(error)),
                };
                if count == 0 {
                    return Err(self.ended(ErrorKind::UnexpectedEof.into()));
                }
                wire.read_bytes += count as u64;
                self.feed(&wire.buffer[..count], wire.requests, heard)
                    .map_err(|what| (LoadError::Garbage, io::Error::other(what)))?;
                // Where further answers are due, another look mostly finds some, for less than an event
                // for each; and the requests that follow them go out together.
                if drained && !ending && self.state.numbers.is_empty() {
                    return broken.map_or(Ok(false), Err);
                }
            }
            return broken.map_or(Ok(true), Err);
        }
        broken.map_or(Ok(false), Err)
    }

    /// Why it has ended: a server that says nothing before that is hardly one of HTTP/2.
    fn ended(&self, error: io::Error) -> Lost {
        let error_class = reason(&error);
        match &self.state.farewell {
            Some(_) => (error_class, io::Error::new(error.kind(), self.refusal())),
            None if self.state.up || error_class == LoadError::Tls => (error_class, error),
            None => (error_class, io::Error::new(error.kind(), NOT_HTTP2)),
        }
    }

    /// Writes what the socket takes.
    pub(in crate::load) fn flush(&mut self, wire: &mut Wire<'_>) -> Result<(), Lost> {
        loop {
            let Some(stream) = self.stream.as_mut().filter(|_| self.state.connected) else {
                return Ok(());
            };
            let State { out, written, .. } = &mut self.state;
            while *written < out.len() {
                match stream.write(&out[*written..]) {
                    Ok(0) => return Err(lost(ErrorKind::WriteZero.into())),
                    Ok(count) => {
                        *written += count;
                        wire.written_bytes += count as u64;
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) if is_pending(&error) && out.len() - *written > OUT_BYTES_MAX => {
                        return Err(lost(io::Error::other("the server reads no more")));
                    }
                    Err(error) if is_pending(&error) => return Ok(()),
                    Err(error) => return Err(lost(error)),
                }
            }
            out.clear();
            *written = 0;
            if self.state.sending.is_empty() {
                return stream.flush().map_err(lost);
            }
            self.pump(wire.requests);
            if self.state.out.is_empty() {
                return Ok(());
            }
        }
    }

    /// Gives up a request. Returns whether the server's windows kept its body from being sent.
    pub(in crate::load) fn cancel(&mut self, slot: u16, requests: &[Request]) -> bool {
        let one = &self.slots[usize::from(slot)];
        if one.waits {
            self.waiting.retain(|it| *it != slot);
            return false;
        }
        let number = one.number;
        let shut = one.window <= 0 || self.state.window <= 0;
        let stalled = shut && self.state.sending.contains(&slot);
        self.forget(number);
        frame::number(&mut self.state.out, frame::RST_STREAM, number, frame::CANCEL);
        self.start_waiting(requests);
        stalled
    }

    /// A stream is over.
    pub(super) fn forget(&mut self, number: u32) -> Option<u16> {
        let slot = self.state.numbers.remove(&number)?;
        if !self.state.sending.is_empty() {
            self.state.sending.retain(|it| *it != slot);
        }
        Some(slot)
    }

    /// Closes it. Returns the requests that it carried, in the order of their sending, each with whether
    /// nothing of its answer has come. Those that wait for a stream go on waiting.
    pub(in crate::load) fn close(&mut self) -> Vec<(u16, bool)> {
        let mut carried: Vec<(u32, u16)> = self.state.numbers.drain().collect();
        carried.sort_unstable();
        self.stream = None;
        self.state = State::new();
        let untouched = |slot: u16| self.slots[usize::from(slot)].status == 0;
        carried.into_iter().map(|(_, slot)| (slot, untouched(slot))).collect()
    }

    /// Takes back the requests that wait for a stream.
    pub(in crate::load) fn take_waiting(&mut self) -> VecDeque<u16> {
        std::mem::take(&mut self.waiting)
    }

    /// Lets a request that was carried wait for the next connection.
    pub(in crate::load) fn wait(&mut self, slot: u16) {
        let one = &mut self.slots[usize::from(slot)];
        *one = Slot { request: one.request, waits: true, ..Slot::default() };
        self.waiting.push_back(slot);
    }
}

pub(super) const NOT_HTTP2: &str =
    "the server does not speak HTTP/2: its first word is no SETTINGS frame";

fn lost(error: io::Error) -> Lost {
    (reason(&error), error)
}
