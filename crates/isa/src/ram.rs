//! Memory that a program has beyond what its file says.

use crate::program::{Program, Segment};

/// What linker scripts call the address above the stack of a board (those of picolibc, newlib,
/// FreeRTOS, and many boards).
const STACKS: [&str; 6] =
    ["__stack", "_stack_top", "__stack_top", "_estack", "stack_top", "__stack_end"];

/// The most memory between a program's data and its own stack, in bytes.
const RAM_MAX_BYTES: u32 = 16 << 20;

/// What a stack gets of which nothing tells where it ends, in bytes.
const STACK_BYTES: u32 = 1 << 16;

impl Program {
    /// Adds writable memory of zeros from an address on, wherever there is none yet. What reaches
    /// behind the last address is left out.
    pub fn add_memory(&mut self, address: u32, bytes: u32) {
        let end = u64::from(address) + u64::from(bytes);
        let mut taken: Vec<(u64, u64)> = self.segments.iter().map(Segment::place).collect();
        taken.push((end, u64::MAX));
        taken.sort_unstable();
        let mut from = u64::from(address);
        for (start, behind) in taken {
            let to = start.min(end).min(1 << 32);
            if from < to {
                let size = u32::try_from(to - from).unwrap_or(u32::MAX);
                let address = from as u32;
                self.segments.push(Segment { address, bytes: Vec::new(), size, writable: true });
            }
            from = from.max(behind);
        }
    }

    /// Adds the memory from its data up to the stack that it names, which a board has and a file does
    /// not say.
    pub(crate) fn add_own_stack(&mut self) {
        let stacks = STACKS.iter().filter_map(|name| self.address_of(name));
        if let Some(stack) = stacks.max()
            && let Some(address) = self.free_below(stack)
        {
            self.add_memory(address, stack - address);
        }
    }

    /// Where memory begins that ends at an address and at no other piece of memory; none if there is
    /// none.
    fn free_below(&self, end: u32) -> Option<u32> {
        let mut start = end.saturating_sub(RAM_MAX_BYTES);
        let mut found = false;
        for (from, to) in self.segments.iter().map(Segment::place) {
            let to = u32::try_from(to).ok()?;
            if from < u64::from(end) && to >= end {
                return None;
            }
            if to <= end && to > start {
                (start, found) = (to, true);
            }
        }
        let start = if found { start } else { end.checked_sub(STACK_BYTES)? };
        (start < end).then_some(start)
    }
}

#[cfg(test)]
mod tests {
    use crate::encode::{A0, addi};
    use crate::{Program, Segment};

    fn with(segments: &[(u32, u32)]) -> Program {
        let mut program = Program::from_words(0x1000, &[addi(A0, A0, 1)]);
        program.segments.extend(segments.iter().map(|(address, size)| Segment {
            address: *address,
            bytes: Vec::new(),
            size: *size,
            writable: true,
        }));
        program
    }

    #[test]
    fn a_stack_of_its_own_lies_above_the_data() {
        let free = |segments: &[(u32, u32)], end| with(segments).free_below(end);
        assert_eq!(free(&[(0x8010_0000, 0x800)], 0x8020_0000), Some(0x8010_0800));
        // Nothing near: as much as a stack mostly needs.
        assert_eq!(free(&[], 0x8020_0000), Some(0x801f_0000));
        // It is in a segment already, or there is no room.
        assert_eq!(free(&[(0x8010_0000, 0x10_0000)], 0x8020_0000), None);
        assert_eq!(free(&[(0x8010_0000, 0x20_0000)], 0x8020_0000), None);
        assert_eq!(free(&[], 0), None);
        assert_eq!(free(&[(0xffff_0000, 0x1_0000)], 0x8020_0000), None);
    }

    #[test]
    fn memory_is_added_where_there_is_none() {
        let added = |address, bytes| {
            let mut program = with(&[(0x2000, 0x100)]);
            program.add_memory(address, bytes);
            let added = program.segments.iter().skip(2);
            added.map(|segment| (segment.address, segment.size)).collect::<Vec<_>>()
        };
        assert_eq!(added(0x4000, 0x100), [(0x4000, 0x100)]);
        assert_eq!(added(0x0ff0, 0x1020), [(0x0ff0, 0x10), (0x1004, 0xffc)]);
        assert_eq!(added(0x2080, 0x100), [(0x2100, 0x80)]);
        assert_eq!(added(0x2000, 0x100), []);
        assert_eq!(added(0xffff_fff0, 0x100), [(0xffff_fff0, 0x10)]);
        assert_eq!(added(0, 0), []);
    }
}
