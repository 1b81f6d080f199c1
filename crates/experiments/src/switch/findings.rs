//! What answers the question.

use super::cells::{of, own, ring, single};
use kit::declare::{difference, finding, ratio, remark, share, value};
use kit::model::{Cell, Finding};

/// The cost of a switch, the control of the same footprint subtracted.
pub(super) const SWITCH: &str = "switch_ns";

pub(super) fn findings() -> Vec<Finding> {
    let mut all = definitions();
    all.extend(refill());
    all.extend(twins());
    all.extend(mechanisms());
    all
}

/// One and the same ring under each definition.
fn definitions() -> Vec<Finding> {
    let here = || ring("none");
    vec![
        finding(
            "direct",
            "A switch between two processes costs {} (one way, hot, without memory to walk).",
            value(SWITCH, here()),
        ),
        remark(
            "hop",
            "The whole hop, its system calls included, takes {}.",
            value("hop_ns", here()),
        ),
        remark("lmbench", "lmbench's definition calls it {}.", value("lat_ctx_ns", here())),
        remark(
            "perf",
            "perf bench's definition (a round trip, nothing subtracted) calls it {}.",
            value("round_trip_ns", here()),
        ),
        remark(
            "lebench",
            "LEBench's definition (the first 1000 round trips of a fresh pair) calls it {}.",
            value("lebench_ns", here()),
        ),
        remark("cold", "The very first round trip takes {}.", value("first_trip_ns", here())),
        remark("calls", "Each of a hop's system calls takes {}.", value("call_ns", single("none"))),
    ]
}

/// What memory adds: by the switch itself, and by its mere size.
fn refill() -> Vec<Finding> {
    vec![
        remark(
            "refill_half_l2",
            "Where two processes walk half of the L2 cache each, the switch itself makes a hop {} \
             dearer than it does without memory.",
            difference(SWITCH, ring("half_l2"), ring("none")),
        ),
        remark(
            "refill_times_half_l2",
            "It costs {} times as much there as without memory; what is above 1 vanishes with the \
             memory.",
            ratio(SWITCH, ring("half_l2"), ring("none")),
        ),
        remark(
            "switch_share_half_l2",
            "Of what such a hop costs beyond its system calls, {} vanish where nothing is \
             switched; the rest is the walk.",
            share("hop_ns", ring("half_l2"), single("half_l2"), single("none")),
        ),
        remark(
            "capacity_half_l2",
            "There, one task that walks both memories in turn needs {} more per hop than one that \
             walks its own: the price of the footprint, without any switch.",
            difference("hop_ns", single("half_l2"), own("half_l2")),
        ),
        remark(
            "capacity_l2",
            "With as much as the L2 cache each, that price is {}.",
            difference("hop_ns", single("l2"), own("l2")),
        ),
        remark(
            "lmbench_l2",
            "lmbench's definition calls a switch there {}, that price included.",
            value("lat_ctx_ns", ring("l2")),
        ),
        remark(
            "honest_l2",
            "With the control of the same footprint it is {}.",
            value(SWITCH, ring("l2")),
        ),
        remark(
            "honest_dearer",
            "By that control a switch with as much as the L2 cache each costs {} times as much as \
             with a quarter of it.",
            ratio(SWITCH, ring("l2"), ring("quarter_l2")),
        ),
        remark(
            "honest_peak",
            "By that control a switch with as much as the L2 cache each costs {} times as much as \
             with twice as much: below 1 there is no peak.",
            ratio(SWITCH, ring("l2"), ring("twice_l2")),
        ),
        remark(
            "tlb_share",
            "Of the refill that the switch itself causes at half of the L2 cache, {} vanish with \
             huge pages.",
            share(SWITCH, ring("half_l2"), ring("half_l2").with("pages", "huge"), ring("none")),
        ),
    ]
}

/// Threads against processes, and few against many.
fn twins() -> Vec<Finding> {
    vec![
        remark(
            "thread",
            "A switch between two threads of one process costs {}.",
            value(SWITCH, of("thread", "2")),
        ),
        remark(
            "process_8",
            "In a ring of eight a switch between processes costs {} times as much as in a ring of \
             two.",
            ratio(SWITCH, of("process", "8"), of("process", "2")),
        ),
        remark(
            "thread_8",
            "Between threads it costs {} times as much in a ring of eight as in a ring of two.",
            ratio(SWITCH, of("thread", "8"), of("thread", "2")),
        ),
        remark(
            "identifiers",
            "In a ring of eight a hop costs {} more between processes than between threads.",
            difference(SWITCH, of("process", "8"), of("thread", "8")),
        ),
        remark(
            "translations",
            "Where each of the eight walks a quarter of the L2 cache, so that every flush is \
             followed by misses of the TLB, it costs {} more.",
            difference(
                SWITCH,
                of("process", "8").with("working_set", "quarter_l2"),
                of("thread", "8").with("working_set", "quarter_l2"),
            ),
        ),
    ]
}

/// Other ways to hand the token on.
fn mechanisms() -> Vec<Finding> {
    let by = |mechanism: &str| -> Cell { ring("none").with("mechanism", mechanism) };
    vec![
        remark("eventfd", "By eventfd a switch costs {}.", value(SWITCH, by("eventfd"))),
        remark("futex", "By futex it costs {}.", value(SWITCH, by("futex"))),
        remark("yield", "By sched_yield it costs {}.", value(SWITCH, by("yield"))),
        // Of elapsed time alone: what sleeps and is woken needs more than a CPU.
        remark(
            "other_cpu",
            "To a task that sleeps on another CPU and back takes {}.",
            value("round_trip_ns", ring("none").with("placement", "other")),
        ),
    ]
}
