//! A limit on the trial's own memory, page cache included: a memory cgroup that it moves into.

use crate::support::memory::{limited_cgroup, move_into};
use kit::{Stop, Trial};

/// Puts this process under a limit and verifies it. The runner removes the group when the trial
/// is over: a process cannot remove the group it is in.
pub(super) fn enter(trial: &mut Trial<'_>, bytes: u64) -> Result<(), Stop> {
    let group = limited_cgroup(trial.spec().memory_cgroup.as_deref(), "fault", bytes)?;
    move_into(&group)?;
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
