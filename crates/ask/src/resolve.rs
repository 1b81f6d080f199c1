//! What whole texts mean in a design, and how their names are looked up in it.

use crate::parse::{Cursor, LevelName, Name};
use crate::{Error, Terms, region, units};
use model::{Cell, Design, Factor, Quantity, Region, Response, Term};
use std::ops::Range;

/// Returns the quantity that a text means in a design.
///
/// # Errors
/// What is wrong, with its place in the text and what would be right.
pub fn quantity(text: &str, design: &Design) -> Result<Quantity, Error> {
    let mut cursor = Cursor { text, at: 0 };
    let quantity = cursor.quantity(design)?;
    cursor.end()?;
    Ok(quantity)
}

/// Returns the quantity of a condition and the region that it asks for, ends included.
///
/// # Errors
/// What is wrong, with its place in the text and what would be right.
pub fn condition(text: &str, design: &Design) -> Result<(Quantity, Region), Error> {
    let mut cursor = Cursor { text, at: 0 };
    let first = cursor.rest().chars().next();
    let low = match first {
        Some(c) if c.is_ascii_digit() || c == '-' => {
            let Some(length) = cursor.rest().find("<=") else {
                return cursor.error("expected a quantity, or NUMBER <= QUANTITY <= NUMBER");
            };
            let span = cursor.at..cursor.at + length;
            cursor.at = span.end + 2;
            Some(span)
        }
        _ => None,
    };
    let quantity = cursor.quantity(design)?;
    let terms = Terms::of(&quantity, design);
    cursor.rest();
    let rest = cursor.at..text.len();
    let Some(low) = low else {
        let found = region(&text[rest.clone()], &terms);
        return Ok((quantity, found.map_err(|what| Error { at: rest.start, what })?));
    };
    if !cursor.takes("<=") {
        return cursor.error("expected <= NUMBER");
    }
    let end = cursor.at..text.len();
    let (low, high) = (number(text, low, &terms)?, number(text, end.clone(), &terms)?);
    if low > high {
        let what = "the upper end lies below the lower one".to_string();
        return Err(Error { at: end.start, what });
    }
    Ok((quantity, Region { low, high }))
}

fn number(text: &str, span: Range<usize>, terms: &Terms) -> Result<Option<f64>, Error> {
    let one = region(&format!("= {}", &text[span.clone()]), terms);
    one.map(|region| region.low).map_err(|what| Error { at: span.start, what })
}

/// Returns the term of an account: a number, a response, or a difference of two.
///
/// # Errors
/// What is wrong, with its place in the text and what would be right.
pub fn term(text: &str, design: &Design) -> Result<Term, Error> {
    if let Some(value) = units::multiple(text) {
        return Ok(Term::Known { value });
    }
    Ok(match quantity(text, design)? {
        Quantity::Value { response, at } => Term::Measured { response, at },
        Quantity::Difference { response, of, to } => Term::Difference { response, of, to },
        _ => {
            let what = "an account consists of numbers, responses and differences".to_string();
            return Err(Error { at: 0, what });
        }
    })
}

/// Returns the cell that a list of levels means, such as `fork, touched=64`.
///
/// # Errors
/// What is wrong, with its place in the text and what would be right.
pub fn cell(text: &str, design: &Design) -> Result<Cell, Error> {
    of_levels(&Cursor { text, at: 0 }.all_levels()?, design)
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
