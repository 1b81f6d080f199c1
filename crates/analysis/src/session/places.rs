//! On which CPUs the trials of an experiment ran.

use model::{AFFINITY, CPUS_USED, RanOn, Record, Relation, Topology};
use std::collections::BTreeMap;

/// The most sets of CPUs that are kept.
const SETS_MAX: usize = 8;

/// The most CPUs that are read of one trial.
const CPUS_MAX: usize = 4096;

/// Returns the sets of CPUs that completed trials used, those of the most trials first. Trials that were not
/// confined are in none.
pub(crate) fn ran_on<'r>(own: impl Iterator<Item = &'r Record>) -> Vec<RanOn> {
    let mut sets: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
    for record in own.filter(|record| record.measured.is_some()) {
        if let Some(cpus) = cpus(record) {
            *sets.entry(cpus).or_default() += 1;
        }
    }
    let mut sets: Vec<RanOn> =
        sets.into_iter().map(|(cpus, trials)| RanOn { cpus, trials }).collect();
    sets.sort_by_key(|set| std::cmp::Reverse(set.trials));
    sets.truncate(SETS_MAX);
    sets
}

/// Returns the CPUs that a trial says it used.
fn cpus(record: &Record) -> Option<Vec<u32>> {
    let listed = |fact| record.observed.get(fact).map(|list| parsed(list.as_str()));
    let mut cpus = listed(AFFINITY)?;
    cpus.extend(listed(CPUS_USED).unwrap_or_default());
    cpus.sort_unstable();
    cpus.dedup();
    (!cpus.is_empty()).then_some(cpus)
}

/// Reads a list such as "0-3,8"; of a stranger's file what cannot be read is left out.
fn parsed(list: &str) -> Vec<u32> {
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let run = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(number(first)?..=number(last)?)
    };
    list.split(',').filter_map(run).flatten().take(CPUS_MAX).collect()
}

/// Returns what a reader must know of where an experiment ran: that CPUs which it took for two cores are not,
/// or that they are farther from each other than on most machines.
pub(crate) fn warnings(own: &[&Record], topology: &Topology) -> Vec<String> {
    // Where the factor names the relation, it is what was asked for.
    let names = [Relation::Siblings, Relation::Package, Relation::Packages].map(Relation::name);
    let is_asked =
        |record: &Record| record.treatment.0.values().any(|level| names.contains(&level.as_str()));
    let unasked = own.iter().copied().filter(|record| !is_asked(record));
    let mut said = Vec::new();
    for RanOn { cpus, .. } in ran_on(unasked) {
        let [one, other] = cpus[..] else { continue };
        let what = match topology.relation(one, other) {
            Some(Relation::Siblings) => {
                "hardware threads of one core, which share its caches and execution units. Numbers differ \
                 on a machine with more cores"
            }
            Some(Relation::Packages) => {
                "in two packages (sockets). Cores that share a cache give other numbers"
            }
            _ => continue,
        };
        said.push(format!("Trials that use two CPUs ran on CPUs {one} and {other}: {what}"));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Trial;
    use model::Outcome;

    fn on(cpus: &str) -> Trial {
        Trial::new(0).observed("affinity", "1").observed("cpus", cpus)
    }

    /// Two cores with two hardware threads each, in two packages.
    fn topology() -> Topology {
        let cores = vec![vec![0, 1], vec![2, 3]];
        Topology { cores: cores.clone(), packages: cores, ..Topology::default() }
    }

    #[test]
    fn sets_of_cpus_are_counted_over_completed_trials() {
        let refused = Outcome::Unsupported { reason: "no".into() };
        let records = [
            on("0-1").record(),
            on("0,1").record(),
            Trial::new(0).observed("affinity", "1").record(),
            Trial::new(0).record(),
            on("2").ended(refused).record(),
            // A stranger's file.
            on("x,-,5-,0-4294967295").record(),
        ];
        let found = ran_on(records.iter());
        let sets: Vec<(&[u32], u64)> =
            found.iter().map(|set| (&set.cpus[..4.min(set.cpus.len())], set.trials)).collect();
        assert_eq!(sets, [(&[0, 1][..], 2), (&[0, 1, 2, 3], 1), (&[1], 1)]);
    }

    #[test]
    fn siblings_and_two_packages_are_said_where_nobody_asked_for_them() {
        let warned = |trial: Trial| {
            let record = trial.record();
            warnings(&[&record], &topology()).join("; ")
        };
        assert!(warned(on("0-1")).contains("CPUs 0 and 1: hardware threads of one core"));
        assert!(warned(on("1-2")).contains("CPUs 1 and 2: in two packages"));
        assert_eq!(warned(on("0-1").at([("placement", "siblings")])), "");
        assert_eq!(warned(on("1")), "");
        // What the kernel does not describe is not warned of.
        assert_eq!(warned(on("1,9")), "");
    }
}
