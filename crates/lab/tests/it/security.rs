//! What a stranger's files and names must not be able to do, from the command line: docs/security.md
//! says where each point is tested.

use crate::support::*;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A command for a terminal each: a title in an escape sequence, a colour by its one-byte form, a line
/// of its own, a turn of direction.
const COMMANDS: &str = "x\u{1b}]0;owned\u{7}\u{9b}31m\n\u{202e}y";

fn change_manifest(dir: &Path, change: impl FnOnce(&mut Value)) {
    let path = dir.join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut manifest);
    fs::write(path, manifest.to_string()).unwrap();
}

/// What a terminal gets of a command; `None` where there is no program that makes a terminal.
fn on_a_terminal(folder: &Path, words: &[&str]) -> Option<String> {
    let shown = folder.join("shown");
    let quoted = |word: &&str| format!("'{}'", word.replace('\'', "'\\''"));
    let words: Vec<String> = words.iter().map(quoted).collect();
    let command = format!("'{}' {}", binary().display(), words.join(" "));
    let made = Command::new("script")
        .args(["--quiet", "--command", &command])
        .arg(&shown)
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if made.is_err() {
        println!("skipped: there is no script(1) to make a terminal");
        return None;
    }
    let shown = String::from_utf8_lossy(&fs::read(shown).unwrap()).into_owned();
    // It writes a line of its own at the beginning, and with some options one at the end.
    let shown = shown.split_once('\n').map_or("", |(_, rest)| rest);
    let shown = shown.rsplit_once("\nScript done").map_or(shown, |(before, _)| before);
    Some(shown.to_string())
}

/// Colours are ours, anything else that a terminal obeys is not.
fn commands_nothing(what: &str, shown: &str) {
    assert!(shown.contains('x'), "{what} showed nothing of it: {shown:?}");
    for bad in ["\u{1b}]", "\u{7}", "\u{9b}"] {
        assert!(!shown.contains(bad), "{what} let {bad:?} through: {shown:?}");
    }
}

#[test]
fn what_others_wrote_commands_no_terminal() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    let output = small_session(&dir, 2).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    change_manifest(&dir, |manifest| {
        manifest["session"] = COMMANDS.into();
        manifest["environment"]["host"] = COMMANDS.into();
        manifest["environment"]["kernel"] = COMMANDS.into();
        manifest["environment"]["neighbours"] =
            serde_json::json!([{"name": COMMANDS, "cpu_share": 0.5}]);
    });
    for words in [
        &["report", "session"][..],
        &["report", "session", "--json"],
        &["report", "session", "--terminal"],
        &["report", "session", "--output", "-"],
        &["compare", "session", "session"],
        &["compare", "session", "session", "--json"],
        &["compare", "session", "session", "--html", "-"],
        &["export", "session"],
        &["export", "session", "--format", "google-benchmark"],
    ] {
        let Some(shown) = on_a_terminal(folder.path(), words) else { return };
        commands_nothing(&words.join(" "), &shown);
    }
    // A program gets what is there.
    let output = scruple().args(["report", "--json"]).arg(&dir).output().unwrap();
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["session"], COMMANDS);
}

#[test]
fn a_name_that_a_shell_found_commands_no_terminal() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join(COMMANDS);
    let output = small_session(&dir, 1).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let told = String::from_utf8(output.stdout).unwrap();
    let place = told.lines().find(|line| line.starts_with("Report: ")).unwrap();
    assert!(place.contains("x\u{fffd}") && place.contains("y/report.html"), "{place:?}");
    for words in [&["report", COMMANDS][..], &["list", COMMANDS], &["report", COMMANDS, "--what"]] {
        let Some(shown) = on_a_terminal(folder.path(), words) else { return };
        commands_nothing(words[0], &shown);
    }
}

#[test]
fn going_on_with_a_session_of_the_catalog_starts_no_program() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let (dir, ran) = (folder.path().join("session"), folder.path().join("ran"));
    let file = folder.path().join("a.toml");
    let command = format!("question = \"Is it started?\"\ncommand = [\"touch\", {ran:?}]\n");
    fs::write(&file, command).unwrap();
    let output = scruple()
        .arg("study")
        .arg(&file)
        .args(["--profile", "smoke", "--runs", "2", "--no-shield", "--output"])
        .arg(&dir)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(ran.exists());
    fs::remove_file(&ran).unwrap();
    fs::write(dir.join("trials.ndjson"), "").unwrap();
    for (selftest, command) in [(false, "run"), (true, "selftest")] {
        change_manifest(&dir, |manifest| {
            manifest["options"]["inquiry"] = Value::Null;
            manifest["options"]["selftest"] = selftest.into();
        });
        let output = scruple().args([command, "--resume"]).arg(&dir).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("holds a program of its own"), "{}", said(&output));
        assert!(!ran.exists(), "{command} --resume started it");
    }
}

/// A command in a small address space, and not for long.
fn confined(words: &str) -> Output {
    Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -v 1000000; exec timeout 60 \"$0\" {words}"))
        .arg(binary())
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn a_file_without_an_end_is_refused() {
    let _alone = alone();
    for words in [
        "study /dev/zero",
        "study /dev/zero --dry-run",
        "scale --fit /dev/zero",
        "load http://127.0.0.1:9/ --body-file /dev/zero",
    ] {
        let output = confined(words);
        assert_eq!(output.status.code(), Some(2), "{words}: {}", said(&output));
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(text.lines().count(), 1, "{words}: {text}");
        assert!(text.contains("has more than"), "{words}: {text}");
    }
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = vec![dir.to_path_buf()];
    for entry in fs::read_dir(dir).unwrap().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(files(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found
}

#[test]
fn the_umask_says_who_may_read_a_session_and_nobody_else_may_write() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    for (umask, most) in [("000", 0o755), ("022", 0o755), ("077", 0o700)] {
        let top = folder.path().join(umask);
        fs::create_dir(&top).unwrap();
        let script = format!(
            "umask {umask}; cd \"$1\" && \"$0\" run null --profile smoke --runs 1 --no-shield \
             && cd scruple-sessions/* && \"$0\" export . -o out.csv && \"$0\" report . -o page.html"
        );
        let output = Command::new("sh").args(["-c", &script]).arg(binary()).arg(&top).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let found = files(&top.join("scruple-sessions"));
        assert_eq!(found.len(), 9, "{found:?}");
        let own = ["out.csv", "page.html"];
        for path in found.iter().filter(|path| !own.iter().any(|name| path.ends_with(name))) {
            let mode = path.metadata().unwrap().permissions().mode() & 0o7777;
            assert_eq!(mode & !most, 0, "umask {umask}: {} has mode {mode:o}", path.display());
        }
        // What was asked for by name is a file like any other's.
        let mask = u32::from_str_radix(umask, 8).unwrap();
        for name in own {
            let path = found.iter().find(|path| path.ends_with(name)).unwrap();
            assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o666 & !mask, "{name}");
        }
    }
}
