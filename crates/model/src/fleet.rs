//! Sessions of one plan on many machines: what was submitted, and what came of it.

use crate::{Comparison, Estimate, Profile, Quantity, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `fleet.json`: what was submitted, so that any shell can ask for it later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fleet {
    /// [`crate::FLEET_FORMAT`] of the writer.
    pub format: u32,
    /// Version of the scruple that submitted.
    pub scruple: String,
    /// What tells this fleet from others: 12 hexadecimal digits, which the names of its jobs hold.
    pub fleet: String,
    /// When it was begun, in milliseconds since 1970.
    pub created_unix_ms: u64,
    /// The exact command line.
    pub command: Vec<String>,
    /// What starts the sessions.
    pub engine: FleetEngine,
    /// The scruple that the nodes start: an absolute path.
    pub binary: String,
    /// The shared folder: an absolute path.
    pub folder: String,
    /// What every node measures.
    pub plan: FleetPlan,
    /// What the engine was asked for.
    pub request: FleetRequest,
    /// How often a node is tried again after a fault that was the node's.
    pub retries: u32,
    /// How many nodes are expected of a fleet that is gathered; none where nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<u32>,
    /// The nodes, each with its attempts; empty where they are gathered, since their sessions say it.
    pub nodes: Vec<FleetNode>,
}

/// What starts the sessions of a fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FleetEngine {
    /// Jobs of Slurm, one per node.
    Slurm,
    /// Whatever starts a program on a machine; the sessions are brought back as files. Earlier versions also
    /// started programs over ssh, on `hosts`.
    #[serde(alias = "hosts")]
    Gather,
}

/// What every node of a fleet measures: the same experiments in the same order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetPlan {
    /// The experiments as they were asked for; empty means all.
    pub experiments: Vec<String>,
    /// How much is measured.
    pub profile: Profile,
    /// The time in which to measure, in seconds; none where a number of blocks was asked for alone.
    #[serde(serialize_with = "crate::manifest::seconds")]
    pub time_budget_s: Option<f64>,
    /// A fixed number of blocks.
    pub blocks: Option<u32>,
    /// Where the random order comes from, on every node.
    pub seed: u64,
    /// The CPUs that trials may use, such as `0,2-3`; none means all.
    pub affinity: Option<String>,
    /// Whether trials are shielded.
    pub shield: bool,
    /// Whether each machine stores its session redacted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redact: bool,
}

/// What the engine was asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetRequest {
    /// The partition.
    pub partition: Option<String>,
    /// The features that a node must have.
    pub constraint: Option<String>,
    /// The time after which a job is ended, in seconds.
    pub time_limit_s: u64,
}

/// A node of a fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetNode {
    /// Its name, as the engine knows it.
    pub name: String,
    /// What was submitted for it, in order.
    pub attempts: Vec<FleetAttempt>,
}

/// One submission for a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetAttempt {
    /// The engine's name of the job.
    pub job: String,
    /// When it was submitted, in milliseconds since 1970.
    pub submitted_unix_ms: u64,
    /// What the engine last said of it; empty before it said anything.
    pub state: String,
}

/// `node.json`: what a node says of the session that it measured for a fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeFacts {
    /// [`crate::FLEET_FORMAT`] of the writer.
    pub format: u32,
    /// Version of the scruple that measured.
    pub scruple: String,
    /// The fleet.
    pub fleet: String,
    /// The node's name, as the engine knows it.
    pub node: String,
    /// The job.
    pub job: String,
    /// How often the engine had restarted the job.
    pub restart: u32,
    /// CPUs that are online on the node.
    pub cpus_online: Vec<u32>,
    /// CPUs that the job may use.
    pub cpus_allowed: Vec<u32>,
    /// CPUs that the engine says the node has for the job; none where it says nothing.
    pub cpus_of_engine: Option<u32>,
    /// Whether the job owned all CPUs of the node.
    pub owns_all_cpus: bool,
    /// What is to be doubted about the session, in sentences.
    pub doubts: Vec<String>,
}

/// What came of a fleet: `result.json`, and what `scruple fleet collect --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetResult {
    /// [`crate::FLEET_FORMAT`] of the writer.
    pub format: u32,
    /// Version of the scruple that collected.
    pub scruple: String,
    /// The fleet.
    pub fleet: String,
    /// What every node was to measure.
    pub plan: FleetPlan,
    /// Whether every node has a session that could be taken.
    pub complete: bool,
    /// How many nodes are expected of a fleet that is gathered; none where nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<u32>,
    /// The nodes in their order.
    pub nodes: Vec<NodeResult>,
    /// Nodes that are one machine under several names.
    pub same_machine: Vec<Vec<String>>,
    /// Nodes of one kind: the same processor, CPUs and memory.
    pub kinds: Vec<NodeKind>,
    /// How far the nodes of one kind lie apart, finding by finding.
    pub spreads: Vec<Spread>,
    /// Which machine is none like the others.
    pub outliers: Outliers,
    /// The nodes' sessions against that of the first; of more than 64 nodes, 16 of them: the outliers and
    /// those that lie farthest from the others. Null where fewer than two could be taken.
    pub comparison: Option<Comparison>,
}

/// What came of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeResult {
    /// Its name, as the engine knows it.
    pub name: String,
    /// What became of it.
    pub standing: NodeStanding,
    /// Why, in words; may be empty.
    pub reason: String,
    /// The job whose session was taken, or the last one.
    pub job: Option<String>,
    /// How often the engine had restarted that job.
    pub restart: u32,
    /// How many jobs were submitted for it.
    pub attempts: u32,
    /// The folder of the session that was taken, below the fleet's.
    pub session: Option<String>,
    /// Trials of that session, or of what a lost one left.
    pub trials: u64,
    /// What the machine calls itself.
    pub host: String,
    /// Processor, CPUs and memory in words; empty where nothing is known.
    pub kind: String,
    /// Whether the job owned all CPUs of the node; null where nothing is known.
    pub owns_all_cpus: Option<bool>,
    /// What is to be doubted about its session, in sentences.
    pub doubts: Vec<String>,
}

/// What became of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeStanding {
    /// Its session is there and was taken.
    Complete,
    /// Its session is there, but cannot stand beside the others.
    Refused,
    /// Its job waits for its turn.
    Waiting,
    /// Its job is at work.
    Running,
    /// The node was lost, or the job by a fault of the node.
    Lost,
    /// The job ended without a session.
    Failed,
    /// Nothing was submitted, or the engine knows the job no more.
    Missing,
}

/// Nodes of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeKind {
    /// Processor, CPUs and memory in words.
    pub kind: String,
    /// The nodes.
    pub nodes: Vec<String>,
    /// How many machines they are.
    pub machines: u32,
}

/// How far the machines of one kind lie apart in one finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// The kind: its place in `kinds`.
    pub kind: u32,
    /// The experiment.
    pub experiment: String,
    /// The finding's name.
    pub finding: String,
    /// Its sentence, with `{}` still in it.
    pub sentence: String,
    /// What is asked.
    pub quantity: Quantity,
    /// The unit of the values; null for ratios, shares and exponents.
    pub unit: Option<Unit>,
    /// The machines with a number.
    pub machines: u32,
    /// The middle of the machines: their median.
    pub median: f64,
    /// The smallest.
    pub smallest: f64,
    /// The largest.
    pub largest: f64,
    /// Whether `seen`, `expected` and `between` are relative (standard deviations of logarithms), as
    /// they are where all numbers are positive; else they are in the finding's own terms.
    pub relative: bool,
    /// The standard deviation of the machines' numbers.
    pub seen: f64,
    /// What the numbers' own standard errors make one expect of machines that are all alike: the root
    /// of their mean square; null where a number has no standard error.
    pub expected: Option<f64>,
    /// What is left for the machines themselves: the root of the difference of the two squares, 0
    /// where it would be negative; null where `expected` is.
    pub between: Option<f64>,
}

/// Which machine is none like the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outliers {
    /// The rule with its source, in a sentence.
    pub rule: String,
    /// How many numbers the rule was held against: findings with enough machines of one kind.
    pub looked_at: u32,
    /// Why nothing was looked at, where nothing was.
    pub too_few: Option<String>,
    /// What was found, the clearest first.
    pub found: Vec<Outlier>,
}

/// A machine that is none like the others of its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outlier {
    /// The node.
    pub node: String,
    /// The finding: its place in `spreads`.
    pub spread: u32,
    /// Its number, with its own interval.
    pub value: Estimate,
    /// Whether that interval reaches the middle of the machines: then its session was noisy, which need
    /// not be its machine.
    pub own_noise: bool,
    /// Its distance from the mean, in standard deviations.
    pub distance: f64,
    /// The p-value before Hommel's correction over all numbers that the rule was held against.
    pub p_value: f64,
}
