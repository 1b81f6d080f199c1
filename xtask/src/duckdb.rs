//! DuckDB for the tests of `scruple query`: the program and the package for Python, in a virtual
//! environment below `target/`, so that nothing of the machine is changed.

use crate::machine;
use crate::shell::{Run, command, shown};
use crate::steps::target;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;

/// What is installed: versions that are known to work, and not the same for both, so that two are tried.
const PACKAGES: [&str; 2] = ["duckdb-cli==1.5.6", "duckdb==2.0.0"];

/// Sees to it that both are there. Where `install` is false, nothing is changed.
///
/// # Errors
/// If they are not there and cannot be had: with what to type.
pub(crate) fn provide(root: &Path, install: bool) -> Result<()> {
    let folder = target(root).join("duckdb");
    if works(&folder) {
        println!("-- DuckDB: {}", folder.display());
        return Ok(());
    }
    let by_hand = by_hand(&folder);
    ensure!(install, "no DuckDB for the tests, and nothing is to be installed; type: {by_hand}");
    machine::provide("Python with venv", install)?;
    for mut command in commands(&folder) {
        println!("-- no DuckDB yet: {}", shown(&command));
        command.run().with_context(|| format!("no DuckDB could be installed; type: {by_hand}"))?;
    }
    ensure!(works(&folder), "the DuckDB in {} does not answer; type: {by_hand}", folder.display());
    println!("-- DuckDB: {}", folder.display());
    Ok(())
}

/// Returns why DuckDB is not here and cannot be installed, as far as that is known before it is tried.
pub(crate) fn obstacle(root: &Path, install: bool) -> Option<String> {
    let folder = target(root).join("duckdb");
    if works(&folder) {
        return None;
    }
    let python = machine::obstacle("Python with venv", install);
    let python = python.map(|reason| format!("Python with venv is missing: {reason}"));
    python.or_else(|| {
        (!install).then(|| format!("nothing is to be installed; type: {}", by_hand(&folder)))
    })
}

/// One line for a person to type.
fn by_hand(folder: &Path) -> String {
    commands(folder).map(|command| shown(&command)).join(" && ")
}

/// The two commands that bring it. What an earlier try left half done is made anew.
fn commands(folder: &Path) -> [Command; 2] {
    let mut venv = command("python3 -m venv --clear");
    venv.arg(folder);
    let mut pip = Command::new(folder.join("bin/python3"));
    pip.args("-m pip install --quiet --disable-pip-version-check".split(' ')).args(PACKAGES);
    [venv, pip]
}

/// Reports whether both answer with the versions that are wanted.
pub(crate) fn works(folder: &Path) -> bool {
    let said = |program: &str, words: &[&str]| {
        Command::new(folder.join("bin").join(program)).args(words).read().unwrap_or_default()
    };
    let [program, package] = PACKAGES.map(|it| it.split_once("==").map_or("", |(_, is)| is));
    said("duckdb", &["--version"]).starts_with(&format!("v{program} "))
        && said("python3", &["-c", "import duckdb; print(duckdb.__version__)"]).trim() == package
}

#[cfg(test)]
mod tests {
    use super::{PACKAGES, commands, provide, shown, works};
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    #[test]
    fn it_goes_into_a_folder_of_its_own() {
        let [venv, pip] = commands(Path::new("/w/target/duckdb")).map(|command| shown(&command));
        assert_eq!(venv, "python3 -m venv --clear /w/target/duckdb");
        assert!(pip.starts_with("/w/target/duckdb/bin/python3 "), "{pip}");
        assert!(pip.ends_with(&PACKAGES.join(" ")), "{pip}");
    }

    #[test]
    fn what_is_missing_is_named_with_what_to_type_and_nothing_is_changed() {
        // The folder of what is built may be another than below this root; it is only looked into.
        let root = tempfile::tempdir().unwrap();
        if works(&super::target(root.path()).join("duckdb")) {
            return println!("skipped: there is a DuckDB");
        }
        let said = provide(root.path(), false).unwrap_err().to_string();
        assert!(said.starts_with("no DuckDB") && said.contains("-m venv"), "{said}");
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
    }

    #[test]
    fn both_must_answer_with_the_versions_that_are_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        let script = |name: &str, said: &str| {
            let path = bin.join(name);
            std::fs::write(&path, format!("#!/bin/sh\necho '{said}'\n")).unwrap();
            std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
        };
        assert!(!works(folder.path()));
        script("duckdb", "v1.5.6 (Variegata) 069cc9f9b5");
        assert!(!works(folder.path()));
        script("python3", "2.0.0");
        assert!(works(folder.path()));
        script("duckdb", "v1.5.5 (Variegata) 069cc9f9b5");
        assert!(!works(folder.path()));
    }
}
