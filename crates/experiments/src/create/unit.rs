//! The unit costs that the accounts are made of, measured like everything else here.

use super::parent::Placement;
use super::timing::{Tally, Times, timed};
use kit::{Stop, Trial};
use sys::clock::now_ns;
use sys::pages::{Huge, Mapping};

/// A system call that does next to nothing in the kernel.
pub(super) fn entry(trial: &mut Trial<'_>, _: Placement) -> Result<Tally, Stop> {
    timed(trial, || {
        let start_ns = now_ns();
        sys::syscall::getppid();
        let made_ns = now_ns();
        Ok(Times { start_ns, made_ns, over_ns: now_ns() })
    })
}

/// A page fault: the kernel finds a page, clears it and maps it. A fault that copies a page
/// instead, as after a fork, does nearly the same.
pub(super) fn fault(trial: &mut Trial<'_>, _: Placement) -> Result<Tally, Stop> {
    let page = sys::pages::page_bytes();
    let mut memory = Mapping::new(page, Huge::Never)?;
    timed(trial, || {
        // The page goes back before the clock is read, so that the next write must fault. It is
        // the page that the kernel hands out again: recycled memory, not fresh from a host.
        memory.discard()?;
        let start_ns = now_ns();
        memory.touch(page);
        let made_ns = now_ns();
        Ok(Times { start_ns, made_ns, over_ns: now_ns() })
    })
}
