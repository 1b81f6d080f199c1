//! The levels of a design that follow the machine.

use crate::{Design, Factor, Relation, Topology};

/// What a grid names in the place of a list of levels that follow the machine ([`Design::on`]).
pub const OF_MACHINE: &str = "machine";

/// The level that stands for the memory of a CPU's own NUMA node.
pub const NEAR: &str = "near";

/// The level that stands for the memory of the farthest other node.
pub const FAR: &str = "far";

impl Design {
    /// Returns the design for a machine: where a grid names [`OF_MACHINE`], it gets the levels that suit
    /// the CPUs that the session may use, and the grid's profile measures them.
    ///
    /// Of a factor that counts workers these are the powers of two and the largest level up to the number
    /// of CPUs, and one beyond. Of a factor that says where two workers run these are the [`Relation`]s
    /// that two of the CPUs have, if there is more than one: otherwise the baseline has the only one, and
    /// the grid is left out. Of a factor that says which memory they use these are [`NEAR`] and [`FAR`], if
    /// there is more than one NUMA node.
    #[must_use]
    pub fn on(mut self, cpus: &[u32], topology: &Topology) -> Self {
        let several = |names: Vec<&'static str>| if names.len() > 1 { names } else { Vec::new() };
        let relations = topology.relations(cpus);
        let mut names = several(relations.into_iter().map(Relation::name).collect());
        let with_memory = topology.nodes.iter().filter(|node| node.memory_bytes > 0);
        names.extend(several([NEAR, FAR].into_iter().take(with_memory.count()).collect()));
        let mut grids = std::mem::take(&mut self.grids);
        grids.retain_mut(|grid| {
            grid.vary.iter_mut().all(|(name, levels)| {
                let factor = self.factors.iter_mut().find(|factor| factor.name == *name);
                let Some(factor) = factor.filter(|_| levels[..] == [OF_MACHINE]) else {
                    return true;
                };
                *levels = of_machine(factor, cpus.len(), &names);
                for level in factor.levels.iter_mut().filter(|it| levels.contains(&it.name)) {
                    level.from = level.from.min(grid.from);
                }
                // An empty list would mean all levels.
                !levels.is_empty()
            })
        });
        self.grids = grids;
        self
    }
}

fn of_machine(factor: &Factor, cpus: usize, names: &[&str]) -> Vec<String> {
    let values = factor.levels.iter().map(|level| Some((level.value? as usize, &level.name)));
    let Some(values) = values.collect::<Option<Vec<_>>>() else {
        let known = names.iter().filter(|name| factor.level(name).is_some());
        return known.map(|name| (*name).into()).collect();
    };
    let most = values.iter().map(|(value, _)| *value).filter(|value| *value <= cpus).max();
    let beyond = values.iter().map(|(value, _)| *value);
    let beyond = beyond.filter(|value| *value > cpus && value.is_power_of_two()).min();
    let suits = |value: usize| {
        (value <= cpus && value.is_power_of_two()) || [most, beyond].contains(&Some(value))
    };
    values.iter().filter(|(value, _)| suits(*value)).map(|(_, name)| (*name).clone()).collect()
}
