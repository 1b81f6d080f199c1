//! What people read beside the code.

use super::imports::section;
use super::{Fault, Tree};
use std::path::{Component, Path, PathBuf};

/// Every library in the workspace has a line that says why it is here.
pub(super) fn reasons(tree: &Tree) -> Vec<Fault> {
    let Some(root) = tree.file("Cargo.toml") else {
        return Vec::new();
    };
    let entries = section(&root.text, "workspace.dependencies");
    let mut faults = Vec::new();
    for line in entries.iter().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (entry, comment) = split_comment(line);
        let ours = entry.contains("path =");
        if !ours && comment.trim().is_empty() {
            let name = entry.split(['=', '.', ' ']).next().unwrap_or(entry);
            faults.push(root.fault(format!("{name} needs a comment behind it: why is it here?")));
        }
    }
    faults
}

/// A line of TOML and the comment behind it.
fn split_comment(line: &str) -> (&str, &str) {
    let mut quoted = false;
    for (at, character) in line.char_indices() {
        match character {
            '"' => quoted = !quoted,
            '#' if !quoted => return (&line[..at], &line[at + 1..]),
            _ => {}
        }
    }
    (line, "")
}

/// The change log says, for what is to come or for this version, what can move numbers.
pub(super) fn changelog(tree: &Tree) -> Vec<Fault> {
    let missing = |what: &str| Fault { place: "CHANGELOG.md".into(), what: what.into() };
    let Some(log) = tree.file("CHANGELOG.md") else {
        return vec![missing("it is not there")];
    };
    let version = tree.file("Cargo.toml").and_then(|root| {
        let package = section(&root.text, "workspace.package");
        let line = package.iter().find(|line| line.starts_with("version"))?;
        line.split('"').nth(1)
    });
    let current = |line: &&str| {
        line.starts_with("## ")
            && (line.contains("Unreleased") || version.is_some_and(|v| line.contains(v)))
    };
    let mut lines = log.text.lines().skip_while(|line| !current(line));
    if lines.next().is_none() {
        return vec![missing("it needs a heading `## Unreleased` or one of this version")];
    }
    let mut entries = lines.take_while(|line| !line.starts_with("## "));
    if entries.any(|line| line.trim_start_matches('#').trim() == "Measurement") {
        Vec::new()
    } else {
        vec![missing("its newest part needs a heading `### Measurement`: what can move numbers")]
    }
}

/// Every file that a document links to is there.
pub(super) fn links(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.ends_with(".md")) {
        let folder = Path::new(&file.path).parent().unwrap_or(Path::new(""));
        for (index, line) in file.text.lines().enumerate() {
            for target in targets(line) {
                let path = plain(&folder.join(target));
                let there = path.as_ref().is_some_and(|path| {
                    tree.files.iter().any(|file| Path::new(&file.path).starts_with(path))
                });
                if !there {
                    faults.push(file.fault_at(index, format!("{target} is not there")));
                }
            }
        }
    }
    faults
}

/// The files that a line of Markdown links to.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|after| {
        let target = after.split([')', ' ']).next()?;
        let file = target.split('#').next()?;
        let elsewhere = target.contains("://") || target.starts_with("mailto:");
        (!file.is_empty() && !elsewhere).then_some(file)
    })
}

/// A path without `.` and `..`; none if it leads out of the tree.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => plain.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !plain.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{places, tree};
    use super::{changelog, links, reasons};

    #[test]
    fn a_library_without_a_reason_is_a_fault() {
        let text = "[workspace.dependencies]\nmodel = { path = \"crates/model\" }\n\n\
            # Tests only.\nserde = \"1\"   # records in and out\n\
            nix = { version = \"0.31\", features = [\"a#b\"] }\ntempfile = \"3\" #\n\
            [profile.release]\nstrip = true\n";
        let faults = reasons(&tree([("Cargo.toml", text)]));
        let texts: Vec<&str> = faults.iter().map(|fault| fault.what.as_str()).collect();
        assert_eq!(
            texts,
            [
                "nix needs a comment behind it: why is it here?",
                "tempfile needs a comment behind it: why is it here?"
            ]
        );
    }

    #[test]
    fn the_change_log_says_what_can_move_numbers() {
        let root = "[workspace.package]\nversion = \"0.3.0\"\n";
        let with = |log: &str| changelog(&tree([("Cargo.toml", root), ("CHANGELOG.md", log)]));
        assert_eq!(with("# Changes\n## Unreleased\n### Measurement\n* a\n"), []);
        assert_eq!(with("## 0.3.0, 2026\n\n### Measurement\n"), []);
        assert_eq!(with("## Unreleased\n### Added\n## 0.2.0\n### Measurement\n").len(), 1);
        assert_eq!(with("## 0.2.0\n### Measurement\n").len(), 1);
        assert_eq!(changelog(&tree([("Cargo.toml", root)])).len(), 1);
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
}
