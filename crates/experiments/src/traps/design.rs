//! The declaration: factors, responses, findings.

use super::claims::claims;
use super::programs::EVENTS;
use super::run::{CACHES, STAGES};
use kit::declare::{cell, difference, factor, finding, grid, remark, response, value};
use kit::model::{Cell, Design, Finding, Needs, Profile, Response, Unit};

/// Cycles lost behind an event.
pub(super) const LOST: &str = "lost_count";

/// Cycles that an event costs in all.
pub(super) const WHOLE: &str = "whole_count";

/// Instructions from one event to the next, where that is no question.
pub(super) const INTERVAL: u64 = 64;

/// An event that is resolved in a stage, with a redirect latency.
pub(super) fn at(event: &str, stage: &str, latency: &str) -> Cell {
    cell([("event", event), ("stage", stage), ("latency", latency)])
}

pub(super) fn design() -> Design {
    let latency = factor("latency", "cycles from a redirect to the first fetch behind it", "0")
        .numbers(Profile::Smoke, "cycles", &[0, 2])
        .numbers(Profile::Standard, "cycles", &[1, 4]);
    let interval = factor(
        "interval",
        "instructions of the program from one event to the next",
        &INTERVAL.to_string(),
    )
    .numbers(Profile::Smoke, "instructions", &[INTERVAL])
    .numbers(Profile::Quick, "instructions", &[16, 256])
    .numbers(Profile::Standard, "instructions", &[32, 128, 512]);
    Design {
        id: "traps".into(),
        version: 1,
        chapter: "Inside the core".into(),
        question: "Why are traps control hazards?".into(),
        method: "Nothing is measured: a RISC-V machine with machine-mode traps carries out a loop, \
                 and a pipeline of five stages that predicts every branch as not taken counts its \
                 cycles. The event stands in each round of the loop, or is an interrupt that comes \
                 once per round; the same loop without it runs beside. The event is resolved in the \
                 stage of the treatment, and all others where textbooks have them: branches and \
                 jumps in EX, traps and mret at WB. Each trial computes everything twice."
            .into(),
        factors: vec![
            factor("event", "what happens once per round", "branch").named(&EVENTS).build(),
            factor("stage", "where the event is resolved, which is known to fetch then", "EX")
                .named(&STAGES)
                .build(),
            latency.build(),
            interval.build(),
            factor("cache", "what is between the instructions and their fetch", "none")
                .named(&CACHES)
                .build(),
        ],
        grids: vec![
            grid(Profile::Smoke, &[("event", &[]), ("stage", &["EX", "WB"])]),
            grid(
                Profile::Smoke,
                &[("event", &["branch", "ecall"]), ("stage", &["EX", "WB"]), ("latency", &["0", "2"])],
            ),
            grid(Profile::Quick, &[("event", &[]), ("stage", &[]), ("latency", &["0", "2"])]),
            grid(Profile::Quick, &[("event", &["timer"]), ("stage", &["WB"]), ("interval", &[])]),
            grid(
                Profile::Quick,
                &[("event", &["ecall", "timer"]), ("stage", &["WB"]), ("cache", &[])],
            ),
            grid(Profile::Standard, &[("event", &[]), ("stage", &[]), ("latency", &[])]),
        ],
        responses: responses(),
        findings: findings(),
        claims: claims(),
        needs: Needs { cpus: 1, ..Needs::default() },
        precision: 0.03,
        time_limit_ms: 20_000,
        ..Design::default()
    }
}

/// A number that is computed: the same in each trial and on each machine.
fn computed(
    name: &str,
    label: &str,
    unit: Unit,
    from: &str,
    to: &str,
    corrected: &str,
) -> Response {
    response(name, label, unit)
        .exact()
        .card(from, to, corrected, "the pipeline's account of its cycles, computed twice")
        .build()
}

fn responses() -> Vec<Response> {
    let (first, last) = ("the first fetch", "the last write-back");
    vec![
        computed(
            LOST,
            "cycles lost behind an event",
            Unit::Count,
            "the fetch of the event's instruction",
            "the fetch of the one that comes instead of the following",
            "less the cycle that every instruction takes; without handlers and their returns; \
             divided by the events, or by the traps",
        ),
        computed(
            WHOLE,
            "cycles that an event costs in all",
            Unit::Count,
            first,
            last,
            "less those of the program without events; divided by the events",
        ),
        computed(
            "whole_ppm",
            "share of all cycles that the events cost",
            Unit::Ppm,
            first,
            last,
            "the cycles beyond those of the program without events, of all",
        ),
        computed(
            "return_count",
            "cycles lost behind mret",
            Unit::Count,
            "the fetch of mret",
            "the fetch of the instruction at mepc",
            "less the cycle that every instruction takes; divided by the traps",
        ),
        computed(
            "again_count",
            "trapped instructions that come again",
            Unit::Count,
            "the trap",
            "the instruction behind mret",
            "counted if it is the trapped one; divided by the events",
        ),
        computed(
            "misses_count",
            "instruction-cache misses of an event",
            Unit::Count,
            first,
            last,
            "less those of the program without events; the handler's, and those of the loop, whose \
             lines the handler took; divided by the events",
        ),
    ]
}

/// The timer's interrupt, taken at WB, with so many instructions between two.
pub(super) fn each(interval: &str) -> Cell {
    at("timer", "WB", "0").with("interval", interval)
}

fn findings() -> Vec<Finding> {
    let cached = |cache| at("timer", "WB", "0").with("cache", cache);
    vec![
        finding(
            "trap",
            "A trap that commits at WB loses {} cycles behind its instruction.",
            value(LOST, at("ecall", "WB", "0")),
        ),
        finding(
            "branch",
            "A taken branch that is resolved in EX loses {} cycles.",
            value(LOST, at("branch", "EX", "0")),
        ),
        remark(
            "not_taken",
            "A branch that is not taken, as predicted, loses {} cycles.",
            value(LOST, at("not_taken", "EX", "0")),
        ),
        remark(
            "call",
            "An ecall with a handler of four instructions costs {} cycles in all.",
            value(WHOLE, at("ecall", "WB", "0")),
        ),
        remark(
            "interrupt",
            "An interrupt of the timer with a handler of four instructions costs {} cycles in all.",
            value(WHOLE, at("timer", "WB", "0")),
        ),
        remark("rare", "With one in 256 instructions, interrupts take {} of all cycles.", {
            value("whole_ppm", each("256"))
        }),
        remark("often", "With one in 16 instructions, interrupts take {} of all cycles.", {
            value("whole_ppm", each("16"))
        }),
        remark(
            "misses",
            "A handler on the loop's cache lines makes {} misses per interrupt, its own and the \
             loop's.",
            value("misses_count", cached("conflicting")),
        ),
        remark(
            "cold",
            "That costs {} cycles per interrupt beyond those of a handler on lines of its own.",
            difference(WHOLE, cached("conflicting"), cached("apart")),
        ),
    ]
}
