//! HTTP/2 (RFC 9113) as a client of a load needs it: the header block of a request is encoded once, the
//! server may keep no dynamic table (`SETTINGS_HEADER_TABLE_SIZE` is 0), of an answer only its status is
//! decoded, and windows are so large that updates are rare.

mod frame;
pub(super) mod hpack;
mod reading;
mod session;

pub(super) use frame::error_name;
pub(super) use session::{Heard, Lost, Session};

/// The most requests that one connection carries at once.
pub const STREAMS_MAX: u32 = 1024;
