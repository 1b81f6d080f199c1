//! What people say of functions that are entered again.

use super::cells::at;
use kit::declare::{claim, value};
use kit::model::{Claim, Region};

const LECTURE: &str = "a lecture on threads";

/// What happens more often than this does happen. On one CPU, where only a preemption in the wrong
/// place does harm, it is rare, and no less wrong.
const HAPPENS: f64 = 1e-5;

/// What happens less often than this in the typical trial is said never to happen. (Chances of one
/// trial share its scheduling, so that more of them do not show a rarer event.)
const NEVER: f64 = 5e-5;

pub(super) fn claims() -> Vec<Claim> {
    [tokens(), lines(), handlers()].concat()
}

fn tokens() -> [Claim; 2] {
    [
        claim(
            "strtok_is_unsafe",
            LECTURE,
            "strtok is not safe in two threads (more than one token in 100,000 is wrong).",
            "it remembers the place in one variable for all threads",
        )
        .note(
            "How many are wrong depends on what is done with a token before the next is asked for: \
             in that time the other thread calls.",
        )
        .holds_if(value("wrong_count", at("strtok", "thread")), Region::above(HAPPENS)),
        claim(
            "strtok_r_is_safe",
            LECTURE,
            "strtok_r is safe in two threads (fewer than one token in 20,000 is wrong).",
            "the caller remembers the place",
        )
        .holds_if(value("wrong_count", at("strtok_r", "thread")), Region::below(NEVER)),
    ]
}

fn lines() -> [Claim; 2] {
    [
        claim(
            "one_call_is_whole",
            LECTURE,
            "What two threads print by one call each stays whole (but for one line in \
             20,000).",
            "each call of stdio takes the stream's lock",
        )
        .holds_if(value("wrong_count", at("fprintf", "thread")), Region::below(NEVER)),
        claim(
            "several_calls_tear",
            LECTURE,
            "Several calls in a row need flockfile, or lines are torn (more than one in \
             100,000).",
            "the lock is given back between the calls",
        )
        .note("How often depends on how long a thread waits for the lock before the other lets go.")
        .holds_if(value("wrong_count", at("fprintf_three", "thread")), Region::above(HAPPENS)),
    ]
}

fn handlers() -> [Claim; 2] {
    [
        claim(
            "plain_lock_deadlocks",
            LECTURE,
            "A lock that is not recursive deadlocks when a handler takes it (most processes do \
             within some hundred runs of the handler).",
            "the handler waits for code that cannot go on before the handler returns",
        )
        .holds_if(value("deadlocked_count", at("plain_lock", "handler")), Region::above(0.5)),
        claim(
            "recursive_lock_does_not",
            LECTURE,
            "stdio in a handler does not deadlock, since its lock is recursive (fewer than one \
             process in four does within some hundred runs of the handler).",
            "whoever holds the lock may take it again",
        )
        .note(
            "A recursive lock is a lock word and an owner, and libc may set them one after the \
             other: in between the lock is taken, and nobody is known to hold it. Where the handler \
             does get in, it finds a half-changed buffer: see the lines torn and the children \
             corrupted.",
        )
        .holds_if(value("deadlocked_count", at("fprintf", "handler")), Region::below(0.25)),
    ]
}
