//! Control groups, version 1 and 2, by their files.
//!
//! Every group made here is a child of the group this process is in, for one
//! controller. Nothing is removed behind the caller's back: who wants a group
//! to go away whatever happens holds a [`Guard`].

mod find;
mod freezer;
mod inherited;
mod nest;
mod quota;

use crate::proc::stat;
use crate::{Error, Pid, Result, process, text};
pub use freezer::Freezers;
pub use inherited::{Room, memory_room, tasks_room};
pub use nest::{Nest, Plan};
#[cfg(test)]
pub(crate) use quota::parse_throttled_ns;
pub use quota::{Quotas, Throttling, cpu_quota};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

/// A version of the kernel's interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Version {
    /// A hierarchy per controller.
    V1,
    /// One hierarchy for all.
    V2,
}

impl Version {
    /// `v1` or `v2`.
    pub fn name(self) -> &'static str {
        match self {
            Version::V1 => "v1",
            Version::V2 => "v2",
        }
    }
}

/// How often a removal or a kill is tried again, every 5 ms: half a second for
/// the kernel to take its dead away.
const ATTEMPTS: usize = 100;

/// A control group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cgroup {
    path: PathBuf,
    version: Version,
}

/// Removes its group, with everything in it, when dropped.
#[derive(Debug)]
pub struct Guard {
    group: Cgroup,
}

impl Guard {
    /// The group that is guarded.
    pub fn group(&self) -> &Cgroup {
        &self.group
    }

    /// Kills what is in the group and removes it now, saying how that went.
    ///
    /// # Errors
    /// As [`Cgroup::remove`].
    pub fn end(self) -> Result<()> {
        let result = self.group.kill_all().and_then(|()| self.group.remove());
        std::mem::forget(self);
        result
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Nobody is left to hear of a failure; `end` is for those who want to.
        let _ = self.group.kill_all();
        let _ = self.group.remove();
    }
}

/// The versions that are mounted here and that this process is in.
pub fn versions() -> Vec<Version> {
    let mut versions: Vec<Version> =
        find::mounts().into_iter().map(|mount| mount.version).collect();
    versions.sort_unstable();
    versions.dedup();
    versions
}

impl Cgroup {
    /// The group this process is in, for `controller` (`cpu`, `cpuacct`,
    /// `memory`, `pids`, `freezer`).
    ///
    /// # Errors
    /// `Unsupported` where the controller is not mounted, or our group lies
    /// outside of what this process can see.
    pub fn own(controller: &str) -> Result<Self> {
        find::own(controller)
    }

    /// The group at a folder that somebody else found or made.
    pub fn at(path: &Path) -> Self {
        // Every group of version 2 has this file, none of version 1.
        let version = match path.join("cgroup.controllers").exists() {
            true => Version::V2,
            false => Version::V1,
        };
        Self { path: path.to_path_buf(), version }
    }

    /// Makes the group `name` below our own for `controller`.
    ///
    /// # Errors
    /// `Unsupported` as [`Cgroup::own`]; `EACCES`, `EROFS` or `EPERM` where this
    /// user may not; `EEXIST`; in version 2 `EBUSY` or `ENOENT` where the
    /// controller cannot be handed down, since our own group holds processes (see [`Plan`]) or
    /// was not given it.
    pub fn create(controller: &str, name: &str) -> Result<Self> {
        let own = Self::own(controller)?;
        own.child_for(controller, name)
    }

    /// Makes the group `name` below this one.
    ///
    /// # Errors
    /// `EINVAL` for a name with a slash or a leading dot; what `mkdir` says.
    pub fn child(&self, name: &str) -> Result<Self> {
        let path = self.path.join(name);
        let call = || format!("mkdir({})", path.display());
        if name.is_empty() || name.starts_with('.') || name.contains(['/', '\0', '\n']) {
            return Err(Error::new(call(), libc::EINVAL));
        }
        std::fs::create_dir(&path).map_err(|error| Error::io(call(), &error))?;
        Ok(Self { path, version: self.version })
    }

    /// Makes the group `name` below this one, with `controller` in it: in version 2 a group hands
    /// its controllers down only on request.
    ///
    /// # Errors
    /// As [`Cgroup::child`] and [`Cgroup::create`].
    pub fn child_for(&self, controller: &str, name: &str) -> Result<Self> {
        if self.version == Version::V2 {
            self.hand_down(controller)?;
        }
        self.child(name)
    }

    fn hand_down(&self, controller: &str) -> Result<()> {
        if find::is_core_of_v2(controller) || self.hands_down(controller) {
            return Ok(());
        }
        let call = format!("hand {controller} down from {}", self.path.display());
        // The kernel would make a group of threads of it for `cpu`, which no process can be moved into.
        if self.path.join("cgroup.type").exists() && !self.processes().is_empty() {
            return Err(Error::new(format!("{call}, which holds processes"), libc::EBUSY));
        }
        self.write("cgroup.subtree_control", &format!("+{}", find::v2_name(controller)))
    }

    /// Whether the groups below this one of version 2 get the controller.
    fn hands_down(&self, controller: &str) -> bool {
        let handed_down = text::read(self.path.join("cgroup.subtree_control")).unwrap_or_default();
        handed_down.split_whitespace().any(|one| one == find::v2_name(controller))
    }

    /// The group's folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The version of its interface.
    pub fn version(&self) -> Version {
        self.version
    }

    /// From now on the group is killed and removed when the guard is dropped.
    pub fn guarded(self) -> Guard {
        Guard { group: self }
    }

    /// Moves the process `pid`, with all its threads, into this group.
    ///
    /// # Errors
    /// `ESRCH`, `EACCES`; `EBUSY` in version 2 for a group that hands
    /// controllers down.
    pub fn add(&self, pid: Pid) -> Result<()> {
        self.write("cgroup.procs", &pid.to_string())
    }

    /// Gives the group the largest share of CPU time there is: `cpu.shares`
    /// 262144 in version 1, `cpu.weight` 10000 in version 2, where 1024 and 100
    /// are ordinary.
    ///
    /// # Errors
    /// `ENOENT` where the group has no `cpu` controller; `EACCES`.
    pub fn set_cpu_weight_max(&self) -> Result<()> {
        let (file, weight) = self.either(("cpu.shares", "262144"), ("cpu.weight", "10000"));
        self.write(file, weight)
    }

    /// Limits the CPU time of the group to a share of one CPU, from 0.1 up, in periods of 10 ms: so
    /// short that a process above the limit is throttled many times per second.
    ///
    /// # Errors
    /// `EINVAL` for less than the kernel's least quota, 1 ms; `ENOENT` where the group has no `cpu`
    /// controller or the kernel no quotas; `EACCES`.
    pub fn set_cpu_quota(&self, cpus: f64) -> Result<()> {
        const PERIOD_US: u64 = 10_000;
        let quota_us = (cpus * PERIOD_US as f64) as u64;
        match self.version {
            Version::V1 => {
                self.write("cpu.cfs_period_us", &PERIOD_US.to_string())?;
                self.write("cpu.cfs_quota_us", &quota_us.to_string())
            }
            Version::V2 => self.write("cpu.max", &format!("{quota_us} {PERIOD_US}")),
        }
    }

    /// Freezes all processes of the group and of those below it, or lets them go on.
    ///
    /// # Errors
    /// `ENOENT` without the `freezer` controller (version 2: before Linux 5.2); `EACCES`.
    pub fn set_frozen(&self, frozen: bool) -> Result<()> {
        let (file, words) =
            self.either(("freezer.state", ["THAWED", "FROZEN"]), ("cgroup.freeze", ["0", "1"]));
        self.write(file, words[usize::from(frozen)])
    }

    /// Limits the memory of the group, swap included where it is accounted.
    /// The kernel rounds down to whole pages.
    ///
    /// # Errors
    /// `ENOENT` without the `memory` controller; `EACCES`; `EBUSY` where the
    /// group uses more already and cannot shrink (version 1).
    pub fn set_memory_limit(&self, bytes: u64) -> Result<()> {
        let (limit, swap, swap_value) = self.either(
            ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", bytes),
            ("memory.max", "memory.swap.max", 0),
        );
        self.write(limit, &bytes.to_string())?;
        if self.path.join(swap).exists() {
            self.write(swap, &swap_value.to_string())?;
        }
        Ok(())
    }

    /// The limit on memory in force, in bytes; `None` where there is none.
    pub fn memory_limit(&self) -> Option<u64> {
        let file = self.either("memory.limit_in_bytes", "memory.max");
        // Version 1 writes "no limit" as the largest number of pages.
        text::number(self.path.join(file)).filter(|bytes| *bytes < 1 << 62)
    }

    /// The most memory the group has used, page cache included, in bytes;
    /// `None` without the controller (version 2: before Linux 5.19).
    pub fn memory_peak(&self) -> Option<u64> {
        text::number(self.path.join(self.either("memory.max_usage_in_bytes", "memory.peak")))
    }

    /// How many processes of the group were killed for lack of memory; `None`
    /// without the controller.
    pub fn oom_kills(&self) -> Option<u64> {
        let file = self.either("memory.oom_control", "memory.events");
        text::field(&text::read(self.path.join(file)).ok()?, "oom_kill")
    }

    /// For how long a quota has held this group back, summed over the CPUs on which it did, in ns;
    /// `None` where the kernel does not count it.
    pub fn throttled_ns(&self) -> Option<u64> {
        quota::parse_throttled_ns(&text::read(self.path.join("cpu.stat")).ok()?)
    }

    /// The processes in this group, not those in groups below it. One that
    /// lives outside our PID namespace is not listed.
    pub fn processes(&self) -> Vec<Pid> {
        let text = text::read(self.path.join("cgroup.procs")).unwrap_or_default();
        process::parse_pids(&text).collect()
    }

    /// Kills every process of this group and of the groups below it, and waits
    /// until they are gone or are zombies that their parents must reap.
    ///
    /// # Errors
    /// `EPERM` for somebody else's process, `EBUSY` where one does not die
    /// (uninterruptible sleep), `EINVAL` where this process itself is inside.
    pub fn kill_all(&self) -> Result<()> {
        self.refuse_if_it_holds_us("kill every process of")?;
        for group in self.descendants() {
            group.kill_all()?;
        }
        for _ in 0..ATTEMPTS {
            // A zombie stays listed in its group until it is reaped, but needs no killing.
            let is_alive = |pid: &Pid| stat(*pid).is_some_and(|stat| stat.is_alive());
            let living: Vec<Pid> = self.processes().into_iter().filter(is_alive).collect();
            if living.is_empty() {
                return Ok(());
            }
            for pid in living {
                match process::kill(pid, libc::SIGKILL) {
                    Err(error) if error.errno() != Some(libc::ESRCH) => return Err(error),
                    _ => {}
                }
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Err(Error::new(format!("kill(every process of {})", self.path.display()), libc::EBUSY))
    }

    /// Removes the group and the empty groups below it, trying again for half a
    /// second while the kernel calls it busy. A group that is gone is fine.
    ///
    /// # Errors
    /// `EBUSY` where a process is still inside, `EACCES`, `EINVAL` where this
    /// process itself is inside.
    pub fn remove(&self) -> Result<()> {
        self.refuse_if_it_holds_us("rmdir")?;
        for group in self.descendants() {
            group.remove()?;
        }
        let mut attempt = 0;
        loop {
            attempt += 1;
            match std::fs::remove_dir(&self.path) {
                Ok(()) => return Ok(()),
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => return Ok(()),
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) && attempt < ATTEMPTS => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(error) => {
                    return Err(Error::io(format!("rmdir({})", self.path.display()), &error));
                }
            }
        }
    }

    /// Whether this process is in the group or in one below it. Ending such a
    /// group would end this process, and with it whatever else shares the group.
    fn holds_us(&self) -> bool {
        find::mounts()
            .iter()
            .filter_map(find::own_folder)
            .any(|folder| folder.starts_with(&self.path))
    }

    fn refuse_if_it_holds_us(&self, what: &str) -> Result<()> {
        if !self.holds_us() {
            return Ok(());
        }
        let call = format!("{what}({}, which holds this process)", self.path.display());
        Err(Error::new(call, libc::EINVAL))
    }

    /// Kills what is in the groups below this one, and removes them.
    ///
    /// # Errors
    /// As [`Cgroup::kill_all`] and [`Cgroup::remove`].
    pub fn remove_children(&self) -> Result<()> {
        self.descendants()
            .iter()
            .try_for_each(|group| group.kill_all().and_then(|()| group.remove()))
    }

    /// Whether no process is in this group or in one below it.
    pub fn is_deserted(&self) -> bool {
        self.processes().is_empty() && self.descendants().iter().all(Self::is_deserted)
    }

    /// The groups right below this one.
    pub fn descendants(&self) -> Vec<Self> {
        let Ok(entries) = std::fs::read_dir(&self.path) else { return Vec::new() };
        entries
            .filter_map(std::result::Result::ok)
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .map(|entry| Self { path: entry.path(), version: self.version })
            .collect()
    }

    /// Returns what is of this group's version.
    fn either<T>(&self, v1: T, v2: T) -> T {
        match self.version {
            Version::V1 => v1,
            Version::V2 => v2,
        }
    }

    fn write(&self, file: &str, content: &str) -> Result<()> {
        text::write(self.path.join(file), content)
    }
}

/// CPU time of every task of the machine, in ns, from the true root of the
/// version 1 hierarchy with `cpuacct`; `None` elsewhere.
///
/// Inside a container the mounted "root" is the container's own group. Only the
/// true root has the file `cgroup.sane_behavior` (`CFTYPE_ONLY_ON_ROOT`).
pub(crate) fn root_cpu_usage_ns() -> Option<u64> {
    static FILE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let file = FILE.get_or_init(|| {
        let mut mounts = find::mounts().into_iter();
        let mount = mounts.find(|it| it.version == Version::V1 && it.has("cpuacct"))?;
        let is_root = mount.folder.join("cgroup.sane_behavior").exists();
        is_root.then(|| mount.folder.join("cpuacct.usage"))
    });
    text::number(file.as_ref()?)
}

#[cfg(test)]
mod tests;
