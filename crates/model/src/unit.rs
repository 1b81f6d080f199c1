use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a response is measured in. Raw values are integers of this unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Bytes.
    Bytes,
    /// A number of things.
    Count,
    /// Parts per million of a whole; shown as a percentage.
    Ppm,
    /// Events per second.
    PerSecond,
    /// A unit named by a study's author.
    Other(String),
}

impl Unit {
    /// Returns the unit's name, as summary.json has it.
    pub fn name(&self) -> &str {
        match self {
            Unit::Ns => "ns",
            Unit::Bytes => "bytes",
            Unit::Count => "count",
            Unit::Ppm => "ppm",
            Unit::PerSecond => "per_second",
            Unit::Other(name) => name,
        }
    }

    /// The ending that the name of a response in this unit must have, if the unit fixes one.
    pub fn suffix(&self) -> Option<&'static str> {
        match self {
            Unit::Ns => Some("_ns"),
            Unit::Bytes => Some("_bytes"),
            Unit::Count => Some("_count"),
            Unit::Ppm => Some("_ppm"),
            Unit::PerSecond => Some("_per_s"),
            Unit::Other(_) => None,
        }
    }
}
