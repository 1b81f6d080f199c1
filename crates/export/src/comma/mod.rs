//! The table as CSV (RFC 4180, with a line feed at the end of a line).

use crate::table::{Cell, Table};
use crate::{Choice, Error, Result, Rows, Session};
use std::borrow::Cow;
use std::io::Write;

/// Writes the table as CSV, row by row; returns the number of rows below the header.
///
/// Numbers are written with as many digits as it takes to read the same number back. A cell is
/// empty where there is nothing to tell. Texts are [`guarded`], unless a database is to read them, which
/// takes none of them for a formula.
///
/// # Errors
/// If a name of the choice is not in the session, or if `out` fails.
pub fn write_csv(
    session: &Session<'_>,
    choice: &Choice,
    rows: Rows,
    for_database: bool,
    out: impl Write,
) -> Result<u64> {
    let guard: fn(&str) -> Cow<'_, str> =
        if for_database { |text| Cow::Borrowed(text) } else { guarded };
    let table = Table::new(*session, choice, rows)?;
    let mut writer = csv::Writer::from_writer(out);
    for column in table.columns() {
        writer.write_field(guard(&column.name).as_ref()).map_err(io)?;
    }
    writer.write_record(None::<&[u8]>).map_err(io)?;
    let count = table.each(|row| {
        for cell in row {
            let text = match cell {
                Cell::Empty => Cow::Borrowed(""),
                Cell::Text(text) => guard(text),
                Cell::Integer(number) => Cow::Owned(number.to_string()),
                Cell::Number(number) => Cow::Owned(number.to_string()),
            };
            writer.write_field(text.as_bytes()).map_err(io)?;
        }
        writer.write_record(None::<&[u8]>).map_err(io)
    })?;
    writer.flush()?;
    Ok(count)
}

/// The only way in which writing fields of one length can fail.
fn io(error: csv::Error) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => Error::Io(error),
        other => Error::Io(std::io::Error::other(format!("{other:?}"))),
    }
}

/// Makes a text that no spreadsheet takes for a formula: what begins like one (`=`, `+`, `-`, `@`, their
/// wide forms, a tab, the end of a line; also after blanks) gets an apostrophe before it, as OWASP
/// advises ("CSV Injection"), and so does what begins with an apostrophe, so that every text can be
/// restored.
///
/// Numbers stay as they are: neither the numbers of the table, which never come here, nor a level
/// that is called `-1`. To guard those, as many exporters do, spoils negative numbers for every
/// reader and protects nobody.
fn guarded(text: &str) -> Cow<'_, str> {
    let dangerous = |c: char| {
        matches!(c, '=' | '+' | '-' | '@' | '\'' | '\t' | '\r' | '\n' | '＝' | '＋' | '－' | '＠')
    };
    let begins = text.trim_start_matches(' ').starts_with(dangerous);
    if begins && !is_number(text) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

fn is_number(text: &str) -> bool {
    // Not "-inf", which Rust reads as a number and a spreadsheet as a formula.
    text.chars().all(|c| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E'))
        && text.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests;
