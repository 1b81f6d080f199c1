//! No command writes its result over the files of a session: trials cannot be measured again. What
//! others wrote reaches nobody's terminal as a command.

use assert_cmd::Command;
use std::path::Path;
use tempfile::TempDir;

/// A copy of the smaller recorded session.
fn session(top: &TempDir) -> String {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recorded/later");
    let dir = top.path().join("s");
    std::fs::create_dir(&dir).unwrap();
    for file in ["manifest.json", "trials.ndjson"] {
        std::fs::copy(recorded.join(file), dir.join(file)).unwrap();
    }
    dir.to_str().unwrap().to_string()
}

#[test]
fn results_do_not_replace_the_files_of_a_session() {
    let top = TempDir::new().unwrap();
    let dir = session(&top);
    let trials = format!("{dir}/trials.ndjson");
    let before = std::fs::read(&trials).unwrap();
    let commands: [&[&str]; 3] = [
        &["report", &dir, "--output", &trials],
        &["compare", &dir, &dir, "--html", &trials],
        &["export", &dir, "--format", "csv", "--output", &trials],
    ];
    for words in commands {
        let output = Command::cargo_bin("scruple").unwrap().args(words).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains("that is a file of a session"), "{words:?}: {said}");
    }
    assert!(std::fs::read(&trials).unwrap() == before);
    let left = std::fs::read_dir(&dir).unwrap().count();
    assert_eq!(left, 2, "nothing lies beside them");
}

#[test]
fn a_path_commands_no_terminal() {
    for command in ["report", "export", "compare"] {
        let mut words = vec![command, "no\nfolder\u{1b}[31m"];
        if command == "compare" {
            words.push("other");
        }
        let output =
            Command::cargo_bin("scruple").unwrap().args(["--color", "always"]).args(words).output();
        let said = String::from_utf8(output.unwrap().stderr).unwrap();
        assert!(said.contains("no folder\u{fffd}[31m"), "{command}: {said:?}");
        assert_eq!(said.trim_end().lines().count(), 1, "{command}: {said:?}");
    }
}
