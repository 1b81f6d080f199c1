//! What people say of switches, each with the number that decides.

use super::cells::{of, ring};
use super::findings::SWITCH;
use kit::declare::{claim, ratio, share};
use kit::model::{Claim, Region};

const QUIZ: &str = "a computer-architecture quiz";

const NOTES: &str = "an OS course's notes";

/// The cost of a switch as the quiz measured it: by lmbench's subtraction.
const LMBENCH: &str = "lat_ctx_ns";

pub(super) fn claims() -> Vec<Claim> {
    let mut all = caches();
    all.extend(threads());
    all
}

fn caches() -> Vec<Claim> {
    let capacity = "Judged by lmbench's definition, which the source used: its control walks one \
                    memory, so that the figure also holds what two memories cost that displace \
                    each other in the cache, switch or no switch. The findings capacity_l2 and \
                    honest_l2 tell the two apart.";
    vec![
        claim(
            "cheap_within",
            QUIZ,
            "A switch is cheap while the working sets fit in the cache: with a quarter of the L2 \
             cache each it costs two processes what it costs without memory (within 25 %).",
            "nothing is displaced, and nothing has to be fetched again",
        )
        .note("The control has the same footprint, so that the walk itself does not count.")
        .holds_if(ratio(SWITCH, ring("quarter_l2"), ring("none")), Region::about(1.0, 0.25)),
        claim(
            "dearer_past",
            QUIZ,
            "Past the cache a switch is dearer: with as much as the L2 cache each it costs two \
             processes half as much again as with a quarter of it.",
            "each task finds its memory displaced by the other's",
        )
        .note(capacity)
        .holds_if(ratio(LMBENCH, ring("l2"), ring("quarter_l2")), Region::above(1.5)),
        claim(
            "worst_at_l2",
            QUIZ,
            "A switch is dearest near the size of the L2 cache and cheaper again well past it: by a \
             sixth or more with twice that size each.",
            "near the boundary two memories do not fit and one does; past it neither does",
        )
        .note(
            "A sixth is what the source's own figures give (2.86 µs with the size of its L2 cache, \
             2.36 µs with twice that). Judged by lmbench's definition, which the source used: a \
             peak is where its control still fits and the ring does not. The finding honest_peak \
             has the same two sizes with a control that walks both memories.",
        )
        .holds_if(ratio(LMBENCH, ring("l2"), ring("twice_l2")), Region::above(1.2)),
        claim(
            "caches_not_tlb",
            QUIZ,
            "What memory adds to a switch is mainly the refill of caches, not of the TLB (half of \
             the L2 cache each).",
            "a line of cache that is displaced costs a fetch, and there are many of them; a page \
             needs one entry",
        )
        .note(
            "With a huge page for each of two processes, the TLB \
             needs one entry instead of one per 4 KiB; the claim holds if less than half of what \
             the memory adds vanishes. A huge page also lies evenly in a cache that is indexed by \
             physical addresses, so that the share that vanishes is the most that the TLB can \
             have. By lmbench's definition, as above.",
        )
        .holds_if(
            share(LMBENCH, ring("half_l2"), ring("half_l2").with("pages", "huge"), ring("none")),
            Region::below(0.5),
        ),
    ]
}

fn threads() -> Vec<Claim> {
    let flush = "threads share their page tables, so that the TLB need not be flushed";
    let border = "A few per cent may come from anything else in which two kinds of tasks differ.";
    let cheaper = |tasks| ratio(SWITCH, of("thread", tasks), of("process", tasks));
    vec![
        claim(
            "thread_switch_2",
            NOTES,
            "Threads switch without a flush of the TLB and so clearly cheaper than \
             processes (by a fifth or more): two of them.",
            flush,
        )
        .note(&format!(
            "{border} A processor with address-space identifiers need not flush for a process \
             either; Linux on x86 keeps six of them per CPU (arch/x86/mm/tlb.c, TLB_NR_DYN_ASIDS)."
        ))
        .holds_if(cheaper("2"), Region::below(0.8)),
        claim(
            "thread_switch_8",
            NOTES,
            "Threads switch without a flush of the TLB and so clearly cheaper than \
             processes (by a fifth or more): eight of them.",
            flush,
        )
        .note(&format!(
            "{border} Eight processes are more than Linux on x86 keeps identifiers for. A hop of a \
             longer ring has more than one switch where a wake-up preempts: see switches_count."
        ))
        .holds_if(cheaper("8"), Region::below(0.8)),
    ]
}
