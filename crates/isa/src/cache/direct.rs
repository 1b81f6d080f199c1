//! One cache, played access by access.

use super::recency::Recency;
use super::{Geometry, Tally};

/// No line: a line has four bytes or more, so that none has this number.
const EMPTY: u32 = u32::MAX;

/// Which line of a set gives way to a new one. All fill the empty places of a set first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Policy {
    /// The one accessed longest ago.
    Lru,
    /// The one fetched longest ago.
    Fifo,
    /// Any, all alike.
    Random {
        /// What the choices come from; the same seed gives the same ones, on every machine.
        seed: u64,
    },
}

/// What became of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The line was there.
    Hit,
    /// It was fetched.
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

/// A cache of one geometry under one policy.
///
/// An access costs a time in proportion to the ways, and memory is in proportion to the lines of the
/// cache and to the different lines that were ever accessed.
#[derive(Clone, Debug)]
pub struct Cache {
    geometry: Geometry,
    policy: Policy,
    /// Set after set. Under LRU and FIFO a set stands in the order in which its lines go, the next
    /// to go last.
    lines: Vec<u32>,
    draws: SplitMix,
    /// Which lines a fully associative LRU cache of the same size would hold.
    yardstick: Recency,
    /// The line accessed last, which no policy evicts before there is another access.
    last: u32,
    tally: Tally,
}

impl Cache {
    /// An empty cache.
    pub fn new(geometry: Geometry, policy: Policy) -> Self {
        let seed = if let Policy::Random { seed } = policy { seed } else { 0 };
        Cache {
            geometry,
            policy,
            lines: vec![EMPTY; geometry.lines() as usize],
            draws: SplitMix(seed),
            yardstick: Recency::new(vec![geometry.lines()]),
            last: EMPTY,
            tally: Tally::default(),
        }
    }

    /// Its geometry.
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// What it adds up to so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Accesses the line in which an address lies, and fetches it if it is not there.
    pub fn access(&mut self, address: u32) -> Outcome {
        let line = self.geometry.line(address);
        self.tally.accesses += 1;
        if line == self.last {
            return Outcome::Hit;
        }
        self.last = line;
        let held_by_yardstick = self.yardstick.access(line).map(|missed_by| missed_by == 0);
        let hit = self.look_up(line);
        match (hit, held_by_yardstick) {
            (true, Some(true)) => Outcome::Hit,
            (true, _) => {
                self.tally.spared += 1;
                Outcome::Hit
            }
            (false, None) => {
                self.tally.cold += 1;
                Outcome::Miss(Miss::Cold)
            }
            (false, Some(true)) => {
                self.tally.conflict += 1;
                Outcome::Miss(Miss::Conflict)
            }
            (false, Some(false)) => {
                self.tally.capacity += 1;
                Outcome::Miss(Miss::Capacity)
            }
        }
    }

    /// Whether the line was there. It is afterwards.
    fn look_up(&mut self, line: u32) -> bool {
        let ways = self.geometry.ways() as usize;
        let first = self.geometry.set(line) as usize * ways;
        let set = &mut self.lines[first..first + ways];
        if self.policy == Policy::Lru {
            return bring_to_front(set, line) < ways;
        }
        if set.contains(&line) {
            return true;
        }
        if self.policy == Policy::Fifo {
            set.rotate_right(1);
            set[0] = line;
        } else {
            let free = set.iter().position(|held| *held == EMPTY);
            set[free.unwrap_or_else(|| self.draws.below(ways))] = line;
        }
        false
    }
}

/// Puts a line before all others of a set, of which the last gives way if it was not among them.
/// Returns at which place it stood, or the length of the set: its distance in the LRU stack.
pub(super) fn bring_to_front(set: &mut [u32], line: u32) -> usize {
    let mut moving = line;
    for (place, held) in set.iter_mut().enumerate() {
        std::mem::swap(held, &mut moving);
        if moving == line {
            return place;
        }
    }
    set.len()
}

/// SplitMix64: G. L. Steele, D. Lea and C. H. Flood, *Fast splittable pseudorandom number
/// generators*, OOPSLA 2014. A generator of our own, since replacement needs few and plain draws and
/// the same ones for ever.
#[derive(Clone, Copy, Debug)]
struct SplitMix(u64);

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
    fn below(&mut self, bound: usize) -> usize {
        (((self.next() >> 32) * bound as u64) >> 32) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{Cache, Geometry, Miss, Outcome, Policy, SplitMix};

    const HIT: Outcome = Outcome::Hit;
    const COLD: Outcome = Outcome::Miss(Miss::Cold);
    const CONFLICT: Outcome = Outcome::Miss(Miss::Conflict);
    const CAPACITY: Outcome = Outcome::Miss(Miss::Capacity);

    /// Returns what becomes of accesses to lines of 8 bytes, given by their numbers.
    fn outcomes(sets: u32, ways: u32, policy: Policy, lines: &[u32]) -> (Vec<Outcome>, Cache) {
        let mut cache = Cache::new(Geometry::new(sets, ways, 8).unwrap(), policy);
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
        assert_eq!(tally.fetched_bytes(cache.geometry()), 32);
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
    fn nothing_was_accessed_and_nothing_has_a_rate() {
        let (_, cache) = outcomes(1, 1, Policy::Lru, &[]);
        assert_eq!(cache.tally().hit_rate(), None);
    }
}
