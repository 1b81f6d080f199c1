//! What the doctor says, and what it leaves: with a prediction, without one, and where none can be
//! made.

use crate::support::*;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn doctor(temporary: &Path) -> Command {
    let mut command = scruple();
    command.arg("doctor").env("TMPDIR", temporary);
    command
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(output)))
}

fn assert_all_else_is_shown(report: &Value) {
    assert!(report["channels"].as_array().unwrap().len() > 8, "{report}");
    assert!(report["environment"]["kernel"].is_string(), "{report}");
    assert!(report["disturbances"].is_array(), "{report}");
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn it_predicts_a_floor_for_every_kind_of_work_and_leaves_nothing() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let output = doctor(folder.path()).arg("--json").output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(is_empty(folder.path()), "something is left in the temporary folder");
    let report = json(&output);
    assert_all_else_is_shown(&report);
    let prediction = &report["prediction"];
    assert_eq!(prediction["there"], true, "{prediction}");
    let kinds = prediction["kinds"].as_array().unwrap();
    let works: Vec<&str> = kinds.iter().map(|kind| kind["work"].as_str().unwrap()).collect();
    assert_eq!(works, ["cpu", "kernel", "memory"]);
    for kind in kinds {
        let floors = kind["floors"].as_array().unwrap();
        let times: Vec<&str> = floors.iter().map(|it| it["time"].as_str().unwrap()).collect();
        assert_eq!(times, ["in 1 s", "in 10 s", "in 60 s", "in quick"]);
        // More blocks see more, whatever the machine is like.
        let timed = floors[..3].iter().filter_map(|it| it["floor"].as_f64()).collect::<Vec<_>>();
        assert!(timed.windows(2).all(|pair| pair[1] < pair[0]), "{kind}");
        assert!(kind["differs"].is_boolean() && kind["remark"].is_string());
    }
}

#[test]
fn its_text_says_what_it_assumes_and_has_no_colours_in_a_pipe() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let output = doctor(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in ["in 60 s", "kernel", "next minutes are like these seconds", "What moves numbers"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(!output.stdout.contains(&0x1b) && !output.stderr.contains(&0x1b));
}

#[test]
fn without_measuring_it_predicts_nothing_and_says_so() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let output = doctor(folder.path()).args(["--no-measure", "--json"]).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let report = json(&output);
    assert_all_else_is_shown(&report);
    assert_eq!(report["prediction"]["there"], false);
    assert!(report["prediction"]["why"].as_str().unwrap().contains("--no-measure"));
    let output = doctor(folder.path()).arg("--no-measure").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("What can be observed") && !text.contains("in 60 s"), "{text}");
}

#[test]
fn where_nothing_can_be_written_it_says_why_and_shows_all_else() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let gone = folder.path().join("gone");
    let output = doctor(&gone).arg("--json").output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let report = json(&output);
    assert_all_else_is_shown(&report);
    assert_eq!(report["prediction"]["there"], false);
    let why = report["prediction"]["why"].as_str().unwrap();
    assert!(why.contains("gone") && why.contains("TMPDIR"), "{why}");
    let text = doctor(&gone).output().unwrap();
    assert!(said(&text).contains("nothing is predicted"), "{}", said(&text));
}

#[test]
fn a_full_temporary_folder_is_told_of() {
    let _alone = alone();
    if !is_root() {
        println!("skipped: mounting a small file system needs root");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k,nr_inodes=1", "scruple-test"])
        .arg(folder.path())
        .status()
        .unwrap();
    if !mounted.success() {
        println!("skipped: no file system can be mounted here");
        return;
    }
    let output = doctor(folder.path()).arg("--json").output().unwrap();
    assert!(Command::new("umount").arg(folder.path()).status().unwrap().success());
    assert!(output.status.success(), "{}", said(&output));
    let report = json(&output);
    assert_all_else_is_shown(&report);
    let why = report["prediction"]["why"].as_str().unwrap();
    assert!(why.contains("No space left"), "{why}");
}

#[test]
fn few_descriptors_cost_the_prediction_at_most() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    for limit in ["ulimit -n 8;", "ulimit -n 5;", "ulimit -f 0;"] {
        let output = Command::new("sh")
            .args(["-c", &format!("{limit} exec \"$0\" doctor --json")])
            .arg(binary())
            .env("TMPDIR", folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{limit} {}", said(&output));
        assert!(!said(&output).contains("panicked"), "{limit} {}", said(&output));
        let prediction = &json(&output)["prediction"];
        assert!(prediction["there"] == true || prediction["why"].is_string(), "{prediction}");
        eventually("no trial is left", || processes_with("__trial").is_empty());
        // With so few descriptors it may be the guard that removes it, a moment later.
        eventually("its folder is gone", || is_empty(folder.path()));
    }
}

#[test]
fn ctrl_c_ends_the_measuring_and_shows_the_rest() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let child = interruptible(doctor(folder.path()).arg("--json"));
    eventually("it measures", || !is_empty(folder.path()));
    sys::process::kill(child.id() as i32, sys::signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let report = json(&output);
    assert_all_else_is_shown(&report);
    assert_eq!(report["prediction"]["why"], "it was interrupted");
    assert!(is_empty(folder.path()), "something is left in the temporary folder");
    assert!(processes_with("__trial").is_empty() && processes_with("__guard").is_empty());
}

#[test]
fn killed_it_leaves_nothing_either() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let mut child =
        doctor(folder.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually("it measures", || !processes_with("__trial").is_empty());
    child.kill().unwrap();
    child.wait().unwrap();
    eventually("its folder is gone", || is_empty(folder.path()));
    eventually("its trial is gone", || processes_with("__trial").is_empty());
}
