//! The memory that a task walks at each of its hops.

use crate::support::memory::{mapped, there};
use kit::Result;
use sys::pages::{Huge, Mapping};
use sys::topology::Cache;

/// The most that one task walks where the level does not ask for the last cache: twice the second
/// cache of a core, not that of a whole cluster. More would make trials long.
const TASK_BYTES_MAX: u64 = 8 << 20;

/// The length of a cache line where the machine does not report it, in bytes.
const LINE_BYTES: u64 = 64;

/// A size named after a cache: (level, multiplied by, divided by); `None` is no memory at all.
pub(super) type Size = Option<(u32, u64, u64)>;

/// The levels of the factor `working_set`. Their names are the same on every machine; the bytes
/// follow its caches. A level that means the same bytes as an earlier one of this table is refused,
/// so those of smaller profiles come first, and within a profile those nearer to the CPU.
pub(super) const SIZES: [(&str, Size); 10] = [
    ("none", None),
    ("half_l2", Some((2, 1, 2))),
    ("l1", Some((1, 1, 1))),
    ("quarter_l2", Some((2, 1, 4))),
    ("l2", Some((2, 1, 1))),
    ("twice_l2", Some((2, 2, 1))),
    ("half_l1", Some((1, 1, 2))),
    ("twice_l1", Some((1, 2, 1))),
    ("half_l3", Some((3, 1, 2))),
    ("l3", Some((3, 1, 1))),
];

/// Returns the bytes that a level means on a machine with these caches.
///
/// # Errors
/// The cache is unknown, the size is out of bounds, or an earlier level means the same size.
pub(super) fn bytes_of(name: &str, caches: &[Cache]) -> Result<u64, String> {
    let Some(place) = SIZES.iter().position(|(other, _)| *other == name) else {
        return Err(format!("no code for level {name} of factor working_set"));
    };
    let (_, size) = SIZES[place];
    let Some((level, times, part)) = size else { return Ok(0) };
    let Some(bytes) = of_cache(caches, size) else {
        return Err(match caches.is_empty() {
            true => "the kernel reports nothing of this machine's caches in \
                     /sys/devices/system/cpu; another kernel or hypervisor may"
                .into(),
            false => format!("this machine reports no data cache of level {level}"),
        });
    };
    kit::ensure!(
        level >= 3 || bytes <= TASK_BYTES_MAX,
        "{times}/{part} of the cache of level {level} is {bytes} bytes here, and a task walks \
             {TASK_BYTES_MAX} at most: take a smaller level"
    );
    match SIZES[..place].iter().find(|(_, size)| of_cache(caches, *size) == Some(bytes)) {
        Some((other, _)) => {
            Err(format!("means {bytes} bytes here, which the level {other} measures"))
        }
        None => Ok(bytes),
    }
}

/// The size in whole lines, where the cache is known.
fn of_cache(caches: &[Cache], size: Size) -> Option<u64> {
    let (level, times, part) = size?;
    let cache = caches.iter().find(|cache| cache.level == level && cache.holds_data())?;
    let line = line_bytes(caches);
    Some((cache.size_bytes * times / part / line).max(1) * line)
}

/// The length of a line of cache, in bytes.
pub(super) fn line_bytes(caches: &[Cache]) -> u64 {
    caches.iter().find_map(|cache| cache.line_bytes).unwrap_or(LINE_BYTES).max(8)
}

/// What a task is to walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Footprint {
    /// Its size; 0 for none.
    pub(super) bytes: usize,
    /// From one byte that is read to the next.
    pub(super) line_bytes: usize,
    /// The pages it lies in.
    pub(super) huge: Huge,
}

impl Footprint {
    /// The memory that the kernel has to give for it, in bytes.
    pub(super) fn mapped_bytes(&self) -> usize {
        let page = match (self.huge, sys::pages::huge_page_bytes()) {
            (Huge::Always, Some(huge_page)) => huge_page,
            _ => sys::pages::page_bytes(),
        };
        self.bytes.next_multiple_of(page)
    }

    /// Maps the memory, writes every line of it (an unwritten page would be the kernel's one page
    /// of zeros), and verifies the size of its pages.
    pub(super) fn build(&self) -> Result<Buffer> {
        if self.bytes == 0 {
            return Ok(Buffer { mapping: None, footprint: *self });
        }
        let mut mapping = mapped(self.mapped_bytes(), self.huge)?;
        mapping.touch(self.line_bytes);
        there(&mapping, self.bytes as u64, self.huge)?;
        Ok(Buffer { mapping: Some(mapping), footprint: *self })
    }
}

/// Memory that one task walks.
#[derive(Debug)]
pub(super) struct Buffer {
    mapping: Option<Mapping>,
    footprint: Footprint,
}

impl Buffer {
    /// Reads one byte of each line, in order, and returns their sum.
    #[inline]
    pub(super) fn walk(&self) -> u64 {
        let Some(mapping) = &self.mapping else { return 0 };
        let lines =
            mapping.as_slice()[..self.footprint.bytes].chunks_exact(self.footprint.line_bytes);
        lines.map(|line| u64::from(line[0])).sum()
    }
}
