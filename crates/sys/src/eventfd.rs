//! A number in the kernel that tasks write and wait for.

use crate::{Error, Result};
use rustix::event::EventfdFlags;
use std::fs::File;

/// A new event descriptor at 0, closed on exec. A write of eight bytes adds them to its number; a
/// read takes the number and leaves 0, and waits while it is 0. Children that are forked later
/// share it.
///
/// # Errors
/// `EMFILE` or `ENFILE` beyond the limits on open files, `ENOMEM`.
pub fn new() -> Result<File> {
    let event = rustix::event::eventfd(0, EventfdFlags::CLOEXEC);
    event.map(File::from).map_err(Error::of("eventfd(0)"))
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
