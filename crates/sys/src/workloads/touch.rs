//! Touching pages one by one, in an order laid down before.
//!
//! All walks take the same way through the order and differ in what they do to
//! a page alone, so that one can be subtracted from another.

use std::marker::PhantomData;
use std::ptr::NonNull;

/// Mapped pages, to be touched one by one.
#[derive(Debug)]
pub struct Pages<'a> {
    start: NonNull<u8>,
    count: usize,
    page_bytes: usize,
    writable: bool,
    _memory: PhantomData<&'a mut u8>,
}

impl Pages<'_> {
    /// A view of `count` pages of `page_bytes` from `start`.
    ///
    /// # Safety
    /// The pages must be mapped and readable, and writable where `writable` is
    /// set, for the view's whole life; no reference to them may live
    /// meanwhile.
    pub(crate) unsafe fn new(
        start: *mut u8,
        count: usize,
        page_bytes: usize,
        writable: bool,
    ) -> Self {
        // A mapping is never at address 0; a view of nothing would be one of no page.
        let (start, count) = match NonNull::new(start) {
            Some(start) => (start, count),
            None => (NonNull::dangling(), 0),
        };
        Self { start, count, page_bytes, writable, _memory: PhantomData }
    }

    /// The first byte of a page. Panics for a page that is not there.
    #[inline]
    fn page(&self, page: u32) -> *mut u8 {
        let index = page as usize;
        assert!(index < self.count, "page {index} of {}", self.count);
        // SAFETY: inside the pages, as just asserted.
        unsafe { self.start.as_ptr().add(index * self.page_bytes) }
    }

    fn need_writable(&self) {
        assert!(self.writable, "these pages are read only");
    }

    /// Reads the first byte of each page of `order`; returns the sum.
    ///
    /// # Panics
    /// For a page that is not there.
    #[inline(never)]
    pub fn read_each(&self, order: &[u32]) -> u64 {
        let mut sum = 0;
        for page in order {
            // SAFETY: inside pages that are readable; volatile, since others
            // may write to a file that lies behind them.
            sum += u64::from(unsafe { self.page(*page).read_volatile() });
        }
        sum
    }

    /// Writes `value` to the first byte of each page of `order`.
    ///
    /// # Panics
    /// For a page that is not there, and where pages are read only.
    #[inline(never)]
    pub fn write_each(&mut self, order: &[u32], value: u8) {
        self.need_writable();
        for page in order {
            // SAFETY: inside pages that are writable and ours alone.
            unsafe { self.page(*page).write_volatile(value) };
        }
    }

    /// Fills each page of `order` with `value`: what the kernel does with zeros
    /// before it hands out a page.
    ///
    /// # Panics
    /// For a page that is not there, and where pages are read only.
    #[inline(never)]
    pub fn fill_each(&mut self, order: &[u32], value: u8) {
        self.need_writable();
        for page in order {
            // SAFETY: a whole page inside pages that are writable and ours.
            unsafe { self.page(*page).write_bytes(value, self.page_bytes) };
        }
    }

    /// Copies each page of `order` to the page of the same number of `into`:
    /// what the kernel does when a shared page is written.
    ///
    /// # Panics
    /// For a page that is not there, and where those of `into` are read only.
    #[inline(never)]
    pub fn copy_each(&self, order: &[u32], into: &mut Pages<'_>) {
        into.need_writable();
        for page in order {
            // SAFETY: a whole page of each; the two views were both borrowed
            // exclusively, so they do not overlap.
            unsafe {
                into.page(*page).copy_from_nonoverlapping(self.page(*page), self.page_bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::pages::{Advice, Huge, Mapping, page_bytes};
    use crate::usage::Usage;

    fn mapping(pages: usize) -> Mapping {
        Mapping::new(pages * page_bytes(), Huge::Never).unwrap()
    }

    #[test]
    fn each_page_is_touched_once_and_no_other() {
        let mut memory = mapping(8);
        memory.pages().write_each(&[6, 1, 3], 5);
        assert_eq!(memory.resident_bytes(), Ok(3 * page_bytes() as u64));
        assert_eq!(memory.pages().read_each(&[0, 1, 2, 3, 4, 5, 6, 7]), 15);
    }

    #[test]
    fn a_first_touch_is_one_fault_per_page_and_a_second_none() {
        let order: Vec<u32> = (0..64).rev().collect();
        let mut memory = mapping(64);
        let mut pages = memory.pages();
        let before = Usage::of_thread();
        pages.write_each(&order, 1);
        let first = Usage::of_thread();
        pages.fill_each(&order, 2);
        let second = Usage::of_thread().since(first);
        assert_eq!(first.since(before).minor_faults, 64);
        assert_eq!((second.minor_faults, second.major_faults), (0, 0));
        assert_eq!(pages.read_each(&order), 128);
    }

    #[test]
    fn whole_pages_are_filled_and_copied() {
        let (mut from, mut into) = (mapping(3), mapping(3));
        from.pages().fill_each(&[0, 2], 7);
        from.pages().copy_each(&[2], &mut into.pages());
        let page = page_bytes();
        assert!(from.as_slice()[..page].iter().all(|byte| *byte == 7));
        assert!(into.as_slice()[..2 * page].iter().all(|byte| *byte == 0));
        assert!(into.as_slice()[2 * page..].iter().all(|byte| *byte == 7));
    }

    #[test]
    #[should_panic(expected = "page 2 of 2")]
    fn a_page_that_is_not_there_is_refused() {
        mapping(2).pages().read_each(&[0, 2]);
    }

    #[test]
    fn populated_memory_is_there_before_it_is_touched() {
        let mut memory = mapping(16);
        match memory.expect(Advice::PopulateWrite) {
            Err(error) if error.is_unsupported() => println!("skipped: {error}"),
            populated => {
                populated.unwrap();
                assert_eq!(memory.resident_bytes(), Ok(16 * page_bytes() as u64));
            }
        }
    }
}
