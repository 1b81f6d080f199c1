//! What is recorded of a squeeze: the names of the responses that say how much of a resource was taken from the
//! program, and what the co-runner did for it.

/// The part that was taken, of what there is.
pub const TAKEN: &str = "taken_ppm";
/// What the co-runners did per second: bytes, lines, requests or wake-ups.
pub const DONE: &str = "co_runner_per_s";
/// The part of its rate that a program that needs nothing but its CPU loses to the co-runners of wake-ups and
/// storage (their own CPU time, and what switches and interrupts take for them), and of memory and caches (what the
/// CPU's own caches held).
pub const CPU_LOST: &str = "cpu_lost_ppm";
/// CPU time of the co-runners, by what the program's CPUs had.
pub const CO_RUNNER_CPU: &str = "co_runner_cpu_ppm";
