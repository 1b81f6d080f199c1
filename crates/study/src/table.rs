//! A TOML document whose every value knows its key and its place.

use crate::place::{Error, Result, Source};
use ask::meant;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeString, DeValue};

/// A value of the file: of a key, of a list, or the file itself.
#[derive(Clone, Debug)]
pub(crate) struct Value<'s> {
    source: Source<'s>,
    /// Its path from the top; empty at the top.
    pub(crate) key: String,
    /// The key itself, where the value has one.
    pub(crate) name: String,
    name_span: Range<usize>,
    span: Range<usize>,
    value: &'s DeValue<'s>,
}

/// A number, and the text that names it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Number {
    pub(crate) text: String,
    pub(crate) value: f64,
}

impl<'s> Value<'s> {
    /// Returns the table that a whole file is.
    pub(crate) fn top(source: Source<'s>, value: &'s DeValue<'s>) -> Value<'s> {
        let (key, name) = (String::new(), String::new());
        Value { source, key, name, name_span: 0..0, span: 0..0, value }
    }

    fn part(
        &self,
        key: String,
        name: &str,
        name_span: Range<usize>,
        of: &'s Spanned<DeValue<'s>>,
    ) -> Value<'s> {
        let (source, name) = (self.source, name.to_string());
        Value { source, key, name, name_span, span: of.span(), value: of.get_ref() }
    }

    /// Its entries, in the order of the file; none where it is no table.
    pub(crate) fn entries(&self) -> Vec<Value<'s>> {
        let entry = |(name, value): (&Spanned<DeString<'s>>, &'s Spanned<DeValue<'s>>)| {
            let dot = if self.key.is_empty() { "" } else { "." };
            let key = format!("{}{dot}{}", self.key, name.get_ref());
            self.part(key, name.get_ref(), name.span(), value)
        };
        let mut entries: Vec<Value<'s>> = self
            .value
            .as_table()
            .map(|table| table.iter().map(entry).collect())
            .unwrap_or_default();
        entries.sort_by_key(|entry| entry.name_span.start);
        entries
    }

    /// Its entries, if all their keys are among those known, which are words between spaces.
    pub(crate) fn known(&self, keys: &str) -> Result<Vec<Value<'s>>> {
        let entries = self.entries();
        let known = |name: &str| keys.split_whitespace().any(|key| key == name);
        match entries.iter().find(|entry| !known(&entry.name)) {
            None => Ok(entries),
            Some(unknown) => {
                let all: Vec<&str> = keys.split_whitespace().collect();
                let meant = meant(&unknown.name, all.iter().copied());
                Err(unknown.error_at_name(match meant {
                    Some(meant) => format!("no such key; did you mean {meant}?"),
                    None => format!("no such key; there are: {}", all.join(", ")),
                }))
            }
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<Value<'s>> {
        self.entries().into_iter().find(|entry| entry.name == name)
    }

    /// Returns what is read from the value of a key; `None` where it is missing.
    pub(crate) fn read<T>(
        &self,
        name: &str,
        read: impl FnOnce(&Value<'s>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.get(name).as_ref().map(read).transpose()
    }

    /// Returns the value of a key that must be there.
    pub(crate) fn needed(&self, name: &str) -> Result<Value<'s>> {
        self.needed_as(name, "…")
    }

    /// Returns the value of a key that must be there; `like` is what it could be.
    pub(crate) fn needed_as(&self, name: &str, like: &str) -> Result<Value<'s>> {
        self.get(name).ok_or_else(|| self.error(format!("it has no {name}; add {name} = {like}")))
    }

    /// Returns the text of a key that must be there.
    pub(crate) fn text_of(&self, name: &str) -> Result<String> {
        self.needed(name)?.text("a text")
    }

    /// Returns the text of a key that may be missing.
    pub(crate) fn text_or_empty(&self, name: &str) -> Result<String> {
        Ok(self.read(name, |value| value.text("a text"))?.unwrap_or_default())
    }

    /// Returns the entries of a table that may be missing.
    pub(crate) fn entries_of(&self, name: &str) -> Result<Vec<Value<'s>>> {
        let entries =
            |value: &Value<'s>| Ok(value.table("a table with an entry for each")?.entries());
        Ok(self.read(name, entries)?.unwrap_or_default())
    }

    /// Returns an error at the value of a key, or about the whole where the key is missing.
    pub(crate) fn error_at(&self, name: &str, what: String) -> Error {
        if let Some(value) = self.get(name) { value.error(what) } else { self.error(what) }
    }

    /// An error at the value.
    pub(crate) fn error(&self, what: impl Into<String>) -> Error {
        self.source.error(&self.span, &self.key, what)
    }

    /// Returns an error at its place in an expression that begins `offset` bytes into the text.
    pub(crate) fn error_within(&self, offset: usize, error: ask::Error) -> Error {
        let span = self.span.clone();
        let raw = &self.source.text[span.clone()];
        let text = self.value.as_str().unwrap_or_default();
        // Where the text has escapes, the whole value is the place.
        let begins = raw.find(text).filter(|_| !text.is_empty());
        let at = begins.map_or(span.start, |begins| span.start + begins + offset + error.at);
        self.source.error(&(at..span.end), &self.key, error.what)
    }

    /// An error at the key.
    pub(crate) fn error_at_name(&self, what: impl Into<String>) -> Error {
        self.source.error(&self.name_span, &self.key, what)
    }

    fn expected(&self, what: &str) -> Error {
        let found = match self.value {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.error(format!("expected {what}, not {found}"))
    }

    pub(crate) fn is_text(&self) -> bool {
        self.value.is_str()
    }

    pub(crate) fn is_list(&self) -> bool {
        self.value.is_array()
    }

    pub(crate) fn is_table(&self) -> bool {
        self.value.is_table()
    }

    /// A text; `like` is an example of what would be right.
    pub(crate) fn text(&self, like: &str) -> Result<String> {
        let text = self.value.as_str().ok_or_else(|| self.expected(like))?;
        if text.contains('\0') {
            return Err(self.error("it holds a zero byte, which no program can be given"));
        }
        Ok(text.to_string())
    }

    /// One of some texts, as what it means.
    pub(crate) fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T> {
        let names: Vec<String> = choices.iter().map(|(name, _)| format!("{name:?}")).collect();
        let names = names.join(" or ");
        let text = self.text(&names)?;
        let found = choices.iter().find(|(name, _)| *name == text);
        found.map(|(_, meant)| *meant).ok_or_else(|| self.error(format!("expected {names}")))
    }

    /// All texts that are in it, at any depth.
    pub(crate) fn texts(&self) -> Vec<String> {
        fn gather(value: &DeValue<'_>, texts: &mut Vec<String>) {
            match value {
                DeValue::String(text) => texts.push(text.to_string()),
                DeValue::Array(list) => list.iter().for_each(|item| gather(item.get_ref(), texts)),
                DeValue::Table(table) => {
                    table.values().for_each(|value| gather(value.get_ref(), texts));
                }
                _ => {}
            }
        }
        let mut texts = Vec::new();
        gather(self.value, &mut texts);
        texts
    }

    pub(crate) fn truth(&self) -> Result<bool> {
        self.value.as_bool().ok_or_else(|| self.expected("true or false"))
    }

    pub(crate) fn list(&self, like: &str) -> Result<Vec<Value<'s>>> {
        let DeValue::Array(list) = self.value else { return Err(self.expected(like)) };
        let item = |(index, value): (usize, &'s Spanned<DeValue<'s>>)| {
            self.part(format!("{}[{}]", self.key, index + 1), &self.name, value.span(), value)
        };
        Ok(list.iter().enumerate().map(item).collect())
    }

    /// Itself, if it is a table.
    pub(crate) fn table(&self, like: &str) -> Result<&Self> {
        if self.is_table() { Ok(self) } else { Err(self.expected(like)) }
    }

    /// A table whose keys are among those known.
    pub(crate) fn fields(&self, like: &str, keys: &str) -> Result<&Self> {
        self.table(like)?.known(keys)?;
        Ok(self)
    }

    /// A number with the text that names it: without `_`, and in tens.
    pub(crate) fn number(&self, like: &str) -> Result<Number> {
        let beyond = || self.error("it is beyond what a number can be");
        match self.value {
            DeValue::Integer(number) => {
                let value = i64::from_str_radix(number.as_str(), number.radix());
                let value = value.map_err(|_| beyond())?;
                Ok(Number { text: value.to_string(), value: value as f64 })
            }
            DeValue::Float(number) => {
                let text = number.as_str().to_string();
                let value: f64 = text.parse().map_err(|_| beyond())?;
                if value.is_finite() { Ok(Number { text, value }) } else { Err(beyond()) }
            }
            _ => Err(self.expected(like)),
        }
    }

    /// A text, or a number as its text.
    pub(crate) fn word(&self, like: &str) -> Result<String> {
        if self.is_text() { self.text(like) } else { Ok(self.number(like)?.text) }
    }

    /// A list of texts, or of numbers as their texts.
    pub(crate) fn words(&self, like: &str) -> Result<Vec<String>> {
        self.list(like)?.iter().map(|item| item.word("a text")).collect()
    }
}
