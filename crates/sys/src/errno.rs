//! The error number of the calling thread.

use std::io;

/// Returns the calling thread's `errno`.
pub(crate) fn last_errno() -> i32 {
    // `raw_os_error` of `last_os_error` is always there; zero stands for the
    // case that std promises never happens.
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
