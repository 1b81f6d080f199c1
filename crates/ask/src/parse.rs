//! From text to a quantity, whose names are looked up in a design on the way.

use crate::Error;
use crate::names::{LevelName, Name, axis, factor, level, of_levels, response};
use model::{Cell, Design, Quantity};

/// The forms that an expression can have, for errors.
const FORMS: &str = "expected RESPONSE[LEVELS], or two of them with / or - between, or growth(… \
                     over FACTOR), linearity(…), proportion(…), share(…) or rate(…)";

/// Characters that end a name which is not in quotation marks.
const ENDS: [char; 7] = [',', '=', '[', ']', '(', ')', '"'];

/// The functions of the language.
const FUNCTIONS: [&str; 5] = ["growth", "linearity", "proportion", "share", "rate"];

/// Returns the experiment that the first item of an expression names.
pub fn experiment(text: &str) -> Option<String> {
    let mut cursor = Cursor { text, at: 0 };
    let mut name = cursor.identifier().ok()?;
    if cursor.takes("(") {
        name = cursor.identifier().ok()?;
    }
    cursor.takes_dot().then_some(name.text)
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
        Err(Error { at: self.at, what: what.into() })
    }

    /// Steps over a sign, if it comes next.
    pub(crate) fn takes(&mut self, sign: &str) -> bool {
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len();
        }
        found
    }

    pub(crate) fn wants(&mut self, sign: &str) -> Result<(), Error> {
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
        Err(found.error(format!("expected {word}, not {:?}", found.text)))
    }

    pub(crate) fn end(&mut self) -> Result<(), Error> {
        if self.rest().is_empty() {
            Ok(())
        } else {
            self.error(format!("unexpected text; {FORMS}"))
        }
    }

    /// Parses the quantity that an expression means in a design, and stays behind it.
    pub(crate) fn quantity(&mut self, design: &Design) -> Result<Quantity, Error> {
        let rest = self.rest();
        let word = &rest[..rest.find(|c| !is_identifier(c)).unwrap_or(rest.len())];
        if rest[word.len()..].trim_start().starts_with('(') {
            let word = self.word()?;
            self.wants("(")?;
            let quantity = self.call(&word, design)?;
            self.wants(")")?;
            return Ok(quantity);
        }
        if word.is_empty() {
            return self.error(FORMS);
        }
        let (response, of) = self.item(design)?;
        if self.takes("/") {
            return self.divided(response, of, design);
        }
        if self.takes("-") || self.takes("−") {
            let to = self.another(&response, design)?;
            return Ok(Quantity::Difference { response, of, to });
        }
        Ok(Quantity::Value { response, at: of })
    }

    /// Parses what an item is divided by: the same response, or another at the same treatment.
    fn divided(&mut self, response: String, of: Cell, design: &Design) -> Result<Quantity, Error> {
        self.rest();
        let at = self.at;
        let (by, to) = self.item(design)?;
        if by == response {
            return Ok(Quantity::Ratio { response, of, to });
        }
        if of != to {
            let what = format!(
                "{response} and {by} are divided within a trial, so both need the same levels"
            );
            return Err(Error { at, what });
        }
        let quantity = Quantity::Quotient { response, by, at: of };
        design.check_units(&quantity).map_err(|what| Error { at, what })?;
        Ok(quantity)
    }

    fn call(&mut self, function: &Name, design: &Design) -> Result<Quantity, Error> {
        if !FUNCTIONS.contains(&function.text.as_str()) {
            let hint = crate::hint(&function.text, FUNCTIONS.into_iter());
            return Err(function.error(format!("no function {:?}; {hint}", function.text)));
        }
        let (response, at) = self.item(design)?;
        Ok(match function.text.as_str() {
            "growth" => Quantity::Exponent { response, over: axis(&self.over()?, design)?, at },
            "linearity" => Quantity::Linearity { response, over: axis(&self.over()?, design)?, at },
            "proportion" => {
                let over = self.over()?;
                let (factor, over) = (factor(&over, design)?, axis(&over, design)?);
                self.wants(",")?;
                let lower = level(factor, &self.word()?)?;
                self.wants_word("to")?;
                let upper = level(factor, &self.word()?)?;
                Quantity::Proportion { response, over, lower, upper, at }
            }
            "share" => {
                self.wants("-")?;
                let without = self.another(&response, design)?;
                self.wants_word("of")?;
                self.rest();
                let place = self.at;
                if self.another(&response, design)? != at {
                    let what = "both gaps of a share begin at the same treatment: share(A - B of \
                                A - C)";
                    return Err(Error { at: place, what: what.into() });
                }
                self.wants("-")?;
                let base = self.another(&response, design)?;
                Quantity::Share { response, whole: at, without, base }
            }
            _ => Quantity::Frequency { response, among: at },
        })
    }

    fn over(&mut self) -> Result<Name, Error> {
        self.wants_word("over")?;
        self.word()
    }

    /// Parses a response at some levels.
    fn item(&mut self, design: &Design) -> Result<(String, Cell), Error> {
        let mut name = self.identifier()?;
        if self.takes_dot() {
            if name.text != design.id {
                return Err(name.error(format!(
                    "{} is not {}: a quantity is formed within one experiment",
                    name.text, design.id
                )));
            }
            name = self.identifier()?;
        }
        let response = response(&name, design)?.name.clone();
        let levels = if self.takes("[") { self.levels()? } else { Vec::new() };
        Ok((response, of_levels(&levels, design)?))
    }

    /// Parses the levels of a further item, which is of the same response as the first.
    fn another(&mut self, first: &str, design: &Design) -> Result<Cell, Error> {
        self.rest();
        let at = self.at;
        let (response, cell) = self.item(design)?;
        if response == first {
            return Ok(cell);
        }
        let what = format!(
            "only a quotient is formed of two responses, A / B; this quantity begins with {first}"
        );
        Err(Error { at, what })
    }

    /// Steps over the dot between an experiment and a response, if it comes next.
    fn takes_dot(&mut self) -> bool {
        let rest = &self.text[self.at..];
        let found = rest.starts_with('.') && !rest.starts_with("..");
        self.at += usize::from(found);
        found
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
        let at = self.at;
        self.at += text.len();
        Ok(Name { text, at })
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
                    return Ok(Name { text, at: begun });
                }
                '\\' => text.extend(letters.next().map(|(_, next)| next)),
                other => text.push(other),
            }
        }
        self.error("a quotation mark that opens is never closed")
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
