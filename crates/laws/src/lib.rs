//! The theory of scaling and queueing, as formulas and nothing else: no file, no clock, no
//! randomness of its own, and nothing known of any machine or session.
//!
//! * [`amdahl`], [`gustafson`], [`usl`], [`kink`]: throughput as a function of the number n of
//!   workers, each with its inverses. Every inverse undoes its forward formula, and latency is
//!   what [`little`]'s law makes of throughput; property tests hold both. (A widely copied
//!   implementation of the universal scalability law answers "how many workers for this
//!   throughput" by a formula without its coherency term, so that its own forward formula
//!   contradicts it.)
//! * [`queue`]: open stations M/G/1 and M/M/c.
//! * [`station`]: the same and what no formula reaches, played request by request.
//! * [`stack`]: where the speedup went, with a residual that makes the parts sum.
//! * [`fit`]: the laws fitted to points, with intervals, a choice between laws that gives its
//!   reason as data, and a peak only where the points reach.
//! * [`tail`] and [`roots`]: the probabilities and the bisection that these need, and that
//!   intervals of measurements need as well.
//!
//! Units: throughput is in operations per unit of time and times are in that same unit of time,
//! whichever the caller chose; a speedup is a ratio.
//!
//! A number that cannot be right (not finite, out of its range, an unstable queue, too few points)
//! is an [`Error`] that says what would be right. No function returns NaN.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

// Tests of this folder share a module with those of `tests/it`, which know the room by its name.
#[cfg(test)]
extern crate self as laws;

pub mod amdahl;
mod error;
pub mod fit;
pub mod gustafson;
pub mod kink;
pub mod little;
pub mod queue;
pub mod roots;
pub mod stack;
pub mod station;
pub mod tail;
pub mod usl;

pub use error::Error;
