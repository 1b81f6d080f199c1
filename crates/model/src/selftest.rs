use crate::{ControlResult, DiagnosisResult, PlantedResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a self-test says: whether the laboratory, on this machine, finds the known answers that
/// were planted, and from which size of effect on it may be trusted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Selftest {
    /// Version of the scruple that analysed.
    pub scruple: String,
    /// The session's name.
    pub session: String,
    /// The folder of the session; null where only its summary is known.
    pub folder: Option<String>,
    /// Whether every planned trial has a record.
    pub complete: bool,
    /// The grade of this machine; null where no effect of a known size was measured.
    pub grade: Option<TrustGrade>,
    /// Whether all that was planted was found and sized (grade A): exit code 0.
    pub trusted: bool,
    /// The finest planted size, as a share of what it was planted into, such that it and all larger
    /// ones were found and sized; null where not even the largest was, or where the laboratory errs.
    pub finest: Option<f64>,
    /// For which size of effect this machine can be trusted, and for which it cannot, in a
    /// sentence.
    pub sentence: String,
    /// What stands between this machine and grade A, what is wrong before what was missed.
    pub reasons: Vec<String>,
    /// What to do about it; empty at grade A.
    pub advice: String,
    /// The planted answers.
    pub answers: Vec<AnswerStanding>,
    /// The planted causes.
    pub causes: Vec<CauseStanding>,
    /// Identical treatments compared: nothing may be found there.
    pub controls: Vec<ControlResult>,
    /// Whether none of them was told apart; null where none was measured.
    pub controls_silent: Option<bool>,
    /// What this machine cannot realise, which therefore was not tested and does not lower the
    /// grade; each with the reason.
    pub untested: Vec<String>,
}

/// The grade of a machine. Those above `F` differ in how small an effect may be to be trusted.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum TrustGrade {
    /// All that was planted was found and sized, and nothing where nothing was.
    A,
    /// Effects of 5 % and more were found and sized; or all effects, but not all causes or counts.
    B,
    /// Effects of 20 % and more were found and sized.
    C,
    /// Not even those.
    D,
    /// Something known was contradicted: a count is wrong, identical things differ, a truth is
    /// excluded, a wrong cause is named. Then the laboratory errs, and noise is no excuse.
    F,
}

/// What became of something known.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Found, and the truth is not excluded; or silence where nothing was planted.
    Right,
    /// Not found, in the noise; or without an interval, for want of trials.
    Missed,
    /// Contradicted.
    Wrong,
    /// This machine cannot realise it.
    Untested,
}

/// A planted answer with what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerStanding {
    /// The experiment.
    pub experiment: String,
    /// What was planted and what was measured.
    pub result: PlantedResult,
    /// What became of it.
    pub standing: Standing,
    /// Why it is not right; empty if it is.
    pub why: String,
}

/// A planted cause with what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CauseStanding {
    /// The experiment.
    pub experiment: String,
    /// What was planted and what was named.
    pub result: DiagnosisResult,
    /// What became of it.
    pub standing: Standing,
    /// Why it is not right; empty if it is.
    pub why: String,
}
