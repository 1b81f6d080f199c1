//! What stands for other lines: macros, repetitions, conditions, and other files.

use super::expand::{self, Macro};
use super::expression::Parser;
use super::layout::{Source, What};
use super::lex::{self, Token};
use super::lines::{Line, lines, scan};
use super::preprocess::{self, Preprocessor, Read};
use super::{Mistake, Place, Reader, Text, pseudo, table, text};
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

/// How deep macros and files may nest.
const DEPTH_MAX: u32 = 64;

/// The length behind which words of a line are no longer put in place.
const LINE_MAX_BYTES: usize = 1 << 16;

/// The most files that are read.
const FILES_MAX: usize = 256;

/// The most statements that texts may become.
const STATEMENTS_MAX: usize = 4 << 20;

/// Blocks of lines: what opens one, and what closes it.
const BLOCKS: [(&str, &str); 3] =
    [(".macro", ".endm .end_macro"), (".rept .rep .irp .irpc", ".endr"), (CONDITIONS, ".endif")];

const CONDITIONS: &str =
    ".if .ifdef .ifndef .ifnotdef .ifeq .ifne .ifgt .ifge .iflt .ifle .ifb .ifnb .ifc .ifnc";

/// Reports whether a word is one of a list.
fn is_one(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

/// Directives that give a name a value.
const CONSTANTS: [&str; 3] = [".eqv", ".equ", ".set"];

/// Directives in whose lines no word stands for another.
const LITERAL: [&str; 4] = [".ifdef", ".ifndef", ".ifnotdef", ".macro"];

type Outcome = Result<(), Mistake>;

/// Reads texts, and what they stand for, into a source.
pub(super) struct Expander<'a> {
    source: Source,
    read: Reader<'a>,
    files: Vec<String>,
    mistakes: Vec<Mistake>,
    macros: Vec<Macro>,
    constants: &'a [(String, i64)],
    /// What the text before defined for the preprocessor of C.
    preprocessor: Preprocessor,
    /// Texts by the words that they are written for.
    words: HashMap<String, String>,
    /// Labels and constants that are called as a register is, except in upper case.
    shadows: HashSet<String>,
    /// Files that are imported, once each, behind those that import them.
    imported: HashSet<String>,
    queue: VecDeque<Text>,
    /// Macros that were expanded so far.
    expansions: usize,
    statements: usize,
    depth: u32,
    /// Whether macros are those of `.altmacro`.
    is_alternate: bool,
    /// Whether the macro has ended before its last line.
    exits: bool,
    /// Whether the text has ended before its last line.
    ended: bool,
    /// Whether nothing more is read.
    is_stopped: bool,
}

impl<'a> Expander<'a> {
    pub(super) fn new(source: Source, constants: &'a [(String, i64)], read: Reader<'a>) -> Self {
        Self {
            source,
            read,
            files: Vec::new(),
            mistakes: Vec::new(),
            macros: Vec::new(),
            constants,
            preprocessor: Preprocessor::new(constants),
            words: HashMap::new(),
            shadows: HashSet::new(),
            imported: HashSet::new(),
            queue: VecDeque::new(),
            expansions: 0,
            statements: 0,
            depth: 0,
            is_alternate: false,
            exits: false,
            ended: false,
            is_stopped: false,
        }
    }

    /// Reads texts, those that they import, and those of functions that none of them defines; returns also the names
    /// of all files, and the mistakes.
    pub(super) fn read_all(mut self, texts: &[Text]) -> (Source, Vec<String>, Vec<Mistake>) {
        self.queue.extend(texts.iter().cloned());
        self.imported.extend(texts.iter().map(|text| text.name.clone()));
        let mut sought = BTreeSet::new();
        loop {
            while let Some(text) = self.queue.pop_front() {
                (self.source.section, self.ended) = Default::default();
                self.words.clear();
                self.preprocessor = Preprocessor::new(self.constants);
                let lines = self.file(text, None);
                self.block(&lines);
            }
            let missing = self.source.missing().into_iter().cloned();
            let missing: Vec<String> = missing.filter(|name| sought.insert(name.clone())).collect();
            let found = missing.iter().filter_map(|name| (self.read)(name, "").ok());
            self.queue.extend(found.filter(|text| self.imported.insert(text.name.clone())));
            if self.is_stopped || self.queue.is_empty() {
                return (self.source, self.files, self.mistakes);
            }
        }
    }

    /// Returns the statements of a file; their constants and labels are known already.
    fn file(&mut self, text: Text, includer: Option<u32>) -> Vec<Line> {
        let file = self.files.len() as u32;
        self.files.push(text.name.clone());
        self.source.names.add_file(includer);
        let content = text::decoded(&text.bytes);
        if content.contains('\0') {
            let what = "the file is neither an ELF file nor a text".into();
            self.mistakes.push(Mistake { place: Place { file, ..Place::START }, what });
            return Vec::new();
        }
        let is_for_c = text.name.ends_with(".S") || text.name.ends_with(".h");
        let all = match is_for_c {
            true => self.preprocessed(&content, file),
            false => {
                let notes = &mut self.source.notes;
                let content = expand::with_constants(&content, file, notes);
                lines(&content, file, &mut self.mistakes, notes)
            }
        };
        let labels = all.iter().filter_map(|line| expand::label(&line.text).map(|(name, _)| name));
        let constants = all.iter().filter_map(|line| {
            let (word, rest) = expand::word(&line.text);
            CONSTANTS.contains(&word).then(|| expand::word(rest).0)
        });
        let shadows = labels
            .chain(constants)
            .filter(|name| table::register(&name.to_ascii_lowercase()).is_some());
        self.shadows.extend(shadows.map(str::to_owned));
        all
    }

    /// Reads lines, which have their own place.
    fn block(&mut self, lines: &[Line]) {
        let mut at = 0;
        while let Some(line) = lines.get(at).filter(|_| !self.ended && !self.exits) {
            self.statements += 1;
            if self.statements > STATEMENTS_MAX {
                let what = "the macros become more than 4 million statements".into();
                self.stop(Mistake { place: line.place, what });
                return;
            }
            let mut used = 1;
            if let Err(mistake) = self.line(line, &lines[at..], &mut used) {
                self.mistakes.push(mistake);
            }
            at += used;
        }
    }

    /// Notes a mistake behind which nothing is read.
    fn stop(&mut self, mistake: Mistake) {
        if !std::mem::replace(&mut self.is_stopped, true) {
            self.mistakes.push(mistake);
        }
        self.ended = true;
        self.queue.clear();
    }

    /// Reads a line, and the lines of the block that it opens.
    fn line(&mut self, line: &Line, rest: &[Line], used: &mut usize) -> Outcome {
        let first = expand::word(&line.text).0;
        let text = match LITERAL.contains(&first) {
            true => line.text.clone(),
            false => self.replaced(&line.text),
        };
        let place = line.place;
        let mut line = Line { text, place };
        // Labels stand for themselves, whatever follows them.
        while let Some((_, bytes)) = expand::label(&line.text) {
            let behind = line.text.split_off(bytes);
            self.statement(&line)?;
            if behind.trim().is_empty() {
                return Ok(());
            }
            line.place.column += line.text.chars().count() as u32;
            line.text = behind;
        }
        let (word, arguments) = expand::word(&line.text);
        let name = word.to_ascii_lowercase();
        let block = BLOCKS.iter().find(|(opens, _)| is_one(opens, &name));
        if let Some((opens, closes)) = block {
            let body = self::body(rest, opens, closes).ok_or_else(|| Mistake {
                place: line.place,
                what: format!("{name} has no {}", closes.split(' ').next().unwrap_or_default()),
            })?;
            *used = body.len() + 2;
            let end = rest.get(body.len() + 1).map_or("", |line| line.text.as_str());
            return self.opened(&name, arguments, body, end, line.place);
        }
        if let Some(done) = self.directive(&name, arguments, line.place) {
            return done;
        }
        match self.find(word, arguments) {
            Some(found) => self.expand(found, word, arguments, line.place),
            None => self.statement(&line),
        }
    }

    /// Carries out a directive of the expansion itself; `None` of any other word.
    fn directive(
        &mut self,
        name: &str,
        arguments: &str,
        place: Place,
    ) -> Option<Result<(), Mistake>> {
        match name {
            ".include" | ".import" | ".incbin" => return Some(self.other(name, arguments, place)),
            ".end" => self.ended = true,
            ".exitm" => self.exits = self.depth > 0,
            ".error" => {
                let what = arguments.trim().trim_matches('"').into();
                return Some(Err(Mistake { place, what }));
            }
            ".altmacro" | ".noaltmacro" => self.is_alternate = name == ".altmacro",
            ".endm" | ".end_macro" | ".endr" | ".endif" | ".else" | ".elseif" => {
                let what = format!("{name} ends nothing that was begun");
                return Some(Err(Mistake { place, what }));
            }
            name if CONSTANTS.contains(&name) && self.is_word(name, arguments, place) => {
                let (word, value) = expand::word(arguments);
                let value = value.trim_start().trim_start_matches(',').trim();
                self.words.insert(word.into(), value.into());
            }
            _ => return None,
        }
        Some(Ok(()))
    }

    /// Puts what words stand for in their place.
    fn replaced(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for _ in 0..DEPTH_MAX {
            let next = expand::replaced(&text, &|word| self.words.get(word).cloned());
            if next == text || next.len() > LINE_MAX_BYTES {
                break;
            }
            text = next;
        }
        text
    }

    /// Reports whether a name is known to conditions.
    fn is_defined(&self, name: &str, place: Place) -> bool {
        self.source.names.get(name, place).is_some()
            || self.words.contains_key(name)
            || self.macros.iter().any(|one| one.name == name)
    }

    /// Reports whether what is given a value is a text that is no number, such as a register or an instruction.
    fn is_word(&self, directive: &str, arguments: &str, place: Place) -> bool {
        let (_, value) = expand::word(arguments);
        let value = value.trim_start().trim_start_matches(',');
        let Ok(tokens) = lex::tokens(value, place) else { return true };
        let mut parser = Parser::new(&tokens);
        let is_register_or_instruction = matches!(parser.peek(), Some(Token::Name(name))
        if tokens.len() == 1 && {
            let name = name.to_ascii_lowercase();
            table::register(&name).is_some()
                || directive == ".eqv" && pseudo::usage(&name).is_some()
        });
        let is_value = parser.expression(0, 0).is_ok() && parser.peek().is_none();
        !tokens.is_empty() && (is_register_or_instruction || !is_value)
    }

    fn statement(&mut self, line: &Line) -> Outcome {
        let mut tokens = lex::tokens(&line.text, line.place)?;
        for (token, _) in &mut tokens {
            if let Token::Name(name) = token
                && name.starts_with(|c: char| c.is_ascii_uppercase())
                && !self.shadows.contains(name)
                && table::register(&name.to_ascii_lowercase()).is_some()
            {
                name.make_ascii_lowercase();
            }
        }
        self.source.read(&tokens)
    }

    /// Reads a block of lines as what opens it says.
    fn opened(
        &mut self,
        name: &str,
        arguments: &str,
        body: &[Line],
        end: &str,
        place: Place,
    ) -> Outcome {
        match name {
            ".macro" => {
                let is_local = expand::word(end).0.eq_ignore_ascii_case(".end_macro");
                let made = Macro::new(arguments, body, is_local);
                let made =
                    made.ok_or_else(|| Mistake { place, what: "expected .macro NAME".into() })?;
                self.macros.retain(|known| !known.is_same(&made));
                self.macros.push(made);
                Ok(())
            }
            ".rept" | ".rep" => {
                let count = self.known(arguments, place, false)?;
                (0..count).for_each(|_| {
                    if !self.ended {
                        self.block(body)
                    }
                });
                Ok(())
            }
            ".irp" | ".irpc" => {
                let (word, values) = expand::word(arguments);
                let values = values.trim_start().trim_start_matches(',').trim();
                let all = match name {
                    ".irp" => expand::arguments(values, usize::MAX),
                    _ => values.trim_matches('"').chars().map(String::from).collect(),
                };
                for value in all {
                    let pair = [(word.to_owned(), value)];
                    let line = |line: &Line| {
                        let text = expand::with_arguments(&line.text, &pair, 0, false);
                        Line { text, place: line.place }
                    };
                    self.block(&body.iter().map(line).collect::<Vec<_>>());
                }
                Ok(())
            }
            _ => self.condition(name, arguments, body, place),
        }
    }

    /// Reads the lines between `.if`, `.else` and `.endif` that hold.
    fn condition(&mut self, name: &str, arguments: &str, body: &[Line], place: Place) -> Outcome {
        let mut holds = self.holds(name, arguments, place)?;
        let mut done = false;
        let (mut depth, mut from) = (0, 0);
        for (at, line) in body.iter().enumerate() {
            let (word, arguments) = expand::word(&line.text);
            let word = word.to_ascii_lowercase();
            depth += i32::from(is_one(CONDITIONS, &word)) - i32::from(word == ".endif");
            if depth > 0 || !(word == ".else" || word == ".elseif") {
                continue;
            }
            if holds && !done {
                self.block(&body[from..at]);
            }
            done |= holds;
            holds = !done && (word == ".else" || self.holds(".if", arguments, line.place)?);
            from = at + 1;
        }
        if holds && !done {
            self.block(&body[from..]);
        }
        Ok(())
    }

    fn holds(&self, name: &str, arguments: &str, place: Place) -> Result<bool, Mistake> {
        let defined = || self.is_defined(arguments.trim(), place);
        let both = || expand::arguments(arguments, 2);
        let value = || self.known(&self.replaced(arguments), place, false);
        Ok(match name {
            ".ifdef" => defined(),
            ".ifndef" | ".ifnotdef" => !defined(),
            ".ifb" => arguments.trim().is_empty(),
            ".ifnb" => !arguments.trim().is_empty(),
            ".ifc" => both().first() == both().get(1),
            ".ifnc" => both().first() != both().get(1),
            ".ifeq" => value()? == 0,
            ".ifgt" => value()? > 0,
            ".ifge" => value()? >= 0,
            ".iflt" => value()? < 0,
            ".ifle" => value()? <= 0,
            _ => value()? != 0,
        })
    }

    /// Returns the statements that the preprocessor of C makes of a text, and of those that it includes.
    fn preprocessed(&mut self, text: &str, file: u32) -> Vec<Line> {
        let begins = |word: &str| {
            let lines = text.lines().filter_map(|line| line.trim_start().strip_prefix('#'));
            lines.filter(|line| line.trim_start().starts_with(word)).count()
        };
        // Where they are not, they are comments of the assembler.
        let has_conditions = begins("if") == begins("endif") && begins("if") > 0;
        let mut lines = preprocess::logical(text, file, &mut self.mistakes).into_iter();
        let mut all = Vec::new();
        while let Some((line, text)) = lines.next().filter(|_| !self.is_stopped) {
            let place = Place { file, line, column: 1 };
            let read = self.preprocessor.read(&text, has_conditions, &mut lines);
            let read = read.map_err(|what| Mistake { place, what });
            let done = read.and_then(|read| match read {
                Read::Nothing => Ok(()),
                Read::Text(text) => {
                    all.extend(scan(&text, place, false, &mut self.mistakes).0);
                    Ok(())
                }
                Read::Include(name, is_needed) => {
                    match self.include(&name, place) {
                        Ok(lines) => all.extend(lines),
                        // A header of the C library, which may define what is used.
                        Err(mistake) if !is_needed => self.source.notes.push(mistake),
                        Err(mistake) => return Err(mistake),
                    }
                    Ok(())
                }
                Read::Condition(text) => {
                    if self.known(&text, place, true)? != 0 {
                        self.preprocessor.hold();
                    }
                    Ok(())
                }
            });
            self.mistakes.extend(done.err());
        }
        all
    }

    /// Returns the value of a text that depends on no address.
    fn known(&self, text: &str, place: Place, is_c: bool) -> Result<i64, Mistake> {
        let tokens = lex::tokens(text, place)?;
        let mut parser = Parser::new(&tokens);
        parser.is_c = is_c;
        let value = parser.expression(0, 0)?;
        let known = self.source.known(&value).filter(|_| parser.peek().is_none());
        known.ok_or_else(|| Mistake { place, what: format!("{} has no value here", text.trim()) })
    }

    /// Returns the macro that a word and its arguments name.
    fn find(&self, word: &str, arguments: &str) -> Option<usize> {
        let is_called = |one: &Macro| one.name.eq_ignore_ascii_case(word);
        let count = |one: &Macro| one.arguments(arguments).len();
        let fits = |one: &Macro| is_called(one) && one.takes(count(one));
        let all = || self.macros.iter();
        let exact = all().rposition(|one| one.name == word && fits(one));
        exact.or_else(|| all().rposition(fits)).or_else(|| all().rposition(is_called))
    }

    fn expand(&mut self, found: usize, word: &str, arguments: &str, place: Place) -> Outcome {
        let wrong = |what| Err(Mistake { place, what });
        let given = self.evaluated(arguments, place)?;
        let expanded = &self.macros[found];
        let lines = expanded.expanded(&given, self.expansions, place, self.is_alternate);
        let Some(lines) = lines else {
            let usage = self.macros[found].usage();
            return wrong(format!("the macro {word} takes {usage}"));
        };
        if self.depth >= DEPTH_MAX {
            let what = format!("the macro {word} nests more than {DEPTH_MAX} deep");
            self.stop(Mistake { place, what });
            return Ok(());
        }
        self.expansions += 1;
        self.depth += 1;
        self.block(&lines);
        self.exits = false;
        self.depth -= 1;
        Ok(())
    }

    /// Returns the arguments of a macro; after `.altmacro`, `%` has the value of what follows it, and `<>` are quotes.
    fn evaluated(&self, arguments: &str, place: Place) -> Result<String, Mistake> {
        if !self.is_alternate {
            return Ok(arguments.to_owned());
        }
        let value = |text: &String| match text.strip_prefix('%') {
            Some(value) => self.known(value, place, false).map(|value| value.to_string()),
            None if text.starts_with('<') => Ok(text.replace(['<', '>'], "\"")),
            None => Ok(text.clone()),
        };
        let all: Result<Vec<String>, Mistake> =
            expand::arguments(arguments, usize::MAX).iter().map(value).collect();
        all.map(|all| all.join(", "))
    }

    /// Reads a file that is included here, as text or as bytes, or notes one that is imported.
    fn other(&mut self, directive: &str, arguments: &str, place: Place) -> Outcome {
        let parts = expand::arguments(arguments, usize::MAX);
        let name = parts.first().map_or("", |name| name.trim_matches(['"', '<', '>']));
        if directive == ".include" {
            let lines = self.include(name, place)?;
            self.words.extend(self.preprocessor.words());
            self.depth += 1;
            self.block(&lines);
            self.depth -= 1;
            // An end is that of the file alone, unless nothing more is to be read.
            self.ended = self.is_stopped;
            return Ok(());
        }
        let text = self.text(name, place)?;
        if directive == ".incbin" {
            let [skipped, count] = [(1, 0), (2, i64::MAX)].map(|(at, usual)| {
                parts.get(at).map_or(Ok(usual), |text| self.known(text, place, false))
            });
            let bytes = text.bytes.into_iter().skip(skipped? as usize).take(count? as usize);
            self.source.push(What::Bytes(bytes.collect()), place);
            return Ok(());
        }
        if self.imported.insert(text.name.clone()) {
            self.queue.push_back(text);
        }
        Ok(())
    }

    /// Returns the text of a file that another one names.
    fn text(&self, name: &str, place: Place) -> Result<Text, Mistake> {
        let from = self.files.get(place.file as usize).cloned().unwrap_or_default();
        (self.read)(name, &from).map_err(|what| Mistake { place, what })
    }

    /// Returns the statements of a file that is included.
    fn include(&mut self, name: &str, place: Place) -> Result<Vec<Line>, Mistake> {
        let text = self.text(name, place)?;
        if self.depth >= DEPTH_MAX || self.files.len() >= FILES_MAX {
            let what = format!(
                "{name} is included more than {DEPTH_MAX} deep, or {FILES_MAX} files are read"
            );
            self.stop(Mistake { place, what });
            return Ok(Vec::new());
        }
        self.depth += 1;
        let lines = self.file(text, Some(place.file));
        self.depth -= 1;
        Ok(lines)
    }
}

/// Returns the lines between the first, which opens a block, and the one that closes it.
fn body<'l>(lines: &'l [Line], opens: &str, closes: &str) -> Option<&'l [Line]> {
    let mut depth = 0;
    for (at, line) in lines.iter().enumerate() {
        let text =
            expand::label(&line.text).map_or(line.text.as_str(), |(_, end)| &line.text[end..]);
        let word = expand::word(text).0.to_ascii_lowercase();
        if is_one(opens, &word) {
            depth += 1;
        } else if is_one(closes, &word) {
            depth -= 1;
            if depth == 0 {
                return lines.get(1..at);
            }
        }
    }
    None
}
