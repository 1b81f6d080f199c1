//! `cargo xtask book`: the documents as a site, in target/book.
//!
//! mdBook renders it. It is a separate program, because building it as a library of the workspace
//! would take longer than building scruple. mdBook reads no pages from outside its folder and does
//! not adjust the links of a text that it includes. An include that failed stays in the page, and
//! mdBook still succeeds. So this chore lays out the pages, includes nothing, and checks the site
//! afterwards.

pub(crate) mod markdown;
pub(crate) mod shelf;
mod site;

use crate::{machine, steps};
use anyhow::{Context, Result, bail, ensure};
use shelf::Shelf;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version that the pages were looked at with.
const ENGINE_VERSION: &str = "0.5.4";

/// Versions of mdBook that read our configuration begin so.
const ENGINE_SERIES: &str = "mdbook v0.5.";

/// Builds the site and looks whether all its links lead somewhere.
///
/// # Errors
/// If mdBook is not there and cannot be had, complains about anything, or a link leads nowhere.
pub(crate) fn book(root: &Path, install: bool) -> Result<()> {
    let engine = engine(root, install)?;
    let folder = steps::target(root);
    let (staged, site) = (folder.join("book-source"), folder.join("book"));
    for old in [&staged, &site] {
        if old.exists() {
            std::fs::remove_dir_all(old)
                .with_context(|| format!("cannot remove {}", old.display()))?;
        }
    }
    let summary = std::fs::read_to_string(root.join(shelf::SUMMARY))
        .with_context(|| format!("cannot read {}", shelf::SUMMARY))?;
    let shelf = Shelf::of(&summary);
    shelf.stage(root, &staged.join("src"))?;
    for name in ["book.toml", "book.css"] {
        std::fs::copy(root.join("docs/book").join(name), staged.join(name))
            .with_context(|| format!("cannot copy docs/book/{name}"))?;
    }
    build(&engine, &staged, &site)?;
    let dead = site::dead_links(&site)?;
    ensure!(dead.is_empty(), "the site has dead links:\n  {}", dead.join("\n  "));
    println!("-- {} pages: {}", shelf.pages().len(), site.join("index.html").display());
    Ok(())
}

/// What mdBook says is shown; a warning is a failure, since mdBook itself goes on and ends with 0
/// where a part of a page could not be made.
fn build(engine: &Path, staged: &Path, site: &Path) -> Result<()> {
    let output = Command::new(engine)
        .arg("build")
        .arg(staged)
        .arg("--dest-dir")
        .arg(site)
        .output()
        .with_context(|| format!("cannot start {}", engine.display()))?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    print!("{said}");
    ensure!(output.status.success(), "mdBook ended with {}", output.status);
    ensure!(!complains(&said), "mdBook complains, see above");
    Ok(())
}

fn complains(said: &str) -> bool {
    said.contains("WARN") || said.contains("ERROR")
}

/// Returns where mdBook is: on the path, or where an earlier chore has put it. Installs it otherwise.
fn engine(root: &Path, install: bool) -> Result<PathBuf> {
    if let Some(words) = installation(root) {
        let by_hand = format!("cargo {}", words.join(" "));
        if !install {
            bail!("no {ENGINE_SERIES}x, and nothing is to be installed; type: {by_hand}");
        }
        println!(
            "-- no {ENGINE_SERIES}x yet, built from its source in about two minutes: {by_hand}"
        );
        let status = Command::new(steps::cargo())
            .args(&words)
            .current_dir(root)
            .status()
            .context("cannot start cargo")?;
        ensure!(status.success(), "mdBook could not be built: {status}; type: {by_hand}");
    }
    // Half a gigabyte that building it needed.
    let _ = std::fs::remove_dir_all(steps::target(root).join("tools/build"));
    let found = installed(root).context("mdBook was installed and does not start")?;
    println!("-- mdBook: {}", found.display());
    Ok(found)
}

/// Returns cargo's arguments that build mdBook, where there is none.
pub(crate) fn installation(root: &Path) -> Option<Vec<String>> {
    installed(root).is_none().then(|| install_words(&steps::target(root).join("tools")))
}

/// An mdBook that works here, without installing any.
pub(crate) fn installed(root: &Path) -> Option<PathBuf> {
    let ours = steps::target(root).join("tools/bin/mdbook");
    let answers = |program: &Path| {
        let output = Command::new(program).arg("--version").output().ok()?;
        String::from_utf8_lossy(&output.stdout).starts_with(ENGINE_SERIES).then_some(())
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let candidates = machine::on_path("mdbook", &path).into_iter().chain([ours]);
    candidates.into_iter().find(|program| answers(program).is_some())
}

/// Of its features only the search is wanted; the others serve pages and watch folders. Without
/// optimisation it takes as long to build.
fn install_words(tools: &Path) -> Vec<String> {
    let (folder, build) = (tools.display().to_string(), tools.join("build").display().to_string());
    let words = ["install", "mdbook", "--version", ENGINE_VERSION, "--locked"];
    let more = ["--no-default-features", "--features", "search", "--root", &folder];
    let last = ["--target-dir", &build];
    words.iter().chain(&more).chain(&last).map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::{ENGINE_SERIES, ENGINE_VERSION, complains, install_words};
    use std::path::Path;

    #[test]
    fn one_version_is_installed_from_its_source() {
        assert!(format!("mdbook v{ENGINE_VERSION}").starts_with(ENGINE_SERIES));
        let words = install_words(Path::new("target/tools")).join(" ");
        assert!(words.starts_with("install mdbook --version 0.5."), "{words}");
        assert!(words.contains("--locked") && words.contains("--root target/tools "), "{words}");
    }

    #[test]
    fn a_warning_is_a_failure() {
        assert!(complains(" WARN The book has a page that is not there"));
        assert!(complains("2026 [ERROR] (mdbook): no such file"));
        assert!(!complains(" INFO Book building has started"));
    }
}
