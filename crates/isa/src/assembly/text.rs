//! Files as texts.

/// A file that is assembled: a text in UTF-8, in UTF-16 with its mark, or in any encoding of 8 bits.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// The character that stands for the byte 0 of an encoding of 8 bits, in a plane that no text uses.
const RAW: u32 = 0x10_ff00;

/// Returns a file as a text. Bytes beyond ASCII of an encoding of 8 bits become characters that [`encode`] turns
/// into the same bytes again.
pub(super) fn decoded(bytes: &[u8]) -> String {
    let halves = |from: fn([u8; 2]) -> u16| {
        let halves = bytes[2..].chunks_exact(2).map(|pair| from([pair[0], pair[1]]));
        String::from_utf16_lossy(&halves.collect::<Vec<u16>>())
    };
    let raw = |byte: &u8| match byte {
        0..0x80 => Some(char::from(*byte)),
        _ => char::from_u32(RAW + u32::from(*byte)),
    };
    match (bytes, std::str::from_utf8(bytes)) {
        ([0xff, 0xfe, ..], _) => halves(u16::from_le_bytes),
        ([0xfe, 0xff, ..], _) => halves(u16::from_be_bytes),
        (_, Ok(text)) => text.to_owned(),
        (bytes, Err(_)) => bytes.iter().filter_map(raw).collect(),
    }
}

/// Returns the byte of an encoding of 8 bits that a character stands for.
pub(super) fn raw(c: char) -> Option<u8> {
    u8::try_from(u32::from(c).checked_sub(RAW)?).ok()
}

/// Adds a character of a string as its file has it.
pub(super) fn encode(c: char, bytes: &mut Vec<u8>) {
    match raw(c) {
        Some(byte) => bytes.push(byte),
        None => bytes.extend(c.to_string().bytes()),
    }
}

/// Returns a text to be read: bytes of an encoding of 8 bits as in Latin-1.
pub(super) fn shown(text: &str) -> String {
    text.chars().map(|c| raw(c).map_or(c, char::from)).collect()
}
