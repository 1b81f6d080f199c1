//! What course notes say of speed-ups, as numbers that could refute it.

use super::design::{at, speedup_of_two};
use kit::declare::{claim, difference, ratio};
use kit::model::{Cell, Claim, Region};

const NOTES: &str = "course notes on threads (notes)";

/// How far from its calculated value a planted ratio may lie: hand-overs between threads and the
/// interrupts of either CPU lie in it.
const INEXACT: f64 = 0.07;

fn shared(workload: &str, count: &str) -> Cell {
    at(workload, count).with("cpus", "two")
}

pub(super) fn claims() -> Vec<Claim> {
    let mut all = claims_on_laws();
    all.extend(claims_on_bottlenecks());
    all.extend(claims_on_too_many());
    all.extend(claims_on_cores());
    all
}

fn claims_on_laws() -> Vec<Claim> {
    vec![
        claim(
            "amdahl",
            NOTES,
            "With a tenth of the work serial two threads are 1.82 times as fast: Amdahl's law, whose \
             bound is 1/(1 − p) = 10.",
            "while one does what only one may do, all others wait",
        )
        .note("1 / (0.1 + 0.9 / 2), judged to 7 %: between it and no gain, or the whole gain, lies more.")
        .holds_if(speedup_of_two("serial"), Region::about(1.0 / 0.55, INEXACT)),
        claim(
            "lock_bound",
            NOTES,
            "A lock that is held for half of the work bounds the speed-up to 1/(1 − p) = 2, however \
             many threads there are.",
            "under the lock only one thread works at a time",
        )
        .note("Judged with four threads on four CPUs, which would be four times as fast without.")
        .holds_if(
            ratio("round_ns", at("spin", "1"), at("spin", "4")),
            Region::below(2.0 * (1.0 + INEXACT)),
        ),
        claim(
            "throughput_falls",
            NOTES,
            "Past a peak more threads make throughput fall (the universal scalability law).",
            "what one thread writes must be fetched by all others before they can go on, which \
             takes longer the more there are",
        )
        .note(
            "Judged with two threads against one that keep adding to one word: a peak at one, if \
             the law is right, as the time for coherency grows with the pairs of threads.",
        )
        .holds_if(
            ratio("throughput_per_s", at("shared_line", "2"), at("shared_line", "1")),
            Region::below(1.0),
        ),
        claim(
            "throughput_falls_oversubscribed",
            NOTES,
            "Past the number of CPUs more threads make throughput fall (by 5 % or more) where they \
             spin for a lock.",
            "who holds the lock may have no CPU while those who have one wait for it",
        )
        .holds_if(
            ratio("throughput_per_s", shared("spin", "4"), shared("spin", "2")),
            Region::below(0.95),
        ),
    ]
}

fn claims_on_bottlenecks() -> Vec<Claim> {
    vec![
        claim(
            "output_holds_back",
            NOTES,
            "Compression is held back by its sequential output (by a fifth or more).",
            "a block can be written only when the one before it is there",
        )
        .note(
            "Judged against the same work with a file for each thread. Compressors whose blocks \
             take very different times, or which write to a slow device, wait longer.",
        )
        .holds_if(
            ratio("round_ns", at("ordered", "2"), at("unordered", "2")),
            Region::above(1.20),
        ),
        claim(
            "stencil_two",
            NOTES,
            "A stencil code does not get the whole gain of a second core, since it waits for memory \
             (at most 1.6 times as fast).",
            "all cores share the bandwidth of the memory, and one of them can use most of it",
        )
        .holds_if(speedup_of_two("stencil"), Region::below(1.6)),
        claim(
            "stencil_flat",
            NOTES,
            "A stencil code stops at the memory's bandwidth: past four threads it is flat.",
            "four cores ask for all that the memory can give",
        )
        .note("Judged as eight threads against four, within 25 %; it needs eight CPUs.")
        .holds_if(
            ratio("throughput_per_s", at("stencil", "8"), at("stencil", "4")),
            Region::about(1.0, 0.25),
        ),
        claim(
            "waits_for_slowest",
            NOTES,
            "A fork-join waits for its slowest member.",
            "the join is over when the last one is there",
        )
        .note(
            "Of two threads one has twice as much to do: two thirds of the work instead of half, so \
             that it takes 4/3 times as long, judged to 7 %.",
        )
        .holds_if(
            ratio("round_ns", at("imbalanced", "2"), at("independent", "2")),
            Region::about(4.0 / 3.0, INEXACT),
        ),
    ]
}

fn claims_on_too_many() -> Vec<Claim> {
    vec![
        claim(
            "more_threads_switch",
            NOTES,
            "More threads than cores cost switches.",
            "threads that share a CPU take turns",
        )
        .note(
            "Judged as the switches within a round of eight threads on two CPUs beyond those of two \
             threads, for two milliseconds of work: at least one in twenty rounds.",
        )
        .holds_if(
            difference("switches_count", shared("independent", "8"), shared("independent", "2")),
            Region::above(0.05),
        ),
        claim(
            "switches_cost_time",
            "implied by the same notes",
            "More threads than cores take longer for the same computation (by 5 % or more).",
            "a switch takes time, and leaves caches cold",
        )
        .holds_if(
            ratio("round_ns", shared("independent", "8"), shared("independent", "2")),
            Region::above(1.05),
        ),
    ]
}

fn claims_on_cores() -> Vec<Claim> {
    vec![
        claim(
            "core_slows_down",
            NOTES,
            "A core slows down when another one works (by 2 % or more).",
            "turbo is for few busy cores; heat and power are shared by all",
        )
        .note(
            "In a virtual machine the neighbours of its host keep the other cores busy in any case, \
             and two of its CPUs may be the threads of one core. A neighbour on the other CPU slows \
             one thread down, and makes two look quicker than it.",
        )
        .holds_if(
            ratio("step_ns", at("independent", "2"), at("independent", "1")),
            Region::above(1.02),
        ),
        claim(
            "faster_without_turbo",
            NOTES,
            "Without turbo the whole can be faster.",
            "turbo heats the package until all cores have to slow down",
        )
        .note(
            "Not judged where the frequency cannot be set for a trial alone. Heat takes seconds: a \
             trial of milliseconds meets the machine as warm as the whole session makes it.",
        )
        .holds_if(
            ratio(
                "round_ns",
                at("independent", "2").with("frequency", "nominal"),
                at("independent", "2"),
            ),
            Region::below(1.0),
        ),
    ]
}
