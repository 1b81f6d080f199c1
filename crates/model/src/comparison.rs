use crate::{Estimate, Quantity, Treatment, Unit, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What two or more sessions say of each other. It can always be computed again from their folders.
///
/// The first side is the **base**: every effect is another side against it. Lists that hold one
/// entry per side are in the order of `sides`; lists of effects hold one entry per side but the
/// base, in the same order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// [`crate::COMPARISON_FORMAT`] of the writer.
    pub format: u32,
    /// Version of the scruple that compared.
    pub scruple: String,
    /// What is compared, the base first.
    pub sides: Vec<Side>,
    /// Facts that are not the same on all sides.
    pub facts: Vec<FactRow>,
    /// What is known to be the same on all sides: the machine, the boot; in sentences.
    pub alike: Vec<String>,
    /// What makes the whole comparison doubtful, in sentences, the worst first.
    pub warnings: Vec<String>,
    /// What the same computation (the A/A control `null`) says of the machines themselves: one per
    /// side but the base; null where one of the two did not measure it.
    pub controls: Vec<Option<SessionEffect>>,
    /// One per experiment that any side measured, in the order of the base.
    pub experiments: Vec<ComparedExperiment>,
    /// What became of the conditions that were asked for, in their order.
    pub gates: Vec<GateResult>,
}

/// One side of a comparison: a session, or several of the same setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// What it is called: the path that was given.
    pub name: String,
    /// The sessions' names.
    pub sessions: Vec<String>,
    /// The machine's name.
    pub host: String,
    /// When the first of them began, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// Trials with a record.
    pub trials: u64,
    /// Whether its A/A controls found no difference where there is none, or in no more of its sessions than
    /// chance explains (each finds one in one case of twenty); null where that is so and some session has
    /// no control.
    pub trusted: Option<bool>,
}

/// A recorded fact that differs between sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FactRow {
    /// What it is, in words: "kernel", "processor", "governor".
    pub name: String,
    /// What each side says; empty where one says nothing.
    pub values: Vec<String>,
    /// What the difference does to the comparison.
    pub weight: Weight,
}

/// What a difference of facts does to a comparison.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// It may be the very thing that is compared: another machine, kernel, setting.
    Subject,
    /// It moves numbers without anybody having wished it: load, a missing shield, another build.
    Nuisance,
    /// It makes numbers incomparable: what was measured is not the same thing.
    Invalid,
}

/// An experiment on all sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedExperiment {
    /// The experiment.
    pub id: String,
    /// Its question.
    pub question: String,
    /// The version of its design; null on a side that did not measure it.
    pub versions: Vec<Option<u32>>,
    /// Why nothing of it is compared, where nothing is: another version of the design, another
    /// definition, measured on one side alone.
    pub refused: Option<String>,
    /// What must be known before its numbers; in sentences.
    pub warnings: Vec<String>,
    /// Numbers of the design's findings.
    pub findings: Vec<ComparedQuantity>,
    /// One row per response and treatment that the base and another side measured.
    pub rows: Vec<ComparedRow>,
    /// Treatments that were measured on the base or another side, but not on both.
    pub treatments_left_out: u64,
    /// Claims whose verdict is not the same on all sides.
    pub verdicts: Vec<ComparedVerdict>,
}

/// A finding on all sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedQuantity {
    /// The finding's name.
    pub id: String,
    /// Its sentence, with `{}` still in it.
    pub sentence: String,
    /// What is asked.
    pub quantity: Quantity,
    /// The unit of the values; null for ratios, shares and exponents.
    pub unit: Option<Unit>,
    /// The number on each side.
    pub values: Vec<Option<Estimate>>,
    /// The other sides against the base.
    pub effects: Vec<Option<SessionEffect>>,
}

/// One response at one treatment on all sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedRow {
    /// Where.
    pub treatment: Treatment,
    /// Of what.
    pub response: String,
    /// What the response is called in words.
    pub label: String,
    /// In which unit.
    pub unit: Unit,
    /// The median over trials on each side; of several sessions the centre of their centres.
    pub values: Vec<Option<Estimate>>,
    /// The other sides against the base.
    pub effects: Vec<Option<SessionEffect>>,
}

/// One side against the base: a ratio, unpaired, since trials of different sessions have no block
/// in common.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionEffect {
    /// Side over base; null where it cannot be formed (a base indistinguishable from 0, fewer than 2
    /// numbers on a side), and where `difference` says it better.
    pub ratio: Option<Estimate>,
    /// Side less base, in the number's own terms: for findings that are no multiples of anything
    /// (shares, exponents, R², frequencies), and where a base indistinguishable from 0 leaves no
    /// ratio.
    pub difference: Option<Estimate>,
    /// What the interval is made of.
    pub unit_of_replication: Replication,
    /// The smallest difference that is found with 80 % power, at the 5 % level for this one
    /// comparison: relative for a ratio, in the number's own terms for a `difference`.
    pub floor: Option<f64>,
    /// The same where the error is shared with all of its family that do not differ (Hommel): what
    /// `differs` needs. Findings are one family, responses at treatments another. Null where so few
    /// trials cannot reach a verdict.
    pub floor_of_verdict: Option<f64>,
    /// Trials per side that a verdict takes, where a side has fewer; null where there are enough.
    #[serde(default)]
    pub trials_needed: Option<u32>,
    /// Standard deviation between sessions of the number's logarithm, estimated from all findings of
    /// the comparison; interval, p-value and floors include it. Null where it cannot be estimated.
    #[serde(default)]
    pub between: Option<f64>,
    /// Two-sided p-value of "no difference" before the correction; null where neither side nor base
    /// gives an interval. 0 for counts that are the same in all trials of a side.
    pub p_value: Option<f64>,
    /// Whether a difference stands after Hommel's correction over its family: all findings, or all
    /// responses at treatments, that are compared.
    pub differs: bool,
    /// Why there is no number, or what is to be doubted about it; may be empty.
    pub remark: String,
}

/// What the interval of a [`SessionEffect`] rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Replication {
    /// Trials of one session a side: it does not hold what changes from session to session.
    #[default]
    Trials,
    /// Sessions, two or more on each side.
    Sessions,
}

/// A claim whose verdict differs between sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedVerdict {
    /// The claim's name.
    pub id: String,
    /// The statement.
    pub text: String,
    /// The verdict on each side; null where the claim was not judged, inconclusive where the
    /// sessions of a side do not agree.
    pub verdicts: Vec<Option<Verdict>>,
}

/// What became of a condition such as `create > +5%`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateResult {
    /// The condition as it was given.
    pub condition: String,
    /// What the data say of it.
    pub outcome: GateOutcome,
    /// Why, in one sentence.
    pub reason: String,
    /// The comparisons it looked at, the worst first.
    pub looked_at: Vec<GateLook>,
}

/// One comparison that a gate looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateLook {
    /// The experiment.
    pub experiment: String,
    /// The response.
    pub response: String,
    /// The treatment.
    pub treatment: Treatment,
    /// The side that was held against the base: its place in `sides`.
    pub side: usize,
    /// The ratio.
    pub ratio: Option<Estimate>,
    /// Two-sided p-value against the condition's edge, before Hommel's correction over the gate's
    /// looks; null without a number.
    pub p_value: Option<f64>,
    /// What it says by itself.
    pub outcome: GateOutcome,
}

/// What a gate found. The order is that of severity.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// The interval excludes the condition: fine.
    Fine,
    /// The interval reaches over its edge, or there is no number: cannot tell.
    CannotTell,
    /// The condition is met after Hommel's correction: a regression.
    Regression,
}
