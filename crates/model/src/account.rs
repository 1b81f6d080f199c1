use crate::Cell;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cost account: what a measured total is made of, as counts times unit costs.
///
/// Counts and unit costs are measured in the same session as the total, and multiplied block by
/// block. What the parts leave over is the residual, which is shown and never hidden in a part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Account {
    /// Its name within the experiment.
    pub id: String,
    /// What is accounted for, in one line: "one fork with its wait".
    pub title: String,
    /// The total; its response's unit is the account's.
    pub total: Term,
    /// What it is made of.
    pub parts: Vec<Part>,
}

/// One line of an account: a number of things, each at its cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// What is counted, in a few words: "page faults of the child".
    pub label: String,
    /// How many.
    pub count: Term,
    /// What one costs, in the unit of the total.
    pub each: Term,
}

/// A number in an account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Term {
    /// A number known beforehand: one call, two hops.
    Known {
        /// The number.
        value: f64,
    },
    /// A response at one treatment.
    Measured {
        /// The response.
        response: String,
        /// The treatment.
        at: Cell,
    },
    /// A response at `of` less the same at `to`.
    Difference {
        /// The response.
        response: String,
        /// The treatment subtracted from.
        of: Cell,
        /// The treatment subtracted.
        to: Cell,
    },
}

impl Term {
    /// The response it is read from, if it is not known beforehand.
    pub fn response(&self) -> Option<&str> {
        match self {
            Term::Known { .. } => None,
            Term::Measured { response, .. } | Term::Difference { response, .. } => Some(response),
        }
    }

    /// The cells it names.
    pub fn cells(&self) -> Vec<&Cell> {
        match self {
            Term::Known { .. } => Vec::new(),
            Term::Measured { at, .. } => vec![at],
            Term::Difference { of, to, .. } => vec![of, to],
        }
    }
}

impl Account {
    /// All numbers it is made of, the total first.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        let parts = self.parts.iter().flat_map(|part| [&part.count, &part.each]);
        std::iter::once(&self.total).chain(parts)
    }
}
