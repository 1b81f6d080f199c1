//! Caches and sweeps against the most obvious program that could be written for each.

use super::{Cache, Config, Fetch, Fetcher, Geometry, Miss, Outcome, Policy, Sweep, Tally, Writes};
use crate::Access;
use proptest::prelude::*;
use std::collections::HashSet;

/// An LRU cache as lists of lines, the newest first.
struct Lists {
    sets: Vec<Vec<u32>>,
    ways: usize,
}

impl Lists {
    fn new(sets: u32, ways: u32) -> Self {
        Lists { sets: vec![Vec::new(); sets as usize], ways: ways as usize }
    }

    fn hits(&mut self, line: u32) -> bool {
        let sets = self.sets.len();
        let set = &mut self.sets[line as usize % sets];
        let place = set.iter().position(|held| *held == line);
        if let Some(place) = place {
            set.remove(place);
        }
        set.insert(0, line);
        set.truncate(self.ways);
        place.is_some()
    }
}

/// Outcomes of an LRU cache, and its tally, by lists.
fn by_lists(geometry: Geometry, addresses: &[u32]) -> (Vec<Outcome>, Tally) {
    let mut cache = Lists::new(geometry.sets(), geometry.ways());
    let mut full = Lists::new(1, geometry.lines());
    let mut seen = HashSet::new();
    let mut tally = Tally::default();
    let mut outcome = |address: &u32| {
        let line = address / geometry.line_bytes();
        let (hit, full_hit, new) = (cache.hits(line), full.hits(line), seen.insert(line));
        tally.accesses += 1;
        tally.spared += u64::from(hit && !full_hit);
        if hit {
            return Outcome::Hit;
        }
        let (count, class) = match (new, full_hit) {
            (true, _) => (&mut tally.cold, Miss::Cold),
            (false, true) => (&mut tally.conflict, Miss::Conflict),
            (false, false) => (&mut tally.capacity, Miss::Capacity),
        };
        *count += 1;
        Outcome::Miss(class)
    };
    (addresses.iter().map(&mut outcome).collect(), tally)
}

fn geometry() -> impl Strategy<Value = Geometry> {
    (0_u32..5, 1_u32..7, 2_u32..6)
        .prop_map(|(sets, ways, line)| Geometry::new(1 << sets, ways, 1 << line).unwrap())
}

/// Instructions of a program with loops and jumps, in memory of about a KiB: runs of instructions,
/// some of them repeated, so that lines come back at all distances.
fn trace() -> impl Strategy<Value = Vec<(u32, u8)>> {
    let run = (0_u32..512, prop::collection::vec(prop::sample::select(vec![2_u8, 4]), 1..24));
    let repeated = (run, 1_usize..6);
    prop::collection::vec(repeated, 1..24).prop_map(|runs| {
        let mut trace = Vec::new();
        for ((half, sizes), times) in runs {
            for _ in 0..times {
                let mut pc = 0x1_0000 + 2 * half;
                for size in &sizes {
                    trace.push((pc, *size));
                    pc += u32::from(*size);
                }
            }
        }
        trace
    })
}

fn addresses(fetch: Fetch, geometry: Geometry, trace: &[(u32, u8)]) -> Vec<u32> {
    let mut fetcher = Fetcher::new(fetch, geometry);
    trace.iter().flat_map(|(pc, size)| fetcher.accesses(*pc, *size)).collect()
}

fn play(config: impl Into<Config>, addresses: &[u32]) -> (Vec<Outcome>, Tally) {
    let mut cache = Cache::new(config);
    let outcomes = addresses.iter().map(|address| cache.access(*address)).collect();
    (outcomes, cache.tally())
}

fn fetch() -> impl Strategy<Value = Fetch> {
    prop::sample::select(Fetch::ALL.to_vec())
}

/// A cache under any policy; a tree has a power of two of ways.
fn config() -> impl Strategy<Value = Config> {
    let random = any::<u64>().prop_map(|seed| Policy::Random { seed });
    let policy = prop_oneof![Just(Policy::Lru), Just(Policy::Fifo), random, Just(Policy::Tree)];
    (geometry(), policy).prop_map(|(geometry, policy)| {
        Config::new(geometry, policy).unwrap_or_else(|_| Config::from(geometry))
    })
}

proptest! {
    #[test]
    fn an_lru_cache_is_what_lists_say(
        geometry in geometry(),
        fetch in fetch(),
        trace in trace(),
    ) {
        let addresses = addresses(fetch, geometry, &trace);
        prop_assert_eq!(play(geometry, &addresses), by_lists(geometry, &addresses));
    }

    #[test]
    fn a_sweep_is_each_of_its_caches(
        configs in prop::collection::vec(config(), 0..24),
        fetch in fetch(),
        trace in trace(),
    ) {
        let mut sweep = Sweep::new(&configs, fetch);
        for (pc, size) in &trace {
            sweep.access(*pc, *size);
        }
        let alone = |config: &Config| {
            let addresses = addresses(fetch, config.geometry(), &trace);
            (*config, play(*config, &addresses).1)
        };
        prop_assert_eq!(sweep.results(), configs.iter().map(alone).collect::<Vec<_>>());
    }

    /// Reading again what was read last changes no cache, so that a buffer changes the number of
    /// accesses, never that of misses.
    #[test]
    fn definitions_that_see_all_bytes_agree_on_every_miss(
        config in config(),
        trace in trace(),
    ) {
        let geometry = config.geometry();
        let tally = |fetch| play(config, &addresses(fetch, geometry, &trace)).1;
        let lines = tally(Fetch::Lines);
        for fetch in [Fetch::WordBuffer, Fetch::LineBuffer] {
            let other = tally(fetch);
            // A word is less than a line: an instruction in two words of one line has two accesses.
            let most = if fetch == Fetch::LineBuffer { lines.accesses } else { 2 * lines.accesses };
            prop_assert!(other.accesses <= most);
            prop_assert_eq!(Tally { accesses: lines.accesses, ..other }, lines);
        }
    }

    /// Where all instructions are whole words, the convention of one access each leaves nothing out.
    #[test]
    fn without_compressed_instructions_each_is_one_access(
        config in config(),
        trace in trace(),
    ) {
        let geometry = config.geometry();
        let trace: Vec<_> = trace.iter().map(|(pc, _)| (pc & !3, 4)).collect();
        let tally = |fetch| play(config, &addresses(fetch, geometry, &trace)).1;
        prop_assert_eq!(tally(Fetch::Instruction), tally(Fetch::Lines));
        prop_assert_eq!(tally(Fetch::Instruction).accesses, trace.len() as u64);
    }

    /// Whatever is replaced: the classes add up, nothing is cold twice, and the yardstick is the
    /// fully associative LRU cache itself.
    #[test]
    fn a_tally_adds_up_under_every_policy(
        config in config(),
        trace in trace(),
    ) {
        let geometry = config.geometry();
        let addresses = addresses(Fetch::Lines, geometry, &trace);
        let (outcomes, tally) = play(config, &addresses);
        let lines: HashSet<u32> =
            addresses.iter().map(|address| address / geometry.line_bytes()).collect();
        prop_assert_eq!(tally.cold, lines.len() as u64);
        prop_assert_eq!(tally.accesses, addresses.len() as u64);
        let hits = outcomes.iter().filter(|outcome| **outcome == Outcome::Hit).count();
        prop_assert_eq!(tally.hits(), hits as u64);
        let full = Geometry::fully_associative(geometry.lines(), geometry.line_bytes()).unwrap();
        let (_, yardstick) = play(full, &addresses);
        prop_assert_eq!((yardstick.conflict, yardstick.spared), (0, 0));
        // Hill and Smith's capacity misses: those of the yardstick that are not cold.
        prop_assert_eq!(tally.capacity + tally.spared, yardstick.capacity);
    }
    /// Stores of every kind against lists: what is there, and what is written to memory.
    #[test]
    fn stores_do_to_memory_what_lists_say(
        geometry in geometry(),
        back in any::<bool>(),
        allocate in any::<bool>(),
        accesses in prop::collection::vec((0_u32..1024, any::<bool>()), 0..300),
    ) {
        let writes = Writes { back, allocate };
        let mut cache = Cache::new(Config::from(geometry).writing(writes));
        // Lines of each set with whether they are dirty, the newest first.
        let mut sets: Vec<Vec<(u32, bool)>> = vec![Vec::new(); geometry.sets() as usize];
        let mut expected = Tally { accesses: accesses.len() as u64, ..Tally::default() };
        for (address, is_store) in accesses {
            let line = address / geometry.line_bytes();
            let set = &mut sets[(line % geometry.sets()) as usize];
            let place = set.iter().position(|(held, _)| *held == line);
            let was_dirty = place.is_some_and(|place| set.remove(place).1);
            expected.writes += u64::from(is_store);
            expected.write_misses += u64::from(is_store && place.is_none());
            let (mut gone, fetched) = (None, place.is_none() && (allocate || !is_store));
            if place.is_some() || fetched {
                set.insert(0, (line, was_dirty || (is_store && back)));
                if set.len() > geometry.ways() as usize {
                    gone = set.pop().filter(|(_, dirty)| *dirty).map(|(line, _)| line);
                }
                expected.written_through += u64::from(is_store && !back);
            } else {
                expected.unfetched += 1;
                expected.written_through += 1;
            }
            expected.written_back += u64::from(gone.is_some());
            let effect = cache.effect(address, is_store);
            prop_assert_eq!(effect.outcome == Outcome::Hit, place.is_some());
            prop_assert_eq!(effect.fetched, fetched);
            prop_assert_eq!(effect.written_back, gone.map(|line| line * geometry.line_bytes()));
        }
        let tally = cache.tally();
        let Tally { cold, conflict, capacity, spared, .. } = tally;
        prop_assert_eq!(tally, Tally { cold, conflict, capacity, spared, ..expected });
        prop_assert_eq!(tally.fetched(), tally.misses() - expected.unfetched);
    }

    /// For a cache that allocates, a sweep over data counts what the cache itself does.
    #[test]
    fn a_sweep_over_data_is_each_of_its_caches(
        configs in prop::collection::vec(config(), 1..12),
        accesses in prop::collection::vec((0_u32..1024, 0_usize..3, any::<bool>()), 0..300),
    ) {
        let mut sweep = Sweep::new(&configs, Fetch::Lines);
        let mut caches: Vec<Cache> = configs.iter().map(|config| Cache::new(*config)).collect();
        for (address, size, write) in accesses {
            let access = Access { address, bytes: 1 << size, write };
            sweep.data(&access);
            for cache in &mut caches {
                let line_bytes = cache.config().geometry().line_bytes();
                let last = address + u32::from(access.bytes) - 1;
                cache.effect(address, write);
                if last / line_bytes != address / line_bytes {
                    cache.effect(last, write);
                }
            }
        }
        for ((config, swept), cache) in sweep.results().into_iter().zip(&caches) {
            let tally = cache.tally();
            prop_assert_eq!(config, cache.config());
            let known = |tally: Tally| {
                (tally.accesses, tally.cold, tally.conflict, tally.capacity, tally.spared)
            };
            prop_assert_eq!(known(swept), known(tally));
        }
    }
}
