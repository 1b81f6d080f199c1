//! What is recorded of a squeeze: how much of a resource was taken from the program, and what the
//! co-runner did for it.

use crate::{Card, Center, Response, Unit};

/// The part that was taken, of what there is.
pub const TAKEN: &str = "taken_ppm";
/// What the co-runners did per second: bytes, lines, requests or wake-ups.
pub const DONE: &str = "co_runner_per_s";
/// The part of its rate that a program that only CPU time limits loses to the co-runners of
/// wake-ups and storage: their own CPU time, and what switches and interrupts take for them.
pub const CPU_LOST: &str = "cpu_lost_ppm";
/// CPU time of the co-runners, by what the program's CPUs had.
pub const CO_RUNNER_CPU: &str = "co_runner_cpu_ppm";

/// Returns all of them, with their definition cards.
pub fn responses() -> Vec<Response> {
    let to = "when the program's own process has ended";
    let reference = "1 minus the rate of a reference program beside the co-runner divided by its \
    rate alone, measured in turns before the program starts; the reference runs on the program's \
    CPU and does nothing but use the resource. For CPU time it is what the co-runners took from \
    the program's CPUs while the program ran";
    let taken = Card::new(
        "for CPU time at the program's start, else before it",
        "for CPU time at its end, else before its start",
        reference,
        "clock_gettime(CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID)",
    );
    let done = Card::new(
        "right before the program's start",
        to,
        "bytes read, lines read, requests or wake-ups, of all co-runners",
        "their own counts",
    );
    let cpu_lost = Card::new(
        "before the program's start",
        "before the program's start",
        "like the part taken, with arithmetic in registers as the reference; for the squeezes of \
         wake-ups and storage",
        "clock_gettime(CLOCK_MONOTONIC)",
    );
    let co_runner_cpu = Card::new(
        "right before the program's start",
        to,
        "on the program's CPUs, by the elapsed time of all of them",
        "clock_gettime(CLOCK_THREAD_CPUTIME_ID) of each",
    );
    vec![
        Response::new(TAKEN, "part taken", Unit::Ppm, taken),
        Response::new(DONE, "work of the co-runners", Unit::PerSecond, done).centred(Center::Sum),
        Response::new(CPU_LOST, "CPU time taken beside it", Unit::Ppm, cpu_lost),
        Response::new(CO_RUNNER_CPU, "CPU time of the co-runners", Unit::Ppm, co_runner_cpu),
    ]
}
