//! What the groups around this process allow it: memory and tasks.

use super::Version;
use super::find::{self, Mount};
use crate::text;
use std::path::{Path, PathBuf};

/// Version 1 writes "no limit" as the largest multiple of a page that fits into 63 bits.
const V1_UNLIMITED: u64 = 1 << 62;

/// What a group allows, and how much of that is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// The limit: bytes, or tasks.
    pub limit: u64,
    /// What the group and those below it use and the kernel cannot take back.
    pub used: u64,
}

impl Room {
    /// What is left.
    pub fn left(self) -> u64 {
        self.limit.saturating_sub(self.used)
    }
}

/// The memory that the groups around this process allow, in bytes: of the one that leaves the least,
/// on the way up to the root; `None` where there is no limit. Beyond `memory.high` the kernel kills
/// nobody but throttles allocations, so it also counts as a limit. From inside a container
/// the groups around it cannot be seen.
pub fn memory_room() -> Option<Room> {
    tightest(&folders("memory"), memory_room_in)
}

/// The same for tasks: processes and threads together.
pub fn tasks_room() -> Option<Room> {
    tightest(&folders("pids"), |_, folder| {
        let limit = limit_in(folder, "pids.max")?;
        Some(Room { limit, used: text::number(folder.join("pids.current")).unwrap_or(0) })
    })
}

fn tightest(
    folders: &[(Version, PathBuf)],
    room_in: impl Fn(Version, &Path) -> Option<Room>,
) -> Option<Room> {
    let rooms = folders.iter().filter_map(|(version, folder)| room_in(*version, folder));
    rooms.min_by_key(|room| (room.left(), room.limit))
}

fn memory_room_in(version: Version, folder: &Path) -> Option<Room> {
    let (limit, usage, files) = match version {
        Version::V1 => (
            limit_in(folder, "memory.limit_in_bytes"),
            "memory.usage_in_bytes",
            ["total_inactive_file", "total_active_file"],
        ),
        Version::V2 => (
            limit_in(folder, "memory.max").into_iter().chain(limit_in(folder, "memory.high")).min(),
            "memory.current",
            ["inactive_file", "active_file"],
        ),
    };
    let limit = limit?;
    let stat = text::read(folder.join("memory.stat")).unwrap_or_default();
    let cached: u64 = files.iter().filter_map(|name| text::field(&stat, name)).sum();
    let used = text::number(folder.join(usage)).unwrap_or(0).saturating_sub(cached);
    Some(Room { limit, used })
}

/// A limit as a group's file has it; `None` for `max`, for what version 1 writes in its place, and
/// where there is no such file.
fn limit_in(folder: &Path, file: &str) -> Option<u64> {
    let limit: u64 = text::value(folder.join(file))?.parse().ok()?;
    (limit < V1_UNLIMITED).then_some(limit)
}

/// The group of this process and those above it, in each hierarchy that can have the controller. In
/// version 2 a group further up may have it where our own has not.
pub(super) fn folders(controller: &str) -> Vec<(Version, PathBuf)> {
    find::mounts()
        .iter()
        .filter(|mount| mount.version == Version::V2 || mount.has(controller))
        .flat_map(upwards)
        .collect()
}

fn upwards(mount: &Mount) -> Vec<(Version, PathBuf)> {
    let own = find::own_folder(mount).unwrap_or_default();
    own.ancestors()
        .take_while(|folder| folder.starts_with(&mount.folder))
        .map(|folder| (mount.version, folder.to_path_buf()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_that_leaves_the_least_counts() {
        let root = tempfile::tempdir().unwrap();
        let outer = root.path().join("outer");
        let inner = outer.join("inner");
        std::fs::create_dir_all(&inner).unwrap();
        let write = |folder: &Path, file: &str, text: &str| {
            std::fs::write(folder.join(file), text).unwrap();
        };
        let memory = |version| {
            let up = inner.ancestors().take(3);
            let folders: Vec<_> = up.map(|folder| (version, folder.to_path_buf())).collect();
            tightest(&folders, memory_room_in)
        };
        let room = |limit, used| Some(Room { limit, used });
        assert_eq!((memory(Version::V1), memory(Version::V2)), (None, None));
        write(&inner, "memory.max", "max\n");
        write(&inner, "memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!((memory(Version::V1), memory(Version::V2)), (None, None));
        for (limit, usage) in
            [("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")]
        {
            write(&outer, limit, "629145600\n");
            write(&outer, usage, "100\n");
            write(root.path(), limit, "1073741824\n");
            write(root.path(), usage, "1000\n");
        }
        assert_eq!(memory(Version::V1), room(629_145_600, 100));
        assert_eq!(memory(Version::V2), room(629_145_600, 100));
        write(&inner, "memory.max", "nonsense\n");
        assert_eq!(memory(Version::V2), room(629_145_600, 100));
        // What others hold is not left; files that can be read again are.
        for usage in ["memory.current", "memory.usage_in_bytes"] {
            write(root.path(), usage, "900000000\n");
        }
        write(
            root.path(),
            "memory.stat",
            "inactive_file 5\nactive_file 0\ntotal_inactive_file 7\n",
        );
        assert_eq!(memory(Version::V1), room(1_073_741_824, 899_999_993));
        assert_eq!(memory(Version::V2), room(1_073_741_824, 899_999_995));
        write(&inner, "memory.high", "1000\n");
        assert_eq!(memory(Version::V2), room(1000, 0));
        assert_eq!(memory(Version::V1), room(1_073_741_824, 899_999_993));
    }
}
