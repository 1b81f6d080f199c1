//! The preprocessor of C, which reads texts in files `.S`: macros, and lines that are read under a condition.

use super::lex::quoted_bytes;
use super::{Mistake, Place};
use std::collections::HashMap;

/// Names that gcc defines as 1 for `rv32imac` and `ilp32`.
const PREDEFINED: &str = "__riscv __ASSEMBLER__ __ELF__ __riscv_atomic __riscv_compressed __riscv_mul __riscv_div \
    __riscv_muldiv __riscv_float_abi_soft __riscv_cmodel_medlow __riscv_m __riscv_a __riscv_c";

/// The most pieces that a line may become.
const PIECES_MAX: usize = 1 << 18;

/// How deep calls may stand in arguments of others.
const DEPTH_MAX: u32 = 64;

/// The most lines over which the arguments of a macro may go on.
const LINES_MAX: usize = 256;

/// Begins a name that stands in the expansion of its own macro, and stays.
const PAINTED: char = '\u{1}';

/// Where the expansion of a macro ends.
const END: &str = "\u{2}";

#[derive(Default)]
struct Macro {
    /// None for a macro without parentheses.
    parameters: Option<Vec<String>>,
    /// Whether the last parameter takes all arguments that are left.
    takes_rest: bool,
    body: Vec<String>,
}

impl Macro {
    /// Returns the arguments of a call, one for each parameter.
    fn fitted(&self, name: &str, mut given: Vec<Vec<String>>) -> Result<Vec<Vec<String>>, String> {
        let takes = self.parameters.as_ref().map_or(0, Vec::len);
        if self.takes_rest && given.len() + 1 == takes {
            given.push(Vec::new());
        }
        if takes == 0 && given.iter().all(Vec::is_empty) {
            given.clear();
        }
        match given.len() {
            has if has == takes => Ok(given),
            has => Err(format!("the macro {name} takes {takes} arguments, and has {has} here")),
        }
    }
}

/// What a line is for the assembler.
pub(super) enum Read {
    Nothing,
    Text(String),
    /// The name of a file, and whether it must be there.
    Include(String, bool),
    /// A condition, in whose expression all names have values.
    Condition(String),
}

/// Macros by their names, and conditions.
pub(super) struct Preprocessor {
    macros: HashMap<String, Macro>,
    /// Of each condition that is open: whether its lines are read, and whether any branch of it was.
    conditions: Vec<(bool, bool)>,
}

impl Preprocessor {
    /// Knows what gcc defines, and some constants.
    pub(super) fn new(constants: &[(String, i64)]) -> Self {
        let mut new = Self { macros: HashMap::new(), conditions: Vec::new() };
        let ones = PREDEFINED.split_whitespace().map(|name| (name.to_owned(), 1));
        let all = ones.chain([("__riscv_xlen".into(), 32)]).chain(constants.iter().cloned());
        for (name, value) in all {
            let body = vec![value.to_string()];
            new.macros.insert(name, Macro { body, ..Macro::default() });
        }
        new
    }

    /// Reads a line; of `more`, the lines over which the arguments of a macro go on.
    pub(super) fn read(
        &mut self,
        line: &str,
        has_conditions: bool,
        more: &mut impl Iterator<Item = (u32, String)>,
    ) -> Result<Read, String> {
        let is_read = self.conditions.iter().all(|(is_read, _)| *is_read);
        let Some(directive) = line.trim_start().strip_prefix('#') else {
            return if is_read { self.text(line, more).map(Read::Text) } else { Ok(Read::Nothing) };
        };
        let directive = directive.trim_start();
        let (word, rest) = directive.split_at(name_bytes(directive));
        let rest = rest.trim();
        match word {
            "if" | "ifdef" | "ifndef" if has_conditions && !is_read => {
                self.conditions.push((false, true));
            }
            "ifdef" | "ifndef" if has_conditions => {
                let holds = self.macros.contains_key(rest) == (word == "ifdef");
                self.conditions.push((holds, holds));
            }
            "if" if has_conditions => {
                self.conditions.push((false, false));
                return self.condition(rest).map(Read::Condition);
            }
            "elif" | "else" | "endif" if has_conditions => {
                let Some(last) = self.conditions.last_mut() else {
                    return Err(format!("#{word} ends nothing that was begun"));
                };
                match word {
                    "endif" => drop(self.conditions.pop()),
                    "elif" if !last.1 => return self.condition(rest).map(Read::Condition),
                    "else" if !last.1 => *last = (true, true),
                    _ => last.0 = false,
                }
            }
            _ if !is_read => {}
            "define" => self.define(rest)?,
            "undef" => drop(self.macros.remove(rest)),
            "error" if line.contains("#error") => return Err(rest.into()),
            "include" if rest.starts_with(['"', '<']) => {
                let name = rest.trim_matches(['"', '<', '>']).to_owned();
                return Ok(Read::Include(name, rest.starts_with('"')));
            }
            // A comment of the assembler, or what cpp says to a compiler.
            _ => {}
        }
        Ok(Read::Nothing)
    }

    /// Lets the condition that was read last hold.
    pub(super) fn hold(&mut self) {
        if let Some(last) = self.conditions.last_mut() {
            *last = (true, true);
        }
    }

    /// Returns the texts of macros without parentheses, for files that are not those of the preprocessor.
    pub(super) fn words(&self) -> impl Iterator<Item = (String, String)> {
        let plain = self.macros.iter().filter(|(_, one)| one.parameters.is_none());
        plain.map(|(name, one)| (name.clone(), one.body.concat()))
    }

    fn define(&mut self, text: &str) -> Result<(), String> {
        let (name, mut body) = text.split_at(name_bytes(text));
        let mut one = Macro::default();
        if let Some(inner) = body.strip_prefix('(') {
            let end = inner.split_once(')');
            let (list, rest) = end.ok_or_else(|| format!("the parameters of {name} have no )"))?;
            let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
            let mut names: Vec<String> = names.map(str::to_owned).collect();
            if let Some(last) = names.last_mut()
                && let Some(rest) = last.strip_suffix("...").map(str::trim)
            {
                *last = if rest.is_empty() { "__VA_ARGS__".into() } else { rest.to_owned() };
                one.takes_rest = true;
            }
            one.parameters = Some(names);
            body = rest;
        }
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err("expected #define NAME, or #define NAME(PARAMETERS)".into());
        }
        one.body = pieces(body.trim());
        self.macros.insert(name.into(), one);
        Ok(())
    }

    /// Returns a line with what its macros become.
    fn text(
        &self,
        line: &str,
        more: &mut impl Iterator<Item = (u32, String)>,
    ) -> Result<String, String> {
        let mut line = line.to_owned();
        for _ in 0..LINES_MAX {
            if let Some(all) = self.expanded(&pieces(&line), &[], 0)? {
                return Ok(joined(&all));
            }
            let Some((_, next)) = more.next() else { break };
            line = line + " " + &next;
        }
        Err("the arguments of a macro have no )".into())
    }

    /// Returns an expression in which `defined` and all names have values.
    fn condition(&self, text: &str) -> Result<String, String> {
        let all = pieces(text);
        let mut all = all.iter();
        let mut known = Vec::new();
        while let Some(word) = all.next() {
            if word != "defined" {
                known.push(word.clone());
                continue;
            }
            let mut words = all.by_ref().filter(|piece| !is_blank(piece));
            let next = words.next();
            let is_call = next.is_some_and(|next| next == "(");
            let name = if is_call { words.next() } else { next };
            let name = name.ok_or("expected a name behind `defined`")?;
            if is_call && words.next().is_none_or(|next| next != ")") {
                return Err(format!("expected a ) behind {name}"));
            }
            known.push(u8::from(self.macros.contains_key(name)).to_string());
        }
        let all = self.expanded(&known, &[], 0)?.ok_or("the arguments of a macro have no )")?;
        let value = |piece: &String| match piece.chars().next() {
            Some(c) if c.is_ascii_digit() => piece.trim_end_matches(['u', 'U', 'l', 'L']).into(),
            Some(c) if c == PAINTED || is_part(c) => "0".into(),
            _ => piece.clone(),
        };
        Ok(all.iter().map(value).collect())
    }

    /// Returns what some pieces become within the expansions of some macros; none if a call in them has no end.
    fn expanded(
        &self,
        all: &[String],
        within: &[String],
        depth: u32,
    ) -> Result<Option<Vec<String>>, String> {
        // The next piece is the last.
        let mut input: Vec<String> = all.iter().rev().cloned().collect();
        let (mut output, mut active) = (Vec::new(), within.to_vec());
        for _ in 0..PIECES_MAX {
            let Some(piece) = input.pop() else { return Ok(Some(output)) };
            let Some(found) = self.macros.get(&piece) else {
                match piece == END {
                    true => drop(active.pop()),
                    false => output.push(piece),
                }
                continue;
            };
            let takes = found.parameters.as_ref();
            let next = input.iter().rev().find(|piece| *piece != END && !is_blank(piece));
            if active.contains(&piece) {
                output.push(format!("{PAINTED}{piece}"));
            } else if takes.is_some() && next.is_none_or(|next| next != "(") {
                output.push(piece);
            } else {
                let most =
                    takes.map(|names| if found.takes_rest { names.len() } else { usize::MAX });
                let given = match most {
                    Some(most) => arguments(&mut input, &mut active, most),
                    None => Some(Vec::new()),
                };
                let Some(given) = given else { return Ok(None) };
                let given = found.fitted(&piece, given)?;
                let body = self.substituted(&piece, found, &given, &active, depth)?;
                input.push(END.into());
                input.extend(body.into_iter().rev());
                active.push(piece);
            }
        }
        Err("the macros in this line become too much text".into())
    }

    /// Returns the body of a macro with the arguments of a call.
    fn substituted(
        &self,
        name: &str,
        one: &Macro,
        given: &[Vec<String>],
        within: &[String],
        depth: u32,
    ) -> Result<Vec<String>, String> {
        let parameters = one.parameters.as_deref().unwrap_or_default();
        if depth > DEPTH_MAX {
            return Err(format!("the macro {name} nests more than {DEPTH_MAX} deep"));
        }
        let argument = |piece: &String| {
            let at = parameters.iter().position(|parameter| parameter == piece)?;
            given.get(at)
        };
        let (mut all, mut pastes): (Vec<String>, bool) = (Vec::new(), false);
        let mut body = one.body.iter().peekable();
        while let Some(piece) = body.next() {
            if piece == "##" {
                all.truncate(all.iter().rposition(|piece| !is_blank(piece)).map_or(0, |at| at + 1));
                while body.next_if(|piece| is_blank(piece)).is_some() {}
                pastes = true;
                continue;
            }
            let mut ahead = body.clone();
            let next = ahead.find(|piece| !is_blank(piece));
            let text = next.filter(|_| piece == "#").and_then(argument);
            let mut new = match (text, argument(piece)) {
                (Some(text), _) => {
                    body = ahead.clone();
                    vec![quoted(text)]
                }
                // An empty piece, to which others may be pasted.
                (None, Some(text)) if next.is_some_and(|next| next == "##") && text.is_empty() => {
                    vec![String::new()]
                }
                (None, Some(text)) if pastes || next.is_some_and(|next| next == "##") => {
                    text.clone()
                }
                (None, Some(text)) => {
                    self.expanded(text, within, depth + 1)?.unwrap_or_else(|| text.clone())
                }
                (None, None) => vec![piece.clone()],
            };
            let is_argument = argument(piece).is_some();
            if std::mem::take(&mut pastes)
                && let Some(last) = all.pop()
            {
                if last == "," && is_argument {
                    // What gcc does where no argument is left: the comma goes.
                    all.extend((!new.is_empty()).then_some(last));
                } else if new.is_empty() {
                    all.push(last);
                } else {
                    all.extend(pieces(&(last + &new.remove(0))));
                }
            }
            all.append(&mut new);
        }
        Ok(all)
    }
}

/// Takes the arguments of a call, behind the last of which others are one; none if the call has no end.
fn arguments(
    input: &mut Vec<String>,
    active: &mut Vec<String>,
    most: usize,
) -> Option<Vec<Vec<String>>> {
    let (mut all, mut depth) = (vec![Vec::new()], 0);
    loop {
        let piece = input.pop()?;
        match piece.as_str() {
            END => drop(active.pop()),
            "(" if depth == 0 => depth = 1,
            _ if depth == 0 => {}
            ")" if depth == 1 => break,
            "," if depth == 1 && all.len() < most => all.push(Vec::new()),
            _ => {
                depth += i32::from(piece == "(") - i32::from(piece == ")");
                all.last_mut()?.push(piece);
            }
        }
    }
    for argument in &mut all {
        let is_text = |piece: &String| !is_blank(piece);
        argument.truncate(argument.iter().rposition(is_text).map_or(0, |at| at + 1));
        argument.drain(..argument.iter().position(is_text).unwrap_or(0));
    }
    Some(all)
}

/// Returns the lines of a text without comments, with their numbers; a backslash at the end of one joins it with the
/// next.
pub(super) fn logical(text: &str, file: u32, mistakes: &mut Vec<Mistake>) -> Vec<(u32, String)> {
    let (mut all, mut line) = (Vec::new(), String::new());
    let (mut number, mut first) = (1, 1);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let is_directive = line.trim_start().starts_with('#');
        let rest_of_line = || rest.find('\n').unwrap_or(rest.len());
        let mut bytes = c.len_utf8();
        match c {
            '\n' => {
                all.push((first, std::mem::take(&mut line)));
                first = number + 1;
            }
            '\\' if rest[1..rest_of_line()].trim().is_empty() => bytes = rest_of_line() + 1,
            '/' if rest.starts_with("//") => bytes = rest_of_line(),
            '#' if !is_directive && !line.trim().is_empty() => bytes = rest_of_line(),
            '/' if rest.starts_with("/*") => {
                let end = rest.get(2..).and_then(|rest| rest.find("*/"));
                if end.is_none() {
                    let what = "the comment that begins here has no end: */".into();
                    let column = line.chars().count() as u32 + 1;
                    mistakes.push(Mistake { place: Place { file, line: number, column }, what });
                }
                bytes = end.map_or(rest.len(), |end| end + 4);
                line.extend(rest[..bytes].chars().map(|_| ' '));
            }
            '"' | '\'' => {
                bytes = quoted_bytes(rest);
                line.push_str(&rest[..bytes]);
            }
            _ => line.push(c),
        }
        bytes = bytes.min(rest.len());
        number += rest[..bytes].matches('\n').count() as u32;
        rest = &rest[bytes..];
    }
    all.push((first, line));
    all
}

/// Returns the words, strings, spaces and signs of a text.
fn pieces(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let bytes = match c {
            '"' | '\'' => quoted_bytes(rest),
            _ if is_part(c) => name_bytes(rest),
            '#' if rest.starts_with("##") => 2,
            _ => c.len_utf8(),
        };
        all.push(rest[..bytes].replace([PAINTED, '\u{2}'], " "));
        rest = &rest[bytes..];
    }
    all
}

/// Returns what pieces are as a string.
fn quoted(all: &[String]) -> String {
    let text = |piece: &String| match piece.starts_with(['"', '\'']) {
        true => piece.replace('\\', "\\\\").replace('"', "\\\""),
        false => piece.clone(),
    };
    let all: String = all.iter().map(text).collect();
    format!("\"{}\"", all.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn joined(all: &[String]) -> String {
    all.concat().replace(PAINTED, "")
}

fn is_blank(piece: &str) -> bool {
    !piece.is_empty() && piece.trim().is_empty()
}

/// Reports whether a character may be part of a name or a number of C.
fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns how many bytes the name has that a text begins with.
fn name_bytes(text: &str) -> usize {
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}
