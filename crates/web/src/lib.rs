//! HTTP on loopback: servers that differ in their model of concurrency alone, and a load generator
//! that keeps what others drop.
//!
//! * [`serve`]: seven models with one parser and one handler.
//! * [`load`]: requests at intended times, three times of each, and what became of all of them.
//!
//! It knows no experiment and writes no file.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

pub mod load;
pub mod serve;
