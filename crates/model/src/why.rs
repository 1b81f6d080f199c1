use crate::{Estimate, QuantityResult, WaitKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is taken from a program to see whether the resource limits it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Time on the CPUs that it may use.
    Cpu,
    /// Access to what is not in the caches of its CPU's own: bandwidth and latency of memory and of a cache that
    /// CPUs share.
    Memory,
    /// Room in a cache that CPUs share.
    Cache,
    /// Requests that storage serves.
    Storage,
    /// Prompt wake-ups: a short queue in front of the CPU.
    Queue,
    /// Timers that end when they were asked to.
    Timer,
}

/// A level of a factor that squeezes, by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Squeeze {
    /// Nothing is taken; the co-runners are there and idle.
    #[default]
    Nothing,
    /// A CPU beside the program's is busy in its own first cache: what memory and cache are compared with.
    Beside,
    /// So much of a resource is asked to be taken, in percent (1 to 100). How much is taken is
    /// measured.
    Take(Resource, u32),
}

/// The level at which nothing is taken.
pub const NOTHING: &str = "none";
/// The same again, as a control.
pub const NOTHING_AGAIN: &str = "none-again";
/// The level of [`Squeeze::Beside`].
pub const BESIDE: &str = "beside";

/// The resources in the order of [`Resource`]: the word on command lines, and the words in sentences.
const RESOURCES: [(&str, &str); 6] = [
    ("cpu", "CPU time"),
    ("memory", "memory access"),
    ("cache", "shared cache"),
    ("storage", "storage"),
    ("queue", "prompt wake-ups"),
    ("timer", "punctual timers"),
];

impl Resource {
    /// All, in the order of the report.
    pub const ALL: [Resource; 6] = [
        Resource::Cpu,
        Resource::Memory,
        Resource::Cache,
        Resource::Storage,
        Resource::Queue,
        Resource::Timer,
    ];

    /// Whether those who take it also slow a program that needs nothing but its CPU, which is measured beside it:
    /// by CPU time and interrupts, or in the caches of the CPU's own, where a hypervisor hides that two CPUs share a
    /// core.
    pub fn takes_cpu_time(self) -> bool {
        !matches!(self, Resource::Cpu | Resource::Timer)
    }

    /// Its word on command lines and in levels.
    pub fn name(self) -> &'static str {
        RESOURCES[self as usize].0
    }

    /// What it is called in sentences.
    pub fn words(self) -> &'static str {
        RESOURCES[self as usize].1
    }

    /// The resource of that word.
    pub fn of_name(name: &str) -> Option<Self> {
        Resource::ALL.into_iter().find(|resource| resource.name() == name)
    }

    /// Whether time that is lost without it is CPU time of the program, so that it lies within what
    /// the program wants of the CPU and not beside it.
    pub fn is_within_cpu(self) -> bool {
        matches!(self, Resource::Memory | Resource::Cache | Resource::Queue)
    }

    /// The level that its treatments are compared with.
    pub fn compared_with(self) -> &'static str {
        if matches!(self, Resource::Memory | Resource::Cache) { BESIDE } else { NOTHING }
    }
}

impl Squeeze {
    /// Reports whether a CPU beside the program is needed: the program cannot use all CPUs then.
    pub fn needs_cpu_beside(self) -> bool {
        match self {
            Squeeze::Nothing => false,
            Squeeze::Beside => true,
            Squeeze::Take(resource, _) => resource.compared_with() == BESIDE,
        }
    }

    /// What a level's name means; `None` for a name that means nothing.
    pub fn of_level(level: &str) -> Option<Self> {
        match level {
            NOTHING | NOTHING_AGAIN => return Some(Squeeze::Nothing),
            BESIDE => return Some(Squeeze::Beside),
            _ => {}
        }
        let (resource, percent) = level.split_once('-')?;
        let percent: u32 = percent.parse().ok().filter(|percent| (1..=100).contains(percent))?;
        Some(Squeeze::Take(Resource::of_name(resource)?, percent))
    }
}

/// Which resource limits a program: what `scruple why --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Why {
    /// Version of the scruple that analysed.
    pub scruple: String,
    /// The session's name.
    pub session: String,
    /// The folder of the session; null where only its contents are known.
    pub folder: Option<String>,
    /// Whether every planned trial has a record.
    pub complete: bool,
    /// The command, as it was given.
    pub command: Vec<String>,
    /// The answer in one or two sentences.
    pub answer: String,
    /// The resource that limits it; null where none can be named.
    pub named: Option<Resource>,
    /// What it waits for most of its time, where the answer names that and it is no such resource.
    pub named_wait: Option<WaitKind>,
    /// Whether the answer names the kernel's work for it: system calls and page faults.
    pub named_kernel: bool,
    /// Where CPU time is named: what the program may wait for while it is on a CPU, as far as nothing
    /// excludes it.
    pub open: Vec<Resource>,
    /// What the answer rests on: `timing` (elapsed times with something taken and without), `counters`
    /// (what the kernel counted) and `waits` (what its threads were seen to wait for), as far as they
    /// agree.
    pub evidence: String,
    /// Where its time goes with nothing taken.
    pub time: WhyTime,
    /// Elapsed time with nothing taken, in nanoseconds; null without trials.
    pub wall_ns: Option<Estimate>,
    /// What the kernel counted with nothing taken: CPU use, waiting, switches, faults, bytes.
    pub counted: Vec<WhyCount>,
    /// What was squeezed, the largest elasticity first.
    pub squeezes: Vec<SqueezeResult>,
    /// What could not be squeezed here, with the reason.
    pub not_squeezed: Vec<NotSqueezed>,
    /// 1 less the elasticities to CPU time, storage and timers: what depends on none of them (a
    /// network, another program, a lock held by a sleeper). Null where CPU time was not squeezed.
    pub residual: Option<Estimate>,
    /// Elapsed time at `none-again` by that at `none`: the A/A control.
    pub again: Option<QuantityResult>,
    /// Elapsed time at `beside` by that at `none`: what a busy neighbour costs without touching
    /// memory (a shared core, a lower clock).
    pub beside: Option<QuantityResult>,
    /// What makes the answer doubtful; empty where nothing does.
    pub warnings: Vec<String>,
}

/// Where the time of a program goes with nothing taken, over trials.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WhyTime {
    /// CPU time by elapsed time: more than 1 where several threads run at once.
    pub cpu: Option<Estimate>,
    /// System time by CPU time.
    pub kernel: Option<Estimate>,
    /// The part of the elapsed time in which no thread ran or was ready to run; null where nobody
    /// looked.
    pub still: Option<Estimate>,
    /// Switches because it waited, per second.
    pub switches_per_s: Option<Estimate>,
    /// What it waited for meanwhile, by kind, the longest first.
    pub kinds: Vec<WhyWait>,
    /// The same by what it was: the path of a file, the other end of a socket.
    pub waited: Vec<WhyWait>,
    /// The number of CPUs that it could use.
    pub cpus_given: Option<u32>,
    /// The number of CPUs that its threads kept themselves to.
    pub cpus: Option<u32>,
    /// How many of its threads were ready and waited for a CPU, on average.
    pub ready: Option<Estimate>,
    /// The part of the elapsed time in which a CPU quota held it back.
    #[serde(default)]
    pub throttled: Option<Estimate>,
    /// How many threads worked: those with at least a twentieth of the CPU time that the busiest one has.
    pub workers: Option<Estimate>,
    /// The part of the elapsed time in which the busiest thread ran.
    pub ran: Option<Estimate>,
    /// The part of the elapsed time in which the busiest thread ran or was ready.
    pub busiest: Option<Estimate>,
    /// The part of the elapsed time in which looks found one thread alone running or ready, though others worked at
    /// other times.
    pub alone: Option<Estimate>,
    /// What working threads waited for, also while others ran, the longest first: the share is the number of threads,
    /// on average.
    pub threads: Vec<WhyWait>,
    /// Why waits have no name, with the remedy; empty where all could be asked.
    pub unasked: String,
}

/// What a program waited for while none of its threads ran or was ready to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WhyWait {
    /// What kind of thing.
    pub kind: WaitKind,
    /// Its name; empty where it has none, or where this is all of the kind.
    pub what: String,
    /// What held it, as far as it is known.
    pub holder: String,
    /// By elapsed time.
    pub share: Estimate,
    /// A lock, or what those take turns to hold who sleep while nothing runs.
    #[serde(default)]
    pub is_held: bool,
}

/// A number that the kernel counted of the program with nothing taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WhyCount {
    /// The response.
    pub response: String,
    /// What it is called.
    pub label: String,
    /// What it is measured in.
    pub unit: crate::Unit,
    /// The number over trials.
    pub estimate: Estimate,
}

/// What taking a resource did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SqueezeResult {
    /// The resource.
    pub resource: Resource,
    /// Each strength, the weaker first.
    pub doses: Vec<Dose>,
    /// ln(time squeezed / time not squeezed) by −ln(1 − part taken), over all strengths: 1 is what a
    /// program has that nothing else limits, 0 means that it does not matter. Null where too
    /// little was taken to say.
    pub elasticity: Option<Estimate>,
    /// The same without what the co-runner took of the CPU, where it took any.
    pub cpu_subtracted: bool,
    /// Whether it differs significantly from 0, after Hommel's correction over all squeezes.
    pub stands: bool,
    /// What taking a little of it costs, predicted from the elasticity.
    pub price: Option<Price>,
    /// Whether both strengths tell the same elasticity; null where one does not tell any.
    pub linear: Option<bool>,
    /// What should be known of it; empty mostly.
    pub remark: String,
}

/// An interval of an elasticity that reaches from below the first to above the second excludes nothing: the
/// resource may not matter, and it may be all that matters.
const EXCLUDES_NOTHING: (f64, f64) = (0.2, 0.8);

/// Reports whether the interval of an elasticity excludes anything.
pub fn is_elasticity_known(elasticity: &Estimate) -> bool {
    let Estimate { low, high, .. } = *elasticity;
    let all = low < EXCLUDES_NOTHING.0 && high > EXCLUDES_NOTHING.1;
    low.is_finite() && high.is_finite() && !all
}

impl SqueezeResult {
    /// Returns the elasticity where its interval excludes anything.
    pub fn known(&self) -> Option<Estimate> {
        self.elasticity.filter(is_elasticity_known)
    }
}

/// One strength of a squeeze.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Dose {
    /// The level's name.
    pub level: String,
    /// The part that was taken from a program that nothing else limits, measured in each trial.
    pub taken: Option<Estimate>,
    /// Elapsed time by that at the level it is compared with.
    pub slower: Option<Estimate>,
    /// The elasticity from this strength alone.
    pub elasticity: Option<Estimate>,
}

/// What taking a part of a resource costs: (1 − part)^−elasticity − 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Price {
    /// The part taken: 0.1, or less where 1.5 times the strength measured does not reach so far.
    pub part: f64,
    /// By what part the elapsed time grows.
    pub cost: Estimate,
}

/// A resource that could not be squeezed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotSqueezed {
    /// The resource.
    pub resource: Resource,
    /// Why, and what would change it.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::{NOTHING_AGAIN, Resource, Squeeze};

    #[test]
    fn every_level_reads_as_what_it_was_made_of() {
        for resource in Resource::ALL {
            assert_eq!(Resource::of_name(resource.name()), Some(resource));
            for percent in [25, 50, 75, 100] {
                let level = format!("{}-{percent}", resource.name());
                assert_eq!(Squeeze::of_level(&level), Some(Squeeze::Take(resource, percent)));
            }
        }
        assert_eq!(Squeeze::of_level(NOTHING_AGAIN), Some(Squeeze::Nothing));
        assert_eq!(Squeeze::of_level("beside"), Some(Squeeze::Beside));
        for level in ["", "cpu", "cpu-0", "cpu-101", "disk-5", "cpu--1", "cpu-5%"] {
            assert_eq!(Squeeze::of_level(level), None, "{level}");
        }
    }
}
