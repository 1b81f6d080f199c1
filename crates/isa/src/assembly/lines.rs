//! A text as statements without comments.

use super::expression::Parser;
use super::lex::{self, Reader, Token};
use super::{Mistake, Place, pseudo};
use std::collections::HashSet;

/// A statement as it is written, without comments.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) text: String,
    /// Where it begins.
    pub(super) place: Place,
}

/// Returns the statements of a text. A `;` begins a comment if what follows it reads like prose more often than like
/// statements, or if a line begins with it; otherwise it ends a statement. Notes which it is where both are there.
pub(super) fn lines(
    text: &str,
    file: u32,
    mistakes: &mut Vec<Mistake>,
    notes: &mut Vec<Mistake>,
) -> Vec<Line> {
    let start = Place { file, ..Place::START };
    let mut unheard = Vec::new();
    let (separated, behind) = scan(text, start, false, &mut unheard);
    if behind.is_empty() {
        mistakes.append(&mut unheard);
        return separated;
    }
    let names = separated.iter().filter_map(|line| macro_name(&line.text));
    let macros: HashSet<String> = names.map(str::to_ascii_lowercase).collect();
    let mut begins = false;
    let (mut statements, mut prose) = (Vec::new(), Vec::new());
    for (at, begins_line) in behind {
        begins |= begins_line;
        match separated.get(at).filter(|line| !line.text.trim().is_empty()) {
            Some(line) if begins_line || !is_statement(line, &macros) => prose.push(line.place),
            Some(line) => statements.push(line.place),
            None => {}
        }
    }
    let is_comment = begins || (!prose.is_empty() && prose.len() >= statements.len());
    let (others, is, kind) = match is_comment {
        true => (&statements, "begins a comment", "an instruction"),
        false => (&prose, "separates instructions", "a comment"),
    };
    if let Some(place) = others.first() {
        let what = format!("`;` {is} in this file, but what follows it here reads like {kind}");
        notes.push(Mistake { place: *place, what });
    }
    if is_comment {
        return scan(text, start, true, mistakes).0;
    }
    mistakes.append(&mut unheard);
    separated
}

/// Returns the name that a line gives to a macro.
pub(super) fn macro_name(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let rest = text.get(..6).filter(|word| word.eq_ignore_ascii_case(".macro"));
    rest?;
    let name = text.get(6..)?.trim_start();
    let end = name.find(|c: char| !lex::is_part(c)).unwrap_or(name.len());
    name.get(..end).filter(|name| !name.is_empty())
}

/// Reports whether what stands behind a `;` reads like a statement.
fn is_statement(line: &Line, macros: &HashSet<String>) -> bool {
    let Ok(tokens) = lex::tokens(&line.text, line.place) else { return false };
    let mut parser = Parser::new(&tokens);
    while parser.second() == Some(&Token::Sign(':')) {
        parser.next();
        parser.next();
    }
    let Some(Token::Name(name)) = parser.next() else { return parser.peek().is_none() };
    let name = name.to_ascii_lowercase();
    if name.starts_with('.') || parser.is_sign('=') || macros.contains(&name) {
        return true;
    }
    let is_register =
        matches!(parser.peek(), Some(Token::Name(name)) if super::table::register(name).is_some());
    let goes_on = matches!(parser.second(), None | Some(Token::Sign(',')));
    let Ok(operands) = parser.operands() else { return is_register && goes_on };
    let operands: Vec<_> = operands.into_iter().map(|(operand, _)| operand).collect();
    let fits =
        pseudo::usage(&name).is_some() && pseudo::expand(&name, &operands, &|_| Some(0)).is_some();
    fits || (is_register && goes_on)
}

/// Splits a text, in which a `;` may begin a comment; returns also which statements stand behind a `;`, and whether
/// only spaces were before it.
pub(super) fn scan(
    text: &str,
    start: Place,
    is_comment: bool,
    mistakes: &mut Vec<Mistake>,
) -> (Vec<Line>, Vec<(usize, bool)>) {
    let mut reader = Reader::new(text, start);
    let (mut all, mut behind) = (Vec::new(), Vec::new());
    let mut line = Line { text: String::new(), place: reader.place };
    let mut is_first = true;
    while let Some(c) = reader.peek() {
        match c {
            '\n' | ';' if c == '\n' || !is_comment => {
                reader.next();
                let next = Line { text: String::new(), place: reader.place };
                let before = std::mem::replace(&mut line, next);
                if c == ';' {
                    behind.push((all.len() + 1, is_first && before.text.trim().is_empty()));
                }
                is_first = c == '\n';
                all.push(before);
            }
            '#' | ';' | '/' if c != '/' || reader.rest.starts_with("//") => {
                reader.skip(|c| c != '\n');
            }
            '/' if reader.rest.starts_with("/*") => {
                let place = reader.place;
                let end = reader.rest.get(2..).and_then(|rest| rest.find("*/"));
                if end.is_none() {
                    let what = "the comment that begins here has no end: */".into();
                    mistakes.push(Mistake { place, what });
                }
                let left = end.map_or(0, |end| reader.rest.len() - end - 4);
                while reader.rest.len() > left {
                    // Columns behind a comment stay what they are.
                    line.text.push(' ');
                    if reader.next() == Some('\n') && line.text.trim().is_empty() {
                        line = Line { text: String::new(), place: reader.place };
                    }
                }
            }
            '"' | '\'' => {
                let length = lex::quoted_bytes(reader.rest);
                let left = reader.rest.len() - length;
                while reader.rest.len() > left {
                    line.text.extend(reader.next());
                }
            }
            _ => line.text.extend(reader.next()),
        }
    }
    all.push(line);
    (all, behind)
}
