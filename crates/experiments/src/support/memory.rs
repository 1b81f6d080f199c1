//! Memory as a treatment asks for it, and what to say where the machine does not give it so.

use kit::{Result, Stop, Trial};
use std::path::Path;
use sys::cgroup::{Cgroup, Version};
use sys::pages::{Huge, Mapping, node};

/// The least part of memory that must be in huge pages where they were asked for: the rest may be
/// what the kernel could not find whole.
pub(crate) const HUGE_PART: f64 = 0.95;

/// The levels of the factor `pages`: the size of the pages of memory.
pub(crate) const PAGES: [(&str, Huge); 2] = [("4k", Huge::Never), ("huge", Huge::Always)];

/// The levels of the factor `memory`: whether it lies far from the CPU.
pub(crate) const MEMORIES: [(&str, bool); 2] = [(kit::model::NEAR, false), (kit::model::FAR, true)];

/// The distance between two pages that are looked at, in pages.
const LOOKED_AT: usize = 64;

/// Where the memory of threads on one NUMA node is to lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home {
    /// The node; `None` where there is only one.
    node: Option<u32>,
    far: bool,
}

impl Home {
    /// Returns the node for threads on some CPUs.
    ///
    /// # Errors
    /// Far memory is asked for and there is none, or the CPUs are on several nodes.
    pub(crate) fn of(trial: &Trial<'_>, cpus: &[u32]) -> Result<Self> {
        let far = trial.pick("memory", &MEMORIES)?;
        let nodes = trial.spec().topology.nodes_of(cpus);
        kit::require!(!far || nodes == Some(1), "no node is far from CPUs on several NUMA nodes");
        let cpu = cpus.first().copied().filter(|_| nodes == Some(1));
        let node = cpu.map_or(Ok(None), |cpu| trial.memory_node(cpu, far))?;
        Ok(Home { node, far })
    }

    /// Lets this thread get memory from the far node alone. The kernel gives near memory without being asked.
    pub(crate) fn settle(self) -> sys::Result<()> {
        self.node.filter(|_| self.far).map_or(Ok(()), node::allocate_on)
    }

    /// Returns how many of the pages of a slice that were looked at lie on another node; `None` where a filter
    /// hides it of near memory.
    pub(crate) fn elsewhere<T>(self, slice: &[T]) -> sys::Result<Option<usize>> {
        let Some(node) = self.node else { return Ok(None) };
        match node::elsewhere(slice, LOOKED_AT, node) {
            Err(error) if !self.far && error.is_unsupported() => Ok(None),
            found => found.map(Some),
        }
    }
}

/// Maps anonymous memory in pages of the size asked for.
pub(crate) fn mapped(bytes: usize, huge: Huge) -> Result<Mapping> {
    let huge_page = sys::pages::huge_page_bytes().filter(|_| huge == Huge::Always);
    if let Some(huge_page) = huge_page.filter(|huge_page| *huge_page > bytes) {
        return Err(Stop::unsupported(format!(
            "a huge page has {huge_page} bytes here, more than the {bytes} of this treatment: \
             take a larger size"
        )));
    }
    Mapping::new(bytes, huge).map_err(|error| {
        Stop::unsupported(format!("{error}: raise `ulimit -v`, or take a kernel with huge pages"))
    })
}

/// Refuses memory that is not in pages of the size asked for, with what would help.
pub(crate) fn huge_as_asked(asked: Huge, bytes: u64, huge_bytes: u64) -> Result<()> {
    let part = huge_bytes as f64 / bytes as f64;
    match asked {
        Huge::Never if huge_bytes > 0 => Err(Stop::unsupported(format!(
            "{huge_bytes} bytes are in huge pages, although they were refused"
        ))),
        Huge::Always if part < HUGE_PART => Err(Stop::unsupported(format!(
            "only {:.0} % of the memory is in huge pages: write `madvise` to \
             /sys/kernel/mm/transparent_hugepage/enabled, or free memory",
            100.0 * part
        ))),
        _ => Ok(()),
    }
}

/// Returns how many bytes of touched memory are there, and how many of them in huge pages.
///
/// # Errors
/// Fewer than `bytes` are there, or they are not in pages of the size asked for.
pub(crate) fn there(memory: &Mapping, bytes: u64, huge: Huge) -> Result<(u64, u64)> {
    let (resident, huge_bytes) = (memory.resident_bytes()?, memory.huge_bytes()?);
    kit::require!(
        resident >= bytes,
        "{resident} of {bytes} bytes that were touched are in memory: free memory, or turn \
             swapping off"
    );
    huge_as_asked(huge, memory.bytes() as u64, huge_bytes)?;
    Ok((resident, huge_bytes))
}

/// The cgroup in which a limit can be set, if there is one.
pub(crate) fn cgroup_for_limits(folder: Option<&str>) -> Result<Cgroup> {
    let folder = folder.ok_or_else(|| {
        Stop::unsupported(
            "needs a memory cgroup; run as root, or with the memory controller delegated to you",
        )
    })?;
    Ok(Cgroup::at(Path::new(folder)))
}

fn cannot_limit(error: sys::Error) -> Stop {
    Stop::unsupported(format!("{error}: a memory cgroup cannot be made or limited here"))
}

/// A memory cgroup of this process's own, named after it and `name`, with the limit on all of it.
pub(crate) fn limited_cgroup(folder: Option<&str>, name: &str, bytes: u64) -> Result<Cgroup> {
    let parent = cgroup_for_limits(folder)?;
    if parent.version() == Version::V2 {
        // In version 2 a group must hand its controllers down; where it does so already, or may
        // not, setting the limit shows whether it works.
        let _ = std::fs::write(parent.path().join("cgroup.subtree_control"), "+memory");
    }
    let name = format!("{name}-{}", sys::process::pid());
    let group = parent.child(&name).map_err(cannot_limit)?;
    group.set_memory_limit(bytes).map_err(cannot_limit)?;
    Ok(group)
}

/// Moves this process into a group, and verifies it.
pub(crate) fn move_into(group: &Cgroup) -> Result<()> {
    let own = sys::process::pid();
    group.add(own).map_err(cannot_limit)?;
    match group.processes().contains(&own) {
        true => Ok(()),
        false => Err(Stop::failed("the process is not in the cgroup it was moved to")),
    }
}

#[cfg(test)]
mod tests {
    use super::{huge_as_asked, mapped};
    use kit::Stop;
    use sys::pages::Huge;

    #[test]
    fn memory_smaller_than_a_huge_page_has_none() {
        let page = sys::pages::page_bytes();
        assert!(mapped(page, Huge::Never).is_ok());
        assert!(matches!(mapped(page, Huge::Always), Err(Stop::Unsupported(_))));
    }

    #[test]
    fn pages_of_the_wrong_size_are_refused() {
        let bytes = 64 << 20;
        assert_eq!(huge_as_asked(Huge::Never, bytes, 0), Ok(()));
        assert_eq!(huge_as_asked(Huge::Always, bytes, bytes), Ok(()));
        assert!(huge_as_asked(Huge::Never, bytes, 2 << 20).is_err());
        match huge_as_asked(Huge::Always, bytes, bytes / 2) {
            Err(Stop::Unsupported(why)) => {
                assert!(why.contains("50 %") && why.contains("transparent_hugepage"), "{why}");
            }
            other => panic!("{other:?}"),
        }
    }
}
