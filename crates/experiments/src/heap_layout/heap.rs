//! A heap as lectures draw it: one arena, an implicit list of blocks, first fit.
//!
//! A block is a header of 8 bytes, the payload, and a footer of 8 bytes. Header and footer both
//! hold the block's size and whether it is in use ("boundary tags": Knuth, The Art of Computer
//! Programming, volume 1, section 2.5), so that both neighbours of a block can be found from it.
//! The list is implicit: the next block begins where this one ends. Nothing is `unsafe`: an
//! address is an offset into the arena, and the arena is made of words that threads may share.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a header, and of a footer.
const TAG_BYTES: usize = 8;

/// What a block costs beside its payload: header and footer.
pub(super) const OVERHEAD_BYTES: usize = 2 * TAG_BYTES;

/// Payloads begin at multiples of this, and sizes of blocks are multiples of it.
pub(super) const ALIGNMENT: usize = 16;

/// The smallest block: tags and one unit of payload.
pub(super) const LEAST_BLOCK_BYTES: usize = 32;

/// The first header stands here, so that its payload is aligned.
const START: usize = ALIGNMENT - TAG_BYTES;

/// The bit of a tag that says that the block is in use; sizes leave it free.
const IN_USE: u64 = 1;

/// A block, as the list shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    /// Where its header begins.
    pub(super) offset: usize,
    /// Its size with both tags.
    pub(super) bytes: usize,
    /// Whether somebody has it.
    pub(super) in_use: bool,
}

impl Listed {
    /// Returns where its payload begins, which is all that its owner knows of it.
    pub(super) fn payload(&self) -> usize {
        self.offset + TAG_BYTES
    }

    /// How many bytes its payload has.
    pub(super) fn payload_bytes(&self) -> usize {
        self.bytes - OVERHEAD_BYTES
    }

    fn end(&self) -> usize {
        self.offset + self.bytes
    }
}

/// Why a payload cannot be given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misuse {
    /// No block's payload begins there.
    NoPayload,
    /// It was given back already, or never taken.
    NotInUse,
}

/// The arena begins at a multiple of this, so that offsets identify cache lines: 128 bytes are
/// one line on some machines and two on most.
pub(super) const ARENA_ALIGNMENT: usize = 128;

const WORD_BYTES: usize = size_of::<AtomicU64>();

const WORDS: usize = ARENA_ALIGNMENT / WORD_BYTES;

/// An aligned piece of the arena.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Piece([AtomicU64; WORDS]);

/// The heap.
#[derive(Debug)]
pub(super) struct Heap {
    arena: Vec<Piece>,
    /// Where the last footer ends.
    end: usize,
    refused: u64,
}

impl Heap {
    /// Creates an empty heap of about that number of bytes: one free block, of
    /// [`LEAST_BLOCK_BYTES`] at least.
    pub(super) fn new(bytes: usize) -> Self {
        let block = bytes.saturating_sub(ALIGNMENT).max(LEAST_BLOCK_BYTES) / ALIGNMENT * ALIGNMENT;
        let end = START + block;
        let pieces = end.div_ceil(ARENA_ALIGNMENT);
        let arena = (0..pieces).map(|_| Piece::default()).collect();
        let mut heap = Heap { arena, end, refused: 0 };
        heap.set(Listed { offset: START, bytes: block, in_use: false });
        heap
    }

    /// The size of the block that serves a request; `None` where no number is that large.
    pub(super) fn block_bytes(request_bytes: usize) -> Option<usize> {
        let bytes = request_bytes.checked_add(OVERHEAD_BYTES)?;
        Some(bytes.checked_next_multiple_of(ALIGNMENT)?.max(LEAST_BLOCK_BYTES))
    }

    /// Takes the first free block that is large enough and gives back what it has too much.
    /// Returns where the payload begins; `None`, which is counted, if no block is large enough.
    pub(super) fn allocate(&mut self, request_bytes: usize) -> Option<usize> {
        let fit = Self::block_bytes(request_bytes).and_then(|bytes| {
            let block = self.blocks().find(|block| !block.in_use && block.bytes >= bytes)?;
            Some((block, bytes))
        });
        let Some((block, bytes)) = fit else {
            self.refused += 1;
            return None;
        };
        let rest = block.bytes - bytes;
        let taken = if rest < LEAST_BLOCK_BYTES { block.bytes } else { bytes };
        self.set(Listed { bytes: taken, in_use: true, ..block });
        if taken < block.bytes {
            self.set(Listed { offset: block.offset + taken, bytes: rest, in_use: false });
        }
        Some(block.payload())
    }

    /// Gives a payload back, and merges its block with whichever neighbour is free.
    pub(super) fn release(&mut self, payload: usize) -> Result<(), Misuse> {
        // A payload may hold anything, even what looks like a header: only the list shows where
        // blocks begin.
        let block =
            self.blocks().find(|block| block.payload() == payload).ok_or(Misuse::NoPayload)?;
        if !block.in_use {
            return Err(Misuse::NotInUse);
        }
        let mut merged = Listed { in_use: false, ..block };
        if let Some(next) = self.at(block.end()).filter(|next| !next.in_use) {
            merged.bytes += next.bytes;
        }
        if let Some(before) = self.before(block.offset).filter(|before| !before.in_use) {
            merged.offset = before.offset;
            merged.bytes += before.bytes;
        }
        self.set(merged);
        Ok(())
    }

    /// All blocks, in the order of their addresses.
    pub(super) fn blocks(&self) -> impl Iterator<Item = Listed> + '_ {
        std::iter::successors(self.at(START), |block| self.at(block.end()))
    }

    /// The words of the payload that begins there; none if no block that is in use has it.
    pub(super) fn words(&self, payload: usize) -> impl Iterator<Item = &AtomicU64> {
        let found = self.blocks().find(|block| block.in_use && block.payload() == payload);
        let bytes = found.map_or(0, |block| block.payload_bytes());
        (payload..payload + bytes).step_by(WORD_BYTES).map(|at| self.word(at))
    }

    /// How many requests were refused.
    pub(super) fn refused(&self) -> u64 {
        self.refused
    }

    /// The block whose header is at `offset`; `None` at the end of the arena.
    fn at(&self, offset: usize) -> Option<Listed> {
        if offset >= self.end {
            return None;
        }
        let tag = self.tag(offset);
        Some(Listed { offset, bytes: (tag & !IN_USE) as usize, in_use: tag & IN_USE != 0 })
    }

    /// The block that ends at `offset`, by its footer; `None` at the beginning of the arena.
    fn before(&self, offset: usize) -> Option<Listed> {
        if offset <= START {
            return None;
        }
        let tag = self.tag(offset - TAG_BYTES);
        let bytes = (tag & !IN_USE) as usize;
        Some(Listed { offset: offset - bytes, bytes, in_use: tag & IN_USE != 0 })
    }

    /// The word at an offset, which is a multiple of its size.
    fn word(&self, at: usize) -> &AtomicU64 {
        &self.arena[at / ARENA_ALIGNMENT].0[at % ARENA_ALIGNMENT / WORD_BYTES]
    }

    fn tag(&self, at: usize) -> u64 {
        self.word(at).load(Ordering::Relaxed)
    }

    /// Writes a block's header and footer.
    fn set(&mut self, block: Listed) {
        let tag = block.bytes as u64 | if block.in_use { IN_USE } else { 0 };
        for at in [block.offset, block.end() - TAG_BYTES] {
            self.word(at).store(tag, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests;
