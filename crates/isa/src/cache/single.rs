//! One cache, played access by access.

use super::recency::Recency;
use super::tags::{Looked, Tags};
use super::{Config, Tally};

/// No line: a line has four bytes or more, so that none has this number.
const NONE: u32 = u32::MAX;

/// What became of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The line was there.
    Hit,
    /// It was not.
    Miss(Miss),
}

/// Why a line was not there; [the module](super) says what that means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Miss {
    /// Nothing accessed it before.
    Cold,
    /// A fully associative LRU cache of the same size would hold it.
    Conflict,
    /// Not even that would hold it.
    Capacity,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    /// What became of it.
    pub outcome: Outcome,
    /// Whether it brought in its line.
    pub fetched: bool,
    /// The first address of the line that is written to memory since it gave way.
    pub written_back: Option<u32>,
}

/// A cache of one geometry under one policy.
///
/// An access costs a time in proportion to the ways, and memory is in proportion to the lines of the
/// cache and to the different lines that were ever accessed.
#[derive(Clone, Debug)]
pub struct Cache {
    tags: Tags,
    line_shift: u32,
    /// Which lines a fully associative LRU cache of the same size would hold.
    yardstick: Recency,
    /// The line accessed last, which no policy evicts before there is another access.
    last: u32,
    /// Whether another store to it changes nothing.
    last_is_dirty: bool,
    line_changes: u64,
    tally: Tally,
}

impl Cache {
    /// An empty cache.
    pub fn new(config: impl Into<Config>) -> Self {
        let config = config.into();
        let geometry = config.geometry();
        Cache {
            tags: Tags::new(config),
            line_shift: geometry.line_bytes().trailing_zeros(),
            yardstick: Recency::new(vec![geometry.lines()]),
            last: NONE,
            last_is_dirty: false,
            line_changes: 0,
            tally: Tally::default(),
        }
    }

    /// What it is built like.
    pub fn config(&self) -> Config {
        self.tags.config()
    }

    /// The set of the line in which an address lies.
    pub fn set(&self, address: u32) -> u32 {
        self.config().geometry().set(address >> self.line_shift)
    }

    /// The first addresses of the lines that a set holds, in no order.
    pub fn held(&self, set: u32) -> impl Iterator<Item = u32> {
        self.tags.held(set).map(|line| line << self.line_shift)
    }

    /// What it adds up to so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Accesses so far of another line than the one before; of a cache for instructions these are the
    /// accesses by [`Fetch::LineBuffer`](super::Fetch::LineBuffer).
    pub fn line_changes(&self) -> u64 {
        self.line_changes
    }

    /// Reads some bytes again if they lie in the line that was read last, and reports whether they do.
    #[inline]
    pub(crate) fn reads_again(&mut self, address: u32, bytes: u8) -> bool {
        let last = address.wrapping_add(u32::from(bytes.wrapping_sub(1))) >> self.line_shift;
        let again = address >> self.line_shift == self.last && last == self.last && bytes > 0;
        self.tally.accesses += u64::from(again);
        again
    }

    /// Reads the line in which an address lies, and fetches it if it is not there.
    #[inline]
    pub fn access(&mut self, address: u32) -> Outcome {
        if address >> self.line_shift == self.last {
            self.tally.accesses += 1;
            return Outcome::Hit;
        }
        self.effect(address, false).outcome
    }

    /// Reads or stores to the line in which an address lies.
    #[inline]
    pub fn effect(&mut self, address: u32, is_store: bool) -> Effect {
        let line = address >> self.line_shift;
        let writes = self.config().writes();
        let makes_dirty = is_store && writes.back;
        self.tally.accesses += 1;
        self.tally.writes += u64::from(is_store);
        if line == self.last && (!makes_dirty || self.last_is_dirty) {
            self.tally.written_through += u64::from(is_store && !writes.back);
            return Effect { outcome: Outcome::Hit, fetched: false, written_back: None };
        }
        self.look_up(line, is_store)
    }

    fn look_up(&mut self, line: u32, is_store: bool) -> Effect {
        self.line_changes += u64::from(line != self.last);
        let writes = self.config().writes();
        let fetches = writes.allocate || !is_store;
        let makes_dirty = is_store && writes.back;
        let Looked { hit, written_back } = self.tags.access(line, makes_dirty, fetches);
        let missed_by =
            if fetches { self.yardstick.access(line) } else { self.yardstick.touch(line) };
        let outcome = self.tally.note(hit, missed_by.map(|missed_by| missed_by > 0));
        if hit || fetches {
            self.last_is_dirty = makes_dirty || (line == self.last && self.last_is_dirty);
            self.last = line;
        }
        self.tally.write_misses += u64::from(is_store && !hit);
        self.tally.unfetched += u64::from(!hit && !fetches);
        self.tally.written_through += u64::from(is_store && !(writes.back && (hit || fetches)));
        self.tally.written_back += u64::from(written_back.is_some());
        let written_back = written_back.map(|line| line << self.line_shift);
        Effect { outcome, fetched: !hit && fetches, written_back }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, Geometry, Policy, Writes};
    use super::{Cache, Miss, Outcome};

    const HIT: Outcome = Outcome::Hit;
    const COLD: Outcome = Outcome::Miss(Miss::Cold);
    const CONFLICT: Outcome = Outcome::Miss(Miss::Conflict);
    const CAPACITY: Outcome = Outcome::Miss(Miss::Capacity);

    /// Returns what becomes of accesses to lines of 8 bytes, given by their numbers.
    fn outcomes(sets: u32, ways: u32, policy: Policy, lines: &[u32]) -> (Vec<Outcome>, Cache) {
        let geometry = Geometry::new(sets, ways, 8).unwrap();
        let mut cache = Cache::new(Config::new(geometry, policy).unwrap());
        let outcomes = lines.iter().map(|line| cache.access(line * 8 + 5)).collect();
        (outcomes, cache)
    }

    #[test]
    fn two_lines_of_one_place_conflict_while_another_is_free() {
        let (seen, cache) = outcomes(2, 1, Policy::Lru, &[0, 2, 0, 0, 1, 0]);
        assert_eq!(seen, [COLD, COLD, CONFLICT, HIT, COLD, HIT]);
        let tally = cache.tally();
        assert_eq!((tally.cold, tally.conflict, tally.capacity, tally.spared), (3, 1, 0, 0));
        assert_eq!((tally.hits(), tally.misses(), tally.hit_rate()), (2, 4, Some(2.0 / 6.0)));
        assert_eq!(tally.fetched_bytes(cache.config().geometry()), 32);
    }

    #[test]
    fn a_loop_larger_than_the_cache_is_spared_misses_by_its_mapping() {
        let (seen, cache) = outcomes(2, 1, Policy::Lru, &[0, 1, 2, 0, 1, 2]);
        assert_eq!(seen, [COLD, COLD, COLD, CAPACITY, HIT, CAPACITY]);
        let tally = cache.tally();
        assert_eq!(tally.spared, 1);
    }

    #[test]
    fn lru_keeps_what_was_used_and_fifo_what_came_last() {
        let lines = [0, 1, 0, 2, 0, 1];
        let (lru, _) = outcomes(1, 2, Policy::Lru, &lines);
        assert_eq!(lru, [COLD, COLD, HIT, COLD, HIT, CAPACITY]);
        let (fifo, _) = outcomes(1, 2, Policy::Fifo, &lines);
        // The yardstick, LRU, would still hold 0: the policy has lost it.
        assert_eq!(fifo, [COLD, COLD, HIT, COLD, CONFLICT, CAPACITY]);
    }

    #[test]
    fn random_replacement_repeats_with_its_seed_and_keeps_some_of_a_loop_that_lru_loses() {
        let lines: Vec<u32> = (0..4000).map(|index| index % 5).collect();
        let random = |seed| outcomes(1, 4, Policy::Random { seed }, &lines);
        let (first, cache) = random(1);
        assert_eq!(first, random(1).0);
        assert_ne!(first, random(2).0);
        // Those two replace the line that is wanted next; a choice at random mostly spares it.
        let rate = cache.tally().hit_rate().unwrap();
        assert!((0.5..0.75).contains(&rate), "{rate}");
        assert_eq!(outcomes(1, 4, Policy::Lru, &lines).1.tally().hits(), 0);
        assert_eq!(outcomes(1, 4, Policy::Fifo, &lines).1.tally().hits(), 0);
    }

    #[test]
    fn nothing_was_accessed_and_nothing_has_a_rate() {
        let (_, cache) = outcomes(1, 1, Policy::Lru, &[]);
        assert_eq!(cache.tally().hit_rate(), None);
    }

    #[test]
    fn a_tree_of_two_ways_is_lru_and_one_of_four_knows_less() {
        let lines = [0, 1, 0, 2, 0, 1, 2, 1, 0];
        assert_eq!(outcomes(1, 2, Policy::Tree, &lines).0, outcomes(1, 2, Policy::Lru, &lines).0);
        // After 0 to 3 and 0 again the tree points to 2, where LRU would take 1.
        let lines = [0, 1, 2, 3, 0, 4, 1, 2];
        let (tree, _) = outcomes(1, 4, Policy::Tree, &lines);
        assert_eq!(tree[5..], [COLD, HIT, CAPACITY]);
        let (lru, _) = outcomes(1, 4, Policy::Lru, &lines);
        assert_eq!(lru[5..], [COLD, CAPACITY, CAPACITY]);
        let geometry = |ways| Geometry::new(1, ways, 8).unwrap();
        assert!(Config::new(geometry(3), Policy::Tree).is_err());
        assert!(Config::new(geometry(128), Policy::Tree).is_err());
    }

    /// Two lines of one place, by hand: 0 is stored to, read, given up for 2 and read again.
    #[test]
    fn what_memory_is_told_depends_on_how_stores_are_written() {
        let counts = |back, allocate| {
            let config = Config::from(Geometry::new(2, 1, 8).unwrap());
            let mut cache = Cache::new(config.writing(Writes { back, allocate }));
            for (line, is_store) in [(0, true), (0, false), (0, true), (2, false), (0, false)] {
                cache.effect(line * 8, is_store);
            }
            let tally = cache.tally();
            (tally.misses(), tally.fetched(), tally.written_back, tally.written_through)
        };
        assert_eq!(counts(true, true), (3, 3, 1, 0));
        assert_eq!(counts(false, true), (3, 3, 0, 2));
        assert_eq!(counts(true, false), (4, 3, 1, 1));
        assert_eq!(counts(false, false), (4, 3, 0, 2));
    }
}
