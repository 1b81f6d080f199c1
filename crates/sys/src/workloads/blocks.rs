//! Blocks of libc's heap, marked at both ends so that a write into one is seen.

use std::ptr::NonNull;

/// Blocks alive at a time.
const ALIVE: usize = 32;

/// The smallest block: a mark at either end.
const BYTES_MIN: usize = 2 * size_of::<u64>();

/// How much larger a block may be. Beyond 1 KiB glibc's cache per thread does not serve it.
const BYTES_SPREAD: u64 = 3000;

/// Some blocks that are freed and allocated in turn, in sizes drawn at random.
#[derive(Debug)]
pub struct Churn {
    blocks: [Option<Block>; ALIVE],
    random: u64,
    next: usize,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    start: NonNull<u8>,
    bytes: usize,
    mark: u64,
}

impl Churn {
    /// No block yet; sizes and marks follow from `seed`.
    pub fn new(seed: u64) -> Self {
        Self { blocks: [None; ALIVE], random: seed ^ 0x9e37_79b9_7f4a_7c15, next: 0 }
    }

    /// Frees the oldest block and allocates another in its place. Returns how many of the blocks
    /// freed had lost a mark (0 or 1): memory that was handed out twice.
    pub fn turn(&mut self) -> u64 {
        let place = self.next % ALIVE;
        self.next += 1;
        let lost = self.blocks[place].take().map_or(0, free);
        self.random = self.random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let bytes = BYTES_MIN + ((self.random >> 33) % BYTES_SPREAD) as usize;
        self.blocks[place] = allocate(bytes, self.random);
        lost
    }
}

impl Drop for Churn {
    fn drop(&mut self) {
        for block in self.blocks.iter_mut().filter_map(Option::take) {
            free(block);
        }
    }
}

fn allocate(bytes: usize, mark: u64) -> Option<Block> {
    // SAFETY: malloc may be called with any size; called from a handler it may meet a heap that is
    // half-changed, which is what is counted here, in a process that is made to be lost.
    let start = NonNull::new(unsafe { libc::malloc(bytes) }.cast::<u8>())?;
    let block = Block { start, bytes, mark };
    for end in block.ends() {
        // SAFETY: both words lie inside the block, which is ours.
        unsafe { end.write_unaligned(mark) };
    }
    Some(block)
}

/// Frees a block; returns 1 if a mark was lost.
fn free(block: Block) -> u64 {
    // SAFETY: both words lie inside the block, which was allocated and not freed yet.
    let whole = block.ends().iter().all(|end| unsafe { end.read_unaligned() } == block.mark);
    // SAFETY: it came from malloc and is freed once.
    unsafe { libc::free(block.start.as_ptr().cast()) };
    u64::from(!whole)
}

impl Block {
    fn ends(&self) -> [*mut u64; 2] {
        let last = self.start.as_ptr().wrapping_add(self.bytes - size_of::<u64>());
        [self.start.as_ptr().cast(), last.cast()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alone_no_block_loses_its_marks() {
        let mut churn = Churn::new(7);
        assert_eq!((0..1000).map(|_| churn.turn()).sum::<u64>(), 0);
    }

    #[test]
    fn a_mark_that_is_overwritten_is_seen() {
        let block = allocate(100, 42).unwrap();
        // SAFETY: inside the block.
        unsafe { block.ends()[1].cast::<u8>().write(0) };
        assert_eq!(free(block), 1);
        let block = allocate(BYTES_MIN, 42).unwrap();
        assert_eq!(free(block), 0);
    }
}
