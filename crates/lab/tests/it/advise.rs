//! `scruple plan` on recorded sessions, as people and programs see it.

use crate::support::{said, scruple};
use model::{Advice, Manifest, Refusal, Staffing};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

const BASE: &str = "recorded/base";
const LOAD: [&str; 6] = ["--rate", "500/s", "--service", "20ms", "--cpu-share", "0.3"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn plan(session: &str, words: &[&str]) -> Output {
    scruple().arg("plan").arg(session).args(words).current_dir(root()).output().unwrap()
}

fn json(session: &str, words: &[&str]) -> Advice {
    let output = plan(session, &[words, &["--json"]].concat());
    let printed: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
    let read: Advice = serde_json::from_value(printed.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), printed, "fields that the schema lacks");
    read
}

fn with(words: &[&'static str]) -> Vec<&'static str> {
    LOAD.iter().chain(words).copied().collect()
}

fn of<'a>(advice: &'a Advice, model: &str) -> &'a Staffing {
    advice.models.iter().find(|one| one.model == model).unwrap()
}

#[test]
fn an_answer_names_its_number_its_margin_and_its_evidence() {
    let output = plan(BASE, &with(&["--cpus", "8", "--target-p95", "100ms"]));
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    for part in
        ["Use ", "It sustains up to", "Measured in ", "Headroom", "Twice the load", " servers\n"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let advice = json(BASE, &with(&["--cpus", "8", "--target-p95", "100ms"]));
    let pool = of(&advice, "pool");
    assert!(pool.p95_ns.unwrap() <= 100e6 && pool.workers >= pool.workers_least);
    assert!(text.contains(&format!("{}", pool.workers.unwrap())), "{text}");
    assert!(advice.costs.iter().all(|cost| cost.estimate.low <= cost.estimate.point));
    assert_eq!(advice.load.cpus, 8);
}

#[test]
fn the_cpus_are_those_of_the_session_unless_others_are_stated() {
    let manifest = fs::read(root().join(BASE).join("manifest.json")).unwrap();
    let manifest: Manifest = serde_json::from_slice(&manifest).unwrap();
    let found = json(BASE, &with(&[])).load;
    let of_session = manifest.environment.cpus_allowed.len() as u32;
    assert_eq!((found.cpus, found.cpus_stated), (of_session, false));
}

#[test]
fn what_never_settles_is_refused_with_the_least_that_would() {
    let output = plan(BASE, &with(&["--cpus", "2"]));
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("No model sustains this load."), "{text}");
    let advice = json(BASE, &with(&["--cpus", "2"]));
    let Some(Refusal::Cpus { cpus_least: Some(cpus_least), .. }) = of(&advice, "pool").refusal
    else {
        panic!("{advice:?}");
    };
    assert!(text.contains(&format!("at least {cpus_least} CPUs")), "{text}");
    let enough = cpus_least.to_string();
    let words = [&LOAD[..], &["--cpus", &enough]].concat();
    assert_eq!(of(&json(BASE, &words), "pool").refusal, None);
}

#[test]
fn a_session_that_cannot_answer_says_what_to_measure() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = fs::read(root().join(BASE).join("manifest.json")).unwrap();
    let mut manifest: Manifest = serde_json::from_slice(&manifest).unwrap();
    // Neither what creates nor what serves.
    let without = ["create", "servers", "switch", "workers"];
    manifest.designs.retain(|design| !without.contains(&design.id.as_str()));
    let to = folder.path();
    fs::write(to.join("manifest.json"), serde_json::to_vec(&manifest).unwrap()).unwrap();
    let trials = fs::read_to_string(root().join(BASE).join("trials.ndjson")).unwrap();
    let kept: String = trials
        .lines()
        .filter(|line| !without.iter().any(|id| line.contains(&format!("\"experiment\":\"{id}\""))))
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(to.join("trials.ndjson"), kept).unwrap();
    let output = plan(to.to_str().unwrap(), &LOAD);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("cannot answer") && text.contains("scruple run create"), "{text}");
}

#[test]
fn nonsense_gets_one_clear_error() {
    for (words, right) in [
        (vec!["--rate", "500", "--service", "20ms", "--cpu-share", "0.3"], "500/s"),
        (vec!["--rate", "-5/s", "--service", "20ms", "--cpu-share", "0.3"], "--rate"),
        (vec!["--rate", "5/s", "--service", "20", "--cpu-share", "0.3"], "20ms"),
        (vec!["--rate", "5/s", "--service", "20ms", "--cpu-share", "1.3"], "0 to 1"),
        (
            vec!["--rate", "5/s", "--connections", "4", "--service", "20ms", "--cpu-share", "0.3"],
            "--connections",
        ),
        (vec!["--service", "20ms", "--cpu-share", "0.3"], "--rate"),
        (vec!["--rate", "5/s", "--cpu-share", "0.3"], "--service"),
        (vec!["--rate", "5/s", "--think", "1s", "--service", "1ms", "--cpu-share", "1"], "--think"),
        (vec!["--connections", "0", "--service", "20ms", "--cpu-share", "0.3"], "--connections"),
    ] {
        let output = plan(BASE, &words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", said(&output));
        assert!(output.stdout.is_empty(), "{}", said(&output));
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(right), "{words:?}: {error}");
    }
    let missing = plan("no/such/folder", &LOAD);
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8(missing.stderr).unwrap().contains("no/such/folder"));
}
