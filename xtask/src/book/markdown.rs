//! What of Markdown the book needs: the links of a page, its headings, and its blocks of commands.
//!
//! This is no parser of Markdown. It knows fenced blocks, code between back-quotes and links of
//! the form `[text](target)`, which is all that the project's documents use.

use std::ops::Range;

/// A link, or a picture, in a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The whole of it, from its `[` (or `!`) to behind its `)`.
    pub(crate) whole: Range<usize>,
    /// The words between the brackets.
    pub(crate) text: Range<usize>,
    /// What stands between the parentheses.
    pub(crate) target: Range<usize>,
    /// Whether it shows a picture.
    pub(crate) picture: bool,
}

/// A block between fences.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fenced<'a> {
    /// From the opening fence to behind the closing one.
    whole: Range<usize>,
    /// What stands behind the opening fence, such as `sh`.
    kind: &'a str,
    text: &'a str,
}

/// The links outside fenced blocks and code, in their order.
pub(crate) fn links(page: &str) -> Vec<Link> {
    let code = code_ranges(page);
    let inside = |at: usize| code.iter().any(|range| range.contains(&at));
    let mut found = Vec::new();
    for (middle, _) in page.match_indices("](").filter(|(at, _)| !inside(*at)) {
        let Some(length) = page[middle + 2..].find(')') else { continue };
        let target = middle + 2..middle + 2 + length;
        if page[target.clone()].contains('\n') {
            continue;
        }
        let Some(open) = opening(page, middle, &inside) else { continue };
        let picture = page[..open].ends_with('!');
        let begin = open - usize::from(picture);
        found.push(Link { whole: begin..target.end + 1, text: open + 1..middle, target, picture });
    }
    found
}

/// The bracket that belongs to the closing one at `close`.
fn opening(page: &str, close: usize, inside: &dyn Fn(usize) -> bool) -> Option<usize> {
    let mut depth = 1_u32;
    for (at, character) in page[..close].char_indices().rev().filter(|(at, _)| !inside(*at)) {
        match character {
            ']' => depth += 1,
            '[' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Where code stands: in fenced blocks and between back-quotes.
fn code_ranges(page: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = fenced(page).into_iter().map(|block| block.whole).collect();
    let mut spans = Vec::new();
    let mut begin = 0;
    for end in ranges.iter().map(|range| range.start).chain([page.len()]) {
        if begin < end {
            // A span does not go beyond its paragraph.
            let mut at = begin;
            for paragraph in page[begin..end].split_inclusive("\n\n") {
                spans.extend(spans_of(paragraph, at));
                at += paragraph.len();
            }
        }
        begin = ranges.iter().find(|range| range.start == end).map_or(end, |range| range.end);
    }
    ranges.extend(spans);
    ranges
}

/// The code spans of one paragraph, which begins at `offset`. A span ends at as many back-quotes
/// as it begins with.
fn spans_of(paragraph: &str, offset: usize) -> Vec<Range<usize>> {
    let runs: Vec<Range<usize>> = runs_of_quotes(paragraph);
    let mut spans = Vec::new();
    let mut next = 0;
    while let Some(run) = runs.get(next) {
        let close = runs[next + 1..].iter().position(|other| other.len() == run.len());
        match close {
            Some(distance) => {
                let end = &runs[next + 1 + distance];
                spans.push(offset + run.start..offset + end.end);
                next += distance + 2;
            }
            None => next += 1,
        }
    }
    spans
}

fn runs_of_quotes(text: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.match_indices('`') {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

fn fenced(page: &str) -> Vec<Fenced<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, &str, usize)> = None;
    let mut at = 0;
    for line in page.split_inclusive('\n') {
        let content = line.trim();
        match open {
            None if content.starts_with("```") => {
                open = Some((at, content.trim_start_matches('`').trim(), at + line.len()));
            }
            Some((start, kind, inner)) if content == "```" => {
                blocks.push(Fenced { whole: start..at + line.len(), kind, text: &page[inner..at] });
                open = None;
            }
            _ => {}
        }
        at += line.len();
    }
    blocks
}

/// The lines of the blocks that are marked as `sh`: what a reader is to type.
pub(crate) fn commands(page: &str) -> impl Iterator<Item = &str> {
    fenced(page).into_iter().filter(|block| block.kind == "sh").flat_map(|block| block.text.lines())
}

/// The names by which links reach the headings of a page, as mdBook and the sites that show
/// repositories make them.
pub(crate) fn anchors(page: &str) -> Vec<String> {
    let blocks = fenced(page);
    let mut names: Vec<String> = Vec::new();
    let mut at = 0;
    for line in page.split_inclusive('\n') {
        let inside = blocks.iter().any(|block| block.whole.contains(&at));
        at += line.len();
        let words = line.trim_start_matches('#');
        let level = line.len() - words.len();
        if inside || level == 0 || level > 6 || !words.starts_with(' ') {
            continue;
        }
        let name = anchor(words.trim());
        let before = names.iter().filter(|known| {
            **known == name || known.strip_prefix(&format!("{name}-")).is_some_and(is_number)
        });
        let name = match before.count() {
            0 => name,
            times => format!("{name}-{times}"),
        };
        names.push(name);
    }
    names
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

/// The name of one heading: its words in small letters, joined by hyphens, without marks.
fn anchor(heading: &str) -> String {
    let mut words = heading.to_string();
    for link in links(heading).into_iter().rev() {
        words.replace_range(link.whole, &heading[link.text]);
    }
    let mut name = String::new();
    for character in words.chars() {
        match character {
            ' ' => name.push('-'),
            '-' | '_' => name.push(character),
            _ if character.is_alphanumeric() => name.extend(character.to_lowercase()),
            _ => {}
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::{anchors, commands, links};

    fn targets(page: &str) -> Vec<&str> {
        links(page).into_iter().map(|link| &page[link.target]).collect()
    }

    #[test]
    fn links_are_found_outside_code_only() {
        let page = "[a](x.md) and `[no](y.md)`\n\n```sh\n[no](z.md)\n```\n\n![p\nq](p.png) [`c`](d.rs)\n\
            ``a ` [no](n.md)`` a [list [of] things](l.md), `open\n\n[b](after.md)";
        assert_eq!(targets(page), ["x.md", "p.png", "d.rs", "l.md", "after.md"]);
        let found = links(page);
        assert_eq!(&page[found[0].whole.clone()], "[a](x.md)");
        assert_eq!(&page[found[1].whole.clone()], "![p\nq](p.png)");
        assert!(found[1].picture && !found[0].picture);
        assert_eq!(&page[found[2].text.clone()], "`c`");
        assert_eq!(&page[found[3].text.clone()], "list [of] things");
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
        let lines: Vec<&str> = commands(page).collect();
        assert_eq!(lines, ["cargo xtask book", "# why"]);
    }
}
