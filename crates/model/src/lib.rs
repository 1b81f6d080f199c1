//! The nouns of scruple.
//!
//! Everything here is data: an experiment as a [`Design`], one [`Record`] per trial, the
//! [`Manifest`] of a session, its [`Summary`]. No clock is read and no file is opened in this
//! room, so every other room can agree on its words.

#![cfg_attr(test, expect(clippy::expect_used, reason = "a test may stop at the first surprise"))]

mod account;
mod advice;
mod asked;
mod bounds;
mod calendar;
mod claim;
mod comparison;
mod design;
mod figure;
mod fleet;
mod knee;
mod load;
mod manifest;
pub mod measures;
mod name;
mod named;
mod planted;
mod prediction;
mod profile;
mod program_file;
mod protocol;
mod record;
mod scaling;
mod selftest;
pub mod squeezed;
mod subject;
mod summary;
mod treatment;
mod unit;
mod why;

pub use account::{Account, Part, Term};
pub use advice::{Advice, Cost, Gap, Load, MeasuredProgram, Refusal, Simulated, Staffing};
pub use asked::Asked;
pub use bounds::{
    BLOCKS_MAX, DESIGNS_MAX, ENTRIES_MAX, FACTORS_MAX, NAME_BYTES_MAX, SESSION_QUANTITIES_MAX,
    SESSION_TREATMENTS_MAX, SUBJECT_TEXTS_MAX, TEXT_BYTES_MAX, TIME_LIMIT_MS_MAX, TREATMENTS_MAX,
};
pub use calendar::Moment;
pub use claim::{Cell, Claim, Control, Finding, Quantity, Region};
pub use comparison::{
    ComparedExperiment, ComparedQuantity, ComparedRow, ComparedVerdict, Comparison, FactRow,
    GateLook, GateOutcome, GateResult, Replication, SessionEffect, Side, Weight,
};
pub use design::{Card, Center, Design, Factor, Grid, Level, Limit, Needs, Response};
pub use figure::{Figure, Plot};
pub use fleet::{
    Fleet, FleetAttempt, FleetEngine, FleetNode, FleetPlan, FleetRequest, FleetResult, NodeFacts,
    NodeKind, NodeResult, NodeStanding, Outlier, Outliers, Spread,
};
pub use knee::{Knee, KneeBreak, KneeEnd, KneeRate, KneeRules, KneeTrial};
pub use load::{
    Arrivals, Fairness, LawCheck, LoadCounts, LoadError, LoadPercentile, LoadPlan, LoadResult,
    LoadTimes, Network, OwnLateness, SynBackoff,
};
pub use manifest::{CpuCache, Environment, Inquiry, Manifest, Neighbour, Options, ShieldReport};
pub use name::{Name, share_names};
pub use named::Named;
pub use planted::{Diagnosis, Planted, Suspect};
pub use prediction::{
    LoadPrediction, PredictedByFormula, PredictedLoad, PredictedTime, ServerDemand, ServerKind,
    ServerLimit,
};
pub use profile::Profile;
pub use program_file::ProgramFile;
pub use protocol::{FromTrial, MESSAGE_BYTES_MAX, PROTOCOL_VERSION, Spec, ToTrial};
pub use record::{
    Calibration, Check, Counters, Exhibit, Measured, Outcome, Phase, ProcessUsage, Record, Series,
    Surroundings,
};
pub use scaling::{
    Bottleneck, SCALE_COPIES, SCALE_WORK, SCALE_WORKERS, ScaleAccount, ScaleAdvice, ScaleCause,
    ScaleCoefficient, ScaleCurve, ScaleDrawn, ScaleFit, ScaleLevel, ScaleLoss, ScalePart,
    ScalePeak, ScaleResidual, ScaleWork, Scaling,
};
pub use selftest::{AnswerStanding, CauseStanding, Selftest, Standing, TrustGrade};
pub use subject::{Metric, Pick, SCRATCH, Stream, Subject, SubjectLimits, UnknownPlaceholder};
pub use summary::{
    AccountResult, Blame, ClaimResult, ControlResult, DiagnosisResult, Estimate, EstimateRow,
    ExperimentSummary, FindingResult, Grade, Harness, Meter, OutcomeCount, PartResult,
    PlantedResult, QuantityResult, ResponseFloor, Source, Summary, Trust, Variance, Verdict,
};
pub use treatment::{DesignError, Treatment};
pub use unit::Unit;
pub use why::{
    BESIDE, Dose, NOTHING, NOTHING_AGAIN, NotSqueezed, Price, Resource, Squeeze, SqueezeResult,
    Why, WhyCount,
};

/// Version of the layout of `manifest.json` and `trials.ndjson`.
pub const SESSION_FORMAT: u32 = 1;

/// Version of the layout of `summary.json`; docs/summary.schema.json describes it.
pub const SUMMARY_FORMAT: u32 = 5;

/// Version of the layout of what `scruple compare --json` prints; docs/comparison.schema.json
/// describes it.
pub const COMPARISON_FORMAT: u32 = 1;

/// Version of the layout of `fleet.json`, `node.json` and `result.json` of a fleet;
/// docs/fleet.schema.json describes the last.
pub const FLEET_FORMAT: u32 = 1;

/// Version of the layout of what `scruple scale --json` prints; docs/scale.schema.json describes it.
pub const SCALING_FORMAT: u32 = 1;

/// Version of the layout of what `scruple selftest --json` prints; docs/selftest.schema.json
/// describes it.
pub const SELFTEST_FORMAT: u32 = 1;

/// Version of the layout of what `scruple plan --json` prints; docs/plan.schema.json describes it.
pub const ADVICE_FORMAT: u32 = 2;

/// Version of the layout of what `scruple load --json` prints; docs/load.schema.json describes it.
pub const LOAD_FORMAT: u32 = 2;

/// Version of the layout of what `scruple load --find-knee --json` prints; docs/knee.schema.json
/// describes it.
pub const KNEE_FORMAT: u32 = 1;

/// Version of the layout of what `scruple load --predict --json` prints; docs/prediction.schema.json
/// describes it.
pub const PREDICTION_FORMAT: u32 = 1;

/// Version of the layout of what `scruple why --json` prints; docs/why.schema.json describes it.
pub const WHY_FORMAT: u32 = 1;
