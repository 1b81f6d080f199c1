//! From bytes to requests: the one parser of all models.

use httparse::{EMPTY_HEADER, Header, Status};

/// The longest head of a request, in bytes: so much of a connection is held at most.
pub(super) const HEAD_BYTES_MAX: usize = 64 << 10;

/// What a connection's room begins with, in bytes: more than the head of a usual request.
const ROOM_BYTES: usize = 4 << 10;

/// The most header lines of a request.
const HEADERS_MAX: usize = 64;

/// The longest body of a request, in bytes. It is read and thrown away.
pub(super) const BODY_BYTES_MAX: u64 = 64 << 20;

/// Whether a connection goes on after a request, as its sender wants it (RFC 9112, 9.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Persistence {
    /// It ends.
    Ends,
    /// It goes on, which in HTTP/1.1 need not be said.
    Usual,
    /// It goes on, which the answer to an HTTP/1.0 peer must name.
    Named,
}

/// A request, as far as anybody here needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// Whether only the head of the answer is wanted.
    pub(super) head_only: bool,
    /// Whether the connection goes on.
    pub(super) persistence: Persistence,
}

/// What the beginning of some bytes is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parsed {
    /// A request, the number of bytes of its head, and that of its body.
    Head(Request, usize, u64),
    /// The beginning of one.
    Partial,
    /// None.
    Garbage,
}

/// Reads the head of a request from the beginning of `bytes`.
///
/// Garbage is whatever is no HTTP/1.0 or 1.1 head, has more than 64 header lines, does not say where
/// it ends in one way (RFC 9112, 6.3: a chunked body is not taken either), or names no host or
/// several in HTTP/1.1 (RFC 9112, 3.2).
pub(super) fn parse(bytes: &[u8]) -> Parsed {
    let mut headers = [EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(Status::Complete(head_bytes)) => judge(&request, head_bytes).unwrap_or(Parsed::Garbage),
        Ok(Status::Partial) => Parsed::Partial,
        Err(_) => Parsed::Garbage,
    }
}

/// What a whole head means; `None` where that is unclear.
fn judge(head: &httparse::Request<'_, '_>, head_bytes: usize) -> Option<Parsed> {
    let is_newer = head.version? == 1;
    let named = |name: &'static str| {
        head.headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name))
    };
    if named("transfer-encoding").next().is_some() || is_newer && named("host").count() != 1 {
        return None;
    }
    let mut lengths = named("content-length");
    let body_bytes = lengths.next().map_or(Some(0), length)?;
    if lengths.next().is_some() || body_bytes > BODY_BYTES_MAX {
        return None;
    }
    let says = |token: &str| named("connection").any(|header| lists(header, token));
    let persistence = match (is_newer, says("close"), says("keep-alive")) {
        (_, true, _) | (false, _, false) => Persistence::Ends,
        (true, false, _) => Persistence::Usual,
        (false, false, true) => Persistence::Named,
    };
    let request = Request { head_only: head.method? == "HEAD", persistence };
    Some(Parsed::Head(request, head_bytes, body_bytes))
}

/// A length in decimal digits and nothing else: a sign or a list is none.
fn length(header: &Header<'_>) -> Option<u64> {
    let text = std::str::from_utf8(header.value).ok()?.trim_matches([' ', '\t']);
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

/// Whether a header's list has a token.
fn lists(header: &Header<'_>, token: &str) -> bool {
    let is_it = |item: &[u8]| item.trim_ascii().eq_ignore_ascii_case(token.as_bytes());
    header.value.split(|byte| *byte == b',').any(is_it)
}

/// What comes next of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A whole request, with its body.
    Request(Request),
    /// Nothing before more is read.
    More,
    /// Nothing any more: what came is no request.
    Garbage,
}

/// What was read of a connection and is not answered yet: [`HEAD_BYTES_MAX`] at most.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    room: Vec<u8>,
    /// Where the bytes begin that nobody has taken.
    taken: usize,
    /// Where they end.
    filled: usize,
    /// Whether there may be more to see than at the last look: a head ends in a newline, so that a
    /// peer that sends byte after byte is not parsed anew with each.
    unseen: bool,
    /// A request whose body is not all there, and how much of it is missing.
    waiting: Option<(Request, u64)>,
}

impl Inbox {
    /// Where to read to. Never empty after [`Inbox::next`] has asked for more.
    pub(super) fn room(&mut self) -> &mut [u8] {
        if self.taken == self.filled {
            (self.taken, self.filled) = (0, 0);
        }
        if self.filled == self.room.len() {
            self.room.copy_within(self.taken..self.filled, 0);
            (self.taken, self.filled) = (0, self.filled - self.taken);
        }
        if self.filled == self.room.len() {
            self.room.resize((2 * self.room.len()).clamp(ROOM_BYTES, HEAD_BYTES_MAX), 0);
        }
        &mut self.room[self.filled..]
    }

    /// Gives the room away, to be read to from a place on: for a reader that keeps it meanwhile.
    pub(super) fn lend(&mut self) -> (Vec<u8>, usize) {
        self.room();
        (std::mem::take(&mut self.room), self.filled)
    }

    /// Takes the room back.
    pub(super) fn take_back(&mut self, room: Vec<u8>) {
        self.room = room;
    }

    /// Notes that `bytes` of the room were read.
    pub(super) fn read(&mut self, bytes: usize) {
        let begin = self.filled;
        self.filled = (begin + bytes).min(self.room.len());
        self.unseen |= begin == self.taken || self.room[begin..self.filled].contains(&b'\n');
    }

    /// What comes next.
    pub(super) fn next(&mut self) -> Next {
        if let Some((request, missing)) = self.waiting.take() {
            return self.with_body(request, missing);
        }
        if std::mem::take(&mut self.unseen) {
            match parse(&self.room[self.taken..self.filled]) {
                Parsed::Head(request, head_bytes, body_bytes) => {
                    self.taken += head_bytes;
                    self.unseen = true;
                    return self.with_body(request, body_bytes);
                }
                Parsed::Partial => {}
                Parsed::Garbage => return Next::Garbage,
            }
        }
        if self.filled - self.taken >= HEAD_BYTES_MAX { Next::Garbage } else { Next::More }
    }

    /// Throws away what is there of a request's body.
    fn with_body(&mut self, request: Request, missing: u64) -> Next {
        let there = (self.filled - self.taken) as u64;
        self.taken += missing.min(there) as usize;
        if missing > there {
            self.waiting = Some((request, missing - there));
            return Next::More;
        }
        Next::Request(request)
    }

    /// Whether nothing was read that nobody has taken.
    pub(super) fn is_empty(&self) -> bool {
        self.taken == self.filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const USUAL: Request = Request { head_only: false, persistence: Persistence::Usual };

    fn of(text: &str) -> Parsed {
        parse(text.as_bytes())
    }

    #[test]
    fn a_connection_goes_on_as_the_versions_say() {
        let persistence = |version: &str, lines: &str| match of(&format!(
            "GET / HTTP/{version}\r\nHost: x\r\n{lines}\r\n"
        )) {
            Parsed::Head(request, _, 0) => request.persistence,
            other => panic!("{other:?}"),
        };
        assert_eq!(persistence("1.1", ""), Persistence::Usual);
        assert_eq!(persistence("1.1", "connection: x, CLOSE\r\n"), Persistence::Ends);
        assert_eq!(persistence("1.1", "Connection: keep-alive\r\n"), Persistence::Usual);
        assert_eq!(persistence("1.0", ""), Persistence::Ends);
        assert_eq!(persistence("1.0", "Connection: Keep-Alive\r\n"), Persistence::Named);
        assert_eq!(persistence("1.0", "Connection: keep-alive, close\r\n"), Persistence::Ends);
    }

    #[test]
    fn what_is_unclear_is_garbage() {
        for text in [
            "GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
            "GET /\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "\0\0\0\0",
        ] {
            assert_eq!(of(text), Parsed::Garbage, "{text:?}");
        }
        let many = "X: y\r\n".repeat(HEADERS_MAX);
        assert_eq!(of(&format!("GET / HTTP/1.1\r\nHost: x\r\n{many}\r\n")), Parsed::Garbage);
        assert_eq!(of("GET / HTTP/1.1\r\nHost: x\r\n"), Parsed::Partial);
        assert_eq!(of(""), Parsed::Partial);
    }

    /// What an inbox says of bytes that come in pieces.
    fn all_of(bytes: &[u8], pieces: &[usize]) -> Vec<Next> {
        let (mut inbox, mut said, mut rest) = (Inbox::default(), Vec::new(), bytes);
        let mut pieces = pieces.iter().cycle();
        loop {
            match inbox.next() {
                Next::More if rest.is_empty() => return said,
                Next::More => {
                    let room = inbox.room();
                    assert!(!room.is_empty());
                    let piece = (*pieces.next().unwrap()).min(rest.len()).min(room.len());
                    room[..piece].copy_from_slice(&rest[..piece]);
                    inbox.read(piece);
                    rest = &rest[piece..];
                    assert!(inbox.room.len() <= HEAD_BYTES_MAX);
                }
                Next::Garbage => {
                    said.push(Next::Garbage);
                    return said;
                }
                request => said.push(request),
            }
        }
    }

    #[test]
    fn a_head_beyond_the_bound_is_garbage_whatever_its_pieces() {
        let begun = format!("GET / HTTP/1.1\r\nHost: x\r\nX: {}", "y".repeat(HEAD_BYTES_MAX));
        for pieces in [[1000], [usize::MAX]] {
            assert_eq!(all_of(begun.as_bytes(), &pieces), [Next::Garbage]);
        }
        let fits = format!("GET / HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "y".repeat(60_000));
        assert_eq!(all_of(fits.as_bytes(), &[999]), [Next::Request(USUAL)]);
    }

    proptest! {
        #[test]
        fn requests_are_the_same_whatever_their_pieces(
            kinds in proptest::collection::vec(0..3_usize, 1..8),
            pieces in proptest::collection::vec(1..300_usize, 1..8),
        ) {
            let texts = [
                "GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_string(),
                "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n".to_string(),
                format!("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n{}", "\r\n\r".repeat(3000)),
            ];
            let bytes: String = kinds.iter().map(|kind| texts[*kind].as_str()).collect();
            let expected: Vec<Next> = kinds
                .iter()
                .map(|kind| Next::Request(Request { head_only: *kind == 1, ..USUAL }))
                .collect();
            prop_assert_eq!(all_of(bytes.as_bytes(), &pieces), expected);
        }

        #[test]
        fn nothing_makes_the_parser_panic(bytes in proptest::collection::vec(any::<u8>(), 0..500)) {
            let _ = all_of(&bytes, &[7, 100]);
        }
    }
}
