//! What people leave out, shorten and mistype: the session, its name, an experiment, a length of time.

use crate::support::{recorded, said, scruple};
use std::path::Path;
use std::process::{Output, Stdio};
use tempfile::TempDir;

/// Returns a folder in which three sessions were measured: of `speedup`, and twice of `servers`.
fn measured() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (day, name) in [("24", "speedup"), ("25", "servers"), ("26", "servers")] {
        let from = recorded(name);
        let dir = folder.path().join(format!("scruple-sessions/2026-11-{day}T010203Z-vm"));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::copy(from.join("trials.ndjson"), dir.join("trials.ndjson")).unwrap();
        let manifest = std::fs::read_to_string(from.join("manifest.json")).unwrap();
        let mut manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
        manifest["session"] = dir.file_name().unwrap().to_str().into();
        manifest["started_unix_ms"] = (day.parse::<u64>().unwrap() * 86_400_000).into();
        std::fs::write(dir.join("manifest.json"), manifest.to_string()).unwrap();
    }
    folder
}

fn within(folder: &Path, words: &[&str]) -> Output {
    scruple().args(words).current_dir(folder).output().unwrap()
}

/// Returns standard error of a command that succeeds.
fn noted(folder: &Path, words: &[&str]) -> String {
    let output = within(folder, words);
    assert!(output.status.success(), "{}", said(&output));
    String::from_utf8(output.stderr).unwrap()
}

/// Returns the one line that a refused command says.
fn refused(folder: &Path, words: &[&str]) -> String {
    let output = within(folder, words);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), error.lines().count()), (Some(2), 1), "{}", said(&output));
    error
}

#[test]
fn the_latest_session_is_taken_where_none_is_named() {
    let folder = measured();
    let folder = folder.path();
    // One that has not measured anything, and one whose name was chosen, are not the latest.
    std::fs::create_dir(folder.join("scruple-sessions/2026-12-01T000000Z-vm")).unwrap();
    std::fs::rename(
        folder.join("scruple-sessions/2026-11-24T010203Z-vm"),
        folder.join("scruple-sessions/speeds"),
    )
    .unwrap();
    for words in [
        &["report"][..],
        &["report", "servers"],
        &["export"],
        &["ask", "servers.p99_ns"],
        &["plan", "--rate", "5/s", "--service", "20ms", "--cpu-share", "0.3"],
    ] {
        let output = within(folder, words);
        let noted = String::from_utf8_lossy(&output.stderr);
        let first = noted.lines().next().unwrap_or_default();
        let named = "session scruple-sessions/2026-11-26T010203Z-vm of scruple run, ";
        assert!(first.starts_with(named) && first.ends_with(" days old"), "{}", said(&output));
    }
    let both = noted(folder, &["compare"]);
    let lines: Vec<&str> = both.lines().collect();
    assert!(lines[0].starts_with("before: scruple-sessions/2026-11-25T"), "{both}");
    assert!(lines[1].starts_with("after:  scruple-sessions/2026-11-26T"), "{both}");
    // However they are named, the earlier one is the base.
    assert_eq!(noted(folder, &["compare", "scruple-sessions/2026-11-26T010203Z-vm"]), both);
    assert!(noted(folder, &["compare", "2026-11-25"]).ends_with(&both));
    let alone = refused(folder, &["compare", "scruple-sessions/speeds"]);
    assert!(alone.contains("no other session asks the same"), "{alone}");
    let empty = tempfile::tempdir().unwrap();
    for words in [&["report"][..], &["report", "create"], &["compare"], &["export"]] {
        let error = refused(empty.path(), words);
        assert!(error.contains("scruple-sessions") && error.contains("`scruple run`"), "{error}");
    }
}

#[test]
fn a_session_is_found_by_its_name_and_its_beginning() {
    let folder = measured();
    let folder = folder.path();
    for name in ["2026-11-24T010203Z-vm", "scruple-sessions/2026-11-24T010203Z-vm/"] {
        assert!(!noted(folder, &["export", name]).contains("session"), "{name}");
    }
    for begin in ["2026-11-24", "scruple-sessions/2026-11-24"] {
        assert!(noted(folder, &["export", begin]).contains("2026-11-24T010203Z-vm"), "{begin}");
        assert!(noted(folder, &["report", begin, "speedup"]).contains("2026-11-24T010203Z-vm"));
    }
    let several = refused(folder, &["export", "2026-11-2"]);
    assert!(several.contains("3 sessions") && several.contains("2026-11-25T010203Z"), "{several}");
    let unknown = refused(folder, &["report", "2026-10-24T010203Z-vm"]);
    assert!(unknown.contains("looked in this folder and scruple-sessions"), "{unknown}");
    assert!(unknown.contains("did you mean 2026-1"), "{unknown}");
    let path = refused(folder, &["export", "elsewhere/2026"]);
    assert!(path.contains("looked in elsewhere"), "{path}");
}

#[test]
fn a_mistyped_experiment_is_recognised() {
    let folder = measured();
    for words in [
        &["run", "server"][..],
        &["report", "server"],
        &["report", "2026-11-25T010203Z-vm", "server"],
        &["export", "-e", "server"],
        &["compare", "-e", "server"],
        &["compare", "--fail-if", "server > +5%"],
        &["fleet", "run", "--nodes", "1", "server"],
    ] {
        let output = within(folder.path(), words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(error.contains("did you mean servers?"), "{words:?}: {error}");
    }
    let explained = within(folder.path(), &["explain", "server"]);
    assert_eq!(explained.status.code(), Some(0), "{}", said(&explained));
    assert!(said(&explained).contains("servers  How fast"), "{}", said(&explained));
}

#[test]
fn a_length_of_time_has_decimals() {
    let folder = tempfile::tempdir().unwrap();
    let begun = ["run", "null", "--profile", "smoke", "--no-shield", "-o", "s", "--time-budget"];
    noted(folder.path(), &[&begun[..], &["3.4s"]].concat());
    let manifest = store::read_manifest(&folder.path().join("s")).unwrap();
    assert_eq!(manifest.options.time_budget_s, Some(3.4));
    let page = std::fs::read_to_string(folder.path().join("s/report.html")).unwrap();
    assert!(page.contains("--time-budget 3.4s"));
    for time in ["0", "-1s", "nan", "8d", "1e9h", "30s2m"] {
        let output = within(folder.path(), &["run", &format!("--time-budget={time}")]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(String::from_utf8_lossy(&output.stderr).contains("2m30s"), "{}", said(&output));
    }
}

#[test]
fn sessions_that_begin_in_one_second_have_a_folder_each() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["run", "null", "--profile", "smoke", "-r", "1"];
    let begin = |_| {
        let mut command = scruple();
        command.args(words).current_dir(&folder).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    for mut session in (0..4).map(begin).collect::<Vec<_>>() {
        assert!(session.wait().unwrap().code().is_some_and(|code| code != 2));
    }
    let sessions = std::fs::read_dir(folder.path().join("scruple-sessions")).unwrap();
    let mut count = 0;
    for session in sessions {
        let session = session.unwrap();
        let stored = store::open(&session.path()).unwrap();
        assert_eq!(stored.manifest.session, session.file_name().to_str().unwrap());
        assert!(!stored.records.is_empty());
        count += 1;
    }
    assert_eq!(count, 4);
}
