//! What people read beside the code.

use super::imports::section;
use super::{Fault, Tree};

/// Every library in the workspace has a line that says why it is here.
pub(super) fn reasons(tree: &Tree) -> Vec<Fault> {
    let Some(root) = tree.file("Cargo.toml") else { return Vec::new() };
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
    let Some(log) = tree.file("CHANGELOG.md") else { return vec![missing("it is not there")] };
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

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::{changelog, reasons};

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
}
