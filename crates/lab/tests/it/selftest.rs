//! The self-test as people and programs see it. Which grade this machine gets is the machine's
//! affair: no test here asks for one. How sessions are graded is tested in `analysis`, on summaries
//! that are made up.

use crate::support::*;
use model::{Selftest, Standing, TrustGrade};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn smoke(dir: &Path, blocks: u32) -> Command {
    let mut command = scruple();
    command
        .args(["selftest", "--profile", "smoke", "--seed", "7", "--no-shield", "--output"])
        .arg(dir)
        .args(["--runs", &blocks.to_string()]);
    command
}

/// One experiment with planted answers and the control: for what does not depend on which.
fn small(dir: &Path, blocks: u32) -> Command {
    let mut command = smoke(dir, blocks);
    command.args(experiments::PLANTED.iter().take(1).map(|known| known.id));
    command
}

/// The exit code, which must be that of a grade.
fn graded(output: &Output) -> bool {
    match output.status.code() {
        Some(0) => true,
        Some(3) => false,
        _ => panic!("{}", said(output)),
    }
}

#[test]
fn it_ends_with_a_table_a_grade_and_its_code_and_leaves_a_session() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    let output = smoke(&dir, 2).output().unwrap();
    let trusted = graded(&output);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(text.contains("Grade A"), trusted, "{text}");
    assert!(text.contains("Grade ") || text.contains("No grade"), "{text}");
    assert!(text.contains("trusted") && text.contains("Report: "), "{text}");
    assert!(!output.stdout.contains(&0x1b) && !output.stderr.contains(&0x1b), "{text}");
    for design in experiments::PLANTED.iter().map(|experiment| (experiment.design)()) {
        for planted in &design.planted {
            let begin: String = planted.what.chars().skip(1).take(6).collect();
            assert!(text.contains(&begin), "{}: {} is not told of", design.id, planted.what);
        }
    }
    for file in ["manifest.json", "trials.ndjson", "summary.json", "report.html"] {
        assert!(dir.join(file).exists(), "{file}");
    }
    assert!(!dir.join("scratch").exists());
    // It is a session like any other.
    let again = scruple().arg("report").arg(&dir).output().unwrap();
    assert!(again.status.success(), "{}", said(&again));
}

#[test]
fn its_json_is_that_of_its_schema_and_says_what_the_summary_says() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    let output = smoke(&dir, 2).arg("--json").output().unwrap();
    let trusted = graded(&output);
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let told: Selftest = serde_json::from_value(printed.clone()).unwrap();
    assert_eq!(serde_json::to_value(&told).unwrap(), printed, "fields that the schema lacks");
    assert_eq!((told.trusted, told.grade == Some(TrustGrade::A)), (trusted, trusted));
    assert_eq!(told.folder.as_deref(), dir.to_str());
    assert!(told.complete && !told.controls.is_empty());
    if !trusted {
        // Whoever prints JSON into a file is told on the screen.
        assert!(String::from_utf8_lossy(&output.stderr).contains(&told.sentence));
    }
    let summary: model::Summary =
        serde_json::from_slice(&std::fs::read(dir.join("summary.json")).unwrap()).unwrap();
    assert_eq!(Selftest { folder: told.folder.clone(), ..analysis::selftest(&summary) }, told);
    let planted: usize = summary.experiments.iter().map(|it| it.planted.len()).sum();
    assert_eq!(told.answers.len(), planted);
    assert!(told.answers.iter().all(|it| (it.standing == Standing::Right) == it.why.is_empty()));
}

#[test]
fn only_what_was_planted_can_be_asked_for() {
    let _alone = alone();
    let refused = |args: &[&str]| {
        let output = scruple().args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let text = refused(&["selftest", "nonsense"]);
    assert!(text.contains("nonsense") && text.contains("null"), "{text}");
    let text = refused(&["selftest", "create"]);
    assert!(text.contains("scruple run create"), "{text}");
    assert!(refused(&["selftest", "--profile", "thorough"]).contains("standard"));
    let listed = scruple().arg("list").output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    for known in experiments::PLANTED {
        let text = refused(&["run", known.id]);
        assert!(text.contains(&format!("scruple selftest {}", known.id)), "{text}");
        assert!(!listed.contains(known.id), "{listed}");
        let explained = scruple().args(["explain", known.id]).output().unwrap();
        assert!(explained.status.success(), "{}", said(&explained));
        for shell in ["bash", "fish"] {
            let script = scruple().args(["completions", shell]).output().unwrap();
            assert!(String::from_utf8_lossy(&script.stdout).contains(known.id), "{shell}");
        }
    }
}

#[test]
fn it_goes_on_where_it_was_cut_off_and_only_as_what_it_was_begun() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    graded(&small(&dir, 2).output().unwrap());
    let whole = stored_trials(&dir);
    let path = dir.join("trials.ndjson");
    let text = std::fs::read_to_string(&path).unwrap();
    let kept: Vec<&str> = text.lines().take(5).collect();
    std::fs::write(&path, kept.join("\n") + "\n").unwrap();

    let other = scruple().args(["run", "--resume"]).arg(&dir).output().unwrap();
    assert_eq!(other.status.code(), Some(2), "{}", said(&other));
    assert!(said(&other).contains("scruple selftest --resume"), "{}", said(&other));
    assert_eq!(stored_trials(&dir).len(), 5, "nothing was added to it");

    let output = scruple().args(["selftest", "--json", "--resume"]).arg(&dir).output().unwrap();
    graded(&output);
    let told: Selftest = serde_json::from_slice(&output.stdout).unwrap();
    assert!(told.complete);
    let after = stored_trials(&dir);
    assert_no_doubles(&after);
    assert_eq!(after, whole, "the seed orders what comes later, too");
    let both = scruple().args(["selftest", "null", "--resume"]).arg(&dir).output().unwrap();
    assert_eq!(both.status.code(), Some(2), "{}", said(&both));
}

#[test]
fn a_session_of_questions_is_no_self_test() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    assert!(small_session(&dir, 1).output().unwrap().status.success());
    let output = scruple().args(["selftest", "--resume"]).arg(&dir).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("scruple run --resume"), "{}", said(&output));
    let output = scruple().args(["selftest", "--resume"]).arg(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("manifest.json"), "{}", said(&output));
}

#[test]
fn ctrl_c_keeps_what_is_complete_and_says_how_to_resume() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    let child = interruptible(&mut small(&dir, 2000));
    eventually("a few trials are stored", || stored_trials(&dir).len() > 5);
    sys::process::kill(child.id() as i32, sys::signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("scruple selftest --resume"), "{text}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("rade"), "{}", said(&output));
    assert!(dir.join("report.html").exists() && !dir.join("scratch").exists());
    assert!(processes_with("__trial").is_empty());
}

#[test]
fn without_a_folder_of_ones_own_it_makes_one_that_says_what_it_is() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let output = scruple()
        .args(["selftest", "null", "--profile", "smoke", "--runs", "1", "--no-shield"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "no effect was planted: {}", said(&output));
    let mut sessions = std::fs::read_dir(folder.path().join("scruple-sessions")).unwrap();
    let name = sessions.next().unwrap().unwrap().file_name().into_string().unwrap();
    assert!(name.ends_with("-selftest"), "{name}");
    assert!(sessions.next().is_none());
}

#[test]
fn a_reader_that_has_had_enough_is_no_error() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    let mut child = small(&dir, 1).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    graded(&child.wait_with_output().unwrap());
    let coloured = small(&folder.path().join("coloured"), 1)
        .args(["--color", "always"])
        .env_remove("NO_COLOR")
        .output()
        .unwrap();
    assert!(coloured.stdout.contains(&0x1b), "--color always has no colours");
    let plain = small(&folder.path().join("plain"), 1).env("NO_COLOR", "1").output().unwrap();
    assert!(!plain.stdout.contains(&0x1b), "NO_COLOR has colours");
}
