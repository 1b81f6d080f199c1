//! The recorded sessions hold what scruple measures today. They are tests' material; nothing here
//! judges their numbers.

mod texts;

use crate::support::{recorded as folder, summarised};
use serde_json::Value;
use std::collections::BTreeSet;

fn read(name: &str, file: &str) -> String {
    std::fs::read_to_string(folder(name).join(file)).unwrap()
}

fn manifest(name: &str) -> Value {
    serde_json::from_str(&read(name, "manifest.json")).unwrap()
}

/// The recorded sessions.
const RECORDED: [&str; 5] = ["base", "later", "speedup", "servers", "core"];

/// The version of an experiment's design in a recorded session.
fn version(manifest: &Value, id: &str) -> Option<u64> {
    let designs = manifest["designs"].as_array().unwrap();
    designs.iter().find(|design| design["id"] == id)?["version"].as_u64()
}

/// The sessions in which an experiment may be recorded: the whole catalog, and what came to it since.
const WHOLE: [&str; 4] = ["base", "speedup", "servers", "core"];

/// An experiment that is new may wait for its recording; one that changed may not.
#[test]
fn every_recorded_experiment_is_recorded_as_it_is_today() {
    let sessions = WHOLE.map(|name| (manifest(name), measured(name)));
    let mut unrecorded = Vec::new();
    for experiment in experiments::CATALOG {
        let design = (experiment.design)();
        let id = format!("{:?}", design.id);
        let versions: Vec<u64> =
            sessions.iter().filter_map(|(manifest, _)| version(manifest, &design.id)).collect();
        if versions.is_empty() {
            unrecorded.push(design.id);
            continue;
        }
        assert!(
            versions.contains(&design.version.into()),
            "no session in recorded/ has {} as it is in the catalog: cargo xtask record",
            design.id
        );
        let is_there = sessions.iter().any(|(_, measured)| measured.contains(&id));
        assert!(is_there, "{id} has no trial there: cargo xtask record");
    }
    if !unrecorded.is_empty() {
        println!("not recorded yet: {}; cargo xtask record", unrecorded.join(", "));
    }
}

/// The experiments that have a trial in a recorded session.
fn measured(name: &str) -> BTreeSet<String> {
    read(name, "trials.ndjson")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["experiment"].to_string())
        .collect()
}

#[test]
fn the_later_session_is_of_the_same_definitions() {
    let (base, later) = (manifest("base"), manifest("later"));
    for id in ["create", "clock", "false_sharing", "null"] {
        let recorded = version(&later, id);
        assert!(recorded.is_some(), "{id} is not in recorded/later: cargo xtask record");
        assert_eq!(recorded, version(&base, id), "{id}: cargo xtask record");
    }
}

#[test]
fn nothing_is_recorded_that_is_nobodys_business() {
    for name in RECORDED {
        let manifest = manifest(name);
        assert_eq!(manifest["environment"]["neighbours"], Value::Array(Vec::new()), "{name}");
        assert_eq!(manifest["command"][0], "scruple", "{name}: no path of a machine");
    }
}

/// What is computed of the recorded sessions changes only where somebody meant it to: every estimate,
/// interval and verdict to seven digits, for one who reads the difference.
#[test]
fn the_numbers_of_the_recorded_sessions_stay() {
    let mut lines = Vec::new();
    for name in RECORDED {
        let stored = store::open(&folder(name)).unwrap();
        let summary = summarised(&stored);
        for experiment in &summary.experiments {
            let place = format!("{name} {}", experiment.id);
            let findings = experiment.findings.iter();
            lines.extend(findings.map(|it| format!("{place} {}: {}", it.id, number(&it.result))));
            let claims = experiment
                .claims
                .iter()
                .map(|it| format!("{place} {}: {:?} {}", it.id, it.verdict, number(&it.result)));
            lines.extend(claims);
        }
    }
    insta::assert_snapshot!("numbers", lines.join("\n"));
}

fn number(result: &model::QuantityResult) -> String {
    match &result.estimate {
        None => "–".into(),
        Some(e) => format!("{:.6e} [{:.6e}, {:.6e}]", e.point, e.low, e.high),
    }
}
