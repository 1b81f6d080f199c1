//! `stress-ng --vfork 1`, as stress-fork.c of stress-ng 0.15 has it.
//!
//! One operation: the table in which it keeps 16,000 children is cleared, one child is made by
//! vfork and ends by _exit, and the parent waits for it.
//!
//! Two things stand in it that the experiment `create` does not have. One is the table. The other
//! cannot be seen in the source: the process has as many mappings as its 28 libraries make, and the
//! kernel walks all of them when the child ends (`acct_collect` in kernel/acct.c, where it is built
//! with CONFIG_BSD_PROCESS_ACCT).

use super::definitions::{OPERATION_NS, keep_switches};
use kit::{OBSERVATIONS_MAX, Stop, Trial};
use sys::clock::now_ns;

/// 16,000 children with a process number and an error each.
const TABLE_BYTES: usize = 16_000 * 8;

/// Mappings of stress-ng as Debian 12 builds it, by /proc/PID/maps.
const MAPPINGS: usize = 167;

/// Operations in one observation.
const TOGETHER: u64 = 32;

pub(crate) fn by_stress_ng(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let mut table = vec![1_u8; TABLE_BYTES];
    let have = sys::pages::mapping_count()?;
    let _more = sys::pages::map_many(MAPPINGS.saturating_sub(have))
        .map_err(|error| Stop::unsupported(format!("{error}: raise vm.max_map_count")))?;
    let found = sys::pages::mapping_count()? as f64;
    trial.check("mappings", found, MAPPINGS as f64 - 8.0, MAPPINGS as f64 + 8.0);
    let mut values = Vec::with_capacity(OBSERVATIONS_MAX);
    for _ in 0..TOGETHER {
        operation(&mut table)?;
    }
    let limit_ns = trial.spec().timed_ns;
    trial.begin()?;
    let begun_ns = now_ns();
    while values.len() < OBSERVATIONS_MAX && now_ns() - begun_ns < limit_ns {
        let start_ns = now_ns();
        for _ in 0..TOGETHER {
            operation(&mut table)?;
        }
        values.push((now_ns() - start_ns) as i64);
    }
    trial.end()?;
    let operations = TOGETHER * values.len() as u64;
    trial.record(OPERATION_NS, TOGETHER, values);
    let switches = keep_switches(trial, operations);
    trial.check("context switches per child", switches, 0.9, 8.0);
    Ok(())
}

fn operation(table: &mut [u8]) -> Result<(), Stop> {
    sys::black_box(&mut *table).fill(0);
    let child = sys::task::vfork_exit()?;
    match sys::task::wait(child)?.code {
        Some(0) => Ok(()),
        _ => Err(Stop::failed("a child did not end with code 0")),
    }
}
