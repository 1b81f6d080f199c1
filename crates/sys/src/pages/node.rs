//! On which NUMA node memory lies.

use super::page_bytes;
use crate::error::check;
use crate::{Result, affinity, text};
use std::path::Path;

/// Where the kernel describes NUMA nodes.
const NODES: &str = "/sys/devices/system/node";

/// Bits in one word of the kernel's set of nodes.
const WORD_BITS: u32 = libc::c_ulong::BITS;

/// Words of a set of nodes: the kernel has at most 1,024 of them.
const WORDS: usize = 1024 / WORD_BITS as usize;

/// Returns the node with memory that is farthest from `node` and that this process may use, by the
/// distances of the firmware (ACPI's SLIT); `None` where there is no other.
pub fn farthest(node: u32) -> Option<u32> {
    farthest_in(Path::new(NODES), node, &allowed()?)
}

/// Returns the nodes whose memory this process may use (cpuset); `None` where the kernel does not say.
pub fn allowed() -> Option<Vec<u32>> {
    let status = text::read("/proc/self/status").ok()?;
    let allowed = status.lines().find_map(|line| line.strip_prefix("Mems_allowed_list:"))?;
    affinity::parse_list(allowed.trim()).ok()
}

fn farthest_in(root: &Path, node: u32, allowed: &[u32]) -> Option<u32> {
    let list =
        |name: &str| text::value(root.join(name)).and_then(|list| affinity::parse_list(&list).ok());
    let distances = text::value(root.join(format!("node{node}/distance")))?;
    let distances = distances.split_whitespace().map(|it| it.parse::<u32>().ok());
    let with_memory = list("has_memory")?;
    let others = list("online")?.into_iter().zip(distances).filter(|(other, _)| {
        *other != node && with_memory.contains(other) && allowed.contains(other)
    });
    others.max_by_key(|(_, distance)| *distance).map(|(other, _)| other)
}

/// Lets the calling thread get new memory from `node` alone.
///
/// # Errors
/// Unsupported where the kernel has no NUMA or a filter refuses the call; `EINVAL` for a node that does not
/// exist or may not be used.
pub fn allocate_on(node: u32) -> Result<()> {
    let mut set = [0 as libc::c_ulong; WORDS];
    if let Some(word) = set.get_mut((node / WORD_BITS) as usize) {
        *word = 1 << (node % WORD_BITS);
    }
    // The kernel reads one bit less than it is given.
    let bits = WORDS * WORD_BITS as usize + 1;
    // SAFETY: the kernel reads the set, which is one bit shorter than stated; it does not read that bit.
    let result =
        unsafe { libc::syscall(libc::SYS_set_mempolicy, libc::MPOL_BIND, set.as_ptr(), bits) };
    check(result, || format!("set_mempolicy(MPOL_BIND, node {node})")).map(|_| ())
}

/// Returns how many of the pages of a slice that were looked at, one in `stride`, are not on `node`.
///
/// # Errors
/// What `get_mempolicy` returns.
pub fn elsewhere<T>(slice: &[T], stride: usize, node: u32) -> Result<usize> {
    let bytes = stride.max(1) * page_bytes();
    let each = slice.iter().step_by((bytes / size_of::<T>().max(1)).max(1));
    let nodes = each.map(|at| node_of(std::ptr::from_ref(at).cast()));
    nodes.map(|found| found.map(|found| usize::from(found != node))).sum()
}

/// Returns the node of the page at an address, which is read.
fn node_of(address: *const libc::c_void) -> Result<u32> {
    // MPOL_F_NODE | MPOL_F_ADDR of linux/mempolicy.h, which libc lacks.
    const FLAGS: libc::c_ulong = 1 | 2;
    let mut node: libc::c_int = 0;
    let (no_set, no_bits) = (std::ptr::null_mut::<libc::c_ulong>(), 0_usize);
    // SAFETY: the kernel writes one int; the address is a live reference's.
    let result = unsafe {
        libc::syscall(libc::SYS_get_mempolicy, &raw mut node, no_set, no_bits, address, FLAGS)
    };
    check(result, || "get_mempolicy(MPOL_F_NODE | MPOL_F_ADDR)".into())?;
    Ok(u32::try_from(node).unwrap_or(0))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;

    #[test]
    fn the_farthest_node_has_memory_and_is_allowed() {
        let root = tempfile::tempdir().unwrap();
        for (name, content) in [
            ("online", "0-2,4"),
            ("has_memory", "0,2,4"),
            ("node0/distance", "10 40 21 31"),
            ("node2/distance", "21 40 10 31"),
        ] {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let farthest = |node, allowed: &[u32]| farthest_in(root.path(), node, allowed);
        // Node 1 is farther and has no memory.
        assert_eq!(farthest(0, &[0, 1, 2, 4]), Some(4));
        assert_eq!(farthest(0, &[0, 1, 2]), Some(2));
        assert_eq!(farthest(0, &[0]), None);
        assert_eq!(farthest(2, &[0, 2]), Some(0));
        assert_eq!(farthest(9, &[0, 2]), None);
    }

    #[test]
    fn memory_is_where_it_was_asked_for() {
        // A container's filter may refuse both calls.
        let looked = std::thread::spawn(|| {
            allocate_on(0)?;
            elsewhere(&vec![1_u8; 64 * page_bytes()], 1, 0)
        });
        match looked.join().unwrap() {
            Ok(elsewhere) => assert_eq!(elsewhere, 0),
            Err(error) => assert!(error.is_unsupported(), "{error}"),
        }
        assert!(allocate_on(5000).is_err());
    }
}
