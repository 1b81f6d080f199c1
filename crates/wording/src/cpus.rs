//! CPUs in text: which ones, what they have in common, and a drawing of a machine in letters.

use crate::number::{Terms, binary, rounded};
use crate::{counted, listed};
use model::{CacheLevel, NumaNode, Relation, Topology, Unit};

/// Returns a list of CPUs as `taskset -c` takes it: "0-3,8".
pub fn list(cpus: &[u32]) -> String {
    let mut sorted = cpus.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let runs = sorted.chunk_by(|one, next| one + 1 == *next);
    let run = |run: &[u32]| match run {
        [] => String::new(),
        [one] => one.to_string(),
        [one, next] => format!("{one},{next}"),
        [first, .., last] => format!("{first}-{last}"),
    };
    runs.map(run).collect::<Vec<_>>().join(",")
}

/// Returns CPUs with what they have in common: "CPUs 0,1: two cores that share the L3 cache".
pub fn described(topology: &Topology, cpus: &[u32]) -> String {
    let noun = if cpus.len() == 1 { "CPU" } else { "CPUs" };
    let what = match cpus {
        [] => return "no CPU".into(),
        [cpu] => slower(topology, *cpu),
        [one, other] => Some(pair(topology, *one, *other)),
        _ => Some(several(topology, cpus)),
    };
    let what = what.map_or(String::new(), |what| format!(": {what}"));
    format!("{noun} {}{what}", list(cpus))
}

/// Returns that a core is slower than others of the machine.
fn slower(topology: &Topology, cpu: u32) -> Option<String> {
    let (fastest, others) = topology.kinds.split_first()?;
    let kind = others.iter().find(|kind| kind.cpus.contains(&cpu))?;
    let share = f64::from(kind.capacity) / f64::from(fastest.capacity.max(1));
    Some(format!("a slower core ({:.0} % of the fastest one's capacity)", 100.0 * share))
}

fn pair(topology: &Topology, one: u32, other: u32) -> String {
    let cache = topology.nearest_cache(one, other);
    let what = match topology.relation(one, other) {
        None => return "whether they share a core is not known".into(),
        Some(Relation::SameCpu) => "one CPU".into(),
        Some(Relation::Siblings) => "two hardware threads of one core".into(),
        Some(Relation::SharedCache) => {
            let level = cache.map_or(String::new(), |cache| format!("L{} ", cache.level));
            format!("two cores that share the {level}cache")
        }
        Some(Relation::Package) if topology.caches.is_empty() => {
            "two cores; whether they share a cache is not known".into()
        }
        Some(Relation::Package) => "two cores of one package that share no cache".into(),
        Some(Relation::Packages) => "two cores in two packages (sockets)".to_string(),
    };
    let kind = |cpu| topology.kinds.iter().position(|kind| kind.cpus.contains(&cpu));
    let kinds = if kind(one) == kind(other) { "" } else { ", of two speeds" };
    format!("{what}{kinds}{}", nodes(topology, &[one, other]))
}

fn several(topology: &Topology, cpus: &[u32]) -> String {
    let Some(cores) = topology.cores_of(cpus) else {
        return "which of them share a core is not known".into();
    };
    let threads = cpus.len() / cores;
    let cores = match (cpus.len() == cores, cores * threads == cpus.len()) {
        (true, _) => counted(cores as u64, "core"),
        (false, true) => {
            let per = if cores == 1 { "" } else { " each" };
            format!("{} with {threads} hardware threads{per}", counted(cores as u64, "core"))
        }
        (false, false) => format!("hardware threads of {}", counted(cores as u64, "core")),
    };
    let cache = topology.cache_of_all(cpus).filter(|_| cpus.len() > threads);
    let cache = cache.map(|cache| format!("one L{} cache", cache.level));
    let packages = topology.packages_of(cpus).filter(|packages| *packages > 1);
    let packages = packages.map(|packages| format!("{packages} packages (sockets)"));
    let parts: Vec<String> = [Some(cores), cache, packages].into_iter().flatten().collect();
    format!("{}{}", parts.join(", "), nodes(topology, cpus))
}

fn nodes(topology: &Topology, cpus: &[u32]) -> String {
    let nodes = topology.nodes_of(cpus).filter(|nodes| *nodes > 1);
    nodes.map_or(String::new(), |nodes| format!(", on {nodes} NUMA nodes"))
}

/// Returns a drawing of a machine, in lines of at most `width` characters where that is possible: its packages,
/// their last caches, and the cores as brackets around their CPUs. CPUs that are not `ours` have parentheses.
/// There are no lines where the kernel describes no core.
pub fn drawing(topology: &Topology, ours: &[u32], width: usize) -> Vec<String> {
    let all: Vec<u32> = topology.cores.concat();
    let whole = [all.clone()];
    let packages = if topology.packages.is_empty() { &whole[..] } else { &topology.packages };
    let mut lines = Vec::new();
    for (index, package) in packages.iter().enumerate().filter(|_| !all.is_empty()) {
        lines.push(format!("package {index}{}", memory(topology, package)));
        for (cache, set) in groups(topology, package) {
            let head = cache.map_or(String::new(), |cache| {
                format!("L{} {}: ", cache.level, binary(cache.size_bytes as f64))
            });
            let cores = topology.cores.iter().filter(|core| core.iter().any(|it| set.contains(it)));
            let cores: Vec<String> = cores.map(|core| bracket(core, ours)).collect();
            wrapped(&format!("  {head}"), &cores, width, &mut lines);
        }
    }
    for kind in &topology.kinds {
        lines.push(format!("capacity {}: CPUs {}", kind.capacity, list(&kind.cpus)));
    }
    lines
}

/// Returns the NUMA nodes that a package's CPUs belong to, with their memory.
fn memory(topology: &Topology, package: &[u32]) -> String {
    let is_here = |node: &&NumaNode| node.cpus.iter().any(|cpu| package.contains(cpu));
    let nodes = topology.nodes.iter().filter(is_here).map(|node| {
        let memory = rounded(node.memory_bytes as f64, Terms::In(&Unit::Bytes));
        format!("NUMA node {} with {memory}", node.node)
    });
    let nodes: Vec<String> = nodes.collect();
    if nodes.is_empty() { String::new() } else { format!(", {}", listed(&nodes)) }
}

/// Returns the sets of CPUs of a package that share a last cache, or all if none is described.
fn groups<'t>(
    topology: &'t Topology,
    package: &'t [u32],
) -> Vec<(Option<&'t CacheLevel>, &'t [u32])> {
    let last = topology.caches.iter().rev().find_map(|cache| {
        let sets = cache.shared_by.iter().filter(|set| set.iter().any(|it| package.contains(it)));
        let sets: Vec<_> = sets.map(|set| (Some(cache), set.as_slice())).collect();
        (!sets.is_empty()).then_some(sets)
    });
    last.unwrap_or_else(|| vec![(None, package)])
}

fn bracket(core: &[u32], ours: &[u32]) -> String {
    let cpu = |cpu: &u32| {
        if ours.contains(cpu) { cpu.to_string() } else { format!("({cpu})") }
    };
    format!("[{}]", core.iter().map(cpu).collect::<Vec<_>>().join(" "))
}

fn wrapped(head: &str, words: &[String], width: usize, lines: &mut Vec<String>) {
    let mut line = head.to_string();
    let indent = head.chars().count();
    for (index, word) in words.iter().enumerate() {
        let is_full = line.chars().count() + 1 + word.chars().count() > width;
        if index > 0 && is_full {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
        } else if index > 0 {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::CoreKind;

    fn sets(all: &[&[u32]]) -> Vec<Vec<u32>> {
        all.iter().map(|set| set.to_vec()).collect()
    }

    /// Two packages of two cores with two threads each.
    fn server() -> Topology {
        let shared_by = sets(&[&[0, 1, 4, 5], &[2, 3, 6, 7]]);
        let node = |node, cpus| NumaNode { node, cpus, memory_bytes: 8_000_000_000 };
        Topology {
            cores: sets(&[&[0, 4], &[1, 5], &[2, 6], &[3, 7]]),
            caches: vec![CacheLevel {
                level: 3,
                size_bytes: 32 << 20,
                shared_by: shared_by.clone(),
            }],
            packages: shared_by,
            nodes: vec![node(0, vec![0, 1, 4, 5]), node(1, vec![2, 3, 6, 7])],
            kinds: Vec::new(),
        }
    }

    #[test]
    fn lists_are_those_of_taskset() {
        assert_eq!(list(&[0, 1, 2, 3, 8]), "0-3,8");
        assert_eq!(list(&[1, 0]), "0,1");
        assert_eq!((list(&[5, 5]).as_str(), list(&[]).as_str()), ("5", ""));
    }

    #[test]
    fn what_cpus_have_in_common_is_said() {
        let server = server();
        let of = |cpus: &[u32]| described(&server, cpus);
        assert_eq!(of(&[3]), "CPU 3");
        assert_eq!(of(&[0, 4]), "CPUs 0,4: two hardware threads of one core");
        assert_eq!(of(&[0, 1]), "CPUs 0,1: two cores that share the L3 cache");
        let far = "CPUs 1,2: two cores in two packages (sockets), on 2 NUMA nodes";
        assert_eq!(of(&[1, 2]), far);
        let all =
            "CPUs 0-7: 4 cores with 2 hardware threads each, 2 packages (sockets), on 2 NUMA nodes";
        assert_eq!(of(&[0, 1, 2, 3, 4, 5, 6, 7]), all);
        assert_eq!(of(&[0, 1, 4]), "CPUs 0,1,4: hardware threads of 2 cores, one L3 cache");
        let unknown = described(&Topology::default(), &[0, 1]);
        assert_eq!(unknown, "CPUs 0,1: whether they share a core is not known");
        let kind = |capacity, cpus| CoreKind { capacity, cpus };
        let hybrid = Topology { kinds: vec![kind(1024, vec![0, 4]), kind(512, vec![1])], ..server };
        let slow = "CPU 1: a slower core (50 % of the fastest one's capacity)";
        assert_eq!(described(&hybrid, &[1]), slow);
        let mixed = "CPUs 0,1: two cores that share the L3 cache, of two speeds";
        assert_eq!(described(&hybrid, &[0, 1]), mixed);
    }

    #[test]
    fn a_machine_is_drawn_as_wide_as_there_is_room() {
        let wide = drawing(&server(), &[0, 1, 2, 4, 5, 6, 7], 80);
        let expected = [
            "package 0, NUMA node 0 with 8 GB",
            "  L3 32 MiB: [0 4] [1 5]",
            "package 1, NUMA node 1 with 8 GB",
            "  L3 32 MiB: [2 6] [(3) 7]",
        ];
        assert_eq!(wide, expected);
        let narrow = drawing(&server(), &[0], 20);
        assert_eq!(narrow[1..3], ["  L3 32 MiB: [0 (4)]", "             [(1) (5)]"]);
        assert!(drawing(&Topology::default(), &[0], 80).is_empty());
    }
}
