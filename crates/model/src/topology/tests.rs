use super::{CacheLevel, NumaNode, Relation, Topology};

fn sets(all: &[&[u32]]) -> Vec<Vec<u32>> {
    all.iter().map(|set| set.to_vec()).collect()
}

/// A laptop: two fast cores with two threads each and an L2 of their own, and four slow ones with one L2;
/// one L3 for all.
fn hybrid() -> Topology {
    Topology {
        cores: sets(&[&[0, 1], &[2, 3], &[4], &[5], &[6], &[7]]),
        caches: vec![
            CacheLevel {
                level: 1,
                size_bytes: 48 << 10,
                shared_by: sets(&[&[0, 1], &[2, 3], &[4], &[5], &[6], &[7]]),
            },
            CacheLevel {
                level: 2,
                size_bytes: 2 << 20,
                shared_by: sets(&[&[0, 1], &[2, 3], &[4, 5, 6, 7]]),
            },
            CacheLevel {
                level: 3,
                size_bytes: 24 << 20,
                shared_by: sets(&[&[0, 1, 2, 3, 4, 5, 6, 7]]),
            },
        ],
        packages: sets(&[&[0, 1, 2, 3, 4, 5, 6, 7]]),
        ..Topology::default()
    }
}

/// Two packages of two cores with two threads each, numbered as many servers are: first one thread of each
/// core of the first package, then of the second, then the other threads.
fn server() -> Topology {
    let l3 = |shared_by| CacheLevel { level: 3, size_bytes: 32 << 20, shared_by };
    let node = |node, cpus| NumaNode { node, cpus, memory_bytes: 1 << 30 };
    Topology {
        cores: sets(&[&[0, 4], &[1, 5], &[2, 6], &[3, 7]]),
        caches: vec![l3(sets(&[&[0, 1, 4, 5], &[2, 3, 6, 7]]))],
        packages: sets(&[&[0, 1, 4, 5], &[2, 3, 6, 7]]),
        nodes: vec![node(0, vec![0, 1, 4, 5]), node(1, vec![2, 3, 6, 7])],
        ..Topology::default()
    }
}

#[test]
fn two_cpus_are_related_by_the_nearest_thing_that_they_share() {
    let server = server();
    let related = [(0, 0), (0, 4), (0, 1), (0, 2), (4, 3)].map(|(a, b)| server.relation(a, b));
    let expected = [
        Relation::SameCpu,
        Relation::Siblings,
        Relation::SharedCache,
        Relation::Packages,
        Relation::Packages,
    ];
    assert_eq!(related, expected.map(Some));
    assert_eq!(server.relation(0, 9), None);
    let hybrid = hybrid();
    assert_eq!(hybrid.relation(4, 5), Some(Relation::SharedCache));
    assert_eq!(hybrid.nearest_cache(4, 5).expect("there").level, 2);
    assert_eq!(hybrid.nearest_cache(0, 4).expect("there").level, 3);
    // Two dies of one package, as each has an L3.
    let dies = Topology { packages: sets(&[&[0, 1, 2, 3, 4, 5, 6, 7]]), ..server };
    assert_eq!(dies.relation(0, 2), Some(Relation::Package));
}

#[test]
fn workers_take_near_cores_first_and_siblings_last() {
    assert_eq!(server().in_order(&[0, 1, 2, 3, 4, 5, 6, 7]), [7, 6, 5, 4, 3, 2, 1, 0]);
    // Neighbours in number share a core, as x86 often numbers them.
    let laptop = hybrid();
    assert_eq!(laptop.in_order(&[0, 1, 2, 3]), [3, 1, 2, 0]);
    // One core: its two threads are all there is.
    assert_eq!(server().in_order(&[0, 4]), [4, 0]);
    // Nothing is described, as in some virtual machines.
    assert_eq!(Topology::default().in_order(&[0, 1, 2]), [2, 1, 0]);
    assert!(Topology::default().in_order(&[]).is_empty());
    // The nearest other core comes before one of the other package, however they are numbered.
    assert_eq!(server().in_order(&[1, 2, 3]), [3, 2, 1]);
    assert_eq!(server().in_order(&[0, 2, 1]), [1, 0, 2]);
}

#[test]
fn a_pair_has_the_relation_that_was_asked_for() {
    let all = [0, 1, 2, 3, 4, 5, 6, 7];
    for topology in [server(), hybrid()] {
        for relation in topology.relations(&all) {
            let [one, other] = topology.pair(&all, relation).expect("there");
            assert_eq!(topology.relation(one, other), Some(relation));
        }
    }
    let relations = [Relation::Siblings, Relation::SharedCache, Relation::Packages];
    assert_eq!(server().relations(&all), relations);
    assert_eq!(hybrid().relations(&all), relations[..2]);
    assert_eq!(server().relations(&[0, 4]), relations[..1]);
    assert_eq!(Topology::default().relations(&all), []);
}

#[test]
fn what_is_not_described_is_not_counted() {
    let server = server();
    assert_eq!(server.cores_of(&[0, 4, 1]), Some(2));
    assert_eq!((server.packages_of(&[0, 3]), server.nodes_of(&[0, 1])), (Some(2), Some(1)));
    assert_eq!(server.cache_of_all(&[0, 1, 5]).map(|cache| cache.level), Some(3));
    assert_eq!(server.cache_of_all(&[0, 2]), None);
    assert_eq!((server.cores_of(&[0, 9]), Topology::default().nodes_of(&[0])), (None, None));
}
