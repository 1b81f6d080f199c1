//! What people and programs see: streams, colours, exit codes, JSON.

use crate::support::*;
use serde_json::Value;
use std::process::Stdio;

fn json(args: &[&str]) -> Value {
    let output = scruple().args(args).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn list_and_explain_know_the_whole_catalog() {
    let listed = json(&["list", "--json"]);
    let ids: Vec<&str> =
        listed.as_array().unwrap().iter().map(|design| design["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&"create") && ids.contains(&"null"), "{ids:?}");
    let text = scruple().arg("list").output().unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    for id in ids {
        assert!(text.contains(id), "{id} is not listed");
        assert_eq!(json(&["explain", id, "--json"])["id"], id);
        let output = scruple().args(["explain", id]).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
    }
}

/// Returns what a command shows on a terminal with this number of columns.
fn on_terminal(columns: u32, args: &[&str]) -> String {
    let words = std::iter::once(binary().display().to_string());
    let words: Vec<String> = words.chain(args.iter().map(ToString::to_string)).collect();
    let line = format!("stty cols {columns} rows 40; {}", wording::command_line(&words));
    let mut command = std::process::Command::new("script");
    let output = command.args(["-qec", &line, "/dev/null"]).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn no_sentence_is_cut_on_a_terminal() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let [file, study, scale, why] = ["a.toml", "study", "scale", "why"].map(at);
    std::fs::write(&file, "command = [\"echo\", \"{of}\"]\nfactors.of = [\"a\", \"b\"]").unwrap();
    let asked: [&[&str]; 3] = [
        &["study", &file, "--runs", "2", "--output", &study],
        &["scale", "--levels", "1..3", "--runs", "2", "--output", &scale, "--", "echo", "{n}"],
        &["why", "--squeeze", "timer", "--runs", "2", "--output", &why, "true"],
    ];
    for args in asked {
        let output = scruple().args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", said(&output));
    }
    let [base, later] = ["base", "later"].map(|name| recorded(name).display().to_string());
    let shown: [&[&str]; 6] = [
        &["report", &study],
        &["report", &scale],
        &["report", &why],
        &["report", &base, "create"],
        &["compare", &base, &later],
        &["explain", "create"],
    ];
    for (columns, args) in [50, 80, 120].into_iter().flat_map(|it| shown.map(|args| (it, args))) {
        let text = on_terminal(columns, args);
        let cut = text.lines().find(|line| line.contains('…'));
        assert_eq!(cut, None, "{args:?} at {columns} columns");
    }
}

#[test]
fn results_go_to_stdout_and_the_rest_to_stderr() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    let output = small_session(&dir, 3).arg("--json").output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["complete"], true);
    assert_eq!(summary["experiments"][0]["id"], "null");
    let stored: Value =
        serde_json::from_slice(&std::fs::read(dir.join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary, stored);
    assert!(String::from_utf8_lossy(&output.stderr).contains("seed 7"));
}

#[test]
fn a_pipe_and_no_color_get_no_escape_sequences() {
    let folder = tempfile::tempdir().unwrap();
    let output = small_session(&folder.path().join("piped"), 3).output().unwrap();
    assert!(!output.stdout.contains(&0x1b) && !output.stderr.contains(&0x1b), "{}", said(&output));
    let output = small_session(&folder.path().join("always"), 3)
        .args(["--color", "always"])
        .output()
        .unwrap();
    assert!(output.stdout.contains(&0x1b), "--color always has no colours");
}

#[test]
fn a_reader_that_has_had_enough_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = small_session(&folder.path().join("session"), 3)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn a_stored_session_is_analysed_again_to_the_same_result() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    assert!(small_session(&dir, 4).output().unwrap().status.success());
    let before = std::fs::read_to_string(dir.join("summary.json")).unwrap();
    std::fs::remove_file(dir.join("report.html")).unwrap();
    let output = scruple().arg("report").arg(&dir).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(std::fs::read_to_string(dir.join("summary.json")).unwrap(), before);
    assert!(dir.join("report.html").exists());
}

#[test]
fn every_experiment_runs_in_smoke() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    let output = scruple()
        .args(["run", "--profile", "smoke", "--runs", "1", "--json", "--output"])
        .arg(&dir)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    for experiment in summary["experiments"].as_array().unwrap() {
        for outcome in experiment["outcomes"].as_array().unwrap() {
            let kind = outcome["outcome"].as_str().unwrap();
            assert!(
                ["completed", "unsupported"].contains(&kind),
                "{}: {outcome}",
                experiment["id"]
            );
        }
    }
    let trials = std::fs::read_to_string(dir.join("trials.ndjson")).unwrap();
    let designs = designs();
    for record in trials.lines().map(|line| serde_json::from_str::<model::Record>(line).unwrap()) {
        let design = designs.iter().find(|design| record.experiment == design.id).unwrap();
        for series in record.measured.iter().flat_map(|measured| &measured.series) {
            let declared = design.response(&series.response).is_some();
            assert!(declared, "{} records {}", design.id, series.response);
        }
        let checks = record.measured.iter().flat_map(|measured| &measured.checks);
        for check in checks.filter(|check| !check.holds()) {
            // Whether others left it enough CPUs is the machine's affair, not the experiment's.
            assert!(check.wants_cpus, "{} {}: {check:?}", record.experiment, record.treatment);
        }
    }
}

#[test]
fn doctor_completions_and_manual_answer() {
    assert!(
        json(&["doctor", "--no-measure", "--json"])["channels"]
            .as_array()
            .is_some_and(|all| all.len() > 8)
    );
    for shell in ["bash", "zsh", "fish"] {
        let output = scruple().args(["completions", shell]).output().unwrap();
        let script = String::from_utf8_lossy(&output.stdout);
        assert!(script.contains("create") && script.contains("create.whole_ns"), "{shell}");
    }
    let output = scruple().arg("man").output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).starts_with(".ie"), "{}", said(&output));
}

#[test]
fn docs_are_what_the_code_says() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let pages = [("experiments.md", report::catalog::markdown(&designs()))];
    for (name, generated) in pages {
        let path = docs.join(name);
        if std::env::var_os("SCRUPLE_UPDATE").is_some() {
            std::fs::write(&path, &generated).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == generated,
            "docs/{name} is stale: SCRUPLE_UPDATE=1 cargo test -p lab docs"
        );
    }
}

fn designs() -> Vec<model::Design> {
    experiments::CATALOG.iter().map(|experiment| (experiment.design)()).collect()
}
