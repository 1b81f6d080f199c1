//! Frames (RFC 9113, 4 and 6).

/// Bytes before a frame's payload.
pub(super) const HEAD_BYTES: usize = 9;

/// The longest payload unless a side allows more, which scruple does not.
pub(super) const BYTES_MAX: usize = 16_384;

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PUSH_PROMISE: u8 = 5;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

pub(super) const END_STREAM: u8 = 0x1;
pub(super) const ACK: u8 = 0x1;
pub(super) const END_HEADERS: u8 = 0x4;
pub(super) const PADDED: u8 = 0x8;
pub(super) const PRIORITY: u8 = 0x20;

/// Errors that a stream may be reset for, and the names of all (RFC 9113, 7).
pub(super) const PROTOCOL_ERROR: u32 = 1;
pub(super) const REFUSED_STREAM: u32 = 7;
pub(super) const CANCEL: u32 = 8;

const ERRORS: &str = "NO_ERROR,PROTOCOL_ERROR,INTERNAL_ERROR,FLOW_CONTROL_ERROR,SETTINGS_TIMEOUT,\
    STREAM_CLOSED,FRAME_SIZE_ERROR,REFUSED_STREAM,CANCEL,COMPRESSION_ERROR,CONNECT_ERROR,ENHANCE_YOUR_CALM,\
    INADEQUATE_SECURITY,HTTP_1_1_REQUIRED";

/// What the server may do: it must not keep a table nor push, and may send 1 GiB on each stream before
/// it gets a WINDOW_UPDATE.
pub(super) const WINDOW: u32 = 1 << 30;
const HEADER_TABLE_SIZE: u16 = 1;
const ENABLE_PUSH: u16 = 2;
pub(super) const MAX_CONCURRENT_STREAMS: u16 = 3;
pub(super) const INITIAL_WINDOW_SIZE: u16 = 4;
pub(super) const MAX_FRAME_SIZE: u16 = 5;

/// The window of a connection or stream that nobody has changed.
pub(super) const WINDOW_DEFAULT: u32 = 65_535;

/// What a client says first (RFC 9113, 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// What is known of a frame before its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) length: usize,
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
}

impl Head {
    /// Reads the first nine bytes; `None` where there are fewer.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let [a, b, c, kind, flags, stream @ ..] = bytes.first_chunk::<HEAD_BYTES>()?;
        Some(Self {
            length: u32::from_be_bytes([0, *a, *b, *c]) as usize,
            kind: *kind,
            flags: *flags,
            stream: u32::from_be_bytes(*stream) & 0x7fff_ffff,
        })
    }

    pub(super) fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Reports whether this is a part of a body that needs not be whole to be read.
    pub(super) fn is_body(self) -> bool {
        self.kind == DATA && !self.has(PADDED)
    }
}

/// Writes what precedes a payload of `length` bytes, which must fit a frame.
pub(super) fn head(out: &mut Vec<u8>, length: usize, kind: u8, flags: u8, stream: u32) {
    let [_, a, b, c] = (length as u32).to_be_bytes();
    out.extend_from_slice(&[a, b, c, kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
}

/// Writes what a connection begins with.
pub(super) fn preface(out: &mut Vec<u8>) {
    out.extend_from_slice(PREFACE);
    let settings = [(HEADER_TABLE_SIZE, 0), (ENABLE_PUSH, 0), (INITIAL_WINDOW_SIZE, WINDOW)];
    head(out, 6 * settings.len(), SETTINGS, 0, 0);
    for (name, value) in settings {
        out.extend_from_slice(&name.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
    number(out, WINDOW_UPDATE, 0, WINDOW - WINDOW_DEFAULT);
}

/// Writes a frame whose payload is a number: `RST_STREAM` or `WINDOW_UPDATE`.
pub(super) fn number(out: &mut Vec<u8>, kind: u8, stream: u32, number: u32) {
    head(out, 4, kind, 0, stream);
    out.extend_from_slice(&number.to_be_bytes());
}

/// Reads the number at the start of a payload.
pub(super) fn first_number(payload: &[u8]) -> Option<u32> {
    payload.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

/// Returns the name of an error.
pub(in crate::load) fn error_name(code: u32) -> String {
    let name = ERRORS.split(',').nth(code as usize);
    name.map_or_else(|| format!("error code {code}"), str::to_string)
}
