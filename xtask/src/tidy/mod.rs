//! Rules that are read off the sources, as an ordinary test.
//!
//! They hold what prose would only wish: which room may import which, that every experiment is
//! in the catalog, that functions fit on a screen. A rule is a function from the tree to its
//! faults, so each is tested with a tree that breaks it.

mod book;
mod catalog;
mod imports;
mod lexer;
mod papers;
mod product;
mod prose;
mod shape;
mod size;
mod words;

pub(crate) use prose::sentences;
pub(crate) use shape::{places, shape};

use anyhow::{Context, Result};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file of the tree.
#[derive(Clone, Debug)]
pub(crate) struct SourceFile {
    /// Where it lies, from the root of the workspace, with `/` between folders.
    path: String,
    /// What it says.
    text: String,
}

/// All text files that are, or may become, part of the project.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    files: Vec<SourceFile>,
}

/// A place where a rule does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// `file` or `file:line`.
    place: String,
    /// What is wrong, and what would be right.
    what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.place, self.what)
    }
}

/// Every rule.
const RULES: [fn(&Tree) -> Vec<Fault>; 18] = [
    imports::edges,
    imports::lints,
    imports::versions,
    catalog::experiments,
    size::functions,
    size::files,
    words::unfinished,
    words::attributes,
    words::printing,
    words::developer_paths,
    papers::reasons,
    papers::changelog,
    book::links,
    book::pages,
    book::parts,
    book::chores,
    prose::plain,
    shape::held,
];

/// All faults of a tree, rule by rule.
pub(crate) fn check(tree: &Tree) -> Vec<Fault> {
    RULES.iter().flat_map(|rule| rule(tree)).collect()
}

/// The links of documents that lead nowhere, and documents that the book does not show.
pub(crate) fn dead_links(tree: &Tree) -> Vec<String> {
    let faults = [book::pages, book::links, book::parts].into_iter().flat_map(|rule| rule(tree));
    faults.map(|fault| fault.to_string()).collect()
}

impl Tree {
    /// The tree as it lies on the disk: what git tracks and what it would track, or, without git,
    /// all but what is built.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub(crate) fn read(root: &Path) -> Result<Tree> {
        let mut paths = match listed_by_git(root) {
            Some(paths) => paths,
            None => walk(root, Path::new(""))?,
        };
        paths.sort();
        paths.dedup();
        let mut files = Vec::new();
        for path in paths {
            // A file that was deleted and not yet committed is skipped. A file that is no text (a
            // picture) has no lines here, but links to it are checked.
            if let Ok(bytes) = std::fs::read(root.join(&path)) {
                let text = String::from_utf8(bytes).unwrap_or_default();
                files.push(SourceFile { path, text });
            }
        }
        Ok(Tree { files })
    }

    /// The file at a path.
    fn file(&self, path: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The Rust sources.
    fn rust(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }

    /// The documents.
    fn documents(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| file.path.ends_with(".md"))
    }

    /// The workspace's packages: the folder of each, and its Cargo.toml.
    fn packages(&self) -> impl Iterator<Item = (&str, &SourceFile)> {
        self.files.iter().filter_map(|file| {
            let folder = file.path.strip_suffix("/Cargo.toml")?;
            Some((folder, file))
        })
    }
}

impl SourceFile {
    fn fault(&self, what: impl Into<String>) -> Fault {
        Fault { place: self.path.clone(), what: what.into() }
    }

    /// `index` counts lines from 0.
    fn fault_at(&self, index: usize, what: impl Into<String>) -> Fault {
        Fault { place: format!("{}:{}", self.path, index + 1), what: what.into() }
    }
}

fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .ok()?;
    let names = String::from_utf8(output.stdout).ok()?;
    let names: Vec<String> =
        names.split('\0').filter(|name| !name.is_empty()).map(String::from).collect();
    // A copy of the tree inside another repository that ignores it lists nothing.
    (output.status.success() && names.iter().any(|name| name == "Cargo.toml")).then_some(names)
}

fn walk(root: &Path, below: &Path) -> Result<Vec<String>> {
    let folder = root.join(below);
    let mut found = Vec::new();
    let entries =
        std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let path: PathBuf = below.join(entry.file_name());
        let built = ["target", ".git", "scruple-sessions"].iter().any(|name| path.ends_with(name));
        if built {
            continue;
        }
        if entry.file_type()?.is_dir() {
            found.extend(walk(root, &path)?);
        } else if let Some(text) = path.to_str() {
            found.push(text.to_string());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{Fault, SourceFile, Tree, check, listed_by_git, walk};
    use std::path::Path;

    /// A tree for the tests of the rules.
    pub(super) fn tree<const N: usize>(files: [(&str, &str); N]) -> Tree {
        let file = |(path, text): (&str, &str)| SourceFile { path: path.into(), text: text.into() };
        Tree { files: files.into_iter().map(file).collect() }
    }

    /// The places of faults, for tests in which the words do not matter.
    pub(super) fn places(faults: &[Fault]) -> Vec<&str> {
        faults.iter().map(|fault| fault.place.as_str()).collect()
    }

    fn root() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
    }

    #[test]
    fn the_tree_is_tidy() {
        let faults: Vec<String> =
            check(&Tree::read(root()).unwrap()).iter().map(Fault::to_string).collect();
        assert!(faults.is_empty(), "not tidy:\n{}", faults.join("\n"));
    }

    #[test]
    fn the_tree_is_read_with_git_and_without() {
        let walked = walk(root(), Path::new("")).unwrap();
        let path = "xtask/src/tidy/mod.rs".to_string();
        assert!(walked.contains(&path));
        assert!(!walked.iter().any(|path| path.starts_with("target/")));
        if let Some(listed) = listed_by_git(root()) {
            assert!(listed.contains(&path));
        }
        assert_eq!(listed_by_git(Path::new("/")), None);
        assert!(Tree::read(root()).unwrap().file(&path).is_some());
    }
}
