use crate::{Cell, Design, Factor, Level, Profile, ProgramFile};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

// A clone shares the levels: a session has a thousand treatments and a hundred thousand trials. (The
// line below is also the description in the schema.)
/// One combination of levels: every factor of the design has one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Treatment(pub Arc<BTreeMap<String, String>>);

impl Ord for Treatment {
    fn cmp(&self, other: &Self) -> Ordering {
        // `Arc` looks at the address before it asks for equality, but not before it orders.
        if self.is_shared_with(other) { Ordering::Equal } else { self.0.cmp(&other.0) }
    }
}

impl PartialOrd for Treatment {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Treatment {
    /// The level of a factor.
    pub fn level(&self, factor: &str) -> Option<&str> {
        self.0.get(factor).map(String::as_str)
    }

    /// Returns the levels, to be changed: those of this treatment alone, even if others shared them.
    pub fn levels_mut(&mut self) -> &mut BTreeMap<String, String> {
        Arc::make_mut(&mut self.0)
    }

    /// Whether both are one list of levels in memory, not just equal ones.
    pub fn is_shared_with(&self, other: &Treatment) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether the treatment has all the levels that the cell names.
    pub fn matches(&self, cell: &Cell) -> bool {
        cell.0.iter().all(|(factor, level)| self.level(factor) == Some(level))
    }
}

impl FromIterator<(String, String)> for Treatment {
    /// Of factors with their levels.
    fn from_iter<I: IntoIterator<Item = (String, String)>>(levels: I) -> Self {
        Treatment(Arc::new(levels.into_iter().collect()))
    }
}

impl fmt::Display for Treatment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (factor, level)) in self.0.iter().enumerate() {
            if index > 0 {
                out.write_str(" ")?;
            }
            write!(out, "{factor}={level}")?;
        }
        Ok(())
    }
}

/// A design that contradicts itself. Built-in designs are checked by a test, a user's study when
/// it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesignError {
    /// The experiment.
    pub experiment: String,
    /// What is wrong, and what would be right.
    pub what: String,
}

impl fmt::Display for DesignError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "experiment {}: {}", self.experiment, self.what)
    }
}

impl std::error::Error for DesignError {}

impl Design {
    /// All treatments of a profile, each once, in a fixed order.
    ///
    /// A design that [`Design::check`] refuses may have more of them than there is memory.
    pub fn treatments(&self, profile: Profile) -> Vec<Treatment> {
        let mut all = BTreeSet::new();
        if self.grids.is_empty() {
            let vary: Vec<_> =
                self.factors.iter().map(|factor| (factor.name.clone(), Vec::new())).collect();
            self.expand(&vary, profile, &mut all);
        }
        for grid in self.grids.iter().filter(|grid| grid.from <= profile) {
            self.expand(&grid.vary, profile, &mut all);
        }
        all.into_iter().collect()
    }

    fn expand(
        &self,
        vary: &[(String, Vec<String>)],
        profile: Profile,
        into: &mut BTreeSet<Treatment>,
    ) {
        let mut partial = vec![self.complete(&Cell::default())];
        for (name, wanted) in vary {
            let Some(factor) = self.factor(name) else {
                continue;
            };
            let levels: Vec<&Level> = factor
                .levels
                .iter()
                .filter(|level| level.from <= profile)
                .filter(|level| wanted.is_empty() || wanted.contains(&level.name))
                .collect();
            partial = partial
                .iter()
                .flat_map(|treatment| {
                    levels.iter().map(|level| {
                        let mut next = treatment.clone();
                        next.levels_mut().insert(name.clone(), level.name.clone());
                        next
                    })
                })
                .collect();
        }
        into.extend(partial);
    }

    /// The one treatment that a cell means: factors it does not name stand at their baselines.
    pub fn complete(&self, cell: &Cell) -> Treatment {
        let level = |factor: &Factor| {
            let level = cell.0.get(&factor.name).unwrap_or(&factor.baseline);
            (factor.name.clone(), level.clone())
        };
        self.factors.iter().map(level).collect()
    }

    /// Whether the design is consistent: names exist, baselines are levels, cells can be met; and
    /// whether it is small enough to be read (`model::bounds`).
    pub fn check(&self) -> Result<(), DesignError> {
        let shown = || self.id.chars().take(SHOWN).collect();
        let fail = |what: String| Err(DesignError { experiment: shown(), what });
        if self.id.is_empty() || !self.id.chars().all(is_name_character) {
            return fail("its id must be a word of a-z, 0-9 and _".into());
        }
        if let Err(what) = self.check_size().and_then(|()| self.check_names()) {
            return fail(what);
        }
        for factor in &self.factors {
            if let Err(what) = check_factor(factor) {
                return fail(what);
            }
        }
        for response in &self.responses {
            if let Some(suffix) = response.unit.suffix()
                && !response.name.ends_with(suffix)
            {
                return fail(format!("response {} must end in {suffix}", response.name));
            }
            if let Some(cell) = &response.subtract
                && let Err(what) = self.check_cell(cell)
            {
                return fail(what);
            }
            for limit in &response.limits {
                if let Err(what) = self.check_cell(&limit.at) {
                    return fail(what);
                }
            }
            if let Some(twin) = &response.cpu_twin
                && self.response(twin).is_none()
            {
                return fail(format!("{} names {twin}, which is no response", response.name));
            }
        }
        for (factor, level) in self.grids.iter().flat_map(|grid| &grid.vary).flat_map(grid_pairs) {
            if let Err(what) = self.check_level(factor, level) {
                return fail(what);
            }
        }
        if let Some(Err(what)) = self.subject.as_ref().map(|subject| subject.check(self)) {
            return fail(what);
        }
        if let Some(Err(what)) = self.programs.iter().map(ProgramFile::check).find(Result::is_err) {
            return fail(what);
        }
        self.check_quantities().or_else(fail)
    }

    /// Reports two of one name, which a reader by name could not distinguish.
    fn check_names(&self) -> Result<(), String> {
        let factors: Vec<&String> = self.factors.iter().map(|factor| &factor.name).collect();
        let responses: Vec<&String> = self.responses.iter().map(|it| &it.name).collect();
        for (what, names) in [("factors", factors), ("responses", responses)] {
            let mut seen = BTreeSet::new();
            if let Some(twice) = names.into_iter().find(|name| !seen.insert(*name)) {
                return Err(format!("it has two {what} of the name {twice}"));
            }
        }
        Ok(())
    }

    fn check_quantities(&self) -> Result<(), String> {
        let quantities = self
            .findings
            .iter()
            .map(|finding| &finding.quantity)
            .chain(self.claims.iter().map(|claim| &claim.quantity));
        let shares: Vec<crate::Quantity> = self
            .diagnoses
            .iter()
            .flat_map(|it| it.suspects.iter().map(|suspect| it.share(suspect)))
            .collect();
        let quantities =
            quantities.chain(self.planted.iter().map(|planted| &planted.quantity)).chain(&shares);
        let named = quantities.map(|quantity| (Some(quantity.response()), quantity.cells()));
        let terms = self.accounts.iter().flat_map(crate::Account::terms);
        let used = terms.map(|term| (term.response(), term.cells()));
        let compared =
            self.controls.iter().map(|it| (Some(it.response.as_str()), vec![&it.a, &it.b]));
        let gaps =
            self.diagnoses.iter().map(|it| (Some(it.response.as_str()), vec![&it.whole, &it.base]));
        for (response, cells) in named.chain(used).chain(compared).chain(gaps) {
            if let Some(response) = response.filter(|name| self.response(name).is_none()) {
                return Err(format!("{response} is no response"));
            }
            cells.into_iter().try_for_each(|cell| self.check_cell(cell))?;
        }
        self.check_axes()
    }

    /// What a quantity follows along an axis must be a factor, and have the levels it names.
    fn check_axes(&self) -> Result<(), String> {
        use crate::Quantity as Q;
        let findings = self.findings.iter().map(|finding| &finding.quantity);
        let claims = self.claims.iter().map(|claim| &claim.quantity);
        let planted = self.planted.iter().map(|planted| &planted.quantity);
        for quantity in findings.chain(claims).chain(planted) {
            match quantity {
                Q::Exponent { over, .. } | Q::Linearity { over, .. } => {
                    self.check_level(over, None)?;
                }
                Q::Proportion { over, lower, upper, .. } => {
                    self.check_level(over, Some(lower))?;
                    self.check_level(over, Some(upper))?;
                }
                _ => {}
            }
        }
        for diagnosis in &self.diagnoses {
            let known = |name: &String| diagnosis.suspects.iter().any(|it| it.name == *name);
            if let Some(name) = diagnosis.planted.as_ref().filter(|name| !known(name)) {
                return Err(format!("{name} is no suspect of {}", diagnosis.id));
            }
        }
        Ok(())
    }

    fn check_cell(&self, cell: &Cell) -> Result<(), String> {
        cell.0.iter().try_for_each(|(factor, level)| self.check_level(factor, Some(level)))
    }

    fn check_level(&self, factor: &str, level: Option<&str>) -> Result<(), String> {
        let Some(found) = self.factor(factor) else {
            return Err(format!("{factor} is no factor of it"));
        };
        match level {
            Some(level) if found.level(level).is_none() => {
                Err(format!("{level} is no level of {factor}"))
            }
            _ => Ok(()),
        }
    }
}

/// As much of an id is shown in an error: a wrong one may have any length.
const SHOWN: usize = 40;

fn grid_pairs((factor, levels): &(String, Vec<String>)) -> Vec<(&str, Option<&str>)> {
    let mut pairs = vec![(factor.as_str(), None)];
    pairs.extend(levels.iter().map(|level| (factor.as_str(), Some(level.as_str()))));
    pairs
}

fn is_name_character(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'
}

fn check_factor(factor: &Factor) -> Result<(), String> {
    if factor.level(&factor.baseline).is_none() {
        return Err(format!(
            "factor {} has no level {}, its baseline",
            factor.name, factor.baseline
        ));
    }
    let names: BTreeSet<_> = factor.levels.iter().map(|level| &level.name).collect();
    if names.len() != factor.levels.len() {
        return Err(format!("factor {} has two levels of one name", factor.name));
    }
    Ok(())
}

impl crate::Quantity {
    /// The cells it names.
    pub fn cells(&self) -> Vec<&Cell> {
        use crate::Quantity as Q;
        match self {
            Q::Value { at, .. }
            | Q::Exponent { at, .. }
            | Q::Linearity { at, .. }
            | Q::Proportion { at, .. } => vec![at],
            Q::Ratio { of, to, .. } | Q::Difference { of, to, .. } => vec![of, to],
            Q::Share { whole, without, base, .. } => vec![whole, without, base],
            Q::Frequency { among, .. } => vec![among],
        }
    }

    /// The treatments of a design whose trials this quantity needs, among those given.
    pub fn treatments<'a>(&self, design: &Design, all: &'a [Treatment]) -> Vec<&'a Treatment> {
        use crate::Quantity as Q;
        let wanted: Vec<&Treatment> = match self {
            Q::Frequency { among, .. } => all.iter().filter(|t| t.matches(among)).collect(),
            Q::Exponent { over, at, .. } | Q::Linearity { over, at, .. } => {
                all.iter().filter(|t| varies_over(design, t, over, at)).collect()
            }
            Q::Proportion { over, lower, upper, at, .. } => {
                let ends = [
                    design.complete(&at.with(over, lower)),
                    design.complete(&at.with(over, upper)),
                ];
                all.iter().filter(|t| ends.contains(t)).collect()
            }
            _ => {
                let ends: Vec<_> =
                    self.cells().into_iter().map(|cell| design.complete(cell)).collect();
                all.iter().filter(|t| ends.contains(t)).collect()
            }
        };
        match design.response(self.response()).and_then(|r| r.subtract.as_ref()) {
            None => wanted,
            Some(control) => all
                .iter()
                .filter(|t| wanted.contains(t) || wanted.iter().any(|w| w.with(control) == **t))
                .collect(),
        }
    }
}

fn varies_over(design: &Design, treatment: &Treatment, over: &str, at: &Cell) -> bool {
    let level = treatment.level(over).unwrap_or_default();
    *treatment == design.complete(&at.with(over, level))
}

impl Treatment {
    /// This treatment with the factors of a cell moved to the cell's levels.
    #[must_use]
    pub fn with(&self, cell: &Cell) -> Treatment {
        let mut moved = self.clone();
        let levels = cell.0.iter().map(|(factor, level)| (factor.clone(), level.clone()));
        moved.levels_mut().extend(levels);
        moved
    }
}

#[cfg(test)]
mod tests;
