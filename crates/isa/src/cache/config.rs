//! What a cache is built like: its geometry, which line gives way, and what it does with stores.

use super::{Geometry, GeometryError};
use std::fmt;

/// The most ways of a tree of pseudo-LRU bits, which are one word for each set.
const TREE_WAYS_MAX: u32 = 64;

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
    /// The one that a binary tree of bits points to, each of which points away from the half of its ways
    /// that was accessed last (tree pseudo-LRU).
    Tree,
}

impl Policy {
    /// One word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lru => "lru",
            Self::Fifo => "fifo",
            Self::Random { .. } => "random",
            Self::Tree => "plru",
        }
    }
}

/// What is done with stores. A cache of instructions has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Writes {
    /// Whether a stored line is written to memory when it gives way (write-back); otherwise each store is
    /// written at once (write-through).
    pub back: bool,
    /// Whether a store that misses fetches its line (write-allocate); otherwise it goes past the cache.
    pub allocate: bool,
}

impl Default for Writes {
    /// Write-back and write-allocate.
    fn default() -> Self {
        Self { back: true, allocate: true }
    }
}

/// What a cache is built like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    geometry: Geometry,
    policy: Policy,
    writes: Writes,
}

impl Config {
    /// A cache that writes back and allocates.
    ///
    /// # Errors
    /// [`GeometryError::Tree`] if the policy is [`Policy::Tree`] and the ways are no power of two or more
    /// than 64.
    pub fn new(geometry: Geometry, policy: Policy) -> Result<Self, GeometryError> {
        let ways = geometry.ways();
        if policy == Policy::Tree && !(ways.is_power_of_two() && ways <= TREE_WAYS_MAX) {
            return Err(GeometryError::Tree { ways });
        }
        Ok(Self { geometry, policy, writes: Writes::default() })
    }

    /// The same with another treatment of stores.
    #[must_use]
    pub fn writing(self, writes: Writes) -> Self {
        Self { writes, ..self }
    }

    /// Its geometry.
    pub fn geometry(self) -> Geometry {
        self.geometry
    }

    /// Which line gives way.
    pub fn policy(self) -> Policy {
        self.policy
    }

    /// What is done with stores.
    pub fn writes(self) -> Writes {
        self.writes
    }
}

/// LRU, write-back and write-allocate.
impl From<Geometry> for Config {
    fn from(geometry: Geometry) -> Self {
        Self { geometry, policy: Policy::Lru, writes: Writes::default() }
    }
}

/// As `8 sets x 1 way x 8 B, lru`.
impl fmt::Display for Config {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}, {}", self.geometry, self.policy.name())
    }
}
