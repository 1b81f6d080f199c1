//! What can be counted by single items: closures, constants, public items, formats, options.

use super::pattern;
use crate::tidy::Tree;
use crate::tidy::product::Source;
use regex::Regex;

/// Returns the places of closures that a `let` gives a name.
pub(super) fn closures(sources: &[Source<'_>]) -> Vec<String> {
    let closure = r"\blet\s+(?:mut\s+)?\w+(?:\s*:\s*[^=;]+)?\s*=\s*(?:move\s+)?\|";
    places(sources, &pattern(closure))
}

/// Returns the places of constants, associated ones included.
pub(super) fn constants(sources: &[Source<'_>]) -> Vec<String> {
    places(sources, &pattern(r"(?m)^\s*(?:pub(?:\([^)]*\))?\s+)?const\s+\w+\s*:"))
}

/// Returns the places of items that are `pub` without a scope. Fields are no items, and `pub use` names
/// again what is public elsewhere.
pub(super) fn public_items(sources: &[Source<'_>]) -> Vec<String> {
    let item =
        r"(?m)^\s*pub (?:fn|struct|enum|trait|type|const|static|mod|union|async|unsafe|extern)\b";
    places(sources, &pattern(item))
}

/// Returns the places of constants `…_FORMAT`: each is the version of a JSON document that users read.
pub(super) fn formats(sources: &[Source<'_>]) -> Vec<String> {
    places(sources, &pattern(r"(?m)^\s*pub const \w+_FORMAT\s*:"))
}

fn places(sources: &[Source<'_>], item: &Regex) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        for item in item.find_iter(&source.code) {
            let before = &source.code[..item.end()];
            found.push(source.place(before.matches('\n').count()));
        }
    }
    found
}

/// The options of a command, as docs/commands.md shows them. A test of `lab` writes this document from the
/// declaration of the command line.
const COMMANDS: &str = "docs/commands.md";

/// Returns the lines of the options of all commands; those of every command stand there once.
pub(super) fn options(tree: &Tree) -> Vec<String> {
    let document = tree.file(COMMANDS).map_or("", |document| &document.text);
    let lines = document.lines().enumerate().filter(|(_, line)| line.starts_with("| `-"));
    lines.map(|(index, _)| format!("{COMMANDS}:{}", index + 1)).collect()
}

/// Returns the lines of the options that `scruple run` alone declares.
pub(super) fn options_of_run(tree: &Tree) -> Vec<String> {
    let document = tree.file(COMMANDS).map_or("", |document| &document.text);
    let part = document.lines().enumerate().skip_while(|(_, line)| *line != "## run").skip(1);
    let part = part.take_while(|(_, line)| !line.starts_with("## "));
    let lines = part.filter(|(_, line)| line.starts_with("| `-"));
    lines.map(|(index, _)| format!("{COMMANDS}:{}", index + 1)).collect()
}
