use model::{CacheLevel, CoreKind, NumaNode, Topology};

/// Reads how the CPUs of this machine are arranged.
pub fn topology() -> Topology {
    let found = sys::topology::arrangement();
    let cache = |(level, size_bytes, shared_by)| CacheLevel { level, size_bytes, shared_by };
    let node = |(node, cpus, memory_bytes)| NumaNode { node, cpus, memory_bytes };
    let kind = |(capacity, cpus)| CoreKind { capacity, cpus };
    Topology {
        cores: found.cores,
        caches: found.caches.into_iter().map(cache).collect(),
        packages: found.packages,
        nodes: found.nodes.into_iter().map(node).collect(),
        kinds: found.kinds.into_iter().map(kind).collect(),
    }
}
