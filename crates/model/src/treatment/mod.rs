mod machine;

pub use machine::{FAR, NEAR, OF_MACHINE};

use crate::{Cell, Design, Factor, Figure, Profile, ProgramFile, Quantity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

// A clone shares the levels: a session has a thousand treatments and a hundred thousand trials. (The
// line below is also the description in the schema.)
/// One combination of levels: every factor of the design has one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("experiment {experiment}: {what}")]
pub struct DesignError {
    /// The experiment.
    pub experiment: String,
    /// What is wrong, and what would be right.
    pub what: String,
}

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
            let Some(factor) = self.factor(name) else { continue };
            let with = |treatment: &Treatment| -> Vec<Treatment> {
                let cells = factor.levels_of(profile, wanted);
                cells.map(|level| treatment.with(&Cell::new([(name, &level.name)]))).collect()
            };
            partial = partial.iter().flat_map(with).collect();
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
        self.check_parts().map_err(|what| DesignError { experiment: shown(), what })
    }

    fn check_parts(&self) -> Result<(), String> {
        if self.id.is_empty() || !self.id.chars().all(is_word_character) {
            return Err("its id must be a word of a-z, 0-9 and _".into());
        }
        self.check_size()?;
        self.check_names()?;
        for response in &self.responses {
            let name = &response.name;
            if let Some(suffix) = response.unit.suffix().filter(|suffix| !name.ends_with(suffix)) {
                return Err(format!("response {name} must end in {suffix}"));
            }
            let cells = response.subtract.iter().chain(response.limits.iter().map(|it| &it.at));
            cells.into_iter().try_for_each(|cell| self.check_cell(cell))?;
            let no_response = |twin: &&String| self.response(twin).is_none();
            if let Some(twin) = response.cpu_twin.as_ref().filter(no_response) {
                return Err(format!("{name} names {twin}, which is no response"));
            }
        }
        for (factor, levels) in self.grids.iter().flat_map(|grid| &grid.vary) {
            self.check_level(factor, None)?;
            let named = levels.iter().filter(|level| *level != OF_MACHINE);
            named.into_iter().try_for_each(|level| self.check_level(factor, Some(level)))?;
        }
        self.subject.iter().try_for_each(|subject| subject.check(self))?;
        self.programs.iter().try_for_each(ProgramFile::check)?;
        self.figures.iter().try_for_each(|figure| self.check_figure(figure))?;
        self.check_quantities()
    }

    /// Reports two of one name, which a reader by name could not distinguish, and baselines that are
    /// no levels.
    fn check_names(&self) -> Result<(), String> {
        if let Some(name) = twice(self.factors.iter().map(|factor| &factor.name)) {
            return Err(format!("it has two factors of the name {name}"));
        }
        if let Some(name) = twice(self.responses.iter().map(|response| &response.name)) {
            return Err(format!("it has two responses of the name {name}"));
        }
        for Factor { name, baseline, levels, .. } in &self.factors {
            if !levels.iter().any(|level| level.name == *baseline) {
                return Err(format!("factor {name} has no level {baseline}, its baseline"));
            }
            if twice(levels.iter().map(|level| &level.name)).is_some() {
                return Err(format!("factor {name} has two levels of one name"));
            }
        }
        Ok(())
    }

    /// The quantities that it asks for: of findings, claims and known answers.
    fn quantities(&self) -> impl Iterator<Item = &Quantity> {
        let findings = self.findings.iter().map(|finding| &finding.quantity);
        let claims = self.claims.iter().map(|claim| &claim.quantity);
        findings.chain(claims).chain(self.planted.iter().map(|planted| &planted.quantity))
    }

    fn check_quantities(&self) -> Result<(), String> {
        let named = self
            .quantities()
            .flat_map(|it| it.responses().map(|response| (Some(response), it.cells())));
        let terms = self.accounts.iter().flat_map(crate::Account::terms);
        let used = terms.map(|term| (term.response(), term.cells()));
        let compared =
            self.controls.iter().map(|it| (Some(it.response.as_str()), vec![&it.a, &it.b]));
        let gaps = self.diagnoses.iter().map(|it| {
            let removed = it.suspects.iter().map(|suspect| &suspect.without);
            (Some(it.response.as_str()), removed.chain([&it.whole, &it.base]).collect())
        });
        for (response, cells) in named.chain(used).chain(compared).chain(gaps) {
            if let Some(response) = response.filter(|name| self.response(name).is_none()) {
                return Err(format!("{response} is no response"));
            }
            cells.into_iter().try_for_each(|cell| self.check_cell(cell))?;
        }
        self.quantities().try_for_each(|quantity| self.check_units(quantity))?;
        self.check_axes()
    }

    /// Reports a quotient of two responses that differ in their units, which is no multiple.
    ///
    /// # Errors
    /// Names both units.
    pub fn check_units(&self, quantity: &Quantity) -> Result<(), String> {
        let Quantity::Quotient { response, by, .. } = quantity else { return Ok(()) };
        match (self.response(response), self.response(by)) {
            (Some(above), Some(below)) if above.unit != below.unit => Err(format!(
                "{response} and {by} have different units, so that one is no multiple of the other"
            )),
            _ => Ok(()),
        }
    }

    /// What a quantity follows along an axis must be a factor, and have the levels it names.
    fn check_axes(&self) -> Result<(), String> {
        use Quantity as Q;
        for quantity in self.quantities() {
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

    fn check_figure(&self, Figure { id, plot, .. }: &Figure) -> Result<(), String> {
        let mut shown = plot.responses.iter().chain(&plot.divided_by);
        if let Some(wrong) = shown.find(|name| self.response(name).is_none()) {
            return Err(format!("figure {id} shows {wrong}, which is no response"));
        }
        if let (Some(by), [response]) = (&plot.divided_by, &plot.responses[..]) {
            let (response, by, at) = (response.clone(), by.clone(), Cell::default());
            self.check_units(&Quantity::Quotient { response, by, at })?;
        }
        plot.over.iter().chain(&plot.by).try_for_each(|name| self.check_level(name, None))?;
        plot.at.iter().try_for_each(|(factor, levels)| {
            levels.iter().try_for_each(|level| self.check_level(factor, Some(level)))
        })
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

/// Returns the first name that stands among them a second time.
fn twice<'n>(mut names: impl Iterator<Item = &'n String>) -> Option<&'n String> {
    let mut seen = BTreeSet::new();
    names.find(|name| !seen.insert(*name))
}

/// Whether a word of a-z, 0-9 and `_` may hold a character.
pub(crate) fn is_word_character(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'
}

impl Quantity {
    /// The cells it names.
    pub fn cells(&self) -> Vec<&Cell> {
        use Quantity as Q;
        match self {
            Q::Value { at, .. }
            | Q::Quotient { at, .. }
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
        use Quantity as Q;
        let wanted: Vec<&Treatment> = match self {
            Q::Frequency { among, .. } => all.iter().filter(|t| t.matches(among)).collect(),
            Q::Exponent { over, at, .. } | Q::Linearity { over, at, .. } => {
                all.iter().filter(|t| varies_over(design, t, over, at)).collect()
            }
            Q::Proportion { over, lower, upper, at, .. } => {
                let ends = [lower, upper].map(|level| design.complete(&at.with(over, level)));
                all.iter().filter(|t| ends.contains(t)).collect()
            }
            _ => {
                let ends: Vec<_> =
                    self.cells().into_iter().map(|cell| design.complete(cell)).collect();
                all.iter().filter(|t| ends.contains(t)).collect()
            }
        };
        let controls = self.responses().filter_map(|name| design.response(name)?.subtract.as_ref());
        let controls: Vec<&Cell> = controls.collect();
        if controls.is_empty() {
            return wanted;
        }
        let is_control = |t: &Treatment| {
            controls.iter().any(|control| wanted.iter().any(|w| w.with(control) == *t))
        };
        all.iter().filter(|t| wanted.contains(t) || is_control(t)).collect()
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
