//! Which CPUs share a core, a cache, a package and memory.

use crate::topology::{CPUS, Cache, caches_in, online_in};
use crate::{affinity, text};
use std::path::Path;

/// Where the kernel describes NUMA nodes.
const NODES: &str = "/sys/devices/system/node";

/// Sets of CPUs that are online and share something; empty where /sys does not describe it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arrangement {
    /// Those of each core.
    pub cores: Vec<Vec<u32>>,
    /// The data caches, by level: the size of the first, in bytes, and the CPUs of each.
    pub caches: Vec<(u32, u64, Vec<Vec<u32>>)>,
    /// Those of each package.
    pub packages: Vec<Vec<u32>>,
    /// The NUMA nodes: number, CPUs, memory in bytes.
    pub nodes: Vec<(u32, Vec<u32>, u64)>,
    /// The kinds of cores, the fastest first: capacity and CPUs; empty where all are alike.
    pub kinds: Vec<(u32, Vec<u32>)>,
}

/// Reads how the CPUs are arranged.
pub fn arrangement() -> Arrangement {
    read(Path::new(CPUS), Path::new(NODES))
}

fn read(cpus: &Path, nodes: &Path) -> Arrangement {
    let online = online_in(cpus);
    let listed = |file: String| {
        let list = affinity::parse_list(&text::value(cpus.join(file))?).ok()?;
        Some(list.into_iter().filter(|cpu| online.contains(cpu)).collect::<Vec<u32>>())
    };
    // Each file has two names: the second is that of kernels before 5.0.
    let of_all = |names: [&str; 2]| {
        let of = |cpu: &u32| {
            let files = names.map(|name| format!("cpu{cpu}/topology/{name}"));
            files.into_iter().find_map(listed)
        };
        distinct(online.iter().filter_map(of))
    };
    Arrangement {
        cores: of_all(["core_cpus_list", "thread_siblings_list"]),
        caches: caches(cpus, &online),
        packages: of_all(["package_cpus_list", "core_siblings_list"]),
        nodes: nodes_in(nodes, &online),
        kinds: kinds(cpus, &online),
    }
}

fn caches(root: &Path, online: &[u32]) -> Vec<(u32, u64, Vec<Vec<u32>>)> {
    let of = |cpu: &u32| -> Vec<Cache> { caches_in(root, *cpu) };
    let all: Vec<Cache> = online.iter().flat_map(of).filter(Cache::holds_data).collect();
    let mut levels: Vec<u32> = all.iter().map(|cache| cache.level).collect();
    levels.sort_unstable();
    levels.dedup();
    let of_level = |level: u32| {
        let all = || all.iter().filter(move |cache| cache.level == level);
        let shared = all().map(|cache| {
            let shared = cache.shared_by.iter().copied();
            shared.filter(|cpu| online.contains(cpu)).collect()
        });
        (level, all().next().map_or(0, |cache| cache.size_bytes), distinct(shared))
    };
    levels.into_iter().map(of_level).collect()
}

fn nodes_in(root: &Path, online: &[u32]) -> Vec<(u32, Vec<u32>, u64)> {
    let listed = text::value(root.join("online"));
    let nodes = listed.and_then(|list| affinity::parse_list(&list).ok()).unwrap_or_default();
    let node = |node: u32| {
        let folder = root.join(format!("node{node}"));
        let memory = text::read(folder.join("meminfo")).ok()?;
        let total = memory.lines().find_map(|line| line.split_once("MemTotal:"))?.1;
        let kib: u64 = total.split_whitespace().next()?.parse().ok()?;
        // The list of a node without CPUs is empty.
        let cpus = text::value(folder.join("cpulist"));
        let cpus = cpus.and_then(|list| affinity::parse_list(&list).ok()).unwrap_or_default();
        let cpus = cpus.into_iter().filter(|cpu| online.contains(cpu)).collect();
        Some((node, cpus, kib.checked_mul(1024)?))
    };
    nodes.into_iter().filter_map(node).collect()
}

fn kinds(root: &Path, online: &[u32]) -> Vec<(u32, Vec<u32>)> {
    let mut kinds: Vec<(u32, Vec<u32>)> = Vec::new();
    for cpu in online {
        let capacity = text::number(root.join(format!("cpu{cpu}/cpu_capacity")));
        let Some(capacity) = capacity.and_then(|it| u32::try_from(it).ok()) else { continue };
        match kinds.iter_mut().find(|(known, _)| *known == capacity) {
            Some((_, cpus)) => cpus.push(*cpu),
            None => kinds.push((capacity, vec![*cpu])),
        }
    }
    kinds.sort_by_key(|(capacity, _)| std::cmp::Reverse(*capacity));
    if kinds.len() > 1 { kinds } else { Vec::new() }
}

/// Returns each set that is not empty once, by its first CPU.
fn distinct(sets: impl Iterator<Item = Vec<u32>>) -> Vec<Vec<u32>> {
    let mut sets: Vec<Vec<u32>> = sets.filter(|set| !set.is_empty()).collect();
    sets.sort();
    sets.dedup();
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder as /sys would be: the files with what they hold.
    fn planted(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        folder
    }

    #[test]
    fn this_machine_has_every_online_cpu_in_one_core() {
        let found = arrangement();
        let mut cpus = found.cores.concat();
        cpus.sort_unstable();
        if !found.cores.is_empty() {
            assert_eq!(cpus, crate::topology::online());
        }
        println!("{found:?}");
    }

    #[test]
    fn siblings_caches_and_nodes_are_sets_of_online_cpus() {
        let root = planted(&[
            ("cpu/online", "0-1,3"),
            ("cpu/cpu0/topology/core_cpus_list", "0,2"),
            ("cpu/cpu1/topology/core_cpus_list", "1,3"),
            ("cpu/cpu3/topology/core_cpus_list", "1,3"),
            ("cpu/cpu0/topology/package_cpus_list", "0-3"),
            ("cpu/cpu1/topology/core_siblings_list", "0-3"),
            ("cpu/cpu0/cpu_capacity", "512"),
            ("cpu/cpu1/cpu_capacity", "1024"),
            ("cpu/cpu0/cache/index0/level", "1"),
            ("cpu/cpu0/cache/index0/type", "Data"),
            ("cpu/cpu0/cache/index0/size", "32K"),
            ("cpu/cpu0/cache/index0/shared_cpu_list", "0,2"),
            ("cpu/cpu1/cache/index0/level", "3"),
            ("cpu/cpu1/cache/index0/type", "Unified"),
            ("cpu/cpu1/cache/index0/size", "8M"),
            ("cpu/cpu1/cache/index0/shared_cpu_list", "0-3"),
            ("node/online", "0-1"),
            ("node/node0/cpulist", "0-3"),
            ("node/node0/meminfo", "Node 0 MemTotal:   2048 kB\nNode 0 MemFree: 1 kB\n"),
            ("node/node1/cpulist", "\n"),
            ("node/node1/meminfo", "Node 1 MemTotal:   1024 kB\n"),
        ]);
        let found = read(&root.path().join("cpu"), &root.path().join("node"));
        assert_eq!(found.cores, [vec![0], vec![1, 3]]);
        assert_eq!(found.packages, [vec![0, 1, 3]]);
        let caches = [(1, 32 << 10, vec![vec![0]]), (3, 8 << 20, vec![vec![0, 1, 3]])];
        assert_eq!(found.caches, caches);
        assert_eq!(found.nodes, [(0, vec![0, 1, 3], 2 << 20), (1, vec![], 1 << 20)]);
        assert_eq!(found.kinds, [(1024, vec![1]), (512, vec![0])]);
    }

    #[test]
    fn what_is_missing_or_hostile_is_left_out() {
        let nothing = Path::new("/nowhere");
        let found = read(nothing, nothing);
        assert_eq!(found, Arrangement::default());
        let root = planted(&[
            ("online", "0-1"),
            ("cpu0/topology/core_cpus_list", "0-999999999"),
            ("cpu1/topology/core_cpus_list", "x"),
            ("cpu0/cpu_capacity", "-1"),
            ("cpu1/cpu_capacity", "1024"),
            ("node0/meminfo", "MemTotal: 18446744073709551615 kB"),
        ]);
        assert_eq!(read(root.path(), root.path()), Arrangement::default());
    }
}
