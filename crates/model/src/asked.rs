use crate::QuantityResult;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A quantity that was asked of a session, with its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Asked {
    /// The session's name.
    pub session: String,
    /// Its folder, where several were asked: sessions of a class may have one name. Else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// The experiment.
    pub experiment: String,
    /// The quantity in the quantity language.
    pub asked: String,
    /// The answer, as the report gives it.
    pub result: QuantityResult,
}
