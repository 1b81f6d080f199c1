//! Where the libraries come from and under which licences, as a part of every test.
//!
//! `cargo deny` knows more (`cargo xtask release-check`), but takes minutes to build. This reads the
//! same list, deny.toml, and what cargo itself says of the packages that a scruple is made of: those of
//! tests alone are not shipped.

mod expression;

use crate::steps;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The list, in the root of the workspace.
pub(crate) const LIST: &str = "deny.toml";

/// Where libraries may come from; what has no source lies in the workspace.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// What is wrong with the packages that the workspace uses.
///
/// # Errors
/// If cargo cannot tell of them, or the list cannot be read.
pub(crate) fn check(root: &Path) -> Result<Vec<String>> {
    let list = std::fs::read_to_string(root.join(LIST)).with_context(|| format!("no {LIST}"))?;
    let allowed = allowed(&list);
    ensure!(!allowed.is_empty(), "{LIST}: there is no licence under `allow = [` of [licenses]");
    // What is built for this system. The metadata alone do not tell: they hold what tests need, and what
    // features of theirs switch on.
    let words = ["tree", "--locked", "--workspace", "--all-features", "--edges", "normal,build"];
    let tree = told(root, &[&words[..], &["--prefix", "none", "--format", "{p}"]].concat())?;
    let metadata =
        told(root, &["metadata", "--format-version", "1", "--locked", "--all-features"])?;
    let metadata = serde_json::from_str(&metadata).context("cargo metadata is no JSON")?;
    faults(&metadata, &shipped(&tree), &allowed).context("cargo metadata lacks a field")
}

/// What cargo answers.
fn told(root: &Path, words: &[&str]) -> Result<String> {
    let output = Command::new(steps::cargo()).args(words).current_dir(root).output();
    let output = output.context("cannot start cargo")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo {}: {}", words.join(" "), said.trim());
    String::from_utf8(output.stdout).context("cargo did not answer in UTF-8")
}

/// The packages of a tree, `name v1.2.3 …` each, as `name 1.2.3`.
fn shipped(tree: &str) -> BTreeSet<String> {
    let name = |line: &str| {
        let mut words = line.split_whitespace();
        Some(format!("{} {}", words.next()?, words.next()?.strip_prefix('v')?))
    };
    tree.lines().filter_map(name).collect()
}

/// The licences of the list: what is quoted between `allow = [` and `]` of its part on licences.
fn allowed(list: &str) -> Vec<String> {
    let lines = list.lines().map(str::trim);
    let part = lines.skip_while(|line| *line != "[licenses]");
    let after = part.skip_while(|line| *line != "allow = [").skip(1);
    let lines = after.take_while(|line| !line.starts_with(']'));
    lines.filter_map(|line| Some(line.split('"').nth(1)?.to_string())).collect()
}

/// The faults of the packages that are shipped; `None` where the metadata are not as cargo writes them.
fn faults(metadata: &Value, shipped: &BTreeSet<String>, allowed: &[String]) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut known = BTreeSet::new();
    for package in metadata["packages"].as_array()? {
        let name = format!("{} {}", package["name"].as_str()?, package["version"].as_str()?);
        if !shipped.contains(&name) {
            continue;
        }
        if let Some(source) = package["source"].as_str().filter(|source| *source != REGISTRY) {
            found.push(format!("{name} comes from {source}, and libraries come from crates.io"));
        }
        match package["license"].as_str() {
            None => found.push(format!("{name} names no licence")),
            Some(licence) => match expression::allows(licence, allowed) {
                Some(true) => {}
                Some(false) => found.push(format!("{name}: {licence:?} is not in {LIST}")),
                None => found.push(format!("{name}: {licence:?} is no expression of licences")),
            },
        }
        known.insert(name);
    }
    found.extend(shipped.difference(&known).map(|name| format!("cargo does not know {name}")));
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::{LIST, REGISTRY, allowed, check, faults, shipped};
    use serde_json::{Value, json};
    use std::path::Path;

    /// A room, a library of it, and one of its tests alone: the faults where the library's package, or
    /// that of tests, says this.
    fn told(library: &Value, of_tests: &Value) -> Vec<String> {
        let package = |name: &str, more: &Value| {
            let mut package =
                json!({"name": name, "version": "1.0.0", "license": "MIT", "source": REGISTRY});
            package.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            package
        };
        let metadata = json!({"packages": [
            package("room", &json!({"source": null})), package("library", library),
            package("of_tests", of_tests)
        ]});
        let shipped =
            shipped("room v1.0.0 (/a/room)\n\nlibrary v1.0.0 (proc-macro)\nroom v1.0.0 (*)\n");
        faults(&metadata, &shipped, &["MIT".into(), "Apache-2.0".into()]).unwrap()
    }

    #[test]
    fn what_the_workspace_uses_is_allowed() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        assert_eq!(check(root).unwrap(), [] as [String; 0]);
    }

    #[test]
    fn a_licence_or_a_source_that_is_not_allowed_is_a_fault() {
        let none = json!({});
        assert_eq!(told(&none, &none), [] as [String; 0]);
        let copyleft = json!({"license": "GPL-3.0-only"});
        assert_eq!(told(&copyleft, &none), ["library 1.0.0: \"GPL-3.0-only\" is not in deny.toml"]);
        assert_eq!(told(&none, &copyleft), [] as [String; 0], "tests are not shipped");
        assert_eq!(told(&json!({"license": null}), &none), ["library 1.0.0 names no licence"]);
        let own = json!({"license": "ask (me"});
        assert!(told(&own, &none)[0].ends_with("is no expression of licences"));
        for source in ["git+https://example.org/library#1", "registry+https://example.org/index"] {
            let told = told(&json!({"source": source}), &none);
            assert!(told[0].starts_with(&format!("library 1.0.0 comes from {source}")), "{told:?}");
        }
        let gone = faults(&json!({"packages": []}), &shipped("library v1.0.0"), &[]).unwrap();
        assert_eq!(gone, ["cargo does not know library 1.0.0"]);
        assert_eq!(faults(&json!({}), &shipped(""), &[]), None);
    }

    #[test]
    fn the_list_is_read() {
        let list = "[bans]\nallow = [\n \"no\"\n]\n[licenses]\n# why\nallow = [\n    \"MIT\",\n    \
                    \"BSD-2-Clause\", # \"syscalls\"\n]\n[sources]\nallow = [\n\"no\"\n]\n";
        assert_eq!(allowed(list), ["MIT", "BSD-2-Clause"]);
        assert!(allowed("[licenses]\n").is_empty());
        assert_eq!(LIST, "deny.toml");
    }
}
