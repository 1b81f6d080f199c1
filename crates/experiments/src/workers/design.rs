//! The study as data.

use super::claims;
use super::work::WORKERS;
use kit::declare::{Named, cell, factor, finding, grid, proportion, ratio, remark, response};
use kit::model::{Center, Design, Factor, Finding, Grid, Needs, Profile, Response, Unit};
use kit::workers::MODELS;

/// On which CPUs the workers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Affinity {
    /// All on one.
    One,
    /// Wherever the scheduler puts them.
    Free,
}

/// The levels of the factor `affinity`.
pub(super) const AFFINITIES: [Named<Affinity>; 2] = [
    Named::new("one", "all workers are confined to one CPU, as taskset does", Affinity::One),
    Named::from("free", "the scheduler places them", Profile::Quick, Affinity::Free),
];

/// Whose file a worker writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Files {
    /// Each its own.
    Own,
    /// All the same.
    Shared,
}

/// The levels of the factor `files`.
pub(super) const FILES: [Named<Files>; 2] = [
    Named::new("own", "each worker writes a file of its own", Files::Own),
    Named::from(
        "shared",
        "all workers write one file, each through its own descriptor",
        Profile::Quick,
        Files::Shared,
    ),
];

/// The declaration.
pub(super) fn design() -> Design {
    Design {
        id: "workers".into(),
        version: 3,
        chapter: "The process-and-thread study".into(),
        question: "What changes when the same work is done by N processes instead of N threads?"
            .into(),
        method: METHOD.into(),
        factors: factors(),
        grids: grids(),
        responses: responses(),
        findings: findings(),
        claims: claims::claims(),
        controls: Vec::new(),
        accounts: Vec::new(),
        needs: Needs {
            cpus: 1,
            memory_bytes: 2_000_000_000,
            disk_bytes: 150_000_000,
            ..Needs::default()
        },
        precision: 0.05,
        time_limit_ms: 60_000,
        ..Design::default()
    }
}

const METHOD: &str = "N workers are made, as threads or by fork; both run the same closure and \
    report to the same shared words. They begin together once all are there. Each works, reports, and holds what it allocated until the \
    memory of all of them has been read; the reading is outside every time given here. Before the \
    timed region the trial touches and releases the whole footprint (a page that the host of a \
    virtual machine must first supply costs several times a recycled one), and the files to be \
    overwritten are written and synced. Every worker looks where it runs at its start, at its end \
    and in between. Sizes: 220 MiB per worker of `mem`, as in the published exercise (32 in quick); about 15 ms of \
    computation per worker of `cpu` in the profile quick; writes of 64 KiB into the worker's own \
    mebibyte, in a file of its own or in one that all share.";

fn factors() -> Vec<Factor> {
    vec![
        factor("model", "how the workers share an address space", "thread").named(&MODELS).build(),
        factor("worker", "what a worker does", "cpu").named(WORKERS).build(),
        factor("count", "how many workers there are", "1")
            .numbers(Profile::Smoke, "workers, all made at once", &[1, 2])
            .numbers(Profile::Quick, "workers, all made at once", &[4, 8])
            .numbers(Profile::Standard, "workers, all made at once", &[3, 5, 6, 7])
            .build(),
        factor("affinity", "on which CPUs the workers may run", "one").named(&AFFINITIES).build(),
        factor("files", "whose file a worker writes", "own").named(&FILES).build(),
    ]
}

/// `smoke` sees that it works; `quick` measures what claims and findings need; `standard` has every
/// combination that means something (files matter to workers that write), but for the 4 GB buffers
/// of `mem_1024`, which are complete in `thorough`.
fn grids() -> Vec<Grid> {
    const MODEL: (&str, &[&str]) = ("model", &[]);
    const COUNT: (&str, &[&str]) = ("count", &[]);
    const WRITERS: &[&str] = &["io_sync", "io_buffered", "io_fflush", "io_fsync"];
    vec![
        grid(Profile::Smoke, &[MODEL, ("count", &["1", "2"]), ("worker", &["cpu", "mem"])]),
        grid(Profile::Quick, &[MODEL, ("count", &["4", "8"]), ("worker", &["cpu"])]),
        grid(Profile::Quick, &[MODEL, ("count", &["8"]), ("worker", &["mem"])]),
        grid(Profile::Quick, &[("count", &["1", "4", "8"]), ("worker", &["io_sync"])]),
        grid(Profile::Quick, &[MODEL, ("count", &["4"]), ("worker", &["io_sync", "io_buffered"])]),
        grid(Profile::Quick, &[("count", &["1", "2", "8"]), ("worker", &["io_fflush"])]),
        grid(Profile::Quick, &[MODEL, ("count", &["2"]), ("worker", &["io_fflush"])]),
        grid(Profile::Quick, &[("worker", &["io_fsync"])]),
        grid(Profile::Quick, &[("count", &["1", "2"]), ("affinity", &["free"])]),
        grid(
            Profile::Quick,
            &[("count", &["4", "8"]), ("worker", &["io_fflush"]), ("files", &["shared"])],
        ),
        grid(Profile::Standard, &[MODEL, COUNT, ("worker", &["cpu", "mem"]), ("affinity", &[])]),
        grid(
            Profile::Standard,
            &[MODEL, COUNT, ("worker", WRITERS), ("affinity", &[]), ("files", &[])],
        ),
        grid(
            Profile::Standard,
            &[MODEL, ("count", &["1", "2", "4", "8"]), ("worker", &["mem_1024"])],
        ),
        grid(Profile::Thorough, &[MODEL, COUNT, ("worker", &["mem_1024"]), ("affinity", &[])]),
    ]
}

fn responses() -> Vec<Response> {
    let mut all = responses_of_time();
    all.extend(responses_of_waiting());
    all.extend(responses_of_memory());
    all.extend(responses_of_storage());
    all
}

const CREW_FROM: &str = "before the first worker is made";
const CREW_TO: &str = "after the last worker is gone";
const WITHOUT_WATCH: &str =
    "without the time in which the finished workers are held and their memory is read";
const WORK_FROM: &str = "each worker's first instant";
const WORK_TO: &str = "the instant at which its work is done";

fn responses_of_time() -> Vec<Response> {
    vec![
        response("wall_ns", "elapsed time", Unit::Ns)
            .card(CREW_FROM, CREW_TO, WITHOUT_WATCH, "clock_gettime(CLOCK_MONOTONIC)")
            .build(),
        response("compute_ns", "elapsed time of work that needs only a CPU", Unit::Ns)
            .cpu_twin("cpu_ns")
            .card(
                CREW_FROM,
                CREW_TO,
                "the same number as wall_ns, kept only for cpu and mem on one CPU: there CPU time \
                 measures the same work, and carries the verdict if neighbours disturbed the clock",
                "clock_gettime(CLOCK_MONOTONIC)",
            )
            .build(),
        response("work_ns", "elapsed time of the work", Unit::Ns)
            .cpu_twin("work_cpu_ns")
            .card(
                "when all workers are there and are let go together",
                "when the last has done its work",
                "without the making and the end of the workers; its CPU time stands in only where \
                 the work waits for no device",
                "clock_gettime(CLOCK_MONOTONIC)",
            )
            .build(),
        response("work_cpu_ns", "CPU time of the work", Unit::Ns)
            .card(WORK_FROM, WORK_TO, "summed over the workers", "CLOCK_THREAD_CPUTIME_ID")
            .build(),
        response("cpu_ns", "CPU time of maker and workers", Unit::Ns)
            .card(
                CREW_FROM,
                CREW_TO,
                "less what the maker used while it read the workers' memory; with what the workers \
                 used to report (some microseconds each)",
                "getrusage: user and system, of the process and the children it awaited",
            )
            .build(),
        response("cpu_ppm", "CPU use (one CPU = 100 %)", Unit::Ppm)
            .card(CREW_FROM, CREW_TO, "cpu_ns divided by wall_ns", "getrusage and clock_gettime")
            .build(),
        response("confined_cpu_ppm", "CPU use of workers on one CPU of several", Unit::Ppm)
            .card(
                CREW_FROM,
                CREW_TO,
                "the same number as cpu_ppm, kept only where the workers are to stay on one CPU and \
                 there is another to escape to",
                "getrusage and clock_gettime",
            )
            .build(),
        response("per_worker_ns", "elapsed time of one worker", Unit::Ns)
            .card(
                WORK_FROM,
                WORK_TO,
                "one observation per worker, centred by their median",
                "clock_gettime(CLOCK_MONOTONIC)",
            )
            .build(),
        response("overlap_ppm", "time in which all workers lived", Unit::Ppm)
            .card(
                "the first instant of the last worker to begin",
                "the end of the first worker to end",
                "divided by the time from the first instant of any to the end of the last",
                "clock_gettime(CLOCK_MONOTONIC)",
            )
            .build(),
    ]
}

fn responses_of_waiting() -> Vec<Response> {
    let waits = |name: &str, label: &str, source: &str| {
        response(name, label, Unit::Count).center(Center::Sum).card(
            WORK_FROM,
            WORK_TO,
            "summed over the workers",
            source,
        )
    };
    vec![
        response("queue_wait_ns", "time on the run queue", Unit::Ns)
            .card(WORK_FROM, WORK_TO, "summed over the workers", "/proc/thread-self/schedstat")
            .build(),
        waits("voluntary_switches_count", "switches because a worker waited", "getrusage").build(),
        waits("involuntary_switches_count", "switches because another was to run", "getrusage")
            .build(),
        response("blocked_count", "waits per write", Unit::Count)
            .center(Center::Mean)
            .card(
                WORK_FROM,
                WORK_TO,
                "voluntary switches of all workers divided by their writes: a write that is \
                 committed to a device cannot but wait for it",
                "getrusage",
            )
            .build(),
        response("escaped_count", "workers found outside their CPUs", Unit::Count)
            .center(Center::Sum)
            .card(
                "before a worker's first instant",
                "after its last",
                "1 for each worker whose mask or whose CPU was ever another than set; kept only where \
                 there is another CPU to escape to",
                "sched_getaffinity and sched_getcpu",
            )
            .build(),
    ]
}

fn responses_of_memory() -> Vec<Response> {
    let memory = |name: &str, label: &str, corrected: &str| {
        response(name, label, Unit::Bytes)
            .card(
                "when the last worker has done its work",
                "while all hold what they allocated",
                corrected,
                "/proc/PID/smaps_rollup of the maker and of every worker process",
            )
            .build()
    };
    vec![
        memory(
            "pss_bytes",
            "memory (PSS) of all together",
            "summed; a shared page counts once in the sum",
        ),
        memory(
            "rss_bytes",
            "resident memory (RSS), summed",
            "summed; a page shared by N processes counts N times",
        ),
        memory("uss_bytes", "private memory (USS), summed", "summed; shared pages do not count"),
    ]
}

fn responses_of_storage() -> Vec<Response> {
    vec![
        response("written_bytes", "page cache made dirty", Unit::Bytes)
            .card(
                "before the timed region",
                "after it",
                "what is dirty already counts no second time; the kernel counts whole folios, which \
                 may be larger than a write, so synchronous writes can count many times over",
                "write_bytes of /proc/self/io, with the awaited children",
            )
            .build(),
        response("device_bytes", "bytes written to the device", Unit::Bytes)
            .card(
                "before the timed region",
                "after it",
                "nothing: it is the whole device, with what others write",
                "/sys/dev/block/MAJOR:MINOR/stat of the files' file system",
            )
            .build(),
        response("kernel_queue_wait_ns", "time the kernel's own workers waited for a CPU", Unit::Ns)
            .card(
                "before the timed region",
                "after it",
                "summed over all kworker threads of the machine, whoever they work for",
                "/proc/PID/schedstat of the kernel's threads",
            )
            .build(),
        response("writes_per_s", "writes per second, all workers", Unit::PerSecond)
            .card(
                "when all workers are there and are let go together",
                "when the last has done its work",
                "writes of 64 KiB divided by work_ns",
                "counted by the workers",
            )
            .build(),
    ]
}

fn findings() -> Vec<Finding> {
    let cpu =
        |model: &str, count: &str| cell([("model", model), ("worker", "cpu"), ("count", count)]);
    let memory = |model: &str| cell([("model", model), ("worker", "mem")]);
    let synced = |model: &str, count: &str| {
        cell([("model", model), ("worker", "io_sync"), ("count", count)])
    };
    vec![
        finding(
            "cpu_model",
            "Four processes take {} times as long as four threads for the same computation on one CPU.",
            ratio("work_ns", cpu("process", "4"), cpu("thread", "4")),
        ),
        finding(
            "memory_model",
            "Eight processes take {} times as long as eight threads to fill and walk a buffer each.",
            ratio(
                "compute_ns",
                memory("process").with("count", "8"),
                memory("thread").with("count", "8"),
            ),
        ),
        finding(
            "memory_growth_thread",
            "Eight threads hold {} times four times the memory of two.",
            proportion("pss_bytes", "count", "2", "8", memory("thread")),
        ),
        finding(
            "memory_growth_process",
            "Eight processes hold {} times four times the memory of two.",
            proportion("pss_bytes", "count", "2", "8", memory("process")),
        ),
        remark(
            "io_throughput",
            "Eight threads make {} times as many synchronous writes per second as one.",
            ratio("writes_per_s", synced("thread", "8"), synced("thread", "1")),
        ),
        remark(
            "io_model",
            "Four processes take {} times as long as four threads for synchronous writes.",
            ratio("work_ns", synced("process", "4"), synced("thread", "4")),
        ),
        remark(
            "two_cpus",
            "Where the scheduler may place them, two threads take {} times as long as one for twice the work.",
            ratio(
                "wall_ns",
                cpu("thread", "2").with("affinity", "free"),
                cpu("thread", "1").with("affinity", "free"),
            ),
        ),
    ]
}
