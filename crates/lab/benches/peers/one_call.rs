//! `perf bench syscall basic`, as tools/perf/bench/syscall.c of Linux has it.
//!
//! A loop calls libc's getppid a million times and is timed as a whole. The loop and the call of
//! libc are in its figure, and so is whatever interrupted it: one number stands for all calls.

use super::definitions::{OPERATION_NS, keep_switches};
use kit::{Stop, Trial};
use sys::clock::now_ns;

/// Calls of one figure.
pub(crate) const CALLS: u64 = 1_000_000;

pub(crate) fn by_perf(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let parent = sys::process::parent_pid();
    let mut right = 0;
    trial.begin()?;
    let start_ns = now_ns();
    for _ in 0..sys::black_box(CALLS) {
        right += u64::from(sys::process::parent_pid() == parent);
    }
    let whole_ns = now_ns() - start_ns;
    trial.end()?;
    trial.record(OPERATION_NS, CALLS, vec![whole_ns as i64]);
    keep_switches(trial, CALLS);
    trial.check("share of calls that named the parent", right as f64 / CALLS as f64, 1.0, 1.0);
    Ok(())
}
