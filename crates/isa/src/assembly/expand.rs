//! Lines with other text in the place of words.

use super::lex::{is_part, quoted_bytes};
use super::lines::Line;
use super::{Mistake, Place, pseudo};
use std::collections::BTreeSet;

/// A macro, in the form of the GNU assembler (`\x`, `.endm`) or of RARS (`%x`, `.end_macro`).
#[derive(Debug)]
pub(super) struct Macro {
    pub(super) name: String,
    parameters: Vec<Parameter>,
    body: Vec<Line>,
    /// Its labels, which get another name each time.
    labels: BTreeSet<String>,
    is_local: bool,
}

#[derive(Debug, PartialEq)]
struct Parameter {
    name: String,
    /// What it is without an argument; none where there must be one.
    usual: Option<String>,
    /// Whether it takes all that is left.
    takes_rest: bool,
}

impl Macro {
    /// Reads the line behind `.macro`.
    pub(super) fn new(header: &str, body: &[Line], is_local: bool) -> Option<Self> {
        let (name, rest) = word(header);
        let parameters = rest.trim().trim_start_matches(['(', ',']).trim_end_matches(')');
        let parameters: Vec<Parameter> = arguments(parameters, usize::MAX)
            .iter()
            .filter(|text| !text.is_empty())
            .map(|text| {
                let (text, usual) = match text.split_once('=') {
                    Some((text, usual)) => (text, Some(usual)),
                    None => (text.as_str(), None),
                };
                let (name, kind) = text.split_once(':').unwrap_or((text, ""));
                // The GNU assembler takes arguments as empty that are not given.
                let usual = usual.or((!is_local && kind != "req").then_some(""));
                let usual = usual.map(|usual| usual.trim().to_owned());
                Parameter { name: name.trim().into(), usual, takes_rest: kind == "vararg" }
            })
            .collect();
        let labels = body.iter().filter_map(|line| label(&line.text)).map(|(name, _)| name);
        let labels =
            labels.filter(|name| is_local && !name.starts_with(|c: char| c.is_ascii_digit()));
        Some(Self {
            name: Some(name).filter(|name| !name.is_empty())?.into(),
            labels: labels.map(str::to_owned).collect(),
            parameters,
            body: body.to_vec(),
            is_local,
        })
    }

    /// Reports whether another has the same name and as many parameters.
    pub(super) fn is_same(&self, other: &Macro) -> bool {
        self.name == other.name && self.parameters.len() == other.parameters.len()
    }

    /// Returns the arguments of a call.
    pub(super) fn arguments(&self, text: &str) -> Vec<String> {
        let text = text.trim();
        let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        let text = inner.filter(|_| self.is_local).unwrap_or(text);
        let rest = self.parameters.last().is_some_and(|last| last.takes_rest);
        if rest {
            let mut all = arguments(text, 0);
            let own = self.parameters.len() - 1;
            if all.len() > own {
                let last = all.split_off(own).join(", ");
                all.push(last);
            }
            return all;
        }
        let all = arguments(text, self.parameters.len());
        if all == [""] { Vec::new() } else { all }
    }

    /// Reports whether it takes that number of arguments.
    pub(super) fn takes(&self, count: usize) -> bool {
        let needed = self.parameters.iter().rposition(|one| one.usual.is_none());
        (needed.map_or(0, |last| last + 1)..=self.parameters.len()).contains(&count)
    }

    /// Returns how it is used.
    pub(super) fn usage(&self) -> String {
        let names: Vec<&str> = self.parameters.iter().map(|one| one.name.as_str()).collect();
        if names.is_empty() { "no arguments".into() } else { names.join(", ") }
    }

    /// Returns its lines with the arguments of a call; none if they are too few or too many.
    /// Those of `.altmacro` also have `LOCAL` names, and parameters without a mark.
    pub(super) fn expanded(
        &self,
        call: &str,
        number: usize,
        place: Place,
        is_alternate: bool,
    ) -> Option<Vec<Line>> {
        let mut given: Vec<Option<String>> = vec![None; self.parameters.len()];
        let mut next = 0;
        for argument in self.arguments(call) {
            let named = argument.split_once('=').and_then(|(name, value)| {
                let name = name.trim();
                let at = self.parameters.iter().position(|one| one.name == name)?;
                Some((at, value.trim().to_owned()))
            });
            let (at, value) = named.unwrap_or((next, argument));
            *given.get_mut(at)? = Some(value).filter(|value| !value.is_empty());
            next = at + 1;
        }
        let pairs = self.parameters.iter().zip(given);
        let pairs =
            pairs.map(|(one, value)| Some((one.name.clone(), value.or(one.usual.clone())?)));
        let pairs: Vec<(String, String)> = pairs.collect::<Option<_>>()?;
        let locals = |line: &Line| {
            let (first, names) = word(&line.text);
            let is_local = is_alternate && first.eq_ignore_ascii_case("local");
            is_local.then(|| arguments(names, usize::MAX))
        };
        let mut labels = self.labels.clone();
        labels.extend(self.body.iter().filter_map(locals).flatten());
        let body = self.body.iter().filter(|line| locals(line).is_none());
        let lines = body.flat_map(|line| {
            let text = with_arguments(&line.text, &pairs, number, is_alternate);
            let own = |word: &str| labels.contains(word).then(|| format!("{word}_M{number}"));
            let text = if labels.is_empty() { text } else { replaced(&text, &own) };
            statements(&text).into_iter().map(move |text| Line { text, place })
        });
        Some(lines.collect())
    }
}

/// Directives whose arguments are strings, by how they begin.
const STRINGS: [&str; 6] = [".asc", ".str", ".inc", ".imp", ".sec", ".err"];

/// Puts arguments in the place of parameters: of `\x`, of what begins with `%` or `$`, and of bare names. The quotes
/// around an argument stay where a string may stand.
pub(super) fn with_arguments(
    text: &str,
    pairs: &[(String, String)],
    number: usize,
    are_bare: bool,
) -> String {
    let marked = |word: &str| {
        let marked = are_bare || word.starts_with(['%', '$']);
        pairs.iter().find(|(name, _)| marked && name == word).map(|(_, value)| value.clone())
    };
    let statement = label(text).map_or(text, |(_, end)| &text[end..]);
    let first = word(statement).0.to_ascii_lowercase();
    let takes_strings = STRINGS.iter().any(|start| first.starts_with(start))
        || !(first.starts_with('.') || pseudo::usage(&first).is_some());
    let text = replaced(text, &marked);
    let mut rest = text.as_str();
    let mut all = String::new();
    let mut is_quoted = false;
    while let Some(at) = rest.find('\\') {
        is_quoted ^= rest[..at].matches('"').count() % 2 == 1;
        all.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        // The longest parameter that is a beginning is meant nowhere: names are whole.
        let found = pairs.iter().find(|(name, _)| *name == rest[..end] && end > 0);
        if let Some(after) = rest.strip_prefix('@') {
            all.push_str(&number.to_string());
            rest = after;
        } else if let Some(after) = rest.strip_prefix("()") {
            rest = after;
        } else if let Some((_, value)) = found {
            // A string in a string has its quotes already.
            all.push_str(if is_quoted || !takes_strings { value.trim_matches('"') } else { value });
            rest = &rest[end..];
        } else {
            all.push('\\');
            // What is escaped is no quote.
            let next = rest.chars().next().map_or(0, char::len_utf8);
            all.push_str(&rest[..next]);
            rest = &rest[next..];
        }
    }
    all + rest
}

/// Puts other text in the place of words, which may begin with a `%`; strings stay.
pub(super) fn replaced(text: &str, other: &dyn Fn(&str) -> Option<String>) -> String {
    let mut all = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let word_end = |from: usize| {
            let inner = &rest[from..];
            from + inner.find(|c: char| !is_part(c)).unwrap_or(inner.len())
        };
        let bytes = match c {
            '"' | '\'' => quoted_bytes(rest),
            '%' => word_end(1),
            '\\' => word_end(1).max(1),
            _ if is_part(c) => word_end(0),
            _ => c.len_utf8(),
        };
        match other(&rest[..bytes]) {
            Some(text) => all.push_str(&text),
            None => all.push_str(&rest[..bytes]),
        }
        rest = &rest[bytes..];
    }
    all
}

/// Returns the first word of a line and what follows it.
pub(super) fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_at(text.find(|c: char| !is_part(c)).unwrap_or(text.len()))
}

/// Returns the label that a line begins with, and where what follows it begins.
pub(super) fn label(text: &str) -> Option<(&str, usize)> {
    let (name, rest) = word(text);
    let behind = rest.trim_start().strip_prefix(':').filter(|_| !name.is_empty())?;
    Some((name, text.len() - behind.len()))
}

/// Splits arguments at commas, and at spaces where there are fewer than wanted.
pub(super) fn arguments(text: &str, wanted: usize) -> Vec<String> {
    let by_comma = split(text, |c| c == ',');
    if by_comma.len() >= wanted {
        return by_comma;
    }
    by_comma.iter().flat_map(|part| split(part, char::is_whitespace)).collect()
}

/// Splits the text that words and macros of C became into statements.
pub(super) fn statements(text: &str) -> Vec<String> {
    if text.contains(';') { split(text, |c| c == ';') } else { vec![text.to_owned()] }
}

/// Splits a text outside of strings and parentheses.
fn split(text: &str, is_end: impl Fn(char) -> bool) -> Vec<String> {
    let (mut all, mut depth, mut from, mut at) = (Vec::new(), 0, 0, 0);
    let text = text.trim();
    while let Some(c) = text[at..].chars().next() {
        match c {
            '"' | '\'' => {
                at += quoted_bytes(&text[at..]);
                continue;
            }
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 && is_end(c) => {
                all.push(text[from..at].trim().to_owned());
                from = at + c.len_utf8();
            }
            _ => {}
        }
        at += c.len_utf8();
    }
    all.push(text[from..].trim().to_owned());
    let by_space = is_end(' ');
    all.retain(|part| !by_space || !part.is_empty());
    all
}

/// Returns a text with constants in the place of `#define NAME VALUE`, which Venus also reads; notes the first
/// macro that only the preprocessor of C has.
pub(super) fn with_constants(text: &str, file: u32, notes: &mut Vec<Mistake>) -> String {
    let mut others = None;
    let mut constant = |(at, line): (usize, &str)| {
        let defined = line.trim_start().strip_prefix("#define ").map(word);
        let (name, rest) = defined.unwrap_or_default();
        let value = rest.split("//").next().unwrap_or_default().trim();
        if rest.starts_with('(') && rest.contains(')') {
            others.get_or_insert(at as u32 + 1);
        }
        match (name, value) {
            ("", _) => line.to_owned(),
            _ if rest.starts_with('(') => line.to_owned(),
            (_, "") => String::new(),
            _ => format!(".eqv {name}, {value}"),
        }
    };
    let all: Vec<String> = text.split('\n').enumerate().map(&mut constant).collect();
    if let Some(line) = others {
        let place = Place { file, line, column: 1 };
        let what = "files whose names end in .S have macros of C; name this one so".into();
        notes.push(Mistake { place, what });
    }
    all.join("\n")
}
