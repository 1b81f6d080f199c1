//! Quotas of CPU time: how much the groups around this process allow it, and for how long they have
//! held it back.

use super::find::{self, Mount};
use super::inherited::folders;
use super::{Cgroup, Version};
use crate::{Pid, text};
use std::path::{Path, PathBuf};

/// How many CPUs' worth of time the groups around this process allow it: the
/// smallest quota on the way up to the root; `None` where there is none.
pub fn cpu_quota() -> Option<f64> {
    folders("cpu")
        .iter()
        .filter_map(|(version, folder)| quota_in(*version, folder))
        .min_by(f64::total_cmp)
}

fn quota_in(version: Version, folder: &Path) -> Option<f64> {
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
        self.accounts.iter().map(|path| throttled_in(path)).collect()
    }
}

/// The most groups that are watched, and texts of processes that are remembered.
const ENTERED_MAX: usize = 16;

/// Quotas that hold back other processes: of the groups that these are in, which they may have entered themselves.
#[derive(Debug, Default)]
pub struct Throttling {
    mounts: Vec<Mount>,
    apart: Vec<PathBuf>,
    /// What was read of the groups of processes.
    known: Vec<String>,
    groups: Vec<Entered>,
}

#[derive(Debug)]
struct Entered {
    version: Version,
    folder: PathBuf,
    before_ns: u64,
    now_ns: u64,
    cpus: Option<f64>,
}

impl Throttling {
    /// Begins with every group that processes are in.
    pub fn of_all() -> Self {
        let has_cpu = |mount: &Mount| mount.version == Version::V2 || mount.has("cpu");
        let mounts = find::mounts().into_iter().filter(has_cpu).collect();
        Self { mounts, ..Self::default() }
    }

    /// Begins with groups that hold neither this process nor those that `made` holds.
    pub fn beyond_own(made: &[Cgroup]) -> Self {
        let own = folders("cpu").into_iter().map(|(_, folder)| folder);
        let apart = own.chain(made.iter().map(|group| group.path.clone())).collect();
        Self { apart, ..Self::of_all() }
    }

    /// Looks which groups a process is in now, and reads their accounts.
    pub fn look(&mut self, pid: Pid) {
        let text = text::read(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        if self.known.len() < ENTERED_MAX && !self.known.contains(&text) {
            for mount in &self.mounts {
                let path = find::parse_own_path(&text, mount);
                let Some(own) = path.and_then(|path| find::folder_below(mount, &path)) else {
                    continue;
                };
                let up = own.ancestors().take_while(|folder| folder.starts_with(&mount.folder));
                for folder in up.filter(|folder| !self.apart.iter().any(|one| one == folder)) {
                    let is_known = self.groups.iter().any(|group| group.folder == folder);
                    let throttled = throttled_in(&folder.join("cpu.stat")).filter(|_| !is_known);
                    self.groups.extend(throttled.map(|ns| Entered {
                        version: mount.version,
                        folder: folder.to_path_buf(),
                        before_ns: ns,
                        now_ns: ns,
                        cpus: None,
                    }));
                }
            }
            self.known.push(text);
        }
        for group in &mut self.groups {
            // It may be gone with its last process.
            if let Some(now_ns) = throttled_in(&group.folder.join("cpu.stat")) {
                group.now_ns = now_ns.max(group.now_ns);
                group.cpus = quota_in(group.version, &group.folder).or(group.cpus);
            }
        }
    }

    #[cfg(test)]
    pub(super) fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Returns for how long the worst of them has held its group back since it was first seen, in ns over all CPUs, and
    /// the CPUs' worth of time that it allows; `None` where none did.
    pub fn worst(&self) -> Option<(u64, Option<f64>)> {
        let all = self.groups.iter().map(|group| (group.now_ns - group.before_ns, group.cpus));
        all.filter(|(ns, _)| *ns > 0).max_by_key(|(ns, _)| *ns)
    }
}

fn throttled_in(path: &Path) -> Option<u64> {
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
