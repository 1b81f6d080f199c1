//! The memory of a program: its segments and a stack, and between them nothing, or what it accesses first.

use super::{OUTPUT_MAX_BYTES, TIMER_ADDRESS, TIMER_BYTES, serial};
use crate::{Error, Program};

/// The most memory of a program in bytes, its stack included.
pub const MEMORY_MAX_BYTES: u64 = 256 << 20;

/// The most segments of a program.
pub const SEGMENTS_MAX: usize = 64;

/// What comes into being at once of sparse memory, in bytes.
const BLOCK_BYTES: u32 = 1 << 18;

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
    /// The address from which on memory comes into being where it is accessed.
    sparse_from: Option<u32>,
    /// How many bytes may still come into being.
    left: u64,
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
        let taken: u64 = regions.iter().map(|region| region.bytes.len() as u64).sum();
        let left = MEMORY_MAX_BYTES.saturating_sub(taken + u64::from(stack_bytes));
        let stack = vec![0; stack_bytes as usize];
        regions.push(Region { base: top - stack_bytes, bytes: stack, writable: true });
        Ok((Self { regions, recent: 0, sparse_from: program.sparse_from, left }, top))
    }

    /// The bytes at an address; `None` where any of them is not there.
    #[inline]
    pub(super) fn read<const N: usize>(&mut self, address: u32) -> Option<[u8; N]> {
        let Some((region, offset)) = self.find(address, N) else {
            return self.read_apart(address);
        };
        self.regions.get(region)?.bytes.get(offset..)?.first_chunk().copied()
    }

    /// Reads bytes that lie in more than one piece of memory.
    #[cold]
    fn read_apart<const N: usize>(&mut self, address: u32) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        if N == 1 || self.sparse_from.is_none() {
            return None;
        }
        for (byte, address) in bytes.iter_mut().zip(address..=u32::MAX) {
            [*byte] = self.read::<1>(address)?;
        }
        Some(bytes)
    }

    /// Writes bytes that lie in more than one piece of memory; none of them where one cannot be written.
    #[cold]
    fn write_apart<const N: usize>(&mut self, address: u32, value: [u8; N]) -> Option<()> {
        if N == 1 || self.sparse_from.is_none() {
            return None;
        }
        for address in (address..=u32::MAX).take(N) {
            let (region, _) = self.find(address, 1)?;
            self.regions.get(region).filter(|region| region.writable)?;
        }
        (address..=u32::MAX).zip(value).try_for_each(|(address, byte)| self.write(address, [byte]))
    }

    /// Writes bytes at an address; `None` where any of them is not there or may not be written.
    #[inline]
    pub(super) fn write<const N: usize>(&mut self, address: u32, value: [u8; N]) -> Option<()> {
        let Some((region, offset)) = self.find(address, N) else {
            return self.write_apart(address, value);
        };
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

    /// Reports whether bytes are there, or come into being where they are accessed.
    pub(super) fn has(&self, address: u32, count: u32) -> bool {
        let sparse = self.sparse_from.is_some_and(|from| from <= address);
        let fits = address.checked_add(count).is_some() && u64::from(count) <= self.left;
        self.bytes(address, count as usize).is_some() || sparse && fits
    }

    /// Returns the bytes at an address; those of sparse memory that nobody accessed are 0.
    pub(super) fn copied(&self, address: u32, count: u32) -> Option<Vec<u8>> {
        if let Some(bytes) = self.bytes(address, count as usize) {
            return Some(bytes.to_vec());
        }
        let is_there = self.has(address, count) && count as usize <= OUTPUT_MAX_BYTES;
        let byte = |address| self.bytes(address, 1).map_or(0, |bytes| bytes[0]);
        is_there.then(|| (address..address + count).map(byte).collect())
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
        let found = self.regions.iter().enumerate().find_map(found);
        let found = found.or_else(|| self.create(address, count))?;
        self.recent = found.0;
        Some(found)
    }

    /// Creates the block of sparse memory that holds an access, as far as no other memory is there.
    fn create(&mut self, address: u32, count: usize) -> Option<(usize, usize)> {
        let from = self.sparse_from.filter(|from| *from <= address)?;
        let mut start = u64::from((address & !(BLOCK_BYTES - 1)).max(from));
        let mut end = (start | u64::from(BLOCK_BYTES - 1)) + 1;
        let ranges = self.regions.iter().map(|region| {
            (u64::from(region.base), u64::from(region.base) + region.bytes.len() as u64)
        });
        let address = u64::from(address);
        let devices = serial::PORTS.map(|port| (port, serial::BYTES)).into_iter().chain([TIMER]);
        let devices =
            devices.map(|(start, bytes)| (start.into(), u64::from(start) + u64::from(bytes)));
        for (low, high) in ranges.chain(devices) {
            if low <= address && address < high {
                return None;
            }
            (start, end) = (
                if high <= address { start.max(high) } else { start },
                if low > address { end.min(low) } else { end },
            );
        }
        let bytes = end - start;
        self.left = self.left.checked_sub(bytes)?;
        self.regions.push(Region {
            base: start as u32,
            bytes: vec![0; bytes as usize],
            writable: true,
        });
        let offset = (address - start) as usize;
        (offset + count <= bytes as usize).then_some((self.regions.len() - 1, offset))
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
