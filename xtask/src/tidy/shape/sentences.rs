//! What is counted by words: English below the document, sentences in tests, docs of functions.

use crate::tidy::product::Source;
use crate::tidy::size::function_name;

/// The words from which on a literal is counted.
const WORDS_MIN: usize = 5;

/// The crates whose results are worded by the document.
const BELOW_THE_DOCUMENT: [&str; 4] = ["analysis", "model", "web", "subject"];

/// Returns the places of sentences in the product of the crates below the document. Texts of attributes,
/// such as `#[error("…")]`, are not counted.
pub(super) fn below_the_document(sources: &[Source<'_>]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| BELOW_THE_DOCUMENT.contains(&source.room())) {
        let attributes = attribute_lines(&source.code);
        let sentences = source.literals(true).filter(|(_, text)| is_sentence(text));
        let outside = sentences.filter(|(index, _)| !attributes[*index]);
        found.extend(outside.map(|(index, _)| source.place(index)));
    }
    found
}

/// Returns the places of sentences in tests, benchmarks and fixtures.
pub(super) fn in_tests(sources: &[Source<'_>]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        let sentences = source.literals(false).filter(|(_, text)| is_sentence(text));
        found.extend(sentences.map(|(index, _)| source.place(index)));
    }
    found
}

/// Reports whether a literal has [`WORDS_MIN`] words: pieces between spaces with a letter or a digit. A
/// named placeholder is one.
fn is_sentence(text: &str) -> bool {
    let words = text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric));
    words.count() >= WORDS_MIN
}

/// The documented functions of the product.
pub(super) struct FunctionDocs {
    pub(super) count: usize,
    /// Where docs do not begin with a verb.
    pub(super) without_verb: Vec<String>,
}

/// Returns the documented functions.
pub(super) fn function_docs(sources: &[Source<'_>]) -> FunctionDocs {
    let mut docs = FunctionDocs { count: 0, without_verb: Vec::new() };
    for source in sources {
        let attributes = attribute_lines(&source.code);
        let mut doc = None;
        for (index, (line, code)) in source.product.lines().zip(source.code.lines()).enumerate() {
            if let Some(text) = line.trim().strip_prefix("///") {
                doc = doc.or(Some(text.trim()));
            } else if let Some(text) = doc.filter(|_| function_name(code).is_some()) {
                docs.count += 1;
                if !begins_with_verb(text) {
                    docs.without_verb.push(source.place(index));
                }
                doc = None;
            } else if !attributes[index] && !line.trim().starts_with("//") {
                doc = None;
            }
        }
    }
    docs
}

/// Reports whether the first word is a capital, small letters and an `s`, as in "Returns".
fn begins_with_verb(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or("");
    let small = word.strip_prefix(|c: char| c.is_ascii_uppercase());
    small.is_some_and(|small| small.ends_with('s') && small.chars().all(|c| c.is_ascii_lowercase()))
}

/// Returns for each line of code whether an attribute begins, goes on or ends there.
fn attribute_lines(code: &str) -> Vec<bool> {
    let mut depth = 0_usize;
    let mut lines = Vec::new();
    for line in code.lines() {
        let begins = ["#[", "#!["].iter().any(|start| line.trim_start().starts_with(start));
        let inside = begins || depth > 0;
        if inside {
            let opened = depth + line.matches(['[', '(', '{']).count();
            depth = opened.saturating_sub(line.matches([']', ')', '}']).count());
        }
        lines.push(inside);
    }
    lines
}
