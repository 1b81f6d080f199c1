//! Caches, played access by access: which accesses hit, and why the others miss.
//!
//! An instruction cache is fed with what an instruction's address and size make of it. That is a matter
//! of definition, so it has a name ([`Fetch`]). A [`Cache`] is one geometry under one replacement policy,
//! for instructions or for data ([`Writes`]); a [`Sweep`] gives all caches of a list at once from a trace
//! that nobody stores. Both count the same things, a [`Tally`].
//!
//! # Why an access misses
//!
//! After M. D. Hill and A. J. Smith, *Evaluating associativity in CPU caches*, IEEE Transactions on
//! Computers 38(12), 1989, a miss is
//!
//! * **cold** (compulsory) if nothing accessed its line before;
//! * a **capacity** miss if a fully associative LRU cache of the same size would also miss;
//! * a **conflict** miss otherwise.
//!
//! Hill and Smith subtract miss counts of two caches. Here every single miss has its class, which is
//! the same except that a set-associative cache also *hits* where the fully associative one would
//! miss: a loop that is larger than the cache. Those hits are counted as [`Tally::spared`].
//!
//! The yardstick is LRU whatever the policy of the cache is. Under FIFO or random replacement a
//! conflict miss is therefore one that its mapping *or its policy* has caused, and a fully
//! associative cache can have some.

mod config;
mod fetch;
mod geometry;
mod held;
mod measures;
mod recency;
mod single;
mod sweep;
mod tags;
mod tally;

pub use config::{Config, Policy, Writes};
pub use fetch::{Fetch, Fetcher};
pub use geometry::{Geometry, GeometryError, LINE_BYTES_MAX, LINE_BYTES_MIN, LINES_MAX};
pub use measures::{no_reuse_hit_rate, smallest_reaching};
pub use single::{Cache, Effect, Miss, Outcome};
pub use sweep::Sweep;
pub use tally::Tally;

#[cfg(test)]
mod tests;
