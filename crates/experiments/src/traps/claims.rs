//! What a lecture says of traps in a pipeline, as numbers that could refute it.

use super::design::{LOST, at};
use kit::declare::{claim, difference, value};
use kit::model::{Cell, Claim, Region};

const LECTURE: &str = "a lecture on computer architecture";

/// The rule of control hazards: bubbles = index of the resolving stage (IF = 0) + redirect latency.
const RULE: &str = "what is fetched until the event is resolved is flushed: one instruction for each \
                    stage before it, and nothing comes in the cycles of the redirect";

/// A computed number is this one, or it is not.
fn exactly(number: f64) -> Region {
    Region::within(number, number)
}

fn loses(id: &str, text: &str, cycles: f64, at: Cell) -> Claim {
    claim(id, LECTURE, text, RULE)
        .note("The rule gives the number: the index of the stage (IF = 0) and the latency.")
        .holds_if(value(LOST, at), exactly(cycles))
}

pub(super) fn claims() -> Vec<Claim> {
    let mut all = claims_on_the_rule();
    all.extend(claims_on_mepc());
    all
}

fn claims_on_the_rule() -> Vec<Claim> {
    vec![
        loses(
            "branch",
            "A taken branch that is resolved in EX loses two cycles.",
            2.0,
            at("branch", "EX", "0"),
        ),
        loses(
            "branch_latency",
            "With a redirect latency of two it loses four.",
            4.0,
            at("branch", "EX", "2"),
        ),
        loses(
            "trap",
            "A trap that commits at WB loses four cycles.",
            4.0,
            at("ecall", "WB", "0"),
        ),
        loses(
            "trap_latency",
            "With a redirect latency of two it loses six.",
            6.0,
            at("ecall", "WB", "2"),
        ),
        loses(
            "not_taken",
            "A branch that is not taken loses nothing, wherever it is resolved.",
            0.0,
            at("not_taken", "WB", "0"),
        ),
        claim(
            "same_hazard",
            LECTURE,
            "A trap is a control hazard: it loses what a taken branch loses that is resolved in the \
             same stage.",
            "both send the fetch elsewhere, and fetch learns of it in that stage",
        )
        .holds_if(
            difference(LOST, at("ecall", "WB", "0"), at("branch", "WB", "0")),
            exactly(0.0),
        ),
        claim(
            "same_cause",
            LECTURE,
            "An interrupt loses what an exception loses.",
            "the interrupted instruction goes down the pipeline like one that traps",
        )
        .note("A core may take interrupts in an earlier stage than exceptions; then it is not so.")
        .holds_if(
            difference(LOST, at("timer", "WB", "0"), at("illegal", "WB", "0")),
            exactly(0.0),
        ),
    ]
}

fn claims_on_mepc() -> Vec<Claim> {
    vec![
        claim(
            "interrupted_again",
            LECTURE,
            "An interrupted instruction is carried out after the handler.",
            "mepc holds its address, since it was not carried out",
        )
        .holds_if(value("again_count", at("timer", "WB", "0")), exactly(1.0)),
        claim(
            "call_once",
            LECTURE,
            "An ecall does not come again if its handler adds 4 to mepc.",
            "mepc holds the address of the ecall, and mret goes to mepc",
        )
        .holds_if(value("again_count", at("ecall", "WB", "0")), exactly(0.0)),
        claim(
            "call_again",
            LECTURE,
            "An ecall comes again if its handler leaves mepc alone.",
            "mepc holds the address of the ecall, and mret goes to mepc",
        )
        .holds_if(value("again_count", at("ecall_again", "WB", "0")), exactly(1.0)),
    ]
}
