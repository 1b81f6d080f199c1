use crate::QuantityResult;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A quantity that was asked of a session, with its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Asked {
    /// The session's name; of several in a folder, the path of its own.
    pub session: String,
    /// The experiment.
    pub experiment: String,
    /// The quantity in the quantity language.
    pub asked: String,
    /// The answer, as the report gives it.
    pub result: QuantityResult,
}
