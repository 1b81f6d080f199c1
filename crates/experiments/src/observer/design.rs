//! The experiment as data.

use super::job::{JOB_BYTES, JOBS};
use super::watch::WATCHERS;
use kit::declare::{Named, cell, claim, factor, finding, grid, ratio, remark, response, value};
use kit::model::{
    Cell, Claim, Design, Factor, Finding, Grid, Needs, Profile, Region, Response, Unit,
};

/// Where the watcher works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// On the job's CPU.
    Same,
    /// On another.
    Other,
}

/// The levels of the factor `watcher_cpu`.
pub(super) const PLACES: [Named<Place>; 2] = [
    Named::new("same", "watcher and job share one CPU", Place::Same),
    Named::from("other", "the watcher has a CPU of its own", Profile::Standard, Place::Other),
];

const METHOD: &str = "A job does a fixed amount of work in a process of its own, confined to one \
    CPU, and times itself; its parent watches it in one of several ways and does nothing else. \
    The job begins only when the watcher is ready. Every job is awaited and \
    reaped by wait4, and the last top is let finish. What the watcher uses and writes is accounted \
    to it apart.";

/// The declaration.
pub(super) fn design() -> Design {
    Design {
        id: "observer".into(),
        version: 4,
        chapter: "The process-and-thread study".into(),
        question: "What does it cost a job to be watched?".into(),
        method: METHOD.into(),
        factors: factors(),
        grids: grids(),
        responses: responses(),
        findings: findings(),
        claims: claims(),
        controls: Vec::new(),
        accounts: Vec::new(),
        needs: Needs { cpus: 1, memory_bytes: 64 << 20, disk_bytes: 8 << 20, ..Needs::default() },
        precision: 0.10,
        time_limit_ms: 60_000,
        ..Design::default()
    }
}

fn factors() -> Vec<Factor> {
    vec![
        factor("watcher", "who watches the job, and how", "nothing").named(&WATCHERS).build(),
        factor("job", "what the job does", "cpu").named(&JOBS).build(),
        factor("watcher_cpu", "where the watcher works", "same").named(&PLACES).build(),
    ]
}

/// The tracer on another CPU is left to longer profiles: each of its stops wakes a sleeping CPU
/// twice, and the job takes seconds.
fn grids() -> Vec<Grid> {
    vec![
        grid(
            Profile::Smoke,
            &[("watcher", &["nothing", "proc_100ms", "proc_10ms", "top_loop", "perf_software"])],
        ),
        grid(Profile::Smoke, &[("watcher", &["nothing", "tracer"]), ("job", &["syscalls"])]),
        grid(Profile::Standard, &[("watcher", &[]), ("job", &[])]),
        grid(
            Profile::Standard,
            &[
                ("watcher", &["proc_100ms", "proc_10ms", "top_loop", "tracer"]),
                ("job", &[]),
                ("watcher_cpu", &["other"]),
            ],
        ),
    ]
}

fn responses() -> Vec<Response> {
    let from = "the job's first instant";
    let to = "its last";
    let watch_from = "before the job is let go";
    let watch_to = "after it has ended and was reaped";
    vec![
        response("job_wall_ns", "elapsed time of the job", Unit::Ns)
            .card(from, to, "", "clock_gettime(CLOCK_MONOTONIC), by the job itself")
            .build(),
        response("job_cpu_ns", "CPU time of the job", Unit::Ns)
            .card(from, to, "", "clock_gettime(CLOCK_THREAD_CPUTIME_ID), by the job itself")
            .build(),
        response("watcher_cpu_ns", "CPU time of the watcher", Unit::Ns)
            .card(
                watch_from,
                watch_to,
                "with the programs it started; the kernel's own counting is not in it",
                "CLOCK_THREAD_CPUTIME_ID, and getrusage for the programs",
            )
            .build(),
        response("watcher_ppm", "CPU time of the watcher as a share of the job's", Unit::Ppm)
            .card(watch_from, watch_to, "divided by job_cpu_ns", "as watcher_cpu_ns and job_cpu_ns")
            .build(),
        response("samples_count", "samples taken", Unit::Count)
            .card(
                watch_from,
                watch_to,
                "complete readings of /proc, whole frames of top, counters read, or stops of the tracer",
                "counted by the watcher",
            )
            .build(),
        response("written_bytes", "page cache made dirty by the watcher", Unit::Bytes)
            .card(
                watch_from,
                watch_to,
                "less what the job wrote; whole pages",
                "write_bytes of /proc/self/io, with the awaited children",
            )
            .build(),
        response("written_ppm", "the watcher's share of all that was written", Unit::Ppm)
            .card(watch_from, watch_to, "watcher divided by watcher and job", "/proc/PID/io")
            .build(),
    ]
}

fn on(watcher: &str, job: &str) -> Cell {
    cell([("watcher", watcher), ("job", job)])
}

fn slowed(watcher: &str, job: &str) -> kit::model::Quantity {
    ratio("job_wall_ns", on(watcher, job), on("nothing", job))
}

fn findings() -> Vec<Finding> {
    vec![
        finding(
            "top",
            "Watched by top on its own CPU, a computation takes {} times as long.",
            slowed("top_loop", "cpu"),
        ),
        remark(
            "proc_often",
            "Watched by a reader of /proc every 10 ms, it takes {} times as long.",
            slowed("proc_10ms", "cpu"),
        ),
        finding(
            "tracer",
            "Traced, a job of nothing but system calls takes {} times as long.",
            slowed("tracer", "syscalls"),
        ),
        remark(
            "tracer_cpu",
            "Traced, a computation with a few system calls takes {} times as long.",
            slowed("tracer", "cpu"),
        ),
        remark(
            "top_other_cpu",
            "With top on another CPU, the computation takes {} times as long.",
            ratio(
                "job_wall_ns",
                on("top_loop", "cpu").with("watcher_cpu", "other"),
                on("nothing", "cpu"),
            ),
        ),
    ]
}

fn claims() -> Vec<Claim> {
    let least_bytes = JOB_BYTES as f64 * 6.0 / 94.0;
    let at_most =
        |id: &str, source: &str, text: &str, mechanism: &str, watcher: &str, most: f64| {
            claim(id, source, text, mechanism).holds_if(slowed(watcher, "cpu"), Region::below(most))
        };
    vec![
        claim(
            "io_is_the_observers",
            "report B (grs2)",
            "12 % of the I/O is the observer's.",
            "top and the scripts around it write while the job writes",
        )
        .note(
            "The report's figure came from the first report of iostat, which is the average since \
             the boot, not of the experiment. The claim counts as true here from half of it, 6 %, \
             on: the job writes 1 MiB, of which the observer has to add 6/94, 65.4 KiB.",
        )
        .holds_if(value("written_bytes", on("top_loop", "cpu")), Region::above(least_bytes)),
        claim(
            "sampling_is_cheap",
            "common practice of monitoring",
            "A monitor that samples every 100 ms needs no more than 1 % of the CPU time that the \
             watched computation needs.",
            "it runs for some tens of microseconds and sleeps for the rest",
        )
        .note(
            "Judged by the watcher's CPU time within each trial, in ppm of the job's: elapsed time \
             does not resolve 1 %. What it costs the job by cold caches is not in it.",
        )
        .holds_if(value("watcher_ppm", on("proc_100ms", "cpu")), Region::below(10_000.0)),
        at_most(
            "counting_is_cheap",
            "the manual of perf-stat",
            "Software counters slow a computation by no more than 10 %, a margin that elapsed time \
             resolves here.",
            "they are incremented when the event happens, and a computation has few",
            "perf_software",
            1.10,
        ),
        claim(
            "tracing_is_slow",
            "the manual of strace: a traced process runs slowly",
            "A tracer makes a system-call-bound job at least ten times slower.",
            "each call stops twice and needs two switches to the tracer and back",
        )
        .holds_if(slowed("tracer", "syscalls"), Region::above(10.0)),
    ]
}
