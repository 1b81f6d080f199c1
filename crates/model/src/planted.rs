use crate::{Cell, Quantity, Region};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A known answer that was put into a treatment, so that the laboratory can be held against it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Planted {
    /// Its name within the experiment.
    pub id: String,
    /// What was planted, in words: "a wait of 2,000 ns".
    pub what: String,
    /// The number in which it must show.
    pub quantity: Quantity,
    /// What that number would be if nothing had been planted.
    pub without: f64,
    /// Where it lies as planted: the truth, as wide as the planting is exact. If it holds
    /// `without`, nothing must be found.
    pub truth: Region,
    /// The size of the effect as a share of what it was planted into, where it has one: the size
    /// that a machine is graded by.
    pub size: Option<f64>,
}

/// A gap with a cause that was planted, and the suspects among whom it must be found.
///
/// Each suspect is removed in a treatment of its own (an ablation); the one whose removal closes
/// the largest share of the gap is named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnosis {
    /// Its name within the experiment.
    pub id: String,
    /// What is slow, in words: "two threads behind one lock".
    pub what: String,
    /// The response in which the gap shows.
    pub response: String,
    /// The treatment with the gap.
    pub whole: Cell,
    /// The treatment it is measured from.
    pub base: Cell,
    /// What may be the cause.
    pub suspects: Vec<Suspect>,
    /// The name of the suspect that was planted; none where the cause is not known.
    pub planted: Option<String>,
}

/// Something that may be the cause of a gap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Suspect {
    /// What it is called.
    pub name: String,
    /// The treatment from which it was removed.
    pub without: Cell,
}

impl Diagnosis {
    /// The share of the gap that vanishes without a suspect.
    pub fn share(&self, suspect: &Suspect) -> Quantity {
        Quantity::Share {
            response: self.response.clone(),
            whole: self.whole.clone(),
            without: suspect.without.clone(),
            base: self.base.clone(),
        }
    }
}
