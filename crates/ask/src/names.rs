//! Names in an expression, and what they mean in a design.

use crate::Error;
use model::{Cell, Design, Factor, Response};

/// A word of the expression with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) text: String,
    /// Its first byte in the expression.
    pub(crate) at: usize,
}

impl Name {
    /// Returns an error about the word.
    pub(crate) fn error(&self, what: impl Into<String>) -> Error {
        Error { at: self.at, what: what.into() }
    }

    /// Returns the error for a word that names none of what is known.
    pub(crate) fn unknown<'k>(
        &self,
        whose: &str,
        what: &str,
        known: impl Iterator<Item = &'k str> + Clone,
    ) -> Error {
        let hint = crate::hint(&self.text, known);
        self.error(format!("{whose} has no {what} {:?}; {hint}", self.text))
    }
}

/// A level, with its factor where that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LevelName {
    pub(crate) factor: Option<Name>,
    pub(crate) level: Name,
}

/// Returns the response of that name.
pub(crate) fn response<'d>(name: &Name, design: &'d Design) -> Result<&'d Response, Error> {
    let known = design.responses.iter().map(|response| response.name.as_str());
    design.response(&name.text).ok_or_else(|| name.unknown(&design.id, "response", known))
}

pub(crate) fn of_levels(levels: &[LevelName], design: &Design) -> Result<Cell, Error> {
    let mut cell = Cell::default();
    for named in levels {
        let (factor, level) = located(named, design)?;
        if cell.0.insert(factor.clone(), level).is_some() {
            return Err(named.level.error(format!("two levels of {factor}")));
        }
    }
    Ok(cell)
}

/// Returns the names of a level's factor and of the level.
pub(crate) fn located(named: &LevelName, design: &Design) -> Result<(String, String), Error> {
    let factor = match &named.factor {
        Some(name) => factor(name, design)?,
        None => only_factor(&named.level, design)?,
    };
    Ok((factor.name.clone(), level(factor, &named.level)?))
}

pub(crate) fn factor<'d>(name: &Name, design: &'d Design) -> Result<&'d Factor, Error> {
    let known = design.factors.iter().map(|factor| factor.name.as_str());
    design.factor(&name.text).ok_or_else(|| name.unknown(&design.id, "factor", known))
}

/// Returns the name of a factor whose levels are numbers.
pub(crate) fn axis(name: &Name, design: &Design) -> Result<String, Error> {
    let factor = factor(name, design)?;
    if factor.levels.iter().any(|level| level.value.is_some()) {
        return Ok(factor.name.clone());
    }
    Err(name.error(format!("the levels of {} are no numbers", factor.name)))
}

pub(crate) fn level(factor: &Factor, name: &Name) -> Result<String, Error> {
    let known = factor.levels.iter().map(|level| level.name.as_str());
    let found = factor.level(&name.text).map(|level| level.name.clone());
    found.ok_or_else(|| name.unknown(&factor.name, "level", known))
}

/// Returns the one factor that has a level of that name.
fn only_factor<'d>(name: &Name, design: &'d Design) -> Result<&'d Factor, Error> {
    let having: Vec<&Factor> =
        design.factors.iter().filter(|factor| factor.level(&name.text).is_some()).collect();
    match having.as_slice() {
        [one] => Ok(one),
        [] => {
            let all = design.factors.iter().flat_map(|factor| &factor.levels);
            Err(name.unknown(&design.id, "level", all.map(|level| level.name.as_str())))
        }
        several => {
            let forms: Vec<String> =
                several.iter().map(|factor| format!("{}={}", factor.name, name.text)).collect();
            let forms = forms.join(" or ");
            Err(name.error(format!("{:?} is a level of several factors; write {forms}", name.text)))
        }
    }
}
