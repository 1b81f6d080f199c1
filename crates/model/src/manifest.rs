use crate::{Design, Profile, Topology};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `manifest.json`: all that is needed to understand a session's trials, or to go on with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// [`crate::SESSION_FORMAT`] of the writer.
    pub format: u32,
    /// Version of the scruple that measured.
    pub scruple: String,
    /// The session's name: its folder's.
    pub session: String,
    /// When it began, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// Where the random order comes from.
    pub seed: u64,
    /// The exact command line.
    pub command: Vec<String>,
    /// What was asked for.
    pub options: Options,
    /// The machine.
    pub environment: Environment,
    /// How the trials were shielded from the rest of the machine.
    pub shield: ShieldReport,
    /// The experiments, as they were when this session began.
    pub designs: Vec<Design>,
    /// How often it was resumed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Run>,
    /// Whether it is redacted: who measured what where is left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
}

/// A resumption of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// When it began, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// The number of its first trial.
    pub first_trial: u64,
    /// The facts of the machine and the shield that differ from those of the session's first run, by name: then
    /// and now.
    pub differs: BTreeMap<String, [String; 2]>,
}

/// What the user asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Options {
    /// How much is measured.
    pub profile: Profile,
    /// The experiments, by name.
    pub experiments: Vec<String>,
    /// The time in which to measure, in seconds; none where a number of blocks was asked for
    /// instead, and no time.
    #[serde(serialize_with = "seconds")]
    pub time_budget_s: Option<f64>,
    /// A fixed number of blocks, instead of stopping on precision.
    pub blocks: Option<u32>,
    /// The blocks that every experiment measures first, where none were asked for: as many as its claims'
    /// verdicts take. Null in sessions of versions that took the profile's fewest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_blocks: Option<u32>,
    /// CPUs the trials may use; empty means all that are allowed.
    pub cpus: Vec<u32>,
    /// Whether to shield trials where the rights allow.
    pub shield: bool,
    /// Whether it is a self-test: planted answers instead of questions.
    #[serde(default)]
    pub selftest: bool,
    /// What is asked of a program of the user's; none where the catalog is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inquiry: Option<Inquiry>,
    /// The file that a study was read from, as an absolute path; none for all else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<String>,
    /// The preset that chose the experiments and their treatments; none if the user chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
}

/// A question that several experiments answer, each with the treatments that it takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Preset {
    /// What users type.
    pub name: String,
    /// The title of its report, which the machine's name follows.
    pub title: String,
    /// The question, ending in a question mark.
    pub question: String,
}

/// Writes seconds as an integer where they are whole, as versions did that knew no others.
pub(crate) fn seconds<S: serde::Serializer>(s: &Option<f64>, out: S) -> Result<S::Ok, S::Error> {
    match s {
        Some(s) if s.fract() == 0.0 && s.abs() < 1e15 => out.serialize_some(&(*s as i64)),
        other => other.serialize(out),
    }
}

/// What is asked of a program of the user's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Inquiry {
    /// Whatever the study's file asks.
    Study,
    /// How its throughput follows the number of its workers.
    Scale,
    /// Which resource limits it.
    Why,
}

impl Inquiry {
    /// The command that asks it.
    pub fn command(self) -> &'static str {
        match self {
            Inquiry::Study => "study",
            Inquiry::Scale => "scale",
            Inquiry::Why => "why",
        }
    }
}

/// Recorded facts of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Environment {
    /// The host's name.
    pub host: String,
    /// A keyed hash of machine-id, of 32 digits: tells one machine from another without naming it. The
    /// earliest sessions have a hash of another kind, of 16 digits.
    pub machine: String,
    /// A keyed hash of the boot's identifier: tells one boot from another.
    pub boot: String,
    /// Kernel release.
    pub kernel: String,
    /// Processor model.
    pub cpu_model: String,
    /// CPUs online.
    pub cpus_online: u32,
    /// CPUs this process may use.
    pub cpus_allowed: Vec<u32>,
    /// Threads per core.
    pub threads_per_core: u32,
    /// How the CPUs that are online are arranged.
    pub topology: Topology,
    /// Caches of the first allowed CPU.
    pub caches: Vec<CpuCache>,
    /// Memory, in bytes.
    pub memory_bytes: u64,
    /// Memory available when the session began, in bytes.
    pub memory_available_bytes: u64,
    /// Size of a page, in bytes.
    pub page_bytes: u64,
    /// The hypervisor, or empty.
    pub hypervisor: String,
    /// The C library.
    pub libc: String,
    /// The compiler that built scruple.
    pub rustc: String,
    /// Build profile of scruple: `release` or `debug`.
    pub build: String,
    /// Effective user: `root` or `user`.
    pub rights: String,
    /// Settings that move numbers, by name: THP mode, frequency governor, autogroup, clock source,
    /// HZ, mitigations, overcommit, swap…
    pub settings: BTreeMap<String, String>,
    /// Load average over one minute when the session began.
    pub load: f64,
    /// The busiest other processes when the session began.
    pub neighbours: Vec<Neighbour>,
    /// Files that the commands of its user name, as they were when the session began; without those that
    /// its trials change themselves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<NamedFile>,
}

/// A file that a command names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedFile {
    /// Its absolute path.
    pub path: String,
    /// Its size, in bytes.
    pub bytes: u64,
    /// When it was last changed, its name and rights included, in nanoseconds since 1970.
    pub modified_unix_ns: i64,
    /// SHA-256 of its content, as 64 hexadecimal digits; empty of a large file.
    pub sha256: String,
}

impl Environment {
    /// Reports whether both are of one machine; `None` where that is not known, since one has no hash or
    /// their hashes are of two kinds.
    pub fn is_same_machine(&self, other: &Environment) -> Option<bool> {
        let (own, other) = (&self.machine, &other.machine);
        (!own.is_empty() && own.len() == other.len()).then_some(own == other)
    }
}

/// A cache of a CPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuCache {
    /// 1, 2, 3…
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// Its size, in bytes.
    pub size_bytes: u64,
    /// Its line, in bytes.
    pub line_bytes: u32,
}

/// Another process that uses the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Neighbour {
    /// Its command name.
    pub name: String,
    /// Its CPU use over the look, as a share of one CPU.
    pub cpu_share: f64,
}

/// How trials were shielded, and what that did to a rival planted for the purpose.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShieldReport {
    /// The means in force: `cgroup v1 cpu.shares=262144`, `nice -20`.
    pub means: Vec<String>,
    /// What could not be had, and why.
    pub missing: Vec<String>,
    /// CPU share that a pinned loop keeps beside one rival on the same CPU, unshielded.
    pub share_without: Option<f64>,
    /// The same, shielded.
    pub share_with: Option<f64>,
}
