//! Looks the names of an expression up in a design.

use crate::parse::{Cursor, Expression, Item, LevelName, Name, Shape, parse};
use crate::{Error, Terms, hint, region, units};
use model::{Cell, Design, Factor, Quantity, Region, Response, Term};
use std::ops::Range;

/// Returns the quantity that a text means in a design.
///
/// # Errors
/// What is wrong, with its place in the text and what would be right.
pub fn quantity(text: &str, design: &Design) -> Result<Quantity, Error> {
    parse(text)?.quantity(design)
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
    let quantity = cursor.expression()?.quantity(design)?;
    let terms = Terms::of(&quantity, design);
    cursor.rest();
    let rest = cursor.at..text.len();
    let Some(low) = low else {
        let found = region(&text[rest.clone()], &terms);
        return Ok((quantity, found.map_err(|what| Error { span: rest, what })?));
    };
    if !cursor.takes("<=") {
        return cursor.error("expected <= NUMBER");
    }
    let end = cursor.at..text.len();
    let (low, high) = (number(text, low, &terms)?, number(text, end.clone(), &terms)?);
    if low > high {
        let what = "the upper end lies below the lower one".to_string();
        return Err(Error { span: end, what });
    }
    Ok((quantity, Region { low, high }))
}

fn number(text: &str, span: Range<usize>, terms: &Terms) -> Result<Option<f64>, Error> {
    let one = region(&format!("= {}", &text[span.clone()]), terms);
    one.map(|region| region.low).map_err(|what| Error { span, what })
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
            return Err(Error { span: 0..text.len(), what });
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

impl Expression {
    /// Returns the quantity that the expression means in a design.
    ///
    /// # Errors
    /// A name that the design does not know, or a shape that has no interval.
    pub fn quantity(&self, design: &Design) -> Result<Quantity, Error> {
        let items = self.items();
        let first = items[0];
        self::response(&first.response, design)?;
        if let Some(other) = items.iter().find(|it| it.response.text != first.response.text) {
            let what = format!(
                "a quantity is formed of one response; this one begins with {}",
                first.response.text
            );
            return Err(Error { span: other.response.span.clone(), what });
        }
        let response = first.response.text.clone();
        let at = |item: &Item| of_levels(&item.levels, design);
        Ok(match &self.shape {
            Shape::Value(item) => Quantity::Value { response, at: at(item)? },
            Shape::Ratio(of, to) => Quantity::Ratio { response, of: at(of)?, to: at(to)? },
            Shape::Difference(of, to) => {
                Quantity::Difference { response, of: at(of)?, to: at(to)? }
            }
            Shape::Growth(item, over) => {
                Quantity::Exponent { response, over: axis(over, design)?, at: at(item)? }
            }
            Shape::Linearity(item, over) => {
                Quantity::Linearity { response, over: axis(over, design)?, at: at(item)? }
            }
            Shape::Proportion { item, over, lower, upper } => {
                let factor = factor(over, design)?;
                Quantity::Proportion {
                    response,
                    over: axis(over, design)?,
                    lower: level(factor, lower)?,
                    upper: level(factor, upper)?,
                    at: at(item)?,
                }
            }
            Shape::Share(items) => {
                let [whole, without, again, base] = items.as_ref();
                if at(whole)? != at(again)? {
                    let what = "both gaps of a share begin at the same treatment: share(A - B of \
                                A - C)";
                    return Err(Error { span: again.span.clone(), what: what.into() });
                }
                let (whole, without, base) = (at(whole)?, at(without)?, at(base)?);
                Quantity::Share { response, whole, without, base }
            }
            Shape::Rate(item) => Quantity::Frequency { response, among: at(item)? },
        })
    }
}

/// Returns the response of that name.
pub(crate) fn response<'d>(name: &Name, design: &'d Design) -> Result<&'d Response, Error> {
    design.response(&name.text).ok_or_else(|| {
        let known = design.responses.iter().map(|response| response.name.as_str());
        let what =
            format!("{} has no response {:?}; {}", design.id, name.text, hint(&name.text, known));
        Error { span: name.span.clone(), what }
    })
}

fn of_levels(levels: &[LevelName], design: &Design) -> Result<Cell, Error> {
    let mut cell = Cell::default();
    for named in levels {
        let (factor, level) = located(named, design)?;
        if cell.0.insert(factor.clone(), level).is_some() {
            let what = format!("two levels of {factor}");
            return Err(Error { span: named.level.span.clone(), what });
        }
    }
    Ok(cell)
}

/// Returns the names of a level's factor and of the level.
pub(crate) fn located(named: &LevelName, design: &Design) -> Result<(String, String), Error> {
    let (factor, level) = match &named.factor {
        Some(name) => {
            let factor = factor(name, design)?;
            (factor, level(factor, &named.level)?)
        }
        None => (only_factor(&named.level, design)?, named.level.text.clone()),
    };
    Ok((factor.name.clone(), level))
}

pub(crate) fn factor<'d>(name: &Name, design: &'d Design) -> Result<&'d Factor, Error> {
    design.factor(&name.text).ok_or_else(|| {
        let known = design.factors.iter().map(|factor| factor.name.as_str());
        let what =
            format!("{} has no factor {:?}; {}", design.id, name.text, hint(&name.text, known));
        Error { span: name.span.clone(), what }
    })
}

/// Returns the name of a factor whose levels are numbers.
pub(crate) fn axis(name: &Name, design: &Design) -> Result<String, Error> {
    let factor = factor(name, design)?;
    if factor.levels.iter().any(|level| level.value.is_some()) {
        return Ok(factor.name.clone());
    }
    let what = format!("the levels of {} are no numbers", factor.name);
    Err(Error { span: name.span.clone(), what })
}

fn level(factor: &Factor, name: &Name) -> Result<String, Error> {
    if factor.level(&name.text).is_some() {
        return Ok(name.text.clone());
    }
    let known = factor.levels.iter().map(|level| level.name.as_str());
    let what = format!("{} has no level {:?}; {}", factor.name, name.text, hint(&name.text, known));
    Err(Error { span: name.span.clone(), what })
}

/// Returns the one factor that has a level of that name.
fn only_factor<'d>(name: &Name, design: &'d Design) -> Result<&'d Factor, Error> {
    let having: Vec<&Factor> =
        design.factors.iter().filter(|factor| factor.level(&name.text).is_some()).collect();
    let what = match having.as_slice() {
        [one] => return Ok(one),
        [] => {
            let all = design.factors.iter().flat_map(|factor| &factor.levels);
            let known = all.map(|level| level.name.as_str());
            format!("{} has no level {:?}; {}", design.id, name.text, hint(&name.text, known))
        }
        several => {
            let forms: Vec<String> =
                several.iter().map(|factor| format!("{}={}", factor.name, name.text)).collect();
            format!("{:?} is a level of several factors; write {}", name.text, forms.join(" or "))
        }
    };
    Err(Error { span: name.span.clone(), what })
}
