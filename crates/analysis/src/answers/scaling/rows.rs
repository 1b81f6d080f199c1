//! What is said of each cause: data, which the rules of `cause` and `beyond` select from.

use model::{Bottleneck, Estimate, Grade, ScaleCause};

/// A bottleneck with a sentence and a remedy. `{}` in either stands for the one number that the finding
/// has.
pub(super) type Row = (Bottleneck, &'static str, &'static str);

/// Returns a cause as it is shown.
pub(super) fn cause(
    (cause, sentence, remedy): Row,
    number: &str,
    (at, lost): (f64, Option<Estimate>),
    grade: Grade,
    evidence: Vec<String>,
) -> ScaleCause {
    let (sentence, remedy) = (sentence.replace("{}", number), remedy.replace("{}", number));
    ScaleCause { cause, at, lost, grade, sentence, evidence, remedy }
}

pub(super) const MUTEX: Row = (
    Bottleneck::Mutex,
    "Workers sleep while they wait for a lock: many short waits",
    "Hold the lock for less of the work, or give each worker its own part of the data; additional \
     workers only queue for the lock.",
);
pub(super) const QUOTA: Row = (
    Bottleneck::Quota,
    "A CPU quota throttles the workers: they are ready to run, but have to wait for the next quota \
     period",
    "Only a larger quota (cpu.max of its cgroup, a container's CPU limit) helps; until then, use one \
     worker per CPU of the quota.",
);
pub(super) const NEIGHBOUR: Row = (
    Bottleneck::Neighbour,
    "Other programs use the CPUs that the workers wait for: this result describes the machine more \
     than the program",
    "Measure again on an idle machine.",
);
pub(super) const GUESTS: Row = (
    Bottleneck::Neighbour,
    "Another virtual machine on the same host takes CPU time",
    "Measure again on a dedicated machine, or at another time.",
);
pub(super) const CONFINED: Row = (
    Bottleneck::Oversubscribed,
    "More threads are ready to run than the program has CPUs, although the machine has a CPU for \
     each worker",
    "Check whether the program pins its threads to the same CPU, or starts more threads than \
     requested (for example, a library's own pool in each worker).",
);
pub(super) const SERIAL: Row = (
    Bottleneck::Serial,
    "For part of the time, some workers have no work: one worker does a step alone (reading, \
     merging, writing), the shares are unequal, or a lock is held for long",
    "Shorten the step that one worker does alone, or distribute smaller pieces; more workers shorten \
     only the rest.",
);
pub(super) const KERNEL: Row = (
    Bottleneck::Kernel,
    "With more workers, the kernel spends more time on each operation: contended kernel locks, page \
     faults in one address space, or wake-ups",
    "Find the system calls whose time grows (scruple syscalls, perf); processes, unlike threads, do \
     not share the locks of one address space.",
);
pub(super) const HARDWARE: Row = (
    Bottleneck::Hardware,
    "The workers share hardware that is at its limit: memory bandwidth, a cache, or the two threads \
     of one core",
    "Access less memory per operation, or keep the data within a core's own cache; additional \
     workers stall on memory while they count as running.",
);
pub(super) const SPINNING: Row = (
    Bottleneck::Spinning,
    "The workers spend CPU time on synchronisation: a spinning lock, or data that several of them \
     write (including data that only shares a cache line)",
    "Give each worker its own copy of the shared data, hold the lock for less time, or use a lock \
     that sleeps; check for counters of several workers in one cache line.",
);
pub(super) const SPINNING_OR_HARDWARE: Row = (
    Bottleneck::SpinningOrHardware,
    "Each operation takes more CPU time in the program itself: workers spin, or share hardware that \
     is at its limit (memory bandwidth, a cache, a core)",
    "Measure with --copies, or run scruple why, to distinguish the two.",
);
pub(super) const UNKNOWN: Row = (
    Bottleneck::Unknown,
    "The measurements do not show where the time goes",
    "Use longer trials, which are sampled more often, and define an operation with --work.",
);
pub(super) const NOTHING: Row = (
    Bottleneck::Nothing,
    "Nothing limits it up to n = {}, the most workers measured",
    "Measure more workers (--levels) to find the limit.",
);
pub(super) const CPUS: Row = (
    Bottleneck::Cpus,
    "Beyond n = {}, all CPUs are in use: additional workers wait for a CPU",
    "Use more than {} CPUs, or less CPU time per operation.",
);
pub(super) const TURNS: Row = (
    Bottleneck::Oversubscribed,
    "There are more workers than CPUs at every n above 1, so they only take turns",
    "Use no more workers than CPUs.",
);
pub(super) const FALLS: Row = (
    Bottleneck::Oversubscribed,
    "More workers than CPUs reduce the throughput ({}): they take turns, and a worker without a CPU \
     may hold a lock that others need",
    TURNS.2,
);

/// What throughput alone leaves to be done.
const SHAPE: &str = "Throughput alone shows the shape, not the cause: scruple scale -- COMMAND {n} \
                     measures where the workers' time goes.";
pub(super) const STRAIGHT: Row = (Bottleneck::Nothing, NOTHING.1, SHAPE);
pub(super) const FLAT: Row = (
    Bottleneck::Unknown,
    "Throughput is flat from some n on: CPUs, a quota or slots limit how many workers run at a time",
    SHAPE,
);
pub(super) const PAIRS: Row = (
    Bottleneck::Unknown,
    "Each pair of workers adds a cost: they wait for data of each other",
    SHAPE,
);
pub(super) const ONE_AT_A_TIME: Row = (
    Bottleneck::Unknown,
    "One part is done by one worker at a time: a serial part, or a lock",
    SHAPE,
);
pub(super) const NO_SHAPE: Row =
    (Bottleneck::Unknown, "These points do not show what limits it", SHAPE);
