//! Which lines a cache holds, and which of them gives way.

use super::config::{Config, Policy};

/// A bit of a held line: memory does not have yet what was stored to it. Line numbers have at most 30
/// bits, since a line has four bytes or more.
const DIRTY: u32 = 1 << 31;

/// No line.
const EMPTY: u32 = DIRTY - 1;

/// What became of a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Looked {
    /// The line was there.
    pub(super) hit: bool,
    /// The line that gave way to it and that memory does not have.
    pub(super) written_back: Option<u32>,
}

/// The lines of a cache.
#[derive(Clone, Debug)]
pub(super) struct Tags {
    config: Config,
    ways: usize,
    /// Set after set. Under LRU and FIFO a set stands in the order in which its lines go, the next
    /// to go last.
    lines: Vec<u32>,
    /// By set the bits of its tree, where there is one: that of node n is bit n, the root is 1, and the
    /// children of n are 2n and 2n + 1. A 1 points to the second.
    trees: Vec<u64>,
    draws: SplitMix,
}

impl Tags {
    pub(super) fn new(config: Config) -> Self {
        let geometry = config.geometry();
        let seed = if let Policy::Random { seed } = config.policy() { seed } else { 0 };
        let trees = if config.policy() == Policy::Tree { geometry.sets() } else { 0 };
        Self {
            config,
            ways: geometry.ways() as usize,
            lines: vec![EMPTY; geometry.lines() as usize],
            trees: vec![0; trees as usize],
            draws: SplitMix(seed),
        }
    }

    pub(super) fn config(&self) -> Config {
        self.config
    }

    /// The lines of a set, each once; the rest of its places are empty.
    pub(super) fn held(&self, set: u32) -> impl Iterator<Item = u32> {
        let first = set as usize * self.ways;
        let lines = self.lines.get(first..first + self.ways).unwrap_or_default();
        lines.iter().filter(|line| **line != EMPTY).map(|line| line & !DIRTY)
    }

    /// Accesses a line, which is held afterwards, and dirty if the access makes it so; a line that is
    /// not to be fetched and was not there changes nothing.
    #[inline]
    pub(super) fn access(&mut self, line: u32, makes_dirty: bool, fetches: bool) -> Looked {
        let set_number = self.config.geometry().set(line) as usize;
        let first = set_number * self.ways;
        let set = &mut self.lines[first..first + self.ways];
        let dirty = if makes_dirty { DIRTY } else { 0 };
        if let Some(place) = set.iter().position(|held| held & !DIRTY == line) {
            set[place] |= dirty;
            match self.config.policy() {
                Policy::Lru => bring_forward(set, place),
                Policy::Tree => point_away(&mut self.trees[set_number], self.ways, place),
                Policy::Fifo | Policy::Random { .. } => {}
            }
            return Looked { hit: true, written_back: None };
        }
        if !fetches {
            return Looked { hit: false, written_back: None };
        }
        let place = match self.config.policy() {
            Policy::Lru | Policy::Fifo => {
                bring_forward(set, self.ways - 1);
                0
            }
            policy => match set.iter().position(|held| *held == EMPTY) {
                Some(free) => free,
                None if policy == Policy::Tree => pointed_to(self.trees[set_number], self.ways),
                None => self.draws.below(self.ways),
            },
        };
        if self.config.policy() == Policy::Tree {
            point_away(&mut self.trees[set_number], self.ways, place);
        }
        let gone = std::mem::replace(&mut set[place], line | dirty);
        let written_back = (gone & DIRTY != 0).then_some(gone & !DIRTY);
        Looked { hit: false, written_back }
    }
}

/// Puts the line at a place before those that stand before it.
#[inline]
fn bring_forward(set: &mut [u32], place: usize) {
    // Few places: swapping them is faster than to call for a copy.
    let mut moving = set[place];
    for held in &mut set[..=place] {
        std::mem::swap(held, &mut moving);
    }
}

/// Makes all bits above a way point to the other half.
pub(super) fn point_away(tree: &mut u64, ways: usize, way: usize) {
    let mut node = ways + way;
    while node > 1 {
        let is_second = node & 1;
        node >>= 1;
        *tree = *tree & !(1 << node) | ((1 - is_second as u64) << node);
    }
}

/// The way that the bits of a tree lead to.
pub(super) fn pointed_to(tree: u64, ways: usize) -> usize {
    let mut node = 1;
    while node < ways {
        node = 2 * node + (tree >> node & 1) as usize;
    }
    node - ways
}

/// SplitMix64: G. L. Steele, D. Lea and C. H. Flood, *Fast splittable pseudorandom number
/// generators*, OOPSLA 2014. A generator of our own, since replacement needs few and plain draws and
/// the same ones for ever.
#[derive(Clone, Copy, Debug)]
pub(super) struct SplitMix(pub(super) u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is at most 2^20: the product of 32 bits and the bound prefers
    /// none by more than one part in 4,096 (D. Lemire, *Fast random integer generation in an
    /// interval*, ACM Transactions on Modeling and Computer Simulation 29(1), 2019).
    pub(super) fn below(&mut self, bound: usize) -> usize {
        (((self.next() >> 32) * bound as u64) >> 32) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{SplitMix, point_away, pointed_to};

    #[test]
    fn draws_are_those_of_splitmix_and_prefer_none() {
        // The first three of the reference implementation's (S. Vigna, splitmix64.c) for the seed 0.
        let mut draws = SplitMix(0);
        let first = [draws.next(), draws.next(), draws.next()];
        assert_eq!(first, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
        let mut counts = [0_u32; 3];
        for _ in 0..30_000 {
            counts[draws.below(3)] += 1;
        }
        assert!(counts.iter().all(|count| (9_600..10_400).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_tree_points_away_from_what_was_accessed() {
        let after = |ways: &[usize]| {
            let mut tree = 0;
            ways.iter().for_each(|way| point_away(&mut tree, 4, *way));
            pointed_to(tree, 4)
        };
        // A hand-computed case: after 0, 1, 2, 3 the root points to the first half, and its bit to 0;
        // after one more access to 0, to the second half, where 3 was the last.
        assert_eq!(after(&[0, 1, 2, 3]), 0);
        assert_eq!(after(&[0, 1, 2, 3, 0]), 2);
        // LRU would be 1 here: a tree knows less.
        assert_eq!(after(&[1, 2, 3, 0, 2]), 1);
        assert_eq!(after(&[1, 3, 2, 0]), 3);
        let mut tree = 0;
        point_away(&mut tree, 1, 0);
        assert_eq!(pointed_to(tree, 1), 0);
        point_away(&mut tree, 64, 63);
        assert_eq!(pointed_to(tree, 64), 0);
    }
}
