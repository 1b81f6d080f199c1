//! A number in the kernel that tasks write and wait for.

use crate::Result;
use crate::error::check;
use std::fs::File;
use std::os::fd::{FromRawFd, OwnedFd};

/// A new event descriptor at 0, closed on exec. A write of eight bytes adds them to its number; a
/// read takes the number and leaves 0, and waits while it is 0. Children that are forked later
/// share it.
///
/// # Errors
/// `EMFILE` or `ENFILE` beyond the limits on open files, `ENOMEM`.
pub fn new() -> Result<File> {
    // SAFETY: integers only.
    let descriptor = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
    check(descriptor.into(), || "eventfd(0)".to_string())?;
    // SAFETY: the kernel has just made the descriptor, and nobody else knows it.
    Ok(File::from(unsafe { OwnedFd::from_raw_fd(descriptor) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn what_is_written_is_added_and_read_once() {
        let event = new().unwrap();
        for number in [3_u64, 4] {
            (&event).write_all(&number.to_ne_bytes()).unwrap();
        }
        let mut bytes = [0; 8];
        (&event).read_exact(&mut bytes).unwrap();
        assert_eq!(u64::from_ne_bytes(bytes), 7);
    }

    #[test]
    fn a_forked_child_waits_for_the_number() {
        let (there, back) = (new().unwrap(), new().unwrap());
        let child = crate::task::fork_run(|| {
            let mut bytes = [0; 8];
            let heard = (&there).read_exact(&mut bytes).is_ok();
            let said = (&back).write_all(&(u64::from_ne_bytes(bytes) + 1).to_ne_bytes()).is_ok();
            i32::from(!(heard && said))
        })
        .unwrap();
        (&there).write_all(&41_u64.to_ne_bytes()).unwrap();
        let mut bytes = [0; 8];
        (&back).read_exact(&mut bytes).unwrap();
        assert_eq!(u64::from_ne_bytes(bytes), 42);
        assert_eq!(crate::task::wait(child).unwrap().code, Some(0));
    }
}
