//! What a kernel or a limit says no to.

use kit::Stop;
use std::io::ErrorKind;

/// A mechanism that this kernel lacks, or that a limit forbids, is no failure of the trial.
pub(super) fn refused(error: sys::Error) -> Stop {
    let kind = error.errno().map(|errno| std::io::Error::from_raw_os_error(errno).kind());
    let help = match kind {
        // EAGAIN: what fork and pthread_create say at a limit.
        Some(ErrorKind::WouldBlock) => {
            ": raise `ulimit -u` and `ulimit -v`, or end other processes"
        }
        Some(ErrorKind::OutOfMemory) => ": free memory, or raise `ulimit -v`",
        _ if error.is_unsupported() => "",
        _ => return error.into(),
    };
    Stop::unsupported(format!("{error}{help}"))
}
