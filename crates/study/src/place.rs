use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// Where something stands in a file; both are counted from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Place {
    /// The place of a byte of a text.
    pub(crate) fn of(text: &str, byte: usize) -> Place {
        let before: Vec<char> =
            text.char_indices().take_while(|(at, _)| *at < byte).map(|(_, c)| c).collect();
        let column = before.iter().rev().take_while(|c| **c != '\n').count() + 1;
        Place { line: before.iter().filter(|c| **c == '\n').count() + 1, column }
    }
}

/// What is read of a study file.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a study file is not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{}:{}: {key}{}{what}", .place.line, .place.column, if .key.is_empty() { "" } else { ": " })]
pub struct Error {
    /// What the file is called.
    pub file: String,
    /// Where it is wrong; its beginning if it is as a whole.
    pub place: Place,
    /// The key it is about, as `claims[2].ratio`; empty if there is none.
    pub key: String,
    /// What is wrong, and what would be right.
    pub what: String,
}

/// A file's name and text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'s> {
    pub(crate) file: &'s str,
    pub(crate) text: &'s str,
}

impl<'s> Source<'s> {
    /// Parses the text as TOML.
    pub(crate) fn parse(&self) -> Result<DeValue<'s>> {
        let parsed = DeTable::parse(self.text).map_err(|error| {
            let what = format!("no valid TOML: {}", error.message().trim().replace('\n', ", "));
            self.error(&error.span().unwrap_or(0..0), "", what)
        })?;
        Ok(DeValue::Table(parsed.into_inner()))
    }

    pub(crate) fn error(&self, span: &Range<usize>, key: &str, what: impl Into<String>) -> Error {
        Error {
            file: self.file.into(),
            place: Place::of(self.text, span.start),
            key: key.into(),
            what: what.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_counted_from_one() {
        let place = |byte| Place::of("ab\né = 1\n", byte);
        assert_eq!(place(0), Place { line: 1, column: 1 });
        assert_eq!(place(2), Place { line: 1, column: 3 });
        assert_eq!(place(3), Place { line: 2, column: 1 });
        // The second character of its line, the third byte.
        assert_eq!(place(5), Place { line: 2, column: 2 });
        assert_eq!(place(99), Place { line: 3, column: 1 });
    }
}
