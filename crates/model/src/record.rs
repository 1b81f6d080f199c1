use crate::{Name, Named, Treatment, Waits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The fact under which a trial keeps its CPUs, where these are more than its first thread is confined to.
pub const CPUS_USED: &str = "cpus";

/// The fact under which a trial keeps the CPUs that its first thread is confined to.
pub const AFFINITY: &str = "affinity";

/// All that is kept of one trial: one line of `trials.ndjson`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// Its number in the session, from 0.
    pub trial: u64,
    /// The experiment.
    pub experiment: Name,
    /// The block it belongs to, from 0.
    pub block: u32,
    /// Its place in the block's order, from 0.
    pub position: u32,
    /// What was realised.
    pub treatment: Treatment,
    /// When it was started, in milliseconds since 1970 (for people; no duration is taken from it).
    pub started_unix_ms: u64,
    /// Length of the padding in the trial's environment, in bytes.
    pub padding_bytes: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// What the trial verified of its treatment before it measured.
    pub observed: Named<Name>,
    /// What it measured, if it completed.
    pub measured: Option<Measured>,
    /// What the kernel accounted to the trial's process and its awaited children.
    pub process: Option<ProcessUsage>,
    /// From before the start of the process to its `Ready`, in nanoseconds: what the harness and
    /// the trial's own set-up cost together.
    pub spawn_to_ready_ns: Option<u64>,
    /// The same without the time between the trial reading its order and reporting `Ready`: the
    /// harness alone.
    pub harness_ns: Option<u64>,
    /// From `Go` to the answer, in nanoseconds, on the runner's clock.
    pub measuring_ns: Option<u64>,
    /// From before the start of the process until it and its group were gone, in nanoseconds.
    pub total_ns: u64,
    /// CPU time that the runner itself used between `Go` and the answer, in nanoseconds.
    pub runner_cpu_ns: Option<u64>,
    /// What the machine did beside the trial while it lived.
    pub machine: Surroundings,
    /// The end of what the trial printed, bounded; never parsed.
    pub log: String,
}

/// How a trial ended. Every one is stored; none is silently retried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// It measured. `leaked` counts processes it left behind, which were killed.
    Completed {
        /// Processes left behind.
        leaked: u32,
    },
    /// The treatment cannot be realised here.
    Unsupported {
        /// Why, and what would change it.
        reason: String,
    },
    /// The trial itself found that something went wrong.
    Failed {
        /// What.
        reason: String,
    },
    /// A signal ended it.
    Died {
        /// The signal's number.
        signal: i32,
        /// When.
        phase: Phase,
    },
    /// It was killed for taking longer than its limit.
    TimedOut {
        /// When.
        phase: Phase,
    },
    /// The kernel's out-of-memory killer ended it.
    OutOfMemory {
        /// When.
        phase: Phase,
    },
    /// It said something that is not in the protocol, or ended without an answer.
    ProtocolViolated {
        /// What was seen and what was expected.
        reason: String,
    },
}

/// Where in its life a trial was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Before it said `Ready`.
    SettingUp,
    /// Between `Go` and its answer.
    Measuring,
    /// After its answer.
    Ending,
}

/// What a trial measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// The observations.
    pub series: Vec<Series>,
    /// What was counted over the timed region.
    pub counters: Counters,
    /// Whether the trial did what its treatment says.
    pub checks: Vec<Check>,
    /// How fast the CPU was just before and just after the timed region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// What was seen rather than counted: a list, a layout.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exhibits: Vec<Exhibit>,
    /// What the program's threads waited for; null where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Box<Waits>>,
}

/// Something that a trial saw and that a reader should see too: a list of system calls, the blocks
/// of a heap. It is shown as it is; no number is taken from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Exhibit {
    /// What it shows, in one line.
    pub title: String,
    /// The heads of its columns.
    pub columns: Vec<String>,
    /// Its rows, each as long as `columns`.
    pub rows: Vec<Vec<String>>,
    /// How many more rows there were than are kept.
    #[serde(default)]
    pub rows_left_out: u64,
    /// Whether it opens its chapter, with each character of the last column as a coloured cell.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pictured: bool,
}

/// The raw observations of one response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// The response's name.
    pub response: Name,
    /// Each value is the total over this many operations (1 or more); analysis divides.
    pub per: u64,
    /// The observations, in the order in which they were made.
    pub values: Vec<i64>,
}

/// How long a fixed loop took in the trial's own thread just before the timed region opened and
/// just after it closed: the speed of the CPU's clock, as a program sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// The shortest of some passes before, in nanoseconds.
    pub before_ns: u64,
    /// The shortest of some passes after, in nanoseconds.
    pub after_ns: u64,
}

/// A manipulation check: something that must be so if the treatment was realised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// What was looked at.
    pub name: Name,
    /// What was seen.
    pub seen: f64,
    /// The least that is right.
    pub low: f64,
    /// The most that is right.
    pub high: f64,
    /// Whether others can make it fail by taking a CPU: then the machine was too busy for the
    /// treatment. Any other failed check says that the trial itself went wrong.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wants_cpus: bool,
}

impl Check {
    /// Whether what was seen is right.
    pub fn holds(&self) -> bool {
        self.seen >= self.low && self.seen <= self.high
    }
}

/// What the kernel counted for the trial over its timed region; absent where it does not tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Counters {
    /// Elapsed time.
    pub wall_ns: u64,
    /// CPU time in user mode, of this process and the children it awaited.
    pub user_ns: Option<u64>,
    /// CPU time in the kernel, of the same processes.
    pub system_ns: Option<u64>,
    /// Faults served without I/O.
    pub minor_faults: Option<u64>,
    /// Faults that waited for I/O.
    pub major_faults: Option<u64>,
    /// Switches because the task waited.
    pub voluntary_switches: Option<u64>,
    /// Switches because another task was to run.
    pub involuntary_switches: Option<u64>,
    /// Time on a CPU, of this process's threads (schedstat).
    pub on_cpu_ns: Option<u64>,
    /// Time runnable but waiting for a CPU, of this process's threads (schedstat).
    pub queue_wait_ns: Option<u64>,
    /// Moves to another CPU, of the trial's first thread.
    pub migrations: Option<u64>,
    /// Blocks read for it, in units of 512 bytes.
    pub blocks_in: Option<u64>,
    /// Blocks written for it, in units of 512 bytes.
    pub blocks_out: Option<u64>,
    /// Bytes it caused to be fetched from storage.
    pub read_bytes: Option<u64>,
    /// Bytes it caused to be sent to storage (dirtied pages count).
    pub write_bytes: Option<u64>,
    /// Counters of the processor for the trial's first thread, by `perf stat`'s names, where there
    /// is a PMU that this user may use.
    pub pmu: Named<u64>,
}

/// What `wait4` says of the whole life of the trial's process and the children it awaited.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessUsage {
    /// CPU time in user mode, in nanoseconds (counted in microseconds).
    pub user_ns: u64,
    /// CPU time in the kernel, in nanoseconds (counted in microseconds).
    pub system_ns: u64,
    /// Faults served without I/O.
    pub minor_faults: u64,
    /// Faults that waited for I/O.
    pub major_faults: u64,
    /// Switches because it waited.
    pub voluntary_switches: u64,
    /// Switches because another was to run.
    pub involuntary_switches: u64,
}

/// What the machine did beside the trial, from before its process was started until it was gone
/// (`Record::total_ns`): only over its whole life is the trial's own share known exactly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Surroundings {
    /// CPU time of all that is neither this trial nor the runner.
    pub foreign_cpu_ns: Option<u64>,
    /// CPU time the hypervisor gave to others while this machine wanted to run (10 ms steps).
    pub steal_ns: Option<u64>,
    /// Time in which some task waited for a CPU (PSI, whole machine).
    pub cpu_pressure_ns: Option<u64>,
    /// Time in which some task waited for I/O (PSI, whole machine).
    pub io_pressure_ns: Option<u64>,
    /// Time in which some task waited for memory (PSI, whole machine).
    pub memory_pressure_ns: Option<u64>,
    /// Time for which a CPU quota held this process's cgroup, or one above it, back.
    pub throttled_ns: Option<u64>,
    /// Time for which the machine was suspended, in milliseconds: `CLOCK_MONOTONIC`, by which all is
    /// measured, stands still then.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub suspended_ms: u32,
    /// How often the runner was stopped and went on (SIGSTOP, Ctrl-Z): its own clock counts the pause,
    /// so `total_ns` and `measuring_ns` do; what the trial measured does not.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub runner_pauses: u32,
    /// How often the trial was seen to stand still: stopped (SIGSTOP), in a frozen cgroup, or together
    /// with the runner (a container that was paused). Pauses of less than 0.1 s may be missed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trial_pauses: u32,
    /// Sessions of other scruples that were seen to measure on CPUs of this one: at most this number at
    /// once.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub other_sessions: u32,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::{Check, Counters, Record, Series};

    /// A reader holds all trials of a session, a hundred thousand of them: what a record has beside
    /// its observations. A new field costs memory in every trial; raise the bound knowingly.
    #[test]
    fn a_record_is_small() {
        assert!(size_of::<Record>() <= 712, "{} bytes", size_of::<Record>());
        assert!(size_of::<Counters>() <= 240, "{} bytes", size_of::<Counters>());
        assert!(size_of::<Series>() <= 48, "{} bytes", size_of::<Series>());
        assert!(size_of::<Check>() <= 48, "{} bytes", size_of::<Check>());
    }
}
