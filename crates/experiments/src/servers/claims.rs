//! What course notes say of servers, as numbers that could refute it.

use super::design::at;
use kit::declare::{claim, proportion, ratio, value};
use kit::model::{Cell, Claim, Region};

const NOTES: &str = "course notes on threads (notes)";

/// How far a response time may lie from its calculated value: a timer of an event loop is up to
/// 1 ms late, 5 % of 20 ms.
const INEXACT: f64 = 0.1;

const MS: f64 = 1e6;

pub(super) fn claims() -> Vec<Claim> {
    let mut all = claims_on_response();
    all.extend(claims_on_doubts());
    all.extend(claims_on_cost());
    all
}

fn takes(id: &str, text: &str, mechanism: &str, ms: f64, at: Cell) -> Claim {
    claim(id, NOTES, text, mechanism)
        .note("Judged as the median response time of a closed loop, to 10 %.")
        .holds_if(value("response_p50_ns", at), Region::about(ms * MS, INEXACT))
}

fn claims_on_response() -> Vec<Claim> {
    vec![
        takes(
            "single_four",
            "One thread that waits 20 ms for each request answers four connections after 4 × 20 ms.",
            "each waits for the three before it",
            80.0,
            at("single", "4"),
        ),
        claim(
            "single_explodes",
            NOTES,
            "With sixteen connections the response time of one thread explodes exponentially, and the \
             queue is unbounded.",
            "requests come faster than they are served",
        )
        .note(
            "Judged as more than four times the time with four connections. In a closed loop nobody \
             asks again before there is an answer, so the queue is never longer than the \
             connections; it is without bound only if requests come at a rate of their own.",
        )
        .holds_if(
            proportion("response_p50_ns", "connections", "4", "16", at("single", "16")),
            Region::above(1.0 + INEXACT),
        ),
        takes(
            "pool_four",
            "A pool of eight threads answers four connections after 20 ms.",
            "each has a thread",
            20.0,
            at("pool", "4"),
        ),
        takes(
            "pool_sixteen",
            "A pool of eight threads answers sixteen connections after 40 ms.",
            "they are served in two batches",
            40.0,
            at("pool", "16"),
        ),
        takes(
            "async_sixteen",
            "An event loop answers sixteen connections after 20 ms.",
            "whoever waits holds no thread",
            20.0,
            at("event_loop", "16"),
        ),
    ]
}

fn claims_on_doubts() -> Vec<Claim> {
    vec![
        claim(
            "async_computes",
            "implied by the same notes",
            "Where a request computes instead of waiting, an event loop answers no more requests than \
             one blocking thread (to 10 %).",
            "one thread computes one thing at a time, however it waits",
        )
        .holds_if(
            ratio(
                "throughput_per_s",
                at("event_loop", "4").with("service", "compute"),
                at("single", "4").with("service", "compute"),
            ),
            Region::about(1.0, INEXACT),
        ),
        claim(
            "median_tells",
            NOTES,
            "The median response time tells which server serves well.",
            "half of all requests are answered sooner",
        )
        .note(
            "Judged by what the median of the answers cannot show: connections that never get any. One \
             thread with keep-alive serves whoever holds it, as fast as a server without load.",
        )
        .holds_if(
            value("starved_count", at("single", "16").with("keep_alive", "yes")),
            Region::below(0.5),
        ),
    ]
}

fn claims_on_cost() -> Vec<Claim> {
    vec![
        claim(
            "thread_ram",
            NOTES,
            "A thousand threads cost gigabytes of RAM: each takes a megabyte or more.",
            "each has a stack, of 8 MiB as a rule",
        )
        .note(
            "Memory (PSS) per connection of a server with a thread for each, with 64 of them. A stack \
             takes memory as far as it was touched. The kernel's own memory is not in it.",
        )
        .holds_if(value("connection_bytes", at("thread_each", "16")), Region::above(1e6)),
        claim(
            "thread_address_space",
            "the same claim, read as address space",
            "A thousand threads cost gigabytes of address space.",
            "each has a stack, of 8 MiB as a rule",
        )
        .note(
            "glibc also reserves 64 MiB for an allocator of each of the first threads, eight for a \
             CPU.",
        )
        .holds_if(value("connection_virtual_bytes", at("thread_each", "16")), Region::above(1e6)),
        claim(
            "async_ram",
            NOTES,
            "A thousand connections of an event loop cost little: each takes less than 16 KiB.",
            "a connection is a buffer and a state",
        )
        .note("Memory (PSS) per connection, with 64 of them. The kernel's own is not in it.")
        .holds_if(value("connection_bytes", at("event_loop", "16")), Region::below(16_384.0)),
        claim(
            "fork_rate",
            NOTES,
            "A server that forks for each request does not serve 10,000 of them per second.",
            "copying page tables and ending a process takes longer than a tenth of a millisecond",
        )
        .note("On one CPU, for requests that need nothing else.")
        .holds_if(
            value("throughput_per_s", at("fork_each", "16").with("service", "none")),
            Region::below(10_000.0),
        ),
    ]
}
