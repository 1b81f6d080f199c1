//! Loads against each other.

use crate::{Estimate, GateOutcome, LoadNumber, LoadPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Loads against the first of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadComparison {
    /// Version of scruple.
    pub scruple: String,
    /// The sides; the first is the base.
    pub sides: Vec<LoadSide>,
    /// How many loads each side has, if they took turns; null of single loads.
    pub blocks: Option<u32>,
    /// The numbers of every side but the base, side by side.
    pub rows: Vec<LoadRow>,
    /// What became of the conditions.
    pub gates: Vec<LoadGate>,
    /// Sentences that say what makes the comparison doubtful.
    pub doubts: Vec<String>,
}

/// A side of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadSide {
    /// Its file, or its URL.
    pub name: String,
    /// What was asked for.
    pub plan: LoadPlan,
}

/// A number of a side, next to that of the base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadRow {
    /// The side, from 1.
    pub side: usize,
    /// Which number.
    pub number: LoadNumber,
    /// Of the base, in ns, per second, or as a share; null where it is unknown.
    pub base: Option<f64>,
    /// Of the side.
    pub value: Option<f64>,
    /// The side's number divided by the base's; null where either has no interval, or the base is 0.
    pub ratio: Option<Estimate>,
    /// Whether the 95 % interval of the difference excludes 0; null where it is unknown.
    pub differs: Option<bool>,
}

/// A condition and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadGate {
    /// As it was stated: `p99 > +5%`.
    pub condition: String,
    /// Which number.
    pub number: LoadNumber,
    /// What was found, over all sides.
    pub outcome: GateOutcome,
}
