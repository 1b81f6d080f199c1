//! What names stand for: each text has its own, and sees those of others that it does not define.

use super::expression::Expression;
use super::{Mistake, Place};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
pub(super) enum Definition {
    Label,
    Constant(Expression),
}

/// A definition, the item before which it stands, and where it is.
type Defined = (Definition, usize, Place);

/// The unit of names that no text defines.
const GIVEN: u32 = 0;

/// Names of the texts that are assembled together.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The unit of each file: a text and what it includes.
    units: Vec<u32>,
    /// Definitions by name and unit.
    all: BTreeMap<String, BTreeMap<u32, Defined>>,
    global: BTreeSet<(String, u32)>,
}

impl Names {
    /// Gives a name a value that any text may have.
    pub(super) fn give(&mut self, name: &str, value: i64) {
        let definition = Definition::Constant(Expression::Number(value));
        let units = self.all.entry(name.into()).or_default();
        units.insert(GIVEN, (definition, 0, Place::START));
    }

    /// Adds a file: to the unit of another that includes it, or as a unit.
    pub(super) fn add_file(&mut self, includer: Option<u32>) {
        let unit = includer.map(|file| self.unit(Place { file, ..Place::START }));
        let next = self.units.iter().max().map_or(GIVEN + 1, |last| last + 1);
        self.units.push(unit.unwrap_or(next));
    }

    fn unit(&self, place: Place) -> u32 {
        self.units.get(place.file as usize).copied().unwrap_or(GIVEN)
    }

    /// Returns what a name stands for at a place: what its text defines, what another says is global, or the only
    /// definition there is.
    pub(super) fn get(&self, name: &str, place: Place) -> Option<&Defined> {
        let units = self.all.get(name)?;
        if let Some(found) = units.get(&self.unit(place)) {
            return Some(found);
        }
        let is_global = |unit: &u32| self.global.contains(&(name.to_owned(), *unit));
        let others = || units.iter().filter(|(unit, _)| **unit != GIVEN);
        let global = others().find(|(unit, _)| is_global(unit));
        let only = others().next().filter(|_| others().count() == 1);
        global.or(only).map(|(_, found)| found).or_else(|| units.get(&GIVEN))
    }

    pub(super) fn define(
        &mut self,
        name: &str,
        what: Definition,
        item: usize,
        place: Place,
    ) -> Result<(), Mistake> {
        let unit = self.unit(place);
        let units = self.all.entry(name.into()).or_default();
        if let Some((before, _, at)) = units.get(&unit) {
            // A constant may be given another value, which holds from there on.
            let changes = matches!(
                (before, &what),
                (Definition::Constant(_), Definition::Constant(Expression::Number(_)))
            );
            if !changes {
                let what = format!("{name} is defined in line {} already", at.line);
                return Err(Mistake { place, what });
            }
        }
        units.insert(unit, (what, item, place));
        Ok(())
    }

    /// Lets other texts see a name.
    pub(super) fn export(&mut self, name: &str, place: Place) {
        self.global.insert((name.into(), self.unit(place)));
    }

    pub(super) fn is_global(&self, name: &str) -> bool {
        self.global.iter().any(|(known, _)| known == name)
    }

    /// Returns the labels with their items, and whether other texts see them.
    pub(super) fn labels(&self) -> impl Iterator<Item = (&String, usize, bool)> {
        self.all.iter().flat_map(move |(name, units)| {
            units.iter().filter_map(move |(unit, (what, item, _))| {
                let is_label = matches!(what, Definition::Label);
                is_label.then(|| (name, *item, self.global.contains(&(name.clone(), *unit))))
            })
        })
    }

    /// Finds labels that more than one text defines for the others.
    pub(super) fn check(&self, mistakes: &mut Vec<Mistake>) {
        for (name, units) in &self.all {
            let all = units.iter().filter(|(unit, (what, ..))| {
                matches!(what, Definition::Label) && self.global.contains(&(name.clone(), **unit))
            });
            for (_, (_, _, place)) in all.skip(1) {
                let what = format!("{name} is .globl in another file already; rename one of them");
                mistakes.push(Mistake { place: *place, what });
            }
        }
    }
}
