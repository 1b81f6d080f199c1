//! What people say of signals.

use super::cells::{burst_blocked, widened};
use kit::declare::{claim, value};
use kit::model::{Claim, Region};

const LECTURE: &str = "a lecture on threads";

/// What happens less often than this in the typical trial is said never to happen.
const NEVER: f64 = 0.002;

pub(super) fn claims() -> Vec<Claim> {
    let mut all = vec![pause_loses()];
    all.extend(one_step());
    all.extend(bursts());
    all
}

fn pause_loses() -> Claim {
    claim(
        "pause_loses",
        LECTURE,
        "A handler that sets a flag and a loop that looks at it and calls pause() sleeps through \
         signals (with 50 µs in between, more than one in a hundred).",
        "a signal that is handled between the look and pause() does not end pause()",
    )
    .note(
        "How often depends on the time in between. The natural window, some instructions, is hit \
         rarely: a program can run for long before it hangs.",
    )
    .holds_if(value("lost_count", widened("pause")), Region::above(0.01))
}

fn one_step() -> [Claim; 3] {
    let never = |id: &str, waiter: &str, text: &str, mechanism: &str| {
        claim(id, LECTURE, text, mechanism)
            .note("Judged with a window that was widened to 50 µs, in the typical trial.")
            .holds_if(value("lost_count", widened(waiter)), Region::below(NEVER))
    };
    [
        never(
            "sigsuspend_does_not",
            "sigsuspend",
            "sigsuspend sleeps through none (fewer than one in 500).",
            "the signal is blocked during the look; it is unblocked and slept for in one step",
        ),
        never(
            "sigwait_does_not",
            "sigwait",
            "sigwait sleeps through none (fewer than one in 500).",
            "the signal stays pending until it is taken",
        ),
        never(
            "signalfd_does_not",
            "signalfd",
            "A signalfd sleeps through none (fewer than one in 500).",
            "the signal stays pending until it is read",
        ),
    ]
}

fn bursts() -> [Claim; 2] {
    [
        claim(
            "standard_merge",
            LECTURE,
            "Standard signals coalesce: of a burst while they are blocked hardly any but one is \
             handled (more than 9 in 10 are not).",
            "a standard signal is pending or not; there is no queue",
        )
        .holds_if(
            value("merged_count", burst_blocked("standard").with("waiter", "sigsuspend")),
            Region::above(0.9),
        ),
        claim(
            "realtime_queue",
            LECTURE,
            "Real-time signals do not coalesce: all of a burst are handled (but for one in 500).",
            "each is queued, up to a limit per user",
        )
        .holds_if(
            value("merged_count", burst_blocked("realtime").with("waiter", "sigsuspend")),
            Region::below(NEVER),
        ),
    ]
}
