//! HPACK (RFC 7541) without a dynamic table.

use super::frame;
use crate::load::{Error, Target};
use std::borrow::Cow;

/// The code of a string in which an integer goes on, the flag of a Huffman code, and the names of the
/// static table that a request needs (RFC 7541, appendix A).
const HUFFMAN: u8 = 0x80;
const AUTHORITY: u8 = 1;
const METHOD: u8 = 2;
const PATH: u8 = 4;
const SCHEME_HTTP: u8 = 6;
const SCHEME_HTTPS: u8 = 7;

/// The entries of the static table, and those of them that are `:status`, with the values.
const STATIC_ENTRIES: u64 = 61;
const FIRST_STATUS: u64 = 8;
const STATUSES: [u16; 7] = [200, 204, 206, 304, 400, 404, 500];

/// The entries of the static table that name a length, and a coding that HTTP/2 has not.
const CONTENT_LENGTH: u64 = 28;
const TRANSFER_ENCODING: u64 = 57;

/// Encodes a request: a whole `HEADERS` frame, of which the stream is to be filled in, and the body. Returns the
/// bytes, and where the body begins.
///
/// # Errors
/// Headers that are longer than a frame.
pub(in crate::load) fn request(
    method: &str,
    target: &Target,
    headers: &[(&str, Cow<'_, str>)],
    body: &[u8],
) -> Result<(Box<[u8]>, usize), Error> {
    let mut block = Vec::new();
    literal(&mut block, METHOD, method);
    block.push(0x80 | if target.is_secure() { SCHEME_HTTPS } else { SCHEME_HTTP });
    literal(&mut block, PATH, target.path());
    let (hosts, others): (Vec<_>, Vec<_>) =
        headers.iter().partition(|(name, _)| name.eq_ignore_ascii_case("host"));
    for (_, host) in hosts.iter().take(1) {
        literal(&mut block, AUTHORITY, host);
    }
    for (name, value) in others {
        literal(&mut block, 0, &name.to_ascii_lowercase());
        string(&mut block, value);
    }
    if block.len() > frame::BYTES_MAX {
        let text = format!("headers of {} bytes: {} can be sent", block.len(), frame::BYTES_MAX);
        return Err(Error::Plan(text));
    }
    let ends = if body.is_empty() { frame::END_STREAM } else { 0 };
    let mut bytes = Vec::with_capacity(frame::HEAD_BYTES + block.len() + body.len());
    frame::head(&mut bytes, block.len(), frame::HEADERS, frame::END_HEADERS | ends, 0);
    bytes.extend_from_slice(&block);
    let head = bytes.len();
    bytes.extend_from_slice(body);
    Ok((bytes.into_boxed_slice(), head))
}

/// A literal that no table keeps: its name by number and its value, or for 0 its name, which the value
/// is to follow.
fn literal(block: &mut Vec<u8>, name: u8, text: &str) {
    block.push(name);
    string(block, text);
}

fn string(block: &mut Vec<u8>, text: &str) {
    match u8::try_from(text.len()) {
        Ok(length @ ..127) => block.push(length),
        _ => {
            block.push(127);
            let mut rest = text.len() - 127;
            while rest >= 128 {
                block.push(0x80 | (rest % 128) as u8);
                rest /= 128;
            }
            block.push(rest as u8);
        }
    }
    block.extend_from_slice(text.as_bytes());
}

/// What the head of an answer says; trailers have the status 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) status: u16,
    pub(super) length: Option<u64>,
}

/// What is wrong with a block, a status and a length.
const NO_BLOCK: &str = "a header block cannot be decoded";
pub(super) const NO_STATUS: &str = "an answer has a status that HTTP/2 has not";
pub(super) const STATUS_ONCE: &str =
    "an answer has other pseudo-header fields than one :status at its beginning";
const LENGTH_ONCE: &str = "a content-length is no number, or states another one";

/// Reads a header block.
///
/// # Errors
/// A block that is none, one that needs a table that was not allowed, and fields that HTTP/2 forbids
/// (RFC 9113, 8.2 and 8.3).
pub(super) fn fields(mut block: &[u8]) -> Result<Fields, &'static str> {
    let (mut found, mut is_first) = (Fields::default(), true);
    while let Some(first) = block.first().copied() {
        let (prefix, indexed) = match first {
            0x80.. => (7, true),
            0x40..0x80 => (6, false),
            0x20..0x40 => {
                // The server may say that its table has no room, and nothing else.
                if integer(&mut block, 5) != Some(0) {
                    return Err(NO_BLOCK);
                }
                continue;
            }
            _ => (4, false),
        };
        let index = integer(&mut block, prefix).ok_or(NO_BLOCK)?;
        if index > STATIC_ENTRIES || (indexed && index == 0) {
            return Err(NO_BLOCK);
        }
        let known = index.checked_sub(FIRST_STATUS).and_then(|at| STATUSES.get(at as usize));
        let name = match index {
            0 => text(&mut block).ok_or(NO_BLOCK)?,
            CONTENT_LENGTH => b"content-length".into(),
            _ if known.is_some() => b":status".into(),
            1..FIRST_STATUS => b":path".into(),
            TRANSFER_ENCODING => b"transfer-encoding".into(),
            _ => b"x".into(),
        };
        let value = match (indexed, known) {
            (true, Some(status)) => status.to_string().into_bytes().into(),
            (true, None) => Cow::default(),
            (false, _) => coded(&mut block).ok_or(NO_BLOCK)?.value().ok_or(NO_BLOCK)?,
        };
        let is_pseudo = name.first() == Some(&b':');
        if is_pseudo && (found.status != 0 || !is_first) {
            return Err(STATUS_ONCE);
        }
        is_first &= is_pseudo;
        check(&name, &value)?;
        if is_pseudo {
            let status = digits(&value).filter(|number| (100..1000).contains(number));
            found.status = status.ok_or(NO_STATUS)? as u16;
        } else if *name == *b"content-length" && !indexed {
            let number = digits(&value).ok_or(LENGTH_ONCE)?;
            if found.length.replace(number).is_some_and(|before| before != number) {
                return Err(LENGTH_ONCE);
            }
        }
    }
    Ok(found)
}

/// Refuses a field that HTTP/2 forbids.
fn check(name: &[u8], value: &[u8]) -> Result<(), &'static str> {
    let is_of_name = |byte: &u8| byte.is_ascii_graphic() && !byte.is_ascii_uppercase();
    let rest = name.strip_prefix(b":").unwrap_or(name);
    match name {
        _ if rest.is_empty() || rest.contains(&b':') || !rest.iter().all(is_of_name) => {
            Err("a header field has no name in small letters and signs")
        }
        b":status" => Ok(()),
        [b':', ..] => Err(STATUS_ONCE),
        b"connection" | b"proxy-connection" | b"keep-alive" | b"transfer-encoding" | b"upgrade" => {
            Err("a header field belongs to HTTP/1 (connection, transfer-encoding, …)")
        }
        _ if value.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n')) => {
            Err("a header field has a line break or NUL in its value")
        }
        _ => Ok(()),
    }
}

/// A string as it is coded.
struct Coded<'a> {
    is_huffman: bool,
    bytes: &'a [u8],
}

impl<'a> Coded<'a> {
    /// Returns a value that may be of a field which is not read: what is coded with a rare letter is no digit.
    fn value(self) -> Option<Cow<'a, [u8]>> {
        match self.is_huffman {
            true => Some(huffman(self.bytes).unwrap_or_default().into()),
            false => Some(self.bytes.into()),
        }
    }
}

fn coded<'a>(block: &mut &'a [u8]) -> Option<Coded<'a>> {
    let is_huffman = block.first()? & HUFFMAN != 0;
    let length = usize::try_from(integer(block, 7)?).ok()?;
    let (bytes, rest) = block.split_at_checked(length)?;
    *block = rest;
    Some(Coded { is_huffman, bytes })
}

/// A name.
fn text<'a>(block: &mut &'a [u8]) -> Option<Cow<'a, [u8]>> {
    let Coded { is_huffman, bytes } = coded(block)?;
    if is_huffman { huffman(bytes).map(Cow::from) } else { Some(bytes.into()) }
}

/// The letters of which a code has at most 15 bits, in the order of their codes, and how many have 5 to 15 bits
/// (RFC 7541, appendix B).
const LETTERS: &[u8] =
    b"012aceiost %-./3456789=A_bdfghlmnpru:BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz&*,;XZ!\"()?'+|#>\0$@[]~^}<`{";
const OF_LENGTH: [u32; 11] = [10, 26, 32, 6, 0, 5, 3, 2, 6, 2, 3];
const BITS_LEAST: u32 = 5;

/// Decodes a string; `None` of one with other letters, or that is not filled up with ones.
fn huffman(bytes: &[u8]) -> Option<Vec<u8>> {
    let (mut all, mut code, mut length) = (Vec::with_capacity(2 * bytes.len()), 0_u32, 0_u32);
    // The first code of a length, and which letter has it.
    let (mut first, mut letter) = (0, 0);
    for bit in bytes.iter().flat_map(|byte| (0..8).rev().map(move |at| u32::from(byte >> at & 1))) {
        (code, length) = (code << 1 | bit, length + 1);
        first <<= 1;
        let Some(place) = length.checked_sub(BITS_LEAST) else { continue };
        let count = *OF_LENGTH.get(place as usize)?;
        if code - first < count {
            all.push(LETTERS[(letter + code - first) as usize]);
            (code, length, first, letter) = (0, 0, 0, 0);
        } else {
            (first, letter) = (first + count, letter + count);
        }
    }
    (length < 8 && code + 1 == 1 << length).then_some(all)
}

fn digits(text: &[u8]) -> Option<u64> {
    let is_number = text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| is_number)?.parse().ok()
}

/// An integer whose first byte has `prefix` bits for it (RFC 7541, 5.1).
fn integer(block: &mut &[u8], prefix: u32) -> Option<u64> {
    let (first, mut rest) = block.split_first()?;
    let most = (1_u64 << prefix) - 1;
    let mut value = u64::from(*first) & most;
    let mut shift = 0;
    while value >= most {
        let (byte, after) = rest.split_first()?;
        rest = after;
        // A block has at most 64 KiB: what needs more bits is no length in it.
        if shift > 28 {
            return None;
        }
        value += u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    *block = rest;
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_status_is_read_however_it_is_coded() {
        for (block, expected) in [
            (&[0x88][..], Some(200)),
            (&[0x20, 0x89], Some(204)),
            (&[0x8e], Some(500)),
            // Literals by name 8 and 14, in the three forms, plain and by Huffman (RFC 7541, C.6.1).
            (&[0x48, 0x82, 0x64, 0x02], Some(302)),
            (&[0x08, 0x03, b'4', b'1', b'8'], Some(418)),
            (&[0x1e, 0x03, b'5', b'0', b'3'], Some(503)),
            (&[0x48, 0x83, 0x64, 0x0e, 0xff], Some(307)),
            (b"\x00\x07:status\x03201", Some(201)),
            (&[0x00, 0x85, 0xb8, 0x84, 0x8d, 0x36, 0xa3, 0x03, b'2', b'0', b'2'], Some(202)),
            // Another header before and after, of which nothing is decoded.
            (b"\x88\x0f\x0d\x02\x31\x30\x00\x01a\x81\xff", Some(200)),
            // Trailers.
            (b"\x00\x01a\x01b", Some(0)),
            (&[], Some(0)),
            // A table that was not allowed, and what is no block.
            (&[0x3f, 0xe1, 0x1f], None),
            (&[0xbe], None),
            (&[0x80], None),
            (&[0x48, 0x03, b'2', b'0'], None),
            (&[0x48, 0x03, b'2', b'x', b'0'], None),
            (&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], None),
        ] {
            assert_eq!(fields(block).map(|read| read.status).ok(), expected, "{block:02x?}");
        }
    }

    /// The examples of RFC 7541, C.4 and C.6.
    #[test]
    fn huffman_codes_are_those_of_the_standard() {
        for (code, text) in [
            (
                &[0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff][..],
                "www.example.com",
            ),
            (&[0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf], "no-cache"),
            (&[0x25, 0xa8, 0x49, 0xe9, 0x5b, 0xa9, 0x7d, 0x7f], "custom-key"),
            (&[0xae, 0xc3, 0x77, 0x1a, 0x4b], "private"),
            (&[0x64, 0x0e, 0xff], "307"),
        ] {
            assert_eq!(huffman(code).as_deref(), Some(text.as_bytes()));
        }
        assert_eq!((huffman(&[0x00]), huffman(&[0xff, 0xff])), (None, None), "padding");
    }

    #[test]
    fn fields_that_http2_forbids_are_named() {
        for (block, why) in [
            (&b"\x88\x00\x01A\x01b"[..], "small letters"),
            // "A" by Huffman.
            (b"\x88\x00\x81\x87\x01b", "small letters"),
            (b"\x88\x00\x02a:\x01b", "small letters"),
            (b"\x88\x00\x00\x01b", "small letters"),
            (b"\x88\x00\x02a \x01b", "small letters"),
            (b"\x88\x88", "than one :status"),
            (b"\x88\x00\x07:status\x03200", "than one :status"),
            (b"\x00\x01a\x01b\x88", "than one :status"),
            (b"\x84", "than one :status"),
            (b"\x00\x05:path\x01/", "than one :status"),
            (b"\x88\x00\x0aconnection\x05close", "belongs to HTTP/1"),
            (b"\x88\x0f\x2a\x07chunked", "belongs to HTTP/1"),
            (b"\x88\x00\x01a\x03b\x00c", "NUL"),
            (b"\x88\x00\x01a\x03b\r\n", "line break"),
            (b"\x08\x02\x39\x39", "HTTP/2 has not"),
            (b"\x88\x0f\x0d\x02-3", "no number"),
        ] {
            let found = fields(block);
            assert!(found.is_err_and(|found| found.contains(why)), "{block:02x?}: {found:?}");
        }
    }

    #[test]
    fn a_length_is_read_however_it_is_coded() {
        for (block, expected) in [
            (&b"\x88\x0f\x0d\x0210"[..], Some((200, Some(10)))),
            (b"\x88\x00\x0econtent-length\x041024", Some((200, Some(1024)))),
            // 1, 0, 3 by Huffman.
            (&[0x88, 0x0f, 0x0d, 0x82, 0x08, 0x19], Some((200, Some(103)))),
            (b"\x88\x0f\x0d\x013\x0f\x0d\x013", Some((200, Some(3)))),
            (b"\x88\x0f\x0d\x013\x0f\x0d\x015", None),
            (b"\x88\x0f\x0d\x02-3", None),
            (b"\x88\x0f\x0d\x00", None),
            (b"\x88\x0f\x0d\x1499999999999999999999", None),
        ] {
            let read = fields(block).map(|read| (read.status, read.length)).ok();
            assert_eq!(read, expected, "{block:02x?}");
        }
    }

    #[test]
    fn integers_are_those_of_the_standard() {
        // RFC 7541, C.1.
        for (bytes, prefix, value) in
            [(&[0x0a][..], 5, 10), (&[0x1f, 0x9a, 0x0a], 5, 1337), (&[0x2a], 8, 42)]
        {
            assert_eq!(integer(&mut { bytes }, prefix), Some(value));
        }
        let text = "x".repeat(1000);
        let mut block = Vec::new();
        string(&mut block, &text);
        let mut rest = &block[..];
        assert_eq!(super::text(&mut rest).as_deref(), Some(text.as_bytes()));
        assert!(rest.is_empty());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(block in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = fields(&block);
        }

        #[test]
        fn every_status_is_read_by_huffman(status in 100_u16..1000) {
            let (mut bits, mut length) = (0_u32, 0);
            for digit in status.to_string().bytes().map(|digit| u32::from(digit - b'0')) {
                let (code, size) = if digit < 3 { (digit, 5) } else { (22 + digit, 6) };
                (bits, length) = (bits << size | code, length + size);
            }
            let bytes = (length + 7) / 8;
            // Padded with ones.
            let padded = (bits << (8 * bytes - length)) | ((1 << (8 * bytes - length)) - 1);
            let text = padded.to_be_bytes()[4 - bytes as usize..].to_vec();
            prop_assert_eq!(huffman(&text), Some(status.to_string().into_bytes()));
        }
    }
}
