//! What two published reports of the same exercise say, as numbers that could refute it.

use kit::declare::{cell, claim, frequency, proportion, ratio, value};
use kit::model::{Cell, Claim, Region};

const REPORT_A: &str = "report A (grs1)";
const REPORT_B: &str = "report B (grs2)";
const BOTH: &str = "reports A and B (grs1, grs2)";

/// What "makes no difference" allows: the margin of bioequivalence, 80 to 125 % (FDA, *Statistical
/// Approaches to Establishing Bioequivalence*, 2001).
const SAME: f64 = 0.25;

/// What a claim of a number allows: as much as the reports' own figures differ by.
const NUMBER: f64 = 0.05;

fn at(model: &str, worker: &str, count: &str) -> Cell {
    cell([("model", model), ("worker", worker), ("count", count)])
}

fn of(model: &str, worker: &str) -> Cell {
    cell([("model", model), ("worker", worker)])
}

/// All claims, in the order of the study: time, CPU, memory, files.
pub(super) fn claims() -> Vec<Claim> {
    let mut all = claims_on_time();
    all.extend(claims_on_the_model());
    all.extend(claims_on_affinity());
    all.extend(claims_on_memory());
    all.extend(claims_on_files());
    all
}

fn claims_on_time() -> Vec<Claim> {
    let on_one_cpu = "one CPU does one thing at a time, so N equal pieces of work take N times one";
    vec![
        claim(
            "time_proportional",
            REPORT_A,
            "On one core time is linear in the number of workers: eight threads that compute take \
             eight times as long as one (within 25 %).",
            on_one_cpu,
        )
        .holds_if(
            proportion("compute_ns", "count", "1", "8", of("thread", "cpu")),
            Region::about(1.0, SAME),
        ),
        claim(
            "no_gain_on_one_core",
            REPORT_A,
            "Concurrency on one core brings no throughput for computations.",
            "without a second core there is nothing to overlap a computation with",
        )
        .note("A gain of less than a fifth is called none.")
        .holds_if(
            proportion("compute_ns", "count", "1", "8", of("process", "cpu")),
            Region::above(0.8),
        ),
        claim(
            "memory_time_linear",
            REPORT_A,
            "Time for work on memory is linear in the number of workers (eight take eight times as \
             long as one, within 25 %).",
            "each worker faults in and walks its own pages",
        )
        .note(
            "Most of this time is the kernel's, spent on first touches. Where memory has to come \
             from a host first, the first use of much memory costs several times more and can look \
             like a breakpoint; the trial warms its footprint to keep that out.",
        )
        .holds_if(
            proportion("compute_ns", "count", "1", "8", of("thread", "mem")),
            Region::about(1.0, SAME),
        ),
    ]
}

fn claims_on_the_model() -> Vec<Claim> {
    let four =
        |worker: &str| ratio("work_ns", at("process", worker, "4"), at("thread", worker, "4"));
    let device = "the device and the file system do the work, whoever asks";
    vec![
        claim(
            "cpu_model",
            REPORT_A,
            "The model makes no difference for work on the CPU (four workers: within 25 %).",
            "the instructions are the same, whichever address space they are in",
        )
        .holds_if(four("cpu"), Region::about(1.0, SAME)),
        threads_faster("cpu", "the CPU", "work_ns", "cpu", 1.11),
        threads_faster("mem", "memory", "compute_ns", "mem", 1.20),
        threads_faster("io", "files", "work_ns", "io_fflush", 1.73),
        claim(
            "io_model_sync",
            BOTH,
            "The model does not matter for synchronous writes (four workers: within 25 %).",
            device,
        )
        .holds_if(four("io_sync"), Region::about(1.0, SAME)),
        claim(
            "io_model_buffered",
            BOTH,
            "The model does not matter for buffered writes (four workers: within 25 %).",
            "both make the same copies into the same page cache",
        )
        .holds_if(four("io_buffered"), Region::about(1.0, SAME)),
    ]
}

fn threads_faster(id: &str, on: &str, response: &str, worker: &str, times: f64) -> Claim {
    claim(
        &format!("threads_faster_{id}"),
        REPORT_B,
        &format!("Threads are {times:.2} times as fast for work on {on}."),
        "threads need no address space of their own and are switched without changing it",
    )
    .note(
        "Both reports measured each point once, the processes always first, with the sampling of \
         top inside the timed region.",
    )
    .holds_if(
        ratio(response, at("process", worker, "2"), at("thread", worker, "2")),
        Region::about(times, NUMBER),
    )
}

fn claims_on_affinity() -> Vec<Claim> {
    vec![
        claim(
            "children_escape",
            REPORT_B,
            "Forked children may not inherit the affinity that taskset set (more than one worker in \
             ten is found elsewhere).",
            "CPU use above 100 % was seen for processes on one core",
        )
        .note(
            "In the report's own script the second frame of top was searched by a pattern that \
             also matches top's own command line in the first, so workers were counted twice \
             whenever top itself was the busier: that alone gives CPU use above 100 %.",
        )
        .holds_if(
            frequency("escaped_count", cell([("model", "process"), ("affinity", "one")])),
            Region::above(0.10),
        ),
        claim(
            "more_than_one_cpu",
            REPORT_B,
            "Eight processes on one core use more CPU than the core has (up to 161 %).",
            "if they escape their affinity they run elsewhere, too",
        )
        .holds_if(value("confined_cpu_ppm", at("process", "cpu", "8")), Region::above(1_050_000.0)),
    ]
}

fn claims_on_memory() -> Vec<Claim> {
    vec![
        claim(
            "memory_grows_with_processes",
            REPORT_B,
            "Memory per process grows with the number of processes.",
            "copy-on-write: pages shared after the fork become private as they are written",
        )
        .note(
            "A buffer that is allocated after the fork has nothing to copy. The report's script \
             counted workers twice in part of its samples.",
        )
        .holds_if(
            proportion("pss_bytes", "count", "2", "8", of("process", "mem")),
            Region::above(1.05),
        ),
        claim(
            "threads_half_the_memory",
            REPORT_B,
            "Threads use half the memory of processes.",
            "threads share the address space",
        )
        .note(
            "What is shared is code and data that exist once anyway; a worker's own buffer is not.",
        )
        .holds_if(
            ratio("pss_bytes", at("process", "mem", "8"), at("thread", "mem", "8")),
            Region::above(1.8),
        ),
    ]
}

fn claims_on_files() -> Vec<Claim> {
    let shared = |model: &str| of(model, "io_fflush").with("files", "shared");
    vec![
        claim(
            "io_degrades",
            REPORT_A,
            "I/O degrades more than linearly with the number of workers.",
            "workers compete for one disk",
        )
        .note(
            "A device that takes several requests at a time finishes them faster together. A \
             worker that is alone leaves the CPU while it waits; if others run there meanwhile, \
             the kernel's thread that completes the write waits for them, up to a tick of the \
             scheduler each time (see kernel_queue_wait_ns), and one worker looks slower than the \
             device is.",
        )
        .holds_if(
            proportion("work_ns", "count", "1", "8", of("thread", "io_sync")),
            Region::above(1.1),
        ),
        claim(
            "breakpoint_at_eight",
            REPORT_B,
            "From four to eight threads that write one file, time grows much more than twofold.",
            "the lock of the one inode is contended",
        )
        .holds_if(proportion("work_ns", "count", "4", "8", shared("thread")), Region::above(1.2)),
        claim(
            "inode_lock",
            REPORT_B,
            "The lock of a shared inode is what slows eight threads that write files.",
            "with a file for each worker the lock is not shared: if it is the cause, time falls",
        )
        .holds_if(
            ratio("work_ns", shared("thread").with("count", "8"), at("thread", "io_fflush", "8")),
            Region::above(1.2),
        ),
        claim(
            "fflush_commits",
            REPORT_B,
            "fflush forces a commit to the disk.",
            "a write that waits for the disk blocks its thread at least once",
        )
        .note(
            "fflush hands the library's buffer to the kernel by write; only fsync and its kin, or \
             O_SYNC, wait for a device. io_fsync shows what waiting looks like.",
        )
        .holds_if(value("blocked_count", at("thread", "io_fflush", "1")), Region::above(0.5)),
        claim(
            "fflush_costs_like_fsync",
            REPORT_B,
            "Flushing a stream costs as much as committing it.",
            "if fflush forced a commit, fsync could add nothing of size",
        )
        .holds_if(
            ratio("writes_per_s", at("thread", "io_fflush", "1"), at("thread", "io_fsync", "1")),
            Region::below(2.0),
        ),
    ]
}
