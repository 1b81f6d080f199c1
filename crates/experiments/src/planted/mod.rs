//! Known answers, planted so that the laboratory can be held against them.
//!
//! Each is an experiment like any other, run and judged by the same code; its design says beside
//! what is measured what the answer must be. Such a truth is derived from the constants that the
//! trial works with, and never from a measurement.

mod busy;
mod cause;
mod counts;
mod delay;
mod parallel;
mod preemption;
mod sharing;

use kit::Experiment;

/// The experiments of `scruple selftest`: their answers are known before they are measured, and
/// say nothing about the machine.
pub const PLANTED: &[Experiment] = &[
    delay::EXPERIMENT,
    counts::EXPERIMENT,
    parallel::EXPERIMENT,
    sharing::EXPERIMENT,
    cause::EXPERIMENT,
    preemption::EXPERIMENT,
];

#[cfg(test)]
mod tests;
