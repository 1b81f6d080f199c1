//! What whole texts mean in a design.

use crate::names::of_levels;
use crate::parse::Cursor;
use crate::{Error, Terms, region, units};
use model::{Cell, Design, Quantity, Region, Term};
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
