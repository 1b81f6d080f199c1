use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// How the CPUs of a machine are arranged: sets of CPUs that share something, each ascending. A list is
/// empty where the kernel does not describe it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Topology {
    /// The CPUs of each core, which are its hardware threads.
    pub cores: Vec<Vec<u32>>,
    /// The caches that hold data, nearest first.
    pub caches: Vec<CacheLevel>,
    /// The CPUs of each package (socket).
    pub packages: Vec<Vec<u32>>,
    /// The NUMA nodes.
    pub nodes: Vec<NumaNode>,
    /// The kinds of cores, the fastest first; empty where all are alike.
    pub kinds: Vec<CoreKind>,
}

/// All data caches of one level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheLevel {
    /// 1, 2, 3…
    pub level: u32,
    /// The size of the first of them, in bytes.
    pub size_bytes: u64,
    /// The CPUs that share each of them.
    pub shared_by: Vec<Vec<u32>>,
}

/// A NUMA node: memory with the CPUs that are near it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NumaNode {
    /// The kernel's number of it.
    pub node: u32,
    /// Its CPUs; none for a node that only has memory.
    pub cpus: Vec<u32>,
    /// Its memory, in bytes.
    pub memory_bytes: u64,
}

/// Cores of one speed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoreKind {
    /// What the kernel takes their speed for; the fastest cores of a machine have 1024.
    pub capacity: u32,
    /// Their CPUs.
    pub cpus: Vec<u32>,
}

/// What two CPUs have in common, the nearest relation first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// They are one CPU.
    SameCpu,
    /// They are hardware threads of one core.
    Siblings,
    /// They are on two cores that share a cache.
    SharedCache,
    /// They are on two cores of one package that share no cache that is known.
    Package,
    /// They are in two packages.
    Packages,
}

impl Topology {
    /// Returns what two CPUs have in common; `None` where the kernel describes no core of one of them.
    pub fn relation(&self, one: u32, other: u32) -> Option<Relation> {
        if one == other {
            return Some(Relation::SameCpu);
        }
        let core = set_of(&self.cores, one)?;
        set_of(&self.cores, other)?;
        if core.contains(&other) {
            return Some(Relation::Siblings);
        }
        if self.nearest_cache(one, other).is_some() {
            return Some(Relation::SharedCache);
        }
        match set_of(&self.packages, one) {
            Some(package) if !package.contains(&other) => Some(Relation::Packages),
            _ => Some(Relation::Package),
        }
    }

    /// Returns the nearest cache that two CPUs share.
    pub fn nearest_cache(&self, one: u32, other: u32) -> Option<&CacheLevel> {
        let shares = |cache: &&CacheLevel| {
            set_of(&cache.shared_by, one).is_some_and(|set| set.contains(&other))
        };
        self.caches.iter().find(shares)
    }

    /// Returns some CPUs in the order in which workers take them: those of different cores before their
    /// siblings, near ones before far ones, and the last before the first, since interrupts gather on the
    /// first.
    pub fn in_order(&self, cpus: &[u32]) -> Vec<u32> {
        let Some(begin) = cpus.last() else { return Vec::new() };
        let mut all = cpus.to_vec();
        all.sort_by_key(|cpu| {
            let relation = self.relation(*begin, *cpu).filter(|it| *it != Relation::Siblings);
            (*cpu != *begin, relation.unwrap_or(Relation::SharedCache), Reverse(*cpu))
        });
        let (mut first, mut rest): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        for cpu in all {
            let core = set_of(&self.cores, cpu).unwrap_or_default();
            let is_taken = core.iter().any(|sibling| first.contains(sibling));
            if is_taken { rest.push(cpu) } else { first.push(cpu) }
        }
        first.extend(rest);
        first
    }

    /// Returns the two of some CPUs that have a relation, in the order of [`Topology::in_order`]; `None`
    /// where no two have it.
    pub fn pair(&self, cpus: &[u32], relation: Relation) -> Option<[u32; 2]> {
        let order = self.in_order(cpus);
        let of = |one: u32| {
            let mut others = order.iter().filter(|other| **other != one);
            others.find(|other| self.relation(one, **other) == Some(relation)).map(|it| [one, *it])
        };
        order.iter().find_map(|one| of(*one))
    }

    /// Returns the relations that two of some CPUs can have, nearest first.
    pub fn relations(&self, cpus: &[u32]) -> Vec<Relation> {
        let all =
            [Relation::Siblings, Relation::SharedCache, Relation::Package, Relation::Packages];
        all.into_iter().filter(|relation| self.pair(cpus, *relation).is_some()).collect()
    }

    /// Returns the number of cores that some CPUs belong to; `None` where a core is not described.
    pub fn cores_of(&self, cpus: &[u32]) -> Option<usize> {
        count(&self.cores, cpus)
    }

    /// Returns the number of packages that some CPUs belong to; `None` where one is not described.
    pub fn packages_of(&self, cpus: &[u32]) -> Option<usize> {
        count(&self.packages, cpus)
    }

    /// Returns the number of NUMA nodes that some CPUs belong to; `None` where one is not described.
    pub fn nodes_of(&self, cpus: &[u32]) -> Option<usize> {
        let sets: Vec<Vec<u32>> = self.nodes.iter().map(|node| node.cpus.clone()).collect();
        count(&sets, cpus)
    }

    /// Returns the nearest cache that all of some CPUs share.
    pub fn cache_of_all(&self, cpus: &[u32]) -> Option<&CacheLevel> {
        self.caches.iter().find(|cache| count(&cache.shared_by, cpus) == Some(1))
    }
}

impl Relation {
    /// Returns what two CPUs are that have it.
    pub fn describe(self) -> &'static str {
        match self {
            Relation::SameCpu => "one CPU",
            Relation::Siblings => "hardware threads of one core",
            Relation::SharedCache => "on two cores that share a cache",
            Relation::Package => "on two cores of one package that share no cache",
            Relation::Packages => "in two packages",
        }
    }

    /// Returns the level of a factor that stands for it.
    pub fn name(self) -> &'static str {
        match self {
            Relation::SameCpu => "same_cpu",
            Relation::Siblings => "siblings",
            Relation::SharedCache => "shared_cache",
            Relation::Package => "package",
            Relation::Packages => "packages",
        }
    }
}

fn set_of(sets: &[Vec<u32>], cpu: u32) -> Option<&[u32]> {
    sets.iter().find(|set| set.contains(&cpu)).map(Vec::as_slice)
}

/// Counts the sets that some CPUs are in; `None` where a CPU is in none.
fn count(sets: &[Vec<u32>], cpus: &[u32]) -> Option<usize> {
    let mut firsts = Vec::new();
    for cpu in cpus {
        let first = set_of(sets, *cpu)?.first()?;
        if !firsts.contains(first) {
            firsts.push(*first);
        }
    }
    Some(firsts.len())
}

#[cfg(test)]
mod tests;
