use crate::{Cell, Likeness, Lost, Quantity, Region, Treatment, Unit, Visible};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `summary.json`: what the stored trials say. It can always be computed again from them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// [`crate::SUMMARY_FORMAT`] of the writer.
    pub format: u32,
    /// Version of the scruple that analysed.
    pub scruple: String,
    /// The session's name.
    pub session: String,
    /// Whether every planned trial has a record.
    pub complete: bool,
    /// Whether this machine found a difference between identical treatments.
    pub trust: Trust,
    /// What the instrument itself cost.
    pub harness: Harness,
    /// What the machine did beside the trials.
    pub meter: Meter,
    /// One per experiment, in the order of the catalog.
    pub experiments: Vec<ExperimentSummary>,
}

/// What the A/A controls say of the machine during this session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trust {
    /// All controls, over all experiments.
    pub controls: Vec<ControlResult>,
    /// Whether none of them found a difference between identical treatments.
    pub holds: bool,
    /// The smallest relative difference that a control could have found with 80 % power; null
    /// where there were too few blocks.
    pub floor: Option<f64>,
    /// The same in ten times the time: with ten times the blocks, if these are independent.
    pub floor_in_ten_times: Option<f64>,
    /// What the session's ratios can show; null where none has a floor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visible: Option<Visible>,
}

/// What the machine did beside the trials, over the whole session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Meter {
    /// Trials with at least one tag.
    pub tagged: u64,
    /// Each tag that occurred, with its number of trials.
    pub tags: Vec<(String, u64)>,
    /// Median time of the calibration loop, in nanoseconds.
    pub calibration_ns: Option<f64>,
    /// How far the slowest tenth of the trials' calibration loops lay above the fastest tenth, as
    /// a share: what changes of the CPU's clock, and neighbours on the same core, can do.
    pub calibration_spread: Option<f64>,
    /// Time stolen by the hypervisor, as a share of the time of all trials on one CPU.
    pub steal_share: Option<f64>,
    /// Time in which some task waited for a CPU, as a share of the time of all trials.
    pub cpu_pressure_share: Option<f64>,
    /// Time in which a CPU quota throttled the session, as a share of the time of all trials.
    pub throttled_share: Option<f64>,
    /// What all trials were measured under and what changes numbers: a quota that throttled, limits, a tracer,
    /// a filter of system calls and other inherited state; in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<String>,
    /// What else was recognised: autogroup, a governor, a clock that changed; in sentences.
    pub recognised: Vec<String>,
}

/// Two identical treatments compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ControlResult {
    /// The experiment.
    pub experiment: String,
    /// The response.
    pub response: String,
    /// The levels that both treatments have in common, where their design names them.
    pub at: Cell,
    /// The ratio of the two.
    pub ratio: Estimate,
    /// Whether a difference was found where there is none (after Hommel over the controls).
    pub differs: bool,
}

/// What the instrument itself cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Harness {
    /// Trials with a record.
    pub trials: u64,
    /// From before the start of a trial's process to its `Ready`, without the trial's own set-up:
    /// median over trials, in nanoseconds.
    pub spawn_to_ready_ns: Option<u64>,
    /// Time per trial outside its timed region (start, set-up, end, storage): median, in ns.
    pub outside_ns: Option<u64>,
    /// CPU time of the runner while trials measured, as a share of that time.
    pub runner_cpu_share: Option<f64>,
    /// CPU time of others while trials lived, as a share of that time: it is known over their whole
    /// life.
    pub foreign_cpu_share: Option<f64>,
    /// Trials that left processes behind (which were killed).
    pub leaking_trials: u64,
}

/// What an experiment's trials say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExperimentSummary {
    /// The experiment.
    pub id: String,
    /// The version of its design.
    pub version: u32,
    /// Its question.
    pub question: String,
    /// Blocks with at least one record.
    pub blocks: u32,
    /// The sets of CPUs that its completed trials used, at most 8, those of the most trials first. Trials that
    /// the scheduler could place on any CPU are in none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ran_on: Vec<RanOn>,
    /// How its trials ended.
    pub outcomes: Vec<OutcomeCount>,
    /// One row per treatment and response.
    pub estimates: Vec<EstimateRow>,
    /// The answer.
    pub findings: Vec<FindingResult>,
    /// What the totals are made of.
    pub accounts: Vec<AccountResult>,
    /// The verdicts.
    pub claims: Vec<ClaimResult>,
    /// The smallest difference that can be found, by response.
    pub floors: Vec<ResponseFloor>,
    /// Where the scatter comes from, by response.
    pub variances: Vec<Variance>,
    /// What became of the known answers.
    pub planted: Vec<PlantedResult>,
    /// What the gaps come from.
    pub diagnoses: Vec<DiagnosisResult>,
    /// Manipulation checks that failed, each with the number of trials: a failed check casts
    /// doubt on the treatment it belongs to.
    pub failed_checks: Vec<(String, u64)>,
    /// Trials preempted, stolen from, migrated and the like, each with their number; never deleted.
    pub tags: Vec<(String, u64)>,
    /// What a reader must know before the numbers: refusals, disturbance, too few blocks.
    pub warnings: Vec<String>,
}

/// CPUs that trials used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RanOn {
    /// The CPUs, ascending.
    pub cpus: Vec<u32>,
    /// The number of trials.
    pub trials: u64,
}

/// How many trials ended in one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeCount {
    /// `completed`, `unsupported`, `failed`, `died`, `timed_out`, `out_of_memory`,
    /// `protocol_violated`.
    pub outcome: String,
    /// The reason, where there is one.
    pub reason: String,
    /// The treatments it happened to, at most 8.
    pub treatments: Vec<Treatment>,
    /// Trials.
    pub trials: u64,
}

/// A number with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The number.
    pub point: f64,
    /// Lower end of the confidence interval.
    pub low: f64,
    /// Upper end of the confidence interval.
    pub high: f64,
    /// Standard error of the point (on the log scale for ratios), where the method has one.
    pub standard_error: Option<f64>,
    /// Confidence level of the interval, 0.95; 1 of a number that was computed, not measured, whose
    /// ends are both the number itself.
    pub level: f64,
    /// Trials or blocks behind it.
    pub samples: u32,
}

impl Estimate {
    /// A number that was computed as often as there are samples, each time with the same outcome.
    pub fn exactly(point: f64, samples: u32) -> Self {
        Estimate { point, low: point, high: point, standard_error: None, level: 1.0, samples }
    }

    /// Returns the number and its ends on another scale, which keeps their order; the standard error stays
    /// on the scale that it was formed on.
    #[must_use]
    pub fn map(self, to: impl Fn(f64) -> f64) -> Self {
        Estimate { point: to(self.point), low: to(self.low), high: to(self.high), ..self }
    }

    /// Returns a number between the ends of its 95 % interval, of which only that is known.
    pub fn between(low: f64, point: f64, high: f64) -> Self {
        Estimate { point, low, high, standard_error: None, level: 0.95, samples: 0 }
    }

    /// Whether the number was computed, not measured ([`crate::Response::exact`]).
    pub fn is_exact(&self) -> bool {
        self.level >= 1.0
    }
}

/// The estimate of one response at one treatment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EstimateRow {
    /// Where.
    pub treatment: Treatment,
    /// Of what.
    pub response: String,
    /// In which unit.
    pub unit: Unit,
    /// The median over trials, with its interval; of a response of which a finding or a claim asks how
    /// often it happens, the frequency over all trials. Null with fewer than 2 trials.
    pub estimate: Option<Estimate>,
    /// As in a quantity: set where the trials' elapsed times are corrected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried_by: Option<String>,
    /// Trials behind it that have a tag.
    pub tagged: u32,
    /// The same from the trials without a tag, where some have one; null with fewer than 2.
    pub untagged: Option<Estimate>,
}

/// A quantity with its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuantityResult {
    /// What was asked.
    pub quantity: Quantity,
    /// The unit of the estimate; null for ratios, shares and exponents.
    pub unit: Option<Unit>,
    /// The answer; null where the trials do not give one. Of what is formed by block it is the
    /// median over blocks.
    pub estimate: Option<Estimate>,
    /// The ratio of the means of all blocks; null for what is no ratio, and where it lies within the
    /// interval, so that it tells nothing else.
    pub of_means: Option<f64>,
    /// For a frequency: how often it happened.
    pub events: Option<u64>,
    /// For a frequency: how often it could have happened.
    pub chances: Option<u64>,
    /// If other programs took elapsed time from the trials: `corrected_` and the response's name. The
    /// number is then formed from each trial's elapsed time less what they took.
    pub carried_by: Option<String>,
    /// The smallest difference from the point that would have been found with 80 % power, in the
    /// estimate's own terms (relative for ratios). For this one comparison at the 5 % level: a
    /// verdict that shares its error with others (Hommel) needs more.
    pub floor: Option<f64>,
    /// The same in ten times the time: with ten times the blocks, if these are independent.
    pub floor_in_ten_times: Option<f64>,
    /// Where the interval of a ratio lies; null of another quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub likeness: Option<Likeness>,
    /// Trials that one side lost, if more than chance explains, or because they timed out: they may be
    /// its slow ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<Lost>,
    /// Trials behind it that have a tag.
    pub tagged: u32,
    /// The same from the trials without a tag, where some have one; null where they do not give
    /// it.
    pub untagged: Option<Estimate>,
    /// Why there is no estimate, or what is to be doubted about it; may be empty.
    pub remark: String,
}

/// A finding with its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindingResult {
    /// The finding's name.
    pub id: String,
    /// Its sentence, with `{}` still in it.
    pub sentence: String,
    /// Its value.
    pub result: QuantityResult,
}

/// A claim with its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimResult {
    /// The claim's name.
    pub id: String,
    /// The statement.
    pub text: String,
    /// Who makes it.
    pub source: String,
    /// Its mechanism.
    pub mechanism: String,
    /// The number that decides.
    pub result: QuantityResult,
    /// Where it lies if the claim is true.
    pub holds_if: Region,
    /// The verdict, after Hommel's correction over the session's claims.
    pub verdict: Verdict,
    /// Why there is no verdict; null where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<Open>,
    /// Two-sided p-value of the verdict before the correction; null where there is no number, and
    /// where it was computed, so that it is certain.
    pub p_value: Option<f64>,
    /// Blocks whose own number lies on the same side of the region's end as the point, or within
    /// the region if the point does; null for a frequency.
    pub agreeing_blocks: Option<u32>,
    /// The independent blocks that the p-value counts, where neighbouring blocks are alike; null
    /// where it counts all of them as such, and for a frequency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub independent_blocks: Option<f64>,
    /// The number's floor as its verdict needs it, which shares its error with the claims that the session
    /// leaves open: the smallest difference from an end of the region that is decided in 80 % of
    /// sessions. In the terms of `result.floor`; null where that is, and where so few blocks decide
    /// nothing.
    pub floor_of_verdict: Option<f64>,
    /// What a reader should know about it; may be empty.
    pub note: String,
    /// What kind of evidence the verdict rests on.
    pub grade: Grade,
    /// What would raise the grade; empty at the highest.
    pub raise: String,
}

/// Why a claim has no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Open {
    /// What stands against a verdict.
    pub why: OpenWhy,
    /// The verdict to which the number points; null without a number.
    pub leans: Option<Verdict>,
    /// How many more blocks decide it among the session's claims, if all claims' blocks agree as often as
    /// those measured; null where no number of blocks that a session would measure does.
    pub more_blocks: Option<u32>,
}

/// What stands against a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OpenWhy {
    /// There is no number, or no number could refute the claim.
    NoNumber,
    /// There are fewer blocks than any verdict takes.
    FewBlocks,
    /// The interval holds an end of the claim's region.
    AtTheEdge,
    /// The interval lies on one side of the edge, but too few blocks agree for a verdict, whatever the
    /// session's other claims.
    FewAgree,
    /// Enough blocks agree for a verdict on this claim alone, but not among the session's claims.
    FewAmong,
    /// One side lost more trials than the other, and a verdict would not stand if these were its slow or its
    /// fast ones.
    Lost,
    /// The number changed during the session, and one part alone does not decide the claim.
    Changed,
    /// Elapsed time as measured and without what other programs took decide the claim in opposite ways.
    ClocksDisagree,
}

/// What the data say of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The interval lies in the claim's region.
    Supported,
    /// The interval lies outside it.
    Refuted,
    /// Neither; or the number could not be measured.
    Inconclusive,
}

/// The kind of evidence behind a verdict, the weakest first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// A clock alone: what was timed is believed to be what its name says.
    #[default]
    Timing,
    /// A count that software keeps: the number itself is one, or every trial behind it counted
    /// that its treatment was realised.
    Software,
    /// The processor's own counters: the number itself is one, or every trial behind it carries
    /// them.
    Pmu,
}

/// The smallest difference between two treatments that a response can show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResponseFloor {
    /// The response.
    pub response: String,
    /// Relative difference that is found with 80 % power, for one comparison at the 5 % level (one
    /// verdict among many, after Hommel, needs more): the median over pairs of the response's
    /// treatments, paired by block. Null where there are fewer than 2 blocks or treatments, where
    /// numbers are not above 0, and where all blocks agree: an exact number has no floor.
    pub now: Option<f64>,
    /// The same in ten times the time: with ten times the blocks, if these are independent.
    pub in_ten_times: Option<f64>,
    /// Blocks behind it: of the middle pair, where pairs share more or fewer. 0 where no pair has
    /// a floor.
    pub blocks: u32,
}

/// Where the scatter of one trial's number comes from, by response (variance components of the
/// logarithms: Kalibera and Jones, *Rigorous benchmarking in reasonable time*, ISMM 2013).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Variance {
    /// The response.
    pub response: String,
    /// Standard deviation of a trial's number about its treatment's, as a share of it.
    pub total: f64,
    /// The part of the variance that longer trials would reduce, from 0 to 1, as the next two; the
    /// three make up 1. Null where a trial makes too few observations to tell.
    pub within_trials: Option<f64>,
    /// The part that more trials would reduce (with what is within them where that is not known).
    pub between_trials: f64,
    /// The part that whole blocks share: drift. It cancels in comparisons. 0 also where its
    /// estimate came out below that.
    pub between_blocks: f64,
    /// The largest.
    pub largest: Source,
    /// What would reduce it, in a sentence.
    pub remedy: String,
}

/// A source of scatter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Between observations of one trial.
    WithinTrials,
    /// Between trials of one block.
    BetweenTrials,
    /// Between blocks.
    BetweenBlocks,
}

/// What became of a known answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlantedResult {
    /// Its name.
    pub id: String,
    /// What was planted.
    pub what: String,
    /// The number in which it must show.
    pub result: QuantityResult,
    /// The number if nothing had been planted.
    pub without: f64,
    /// Where the truth lies.
    pub truth: Region,
    /// The size of the effect as a share, where it has one.
    pub size: Option<f64>,
    /// Whether the 95 % interval contains the true value; null without an interval.
    pub holds: Option<bool>,
    /// Whether a number away from `without`, on the truth's side, was found (after Hommel over the
    /// planted answers); where nothing was planted, whether something was found all the same;
    /// null without an interval.
    pub found: Option<bool>,
    /// Whether the truth is excluded after Hommel over the planted answers: then the laboratory errs
    /// here. Null without an interval.
    pub excluded: Option<bool>,
}

/// What a gap comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiagnosisResult {
    /// Its name.
    pub id: String,
    /// What is slow.
    pub what: String,
    /// The suspects with the share of the gap that vanishes without them, the largest first.
    pub suspects: Vec<Blame>,
    /// The suspect that is named: its share is the largest, and significantly larger than every
    /// other; null where none is.
    pub named: Option<String>,
    /// The suspect that was planted, where one was.
    pub planted: Option<String>,
}

/// A suspect with its share of the gap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Blame {
    /// What it is called.
    pub suspect: String,
    /// The share of the gap that vanishes without it.
    pub share: QuantityResult,
}

/// A cost account with its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AccountResult {
    /// The account's name.
    pub id: String,
    /// What is accounted for.
    pub title: String,
    /// The unit of all amounts.
    pub unit: Unit,
    /// The measured total; null where no block has all of the account's numbers.
    pub total: Option<Estimate>,
    /// What it is made of, in the account's order.
    pub parts: Vec<PartResult>,
    /// The total less all parts, in the account's unit; may be negative.
    pub residual: Option<Estimate>,
    /// The residual as a share of the total.
    pub residual_share: Option<Estimate>,
    /// Why there is no account; may be empty.
    pub remark: String,
}

/// One line of an account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartResult {
    /// What is counted.
    pub label: String,
    /// How many.
    pub count: Option<Estimate>,
    /// What one costs, in the account's unit.
    pub each: Option<Estimate>,
    /// Both multiplied, block by block, in the account's unit.
    pub amount: Option<Estimate>,
    /// The amount as a share of the total.
    pub share: Option<Estimate>,
}
