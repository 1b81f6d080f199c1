//! Which lines a cache holds that reads alone, of lines that somebody numbers: a look-up takes the same time
//! whatever the ways.

use super::config::{Config, Policy};
use super::tags::{SplitMix, point_away, pointed_to};

/// The lines of a cache under another policy than LRU. It does what [`Tags`](super::tags::Tags) do.
#[derive(Clone, Debug)]
pub(super) struct Held {
    config: Config,
    ways: usize,
    /// By the number of a line its way and 1; 0 where it is not held.
    places: Vec<u32>,
    /// Set after set, the numbers of the lines held.
    numbers: Vec<u32>,
    /// By set, how many lines were fetched.
    fetched: Vec<usize>,
    trees: Vec<u64>,
    draws: SplitMix,
}

impl Held {
    pub(super) fn new(config: Config) -> Self {
        let geometry = config.geometry();
        let seed = if let Policy::Random { seed } = config.policy() { seed } else { 0 };
        Self {
            config,
            ways: geometry.ways() as usize,
            places: Vec::new(),
            numbers: vec![0; geometry.lines() as usize],
            fetched: vec![0; geometry.sets() as usize],
            trees: vec![0; geometry.sets() as usize],
            draws: SplitMix(seed),
        }
    }

    pub(super) fn config(&self) -> Config {
        self.config
    }

    /// Reads a line, which has the number that no other has; returns whether it was there.
    #[inline]
    pub(super) fn access(&mut self, line: u32, number: usize) -> bool {
        let is_tree = self.config.policy() == Policy::Tree;
        let held = self.places.get(number).copied().unwrap_or(0);
        if held > 0 && !is_tree {
            return true;
        }
        let set = self.config.geometry().set(line) as usize;
        if held > 0 {
            point_away(&mut self.trees[set], self.ways, held as usize - 1);
            return true;
        }
        let fetched = self.fetched[set];
        let is_full = fetched >= self.ways;
        let way = match self.config.policy() {
            _ if !is_full => fetched,
            Policy::Tree => pointed_to(self.trees[set], self.ways),
            Policy::Random { .. } => self.draws.below(self.ways),
            Policy::Lru | Policy::Fifo => fetched % self.ways,
        };
        self.fetched[set] += 1;
        if is_tree {
            point_away(&mut self.trees[set], self.ways, way);
        }
        let place = &mut self.numbers[set * self.ways + way];
        if is_full {
            self.places[*place as usize] = 0;
        }
        *place = number as u32;
        if number >= self.places.len() {
            self.places.resize(number + 1, 0);
        }
        self.places[number] = way as u32 + 1;
        false
    }
}
