//! `scruple why`, from the command line to the report. What is found is not looked at: a machine
//! may be too busy to find anything.

use crate::support::{alone, eventually, said, scruple};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

fn why(arguments: &[&str]) -> Output {
    scruple().arg("why").args(arguments).env_remove("NO_COLOR").output().unwrap()
}

/// A short session of the squeezes that every machine can realise.
fn measured(session: &Path, more: &[&str], command: &[&str]) -> Output {
    let session = session.display().to_string();
    let fixed =
        ["--runs", "2", "--seed", "7", "--no-shield", "--squeeze", "cpu,timer", "-o", &session];
    why(&[&fixed[..], more, &["--"], command].concat())
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", said(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_command_is_squeezed_and_the_stored_session_tells_the_same() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let session = dir.path().join("session");
    // Braces of the command's own are no placeholders.
    let command = ["sh", "-c", "echo '{n}' ; sleep 0.02"];
    let told = json(&measured(&session, &["--json"], &command));
    assert_eq!(told["complete"], true);
    assert_eq!(told["wall_ns"]["samples"], 4);
    assert_eq!(told["squeezes"].as_array().unwrap().len(), 2);
    for squeeze in told["squeezes"].as_array().unwrap() {
        assert_eq!(squeeze["doses"].as_array().unwrap().len(), 2, "{squeeze}");
    }
    let trials = trials_of(&session);
    // Two controls and two strengths of each, in two blocks.
    assert_eq!(trials.len(), 12);
    for trial in &trials {
        assert_eq!(trial["outcome"]["kind"], "completed", "{trial}");
    }
    let report = scruple().arg("report").arg(&session).output().unwrap();
    let text = String::from_utf8_lossy(&report.stdout).into_owned();
    let answer = told["answer"].as_str().unwrap().split_whitespace().next().unwrap();
    assert!(text.contains(answer), "{text}");
    let page = std::fs::read_to_string(session.join("report.html")).unwrap();
    // Two blocks may leave an elasticity open: the chart has those that are known, and words name the others.
    let why: model::Why = serde_json::from_value(told).unwrap();
    let known = why.squeezes.iter().filter(|one| one.known().is_some()).count();
    assert_eq!(text.contains("Elasticity"), known > 0, "{text}");
    match page.split_once("What its time depends on") {
        Some((_, chart)) => {
            assert!(
                chart.contains(r#"class="rows""#) && chart.contains(r#"class="mark"#),
                "no chart"
            );
        }
        None => assert_eq!(known, 0, "no chart"),
    }
    let open = why.squeezes.iter().filter(|one| one.known().is_none() && one.elasticity.is_some());
    assert!(open.count() == 0 || text.contains("not measured precisely enough"), "{text}");
}

#[test]
fn what_was_taken_of_the_cpu_is_what_the_kernel_says() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let session = dir.path().join("session");
    let told = json(&measured(&session, &["--json"], &["sleep", "0.1"]));
    assert!(told["wall_ns"].is_object());
    for trial in trials_of(&session) {
        let level = trial["treatment"]["squeeze"].as_str().unwrap().to_string();
        let series = trial["measured"]["series"].as_array().unwrap().clone();
        let of = |name: &str| {
            let found = series.iter().find(|one| one["response"] == name);
            found.map(|one| one["values"][0].as_i64().unwrap())
        };
        let co_runners = of("co_runner_cpu_ppm").unwrap();
        match level.as_str() {
            // Idle co-runners are idle.
            "none" | "none-again" => assert_eq!((co_runners, of("taken_ppm")), (0, None)),
            "cpu-25" | "cpu-50" => {
                assert_eq!(of("taken_ppm"), Some(co_runners));
                assert!(co_runners > 0, "{trial}");
            }
            _ => assert!(of("taken_ppm").is_some(), "{trial}"),
        }
    }
}

#[test]
fn an_unfinished_session_is_finished() {
    let dir = tempfile::tempdir().unwrap();
    let session = dir.path().join("session");
    measured(&session, &[], &["true"]);
    let trials = session.join("trials.ndjson");
    let whole = std::fs::read_to_string(&trials).unwrap();
    let some: String = whole.lines().take(5).map(|line| format!("{line}\n")).collect();
    std::fs::write(&trials, some).unwrap();
    let resumed = why(&["--json", "--resume", &session.display().to_string()]);
    assert_eq!(json(&resumed)["complete"], true);
    assert_eq!(trials_of(&session).len(), 12);
    let other = scruple().args(["run", "--resume"]).arg(&session).output().unwrap();
    assert!(said(&other).contains("scruple why --resume"), "{}", said(&other));
}

#[test]
fn bad_input_is_refused_in_one_line() {
    let refused = |arguments: &[&str], wanted: &str| {
        let output = why(arguments);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(wanted), "{wanted:?}: {}", said(&output));
    };
    refused(&[], "COMMAND");
    refused(&["--squeeze", "disk", "--", "true"], "one of cpu, memory, cache");
    refused(&["--affinity", "9999", "--", "true"], "9999");
    let dir = tempfile::tempdir().unwrap();
    let session = dir.path().join("session");
    let missing = measured(&session, &[], &["/no/such/program"]);
    assert_eq!(missing.status.code(), Some(2), "{}", said(&missing));
    assert!(said(&missing).contains("there is no program /no/such/program"), "{}", said(&missing));
    // Found before the first trial, and before there is a session.
    assert!(!session.exists());
    let failing = measured(&dir.path().join("failing"), &[], &["false"]);
    assert_eq!(failing.status.code(), Some(2), "{}", said(&failing));
    assert!(said(&failing).contains("every trial failed"), "{}", said(&failing));
}

#[test]
fn a_command_that_takes_too_long_ends_and_so_do_its_co_runners() {
    let dir = tempfile::tempdir().unwrap();
    let session = dir.path().join("session");
    let output = measured(&session, &["--time-limit", "1s"], &["sleep", "4242.25"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    for trial in trials_of(&session) {
        assert_eq!(trial["outcome"]["kind"], "timed_out", "{trial}");
    }
    assert_eq!(running("4242.25"), 0);
}

/// The stored trials, as they are.
fn trials_of(session: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(session.join("trials.ndjson")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_killed_session_leaves_no_command_and_no_co_runner() {
    let dir = tempfile::tempdir().unwrap();
    let session = dir.path().join("session");
    let mut child = scruple()
        .args(["why", "--squeeze", "cpu", "-r", "1", "--no-shield", "-o"])
        .arg(&session)
        .args(["--", "sleep", "4242.75"])
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    eventually("the command begins", || running("4242.75") > 0);
    child.kill().unwrap();
    child.wait().unwrap();
    eventually("the command ends", || running("4242.75") == 0);
    let own = session.display().to_string();
    eventually("every trial ends, and its co-runners with it", || trials_in(&own) == 0);
}

/// How many `sleep`s have an argument.
fn running(argument: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let has = |entry: &std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let mut words = line.split(|byte| *byte == 0);
        words.next().is_some_and(|first| first.ends_with(b"sleep"))
            && words.any(|word| word == argument.as_bytes())
    };
    processes.filter(has).count()
}

/// Trials whose folder is a session's.
fn trials_in(session: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let inside = |entry: &std::fs::DirEntry| {
        let cwd = std::fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        cwd.starts_with(session)
    };
    processes.filter(inside).count()
}
