//! Whether a group's processes are frozen.

use super::Version;
use super::find::{self, Mount};
use crate::{Pid, text};
use std::path::Path;

/// The hierarchies that can freeze processes, looked up once: to find them costs more than to ask.
#[derive(Debug, Clone, Default)]
pub struct Freezers {
    mounts: Vec<Mount>,
}

impl Freezers {
    /// Those that are mounted here.
    pub fn here() -> Self {
        let mounts = find::mounts().into_iter();
        Self { mounts: mounts.filter(|mount| mount.has("freezer")).collect() }
    }

    /// Whether a process is in a frozen group, or in one below it. The state of the process does not
    /// tell: one that slept when it was frozen sleeps on. False where its group cannot be seen.
    pub fn hold(&self, pid: Pid) -> bool {
        let groups = text::read(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        let folder = |mount: &Mount| {
            let path = find::parse_own_path(&groups, mount)?;
            find::folder_below(mount, &path)
        };
        let frozen =
            |mount: &Mount| folder(mount).is_some_and(|folder| is_frozen(mount.version, &folder));
        self.mounts.iter().any(frozen)
    }
}

/// Whether a group is frozen, by itself or with one above it, or is about to be.
fn is_frozen(version: Version, folder: &Path) -> bool {
    match version {
        Version::V1 => text::value(folder.join("freezer.state"))
            .is_some_and(|state| matches!(state.as_str(), "FROZEN" | "FREEZING")),
        Version::V2 => text::read(folder.join("cgroup.events"))
            .is_ok_and(|events| text::field(&events, "frozen") == Some(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cgroup::{Cgroup, Guard};
    use crate::process;
    use crate::testing::eventually;

    #[test]
    fn both_versions_tell() {
        let folder = tempfile::tempdir().unwrap();
        let frozen = |version| is_frozen(version, folder.path());
        let write =
            |file: &str, text: &str| std::fs::write(folder.path().join(file), text).unwrap();
        assert!(!frozen(Version::V1) && !frozen(Version::V2));
        write("freezer.state", "THAWED\n");
        write("cgroup.events", "populated 1\nfrozen 0\n");
        assert!(!frozen(Version::V1) && !frozen(Version::V2));
        write("cgroup.events", "populated 1\nfrozen 1\n");
        assert!(!frozen(Version::V1) && frozen(Version::V2));
        for state in ["FREEZING\n", "FROZEN\n"] {
            write("freezer.state", state);
            assert!(frozen(Version::V1), "{state}");
        }
    }

    /// The kernel does not end a frozen process of version 1.
    struct Thawed(Option<Guard>);

    impl Drop for Thawed {
        fn drop(&mut self) {
            if let Some(guard) = self.0.take() {
                let _ = guard.group().set_frozen(false);
            }
        }
    }

    #[test]
    fn a_process_that_is_frozen_in_its_sleep_is_seen() {
        let name = format!("scruple-test-frozen-{}", process::pid());
        let guard = match Cgroup::create("freezer", &name) {
            Ok(group) => Thawed(Some(group.guarded())),
            Err(error) => {
                println!("skipped: {error}");
                return;
            }
        };
        let group = guard.0.as_ref().unwrap().group().clone();
        let mut sleeper = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = sleeper.id() as Pid;
        let freezers = Freezers::here();
        group.add(pid).unwrap();
        assert!(!freezers.hold(pid));
        group.set_frozen(true).unwrap();
        eventually("the freezing", || freezers.hold(pid));
        assert!(!freezers.hold(process::pid()));
        group.set_frozen(false).unwrap();
        eventually("the thawing", || !freezers.hold(pid));
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert!(!freezers.hold(pid));
    }
}
