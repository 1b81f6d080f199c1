use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A main answer of an experiment: a line of the first screen of a report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Headline {
    /// The group of answers that it stands in, of any experiments; behind a colon, what the axis of
    /// the group shows.
    pub group: String,
    /// What is asked: in a few words, or as a question where yes or no answers it.
    pub label: String,
    /// The finding, or the claim, whose number answers.
    pub of: String,
    /// The claim that decides a question; none where `of` names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
    /// The answer in words with `{}` for the number, true whatever that is; of a question, the
    /// evidence.
    pub says: String,
    /// Whether the number shown is 1 divided by the ratio.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub turned: bool,
    /// When the answer is yes; none where the number itself answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yes: Option<Yes>,
}

/// When the answer to a question is yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Yes {
    /// The claim is supported.
    Supported,
    /// The claim is refuted.
    Refuted,
    /// The ratio lies above 1.
    Above,
    /// The ratio lies below 1.
    Below,
}
