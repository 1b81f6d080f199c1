//! Every experiment is in the catalog, and the catalog has nothing else.

use super::lexer::code_only;
use super::{Fault, Tree};
use std::collections::BTreeSet;

const FOLDER: &str = "crates/experiments/src/";

/// Modules (a file or a folder) that are no experiments of the catalog: what several share, and the
/// planted answers, which have a list of their own.
const SUPPORT: [&str; 2] = ["planted", "support"];

/// The files of the folder, the modules of `lib.rs` and the entries of `CATALOG` agree.
pub(super) fn experiments(tree: &Tree) -> Vec<Fault> {
    let Some(library) = tree.file(&format!("{FOLDER}lib.rs")) else { return Vec::new() };
    let code = code_only(&library.text);
    let files: BTreeSet<&str> = tree
        .rust()
        .filter_map(|file| file.path.strip_prefix(FOLDER))
        .filter_map(|below| below.split(['/', '.']).next())
        .filter(|name| !SUPPORT.contains(name) && !["lib", "tests"].contains(name))
        .collect();
    let modules: BTreeSet<&str> = code.lines().filter_map(module).collect();
    let entries = entries(&code);
    let mut faults = Vec::new();
    for name in &files {
        if !modules.contains(name) {
            faults.push(library.fault(format!("{name}.rs is there, and `mod {name};` is not")));
        }
        match entries.iter().filter(|entry| entry == &name).count() {
            1 => {}
            0 => faults.push(library.fault(format!("CATALOG must have {name}::EXPERIMENT"))),
            _ => faults.push(library.fault(format!("CATALOG has {name}::EXPERIMENT twice"))),
        }
    }
    for entry in entries.iter().filter(|entry| !files.contains(*entry)) {
        faults.push(library.fault(format!("CATALOG has {entry}, and {entry}.rs is not there")));
    }
    faults
}

/// The name in `mod name;`.
fn module(line: &str) -> Option<&str> {
    let line = line.trim();
    let line = line.strip_prefix("pub ").unwrap_or(line);
    line.strip_prefix("mod ")?.strip_suffix(';')
}

/// The modules whose `EXPERIMENT` the list `CATALOG` holds, in its order.
fn entries(code: &str) -> Vec<&str> {
    let Some((_, after)) = code.split_once("CATALOG") else { return Vec::new() };
    let list = after.split_once(';').map_or(after, |(list, _)| list);
    let list = list.split_once('=').map_or("", |(_, list)| list);
    list.split("::EXPERIMENT")
        .filter_map(|before| before.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next())
        .filter(|name| !name.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::experiments;

    const LIBRARY: &str = "//! `odd::EXPERIMENT` in a comment does not count.\n\
        mod clock;\nmod create;\nmod support;\n\
        pub static CATALOG: &[&Experiment] = &[\n    &clock::EXPERIMENT,\n    &create::EXPERIMENT,\n];\n";

    fn faults(library: &str) -> Vec<String> {
        let tree = tree([
            ("crates/experiments/src/lib.rs", library),
            ("crates/experiments/src/clock.rs", ""),
            ("crates/experiments/src/create.rs", ""),
            ("crates/experiments/src/create/child.rs", ""),
            ("crates/experiments/src/support/files.rs", ""),
        ]);
        experiments(&tree).iter().map(|fault| fault.what.clone()).collect()
    }

    #[test]
    fn files_modules_and_entries_agree() {
        assert_eq!(faults(LIBRARY), [""; 0]);
    }

    #[test]
    fn an_experiment_that_nobody_can_name_is_a_fault() {
        assert_eq!(
            faults(&LIBRARY.replace("    &create::EXPERIMENT,\n", "")),
            ["CATALOG must have create::EXPERIMENT"]
        );
        assert_eq!(
            faults(&LIBRARY.replace("mod create;\n", "")),
            ["create.rs is there, and `mod create;` is not"]
        );
    }

    #[test]
    fn an_entry_without_a_file_or_twice_is_a_fault() {
        assert_eq!(
            faults(&LIBRARY.replace("&clock::", "&gone::EXPERIMENT, &clock::")),
            ["CATALOG has gone, and gone.rs is not there"]
        );
        assert_eq!(
            faults(&LIBRARY.replace("&clock::", "&create::EXPERIMENT, &clock::")),
            ["CATALOG has create::EXPERIMENT twice"]
        );
    }
}
