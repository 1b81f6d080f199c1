//! From text to the shape of an expression; names are not looked up yet.

use crate::Error;
use std::ops::Range;

/// The forms that an expression can have, for errors.
const FORMS: &str = "expected RESPONSE[LEVELS], or two of them with / or - between, or growth(… \
                     over FACTOR), linearity(…), proportion(…), share(…) or rate(…)";

/// Characters that end a name which is not in quotation marks.
const ENDS: [char; 7] = [',', '=', '[', ']', '(', ')', '"'];

/// A word of the expression with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
}

/// A level, with its factor where that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LevelName {
    pub(crate) factor: Option<Name>,
    pub(crate) level: Name,
}

/// A response at some levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) experiment: Option<Name>,
    pub(crate) response: Name,
    pub(crate) levels: Vec<LevelName>,
    pub(crate) span: Range<usize>,
}

/// What is formed of the items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Value(Item),
    Ratio(Item, Item),
    Difference(Item, Item),
    Growth(Item, Name),
    Linearity(Item, Name),
    Proportion {
        item: Item,
        over: Name,
        lower: Name,
        upper: Name,
    },
    /// The whole, without the cause, the whole again, the base.
    Share(Box<[Item; 4]>),
    Rate(Item),
}

/// An expression whose names were not looked up yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    pub(crate) shape: Shape,
}

impl Expression {
    pub(crate) fn items(&self) -> Vec<&Item> {
        match &self.shape {
            Shape::Value(item)
            | Shape::Growth(item, _)
            | Shape::Linearity(item, _)
            | Shape::Proportion { item, .. }
            | Shape::Rate(item) => vec![item],
            Shape::Ratio(a, b) | Shape::Difference(a, b) => vec![a, b],
            Shape::Share(items) => items.iter().collect(),
        }
    }

    /// Returns the experiment that the expression names.
    ///
    /// # Errors
    /// Two experiments are named: a quantity is formed block by block within one.
    pub fn experiment(&self) -> Result<Option<&str>, Error> {
        let mut named = self.items().into_iter().filter_map(|item| item.experiment.as_ref());
        let Some(first) = named.next() else {
            return Ok(None);
        };
        match named.find(|other| other.text != first.text) {
            None => Ok(Some(&first.text)),
            Some(other) => Err(Error {
                span: other.span.clone(),
                what: format!(
                    "a quantity is formed within one experiment, not of {} and {}",
                    first.text, other.text
                ),
            }),
        }
    }
}

/// Parses an expression such as `create.whole_ns[fork] / create.whole_ns[pthread]`.
///
/// # Errors
/// What is wrong, with its place.
pub fn parse(text: &str) -> Result<Expression, Error> {
    let mut cursor = Cursor { text, at: 0 };
    let expression = cursor.expression()?;
    cursor.end()?;
    Ok(expression)
}

/// A place in the text.
pub(crate) struct Cursor<'t> {
    pub(crate) text: &'t str,
    pub(crate) at: usize,
}

impl Cursor<'_> {
    pub(crate) fn rest(&mut self) -> &str {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        &self.text[self.at..]
    }

    pub(crate) fn error<T>(&self, what: impl Into<String>) -> Result<T, Error> {
        let end = self.text[self.at..].chars().next().map_or(self.at, |c| self.at + c.len_utf8());
        Err(Error { span: self.at..end, what: what.into() })
    }

    /// Steps over a sign, if it comes next.
    pub(crate) fn takes(&mut self, sign: &str) -> bool {
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len();
        }
        found
    }

    fn wants(&mut self, sign: &str) -> Result<(), Error> {
        if self.takes(sign) { Ok(()) } else { self.error(format!("expected {sign}")) }
    }

    /// Steps over a word, if it comes next.
    pub(crate) fn takes_word(&mut self, word: &str) -> bool {
        let begun = self.at;
        let found = self.word().is_ok_and(|found| found.text == word);
        if !found {
            self.at = begun;
        }
        found
    }

    fn wants_word(&mut self, word: &str) -> Result<(), Error> {
        let found = self.word()?;
        if found.text == word {
            return Ok(());
        }
        Err(Error { what: format!("expected {word}, not {:?}", found.text), span: found.span })
    }

    pub(crate) fn end(&mut self) -> Result<(), Error> {
        if self.rest().is_empty() {
            Ok(())
        } else {
            self.error(format!("unexpected text; {FORMS}"))
        }
    }

    /// Parses an expression and stays behind it.
    pub(crate) fn expression(&mut self) -> Result<Expression, Error> {
        let begun = self.at;
        let rest = self.rest();
        let word = &rest[..rest.find(|c| !is_identifier(c)).unwrap_or(rest.len())];
        if rest[word.len()..].trim_start().starts_with('(') {
            let word = self.word()?;
            self.wants("(")?;
            let shape = self.call(&word)?;
            self.wants(")")?;
            return Ok(Expression { shape });
        }
        if word.is_empty() {
            self.at = begun;
            self.rest();
            return self.error(FORMS);
        }
        let first = self.item()?;
        let shape = if self.takes("/") {
            Shape::Ratio(first, self.item()?)
        } else if self.takes("-") || self.takes("−") {
            Shape::Difference(first, self.item()?)
        } else {
            Shape::Value(first)
        };
        Ok(Expression { shape })
    }

    fn call(&mut self, function: &Name) -> Result<Shape, Error> {
        let known = ["growth", "linearity", "proportion", "share", "rate"];
        if !known.contains(&function.text.as_str()) {
            let what = format!(
                "no function {:?}; {}",
                function.text,
                crate::hint(&function.text, known.into_iter())
            );
            return Err(Error { span: function.span.clone(), what });
        }
        let item = self.item()?;
        Ok(match function.text.as_str() {
            "growth" => Shape::Growth(item, self.over()?),
            "linearity" => Shape::Linearity(item, self.over()?),
            "proportion" => {
                let over = self.over()?;
                self.wants(",")?;
                let lower = self.word()?;
                self.wants_word("to")?;
                Shape::Proportion { item, over, lower, upper: self.word()? }
            }
            "share" => {
                self.wants("-")?;
                let without = self.item()?;
                self.wants_word("of")?;
                let again = self.item()?;
                self.wants("-")?;
                Shape::Share(Box::new([item, without, again, self.item()?]))
            }
            _ => Shape::Rate(item),
        })
    }

    fn over(&mut self) -> Result<Name, Error> {
        self.wants_word("over")?;
        self.word()
    }

    pub(crate) fn item(&mut self) -> Result<Item, Error> {
        self.rest();
        let begun = self.at;
        let mut response = self.identifier()?;
        let mut experiment = None;
        if self.text[self.at..].starts_with('.') && !self.text[self.at..].starts_with("..") {
            self.at += 1;
            experiment = Some(response);
            response = self.identifier()?;
        }
        let levels = if self.takes("[") { self.levels()? } else { Vec::new() };
        Ok(Item { experiment, response, levels, span: begun..self.at })
    }

    fn identifier(&mut self) -> Result<Name, Error> {
        self.until(|c| !is_identifier(c), "expected the name of a response")
    }

    /// Parses up to a character that ends a name, or to the end of the text.
    fn until(&mut self, ends: impl Fn(char) -> bool, expected: &str) -> Result<Name, Error> {
        let rest = self.rest();
        let text = rest[..rest.find(ends).unwrap_or(rest.len())].trim_end().to_string();
        if text.is_empty() {
            return self.error(expected);
        }
        let span = self.at..self.at + text.len();
        self.at = span.end;
        Ok(Name { text, span })
    }

    /// Parses levels up to the bracket that closes.
    fn levels(&mut self) -> Result<Vec<LevelName>, Error> {
        let mut levels = Vec::new();
        loop {
            let first = self.name()?;
            let level = if self.takes("=") {
                LevelName { factor: Some(first), level: self.name()? }
            } else {
                LevelName { factor: None, level: first }
            };
            levels.push(level);
            if self.takes("]") {
                return Ok(levels);
            }
            if !self.takes(",") {
                return self.error("expected , or ] after a level");
            }
        }
    }

    /// Parses levels to the end of the text.
    pub(crate) fn all_levels(&mut self) -> Result<Vec<LevelName>, Error> {
        let mut whole = Cursor { text: &format!("{}]", self.text), at: self.at };
        if whole.rest() == "]" {
            return Ok(Vec::new());
        }
        let levels = whole.levels()?;
        self.at = whole.at.min(self.text.len());
        self.end()?;
        Ok(levels)
    }

    /// Parses the name of a level, which may hold spaces.
    fn name(&mut self) -> Result<Name, Error> {
        if self.rest().starts_with('"') {
            return self.quoted();
        }
        let expected = "expected the name of a level, such as fork or touched=64";
        self.until(|c| ENDS.contains(&c), expected)
    }

    /// Parses a name without spaces.
    pub(crate) fn word(&mut self) -> Result<Name, Error> {
        if self.rest().starts_with('"') {
            return self.quoted();
        }
        self.until(|c| c.is_whitespace() || ENDS.contains(&c), "expected a word")
    }

    fn quoted(&mut self) -> Result<Name, Error> {
        let begun = self.at;
        let mut text = String::new();
        let mut letters = self.text[begun + 1..].char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.at = begun + 1 + at + 1;
                    return Ok(Name { text, span: begun..self.at });
                }
                '\\' => text.extend(letters.next().map(|(_, next)| next)),
                other => text.push(other),
            }
        }
        let what = "a quotation mark that opens is never closed".to_string();
        Err(Error { span: begun..self.text.len(), what })
    }
}

fn is_identifier(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Writes a name so that it is parsed as it is.
pub(crate) fn written(name: &str, spaces: bool) -> String {
    let needs = name.is_empty()
        || name.trim() != name
        || name.contains(ENDS)
        || (!spaces && name.contains(char::is_whitespace));
    if needs {
        format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        name.to_string()
    }
}
