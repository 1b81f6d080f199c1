//! Which physical page stands behind an address (`/proc/self/pagemap`).

use crate::{Error, Result};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Bits of an entry that hold the number of the page frame.
const FRAME_MASK: u64 = (1 << 55) - 1;

/// The page is in memory.
const PRESENT: u64 = 1 << 63;

/// The number of the physical page (page frame) behind an address of this
/// process; `None` where nothing is in memory there, or where the kernel hides
/// the number: it tells it to `CAP_SYS_ADMIN` only, and reads 0 to others.
///
/// # Errors
/// Where /proc/self/pagemap cannot be opened (before Linux 4.2 that is how it
/// is hidden; a kernel without CONFIG_PROC_PAGE_MONITOR).
pub fn frame(address: usize) -> Result<Option<u64>> {
    let call = || format!("read(/proc/self/pagemap, {address:#x})");
    let file = File::open("/proc/self/pagemap").map_err(|error| Error::io(call(), &error))?;
    let mut entry = [0; 8];
    let offset = (address / crate::pages::page_bytes() * entry.len()) as u64;
    file.read_exact_at(&mut entry, offset).map_err(|error| Error::io(call(), &error))?;
    Ok(frame_of(u64::from_ne_bytes(entry)))
}

fn frame_of(entry: u64) -> Option<u64> {
    let frame = entry & FRAME_MASK;
    (entry & PRESENT != 0 && frame != 0).then_some(frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::{Huge, Mapping, page_bytes};

    #[test]
    fn an_entry_without_a_page_or_a_number_is_none() {
        assert_eq!(frame_of(0), None);
        assert_eq!(frame_of(PRESENT), None);
        assert_eq!(frame_of(5), None, "swapped out: the bits mean a place on disk");
        assert_eq!(frame_of(PRESENT | 1 << 56 | 5), Some(5));
    }

    #[test]
    fn two_pages_have_two_frames_and_an_untouched_one_has_none() {
        let page = page_bytes();
        let mut mapping = Mapping::new(3 * page, Huge::Never).unwrap();
        mapping.as_mut_slice()[0] = 1;
        mapping.as_mut_slice()[page] = 1;
        let address = mapping.address();
        assert_eq!(frame(address + 2 * page).unwrap(), None);
        // An ordinary user is told nothing, here as in the experiment.
        if let Some(first) = frame(address).unwrap() {
            assert_eq!(frame(address + 7).unwrap(), Some(first));
            assert_ne!(frame(address + page).unwrap(), Some(first));
        }
    }
}
