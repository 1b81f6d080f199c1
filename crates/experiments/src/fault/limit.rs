//! A limit on the trial's own memory, page cache included: a memory cgroup that it moves into.

use kit::{Stop, Trial};
use std::path::Path;
use sys::cgroup::{Cgroup, Version};

/// The cgroup in which a limit can be set, if there is one.
pub(super) fn parent(trial: &Trial<'_>) -> Result<Cgroup, Stop> {
    match &trial.spec().memory_cgroup {
        Some(folder) => Ok(Cgroup::at(Path::new(folder))),
        None => Err(Stop::unsupported(
            "needs a memory cgroup; run as root, or with the memory controller delegated to you",
        )),
    }
}

/// Puts this process under a limit and verifies it. The runner removes the group when the trial
/// is over: a process cannot remove the group it is in.
pub(super) fn enter(trial: &mut Trial<'_>, bytes: u64) -> Result<(), Stop> {
    let parent = parent(trial)?;
    let why = |error: sys::Error| {
        Stop::unsupported(format!("{error}: a memory cgroup cannot be made or limited here"))
    };
    if parent.version() == Version::V2 {
        // In version 2 a group must hand its controllers down; where it does so already, or may
        // not, setting the limit shows whether it works.
        let _ = std::fs::write(parent.path().join("cgroup.subtree_control"), "+memory");
    }
    let own = sys::process::pid();
    let group = parent.child(&format!("fault-{own}")).map_err(why)?;
    group.set_memory_limit(bytes).map_err(why)?;
    group.add(own).map_err(why)?;
    if !group.processes().contains(&own) {
        return Err(Stop::failed("the trial is not in the cgroup it was moved to"));
    }
    let found = group.memory_limit();
    if found != Some(bytes) {
        let found = found.map_or("no limit".into(), |bytes| format!("{bytes} bytes"));
        return Err(Stop::unsupported(format!(
            "asked for a limit of {bytes} bytes of memory, the kernel gave {found}"
        )));
    }
    trial.observe("limit_bytes", bytes);
    Ok(())
}
