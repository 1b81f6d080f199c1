use super::*;
use proptest::prelude::*;

/// What an answer comes to in pieces, and where the connection ends after it.
fn read(pieces: &[&[u8]], bodiless: bool) -> Progress {
    read_after(&mut Known::default(), pieces, bodiless)
}

/// The same behind other answers of a server.
fn read_after(known: &mut Known, pieces: &[&[u8]], bodiless: bool) -> Progress {
    let mut answer = Answer::default();
    for piece in pieces {
        match answer.feed(piece, bodiless, known) {
            Progress::More => {}
            done => return done,
        }
    }
    answer.end()
}

const fn done(status: u16, reusable: bool) -> Progress {
    Progress::Done { status, reusable }
}

/// Answers with what they come to when the connection ends behind them.
const ANSWERS: [(&str, Progress); 28] = [
    ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", done(200, true)),
    ("HTTP/1.1 200 OK\r\ncontent-length: 3, 3\r\nContent-Length: 3\r\n\r\nabc", done(200, true)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", done(200, true)),
    ("HTTP/1.1 503 Busy\r\nContent-Length: 1\r\nConnection: x, Close\r\n\r\na", done(503, false)),
    ("HTTP/1.1 204 None\r\nContent-Length: 3\r\n\r\n", done(204, true)),
    ("HTTP/1.1 304 Same\r\nContent-Length: 3\r\n\r\n", done(304, true)),
    ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", done(200, false)),
    ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: Keep-Alive\r\n\r\na", done(200, true)),
    ("HTTP/1.1 200 OK\r\n\r\nto the end", done(200, false)),
    ("HTTP/1.1 200 OK\nContent-Length: 1\n\na", done(200, true)),
    (
        "HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 103 Hints\r\nLink: a\r\n\r\nHTTP/1.1 201 \r\nContent-Length: 0\r\n\r\n",
        done(201, true),
    ),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
        done(200, true),
    ),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\nContent-Length: 9\r\n\r\n0\r\nTrailer: a\r\n\r\n",
        done(200, true),
    ),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nabc",
        done(200, false),
    ),
    // Folded (RFC 9112, 5.2).
    ("HTTP/1.1 200 OK\r\nX-A: a\r\n  b\r\nContent-Length: 2\r\n\r\nok", done(200, true)),
    // Cut short.
    ("", Progress::More),
    ("HTTP/1.1 200 OK\r\nContent-Le", Progress::More),
    ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", Progress::More),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", Progress::More),
    // No answers.
    ("SSH-2.0-OpenSSH_9.2\r\n", Progress::Garbage),
    ("HTTP/2 200\r\n\r\n", Progress::Garbage),
    ("HTTP/1.1 101 Switch\r\n\r\n", Progress::Garbage),
    ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", Progress::Garbage),
    ("HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabc", Progress::Garbage),
    ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nabc", Progress::Garbage),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", Progress::Garbage),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
        Progress::Garbage,
    ),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc", Progress::Garbage),
];

#[test]
fn what_is_no_answer_is_shown_with_its_first_line() {
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(HEADERS_MAX + 1));
    for (bytes, parts) in [
        (&b"SSH-2.0-OpenSSH_9.2\r\nmore"[..], ["no head", ": SSH-2.0-OpenSSH_9.2"]),
        (b"\0\0\x12\x04\0\0\0\0\0", ["HTTP/2", "--http2"]),
        (b"\x15\x03\x01\0\x02\x02F", ["TLS", "https://"]),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            ["two lengths", "200"],
        ),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", ["chunk", "200"]),
        (many.as_bytes(), ["512 headers", "200"]),
    ] {
        let mut answer = Answer::default();
        let found = answer.feed(bytes, false, &mut Known::default());
        let complaint = answer.complaint(bytes);
        assert_eq!(found, Progress::Garbage, "{complaint}");
        assert!(parts.iter().all(|part| complaint.contains(part)), "{complaint}");
    }
}

#[test]
fn answers_are_the_same_in_whatever_pieces_they_come() {
    for (text, expected) in ANSWERS {
        let bytes = text.as_bytes();
        for cut in 0..=bytes.len() {
            let (first, second) = bytes.split_at(cut);
            assert_eq!(read(&[first, second], false), expected, "{text:?} cut at {cut}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(read(&single, false), expected, "{text:?} byte by byte");
    }
}

/// A head that was read before is not read again, whatever came between and in whatever pieces.
#[test]
fn answers_are_the_same_behind_any_other() {
    for (first, _) in ANSWERS {
        let mut known = Known::default();
        for (text, expected) in ANSWERS.into_iter().chain(ANSWERS) {
            let (start, end) = text.as_bytes().split_at(text.len() / 2);
            read_after(&mut known, &[first.as_bytes()], false);
            for pieces in [&[text.as_bytes()][..], &[text.as_bytes()], &[start, end]] {
                assert_eq!(read_after(&mut known, pieces, false), expected, "{first:?} {text:?}");
            }
        }
    }
    let mut known = Known::default();
    read_after(&mut known, &[ANSWERS[0].0.as_bytes()], false);
    assert_eq!(known.state, State::Length(3));
    // A redirect that is followed is read each time, for where it leads.
    let moved = b"HTTP/1.1 302 Found\r\nLocation: /a\r\nContent-Length: 0\r\n\r\n";
    for _ in 0..2 {
        let mut answer = Answer { follows: true, ..Answer::default() };
        assert_eq!(answer.feed(moved, false, &mut known), done(302, true));
        assert_eq!(answer.location.as_deref(), Some("/a"));
    }
}

#[test]
fn an_answer_to_head_has_no_body() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\n";
    assert_eq!(read(&[head], true), done(200, true));
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(read(&[chunked], true), done(200, true));
}

#[test]
fn what_follows_an_answer_spoils_the_connection() {
    let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabHTTP/1.1 200 OK";
    assert_eq!(read(&[bytes], false), done(200, false));
}

#[test]
fn one_answer_after_the_other() {
    let (mut answer, mut known) = (Answer::default(), Known::default());
    for piece in [&b"HTTP/1.1 200 OK\r\nContent-"[..], b"Length: 1\r\n\r\n"] {
        assert_eq!(answer.feed(piece, false, &mut known), Progress::More);
    }
    assert_eq!(answer.feed(b"a", false, &mut known), done(200, true));
    answer.reset();
    let next = b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(answer.feed(next, false, &mut known), done(404, true));
}

/// Feeds `piece` again and again after `start`; how many bytes it took to be garbage.
fn endless(start: &[u8], piece: &[u8], limit: usize) -> Option<usize> {
    let (mut answer, mut known) = (Answer::default(), Known::default());
    assert_eq!(answer.feed(start, false, &mut known), Progress::More);
    let mut fed = 0;
    while fed < limit {
        assert!(answer.head.capacity() <= 4 * HEAD_BYTES_MAX);
        fed += piece.len();
        if answer.feed(piece, false, &mut known) == Progress::Garbage {
            return Some(fed);
        }
    }
    None
}

#[test]
fn nothing_but_a_body_is_endless() {
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let head = b"HTTP/1.1 200 OK\r\n";
    let limit = 4 * HEAD_BYTES_MAX;
    let name = [b'a'; 1000];
    assert!(endless(head, b"a: b\r\n", limit).is_some(), "headers");
    assert!(endless(head, &name, limit).is_some(), "one header");
    assert!(endless(b"H", b"H", limit).is_some(), "a status line");
    assert!(endless(b"HTTP/1.1 100 Go\r\n\r\n", b"HTTP/1.1 100 Go\r\n\r\n", limit).is_some());
    assert!(endless(chunked, b"0", limit).is_some(), "a size");
    assert!(endless(&[&chunked[..], b"1;"].concat(), b"x", limit).is_some(), "an extension");
    assert!(endless(&[&chunked[..], b"0\r\n"].concat(), b"a: b\r\n", limit).is_some(), "a trailer");
    assert!(endless(chunked, b"1\r\na\r\n", limit).is_none(), "chunks may go on");
    assert!(endless(b"HTTP/1.1 200 OK\r\n\r\n", &name, limit).is_none(), "so may a body");
}

proptest! {
    #[test]
    fn any_bytes_are_survived_and_pieces_do_not_matter(
        start in prop::sample::select(vec!["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"]),
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"HTTP/1. 20\r\n:;aF0".to_vec())], 0..200),
        at in any::<prop::sample::Index>(),
    ) {
        let whole = [start.as_bytes(), &bytes[..]].concat();
        let cut = at.index(whole.len() + 1);
        let one = read(&[&whole], false);
        let two = read(&[&whole[..cut], &whole[cut..]], false);
        // Garbage may be found later in pieces, and what follows an answer is not looked at.
        match (one, two) {
            (Progress::Garbage, Progress::More) | (Progress::More, Progress::Garbage) => {}
            (Progress::Done { status: a, .. }, Progress::Done { status: b, .. }) => prop_assert_eq!(a, b),
            (one, two) => prop_assert_eq!(one, two),
        }
    }
}
