//! What a session's analysis is made from.

use model::{Design, Environment, Record, ShieldReport};

/// A session as the analysis needs it.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Version of the scruple that analyses.
    pub scruple: &'a str,
    /// The session's name.
    pub session: &'a str,
    /// Whether every planned trial has a record.
    pub complete: bool,
    /// The machine, as the session found it.
    pub environment: &'a Environment,
    /// How the trials were shielded from the rest of it.
    pub shield: &'a ShieldReport,
    /// The experiments.
    pub designs: &'a [Design],
    /// Their trials, in any order.
    pub records: &'a [Record],
}
