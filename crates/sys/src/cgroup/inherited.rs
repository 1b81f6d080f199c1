//! What the groups around this process allow it: memory and tasks.

use super::Version;
use super::find::{self, Mount};
use crate::text;
use std::path::{Path, PathBuf};

/// Version 1 writes "no limit" as the largest multiple of a page that fits into 63 bits.
const V1_UNLIMITED: u64 = 1 << 62;

/// The memory that the groups around this process allow, in bytes: the smallest limit on the way up
/// to the root; `None` where there is none. From inside a container the groups around it cannot be
/// seen.
pub fn memory_limit() -> Option<u64> {
    smallest(&folders("memory"), |version| match version {
        Version::V1 => "memory.limit_in_bytes",
        Version::V2 => "memory.max",
    })
}

/// The same for tasks: processes and threads together.
pub fn tasks_limit() -> Option<u64> {
    smallest(&folders("pids"), |_| "pids.max")
}

fn smallest(folders: &[(Version, PathBuf)], file: impl Fn(Version) -> &'static str) -> Option<u64> {
    folders.iter().filter_map(|(version, folder)| limit_in(folder, file(*version))).min()
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
    fn the_smallest_limit_on_the_way_up_counts() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("outer/inner");
        std::fs::create_dir_all(&inner).unwrap();
        let write = |folder: &Path, file: &str, text: &str| {
            std::fs::write(folder.join(file), text).unwrap();
        };
        let folders = |version| -> Vec<(Version, PathBuf)> {
            let up = inner.ancestors().take(3);
            up.map(|folder| (version, folder.to_path_buf())).collect()
        };
        let memory = |version| {
            smallest(&folders(version), |version| match version {
                Version::V1 => "memory.limit_in_bytes",
                Version::V2 => "memory.max",
            })
        };
        assert_eq!((memory(Version::V1), memory(Version::V2)), (None, None));
        write(&inner, "memory.max", "max\n");
        write(&inner, "memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!((memory(Version::V1), memory(Version::V2)), (None, None));
        write(&root.path().join("outer"), "memory.max", "629145600\n");
        write(root.path(), "memory.max", "1073741824\n");
        write(&root.path().join("outer"), "memory.limit_in_bytes", "629145600\n");
        assert_eq!(memory(Version::V1), Some(629_145_600));
        assert_eq!(memory(Version::V2), Some(629_145_600));
        write(&inner, "memory.max", "nonsense\n");
        assert_eq!(memory(Version::V2), Some(629_145_600));
    }
}
