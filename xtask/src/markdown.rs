//! What of Markdown the chores need: the links of a page, its headings, and its blocks of commands.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// Returns the events of a page, each with the bytes that it stands in.
pub(crate) fn events(page: &str) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    Parser::new_ext(page, Options::ENABLE_TABLES).into_offset_iter()
}

/// A link, or a picture, in a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The line it begins on, from 0.
    pub(crate) line: usize,
    /// What stands between the parentheses.
    pub(crate) target: String,
    /// The words between the brackets, without marks.
    pub(crate) text: String,
}

/// Returns the links and pictures of a page, in their order.
pub(crate) fn links(page: &str) -> Vec<Link> {
    let mut found: Vec<Link> = Vec::new();
    let mut open = false;
    for (event, range) in events(page) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                let line = page[..range.start].matches('\n').count();
                found.push(Link { line, target: dest_url.into_string(), text: String::new() });
                open = true;
            }
            Event::End(TagEnd::Link | TagEnd::Image) => open = false,
            event => {
                if let Some(link) = found.last_mut().filter(|_| open) {
                    link.text.push_str(words(&event));
                }
            }
        }
    }
    found
}

/// Returns the words that an event adds to a sentence.
pub(crate) fn words<'a>(event: &'a Event<'_>) -> &'a str {
    match event {
        Event::Text(text) | Event::Code(text) => text,
        Event::SoftBreak | Event::HardBreak => " ",
        _ => "",
    }
}

/// Returns the lines of the blocks that are marked as `sh`: what a reader is to type.
pub(crate) fn commands(page: &str) -> Vec<String> {
    let mut inside = false;
    let mut lines = Vec::new();
    for (event, _) in events(page) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(kind))) => inside = &*kind == "sh",
            Event::End(TagEnd::CodeBlock) => inside = false,
            Event::Text(text) if inside => lines.extend(text.lines().map(String::from)),
            _ => {}
        }
    }
    lines
}

/// Returns the names by which links reach the headings of a page, as the sites that show
/// repositories make them.
pub(crate) fn anchors(page: &str) -> Vec<String> {
    let mut open: Option<String> = None;
    let mut names: Vec<String> = Vec::new();
    for (event, _) in events(page) {
        match (event, &mut open) {
            (Event::Start(Tag::Heading { .. }), _) => open = Some(String::new()),
            (Event::End(TagEnd::Heading(_)), Some(heading)) => {
                let name = anchor(heading);
                let mut others = (1..).map(|times| format!("{name}-{times}"));
                let other = || others.find(|other| !names.contains(other));
                names.push(names.contains(&name).then(other).flatten().unwrap_or(name));
                open = None;
            }
            (event, Some(heading)) => heading.push_str(words(&event)),
            _ => {}
        }
    }
    names
}

/// Returns the name of one heading: its words in small letters, joined by hyphens, without marks.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::{anchors, commands, links};

    #[test]
    fn links_are_found_outside_code_only() {
        let page = "[a](x.md) and `[no](y.md)`\n\n```sh\n[no](z.md)\n```\n\n![p\nq](p.png) [`c`](d.rs)\n\
            ``a ` [no](n.md)`` a [list [of] things](l.md), `open\n\n[b](after.md)";
        let found: Vec<(usize, String, String)> =
            links(page).into_iter().map(|link| (link.line, link.target, link.text)).collect();
        let expected = [
            (0, "x.md", "a"),
            (6, "p.png", "p q"),
            (7, "d.rs", "c"),
            (8, "l.md", "list [of] things"),
            (10, "after.md", "b"),
        ];
        assert_eq!(found, expected.map(|(line, target, text)| (line, target.into(), text.into())));
    }

    #[test]
    fn headings_get_the_names_that_links_use() {
        let page = "# What it *costs*, and `why`\n## memory_limit\n```\n# no\n```\n## A\n## a\n#no\n\
            ## [A link](x.md) in it\n";
        let names = ["what-it-costs-and-why", "memory_limit", "a", "a-1", "a-link-in-it"];
        assert_eq!(anchors(page), names);
    }

    #[test]
    fn only_blocks_of_commands_are_commands() {
        let page = "```sh\ncargo xtask book\n# why\n```\n```text\ncargo xtask no\n```\n";
        assert_eq!(commands(page), ["cargo xtask book", "# why"]);
    }
}
