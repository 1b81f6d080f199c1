//! The files of a crate as modules, and the files that each names.

use super::pattern;
use crate::tidy::product::Source;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// A `use`: whether it is public, and what it names.
static USES: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^\s*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);"));

/// A path in code, or a visibility that names a module.
static PATHS: LazyLock<Regex> = LazyLock::new(|| pattern(r"pub\(in [^)]*\)|\b\w+(?:::\w+)+"));

/// Returns for each file of a crate the other files that it names by a path, in code or by `use`.
///
/// What a file takes from a module around it is not counted: a `mod.rs` defines or hands on what the files
/// of its folder share.
pub(super) fn imports(files: &[&Source<'_>]) -> Vec<BTreeSet<usize>> {
    let paths: Vec<Vec<&str>> = files.iter().map(|source| module_path(source.path)).collect();
    let modules = paths.iter().enumerate().map(|(file, path)| (path.as_slice(), file)).collect();
    let mut imports = Vec::new();
    for (source, own) in files.iter().zip(&paths) {
        let named = named_paths(&source.code);
        let named = named.iter().filter_map(|path| module_of(path, own, &modules));
        imports.push(named.filter(|file| !own.starts_with(&paths[*file])).collect());
    }
    imports
}

/// Returns the path of a file as a module of its crate. A file outside of `src` is no module.
fn module_path(file: &str) -> Vec<&str> {
    let Some((_, inside)) = file.split_once("src/") else { return vec![file] };
    let mut path: Vec<&str> = inside.trim_end_matches(".rs").split('/').collect();
    if ["mod", "lib", "main"].iter().any(|name| path.last() == Some(name)) {
        path.pop();
    }
    path
}

/// Returns the file of the innermost module that a path of the module `own` leads to. None if the path
/// leads to another crate.
fn module_of(path: &str, own: &[&str], modules: &BTreeMap<&[&str], usize>) -> Option<usize> {
    let mut place = own.to_vec();
    for (index, name) in path.split("::").enumerate() {
        match name {
            "crate" => place.clear(),
            "self" => {}
            "super" => drop(place.pop()),
            _ => {
                place.push(name);
                if !modules.contains_key(place.as_slice()) {
                    place.pop();
                    return (index > 0).then(|| modules.get(place.as_slice()).copied()).flatten();
                }
            }
        }
    }
    modules.get(place.as_slice()).copied()
}

/// Returns all paths of two names or more in code, and those of each `use`. A `pub use` of the file's own
/// modules hands names on and uses none.
fn named_paths(code: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for found in USES.captures_iter(code) {
        let tree = found[2].split(" as ").collect::<Vec<_>>().join("=");
        let own = !["crate", "super"].iter().any(|start| tree.starts_with(start));
        if found.get(1).is_none() || !own {
            flatten(&tree.split_whitespace().collect::<String>(), "", &mut paths);
        }
    }
    let rest = USES.replace_all(code, "");
    let in_code = PATHS.find_iter(&rest).map(|path| path.as_str().to_string());
    paths.extend(in_code.filter(|path| !path.starts_with("pub(")));
    paths
}

/// Adds the paths of a `use` without spaces: `a::{b=c,d::e}` has `a::b` and `a::d::e`.
fn flatten(tree: &str, before: &str, paths: &mut Vec<String>) {
    let Some((path, branches)) = tree.split_once('{') else {
        let path = tree.split('=').next().unwrap_or(tree);
        paths.push(format!("{before}{path}"));
        return;
    };
    let before = format!("{before}{path}");
    for branch in split_outside_braces(branches.strip_suffix('}').unwrap_or(branches)) {
        flatten(branch, &before, paths);
    }
}

/// Splits at the commas that stand in no braces.
fn split_outside_braces(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    let parts = text.split(move |c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    parts.filter(|part| !part.is_empty())
}
