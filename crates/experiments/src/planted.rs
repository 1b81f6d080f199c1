//! Known answers, planted so that the laboratory can be held against them.

use kit::Experiment;

/// The experiments of `scruple selftest`: their answers are known before they are measured, and
/// say nothing about the machine.
pub const PLANTED: &[Experiment] = &[];
