//! What a cache adds up to.

use super::Geometry;
use super::single::{Miss, Outcome};

/// Accesses and what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Accesses, as the definition counts them.
    pub accesses: u64,
    /// Misses of lines that nothing accessed before.
    pub cold: u64,
    /// Misses that a fully associative LRU cache of the same size would have spared.
    pub conflict: u64,
    /// Misses that it would also have had.
    pub capacity: u64,
    /// Hits where it would have missed.
    pub spared: u64,
    /// Accesses that stored.
    pub writes: u64,
    /// Those of them that missed.
    pub write_misses: u64,
    /// Misses that fetched no line: stores to a cache that does not allocate.
    pub unfetched: u64,
    /// Lines written to memory when they gave way.
    pub written_back: u64,
    /// Stores written to memory at once.
    pub written_through: u64,
}

impl Tally {
    /// Counts what became of an access: whether its line was there, and whether a fully
    /// associative cache of the same size would have missed it; none where nothing accessed it
    /// before.
    pub(super) fn note(&mut self, hit: bool, yardstick_misses: Option<bool>) -> Outcome {
        let (count, miss) = match (hit, yardstick_misses) {
            (true, Some(false)) => return Outcome::Hit,
            (true, _) => {
                self.spared += 1;
                return Outcome::Hit;
            }
            (false, None) => (&mut self.cold, Miss::Cold),
            (false, Some(false)) => (&mut self.conflict, Miss::Conflict),
            (false, Some(true)) => (&mut self.capacity, Miss::Capacity),
        };
        *count += 1;
        Outcome::Miss(miss)
    }

    /// Misses of all classes.
    pub fn misses(&self) -> u64 {
        self.cold + self.conflict + self.capacity
    }

    /// Accesses that did not miss.
    pub fn hits(&self) -> u64 {
        self.accesses - self.misses()
    }

    /// Hits per access; `None` without accesses.
    pub fn hit_rate(&self) -> Option<f64> {
        (self.accesses > 0).then(|| self.hits() as f64 / self.accesses as f64)
    }

    /// Lines that were brought in.
    pub fn fetched(&self) -> u64 {
        self.misses() - self.unfetched
    }

    /// Bytes that were brought into a cache of that geometry: whole lines.
    pub fn fetched_bytes(&self, geometry: Geometry) -> u64 {
        self.fetched() * u64::from(geometry.line_bytes())
    }
}
