//! Quotas of CPU time: how much the groups around this process allow it, and for how long they have
//! held it back.

use super::Version;
use super::inherited::folders;
use crate::text;
use std::path::PathBuf;

/// How many CPUs' worth of time the groups around this process allow it: the
/// smallest quota on the way up to the root; `None` where there is none.
pub fn cpu_quota() -> Option<f64> {
    folders("cpu")
        .iter()
        .filter_map(|(version, folder)| quota_in(*version, folder))
        .min_by(f64::total_cmp)
}

fn quota_in(version: Version, folder: &std::path::Path) -> Option<f64> {
    match version {
        Version::V1 => quota_of(
            &text::value(folder.join("cpu.cfs_quota_us"))?,
            &text::value(folder.join("cpu.cfs_period_us"))?,
        ),
        Version::V2 => {
            let text = text::value(folder.join("cpu.max"))?;
            let (quota, period) = text.split_once(' ')?;
            quota_of(quota, period)
        }
    }
}

/// The quotient of quota and period; `-1` and `max` mean that there is none.
pub(super) fn quota_of(quota: &str, period: &str) -> Option<f64> {
    let quota: u64 = quota.parse().ok()?;
    let period: u64 = period.parse().ok().filter(|period| *period > 0)?;
    Some(quota as f64 / period as f64)
}

/// The accounts of all quotas that can hold this process back, looked up once: to find them costs
/// more than to read them.
#[derive(Debug, Clone, Default)]
pub struct Quotas {
    accounts: Vec<PathBuf>,
}

impl Quotas {
    /// Those of the group that this process is in now, and of the groups above it as far as they
    /// can be seen: from inside a container those around it cannot.
    pub fn of_own() -> Self {
        let all = folders("cpu").into_iter().map(|(_, folder)| folder.join("cpu.stat"));
        // The root of version 2 and kernels without CONFIG_CFS_BANDWIDTH count no throttling.
        let counts = |path: &PathBuf| throttled_in(path).is_some();
        Self { accounts: all.filter(counts).collect() }
    }

    /// For how long each of them has held its group back since the group was made, in ns: the own
    /// group's first, then those above it. `None` stands for one that cannot be read any more;
    /// empty where the kernel does not tell.
    ///
    /// The kernel adds up the CPUs on which a group was held back, so that more time can have been
    /// lost than has passed, and it adds a wait when the wait is over.
    pub fn throttled_ns(&self) -> Vec<Option<u64>> {
        self.accounts.iter().map(throttled_in).collect()
    }
}

fn throttled_in(path: &PathBuf) -> Option<u64> {
    parse_throttled_ns(&text::read(path).ok()?)
}

/// Reads the time for which a group was held back from its `cpu.stat`, in ns: `throttled_usec` of
/// version 2, `throttled_time` of version 1, which counts ns.
pub(crate) fn parse_throttled_ns(text: &str) -> Option<u64> {
    match text::field(text, "throttled_usec") {
        Some(throttled_us) => throttled_us.checked_mul(1_000),
        None => text::field(text, "throttled_time"),
    }
}
