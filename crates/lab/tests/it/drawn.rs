//! `report DIR EXPERIMENT` and `report DIR --terminal`: charts on the screen, and nothing written.

use crate::support::*;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recorded/base")
}

/// The recorded session drawn, with no word about letters or colours from our own environment.
fn draw(words: &[&str]) -> Command {
    let mut command = scruple();
    command.arg("report").arg(recorded()).args(words);
    for name in ["LC_ALL", "LC_CTYPE", "LANG", "NO_COLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", said(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The files of a folder with their times and sizes.
fn files(folder: &Path) -> Vec<(PathBuf, std::time::SystemTime, u64)> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut files: Vec<_> = entries
        .map(|entry| {
            let metadata = entry.metadata().unwrap();
            (entry.path(), metadata.modified().unwrap(), metadata.len())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn named_experiments_are_drawn_and_the_folder_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["manifest.json", "trials.ndjson"] {
        std::fs::copy(recorded().join(file), folder.path().join(file)).unwrap();
    }
    let before = files(folder.path());
    for words in [&["clock"][..], &["--terminal"], &["--terminal", "clock", "null"]] {
        let output = scruple().arg("report").arg(folder.path()).args(words).output().unwrap();
        let text = text(&output);
        assert!(text.contains("├") && text.contains("clock"), "{text}");
        assert_eq!(text.contains("false_sharing"), words == ["--terminal"], "{words:?}");
        assert!(!text.contains("Report:"), "no page was written, so none is named");
    }
    assert_eq!(files(folder.path()), before);
}

#[test]
fn another_locale_gets_ascii_alone() {
    for (name, value) in [("LC_ALL", "C"), ("LANG", "POSIX"), ("LC_CTYPE", "de_DE.ISO-8859-1")] {
        let output = draw(&["create"]).env(name, value).output().unwrap();
        let text = text(&output);
        assert!(text.is_ascii(), "{name}={value}");
        assert!(text.contains(" * ") && text.contains("+---"), "{text}");
    }
    let unicode = text(&draw(&["create"]).env("LC_ALL", "C.UTF-8").output().unwrap());
    assert!(unicode.contains('●') && !unicode.is_ascii());
}

#[test]
fn the_summary_for_people_is_in_the_same_letters() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    assert!(small_session(&dir, 3).output().unwrap().status.success());
    let output = scruple().arg("report").arg(&dir).env("LC_ALL", "C").output().unwrap();
    // The folder's own name follows in whatever letters it has; this one's are ASCII.
    assert!(text(&output).is_ascii(), "{}", said(&output));
}

#[test]
fn colours_go_where_the_screen_wants_none() {
    assert!(!text(&draw(&["clock"]).output().unwrap()).contains('\u{1b}'), "a pipe");
    let always = text(&draw(&["clock", "--color", "always"]).output().unwrap());
    assert!(always.contains('\u{1b}'));
}

#[test]
fn what_is_not_in_the_session_is_named_with_what_is() {
    let output = draw(&["no_such"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("\"no_such\"") && error.contains("false_sharing"), "{error}");
    for words in [&["clock", "--json"][..], &["--terminal", "--output", "x"]] {
        let output = draw(words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", said(&output));
        assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be used with"));
    }
}
