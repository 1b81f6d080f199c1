//! Where the hierarchies are mounted, and where in them this process is.

use super::{Cgroup, Version};
use crate::{Error, Result, text};
use std::path::{Path, PathBuf};

/// A mounted hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    /// Where it is mounted.
    pub(super) folder: PathBuf,
    /// Which of its groups shows at the mount point: `/`, or a container's.
    pub(super) root: PathBuf,
    /// Its version.
    pub(super) version: Version,
    /// Its controllers (version 1: from the mount's options; version 2: what
    /// the mounted root offers).
    pub(super) controllers: Vec<String>,
}

impl Mount {
    /// Whether `controller` can be used in this hierarchy.
    pub(super) fn has(&self, controller: &str) -> bool {
        match self.version {
            Version::V1 => self.controllers.iter().any(|one| one == controller),
            Version::V2 => {
                is_core_of_v2(controller)
                    || self.controllers.iter().any(|one| one == v2_name(controller))
            }
        }
    }
}

/// What version 2 has in every group, without a controller.
pub(super) fn is_core_of_v2(controller: &str) -> bool {
    matches!(controller, "freezer" | "cpuacct")
}

/// The name that a controller of version 1 has in version 2.
pub(super) fn v2_name(controller: &str) -> &str {
    match controller {
        "cpuacct" => "cpu",
        "blkio" => "io",
        other => other,
    }
}

/// All hierarchies that are mounted.
pub(super) fn mounts() -> Vec<Mount> {
    let mut mounts = parse_mounts(&text::read("/proc/self/mountinfo").unwrap_or_default());
    for mount in mounts.iter_mut().filter(|mount| mount.version == Version::V2) {
        // What our own group was given decides; at a true root that is all.
        let folder = own_folder(mount).unwrap_or_else(|| mount.folder.clone());
        let offered = text::read(folder.join("cgroup.controllers")).unwrap_or_default();
        mount.controllers = offered.split_whitespace().map(str::to_string).collect();
    }
    mounts
}

/// Reads mountinfo (proc(5)):
/// `id parent major:minor root folder options [optional…] - type source super-options`.
pub(super) fn parse_mounts(mountinfo: &str) -> Vec<Mount> {
    mountinfo
        .lines()
        .filter_map(|line| {
            let (before, after) = line.split_once(" - ")?;
            let mut before = before.split(' ').skip(3);
            let (root, folder) = (unescape(before.next()?), unescape(before.next()?));
            let mut after = after.split(' ');
            let kind = after.next()?;
            let options = after.nth(1)?;
            let (version, controllers) = match kind {
                "cgroup" => (Version::V1, options.split(',').map(str::to_string).collect()),
                "cgroup2" => (Version::V2, Vec::new()),
                _ => return None,
            };
            Some(Mount { folder: folder.into(), root: root.into(), version, controllers })
        })
        .collect()
}

/// Undoes the kernel's octal escapes of blanks: `\040` is a space.
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let code = rest.get(at + 1..at + 4).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(code) => {
                plain.push(char::from(code));
                rest = &rest[at + 4..];
            }
            None => {
                plain.push('\\');
                rest = &rest[at + 1..];
            }
        }
    }
    plain.push_str(rest);
    plain
}

/// The path of this process's group in the hierarchy of a mount, from a
/// /proc/self/cgroup text: `4:memory:/some/group`, `0::/some/group`.
pub(super) fn parse_own_path(text: &str, mount: &Mount) -> Option<PathBuf> {
    text.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let matches = match mount.version {
            Version::V2 => number == "0" && controllers.is_empty(),
            Version::V1 => {
                !controllers.is_empty()
                    && controllers
                        .split(',')
                        .all(|one| mount.controllers.iter().any(|has| has == one))
            }
        };
        matches.then(|| PathBuf::from(path))
    })
}

/// The folder of this process's group below a mount; `None` where the group
/// lies outside of what is mounted.
pub(super) fn own_folder(mount: &Mount) -> Option<PathBuf> {
    let path = parse_own_path(&text::read("/proc/self/cgroup").ok()?, mount)?;
    let folder = folder_below(mount, &path)?;
    folder.is_dir().then_some(folder)
}

/// Where a group's path lies on disk, given which group is mounted.
pub(super) fn folder_below(mount: &Mount, path: &Path) -> Option<PathBuf> {
    // A group outside our cgroup namespace is written with "..".
    if path.components().any(|part| matches!(part, std::path::Component::ParentDir)) {
        return None;
    }
    let relative = path.strip_prefix(&mount.root).ok()?;
    Some(mount.folder.join(relative))
}

/// The group this process is in.
pub(super) fn own(controller: &str) -> Result<Cgroup> {
    let call = format!("cgroup({controller})");
    let mounts = mounts();
    let Some(mount) = mounts.iter().find(|mount| mount.has(controller)) else {
        return Err(Error::unsupported(
            call,
            format!("no hierarchy with the controller {controller} is mounted"),
        ));
    };
    match own_folder(mount) {
        Some(path) => Ok(Cgroup { path, version: mount.version }),
        None => Err(Error::unsupported(
            call,
            "the group of this process is outside of what is mounted here",
        )),
    }
}
