//! What holds the documents together that become the book.

use super::{Fault, SourceFile, Tree};
use crate::book::{self, SUMMARY};
use crate::markdown;
use clap::Parser;
use std::path::Path;

/// Every document in docs/ is a page of the book, and its summary names no page twice.
pub(super) fn pages(tree: &Tree) -> Vec<Fault> {
    let Some(summary) = tree.file(SUMMARY) else {
        return vec![Fault { place: SUMMARY.into(), what: "it is not there".into() }];
    };
    let shelf = book::Shelf::of(&summary.text);
    let mut faults = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.starts_with("docs/")) {
        let document = file.path.ends_with(".md") && file.path != SUMMARY;
        if document && !shelf.pages().contains(&file.path) {
            faults.push(file.fault(format!("no reader finds it: {} names it not", SUMMARY)));
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

/// A link of a document to a part of the repository.
struct Target<'a> {
    file: &'a SourceFile,
    /// The line, from 0.
    line: usize,
    /// What the link says before its `#`, and behind it.
    path: String,
    part: String,
    /// The file or folder that it means, from the root; none if that lies outside.
    meant: Option<String>,
}

/// The links of all documents, without those that lead out of the repository.
fn targets(tree: &Tree) -> impl Iterator<Item = Target<'_>> {
    let links = tree
        .documents()
        .flat_map(|file| markdown::links(&file.text).into_iter().map(move |link| (file, link)));
    links.filter(|(_, link)| !book::is_elsewhere(&link.target)).map(|(file, link)| {
        let (path, part) = link.target.split_once('#').unwrap_or((&link.target, ""));
        let meant = match path {
            "" => Some(file.path.clone()),
            _ => book::resolve(&file.path, path),
        };
        Target { file, line: link.line, path: path.into(), part: part.into(), meant }
    })
}

/// Every file that a document links to is there.
pub(super) fn links(tree: &Tree) -> Vec<Fault> {
    let is_there = |target: &Target<'_>| {
        let meant = target.meant.as_ref();
        meant.is_some_and(|path| {
            tree.files.iter().any(|file| Path::new(&file.path).starts_with(path))
        })
    };
    let dead = targets(tree).filter(|target| !is_there(target));
    dead.map(|it| it.file.fault_at(it.line, format!("{} is not there", it.path))).collect()
}

/// Every link to a part of a document names a heading that is there.
pub(super) fn parts(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for target in targets(tree).filter(|target| !target.part.is_empty()) {
        let document = target.meant.as_ref().and_then(|path| tree.file(path));
        // A file that is not there is another rule's matter.
        let Some(document) = document.filter(|it| it.path.ends_with(".md")) else { continue };
        if !markdown::anchors(&document.text).contains(&target.part) {
            let what = format!("{} has no heading #{}", document.path, target.part);
            faults.push(target.file.fault_at(target.line, what));
        }
    }
    faults
}

/// Every chore that a document tells people to type is one.
pub(super) fn chores(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.documents() {
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
    use super::{chores, links, pages, parts};

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
    fn a_link_to_nothing_is_a_fault() {
        let text = "[a](docs/a.md) [b](https://example.org/x) [c](#part) [d](docs)\n\
            [e](docs/gone.md#part) and [f](../outside.md)\n";
        let faults = links(&tree([("README.md", text), ("docs/a.md", "[up](../README.md#x)")]));
        let texts: Vec<&str> = faults.iter().map(|fault| fault.what.as_str()).collect();
        assert_eq!(texts, ["docs/gone.md is not there", "../outside.md is not there"]);
        assert_eq!(places(&faults), ["README.md:2", "README.md:2"]);
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
