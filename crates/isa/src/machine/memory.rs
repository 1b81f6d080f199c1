//! The memory of a program: its segments and a stack, and nothing between them.

use super::{TIMER_ADDRESS, TIMER_BYTES};
use crate::{Error, Program};

/// The most memory of a program in bytes, its stack included.
pub const MEMORY_MAX_BYTES: u64 = 256 << 20;

/// The most segments of a program.
pub const SEGMENTS_MAX: usize = 64;

/// A piece of memory.
#[derive(Clone, Debug)]
struct Region {
    base: u32,
    bytes: Vec<u8>,
    writable: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Memory {
    regions: Vec<Region>,
    /// The region of the last access, where the next one most likely is.
    recent: usize,
}

impl Memory {
    /// Makes the memory of a program with a stack of `stack_bytes`; returns also the address just
    /// above the stack.
    pub(super) fn new(program: &Program, stack_bytes: u32) -> Result<(Self, u32), Error> {
        check(program, stack_bytes)?;
        let top = free_top(program, stack_bytes)?;
        let mut regions: Vec<Region> = program
            .segments
            .iter()
            .filter(|segment| segment.size > 0)
            .map(|segment| {
                // Memory that nobody touches takes none of the computer's.
                let mut bytes = vec![0; segment.size as usize];
                if let Some(known) = bytes.get_mut(..segment.bytes.len()) {
                    known.copy_from_slice(&segment.bytes);
                }
                Region { base: segment.address, bytes, writable: segment.writable }
            })
            .collect();
        let stack = vec![0; stack_bytes as usize];
        regions.push(Region { base: top - stack_bytes, bytes: stack, writable: true });
        Ok((Self { regions, recent: 0 }, top))
    }

    /// The bytes at an address; `None` where any of them is not there.
    #[inline]
    pub(super) fn read<const N: usize>(&mut self, address: u32) -> Option<[u8; N]> {
        let (region, offset) = self.find(address, N)?;
        self.regions.get(region)?.bytes.get(offset..)?.first_chunk().copied()
    }

    /// Writes bytes at an address; `None` where any of them is not there or may not be written.
    #[inline]
    pub(super) fn write<const N: usize>(&mut self, address: u32, value: [u8; N]) -> Option<()> {
        let (region, offset) = self.find(address, N)?;
        let region = self.regions.get_mut(region).filter(|region| region.writable)?;
        *region.bytes.get_mut(offset..)?.first_chunk_mut()? = value;
        Some(())
    }

    /// The bytes at an address, as many as are wanted.
    pub(super) fn bytes(&self, address: u32, count: usize) -> Option<&[u8]> {
        self.regions.iter().find_map(|region| {
            let offset = region.offset(address, count)?;
            region.bytes.get(offset..offset + count)
        })
    }

    /// Returns the region that holds all bytes of an access, and where in it they are.
    #[inline]
    fn find(&mut self, address: u32, count: usize) -> Option<(usize, usize)> {
        if let Some(offset) =
            self.regions.get(self.recent).and_then(|region| region.offset(address, count))
        {
            return Some((self.recent, offset));
        }
        self.search(address, count)
    }

    #[cold]
    fn search(&mut self, address: u32, count: usize) -> Option<(usize, usize)> {
        let found =
            |(index, region): (usize, &Region)| Some((index, region.offset(address, count)?));
        let found = self.regions.iter().enumerate().find_map(found)?;
        self.recent = found.0;
        Some(found)
    }
}

impl Region {
    /// Returns where in the region the bytes of an access are.
    #[inline]
    fn offset(&self, address: u32, count: usize) -> Option<usize> {
        let offset = address.wrapping_sub(self.base) as usize;
        // A region has at most 2²⁸ bytes, so that the difference, not a sum, is certain to be right.
        (count <= self.bytes.len() && offset <= self.bytes.len() - count).then_some(offset)
    }
}

/// The addresses of something, in 64 bits, so that the end of memory is also a number.
#[derive(Clone, Copy)]
struct Place {
    start: u64,
    end: u64,
}

impl Place {
    fn new(address: u32, bytes: u32) -> Self {
        Self { start: u64::from(address), end: u64::from(address) + u64::from(bytes) }
    }

    /// The first address that both have.
    fn meets(self, other: Self) -> Option<u64> {
        let start = self.start.max(other.start);
        (start < self.end.min(other.end)).then_some(start)
    }
}

const TIMER: (u32, u32) = (TIMER_ADDRESS, TIMER_BYTES);

fn check(program: &Program, stack_bytes: u32) -> Result<(), Error> {
    if program.segments.len() > SEGMENTS_MAX {
        return Err(Error::Wrong {
            what: "the number of segments",
            value: program.segments.len() as u64,
            right: "at most 64",
        });
    }
    let mut places = vec![("the timer".to_string(), Place::new(TIMER.0, TIMER.1))];
    let mut total = u64::from(stack_bytes);
    for segment in program.segments.iter().filter(|segment| segment.size > 0) {
        let wrong = |why| Error::Segment { address: segment.address, why };
        if segment.bytes.len() > segment.size as usize {
            return Err(wrong("says more bytes than it has; its size must be at least as many"));
        }
        let place = Place::new(segment.address, segment.size);
        if place.end > 1 << 32 {
            return Err(wrong("ends behind the last address; it must end at 0xffffffff or before"));
        }
        places.push((format!("the segment at {:#010x}", segment.address), place));
        total += u64::from(segment.size);
    }
    if total > MEMORY_MAX_BYTES {
        let what = "memory, its stack included";
        return Err(Error::TooLarge { what, bytes: total, most: MEMORY_MAX_BYTES });
    }
    places.sort_by_key(|(_, place)| place.start);
    for pair in places.windows(2) {
        if let [(first, one), (second, other)] = pair
            && let Some(at) = one.meets(*other)
        {
            let (first, second) = (first.clone(), second.clone());
            return Err(Error::Overlap { first, second, at: at as u32 });
        }
    }
    Ok(())
}

/// The stack ends below 2 GiB, or, where the program lies there, below the highest multiple of 16 MiB
/// under which there is room. A page is left free on both sides, so that what runs over its end is
/// seen.
fn free_top(program: &Program, stack_bytes: u32) -> Result<u32, Error> {
    const GUARD: u32 = 4096;
    let taken = |place: Place| {
        let segments = program.segments.iter().map(|s| Place::new(s.address, s.size));
        let mut all = segments.chain([Place::new(TIMER.0, TIMER.1)]);
        all.any(|other| place.meets(other).is_some())
    };
    let tops = std::iter::once(0x8000_0000).chain((1..256_u32).rev().map(|step| step << 24));
    for top in tops.map(|top: u32| top - GUARD) {
        if let Some(base) = top.checked_sub(stack_bytes).and_then(|base| base.checked_sub(GUARD))
            && !taken(Place::new(base, stack_bytes + 2 * GUARD))
        {
            return Ok(top);
        }
    }
    // Not with the limits above: 64 segments reach into fewer than 255 places.
    Err(Error::TooLarge { what: "memory for a stack", bytes: u64::from(stack_bytes), most: 0 })
}
