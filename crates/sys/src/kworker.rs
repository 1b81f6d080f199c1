//! The kernel's own workers (`kworker/…`): they complete a device's flushes, and have to wait for
//! a CPU like everybody else.
//!
//! A worker that waits for a synchronous write depends on them. If others want the CPU meanwhile,
//! a write can last as long as a tick of the scheduler, whatever the device does, and no shield
//! around the writer helps: this account shows it.

use crate::proc::{parse_schedstat, stat};
use crate::{Pid, text};
use std::collections::HashMap;

/// The parent of all kernel threads, `kthreadd`.
const KTHREADD: Pid = 2;

/// How long each of the kernel's workers has waited for a CPU since it exists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Waits {
    by_pid_ns: HashMap<Pid, u64>,
}

/// The account now; `None` where no kernel worker is to be seen: in a PID namespace of its own,
/// with /proc mounted `hidepid`, or without `CONFIG_SCHED_INFO`. It looks at every process: about
/// a millisecond for a hundred of them.
pub fn waits() -> Option<Waits> {
    let by_pid_ns: HashMap<Pid, u64> =
        text::process_ids().into_iter().filter_map(|pid| Some((pid, wait_of(pid)?))).collect();
    (!by_pid_ns.is_empty()).then_some(Waits { by_pid_ns })
}

/// The wait of one process, if it is a kernel worker.
fn wait_of(pid: Pid) -> Option<u64> {
    let stat = stat(pid)?;
    if !is_worker(stat.parent, &stat.name) {
        return None;
    }
    Some(parse_schedstat(&text::read(format!("/proc/{pid}/schedstat")).ok()?)?.queue_wait_ns)
}

/// Anybody may call a program `kworker/0:1`, but only the kernel has `kthreadd` for a parent.
fn is_worker(parent: Pid, name: &str) -> bool {
    parent == KTHREADD && name.starts_with("kworker/")
}

impl Waits {
    /// What was added since an `earlier` account, summed, in ns. Workers that began since count
    /// whole; those that ended are lost.
    pub fn since_ns(&self, earlier: &Self) -> u64 {
        self.by_pid_ns
            .iter()
            .map(|(pid, now)| now.saturating_sub(earlier.by_pid_ns.get(pid).copied().unwrap_or(0)))
            .fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_summed_over_those_that_live() {
        let earlier = Waits { by_pid_ns: HashMap::from([(10, 100), (11, 50), (12, 7)]) };
        let now = Waits { by_pid_ns: HashMap::from([(10, 130), (12, 7), (13, 4)]) };
        assert_eq!(now.since_ns(&earlier), 34);
        assert_eq!(now.since_ns(&now), 0);
    }

    #[test]
    fn only_the_kernels_own_are_workers() {
        assert!(is_worker(2, "kworker/0:1H-kblo"));
        assert!(!is_worker(2, "ksoftirqd/0"));
        assert!(!is_worker(700, "kworker/0:1"));
    }

    #[test]
    fn the_account_never_runs_backwards() {
        let (Some(before), Some(after)) = (waits(), waits()) else {
            println!("skipped: no kernel worker is to be seen here");
            return;
        };
        // Who lived at both times has not waited less.
        assert!(
            before
                .by_pid_ns
                .iter()
                .all(|(pid, ns)| after.by_pid_ns.get(pid).is_none_or(|later| later >= ns))
        );
    }
}
