//! What an access of the instruction cache is.
//!
//! The same program has half as many accesses, or twice as many, by one definition or another, and
//! its hit rate follows. No hit rate means anything without the one it was counted by.

use super::Geometry;

/// What counts as one access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fetch {
    /// Each instruction, at the word in which it begins. The second word of an instruction of four
    /// bytes that begins in the middle of a word is not looked for: a convention of many trace
    /// simulators, and with compressed instructions an optimistic one.
    Instruction,
    /// Each line that the instruction's bytes touch: two, for one that straddles their border.
    Lines,
    /// Each word that the instruction's bytes touch, unless it is the word fetched last: a fetch unit
    /// that reads words and holds one.
    WordBuffer,
    /// Each line that the instruction's bytes touch, unless it is the line accessed last: a fetch unit
    /// that holds a line.
    LineBuffer,
}

impl Fetch {
    /// All definitions, in the order in which they are shown.
    pub const ALL: [Fetch; 4] =
        [Fetch::Instruction, Fetch::Lines, Fetch::WordBuffer, Fetch::LineBuffer];

    /// One word for it.
    pub fn name(self) -> &'static str {
        ["instruction", "lines", "word_buffer", "line_buffer"][self as usize]
    }
}

/// Turns instructions into accesses, by one definition and for lines of one size.
#[derive(Clone, Debug)]
pub struct Fetcher {
    /// What it reads at once: log2 of its bytes.
    unit_shift: u32,
    /// Whether the unit that it read last need not be read again.
    buffered: bool,
    /// Whether it looks for the unit in which an instruction ends.
    whole: bool,
    /// The unit that it read last.
    held: Option<u32>,
}

impl Fetcher {
    /// A fetch unit before a cache of that geometry, of which the line alone matters.
    pub fn new(fetch: Fetch, geometry: Geometry) -> Self {
        let unit_bytes = match fetch {
            Fetch::Instruction | Fetch::WordBuffer => 4,
            Fetch::Lines | Fetch::LineBuffer => geometry.line_bytes(),
        };
        Fetcher {
            unit_shift: unit_bytes.trailing_zeros(),
            buffered: matches!(fetch, Fetch::WordBuffer | Fetch::LineBuffer),
            whole: fetch != Fetch::Instruction,
            held: None,
        }
    }

    /// The addresses at which the cache is accessed for an instruction, two at most, in order. Its
    /// size is that of a [`Step`](crate::Step): 2 or 4 bytes, or 0 where nothing could be fetched,
    /// which is no access.
    ///
    /// A jump does not empty the buffer: what it holds is still what memory holds.
    #[inline]
    pub fn accesses(&mut self, pc: u32, size: u8) -> impl Iterator<Item = u32> + use<> {
        let (mut first, mut second) = (None, None);
        if let Some(beyond) = size.checked_sub(1) {
            let unit = pc >> self.unit_shift;
            first = self.read(unit);
            // No unit is shorter than the longest instruction, so that there is none between. The last
            // instruction of the address space goes on at 0.
            let last = pc.wrapping_add(u32::from(beyond)) >> self.unit_shift;
            if self.whole && last != unit {
                second = self.read(last);
            }
        }
        first.into_iter().chain(second)
    }

    #[inline]
    fn read(&mut self, unit: u32) -> Option<u32> {
        if self.buffered && self.held == Some(unit) {
            return None;
        }
        self.held = Some(unit);
        Some(unit << self.unit_shift)
    }
}

#[cfg(test)]
mod tests {
    use super::{Fetch, Fetcher, Geometry};

    fn seen(fetch: Fetch, line_bytes: u32, trace: &[(u32, u8)]) -> Vec<u32> {
        let mut fetcher = Fetcher::new(fetch, Geometry::new(1, 1, line_bytes).unwrap());
        trace.iter().flat_map(|(pc, size)| fetcher.accesses(*pc, *size)).collect()
    }

    /// Three short instructions, a long one over a word's border, one over a line's, and a jump back.
    const TRACE: [(u32, u8); 6] = [(0, 2), (2, 4), (6, 4), (10, 4), (14, 2), (0, 2)];

    #[test]
    fn every_definition_sees_the_same_instructions_differently() {
        assert_eq!(seen(Fetch::Instruction, 8, &TRACE), [0, 0, 4, 8, 12, 0]);
        assert_eq!(seen(Fetch::Lines, 8, &TRACE), [0, 0, 0, 8, 8, 8, 0]);
        assert_eq!(seen(Fetch::WordBuffer, 8, &TRACE), [0, 4, 8, 12, 0]);
        assert_eq!(seen(Fetch::LineBuffer, 8, &TRACE), [0, 8, 0]);
    }

    #[test]
    fn what_cannot_be_fetched_is_no_access() {
        for fetch in Fetch::ALL {
            assert!(seen(fetch, 8, &[(0x7fff_fffe, 0)]).is_empty(), "{fetch:?}");
        }
    }

    #[test]
    fn the_last_instruction_of_the_address_space_goes_on_at_0() {
        let last = [(0xffff_fffe, 4)];
        assert_eq!(seen(Fetch::Instruction, 8, &last), [0xffff_fffc]);
        assert_eq!(seen(Fetch::Lines, 8, &last), [0xffff_fff8, 0]);
        assert_eq!(seen(Fetch::WordBuffer, 8, &last), [0xffff_fffc, 0]);
        assert_eq!(seen(Fetch::LineBuffer, 4096, &last), [0xffff_f000, 0]);
    }

    #[test]
    fn a_loop_within_the_buffer_is_one_access() {
        let trace = [(8, 2), (10, 2), (8, 2), (10, 2)];
        assert_eq!(seen(Fetch::WordBuffer, 8, &trace), [8]);
        assert_eq!(seen(Fetch::LineBuffer, 8, &trace), [8]);
        assert_eq!(seen(Fetch::Lines, 8, &trace), [8, 8, 8, 8]);
    }
}
