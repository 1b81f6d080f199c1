//! The program's instructions, decoded once.

use super::memory::Memory;
use crate::decode::Instruction;
use crate::{Error, Program};
use std::ops::Range;

/// Over how many bytes of address the instructions of a program are decoded before it runs.
const DECODED_MAX_BYTES: u32 = 4 << 20;

/// An instruction for each halfword of the program, since one can begin at each.
///
/// Stores do not change them until `fence.i`, which the manual leaves open and which machines with a
/// cache for instructions do: a program that writes instructions and forgets `fence.i` runs the old
/// ones, here always.
#[derive(Clone, Debug)]
pub(super) struct Text {
    range: Range<u32>,
    compressed: bool,
    instructions: Vec<Instruction>,
    /// Halfwords that were stored to since the last `fence.i`, each once.
    stale: Vec<u32>,
    is_stale: Vec<bool>,
}

impl Text {
    /// Decodes the instructions of a program; of more than [`DECODED_MAX_BYTES`] those from the entry on.
    pub(super) fn new(program: &Program, memory: &Memory, compressed: bool) -> Result<Self, Error> {
        let mut range = program.text.clone();
        if range.is_empty() {
            return Err(Error::NoText);
        }
        if range.end - range.start > DECODED_MAX_BYTES {
            let start = if range.contains(&program.entry) { program.entry } else { range.start };
            range = start..range.end.min(start.saturating_add(DECODED_MAX_BYTES));
        }
        let bytes = range.end - range.start;
        if !range.start.is_multiple_of(2) {
            let (what, right) = ("the first address of the instructions", "even");
            return Err(Error::Wrong { what, value: range.start.into(), right });
        }
        let count = bytes / 2;
        let mut text = Self {
            range,
            compressed,
            instructions: Vec::with_capacity(count as usize),
            stale: Vec::new(),
            is_stale: vec![false; count as usize],
        };
        let decoded = (0..count).map(|index| text.fetch(memory, index)).collect();
        text.instructions = decoded;
        Ok(text)
    }

    /// The instruction at an address; `None` outside.
    #[inline(always)]
    pub(super) fn at(&self, pc: u32) -> Option<Instruction> {
        // An address before the range becomes an offset far behind it.
        let offset = pc.wrapping_sub(self.range.start);
        self.instructions.get((offset / 2) as usize).copied()
    }

    /// The instruction at a halfword, as memory has it now.
    fn fetch(&self, memory: &Memory, index: u32) -> Instruction {
        let half = |index: u32| {
            let address = self.range.start + 2 * index;
            // The end may be the end of memory, and odd.
            if address + 1 >= self.range.end {
                return None;
            }
            memory.bytes(address, 2)?.first_chunk().copied().map(u16::from_le_bytes)
        };
        Instruction::fetch(half(index), half(index + 1), self.compressed)
    }

    /// Notes that bytes were stored.
    #[inline(always)]
    pub(super) fn stored(&mut self, address: u32, bytes: u32) {
        // What begins up to `bytes - 1` before the range also reaches into it.
        let offset = address.wrapping_sub(self.range.start).wrapping_add(bytes - 1);
        if offset < self.range.end - self.range.start + bytes - 1 {
            self.note(address, bytes);
        }
    }

    #[cold]
    fn note(&mut self, address: u32, bytes: u32) {
        for byte in 0..bytes {
            let index = address.wrapping_add(byte).wrapping_sub(self.range.start) / 2;
            if let Some(is_stale) = self.is_stale.get_mut(index as usize)
                && !std::mem::replace(is_stale, true)
            {
                self.stale.push(index);
            }
        }
    }

    /// `fence.i`: decodes anew what was stored to. Its work is at most as much as that of the stores.
    #[cold]
    pub(super) fn refresh(&mut self, memory: &Memory) {
        for index in std::mem::take(&mut self.stale) {
            // A halfword is also the second half of what begins before it.
            for index in index.saturating_sub(1)..=index {
                let instruction = self.fetch(memory, index);
                if let Some(place) = self.instructions.get_mut(index as usize) {
                    *place = instruction;
                }
            }
            if let Some(is_stale) = self.is_stale.get_mut(index as usize) {
                *is_stale = false;
            }
        }
    }
}
