//! Answers as they come in, in whatever pieces: heads are read by httparse, bodies are counted and
//! thrown away (RFC 9112, 6 and 7).

use httparse::{Header, ParserConfig, Response, Status};
use std::mem::MaybeUninit;

/// The most bytes of an answer beside its body: heads, interim ones included, and what chunks have
/// around them that is no data.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// The most headers of one head.
const HEADERS_MAX: usize = 512;

/// The longest body or chunk that is believed: 1 TiB.
const BODY_BYTES_MAX: u64 = 1 << 40;

/// What a piece made of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// More is to come.
    More,
    /// The answer is whole.
    Done {
        /// Its status.
        status: u16,
        /// Whether the connection may be asked again.
        reusable: bool,
    },
    /// It is no HTTP/1.1 answer.
    Garbage,
}

/// Where in an answer we are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// In a head, of which the first bytes may be kept in [`Answer::head`].
    #[default]
    Head,
    /// The number of bytes of the body that are to come.
    Length(u64),
    /// The body ends with the connection.
    UntilClose,
    /// In the digits of a chunk's size.
    ChunkSize {
        /// What the digits say so far.
        bytes: u64,
        /// How many there were.
        digits: u32,
    },
    /// Behind the digits, up to the end of the line.
    ChunkLine {
        /// What the digits said.
        bytes: u64,
    },
    /// The number of bytes of a chunk that are to come.
    ChunkData(u64),
    /// In the line end after a chunk's data.
    ChunkEnd,
    /// In the lines after the last chunk.
    Trailer {
        /// Whether the line has had no byte yet but perhaps its carriage return.
        empty: bool,
    },
    /// The answer is whole.
    Done,
}

/// One answer.
#[derive(Debug, Default)]
pub(super) struct Answer {
    state: State,
    /// The first bytes of a head that came in pieces.
    head: Vec<u8>,
    /// Bytes so far that were no body.
    overhead_bytes: usize,
    status: u16,
    reusable: bool,
    /// What is wrong with it if it is garbage.
    pub(super) fault: &'static str,
    /// Whether the place that a redirect names is kept.
    pub(super) follows: bool,
    /// Where a redirect leads.
    pub(super) location: Option<String>,
}

/// The head that was read last, of all connections of a thread. A server's heads are mostly the same bytes for
/// a second, until their date changes, and need not be read anew.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The whole head; empty if there is none.
    head: Vec<u8>,
    status: u16,
    reusable: bool,
    /// Where in an answer we are behind it.
    state: State,
}

/// How much of a line is shown that is no part of an answer.
const LINE_BYTES_MAX: usize = 80;

/// What is wrong with an answer behind its head.
const CHUNK: &str = "a malformed chunk";

/// The longest head that is remembered.
const KNOWN_BYTES_MAX: usize = 4096;

/// Answers that send the client elsewhere (RFC 9110, 15.4).
const REDIRECTS: [u16; 5] = [301, 302, 303, 307, 308];

impl Answer {
    /// Whether nothing has come.
    pub(super) fn is_untouched(&self) -> bool {
        self.state == State::Head && self.overhead_bytes == 0
    }

    /// Gets ready for the next.
    pub(super) fn reset(&mut self) {
        self.state = State::Head;
        self.overhead_bytes = 0;
        self.head.clear();
        // What one server with long heads made of all connections is not kept.
        self.head.shrink_to(4096);
    }

    /// Returns what is wrong with it, and the line at which these bytes began, which made it garbage.
    pub(super) fn complaint(&self, bytes: &[u8]) -> String {
        let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = &line[..line.len().min(LINE_BYTES_MAX)];
        format!("{}: {}", self.fault, String::from_utf8_lossy(line).trim())
    }

    /// Takes the next bytes. `bodiless`: the answer to a `HEAD` has no body, whatever its head says. `known` is
    /// shared by answers for which that and whether redirects are followed are the same.
    pub(super) fn feed(&mut self, mut bytes: &[u8], bodiless: bool, known: &mut Known) -> Progress {
        if self.is_untouched() && !known.head.is_empty() && bytes.starts_with(&known.head) {
            (self.status, self.reusable, self.state) = (known.status, known.reusable, known.state);
            self.overhead_bytes = known.head.len();
            self.fault = CHUNK;
            bytes = &bytes[known.head.len()..];
        }
        while self.state != State::Done {
            if bytes.is_empty() {
                return Progress::More;
            }
            let taken = match self.state {
                State::Head => self.feed_head(bytes, bodiless, known),
                State::Length(left) => Some(self.feed_data(bytes, left, State::Length)),
                State::ChunkData(left) => Some(self.feed_data(bytes, left, State::ChunkData)),
                State::UntilClose => Some(bytes.len()),
                _ => self.feed_chunk_byte(bytes[0]),
            };
            match taken {
                Some(taken) => bytes = &bytes[taken..],
                None => return Progress::Garbage,
            }
        }
        // What comes behind the answer was not asked for: nobody knows what it answers.
        Progress::Done { status: self.status, reusable: self.reusable && bytes.is_empty() }
    }

    /// The connection has ended.
    pub(super) fn end(&mut self) -> Progress {
        if self.state == State::UntilClose {
            return Progress::Done { status: self.status, reusable: false };
        }
        Progress::More
    }

    /// Bytes of a body or chunk with `left` to come; returns how many were taken.
    fn feed_data(&mut self, bytes: &[u8], left: u64, state: fn(u64) -> State) -> usize {
        let taken = left.min(bytes.len() as u64);
        self.state = match (left - taken, self.state) {
            (0, State::ChunkData(_)) => State::ChunkEnd,
            (0, _) => State::Done,
            (left, _) => state(left),
        };
        taken as usize
    }

    /// Bytes of a head; returns how many were taken, `None` for garbage.
    fn feed_head(&mut self, bytes: &[u8], bodiless: bool, known: &mut Known) -> Option<usize> {
        if self.head.is_empty() {
            // Mostly the whole head is there, and needs no copy.
            return match self.parse(bytes, bodiless)? {
                Some(taken) => {
                    self.remember(&bytes[..taken], known);
                    Some(taken)
                }
                None => self.keep(bytes),
            };
        }
        let kept = self.head.len();
        self.keep(bytes)?;
        // A head ends with a line, so that a server that sends it byte by byte does not have it
        // parsed anew for each.
        if !bytes.contains(&b'\n') {
            return Some(bytes.len());
        }
        let head = std::mem::take(&mut self.head);
        // They have been counted when they were kept.
        self.overhead_bytes -= head.len();
        let parsed = self.parse(&head, bodiless);
        let taken = match parsed? {
            Some(taken) => taken.checked_sub(kept)?,
            None => {
                self.overhead_bytes += head.len();
                self.head = head;
                return Some(bytes.len());
            }
        };
        self.head = head;
        self.head.clear();
        Some(taken)
    }

    /// Remembers a head that was read, unless it leads elsewhere, or more is to come in front of the answer.
    fn remember(&self, head: &[u8], known: &mut Known) {
        known.head.clear();
        let is_whole = self.state != State::Head && self.overhead_bytes == head.len();
        if is_whole && self.location.is_none() && head.len() <= KNOWN_BYTES_MAX {
            known.head.extend_from_slice(head);
            (known.status, known.reusable, known.state) = (self.status, self.reusable, self.state);
        }
    }

    /// Keeps the first bytes of a head until the others come.
    fn keep(&mut self, bytes: &[u8]) -> Option<usize> {
        self.overhead_bytes += bytes.len();
        if self.overhead_bytes > HEAD_BYTES_MAX {
            self.fault = "a head of more than 64 KiB";
            return None;
        }
        self.head.extend_from_slice(bytes);
        Some(bytes.len())
    }

    /// Reads a head; how many bytes it had, `Some(None)` where it is not whole, `None` for garbage.
    fn parse(&mut self, bytes: &[u8], bodiless: bool) -> Option<Option<usize>> {
        self.fault = match bytes {
            [0, 0, _, 4, ..] => "HTTP/2 (--http2)",
            [0x15 | 0x16, 3, ..] => "TLS (https://)",
            _ => "no head of HTTP/1.1",
        };
        // The parser would wait for more of what can be no answer.
        if bytes[0] != b'H' {
            return None;
        }
        let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
        let mut response = Response::new(&mut []);
        let mut config = ParserConfig::default();
        // A user agent replaces folds by spaces (RFC 9112, 5.2).
        config.allow_obsolete_multiline_headers_in_responses(true);
        let parsed = config.parse_response_with_uninit_headers(&mut response, bytes, &mut headers);
        if parsed == Err(httparse::Error::TooManyHeaders) {
            self.fault = "more than 512 headers";
        }
        let Status::Complete(length) = parsed.ok()? else { return Some(None) };
        self.overhead_bytes += length;
        if self.overhead_bytes > HEAD_BYTES_MAX {
            return None;
        }
        let (status, minor) = (response.code?, response.version?);
        match status {
            // Nobody asked for another protocol.
            101 | 0..100 => return None,
            // The answer proper is to come.
            100..200 => return Some(Some(length)),
            _ => {}
        }
        self.fault = "two lengths, or one that is no number";
        let framing = Framing::read(response.headers, minor)?;
        self.fault = CHUNK;
        if self.follows && REDIRECTS.contains(&status) {
            let named = response.headers.iter().find(|it| it.name.eq_ignore_ascii_case("location"));
            let place = named.and_then(|it| str::from_utf8(it.value).ok());
            self.location = place.map(|place| place.trim().to_string());
        }
        self.status = status;
        self.reusable = framing.keep_alive;
        let bodiless = bodiless || status == 204 || status == 304;
        self.state = match (bodiless, framing.chunked, framing.length) {
            (true, ..) | (_, false, Some(0)) => State::Done,
            (_, true, _) => State::ChunkSize { bytes: 0, digits: 0 },
            (_, false, Some(length)) => State::Length(length),
            (_, false, None) => State::UntilClose,
        };
        Some(Some(length))
    }

    /// One byte of what chunks have around their data; returns 1, `None` for garbage.
    fn feed_chunk_byte(&mut self, byte: u8) -> Option<usize> {
        self.overhead_bytes += 1;
        if self.overhead_bytes > HEAD_BYTES_MAX {
            return None;
        }
        self.state = match (self.state, byte) {
            (State::ChunkSize { bytes, digits }, _) if byte.is_ascii_hexdigit() => {
                let digit = char::from(byte).to_digit(16)?;
                let bytes = bytes.checked_mul(16)?.checked_add(digit.into())?;
                if bytes > BODY_BYTES_MAX {
                    return None;
                }
                State::ChunkSize { bytes, digits: digits + 1 }
            }
            (State::ChunkSize { digits: 0, .. }, _) => return None,
            (State::ChunkSize { bytes, .. } | State::ChunkLine { bytes }, b'\n') => {
                if bytes == 0 {
                    State::Trailer { empty: true }
                } else {
                    State::ChunkData(bytes)
                }
            }
            (State::ChunkSize { bytes, .. }, b'\r' | b';' | b' ' | b'\t') => {
                State::ChunkLine { bytes }
            }
            (State::ChunkSize { .. }, _) => return None,
            (State::ChunkEnd, b'\r') => State::ChunkEnd,
            (State::ChunkEnd, b'\n') => {
                // Data came between, and a body has as many chunks as it likes.
                self.overhead_bytes = 0;
                State::ChunkSize { bytes: 0, digits: 0 }
            }
            (State::ChunkEnd, _) => return None,
            (State::Trailer { empty: true }, b'\n') => State::Done,
            (State::Trailer { .. }, b'\n') => State::Trailer { empty: true },
            (State::Trailer { empty }, _) => State::Trailer { empty: empty && byte == b'\r' },
            (state, _) => state,
        };
        Some(1)
    }
}

/// What a head says about the body and the connection (RFC 9112, 6.3 and 9.3).
struct Framing {
    chunked: bool,
    length: Option<u64>,
    keep_alive: bool,
}

impl Framing {
    /// `None` where the head contradicts itself.
    fn read(headers: &[Header<'_>], minor: u8) -> Option<Self> {
        let (mut encoded, mut chunked, mut length) = (false, false, None);
        let (mut close, mut keep_alive) = (false, minor == 1);
        for Header { name, value } in headers {
            if name.eq_ignore_ascii_case("content-length") {
                let found = content_length(value)?;
                if length.is_some_and(|length| length != found) {
                    return None;
                }
                length = Some(found);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                encoded = true;
                chunked =
                    tokens(value).last().is_some_and(|it| it.eq_ignore_ascii_case(b"chunked"));
            } else if name.eq_ignore_ascii_case("connection") {
                close |= tokens(value).any(|it| it.eq_ignore_ascii_case(b"close"));
                keep_alive |= tokens(value).any(|it| it.eq_ignore_ascii_case(b"keep-alive"));
            }
        }
        // An encoding outweighs a length; one that is not chunked ends with the connection.
        let length = if encoded { None } else { length };
        Some(Self { chunked, length, keep_alive: keep_alive && !close })
    }
}

/// The words of a list.
fn tokens(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

/// A length in decimal; several that agree count as one (RFC 9112, 6.3).
fn content_length(value: &[u8]) -> Option<u64> {
    let mut found = None;
    for token in tokens(value) {
        if token.is_empty() || !token.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let length: u64 = std::str::from_utf8(token).ok()?.parse().ok()?;
        if length > BODY_BYTES_MAX || found.is_some_and(|found| found != length) {
            return None;
        }
        found = Some(length);
    }
    found
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
