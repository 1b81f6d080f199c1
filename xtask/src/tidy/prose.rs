//! Words that nobody who reads plain technical English expects, and the sentences of the product.

use super::lexer::{code_only, literals, prose_only};
use super::product::without_tests;
use super::{Fault, Tree};

/// Words that are not used, with what to write instead. A word that ends with `~` may go on.
const WORDS: [(&str, &str); 10] = [
    ("told", "shown, reported"),
    ("so many", "that number, N"),
    ("likewise", "also"),
    ("reckon~", "compute"),
    ("mend~", "fix"),
    ("but for", "except, without"),
    ("whoever", "a person who"),
    ("gone on with", "resumed"),
    ("dearer", "more expensive"),
    ("dearest", "most expensive"),
];

/// Files that were written before the rule. The list only becomes shorter:
/// `SCRUPLE_UPDATE=1 cargo test -p xtask unconverted` removes the files that pass.
const UNCONVERTED: &str = include_str!("unconverted.txt");

/// No document, comment or literal holds one of [`WORDS`], or ends a clause with ", too".
pub(super) fn plain(tree: &Tree) -> Vec<Fault> {
    let exempt: Vec<&str> = UNCONVERTED.lines().collect();
    let mut faults = unexpected(tree);
    faults.retain(|fault| {
        let path = fault.place.split(':').next().unwrap_or("");
        !exempt.contains(&path)
    });
    faults
}

/// All places of such words, the unconverted files included.
fn unexpected(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in &tree.files {
        let prose = match file.path.rsplit('.').next() {
            // This file holds the list.
            Some("rs") if file.path != "xtask/src/tidy/prose.rs" => prose_only(&file.text),
            Some("md") => file.text.clone(),
            _ => continue,
        };
        for (index, line) in prose.lines().enumerate() {
            let line = line.to_lowercase();
            for (word, instead) in WORDS.iter().filter(|(word, _)| holds(&line, word)) {
                let word = word.trim_end_matches('~');
                faults.push(file.fault_at(index, format!("\"{word}\": write {instead}")));
            }
            if [".", ",", ";"].iter().any(|end| line.contains(&format!(", too{end}"))) {
                faults.push(file.fault_at(index, "\", too\": write also, or nothing"));
            }
        }
    }
    faults
}

/// Reports whether a line holds a word by itself, and not as the name of a variable in braces.
fn holds(line: &str, word: &str) -> bool {
    let stem = word.trim_end_matches('~');
    line.match_indices(stem).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + stem.len()..].chars().next();
        let ends = stem != word || !after.is_some_and(|c| c.is_alphanumeric() || c == '_');
        ends && !before.is_some_and(|c| c.is_alphanumeric() || "_{`".contains(c))
    })
}

/// Returns the string literals of the product that look like sentences (four words or more), each
/// with its place: those of the crates' sources and of the experiments' declarations, without tests.
pub(crate) fn sentences(tree: &Tree) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for file in &tree.files {
        let source = file.path.starts_with("crates/") && file.path.contains("/src/");
        let test =
            ["tests.rs", "testing.rs", "hostile.rs"].iter().any(|end| file.path.ends_with(end));
        if !source || test || file.path.contains("/tests/") {
            continue;
        }
        let code = code_only(&file.text);
        let kept = match file.path.rsplit('.').next() {
            Some("rs") => without_tests(&code),
            Some("toml") => code,
            _ => continue,
        };
        let kept: Vec<&str> = kept.lines().collect();
        for (index, literal) in literals(&file.text) {
            let text =
                literal.replace("\\\n", " ").split_whitespace().collect::<Vec<_>>().join(" ");
            if kept.get(index).is_some_and(|line| !line.trim().is_empty()) && is_sentence(&text) {
                found.push((format!("{}:{}", file.path, index + 1), text));
            }
        }
    }
    found
}

fn is_sentence(text: &str) -> bool {
    let is_word = |word: &&str| {
        let word = word.trim_matches(|c: char| c.is_ascii_punctuation());
        !word.is_empty() && word.chars().all(|c| c.is_alphabetic() || "-'’".contains(c))
    };
    text.split(' ').filter(is_word).count() >= 4
}

#[cfg(test)]
mod tests {
    use super::super::tests::{places, tree};
    use super::{UNCONVERTED, plain, sentences, unexpected};
    use crate::tidy::Tree;
    use std::path::Path;

    #[test]
    fn a_word_that_is_not_used_is_a_fault_in_prose_alone() {
        let rust = "fn told(told: u8) {\n    // It is told.\n    f(\"{told} retold\");\n    f(\"but for it\");\n}\n";
        let document = "It recommends.\nThey mended it, too.\n";
        let faults = plain(&tree([("a.rs", rust), ("a.md", document), ("a.txt", "told")]));
        assert_eq!(places(&faults), ["a.rs:2", "a.rs:4", "a.md:2", "a.md:2"]);
    }

    #[test]
    fn sentences_are_those_of_the_product() {
        let rust = "//! \"a b c d\"\nf(\"too few words\");\nf(\"the {n} of \\\n   two hosts is\");\n\
            #[cfg(test)]\nmod tests {\n    const A: &str = \"one two three four\";\n}\n";
        let toml = "question = \"What does it cost?\"\n";
        let found = sentences(&tree([
            ("crates/a/src/a.rs", rust),
            ("crates/a/src/a.toml", toml),
            ("crates/a/tests/a.rs", "\"one two three four\""),
        ]));
        let found: Vec<String> =
            found.iter().map(|(place, text)| format!("{place}: {text}")).collect();
        assert_eq!(
            found,
            [
                "crates/a/src/a.rs:3: the {n} of two hosts is",
                "crates/a/src/a.toml:1: What does it cost?"
            ]
        );
    }

    #[test]
    fn unconverted_files_are_removed_from_the_list_when_they_pass() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        if std::env::var_os("SCRUPLE_UPDATE").is_none() {
            return;
        }
        let faults = unexpected(&Tree::read(root).unwrap());
        let fails = |path: &&str| faults.iter().any(|it| it.place.starts_with(&format!("{path}:")));
        let kept: String =
            UNCONVERTED.lines().filter(fails).map(|path| format!("{path}\n")).collect();
        std::fs::write(root.join("xtask/src/tidy/unconverted.txt"), kept).unwrap();
    }
}
