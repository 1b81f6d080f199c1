//! The theory of scaling and queueing, as formulas and nothing else: no file, no clock, no
//! randomness of its own, and nothing known of any machine or session.
//!
//! * [`fit`]: the laws of n workers (throughput as a function of n) fitted to points, with intervals, a
//!   choice between laws that gives its reason as data, and a peak only where the points reach.
//! * [`little`]: Little's law.
//! * [`queue`]: open stations M/G/1 and M/M/c.
//! * [`station`]: the same and what no formula reaches, played request by request.
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

mod error;
pub mod fit;
pub mod little;
pub mod queue;
pub mod roots;
pub mod station;
pub mod tail;

pub use error::Error;
