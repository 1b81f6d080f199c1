//! A preset measures parts of several experiments, and its session knows its name.

use crate::support::*;
use serde_json::Value;

#[test]
fn a_preset_begins_stores_its_name_is_resumed_and_reported() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    let mut begin = scruple();
    begin.args(["run", "threads-vs-processes", "--profile", "smoke", "--no-shield", "--output"]);
    let output = begin.arg(&dir).args(["--runs", "1", "--time-budget", "5s"]).output().unwrap();
    assert!(output.status.code().is_some_and(|code| [0, 3].contains(&code)), "{}", said(&output));
    let manifest = std::fs::read(dir.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(manifest["options"]["preset"]["name"], "threads-vs-processes");
    let measured: Vec<&str> = manifest["designs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["id"].as_str().unwrap())
        .collect();
    assert_eq!(measured, ["workers", "footprint", "create", "switch", "null"]);
    let output = scruple().args(["run", "--json", "--resume"]).arg(&dir).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["complete"], true);
    let page = std::fs::read_to_string(dir.join("report.html")).unwrap();
    assert!(page.contains("Threads compared with processes on"), "the page lacks the title");
    assert!(
        page.contains("scruple run threads-vs-processes --seed"),
        "how to repeat it is missing"
    );
}

#[test]
fn a_preset_is_meant_listed_and_stands_alone() {
    let refused = |names: &[&str]| {
        let output = scruple().arg("run").args(names).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        said(&output)
    };
    assert!(refused(&["thread-vs-processes"]).contains("did you mean threads-vs-processes?"));
    assert!(refused(&["threads-vs-processes", "create"]).contains("is a preset"));
    let explained = scruple().args(["explain", "threads-vs-processes"]).output().unwrap();
    assert!(said(&explained).contains("its experiments are workers"), "{}", said(&explained));
    let listed = scruple().arg("list").output().unwrap();
    assert!(said(&listed).contains("threads-vs-processes"), "{}", said(&listed));
}
