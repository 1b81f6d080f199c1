//! The commands that the documents show, each with its place.

use crate::markdown;
use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};
use std::fmt;

/// How a command begins where scruple is built first, and how it begins on the path.
const BUILT: (&str, &str) = ("cargo run --release -- ", "scruple ");

/// Kinds of blocks in which people look for what to type. Lines of the last two begin with `$ `.
const BLOCKS: [&str; 4] = ["sh", "console", "text", ""];

/// A command that a document shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Documented {
    /// The document, from the root.
    pub(super) path: String,
    /// The line on which the command begins, from 1.
    pub(super) line: usize,
    /// The command in one line, as `scruple …`, without comment.
    pub(super) command: String,
    /// If true, it stands in a block of commands; if false, in running text.
    pub(super) fenced: bool,
}

impl fmt::Display for Documented {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}", self.path, self.line, self.command)
    }
}

/// Returns the commands of scruple in a page, in their order.
pub(super) fn commands(path: &str, page: &str) -> Vec<Documented> {
    let mut found = Vec::new();
    let mut block: Option<String> = None;
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (event, range) in markdown::events(page) {
        let line = || page[..range.start].matches('\n').count() + 1;
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(kind))) => {
                block = BLOCKS.contains(&&*kind).then(|| kind.to_string());
            }
            Event::End(TagEnd::CodeBlock) => {
                let typed = typed(block.take().as_deref(), std::mem::take(&mut lines));
                found.extend(typed.into_iter().map(|(line, text)| (line, text, true)));
            }
            Event::Text(text) if block.is_some() => {
                let numbered = text.lines().zip(line()..);
                lines.extend(numbered.map(|(text, line)| (line, text.to_string())));
            }
            Event::Code(text) => found.push((line(), text.replace('\n', " "), false)),
            _ => {}
        }
    }
    let commands = found.into_iter().filter_map(|(line, text, fenced)| {
        let command = plain(&text)?;
        Some(Documented { path: path.into(), line, command, fenced })
    });
    commands.collect()
}

/// Returns the lines of a block that a reader types, with those that go on joined.
fn typed(kind: Option<&str>, lines: Vec<(usize, String)>) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (line, text) in lines {
        let (text, more) = match text.strip_suffix('\\') {
            Some(text) => (text.to_string(), true),
            None => (text, false),
        };
        if let Some((_, whole)) = found.last_mut().filter(|_| goes_on) {
            whole.push_str(&format!(" {}", text.trim()));
        } else if let Some(text) = match text.strip_prefix("$ ") {
            Some(text) => Some(text.to_string()),
            None => (kind == Some("sh")).then_some(text),
        } {
            found.push((line, text));
        } else {
            continue;
        }
        goes_on = more;
    }
    found
}

/// Returns a line as one command of scruple with single spaces outside quotes, if it is one.
fn plain(text: &str) -> Option<String> {
    let text = text.trim();
    let text = match text.strip_prefix(BUILT.0) {
        Some(rest) => format!("{}{rest}", BUILT.1),
        None => text.to_string(),
    };
    if !text.starts_with(BUILT.1) {
        return None;
    }
    let mut command = String::new();
    let mut quote: Option<char> = None;
    for c in text.chars() {
        let after_space = command.ends_with(' ');
        match (quote, c) {
            (None, '#') if after_space => break,
            (None, ' ') if after_space => continue,
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
        command.push(c);
    }
    Some(command.trim_end().to_string())
}

#[cfg(test)]
mod tests {
    use super::commands;

    #[test]
    fn commands_are_found_in_blocks_and_in_text() {
        let page = "Type `cargo run --release -- list`, or `scruple\nrun`; `cargo test` is none.\n\n\
            ```sh\nscruple compare a b \\\n  --fail-if 'x  # > 1'   # as a gate\nls\n```\n\n\
            ```console\n$ scruple doctor\nscruple says hello\n```\n\n```rust\nscruple x\n```\n\n\
            | `scruple list` |\n|---|\n| `scruple export [DIR\\|FILE]` |\n";
        let found: Vec<(usize, String, bool)> =
            commands("a.md", page).into_iter().map(|it| (it.line, it.command, it.fenced)).collect();
        let expected = [
            (1, "scruple list", false),
            (1, "scruple run", false),
            (5, "scruple compare a b --fail-if 'x  # > 1'", true),
            (11, "scruple doctor", true),
            (19, "scruple list", false),
            (21, "scruple export [DIR|FILE]", false),
        ];
        assert_eq!(found, expected.map(|(line, text, fenced)| (line, text.to_string(), fenced)));
    }
}
