//! The experiment as data.

use super::arithmetic::Way;
use super::claims::claims;
use super::frequency::Frequency;
use super::stage::Workload;
use crate::support::party::overlap_response;
use kit::declare::{Named, cell, factor, finding, grid, ratio, remark, response};
use kit::model::{
    Cell, Center, Design, Factor, Finding, Grid, Needs, Profile, Quantity, Response, Unit,
};

/// Whether each worker has a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cpus {
    /// As many CPUs as workers.
    Own,
    /// Two for all of them.
    Two,
}

/// The levels of the factor `cpus`.
pub(super) const CPUS: [Named<Cpus>; 2] = [
    Named::new("own", "each worker has a CPU of its own", Cpus::Own),
    Named::from("two", "all workers share two CPUs, counted round", Profile::Quick, Cpus::Two),
];

/// The levels of the factor `frequency`.
pub(super) const FREQUENCIES: [Named<Frequency>; 2] = [
    Named::new("free", "the CPUs run as fast as this machine lets them", Frequency::Free),
    Named::from(
        "nominal",
        "the scheduler asks for no more than the frequency without turbo, for the trial alone",
        Profile::Quick,
        Frequency::Nominal,
    ),
];

/// The levels of the factor `workload`.
pub(super) const WORKLOADS: [Named<Workload>; 10] = [
    Named::new(
        "independent",
        "arithmetic, in equal shares: the control, which nothing holds back",
        Workload::Arithmetic(Way::Independent),
    ),
    Named::new(
        "serial",
        "the same, a tenth of it done by one while the others wait",
        Workload::Arithmetic(Way::Serial),
    ),
    Named::from(
        "mutex",
        "the same, half of it under one lock that puts who waits to sleep (80 µs at a time)",
        Profile::Quick,
        Workload::Arithmetic(Way::Mutex),
    ),
    Named::from(
        "spin",
        "the same, half of it under one lock that is waited for by looking",
        Profile::Quick,
        Workload::Arithmetic(Way::Spin),
    ),
    Named::from(
        "shared_line",
        "eight steps of arithmetic, then an atomic addition to a word that all share, and again",
        Profile::Quick,
        Workload::Arithmetic(Way::SharedLine),
    ),
    Named::new(
        "imbalanced",
        "arithmetic of which one has twice as much to do as each of the others",
        Workload::Arithmetic(Way::Imbalanced),
    ),
    Named::from(
        "triad",
        "a = b + 3 c over arrays larger than the caches (STREAM)",
        Profile::Quick,
        Workload::Triad,
    ),
    Named::from(
        "stencil",
        "a sweep over a grid larger than the caches: each point becomes the mean of its neighbours",
        Profile::Quick,
        Workload::Stencil,
    ),
    Named::new(
        "ordered",
        "blocks of text are compressed, and written to one file in their order",
        Workload::Compress { ordered: true },
    ),
    Named::from(
        "unordered",
        "the same, each worker writing a file of its own as soon as a block is done",
        Profile::Quick,
        Workload::Compress { ordered: false },
    ),
];

/// The declaration.
pub(super) fn design() -> Design {
    Design {
        id: "speedup".into(),
        version: 2,
        chapter: "Scaling".into(),
        question: "What holds N threads back from being N times as fast?".into(),
        method: METHOD.into(),
        factors: factors(),
        grids: grids(),
        responses: responses(),
        findings: findings(),
        claims: claims(),
        needs: Needs {
            cpus: 2,
            memory_bytes: 200_000_000,
            disk_bytes: 1_000_000,
            ..Needs::default()
        },
        precision: 0.05,
        time_limit_ms: 20_000,
        ..Design::default()
    }
}

const METHOD: &str = "A fixed amount of work (about two milliseconds on one CPU) is done by N \
    threads, each pinned to a CPU, again and again. Before every round they meet; each takes its own \
    instants, and a round lasts from the earliest beginning of any to the latest end of all: the \
    usual habit of timing one thread after a barrier shows more than the machine can do as soon as \
    threads share CPUs. What holds the threads back was planted, and is checked: the steps that each \
    did are counted back, the part done alone or under a lock is measured with one worker, arrays \
    are looked at for what so many passes make of them, and compressed blocks are expanded again. \
    Where workers share two CPUs a round holds 24 times the work, so that it lasts several time \
    slices. The compressor is a small one of our own in the manner of LZ77, with 12 blocks of \
    32 KiB. What one thread leaves of the CPUs is left to whatever else runs: a neighbour there takes \
    bandwidth, or the other half of a core, from one thread and not from as many as there are CPUs, \
    which makes speed-ups look larger. The arrays that are to be larger than the caches have 96 MiB (64 in quick), or twice the \
    largest cache of this machine.";

fn factors() -> Vec<Factor> {
    vec![
        factor("workload", "what the workers do, and what is in their way", "independent")
            .named(&WORKLOADS)
            .build(),
        factor("count", "how many threads share the work", "1")
            .numbers(Profile::Smoke, "threads", &[1, 2])
            .numbers(Profile::Quick, "threads", &[4, 8])
            .numbers(Profile::Standard, "threads", &[3, 6, 16])
            .numbers(Profile::Thorough, "threads", &[12, 32, 64])
            .build(),
        factor("cpus", "on how many CPUs they are", "own").named(&CPUS).build(),
        factor("frequency", "how fast the CPUs may run", "free").named(&FREQUENCIES).build(),
    ]
}

/// `quick` measures one and two workers of what claims and findings compare, and more only where a
/// claim needs it: what a machine has too few CPUs for is refused once, and costs nothing.
fn grids() -> Vec<Grid> {
    const ALL: (&str, &[&str]) = ("workload", &[]);
    const COUNT: (&str, &[&str]) = ("count", &[]);
    const TWO: (&str, &[&str]) = ("cpus", &["two"]);
    const TWICE: &[&str] =
        &["independent", "serial", "mutex", "spin", "shared_line", "triad", "stencil", "ordered"];
    const NEEDS_CPU: &[&str] =
        &["independent", "serial", "mutex", "spin", "shared_line", "imbalanced", "ordered"];
    vec![
        grid(Profile::Smoke, &[("workload", &["independent", "serial"]), ("count", &["1", "2"])]),
        grid(Profile::Smoke, &[("workload", &["imbalanced", "ordered"]), ("count", &["2"])]),
        grid(Profile::Quick, &[("workload", TWICE), ("count", &["1", "2"])]),
        grid(Profile::Quick, &[("workload", &["imbalanced", "unordered"]), ("count", &["2"])]),
        grid(
            Profile::Quick,
            &[
                ("workload", &["independent", "serial", "spin", "triad", "stencil"]),
                ("count", &["4"]),
            ],
        ),
        grid(Profile::Quick, &[("workload", &["independent", "stencil"]), ("count", &["8"])]),
        grid(Profile::Quick, &[("workload", &["independent", "spin"]), ("count", &["2"]), TWO]),
        grid(Profile::Quick, &[("workload", &["spin"]), ("count", &["4"]), TWO]),
        grid(Profile::Quick, &[("count", &["8"]), TWO]),
        grid(Profile::Quick, &[("count", &["2"]), ("frequency", &["nominal"])]),
        grid(Profile::Standard, &[ALL, COUNT]),
        grid(Profile::Standard, &[("workload", NEEDS_CPU), ("count", &["2", "3", "4", "8"]), TWO]),
        grid(Profile::Standard, &[COUNT, ("frequency", &["nominal"])]),
    ]
}

const FROM: &str = "the first instant of the earliest thread, after all have met";
const TO: &str = "the last instant of the latest";
const USUAL: &str = "divided by how many times the usual work a round holds";

fn responses() -> Vec<Response> {
    let mut all = responses_of_time();
    all.extend(responses_of_waiting());
    all
}

fn responses_of_time() -> Vec<Response> {
    let wall = "clock_gettime(CLOCK_MONOTONIC)";
    vec![
        response("round_ns", "time of a round", Unit::Ns).card(FROM, TO, USUAL, wall).build(),
        response("throughput_per_s", "rounds of work per second", Unit::PerSecond)
            .card(FROM, TO, "the usual rounds' work divided by the time of a round", wall)
            .build(),
        response("round_cpu_ns", "CPU time of a round", Unit::Ns)
            .card(
                "before a thread's first instant in a round",
                "after its last; the sum over the threads",
                "divided by how many times the usual work a round holds; with the waiting that is \
                 done by looking",
                "clock_gettime(CLOCK_THREAD_CPUTIME_ID)",
            )
            .build(),
        response("slowest_ns", "time of the slowest thread", Unit::Ns)
            .card("its own first instant in a round", "its last", USUAL, wall)
            .build(),
        response("join_wait_ns", "time by which the slowest thread lasts longer", Unit::Ns)
            .card(
                "the time of the quickest thread in a round",
                "the time of the slowest",
                USUAL,
                wall,
            )
            .build(),
        response("step_ns", "time of a step of arithmetic on one core", Unit::Ns)
            .card(
                "the first thread's first instant in a round",
                "its last",
                "divided by its steps; kept only for independent work, where nothing but the core \
                 itself can change it",
                wall,
            )
            .build(),
        response("moved_mb_per_s", "memory moved per second", Unit::Other("MB/s".into()))
            .card(
                FROM,
                TO,
                "the bytes that must be moved (24 per element of the triad, 16 per point of the \
                 stencil), divided by the time of a round; what a cache fetches beside them does \
                 not count",
                wall,
            )
            .build(),
    ]
}

fn responses_of_waiting() -> Vec<Response> {
    let within = ("a thread's first instant in a round", "its last; the sum over the threads");
    vec![
        response("queue_wait_ns", "time on the run queue in a round", Unit::Ns)
            .card(within.0, within.1, USUAL, "/proc/thread-self/schedstat")
            .build(),
        response("switches_count", "switches in a round", Unit::Count)
            .center(Center::Mean)
            .card(within.0, within.1, USUAL, "getrusage(RUSAGE_THREAD), of both kinds")
            .build(),
        overlap_response(),
    ]
}

/// A workload done by so many, each with a CPU.
pub(super) fn at(workload: &str, count: &str) -> Cell {
    cell([("workload", workload), ("count", count)])
}

/// How many times as fast two workers are as one.
pub(super) fn speedup_of_two(workload: &str) -> Quantity {
    ratio("round_ns", at(workload, "1"), at(workload, "2"))
}

fn findings() -> Vec<Finding> {
    let shared = |count: &str| at("independent", count).with("cpus", "two");
    let fast = |id: &str, work: &str, workload: &str| {
        let sentence = format!("{work} two threads are {{}} times as fast as one.");
        remark(id, &sentence, speedup_of_two(workload))
    };
    vec![
        finding(
            "serial",
            "With a tenth of the work serial two threads are {} times as fast as one (Amdahl's law: \
             1.82).",
            speedup_of_two("serial"),
        ),
        finding(
            "independent",
            "With work that shares nothing two threads are {} times as fast as one (the control).",
            speedup_of_two("independent"),
        ),
        fast("spin", "With half of the work under a lock that is waited for by looking", "spin"),
        fast("mutex", "With the same under a lock that puts who waits to sleep", "mutex"),
        fast("shared_line", "When both keep adding to one word", "shared_line"),
        fast("triad", "At streaming through memory", "triad"),
        fast("stencil", "At a stencil over a large grid", "stencil"),
        fast("ordered", "At compressing blocks that are written in their order", "ordered"),
        remark(
            "bandwidth",
            "A stencil on two cores moves {} times as much memory per second as the triad.",
            ratio("moved_mb_per_s", at("stencil", "2"), at("triad", "2")),
        ),
        remark(
            "oversubscribed",
            "Eight threads on two CPUs take {} times as long as two for the same work.",
            ratio("round_ns", shared("8"), shared("2")),
        ),
    ]
}
