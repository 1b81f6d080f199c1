//! DuckDB for the tests of `scruple query`: the program and the package for Python, in a virtual
//! environment below `target/`, so that nothing of the machine is changed.

use crate::steps::target;
use anyhow::{Context, Result, bail, ensure};
use std::path::Path;
use std::process::{Command, Stdio};

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
    let [venv, pip] = commands(&folder);
    let by_hand = format!("{} && {}", venv.join(" "), pip.join(" "));
    if !install {
        bail!("no DuckDB for the tests, and nothing is to be installed; type: {by_hand}");
    }
    for words in [venv, pip] {
        println!("-- no DuckDB yet: {}", words.join(" "));
        let status = Command::new(&words[0])
            .args(&words[1..])
            .stdin(Stdio::null())
            .status()
            .with_context(|| format!("cannot start {}; type: {by_hand}", words[0]))?;
        ensure!(
            status.success(),
            "no DuckDB could be installed ({status}); where Python has no venv, Debian's package \
             python3-venv brings it; then type: {by_hand}"
        );
    }
    ensure!(works(&folder), "the DuckDB in {} does not answer; type: {by_hand}", folder.display());
    println!("-- DuckDB: {}", folder.display());
    Ok(())
}

/// The two commands that bring it.
fn commands(folder: &Path) -> [Vec<String>; 2] {
    let words = |words: &[&str]| words.iter().map(|it| (*it).to_string()).collect::<Vec<_>>();
    let place = folder.display().to_string();
    let pip = folder.join("bin/python3").display().to_string();
    let mut install =
        words(&[&pip, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    install.extend(words(&PACKAGES));
    // What an earlier try left half done is made anew.
    [words(&["python3", "-m", "venv", "--clear", &place]), install]
}

/// Whether both answer with the versions that are wanted.
fn works(folder: &Path) -> bool {
    let said = |program: &str, words: &[&str]| {
        let output = Command::new(folder.join("bin").join(program))
            .args(words)
            .stdin(Stdio::null())
            .output()
            .ok()
            .filter(|output| output.status.success());
        output.map(|it| String::from_utf8_lossy(&it.stdout).into_owned()).unwrap_or_default()
    };
    let [program, package] = PACKAGES.map(|it| it.split_once("==").map_or("", |(_, is)| is));
    said("duckdb", &["--version"]).starts_with(&format!("v{program} "))
        && said("python3", &["-c", "import duckdb; print(duckdb.__version__)"]).trim() == package
}

#[cfg(test)]
mod tests {
    use super::{PACKAGES, commands, provide, works};
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    #[test]
    fn it_goes_into_a_folder_of_its_own() {
        let [venv, pip] = commands(Path::new("/w/target/duckdb"));
        assert_eq!(venv.join(" "), "python3 -m venv --clear /w/target/duckdb");
        assert_eq!(pip[0], "/w/target/duckdb/bin/python3");
        assert!(pip.ends_with(&PACKAGES.map(String::from)));
    }

    #[test]
    fn what_is_missing_is_named_with_what_to_type_and_nothing_is_changed() {
        // The folder of what is built may be another than below this root; it is only looked into.
        let root = tempfile::tempdir().unwrap();
        if works(&super::target(root.path()).join("duckdb")) {
            return println!("NOT RUN: there is a DuckDB");
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
