//! Cells as the file has them: `{ n = 8, model = "fork" }`.

use crate::factors::{Read, level_of};
use crate::no_such;
use crate::place::Error;
use crate::table::Value;
use model::Cell;

/// The factor of that name.
pub(crate) fn factor<'f, 's>(
    factors: &'f [Read<'s>],
    name: &str,
    wrong: impl FnOnce(String) -> Error,
) -> Result<&'f Read<'s>, Error> {
    factors.iter().find(|read| read.factor.name == name).ok_or_else(|| {
        let known = factors.iter().map(|read| read.factor.name.as_str());
        wrong(match factors.len() {
            0 => format!("{name:?} is no factor; the study has no factor"),
            _ => no_such("factor", name, known),
        })
    })
}

/// The treatment, or the treatments, that a value means.
pub(crate) fn cell(factors: &[Read<'_>], value: &Value<'_>) -> Result<Cell, Error> {
    let table = value.table("levels by factor, such as { n = 8 }")?;
    let mut cell = Cell::default();
    for entry in table.entries() {
        let read = factor(factors, &entry.name, |what| entry.error_at_name(what))?;
        cell = cell.with(&entry.name, &level_of(&read.factor, &entry)?);
    }
    Ok(cell)
}
