//! The levels of a design that follow the machine.

use crate::{Design, Factor, Relation, Topology};

/// What a grid names in the place of a list of levels that follow the machine ([`Design::on`]).
pub const OF_MACHINE: &str = "machine";

impl Design {
    /// Returns the design for a machine: where a grid names [`OF_MACHINE`], it gets the levels that suit
    /// the CPUs that the session may use, and the grid's profile measures them.
    ///
    /// Of a factor that counts workers these are the powers of two and the largest level up to the number
    /// of CPUs, and one beyond. Of a factor that says where two workers run these are the [`Relation`]s
    /// that two of the CPUs have, if there is more than one: otherwise the baseline has the only one, and
    /// the grid is left out.
    #[must_use]
    pub fn on(mut self, cpus: &[u32], topology: &Topology) -> Self {
        let relations = topology.relations(cpus);
        let relations = if relations.len() > 1 { &relations[..] } else { &[] };
        let mut grids = std::mem::take(&mut self.grids);
        grids.retain_mut(|grid| {
            grid.vary.iter_mut().all(|(name, levels)| {
                let factor = self.factors.iter_mut().find(|factor| factor.name == *name);
                let Some(factor) = factor.filter(|_| levels[..] == [OF_MACHINE]) else {
                    return true;
                };
                *levels = of_machine(factor, cpus.len(), relations);
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

fn of_machine(factor: &Factor, cpus: usize, relations: &[Relation]) -> Vec<String> {
    let values = factor.levels.iter().map(|level| Some((level.value? as usize, &level.name)));
    let Some(values) = values.collect::<Option<Vec<_>>>() else {
        let names = relations.iter().map(|relation| relation.name());
        return names.filter(|name| factor.level(name).is_some()).map(String::from).collect();
    };
    let most = values.iter().map(|(value, _)| *value).filter(|value| *value <= cpus).max();
    let beyond = values.iter().map(|(value, _)| *value);
    let beyond = beyond.filter(|value| *value > cpus && value.is_power_of_two()).min();
    let suits = |value: usize| {
        (value <= cpus && value.is_power_of_two()) || [most, beyond].contains(&Some(value))
    };
    values.iter().filter(|(value, _)| suits(*value)).map(|(_, name)| (*name).clone()).collect()
}
