//! The declaration: factors, responses, findings, claims.

use super::layout::Maker;
use crate::support::counting;
use kit::declare::{
    Named, cell, claim, factor, finding, grid, ratio, remark, response, share, value,
};
use kit::model::{Cell, Claim, Design, Finding, Needs, Profile, Region, Response, Unit};

/// The levels of the factor `allocator`.
pub(super) const MAKERS: [Named<Maker>; 2] = [
    Named::new(
        "own",
        "a heap of our own: header and footer of 8 bytes each, blocks of 32 bytes or more, \
         payloads aligned to 16, first fit, neighbours merged at once",
        Maker::Own,
    ),
    Named::new("glibc", "the C library's malloc, in a fresh arena", Maker::Glibc),
];

const INCREMENT: &str = "increment_ns";

const LECTURE: &str = "a lecture on threads";

fn at(allocator: &str, request: &str, threads: &str) -> Cell {
    cell([("allocator", allocator), ("request", request), ("threads", threads)])
}

pub(super) fn design() -> Design {
    let request = factor("request", "how many bytes are asked for, again and again", "8")
        .unit(Unit::Bytes)
        .numbers(Profile::Smoke, "bytes", &[8, 64])
        .numbers(Profile::Quick, "bytes", &[128])
        .numbers(Profile::Standard, "bytes", &[16, 24, 32, 40, 48]);
    let threads = factor("threads", "threads that count, each in a block of its own", "1").numbers(
        Profile::Smoke,
        "each on a CPU of its own",
        &[1, 2],
    );
    let [own, glibc] = [&["own"][..], &["glibc"]].map(|makers| ("allocator", makers));
    Design {
        id: "heap_layout".into(),
        version: 1,
        chapter: "Sharing".into(),
        question: "Why do two small allocations share a cache line, and what does a larger \
                   request change?"
            .into(),
        method: "A heap is asked for 64 blocks of one size, one after the other, and where they \
                 lie is read off. The heap of our own has its arena at a multiple of 128 bytes, \
                 so that offsets tell cache lines apart; its list of blocks is shown. malloc is \
                 asked in a thread of its own, whose arena is new, and 64 blocks before are not \
                 looked at: they use up what was given back before. Then one thread, or two on \
                 CPUs that they may not leave, add one to the first word of the first or second \
                 block by an atomic instruction, in rounds of about half a millisecond. After each \
                 round the words must hold what was added. Every round counts, and a trial in which \
                 half of them were disturbed has failed."
            .into(),
        factors: vec![
            factor("allocator", "who makes the blocks", "own").named(&MAKERS).build(),
            request.build(),
            threads.build(),
        ],
        grids: vec![
            grid(Profile::Smoke, &[own, ("request", &["8", "64"]), ("threads", &[])]),
            grid(Profile::Smoke, &[glibc, ("request", &["8", "64"])]),
            grid(Profile::Quick, &[glibc, ("request", &[])]),
            grid(Profile::Quick, &[own, ("request", &["128"]), ("threads", &[])]),
            grid(Profile::Standard, &[own, ("request", &[]), ("threads", &[])]),
            grid(Profile::Standard, &[glibc, ("request", &[]), ("threads", &[])]),
        ],
        responses: responses(),
        findings: findings(),
        claims: claims(),
        needs: Needs { cpus: 2, ..Needs::default() },
        precision: 0.08,
        time_limit_ms: 5_000,
        ..Design::default()
    }
}

fn responses() -> Vec<Response> {
    let mut all = counting::responses();
    all.extend(places());
    all
}

/// What is read off the addresses: the same in each trial, unless a heap has a history.
fn places() -> [Response; 5] {
    let first = "the first block";
    let last = "the last of 64";
    let addresses = "addresses, and the length of a line from /sys/devices/system/cpu";
    [
        response("block_bytes", "what a block takes", Unit::Bytes)
            .card(
                "its first byte",
                "its last",
                "",
                "the heap's list of blocks; for malloc, malloc_usable_size and the 8 bytes of the \
                 size in front",
            )
            .build(),
        response("distance_bytes", "from one payload to the next", Unit::Bytes)
            .card(first, last, "the median of the 63 distances", "addresses")
            .build(),
        response("overhead_ppm", "share of a block that nobody asked for", Unit::Ppm)
            .card("its first byte", "its last", "", "what a block takes, and the request")
            .build(),
        response("neighbours_count", "pairs of neighbours that begin on one line", Unit::Count)
            .card(first, last, "of 63 pairs", addresses)
            .build(),
        response(
            "payloads_meet_count",
            "pairs of neighbours whose payloads meet on a line",
            Unit::Count,
        )
        .card(first, last, "of 63 pairs; a payload is as long as the request", addresses)
        .build(),
    ]
}

fn findings() -> Vec<Finding> {
    let neighbours = "neighbours_count";
    vec![
        finding(
            "counting",
            "Two threads that count in blocks of 8 bytes take {} times as long for each addition \
             as in blocks of 64.",
            ratio(INCREMENT, at("own", "8", "2"), at("own", "64", "2")),
        ),
        remark(
            "overlap",
            "Two threads that count in blocks of 8 bytes both had a CPU for {} of a round.",
            value("overlap_ppm", at("own", "8", "2")),
        ),
        remark(
            "distance",
            "Two requests of 8 bytes are served {} apart.",
            value("distance_bytes", at("own", "8", "1")),
        ),
        remark(
            "overhead",
            "Of a block for 8 bytes {} is overhead.",
            value("overhead_ppm", at("own", "8", "1")),
        ),
        remark(
            "neighbours",
            "Of 63 pairs of neighbours with 8 bytes {} begin on one line.",
            value(neighbours, at("own", "8", "1")),
        ),
        remark(
            "still_meet",
            "Of 63 pairs of neighbours with 64 bytes {} still meet on a line: the end of one and \
             the beginning of the next.",
            value("payloads_meet_count", at("own", "64", "1")),
        ),
        remark(
            "line_share",
            "Of what two threads gain with blocks of 128 bytes instead of 8, they gain {} with 64.",
            share(INCREMENT, at("own", "8", "2"), at("own", "64", "2"), at("own", "128", "2")),
        ),
        remark(
            "glibc_distance",
            "glibc serves two requests of 8 bytes {} apart.",
            value("distance_bytes", at("glibc", "8", "1")),
        ),
        remark(
            "glibc_neighbours",
            "Of 63 pairs of neighbours with 8 bytes from glibc {} begin on one line.",
            value(neighbours, at("glibc", "8", "1")),
        ),
    ]
}

fn claims() -> Vec<Claim> {
    let neighbours = "neighbours_count";
    vec![
        claim(
            "eight_share",
            LECTURE,
            "Two neighbouring allocations of 8 bytes share a cache line (every other pair, or more).",
            "with header and footer a block takes 32 bytes, so that two payloads begin within 64",
        )
        .note(
            "The number is that of 63 pairs of neighbours. The first two blocks of a fresh heap \
             share a line; the second and the third do not, where a line has 64 bytes.",
        )
        .holds_if(value(neighbours, at("own", "8", "1")), Region::above(31.5)),
        claim(
            "sixty_four_apart",
            LECTURE,
            "With requests of 64 bytes no two neighbours begin on one line.",
            "with header and footer a block takes 80 bytes, more than a line",
        )
        .note(
            "The number is that of 63 pairs of neighbours, judged by where blocks begin, which is \
             where a small counter stands. The end of one block and the beginning of the next may \
             still share a line: what keeps them apart is alignment, not size. Where lines have \
             128 bytes it needs more.",
        )
        .holds_if(value(neighbours, at("own", "64", "1")), Region::below(0.5)),
        claim(
            "larger_is_faster",
            LECTURE,
            "Two threads that count in blocks of their own are slower by a fifth or more if they \
             asked for 8 bytes than if they asked for 64.",
            "the line that holds both counters travels from one CPU to the other",
        )
        .note("Judged for atomic additions.")
        .holds_if(ratio(INCREMENT, at("own", "8", "2"), at("own", "64", "2")), Region::above(1.2)),
        claim(
            "glibc_least_block",
            "malloc.c of glibc, which calls it MINSIZE",
            "glibc serves no request in less than 32 bytes.",
            "a block that is given back must hold its size and the links of a list",
        )
        .note("On machines of 64 bits.")
        .holds_if(value("distance_bytes", at("glibc", "8", "1")), Region::above(31.5)),
    ]
}
