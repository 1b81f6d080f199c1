//! Resource limits of this process.

use crate::{Error, Result, text};
use rustix::process::{Resource as Kernels, Rlimit, getrlimit, setrlimit};

/// A resource that the kernel limits per process or per user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Size of the address space, in bytes (`ulimit -v`, there in KiB).
    AddressSpace,
    /// Size of the data segment and of private writable mappings, in bytes (`ulimit -d`, there in KiB).
    Data,
    /// Size of a file, in bytes (`ulimit -f`, there in blocks).
    FileSize,
    /// Open descriptors (`ulimit -n`).
    OpenFiles,
    /// Processes and threads of the user (`ulimit -u`); not counted for root.
    Processes,
    /// Size of a core dump, in bytes.
    Core,
    /// Size of the main thread's stack and of new threads' by default, in bytes.
    Stack,
    /// Memory that may be locked, in bytes (`ulimit -l`, there in KiB).
    LockedMemory,
    /// CPU time of a process, in seconds (`ulimit -t`).
    CpuTime,
}

/// A limit. `None` stands for "unlimited".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// What is in force.
    pub soft: Option<u64>,
    /// Up to where the soft limit may be raised without privilege.
    pub hard: Option<u64>,
}

/// Each resource with the kernel's number and name of its limit, in the order of [`Resource`].
const RESOURCES: [(Resource, Kernels, &str); 9] = [
    (Resource::AddressSpace, Kernels::As, "RLIMIT_AS"),
    (Resource::Data, Kernels::Data, "RLIMIT_DATA"),
    (Resource::FileSize, Kernels::Fsize, "RLIMIT_FSIZE"),
    (Resource::OpenFiles, Kernels::Nofile, "RLIMIT_NOFILE"),
    (Resource::Processes, Kernels::Nproc, "RLIMIT_NPROC"),
    (Resource::Core, Kernels::Core, "RLIMIT_CORE"),
    (Resource::Stack, Kernels::Stack, "RLIMIT_STACK"),
    (Resource::LockedMemory, Kernels::Memlock, "RLIMIT_MEMLOCK"),
    (Resource::CpuTime, Kernels::Cpu, "RLIMIT_CPU"),
];

impl Resource {
    /// Whether it limits how much memory a process may have.
    pub fn is_of_memory(self) -> bool {
        matches!(self, Resource::AddressSpace | Resource::Data)
    }

    /// The kernel's name of the limit.
    pub fn name(self) -> &'static str {
        RESOURCES[self as usize].2
    }
}

/// Returns the limit on `resource`.
pub fn get(resource: Resource) -> Limit {
    let Rlimit { current, maximum } = getrlimit(RESOURCES[resource as usize].1);
    Limit { soft: current, hard: maximum }
}

/// The limits that are in force for each process of this session, of the resources for which there is
/// one. What limits the tasks of a user does not limit root.
pub fn in_force() -> Vec<(Resource, u64)> {
    // `getrlimit` of rustix has no error.
    if crate::refusal::is_missing("prlimit64") {
        return Vec::new();
    }
    let all = RESOURCES.iter().map(|(resource, ..)| *resource);
    let all = all.filter(|it| *it != Resource::Processes || !crate::process::is_root());
    all.filter_map(|resource| Some((resource, get(resource).soft?))).collect()
}

/// Sets the soft limit of this process (`None`: unlimited) and leaves the hard
/// one. Children inherit it.
///
/// # Errors
/// `EINVAL` above the hard limit, `EPERM`.
pub fn set(resource: Resource, soft: Option<u64>) -> Result<()> {
    let (_, kernels, name) = RESOURCES[resource as usize];
    let new = Rlimit { current: soft, maximum: getrlimit(kernels).maximum };
    let wanted = soft.map_or_else(|| "unlimited".to_string(), |value| value.to_string());
    setrlimit(kernels, new).map_err(Error::of(format!("setrlimit({name}, {wanted})")))
}

/// Raises this process's soft limit on open files to `wanted`, as far as the hard one allows. The usual soft limit of
/// 1,024 is there for programs that use select(2). Returns the limit that is then in force; `None` is none.
pub fn allow_files(wanted: u64) -> Option<u64> {
    let Limit { soft, hard } = get(Resource::OpenFiles);
    if soft.is_some_and(|soft| soft < wanted) {
        let most = hard.map_or(wanted, |hard| hard.min(wanted));
        // Above the hard limit only this could fail, and it is not above it.
        _ = set(Resource::OpenFiles, Some(most));
    }
    get(Resource::OpenFiles).soft
}

/// Keeps a crash of this process and of its children from writing a core dump.
///
/// Where dumps are piped to a program (apport, systemd-coredump) the kernel
/// ignores a limit of 0; 1 is its documented word for "not even then" (core(5),
/// fs/coredump.c).
///
/// # Errors
/// None is known: the limit is only lowered.
pub fn disable_core_dumps() -> Result<()> {
    let piped =
        text::read("/proc/sys/kernel/core_pattern").is_ok_and(|pattern| pattern.starts_with('|'));
    let wanted = u64::from(piped);
    let hard = get(Resource::Core).hard.unwrap_or(u64::MAX);
    set(Resource::Core, Some(wanted.min(hard)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::{Huge, Mapping};
    use crate::testing::in_child;

    #[test]
    fn a_limit_is_read_back() {
        in_child(|| {
            let before = get(Resource::OpenFiles);
            set(Resource::OpenFiles, Some(64)).unwrap();
            let after = get(Resource::OpenFiles);
            assert_eq!(after, Limit { soft: Some(64), hard: before.hard });
        });
    }

    #[test]
    fn limits_in_force_are_listed() {
        in_child(|| {
            set(Resource::AddressSpace, Some(1 << 30)).unwrap();
            set(Resource::OpenFiles, Some(64)).unwrap();
            let listed = in_force();
            assert!(listed.contains(&(Resource::AddressSpace, 1 << 30)), "{listed:?}");
            assert!(listed.contains(&(Resource::OpenFiles, 64)), "{listed:?}");
            let unlimited = |resource| get(resource).soft.is_none();
            assert!(listed.iter().all(|(resource, _)| !unlimited(*resource)), "{listed:?}");
        });
    }

    #[test]
    fn an_address_space_limit_makes_mmap_fail() {
        in_child(|| {
            Mapping::new(64 << 20, Huge::Default).unwrap();
            set(Resource::AddressSpace, Some(32 << 20)).unwrap();
            let error = Mapping::new(64 << 20, Huge::Default).unwrap_err();
            assert_eq!(error.errno(), Some(libc::ENOMEM));
        });
    }

    #[test]
    fn a_limit_on_files_makes_open_fail() {
        in_child(|| {
            set(Resource::OpenFiles, Some(0)).unwrap();
            assert!(std::fs::File::open("/dev/null").is_err());
        });
    }

    #[test]
    fn a_soft_limit_above_the_hard_one_is_refused() {
        in_child(|| {
            let Some(hard) = get(Resource::OpenFiles).hard else { return };
            let error = set(Resource::OpenFiles, Some(hard + 1)).unwrap_err();
            assert!(error.to_string().starts_with("setrlimit(RLIMIT_NOFILE, "), "{error}");
            assert_eq!(error.errno(), Some(libc::EINVAL));
        });
    }

    #[test]
    fn core_dumps_can_be_disabled() {
        in_child(|| {
            disable_core_dumps().unwrap();
            assert!(get(Resource::Core).soft.unwrap() <= 1);
        });
    }
}
