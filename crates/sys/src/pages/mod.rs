//! Memory by the page: mappings, huge pages, residency, advice.

mod file;
pub mod node;

pub use crate::workloads::touch::Pages;
pub use file::{FileMapping, Share};

use crate::error::check;
use crate::{Error, Result, text};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Whether a mapping asks for huge pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Huge {
    /// `MADV_NOHUGEPAGE`: ordinary pages whatever the machine's setting.
    Never,
    /// `MADV_HUGEPAGE`: huge pages where the machine's setting allows them.
    Always,
    /// No advice: the machine's setting decides.
    Default,
}

/// Advice to the kernel about the accesses to come (madvise(2)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Advice {
    /// `MADV_RANDOM`: in no order, so that reading ahead is of no use.
    Random,
    /// `MADV_SEQUENTIAL`: in order, each page once.
    Sequential,
    /// `MADV_WILLNEED`: soon; the kernel may begin to read.
    WillNeed,
    /// `MADV_POPULATE_READ`: every page is mapped now, as a read would do it.
    PopulateRead,
    /// `MADV_POPULATE_WRITE`: every page is mapped now, as a write would do it.
    PopulateWrite,
}

impl Advice {
    /// The kernel's number and name for it.
    fn number(self) -> (i32, &'static str) {
        match self {
            Advice::Random => (libc::MADV_RANDOM, "MADV_RANDOM"),
            Advice::Sequential => (libc::MADV_SEQUENTIAL, "MADV_SEQUENTIAL"),
            Advice::WillNeed => (libc::MADV_WILLNEED, "MADV_WILLNEED"),
            Advice::PopulateRead => (libc::MADV_POPULATE_READ, "MADV_POPULATE_READ"),
            Advice::PopulateWrite => (libc::MADV_POPULATE_WRITE, "MADV_POPULATE_WRITE"),
        }
    }

    /// Gives it for a range of mapped memory.
    fn give(self, start: *mut u8, bytes: usize) -> Result<()> {
        let (number, name) = self.number();
        // SAFETY: the caller's range is mapped. None of these changes what is
        // in it; a range that is not mapped would be an error and no harm.
        let result = unsafe { libc::madvise(start.cast(), bytes, number) };
        match check(result.into(), || format!("madvise({name}, {bytes} bytes)")) {
            Ok(_) => Ok(()),
            Err(error) if self.is_new() && error.errno() == Some(libc::EINVAL) => {
                Err(Error::unsupported(format!("madvise({name})"), "needs Linux 5.14 or newer"))
            }
            Err(error) => Err(error),
        }
    }

    /// Whether older kernels do not know it.
    fn is_new(self) -> bool {
        matches!(self, Advice::PopulateRead | Advice::PopulateWrite)
    }
}

/// A range of addresses from `mmap`, unmapped when dropped.
#[derive(Debug)]
struct Region {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a region is a plain range of memory that belongs to its owner alone;
// nothing about it is bound to a thread.
unsafe impl Send for Region {}
// SAFETY: a shared reference to a region gives out the address only.
unsafe impl Sync for Region {}

impl Region {
    /// Maps `bytes` (rounded up to pages) anonymously.
    fn map(bytes: usize, protection: i32, flags: i32) -> Result<Self> {
        Self::map_of(bytes, protection, flags | libc::MAP_ANONYMOUS, None)
    }

    /// Maps `bytes` (rounded up to pages) of `file` from its beginning, or
    /// anonymously, as `flags` say.
    fn map_of(bytes: usize, protection: i32, flags: i32, file: Option<&File>) -> Result<Self> {
        let call = || match file {
            None => format!("mmap({bytes} bytes)"),
            Some(_) => format!("mmap(file of {bytes} bytes)"),
        };
        let rounded = bytes
            .checked_next_multiple_of(page_bytes())
            .filter(|rounded| *rounded > 0)
            .ok_or_else(|| Error::new(call(), libc::EINVAL))?;
        let descriptor = file.map_or(-1, AsRawFd::as_raw_fd);
        // SAFETY: a new mapping at an address of the kernel's choice overlaps
        // nothing that exists.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), rounded, protection, flags, descriptor, 0) };
        if start == libc::MAP_FAILED {
            return Err(Error::new(call(), crate::error::last_errno()));
        }
        match NonNull::new(start.cast()) {
            Some(start) => Ok(Self { start, bytes: rounded }),
            None => Err(Error::new(call(), libc::ENOMEM)),
        }
    }

    /// Changes the protection of `bytes` from `offset`.
    fn protect(&self, offset: usize, bytes: usize, protection: i32) -> Result<()> {
        assert!(offset.checked_add(bytes).is_some_and(|end| end <= self.bytes));
        // SAFETY: the range lies inside this region, which is ours; references
        // into it are only given out by its owners, who do not narrow the
        // protection while one lives.
        let result =
            unsafe { libc::mprotect(self.start.as_ptr().add(offset).cast(), bytes, protection) };
        check(result.into(), || format!("mprotect({bytes} bytes)")).map(|_| ())
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the region was mapped by us and nobody refers to it any more.
        // munmap of a whole mapping can only fail for lack of kernel memory;
        // the memory then stays ours and unused.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// Private anonymous memory: readable, writable, zero until touched.
///
/// It begins at the boundary of a huge page if it is at least one long,
/// whatever [`Huge`] says, so that levels differ in the page size alone. A page
/// that may not be accessed lies on either side: the kernel cannot merge the
/// mapping with a neighbour, and its figures in smaps are its own.
#[derive(Debug)]
pub struct Mapping {
    region: Region,
    offset: usize,
    bytes: usize,
}

impl Mapping {
    /// Maps `bytes`, rounded up to whole pages, and touches none of them.
    ///
    /// # Errors
    /// `ENOMEM` where a limit or the memory is reached, `EINVAL` for 0 bytes;
    /// for [`Huge::Always`] an error where the kernel has no huge pages.
    pub fn new(bytes: usize, huge: Huge) -> Result<Self> {
        let call = || format!("mmap({bytes} bytes)");
        let page = page_bytes();
        let usable = bytes
            .checked_next_multiple_of(page)
            .filter(|usable| *usable > 0)
            .ok_or_else(|| Error::new(call(), libc::EINVAL))?;
        let alignment = match huge_page_bytes() {
            Some(huge_page) if usable >= huge_page && huge_page.is_power_of_two() => huge_page,
            _ => page,
        };
        // One guard page before, one behind, and room to move to the boundary.
        let whole = usable
            .checked_add(2 * page + alignment - page)
            .ok_or_else(|| Error::new(call(), libc::ENOMEM))?;
        let region = Region::map(whole, libc::PROT_NONE, libc::MAP_PRIVATE)?;
        let start = region.start.as_ptr().addr();
        let offset = (start + page).next_multiple_of(alignment) - start;
        region.protect(offset, usable, libc::PROT_READ | libc::PROT_WRITE)?;
        let mapping = Self { region, offset, bytes: usable };
        match huge {
            Huge::Never => match mapping.advise(libc::MADV_NOHUGEPAGE, "MADV_NOHUGEPAGE") {
                // A kernel without huge pages refuses the advice and keeps it.
                Err(error) if error.errno() == Some(libc::EINVAL) => {}
                other => other?,
            },
            Huge::Always => mapping.advise(libc::MADV_HUGEPAGE, "MADV_HUGEPAGE")?,
            Huge::Default => {}
        }
        Ok(mapping)
    }

    /// The size in bytes, a multiple of the page size.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The address of the first byte.
    pub fn address(&self) -> usize {
        self.region.start.as_ptr().addr() + self.offset
    }

    /// The memory.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: the range is mapped, initialised (zero pages) and readable for
        // as long as `self` lives; `&self` excludes writers.
        unsafe { std::slice::from_raw_parts(self.pointer(), self.bytes) }
    }

    /// The memory, to be written.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_slice`, and writable; `&mut self` excludes others.
        unsafe { std::slice::from_raw_parts_mut(self.pointer(), self.bytes) }
    }

    /// The memory as words, to be written.
    pub fn as_mut_words(&mut self) -> &mut [u64] {
        // SAFETY: the range begins at a page, so it is aligned; its length is a
        // multiple of a page and so of 8; every pattern of bits is a u64.
        unsafe { std::slice::from_raw_parts_mut(self.pointer().cast(), self.bytes / 8) }
    }

    /// Writes one byte per `stride_bytes` (0 counts as 1), in a way that the
    /// compiler may not remove.
    pub fn touch(&mut self, stride_bytes: usize) {
        let stride = stride_bytes.max(1);
        for byte in self.as_mut_slice().iter_mut().step_by(stride) {
            // SAFETY: the pointer comes from a live exclusive reference.
            unsafe { std::ptr::write_volatile(byte, 1) };
        }
    }

    /// Gives the content back to the kernel (`MADV_DONTNEED`): the pages read
    /// as zero and fault again.
    ///
    /// # Errors
    /// `EINVAL` for locked pages.
    pub fn discard(&mut self) -> Result<()> {
        self.advise(libc::MADV_DONTNEED, "MADV_DONTNEED")
    }

    /// Tells the kernel what accesses will come.
    ///
    /// # Errors
    /// `Unsupported` for populating before Linux 5.14; `ENOMEM` where memory or
    /// a limit is exceeded by it.
    pub fn expect(&mut self, advice: Advice) -> Result<()> {
        advice.give(self.pointer(), self.bytes)
    }

    /// The pages, to be touched one by one.
    pub fn pages(&mut self) -> Pages<'_> {
        // SAFETY: the range is mapped, readable and writable for as long as
        // `self` is borrowed, begins at a page, and nobody else can name it
        // meanwhile.
        unsafe { Pages::new(self.pointer(), self.bytes / page_bytes(), page_bytes(), true) }
    }

    /// How much of the mapping is backed by huge pages, in bytes, from smaps.
    ///
    /// # Errors
    /// Where /proc/self/smaps cannot be read.
    pub fn huge_bytes(&self) -> Result<u64> {
        let smaps = text::read("/proc/self/smaps")?;
        Ok(huge_bytes_between(&smaps, self.address() as u64, (self.address() + self.bytes) as u64))
    }

    /// How much of the mapping is in memory, in bytes (`mincore`).
    ///
    /// # Errors
    /// `EAGAIN` where the kernel is out of resources.
    pub fn resident_bytes(&self) -> Result<u64> {
        resident_bytes_at(self.pointer(), self.bytes)
    }

    fn pointer(&self) -> *mut u8 {
        // SAFETY: `offset` lies inside the region.
        unsafe { self.region.start.as_ptr().add(self.offset) }
    }

    fn advise(&self, advice: i32, name: &str) -> Result<()> {
        // SAFETY: the range is ours. The advices used here change its content
        // only for MADV_DONTNEED, whose caller holds `&mut self`.
        let result = unsafe { libc::madvise(self.pointer().cast(), self.bytes, advice) };
        check(result.into(), || format!("madvise({name}, {} bytes)", self.bytes)).map(|_| ())
    }
}

/// Words shared with every child that is forked later: workers leave their
/// results here.
#[derive(Debug)]
pub struct SharedWords {
    region: Region,
    count: usize,
}

impl SharedWords {
    /// The words, zero at first. Atomics, since other processes write them.
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: the region is mapped for as long as `self` lives, aligned to a
        // page, zero-filled, and at least `count` words long; atomics may be
        // written through shared references, by other processes too.
        unsafe { std::slice::from_raw_parts(self.region.start.as_ptr().cast(), self.count) }
    }
}

/// Maps `bytes` (rounded up to words of 8) of `MAP_SHARED | MAP_ANONYMOUS`
/// memory.
///
/// # Errors
/// `ENOMEM`; `EINVAL` for 0 bytes.
pub fn shared(bytes: usize) -> Result<SharedWords> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let region = Region::map(bytes, protection, libc::MAP_SHARED)?;
    Ok(SharedWords { region, count: bytes.div_ceil(size_of::<AtomicU64>()) })
}

/// The same for `count` words and for as long as the process lives. They are touched now, so that no
/// first touch falls into what is timed.
///
/// # Errors
/// As [`shared`].
pub fn shared_for_ever(count: usize) -> Result<&'static [AtomicU64]> {
    let words = Box::leak(Box::new(shared(count * size_of::<u64>())?)).words();
    words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
    Ok(words)
}

/// Neighbouring mappings of one page each that the kernel cannot merge.
#[derive(Debug)]
pub struct ManyMappings {
    // Held for its Drop.
    _region: Region,
}

/// Makes `count` mappings of one page each: one range, of which every page is
/// written once and every other page then made read-only, so that the kernel
/// has to describe each page by a mapping (VMA) of its own.
///
/// # Errors
/// `ENOMEM` where `vm.max_map_count` (mostly 65530) is exceeded.
pub fn map_many(count: usize) -> Result<ManyMappings> {
    let page = page_bytes();
    let bytes = count.checked_mul(page).ok_or_else(|| Error::new("mmap", libc::ENOMEM))?;
    let region = Region::map(bytes, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE)?;
    for index in 0..count {
        // SAFETY: inside the region, which nobody else knows of yet and which
        // is still writable at this page.
        unsafe { region.start.as_ptr().add(index * page).write_volatile(1) };
        if index % 2 == 1 {
            region.protect(index * page, page, libc::PROT_READ)?;
        }
    }
    Ok(ManyMappings { _region: region })
}

/// How many mappings this process has (lines of /proc/self/maps).
///
/// # Errors
/// Where /proc/self/maps cannot be read.
pub fn mapping_count() -> Result<usize> {
    Ok(text::read("/proc/self/maps")?.lines().count())
}

/// The size of an ordinary page, in bytes.
pub fn page_bytes() -> usize {
    // SAFETY: asks libc for a number.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).ok().filter(|bytes| bytes.is_power_of_two()).unwrap_or(4096)
}

/// The size of a transparent huge page, in bytes; `None` without them.
pub fn huge_page_bytes() -> Option<usize> {
    let bytes = text::number("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")?;
    usize::try_from(bytes).ok().filter(|bytes| *bytes >= page_bytes())
}

/// Counts resident bytes of a mapped range that begins at a page.
fn resident_bytes_at(start: *const u8, bytes: usize) -> Result<u64> {
    const PAGES_AT_ONCE: usize = 4096;
    let page = page_bytes();
    let mut seen = [0_u8; PAGES_AT_ONCE];
    let mut resident_pages = 0_u64;
    let mut done = 0;
    while done < bytes {
        let part = (bytes - done).min(PAGES_AT_ONCE * page);
        // SAFETY: the caller's range is mapped; mincore reads page tables, not
        // the range, and writes one byte per page to `seen`, which is as long.
        let result =
            unsafe { libc::mincore(start.add(done).cast_mut().cast(), part, seen.as_mut_ptr()) };
        check(result.into(), || format!("mincore({bytes} bytes)"))?;
        let pages = part.div_ceil(page);
        resident_pages += seen[..pages].iter().filter(|flags| **flags & 1 == 1).count() as u64;
        done += part;
    }
    Ok(resident_pages * page as u64)
}

/// Sums the huge pages of all mappings of an smaps text that overlap a range.
pub(crate) fn huge_bytes_between(smaps: &str, start: u64, end: u64) -> u64 {
    let mut inside = false;
    let mut bytes = 0_u64;
    for line in smaps.lines() {
        if let Some((from, to)) = mapping_range(line) {
            inside = from < end && to > start;
        } else if inside {
            let huge = text::kib_field(line, "AnonHugePages")
                .or_else(|| text::kib_field(line, "Private_Hugetlb"));
            bytes = bytes.saturating_add(huge.unwrap_or(0));
        }
    }
    bytes
}

/// The range of addresses that begins a mapping's line in maps, and its first in smaps.
pub fn mapping_range(line: &str) -> Option<(u64, u64)> {
    let (from, to) = line.split_whitespace().next()?.split_once('-')?;
    Some((u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?))
}

#[cfg(test)]
mod tests;
