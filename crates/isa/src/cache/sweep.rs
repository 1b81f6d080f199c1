//! All caches of a list at once.
//!
//! Under LRU a set of w ways holds the w lines of that set accessed last, so that an access misses
//! in every cache with at most as many ways as its *distance*: how many other lines of the set were
//! accessed since (Mattson et al. 1970). One stack for each set therefore gives all numbers of ways
//! at once; Hill and Smith (1989) call it all-associativity simulation. With the place of the line
//! among all lines ([`Recency`]) each miss has its class as well: of caches of s sets and w ways those
//! with w at most the distance miss, and of these the ones have a capacity miss in whose s·w lines
//! even a fully associative cache would not hold it.
//!
//! Two things keep it fast. The line accessed last hits everywhere. And a line that was the last of
//! its set is also the last of its set in every cache with more sets, since a finer set is a part of
//! a coarser one (set refinement, ibid.): the rest of the stacks need not be looked at.
//!
//! Other policies have no such stack. Their caches are played one by one behind the same filter, and
//! share what gives a miss its class.

use super::held::Held;
use super::recency::Recency;
use super::{Config, Fetch, Fetcher, Policy, Tally};
use crate::Access;

/// Caches of many geometries and policies, fed with one trace that is not stored. Stores are like
/// loads to them: every access that misses fetches its line.
///
/// Memory is in proportion to the lines of the largest cache of each pair of line bytes and sets,
/// and to the different lines accessed. The length of the trace does not matter.
#[derive(Clone, Debug)]
pub struct Sweep {
    configs: Vec<Config>,
    fetch: Fetch,
    /// Log2 of the bytes of the shortest line.
    shift: u32,
    /// The line of that size that was accessed last, if another access of it is one that changes nothing
    /// but the number of accesses; else [`EMPTY`].
    held: u32,
    /// Accesses of all caches that lay in it.
    repeats: u64,
    /// By the bytes of a line, ascending.
    groups: Vec<Group>,
}

impl Sweep {
    /// Empty caches of these kinds, and what counts as an access of them if they are fed with
    /// instructions.
    pub fn new<C: Into<Config> + Copy>(caches: &[C], fetch: Fetch) -> Self {
        let configs: Vec<Config> = caches.iter().map(|cache| (*cache).into()).collect();
        let mut line_bytes: Vec<u32> =
            configs.iter().map(|one| one.geometry().line_bytes()).collect();
        line_bytes.sort_unstable();
        line_bytes.dedup();
        let group = |line_bytes: u32| {
            let mut members = configs.clone();
            members.retain(|one| one.geometry().line_bytes() == line_bytes);
            Group::new(&members, fetch)
        };
        Sweep {
            fetch,
            shift: line_bytes.first().map_or(0, |bytes| bytes.trailing_zeros()),
            held: EMPTY,
            repeats: 0,
            groups: line_bytes.into_iter().filter_map(group).collect(),
            configs,
        }
    }

    /// Fetches an instruction of `size` bytes: 2 or 4, or 0 where nothing could be fetched.
    #[inline]
    pub fn access(&mut self, pc: u32, size: u8) {
        let first = pc >> self.shift;
        let last = pc.wrapping_add(u32::from(size.wrapping_sub(1))) >> self.shift;
        if first == self.held && last == self.held && size > 0 {
            self.repeats += 1;
        } else {
            self.fetch(pc, size);
        }
    }

    fn fetch(&mut self, pc: u32, size: u8) {
        let Some(behind_first) = size.checked_sub(1) else { return };
        let last = pc.wrapping_add(u32::from(behind_first)) >> self.shift;
        let is_one_line = last == pc >> self.shift && self.fetch == Fetch::Lines;
        if is_one_line || self.fetch == Fetch::Instruction {
            // One access, of the line in which the instruction begins.
            for group in &mut self.groups {
                group.access(pc);
            }
            self.held = pc >> self.shift;
            return;
        }
        for group in &mut self.groups {
            for address in group.fetcher.accesses(pc, size) {
                group.access(address);
            }
        }
        self.held = if self.fetch == Fetch::Lines { last } else { EMPTY };
    }

    /// Loads or stores data: one access for each line that its bytes touch.
    #[inline]
    pub fn data(&mut self, access: &Access) {
        self.held = EMPTY;
        for group in &mut self.groups {
            let last = access.address.wrapping_add(u32::from(access.bytes.max(1)) - 1);
            group.access(access.address);
            if last >> group.line_shift != access.address >> group.line_shift {
                group.access(last);
            }
        }
    }

    /// Accesses so far of another line than the one before, for lines of that size; `None` if no cache has
    /// such lines. With [`Fetch::Lines`] these are the accesses by [`Fetch::LineBuffer`].
    pub fn line_changes(&self, line_bytes: u32) -> Option<u64> {
        let group = self.groups.iter().find(|group| group.line_bytes == line_bytes)?;
        Some(group.cold + group.missed_by.iter().sum::<u64>())
    }

    /// Each cache with what it adds up to so far, in the order in which they were given.
    pub fn results(&self) -> Vec<(Config, Tally)> {
        let result = |config: &Config| {
            let line_bytes = config.geometry().line_bytes();
            let group = self.groups.iter().find(|group| group.line_bytes == line_bytes)?;
            let tally = group.tally(*config)?;
            Some((*config, Tally { accesses: tally.accesses + self.repeats, ..tally }))
        };
        self.configs.iter().filter_map(result).collect()
    }
}

/// Caches with lines of the same size.
#[derive(Clone, Debug)]
struct Group {
    line_bytes: u32,
    line_shift: u32,
    fetcher: Fetcher,
    /// The line accessed last.
    last: Option<u32>,
    accesses: u64,
    cold: u64,
    recency: Recency,
    /// Accesses of known lines by how many of the recency's sizes miss them.
    missed_by: Vec<u64>,
    /// By sets, ascending: [`Group::access`] ends with the first that need not be looked at.
    families: Vec<Family>,
    /// Those under other policies than LRU.
    others: Vec<Other>,
}

/// A cache that is played by itself.
#[derive(Clone, Debug)]
struct Other {
    held: Held,
    /// The place of its lines among the recency's sizes.
    size: usize,
    /// Without the accesses.
    tally: Tally,
}

impl Group {
    /// `None` if there are no members.
    fn new(members: &[Config], fetch: Fetch) -> Option<Self> {
        let any = members.first()?.geometry();
        let recency = Recency::new(members.iter().map(|one| one.geometry().lines()).collect());
        let (stacked, others): (Vec<Config>, Vec<Config>) =
            members.iter().partition(|one| one.policy() == Policy::Lru);
        let other = |config: Config| {
            let size = recency.sizes().binary_search(&config.geometry().lines()).ok()?;
            Some(Other { held: Held::new(config), size, tally: Tally::default() })
        };
        let others = others.into_iter().filter_map(other).collect();
        let members: Vec<_> = stacked.iter().map(|one| one.geometry()).collect();
        let mut sets: Vec<u32> = members.iter().map(|one| one.sets()).collect();
        sets.sort_unstable();
        sets.dedup();
        // One set needs no stack: the recency knows all of it.
        sets.retain(|sets| *sets > 1);
        let family = |sets: u32| {
            let depth = members.iter().filter(|one| one.sets() == sets).map(|one| one.ways()).max();
            Family::new(sets, depth.unwrap_or(0) as usize, recency.sizes())
        };
        Some(Group {
            line_bytes: any.line_bytes(),
            line_shift: any.line_bytes().trailing_zeros(),
            fetcher: Fetcher::new(fetch, any),
            last: None,
            accesses: 0,
            cold: 0,
            missed_by: vec![0; recency.sizes().len() + 1],
            families: sets.into_iter().map(family).collect(),
            others,
            recency,
        })
    }

    #[inline]
    fn access(&mut self, address: u32) {
        self.accesses += 1;
        let line = address >> self.line_shift;
        if self.last != Some(line) {
            self.last = Some(line);
            self.look_up(line);
        }
    }

    #[inline]
    fn look_up(&mut self, line: u32) {
        let missed_by = self.recency.access(line);
        if !self.others.is_empty() {
            let number = self.recency.number(line);
            for Other { held, size, tally } in &mut self.others {
                let hit = held.access(line, number);
                tally.note(hit, missed_by.map(|missed_by| missed_by > *size));
            }
        }
        let Some(missed_by) = missed_by else {
            self.cold += 1;
            for family in &mut self.families {
                family.bring_to_front(line);
            }
            return;
        };
        self.missed_by[missed_by] += 1;
        for family in &mut self.families {
            let distance = family.bring_to_front(line);
            if distance == 0 {
                break;
            }
            family.count(distance, missed_by);
        }
    }

    /// What a member adds up to; `None` if it is none.
    fn tally(&self, config: Config) -> Option<Tally> {
        if config.policy() != Policy::Lru {
            let other = self.others.iter().find(|other| other.held.config() == config)?;
            return Some(Tally { accesses: self.accesses, ..other.tally });
        }
        let geometry = config.geometry();
        let size = self.recency.sizes().binary_search(&geometry.lines()).ok()?;
        let missed_by_equal: u64 = self.missed_by.get(size + 1..)?.iter().sum();
        let tally = Tally { accesses: self.accesses, cold: self.cold, ..Tally::default() };
        if geometry.sets() == 1 {
            return Some(Tally { capacity: missed_by_equal, ..tally });
        }
        let family = self.families.iter().find(|family| family.sets == geometry.sets())?;
        let ways = geometry.ways() as usize;
        let known: u64 = family.distances.get(ways..)?.iter().sum();
        let capacity: u64 = family.both.get(ways..)?.iter().sum();
        let spared = missed_by_equal - capacity;
        Some(Tally { conflict: known - capacity, capacity, spared, ..tally })
    }
}

/// Caches with the same line and the same number of sets.
#[derive(Clone, Debug)]
struct Family {
    sets: u32,
    /// The most ways of any of them.
    depth: usize,
    /// Set after set, each the lines accessed last, the newest first.
    stacks: Vec<u32>,
    /// Accesses of known lines by their distance, from 1 to `depth`, which stands for all beyond.
    distances: Vec<u64>,
    /// The same by the lesser of two: the distance, and the most ways with which a fully associative
    /// cache of the same size would miss.
    both: Vec<u64>,
    /// That number of ways, by how many of the recency's sizes miss.
    equal_ways: Vec<usize>,
}

/// No line has this number: a line has four bytes or more.
const EMPTY: u32 = u32::MAX;

/// Puts a line before all others of a set, of which the last gives way if it was not among them.
/// Returns at which place it stood, or the length of the set: its distance in the LRU stack.
#[inline]
fn bring_to_front(set: &mut [u32], line: u32) -> usize {
    let mut moving = line;
    for (place, held) in set.iter_mut().enumerate() {
        std::mem::swap(held, &mut moving);
        if moving == line {
            return place;
        }
    }
    set.len()
}

impl Family {
    fn new(sets: u32, depth: usize, sizes: &[u32]) -> Self {
        // If the first n sizes miss, so do all caches of as many lines as the largest of these. Every
        // cache of the list has one of the sizes, so that rounding down loses none.
        let missed = std::iter::once(0).chain(sizes.iter().copied());
        Family {
            sets,
            depth,
            stacks: vec![EMPTY; sets as usize * depth],
            distances: vec![0; depth + 1],
            both: vec![0; depth + 1],
            equal_ways: missed.map(|lines| depth.min((lines / sets) as usize)).collect(),
        }
    }

    /// Accesses a line. Returns its distance, at most `depth`.
    #[inline]
    fn bring_to_front(&mut self, line: u32) -> usize {
        let first = (line & (self.sets - 1)) as usize * self.depth;
        bring_to_front(&mut self.stacks[first..first + self.depth], line)
    }

    fn count(&mut self, distance: usize, missed_by: usize) {
        self.distances[distance] += 1;
        self.both[distance.min(self.equal_ways[missed_by])] += 1;
    }
}
