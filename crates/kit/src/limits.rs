//! What the limits that the session has inherited allow a treatment.

use crate::{Result, Stop};
use sys::cgroup::Room;
use sys::limits::Resource;

const MB: u64 = 1_000_000;

/// Refuses processes that need so much memory in all, and `most` the largest of them.
pub(crate) fn memory(bytes: u64, most: u64) -> Result<()> {
    memory_within(bytes, most, sys::cgroup::memory_room(), &sys::limits::in_force())
}

fn memory_within(
    bytes: u64,
    most: u64,
    group: Option<Room>,
    limits: &[(Resource, u64)],
) -> Result<()> {
    if let Some(room) = group.filter(|room| room.left() < bytes) {
        return Err(Stop::unsupported(format!(
            "needs {} MB of memory; a memory cgroup limits this session to {} MB, of which {} MB are \
             in use",
            bytes / MB,
            room.limit / MB,
            room.used / MB
        )));
    }
    match limits.iter().find(|(resource, limit)| resource.is_of_memory() && *limit < most) {
        Some((resource, limit)) => Err(Stop::unsupported(format!(
            "needs {} MB of memory in one process; {} limits each to {} MB",
            most / MB,
            resource.name(),
            limit / MB
        ))),
        None => Ok(()),
    }
}

/// Refuses `count` more processes and threads where a limit has no room for them.
pub(crate) fn tasks(count: u64) -> Result<()> {
    tasks_within(count, sys::cgroup::tasks_room(), &sys::limits::in_force())
}

fn tasks_within(count: u64, group: Option<Room>, limits: &[(Resource, u64)]) -> Result<()> {
    if let Some(room) = group.filter(|room| room.left() < count) {
        return Err(Stop::unsupported(format!(
            "needs {count} more processes and threads; a cgroup (pids.max) limits this session to {}, \
             of which {} are there",
            room.limit, room.used
        )));
    }
    // How many the user has by now no file tells: the limit alone can refuse.
    match limits.iter().find(|(resource, limit)| *resource == Resource::Processes && *limit < count)
    {
        Some((resource, limit)) => Err(Stop::unsupported(format!(
            "needs {count} processes and threads; {} limits this user to {limit}",
            resource.name()
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(result: Result<(), Stop>) -> String {
        match result {
            Ok(()) => "fine".into(),
            Err(Stop::Unsupported(why)) => why,
            Err(Stop::Failed(why)) => panic!("{why}"),
        }
    }

    #[test]
    fn a_group_limits_all_processes_and_a_resource_limit_each() {
        let limits = [(Resource::OpenFiles, 9), (Resource::AddressSpace, 300 * MB)];
        let group = |used| Some(Room { limit: 600 * MB, used });
        let five = |most, group| said(memory_within(590 * MB, most, group, &limits));
        assert_eq!(five(120 * MB, group(0)), "fine");
        assert_eq!(five(120 * MB, None), "fine");
        assert_eq!(
            five(120 * MB, group(20 * MB)),
            "needs 590 MB of memory; a memory cgroup limits this session to 600 MB, of which 20 MB \
             are in use"
        );
        assert_eq!(
            five(590 * MB, group(0)),
            "needs 590 MB of memory in one process; RLIMIT_AS limits each to 300 MB"
        );
        assert_eq!(said(memory_within(u64::MAX, u64::MAX, None, &[])), "fine");
    }

    #[test]
    fn tasks_are_limited_by_group_and_user() {
        let limits = [(Resource::Processes, 50)];
        let group = Some(Room { limit: 40, used: 30 });
        assert_eq!(said(tasks_within(10, group, &limits)), "fine");
        assert_eq!(
            said(tasks_within(11, group, &limits)),
            "needs 11 more processes and threads; a cgroup (pids.max) limits this session to 40, of \
             which 30 are there"
        );
        assert_eq!(
            said(tasks_within(51, None, &limits)),
            "needs 51 processes and threads; RLIMIT_NPROC limits this user to 50"
        );
    }
}
