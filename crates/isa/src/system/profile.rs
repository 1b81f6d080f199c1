//! Where in a program the steps and their costs lie.

use super::Seen;
use crate::table::Table;
use crate::{Program, Step, Symbol};
use std::collections::BTreeMap;

/// What happened at one address, or in one function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spot {
    /// Steps: instructions carried out, and traps.
    pub steps: u64,
    /// Cycles of those steps ([`Seen::cycles`]).
    pub cycles: u64,
    /// Lines of instructions that the first level lacked.
    pub instruction_misses: u64,
    /// Lines of data that it lacked.
    pub data_misses: u64,
    /// Branches that went otherwise than predicted.
    pub mispredicted: u64,
}

impl Spot {
    fn add(&mut self, other: &Spot) {
        self.steps += other.steps;
        self.cycles += other.cycles;
        self.instruction_misses += other.instruction_misses;
        self.data_misses += other.data_misses;
        self.mispredicted += other.mispredicted;
    }
}

/// What happened at each address of a program. Memory is in proportion to the addresses that were
/// carried out, by pages of 512 bytes.
#[derive(Clone, Debug)]
pub struct Profile {
    /// By halfword.
    spots: Table<Spot>,
}

impl Default for Profile {
    fn default() -> Self {
        Self::new()
    }
}

impl Profile {
    /// A profile of nothing.
    pub fn new() -> Self {
        Self { spots: Table::new() }
    }

    /// Notes a step and what it cost.
    #[inline]
    pub fn note(&mut self, step: &Step, seen: &Seen) {
        let spot = self.spots.get_mut(step.pc / 2);
        spot.steps += 1;
        spot.cycles += seen.cycles;
        spot.instruction_misses += u64::from(seen.instruction_misses);
        spot.data_misses += u64::from(seen.data_misses);
        spot.mispredicted += u64::from(seen.mispredicted);
    }

    /// Adds cycles to what is known of an address.
    #[inline]
    pub fn charge(&mut self, pc: u32, cycles: u64) {
        self.spots.get_mut(pc / 2).cycles += cycles;
    }

    /// Every address at which there was a step, ascending.
    pub fn spots(&self) -> Vec<(u32, Spot)> {
        let all = self.spots.all().filter(|(_, spot)| spot.steps > 0);
        all.map(|(half, spot)| (half * 2, *spot)).collect()
    }

    /// The sums of each function that a program names, and of what no name covers, the one with the most
    /// cycles first.
    pub fn functions<'p>(&self, program: &'p Program) -> Vec<(Option<&'p Symbol>, Spot)> {
        let mut sums: BTreeMap<Option<u32>, (Option<&Symbol>, Spot)> = BTreeMap::new();
        for (pc, spot) in self.spots() {
            let symbol = program.symbol_at(pc);
            let sum = sums.entry(symbol.map(|symbol| symbol.address));
            sum.or_insert((symbol, Spot::default())).1.add(&spot);
        }
        let mut all: Vec<_> = sums.into_values().collect();
        all.sort_by_key(|(_, spot)| std::cmp::Reverse(spot.cycles));
        all
    }
}
