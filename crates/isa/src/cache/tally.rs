//! What a cache adds up to.

use super::Geometry;

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
}

impl Tally {
    /// Misses of all classes. Each fetches a line.
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

    /// Bytes that the misses fetch into a cache of that geometry: a whole line each.
    pub fn fetched_bytes(&self, geometry: Geometry) -> u64 {
        self.misses() * u64::from(geometry.line_bytes())
    }
}
