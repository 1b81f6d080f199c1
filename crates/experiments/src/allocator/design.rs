//! The declaration: factors, responses, findings, claims.

use super::level::ALLOCATORS;
use super::work::SIZES;
use crate::support::party::overlap_response;
use kit::declare::{
    Named, cell, claim, factor, finding, grid, ratio, remark, response, share, value,
};
use kit::model::{
    Cell, Center, Claim, Design, Factor, Finding, Grid, Needs, Profile, Quantity, Region, Response,
    Unit,
};

/// Who gives a block back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// The thread that took it.
    Same,
    /// Another thread.
    Handed,
}

/// The levels of the factor `pattern`.
pub(super) const PATTERNS: [Named<Pattern>; 2] = [
    Named::new(
        "same",
        "each thread has 256 blocks; it gives one back, drawn at random, and takes another",
        Pattern::Same,
    ),
    Named::from(
        "handed",
        "every other thread takes blocks and hands them through a ring to the next, which gives \
         them back",
        Profile::Quick,
        Pattern::Handed,
    ),
];

/// Memory for eight threads with 256 blocks of 64 KiB each, twice, and the rest.
const MEMORY_BYTES: u64 = 320 << 20;

const PAIR: &str = "pair_ns";

const PER_S: &str = "throughput_per_s";

const LECTURE: &str = "a lecture on threads";

fn by(allocator: &str, threads: &str) -> Cell {
    cell([("allocator", allocator), ("threads", threads)])
}

fn handed(allocator: &str) -> Cell {
    by(allocator, "2").with("pattern", "handed")
}

pub(super) fn design() -> Design {
    Design {
        id: "allocator".into(),
        version: 1,
        chapter: "Sharing".into(),
        question: "What does contention cost in malloc and free?".into(),
        method: "The trial puts an allocator in place by executing its own program anew, with \
                 LD_PRELOAD or glibc's tunables in the environment (at every level, so that the \
                 levels differ in the allocator alone), and asks the dynamic linker and the \
                 allocator itself whether it is the one. Threads, each on a CPU that it may not \
                 leave, fill their caches and then take and give back blocks in rounds of half a \
                 millisecond. Every round counts, and a trial in which half of them were disturbed \
                 has failed: a thread that is kept from running does not contend. malloc and \
                 free are called through pointers that the compiler cannot see through. The first word and the last byte of each block are written, and the \
                 word is looked at before the block is given back: a block that two threads had at \
                 once would show. What was taken less what was given back must be what is left."
            .into(),
        factors: factors(),
        grids: grids(),
        responses: responses(),
        findings: findings(),
        claims: claims(),
        needs: Needs { cpus: 2, memory_bytes: MEMORY_BYTES, ..Needs::default() },
        precision: 0.08,
        time_limit_ms: 10_000,
        ..Design::default()
    }
}

fn factors() -> Vec<Factor> {
    let threads = factor("threads", "threads that take and give back at the same time", "1")
        .numbers(Profile::Smoke, "on CPUs of their own", &[1, 2])
        .numbers(Profile::Standard, "on all CPUs in turn", &[4, 8]);
    vec![
        factor("allocator", "who serves malloc and free", "glibc").named(&ALLOCATORS).build(),
        threads.build(),
        factor("size", "how much is asked for", "random").named(&SIZES).build(),
        factor("pattern", "who gives a block back", "same").named(&PATTERNS).build(),
    ]
}

fn grids() -> Vec<Grid> {
    let serving: Vec<&str> =
        ALLOCATORS.iter().map(|named| named.name).filter(|name| *name != "none").collect();
    // Those that a program may have; what is taken from glibc is told apart in the other pattern.
    let whole = ["glibc", "mutex_around", "jemalloc", "mimalloc", "tcmalloc"];
    vec![
        grid(Profile::Smoke, &[("allocator", &[]), ("threads", &[])]),
        grid(
            Profile::Quick,
            &[("allocator", &whole), ("threads", &["2"]), ("pattern", &["handed"])],
        ),
        grid(
            Profile::Standard,
            &[("allocator", &serving), ("threads", &["2", "4", "8"]), ("pattern", &["handed"])],
        ),
        grid(Profile::Standard, &[("allocator", &[]), ("threads", &["1", "2"]), ("size", &[])]),
    ]
}

fn responses() -> Vec<Response> {
    let begun = "when a thread begins a round";
    let ended = "when it has seen that the round is over";
    let clock = "clock_gettime(CLOCK_MONOTONIC)";
    let cpu_clock = "clock_gettime(CLOCK_THREAD_CPUTIME_ID)";
    let net = "summed over the threads, divided by the number of pairs, less the same of the loop \
               without malloc and free; where there are more threads than CPUs it holds their \
               waiting for one";
    let gross = "summed over both sides, divided by the number of blocks; with the ring and the \
                 waiting for the other side";
    let time = |name, label, corrected, source| {
        response(name, label, Unit::Ns).card(begun, ended, corrected, source)
    };
    let control = || cell([("allocator", "none")]);
    let mut all = vec![
        time(PAIR, "time of a thread for one free and one malloc", net, clock)
            .subtract(control())
            .build(),
        time("pair_cpu_ns", "CPU time for one free and one malloc", net, cpu_clock)
            .subtract(control())
            .build(),
        time("handed_ns", "time of both threads for a block", gross, clock).build(),
        time("handed_cpu_ns", "CPU time of both threads for a block", gross, cpu_clock).build(),
        response(PER_S, "pairs per second, all threads", Unit::PerSecond)
            .card(
                "when the first thread begins a round",
                "when the last has seen that it is over",
                "pairs of all threads divided by that time",
                clock,
            )
            .build(),
    ];
    all.extend(counted());
    all
}

/// What is counted beside the time.
fn counted() -> [Response; 5] {
    let opened = "when the timed region is opened";
    let closed = "when all threads have worked";
    let held = "when all threads have worked and hold their blocks";
    let count = |name, label| response(name, label, Unit::Count).center(Center::Mean);
    [
        count("failed_count", "refused allocations")
            .card(opened, closed, "divided by the number of allocations", "malloc's answers")
            .build(),
        count("sleeps_count", "times that a thread went to sleep, per pair")
            .card(
                "when a thread begins a round",
                "when it has seen that the round is over",
                "divided by the number of pairs",
                "getrusage(RUSAGE_THREAD), voluntary switches",
            )
            .build(),
        count("arenas_count", "arenas of glibc").card(held, "at once", "", "malloc_info").build(),
        response("rss_bytes", "memory that the threads and their blocks take", Unit::Bytes)
            .card(
                "before the threads are made",
                held,
                "what is resident then less what was before",
                "/proc/self/smaps_rollup, Rss",
            )
            .build(),
        overlap_response(),
    ]
}

/// The share of what a second thread adds under one lock that vanishes with an arena for each.
fn share_of_the_lock() -> Quantity {
    share(PAIR, by("one_lock", "2"), by("no_cache", "2"), by("one_lock", "1"))
}

fn findings() -> Vec<Finding> {
    let mut all = vec![
        finding(
            "one_lock_scaling",
            "Behind one internal lock two threads do {} times as many pairs as one.",
            ratio(PER_S, by("one_lock", "2"), by("one_lock", "1")),
        ),
        finding(
            "glibc_scaling",
            "With glibc as it is two threads do {} times as many pairs as one.",
            ratio(PER_S, by("glibc", "2"), by("glibc", "1")),
        ),
        remark(
            "overlap",
            "Two threads behind one internal lock both had a CPU for {} of a round.",
            value("overlap_ppm", by("one_lock", "2")),
        ),
        remark(
            "pair",
            "One malloc and one free of glibc take {} together, without contention.",
            value(PAIR, by("glibc", "1")),
        ),
        remark(
            "cache",
            "Without the threads' caches they take {} times as long.",
            ratio(PAIR, by("no_cache", "1"), by("glibc", "1")),
        ),
        remark(
            "arenas_share",
            "An arena for each thread takes away {} of what the second thread adds under one lock.",
            share_of_the_lock(),
        ),
        remark(
            "one_arena_scaling",
            "With caches of their own before one arena, two threads do {} times as many pairs as \
             one.",
            ratio(PER_S, by("one_arena", "2"), by("one_arena", "1")),
        ),
        remark(
            "mutex_scaling",
            "Behind a mutex of the program's own two threads do {} times as many pairs as one.",
            ratio(PER_S, by("mutex_around", "2"), by("mutex_around", "1")),
        ),
        remark(
            "handed_price",
            "A block that is handed to another thread and given back there takes {} of both.",
            value("handed_ns", handed("glibc")),
        ),
        remark(
            "loop",
            "Without malloc and free the loop does {}, and no allocator can do more.",
            value(PER_S, by("none", "1")),
        ),
    ];
    for name in ["jemalloc", "mimalloc", "tcmalloc"] {
        all.push(remark(
            &format!("{name}_scaling"),
            &format!("With {name} two threads do {{}} times as many pairs as one."),
            ratio(PER_S, by(name, "2"), by(name, "1")),
        ));
        all.push(remark(
            &format!("{name}_against_glibc"),
            &format!("With {name} two threads do {{}} times as many pairs as with glibc."),
            ratio(PER_S, by(name, "2"), by("glibc", "2")),
        ));
    }
    all
}

fn claims() -> Vec<Claim> {
    vec![
        claim(
            "one_lock_does_not_scale",
            LECTURE,
            "An allocator with one internal lock does not scale: two threads together do no more \
             than one.",
            "each call of malloc and free takes the lock, and the line that holds it travels from \
             one CPU to the other",
        )
        .note("glibc with one arena and without the threads' caches is such an allocator.")
        .holds_if(ratio(PER_S, by("one_lock", "2"), by("one_lock", "1")), Region::below(1.0)),
        claim(
            "lock_is_the_cause",
            LECTURE,
            "It is the lock that all share which makes the second thread dear: arenas take away \
             half of what it adds, or more.",
            "threads with arenas of their own take locks that nobody else wants",
        )
        .holds_if(share_of_the_lock(), Region::above(0.5)),
        claim(
            "modern_scales",
            LECTURE,
            "Modern allocators reduce contention: with glibc as it is, two threads do 1.5 times \
             as much as one, or more.",
            "caches for each thread need no lock, and arenas share none",
        )
        .holds_if(ratio(PER_S, by("glibc", "2"), by("glibc", "1")), Region::above(1.5)),
        claim(
            "jemalloc_scales",
            LECTURE,
            "Modern allocators reduce contention: with jemalloc, two threads do 1.5 times as much \
             as one, or more.",
            "caches for each thread need no lock, and threads are spread over arenas",
        )
        .note("Judged where jemalloc is installed.")
        .holds_if(ratio(PER_S, by("jemalloc", "2"), by("jemalloc", "1")), Region::above(1.5)),
    ]
}
