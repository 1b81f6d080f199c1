//! Which physical page stands behind an address, and who else has it
//! (`/proc/self/pagemap`).

use crate::{Error, Result};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Bits of an entry that hold the number of the page frame.
const FRAME_MASK: u64 = (1 << 55) - 1;

/// The page is in memory.
const PRESENT: u64 = 1 << 63;

/// The page stands in one page table only (`PM_MMAP_EXCLUSIVE`).
const EXCLUSIVE: u64 = 1 << 56;

/// What stands behind an address of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backing {
    /// The number of the physical page (page frame); `None` where the kernel
    /// hides it: it tells it to `CAP_SYS_ADMIN` only, and reads 0 to others.
    pub frame: Option<u64>,
    /// Whether no other address, of this or of another process, leads to the
    /// page. Every user may read that.
    pub is_exclusive: bool,
}

/// What stands behind an address of this process; `None` where nothing is in
/// memory there.
///
/// # Errors
/// Where /proc/self/pagemap cannot be opened (for ordinary users before Linux
/// 4.2; for all on a kernel without CONFIG_PROC_PAGE_MONITOR).
pub fn backing(address: usize) -> Result<Option<Backing>> {
    let call = || format!("read(/proc/self/pagemap, {address:#x})");
    let file = File::open("/proc/self/pagemap").map_err(|error| Error::io(call(), &error))?;
    let mut entry = [0; 8];
    let offset = (address / crate::pages::page_bytes() * entry.len()) as u64;
    file.read_exact_at(&mut entry, offset).map_err(|error| Error::io(call(), &error))?;
    Ok(parse(u64::from_ne_bytes(entry)))
}

pub(crate) fn parse(entry: u64) -> Option<Backing> {
    let frame = Some(entry & FRAME_MASK).filter(|frame| *frame != 0);
    (entry & PRESENT != 0).then_some(Backing { frame, is_exclusive: entry & EXCLUSIVE != 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::{Huge, Mapping, page_bytes};
    use crate::task;

    #[test]
    fn an_entry_without_a_page_or_a_number_is_none() {
        assert_eq!(parse(0), None);
        assert_eq!(parse(5), None, "swapped out: the bits mean a place on disk");
        assert_eq!(parse(PRESENT), Some(Backing { frame: None, is_exclusive: false }));
        let known = Backing { frame: Some(5), is_exclusive: true };
        assert_eq!(parse(PRESENT | EXCLUSIVE | 5), Some(known));
    }

    #[test]
    fn two_pages_have_two_frames_and_an_untouched_one_has_none() {
        let page = page_bytes();
        let mut mapping = Mapping::new(3 * page, Huge::Never).unwrap();
        mapping.as_mut_slice()[0] = 1;
        mapping.as_mut_slice()[page] = 1;
        let address = mapping.address();
        assert_eq!(backing(address + 2 * page).unwrap(), None);
        let first = backing(address).unwrap().unwrap();
        assert_eq!(backing(address + 7).unwrap(), Some(first));
        // An ordinary user cannot read the frame, here as in the experiment.
        if first.frame.is_some() {
            assert_ne!(backing(address + page).unwrap().unwrap().frame, first.frame);
        }
    }

    #[test]
    fn a_fork_makes_a_page_one_of_two() {
        let mut mapping = Mapping::new(page_bytes(), Huge::Never).unwrap();
        mapping.as_mut_slice()[0] = 1;
        let address = mapping.address();
        let child = task::fork_run(|| {
            // Only the child is asked: other tests fork this process at any moment.
            let of_two = |backing: Backing| !backing.is_exclusive;
            i32::from(!backing(address).is_ok_and(|found| found.is_some_and(of_two)))
        })
        .unwrap();
        assert_eq!(task::wait(child).unwrap().code, Some(0));
    }
}
