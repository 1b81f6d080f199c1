//! What holds the documents together that become the book.

use super::{Fault, Tree};
use crate::book::{markdown, shelf};
use clap::Parser;

/// Every document in docs/ is a page of the book, and its summary names no page twice.
pub(super) fn pages(tree: &Tree) -> Vec<Fault> {
    let Some(summary) = tree.file(shelf::SUMMARY) else {
        return vec![Fault { place: shelf::SUMMARY.into(), what: "it is not there".into() }];
    };
    let shelf = shelf::Shelf::of(&summary.text);
    let mut faults = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.starts_with("docs/")) {
        let document = file.path.ends_with(".md") && file.path != shelf::SUMMARY;
        if document && !shelf.pages().contains(&file.path) {
            faults.push(file.fault(format!("no reader finds it: {} names it not", shelf::SUMMARY)));
        }
    }
    let entries = markdown::links(&summary.text).len();
    if entries != shelf.pages().len() {
        faults.push(summary.fault("a page stands there twice, or a link is no page"));
    }
    for page in shelf.pages().iter().filter(|page| tree.file(page).is_none()) {
        faults.push(summary.fault(format!("{page} is not there")));
    }
    faults
}

/// Every link to a part of a document names a heading that is there.
pub(super) fn parts(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.ends_with(".md")) {
        for link in markdown::links(&file.text) {
            let target = &file.text[link.target.clone()];
            let Some((path, fragment)) = target.split_once('#') else { continue };
            let document = match path {
                "" => Some(file),
                _ => shelf::resolve(&file.path, path).and_then(|path| tree.file(&path)),
            };
            // A file that is not there is another rule's matter.
            let Some(document) = document.filter(|it| it.path.ends_with(".md")) else { continue };
            if !markdown::anchors(&document.text).iter().any(|name| name == fragment) {
                let index = file.text[..link.whole.start].matches('\n').count();
                let path = &document.path;
                faults.push(file.fault_at(index, format!("{path} has no heading #{fragment}")));
            }
        }
    }
    faults
}

/// Every chore that a document tells people to type is one.
pub(super) fn chores(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.ends_with(".md")) {
        for line in markdown::commands(&file.text) {
            let line = line.split('#').next().unwrap_or("").trim();
            let Some(words) = line.strip_prefix("cargo xtask ") else { continue };
            let words = ["cargo xtask"].into_iter().chain(words.split_whitespace());
            if let Err(why) = crate::Asked::try_parse_from(words) {
                let why = why.to_string();
                faults.push(file.fault(format!("{line}: {}", why.lines().next().unwrap_or(""))));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::super::tests::{places, tree};
    use super::{chores, pages, parts};

    #[test]
    fn a_page_that_nobody_finds_is_a_fault() {
        let summary = "[a](a.md) [g](../glossary.md) [b](gone.md)";
        let faults = pages(&tree([
            ("docs/book/SUMMARY.md", summary),
            ("docs/book/a.md", ""),
            ("docs/glossary.md", ""),
            ("docs/notes/forgotten.md", ""),
            ("docs/summary.schema.json", ""),
            ("crates/x/README.md", ""),
        ]));
        assert_eq!(places(&faults), ["docs/notes/forgotten.md", "docs/book/SUMMARY.md"]);
        let twice = "[a](a.md) [a](a.md)";
        let faults = pages(&tree([("docs/book/SUMMARY.md", twice), ("docs/book/a.md", "")]));
        assert_eq!(places(&faults), ["docs/book/SUMMARY.md"]);
        assert_eq!(pages(&tree([])).len(), 1);
    }

    #[test]
    fn a_link_to_a_heading_that_is_not_there_is_a_fault() {
        let text = "# Top\n[a](b.md#one) [b](b.md#two)\n[c](#top) [d](#gone)\n[e](x.rs#L3)\n";
        let faults = parts(&tree([("a.md", text), ("b.md", "## One\n"), ("x.rs", "")]));
        assert_eq!(places(&faults), ["a.md:2", "a.md:3"]);
    }

    #[test]
    fn a_chore_that_is_none_is_a_fault() {
        let text = "```sh\ncargo xtask tidy  # reads\ncargo xtask tidies\ncargo run\n```\n\
            ```text\ncargo xtask nothing\n```\n";
        let faults = chores(&tree([("README.md", text)]));
        let said: Vec<&str> = faults.iter().map(|fault| fault.what.as_str()).collect();
        assert_eq!(said, ["cargo xtask tidies: error: unrecognized subcommand 'tidies'"]);
    }
}
