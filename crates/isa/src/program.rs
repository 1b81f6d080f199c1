//! What the machine is given to run.

use std::ops::Range;

/// A program as it lies in memory before its first instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The address of its first instruction.
    pub entry: u32,
    /// Its memory. Segments may lie anywhere but over each other and over the timer.
    pub segments: Vec<Segment>,
    /// Where its instructions lie, the gaps between them included. Others may run; what runs off the end
    /// has ended.
    pub text: Range<u32>,
    /// How many bytes of that are instructions.
    pub text_bytes: u32,
    /// Names of addresses, where it comes with some, in order of their addresses.
    pub symbols: Vec<Symbol>,
    /// The address from which on memory is everywhere: it comes into being, as zeros, where it is first accessed.
    /// None where only segments and the stack are memory.
    pub sparse_from: Option<u32>,
}

/// A piece of a program's memory. All of it can be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// The address of its first byte.
    pub address: u32,
    /// What stands in it at first.
    pub bytes: Vec<u8>,
    /// How many bytes it has; those that `bytes` does not say are 0.
    pub size: u32,
    /// Whether stores to it are carried out.
    pub writable: bool,
}

impl Segment {
    /// Its first address, and the one behind its last.
    pub(crate) fn place(&self) -> (u64, u64) {
        (u64::from(self.address), u64::from(self.address) + u64::from(self.size))
    }
}

/// A name of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name as the program tells it.
    pub name: String,
    /// The address.
    pub address: u32,
    /// How many bytes it names; 0 where the program does not say.
    pub size: u32,
}

impl Program {
    /// A program of instructions alone, in writable memory, whose first is also its entry. With
    /// [`crate::encode`] this is how small programs are written.
    pub fn from_words(base: u32, words: &[u32]) -> Self {
        Self::from_bytes(base, words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }

    /// The same of instructions of 16 bits and of halves of longer ones
    /// ([`crate::encode::halfwords`]).
    pub fn from_halfwords(base: u32, halfwords: &[u16]) -> Self {
        Self::from_bytes(base, halfwords.iter().flat_map(|half| half.to_le_bytes()).collect())
    }

    /// The same of bytes.
    pub fn from_bytes(base: u32, bytes: Vec<u8>) -> Self {
        // More than the address space is refused by the machine, which compares sizes and bytes.
        let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        Self {
            entry: base,
            text: base..base.saturating_add(size),
            text_bytes: size,
            segments: vec![Segment { address: base, bytes, size, writable: true }],
            symbols: Vec::new(),
            sparse_from: None,
        }
    }

    /// The symbol whose bytes an address is one of: the last that begins at or before it, and of
    /// several there the largest, since marks such as `__bss_start` have no size.
    pub fn symbol_at(&self, address: u32) -> Option<&Symbol> {
        let holds = |symbol: &&Symbol| {
            address.checked_sub(symbol.address).is_some_and(|offset| offset < symbol.size.max(1))
        };
        self.symbols.iter().filter(holds).max_by_key(|symbol| (symbol.address, symbol.size))
    }

    /// The address of a symbol.
    pub fn address_of(&self, name: &str) -> Option<u32> {
        self.symbols.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.address)
    }
}
