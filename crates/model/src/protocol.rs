use crate::{Measured, Profile, ProgramFile, Subject, Topology, Treatment};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the conversation between runner and trial.
pub const PROTOCOL_VERSION: u32 = 1;

/// The most bytes that one message may have, its newline included.
pub const MESSAGE_BYTES_MAX: usize = 4 << 20;

/// What the runner says. One JSON line each; the end of a message is its newline, never EOF.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub enum ToTrial {
    /// Set this up.
    Run {
        /// [`PROTOCOL_VERSION`] of the runner.
        version: u32,
        /// What is to be realised.
        spec: Box<Spec>,
    },
    /// Measure now.
    Go,
}

/// What the trial says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub enum FromTrial {
    /// The treatment is realised.
    Ready {
        /// What was verified: names and values as found.
        observed: BTreeMap<String, String>,
        /// From reading its order to this message, in nanoseconds.
        set_up_ns: u64,
    },
    /// It is done.
    Measured {
        /// The raw observations.
        measured: Box<Measured>,
        /// Facts found while measuring, added to those observed before.
        observed: BTreeMap<String, String>,
        /// What the same run says of [`Spec::also`], in that order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<Answer>,
    },
    /// The treatment cannot be realised here.
    Unsupported {
        /// Why, and what would change it.
        reason: String,
    },
    /// Something went wrong.
    Failed {
        /// What.
        reason: String,
    },
}

/// What a run says of a treatment that it answers next to its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The raw observations.
    pub measured: Measured,
    /// Facts found while measuring.
    pub observed: BTreeMap<String, String>,
}

/// What a trial is to realise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// The experiment.
    pub experiment: String,
    /// The levels.
    pub treatment: Treatment,
    /// Other treatments that the same run is to answer, where nothing is measured
    /// ([`Design::program_of`](crate::Design::program_of)).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Treatment>,
    /// The CPUs it may use, ascending. Pinned work goes to the last one, since interrupts
    /// gather on the first.
    pub cpus: Vec<u32>,
    /// How the machine's CPUs are arranged.
    #[serde(default)]
    pub topology: Topology,
    /// For whatever the trial draws at random.
    pub seed: u64,
    /// How long a timed region that repeats short operations should last, in nanoseconds.
    pub timed_ns: u64,
    /// How much work a trial that does a fixed amount may do.
    pub profile: Profile,
    /// Memory the trial may use in all, in bytes.
    pub memory_bytes: u64,
    /// Space the trial may use on disk, in the folder it is started in, in bytes.
    pub disk_bytes: u64,
    /// The memory cgroup the runner made for this trial, if it could make one: a folder in which
    /// the trial may make children of its own.
    pub memory_cgroup: Option<String>,
    /// The same for CPU time: a group that the runner is not in, with the shield's weight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_cgroup: Option<String>,
    /// The program of the user's that is to be started, where the design has one: the trial is
    /// not of the catalog then, whatever the experiment's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Box<Subject>>,
    /// The files of the user's that its trials look at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramFile>,
}
