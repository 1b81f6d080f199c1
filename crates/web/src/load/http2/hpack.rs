//! HPACK (RFC 7541) without a dynamic table. The only Huffman code that is read is that of a status.

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

/// The entry of the static table that names a length.
const CONTENT_LENGTH: u64 = 28;

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

/// Reads the status of a header block, and the length of the content if it is stated; `None` of a block that is
/// none, or that needs a table that was not allowed. A block of trailers has no status: 0.
pub(super) fn status(mut block: &[u8]) -> Option<(u16, Option<u64>)> {
    let (mut status, mut length) = (0, None);
    while let Some(first) = block.first().copied() {
        let (prefix, indexed) = match first {
            0x80.. => (7, true),
            0x40..0x80 => (6, false),
            0x20..0x40 => {
                // The server may say that its table has no room, and nothing else.
                if integer(&mut block, 5)? != 0 {
                    return None;
                }
                continue;
            }
            _ => (4, false),
        };
        let index = integer(&mut block, prefix)?;
        if index > STATIC_ENTRIES || (indexed && index == 0) {
            return None;
        }
        let known = index.checked_sub(FIRST_STATUS).and_then(|at| STATUSES.get(at as usize));
        if indexed {
            status = known.copied().unwrap_or(status);
            continue;
        }
        let (is_status, is_length) = match index {
            0 => {
                let name = text(&mut block)?;
                (is_status(name), name == (false, b"content-length"))
            }
            _ => (known.is_some(), index == CONTENT_LENGTH),
        };
        let value = text(&mut block)?;
        if is_status {
            status = digits(value).filter(|number| (100..1000).contains(number))? as u16;
        } else if is_length {
            let number = digits(value)?;
            if length.replace(number).is_some_and(|before| before != number) {
                return None;
            }
        }
    }
    Some((status, length))
}

/// A string as it is coded: whether by Huffman, and its bytes.
type Coded<'a> = (bool, &'a [u8]);

fn text<'a>(block: &mut &'a [u8]) -> Option<Coded<'a>> {
    let huffman = block.first()? & HUFFMAN != 0;
    let length = usize::try_from(integer(block, 7)?).ok()?;
    let (text, rest) = block.split_at_checked(length)?;
    *block = rest;
    Some((huffman, text))
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

/// `:status`, spelled out.
fn is_status((huffman, name): Coded<'_>) -> bool {
    let coded = [0xb8, 0x84, 0x8d, 0x36, 0xa3];
    if huffman { name == coded } else { name == b":status" }
}

/// Digits. By Huffman, 0 to 2 have the codes 0 to 2 in five bits, and 3 to 9 the codes 25 to 31 in six; ones fill
/// the last byte.
fn digits((huffman, text): Coded<'_>) -> Option<u64> {
    if !huffman {
        let is_number = text.iter().all(u8::is_ascii_digit);
        return std::str::from_utf8(text).ok().filter(|_| is_number)?.parse().ok();
    }
    let bits = text.iter().try_fold(0_u128, |bits, byte| {
        (bits >> 120 == 0).then_some(bits << 8 | u128::from(*byte))
    })?;
    let (mut left, mut number) = (8 * text.len(), 0_u64);
    while left >= 5 {
        let five = (bits >> (left - 5)) as u64 & 31;
        let six = (bits >> left.saturating_sub(6)) as u64 & 63;
        let (digit, size) = match five {
            0..3 => (five, 5),
            _ if left >= 6 && (25..32).contains(&six) => (six - 22, 6),
            _ => break,
        };
        number = number.checked_mul(10)?.checked_add(digit)?;
        left -= size;
    }
    let padding = (1 << left.min(8)) - 1;
    (left < 8 && !text.is_empty() && bits & padding == padding).then_some(number)
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
            assert_eq!(status(block).map(|read| read.0), expected, "{block:02x?}");
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
            assert_eq!(status(block), expected, "{block:02x?}");
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
        assert_eq!(super::text(&mut rest), Some((false, text.as_bytes())));
        assert!(rest.is_empty());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(block in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = status(&block);
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
            prop_assert_eq!(digits((true, &text)), Some(status.into()));
        }
    }
}
