//! What a guest of the matrix sent, held against what must be.

use super::list::Machine;
use super::rules::{Document, Facts, contradictions};
use super::sentences::{sentences, text_of};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// The commands of `guest.sh` and the exit codes that they may end with: a grade below A is 3.
const COMMANDS: [(&str, &[i32]); 7] = [
    ("doctor", &[0]),
    ("doctor-json", &[0]),
    ("smoke", &[0]),
    ("selftest", &[0, 3]),
    ("quick", &[0]),
    ("killed", &[137]),
    ("resumed", &[0]),
];

/// Why trials fail where an emulator runs many CPUs on few: it takes them away, as other programs would.
const TAKEN_AWAY: [&str; 2] = ["others use the CPUs", "stop who uses the CPU"];

/// The sessions that they leave.
pub(crate) const SESSIONS: [&str; 4] = ["smoke", "selftest", "quick", "killed"];

/// Returns what is not as it must be, a sentence each.
///
/// # Errors
/// If the answers of the machine cannot be read.
pub(crate) fn judge(machine: &Machine, folder: &Path) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let mut facts = kernel_says(folder)?;
    for (fact, value) in machine.facts() {
        let said = *facts.entry(fact.clone()).or_insert(value);
        if said != value {
            wrong.push(format!("the guest's kernel reports {said} {fact}, and {value} are there"));
        }
    }
    wrong.extend(codes(folder)?);
    wrong.extend(found(&facts, folder)?);
    for session in SESSIONS {
        wrong.extend(trials(folder, session)?);
    }
    wrong.extend(reached(folder)?);
    wrong.extend(counts(folder)?);
    wrong.extend(resumed(folder)?);
    let left = read(folder, "left.txt")?;
    wrong.extend(left.lines().map(|line| format!("left behind: {line}")));
    wrong.extend(contradictions(&facts, &documents(folder)?)?);
    Ok(wrong)
}

/// Returns a file that the guest sent.
pub(crate) fn read(folder: &Path, name: &str) -> Result<String> {
    let file = folder.join(name);
    let bytes = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the facts that the guest's kernel reports, read without scruple.
fn kernel_says(folder: &Path) -> Result<Facts> {
    let text = read(folder, "kernel-says.txt")?;
    let fact = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_string(), value.parse().ok()?))
    };
    Ok(text.lines().filter_map(fact).collect())
}

fn codes(folder: &Path) -> Result<Vec<String>> {
    let codes = read(folder, "codes.txt")?;
    let mut wrong = Vec::new();
    for (command, allowed) in COMMANDS {
        let code = codes.lines().find_map(|line| line.strip_prefix(&format!("{command} ")));
        if !code.and_then(|code| code.parse().ok()).is_some_and(|code| allowed.contains(&code)) {
            let said = read(folder, &format!("{command}.txt")).unwrap_or_default();
            let last = said.lines().rev().find(|line| !line.is_empty()).unwrap_or_default();
            let code = code.unwrap_or("none");
            wrong.push(format!("{command} ended with exit code {code}: {last}"));
        }
    }
    Ok(wrong)
}

/// Compares what doctor found with the facts.
fn found(facts: &Facts, folder: &Path) -> Result<Vec<String>> {
    let doctor: Value = serde_json::from_str(&read(folder, "doctor-json.txt")?)
        .context("doctor --json is no JSON")?;
    let environment = &doctor["environment"];
    let mut channels = doctor["channels"].as_array().into_iter().flatten();
    let counters = channels.find(|channel| channel["name"] == "hardware counters");
    let counters = counters.is_some_and(|channel| channel["there"] == true);
    let found = [
        ("cpus", environment["cpus_online"].as_f64()),
        ("cpus", environment["cpus_allowed"].as_array().map(|cpus| cpus.len() as f64)),
        ("threads", environment["threads_per_core"].as_f64()),
        ("counters", Some(f64::from(u8::from(counters)))),
    ];
    // What else the environment lists of the machine has the names of the facts.
    let listed = facts.keys().filter_map(|fact| {
        let list = environment["topology"][fact].as_array()?;
        Some((fact.as_str(), Some(list.len().max(1) as f64)))
    });
    let differ =
        found.into_iter().chain(listed).filter(|(fact, found)| facts.get(*fact) != found.as_ref());
    Ok(differ
        .map(|(fact, found)| format!("doctor --json: {fact} {found:?}, and there are {facts:?}"))
        .collect())
}

/// Returns the records of a session.
pub(crate) fn records(folder: &Path, session: &str) -> Result<Vec<Value>> {
    let trials = read(folder, &format!("{session}/trials.ndjson"))?;
    trials.lines().map(|line| serde_json::from_str(line).context("a line is no record")).collect()
}

/// What became of a trial.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Completed,
    /// With a reason.
    Unsupported,
    /// The emulator did not give it the CPUs, or the time, that it needs.
    Starved,
    Wrong,
}

/// Returns what became of the trial of a record.
pub(crate) fn end(record: &Value) -> End {
    let outcome = &record["outcome"];
    let reason = outcome["reason"].as_str().unwrap_or_default();
    match outcome["kind"].as_str().unwrap_or_default() {
        "completed" => End::Completed,
        "unsupported" if !reason.is_empty() => End::Unsupported,
        "failed" if TAKEN_AWAY.iter().any(|why| reason.contains(why)) => End::Starved,
        "timed_out" => End::Starved,
        _ => End::Wrong,
    }
}

fn trials(folder: &Path, session: &str) -> Result<Vec<String>> {
    let records = records(folder, session)?;
    let wrong = records.iter().filter(|record| end(record) == End::Wrong);
    let wrong: BTreeSet<String> = wrong
        .map(|it| format!("{session}: a trial of {}: {}", it["experiment"], it["outcome"]))
        .collect();
    Ok(wrong.into_iter().collect())
}

/// The whole catalog is tried.
fn reached(folder: &Path) -> Result<Option<String>> {
    let summary: Value = serde_json::from_str(&read(folder, "smoke/summary.json")?)?;
    let records = records(folder, "smoke")?;
    let experiments = summary["experiments"].as_array().into_iter().flatten();
    let is_tried = |id: &Value| records.iter().any(|record| record["experiment"] == *id);
    let missing = experiments.map(|it| &it["id"]).filter(|id| !is_tried(id));
    let missing: Vec<&str> = missing.filter_map(Value::as_str).collect();
    let said = || format!("smoke: the time was up before any trial of {}", missing.join(", "));
    Ok((!missing.is_empty()).then(said))
}

/// Planted counts that were measured are found exactly: except switches, of which preemption can take the
/// place of a few.
fn counts(folder: &Path) -> Result<Vec<String>> {
    let summary: Value = serde_json::from_str(&read(folder, "selftest/summary.json")?)?;
    let experiments = summary["experiments"].as_array().into_iter().flatten();
    let planted = experiments.filter(|it| it["id"] == "planted_counts");
    let answers = planted.flat_map(|it| it["planted"].as_array().into_iter().flatten());
    let measured = answers.filter_map(|answer| {
        let found = answer["result"]["estimate"]["point"].as_f64()?;
        Some((answer["what"].to_string(), answer["truth"]["low"].as_f64()?, found))
    });
    let measured: Vec<_> = measured.collect();
    let mut wrong: Vec<String> = measured
        .iter()
        .filter(|(what, truth, found)| {
            let allowed = if what.contains("switches") { 0.05 } else { 1e-6 };
            (found - truth).abs() > truth * allowed
        })
        .map(|(what, truth, found)| format!("selftest: {what}: {truth} planted, {found} found"))
        .collect();
    if measured.is_empty() {
        wrong.push("selftest: no planted count was measured".into());
    }
    Ok(wrong)
}

/// A session that was killed and resumed has each trial that it had, and each once.
fn resumed(folder: &Path) -> Result<Vec<String>> {
    let (before, after) = (read(folder, "before.ndjson")?, read(folder, "killed/trials.ndjson")?);
    let whole = before.rfind('\n').map_or("", |at| &before[..=at]);
    let mut places = BTreeSet::new();
    let mut doubled = 0;
    for record in records(folder, "killed")? {
        let place = format!("{} {} {}", record["experiment"], record["block"], record["treatment"]);
        doubled += usize::from(!places.insert(place));
    }
    let summary: Value = serde_json::from_str(&read(folder, "killed/summary.json")?)?;
    let held = [
        (!whole.is_empty(), "no trial was stored when the session was killed".to_string()),
        (after.starts_with(whole), "a stored trial was lost by kill and resume".into()),
        (after.len() > whole.len(), "the session was complete when it was killed".into()),
        (doubled == 0, format!("{doubled} trials were stored twice by kill and resume")),
        (summary["complete"] == true, "the resumed session is not complete".into()),
    ];
    Ok(held.into_iter().filter(|(so, _)| !so).map(|(_, wrong)| wrong).collect())
}

/// What somebody reads of a machine: what each command printed, and the page of each session.
fn documents(folder: &Path) -> Result<Vec<Document>> {
    let printed = COMMANDS.map(|(command, _)| format!("{command}.txt"));
    let pages = SESSIONS.map(|session| format!("{session}/report.html"));
    let names = printed.into_iter().filter(|name| name != "doctor-json.txt").chain(pages);
    names
        .map(|name| {
            let text = read(folder, &name)?;
            let text = if name.ends_with(".html") { text_of(&text) } else { text };
            Ok(Document { name, sentences: sentences(&text) })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{COMMANDS, SESSIONS, judge};
    use crate::vm::list::machines;
    use serde_json::json;
    use std::fs::{create_dir, write};
    use std::path::Path;

    fn trial(number: u32, outcome: &serde_json::Value) -> String {
        let record =
            json!({ "experiment": "create", "block": number, "treatment": {}, "outcome": outcome });
        format!("{record}\n")
    }

    /// The answers of a machine on which all is well.
    fn answers(folder: &Path) {
        let put = |name: &str, text: &str| write(folder.join(name), text).unwrap();
        put("kernel-says.txt", "cpus 2\ncores 2\npackages 1\nnodes 1\nkinds 1\ncounters 0\n");
        let codes = COMMANDS.map(|(command, allowed)| format!("{command} {}\n", allowed[0]));
        put("codes.txt", &codes.concat());
        COMMANDS.iter().for_each(|(command, _)| put(&format!("{command}.txt"), "2 online"));
        let environment = json!({
            "cpus_online": 2, "cpus_allowed": [0, 1], "threads_per_core": 1,
            "topology": { "cores": [[0], [1]], "kinds": [] },
        });
        put("doctor-json.txt", &json!({ "environment": environment, "channels": [] }).to_string());
        put("left.txt", "");
        let trials = [1, 2].map(|number| trial(number, &json!({ "kind": "completed" })));
        put("before.ndjson", &trials[0]);
        let planted = json!([{
            "what": "100 faults", "truth": { "low": 100.0 },
            "result": { "estimate": { "point": 100.0 } },
        }]);
        let planted = json!({ "id": "planted_counts", "planted": planted });
        let experiments = json!([planted, { "id": "create" }]);
        let summary = json!({ "complete": true, "experiments": experiments }).to_string();
        let counts = json!({ "experiment": "planted_counts", "outcome": { "kind": "completed" } });
        for session in SESSIONS {
            create_dir(folder.join(session)).unwrap();
            put(&format!("{session}/trials.ndjson"), &format!("{}{counts}\n", trials.concat()));
            put(&format!("{session}/summary.json"), &summary);
            put(&format!("{session}/report.html"), "<p>2 CPUs, Linux</p>");
        }
    }

    #[test]
    fn what_is_wrong_on_a_machine_is_found() {
        let completed = json!({ "kind": "completed" });
        let unsupported = json!({ "kind": "unsupported", "reason": "needs 4 CPUs" });
        let failed = json!({ "kind": "failed", "reason": "no network" });
        let [whole, other] = [1, 3].map(|number| trial(number, &completed));
        for (file, text, said) in [
            ("before.ndjson", whole.clone(), ""),
            ("quick/trials.ndjson", trial(1, &unsupported), ""),
            ("quick/trials.ndjson", trial(1, &failed), "no network"),
            ("quick/trials.ndjson", trial(1, &json!({ "kind": "unsupported" })), "a trial of"),
            ("before.ndjson", other, "a stored trial was lost"),
            ("killed/trials.ndjson", [whole.clone(), whole.clone()].concat(), "stored twice"),
            ("killed/trials.ndjson", whole, "complete when it was killed"),
            ("killed/summary.json", "{}".into(), "not complete"),
            ("smoke/trials.ndjson", String::new(), "before any trial of planted_counts, create"),
            ("left.txt", "7 scruple __guard".into(), "left behind: 7"),
            ("codes.txt", "doctor 2".into(), "doctor ended with exit code 2"),
            ("kernel-says.txt", "cpus 4".into(), "the guest's kernel reports 4 cpus"),
            ("smoke.txt", "thread 'main' panicked at x".into(), "nothing panics"),
            ("selftest/summary.json", "{}".into(), "no planted count"),
            ("doctor-json.txt", "{}".into(), "doctor --json: cpus None"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            answers(folder.path());
            write(folder.path().join(file), text).unwrap();
            let machine = &machines(Some("new-kernel")).unwrap()[0];
            let wrong = judge(machine, folder.path()).unwrap().join("\n");
            let as_it_must = if said.is_empty() { wrong.is_empty() } else { wrong.contains(said) };
            assert!(as_it_must, "{file}: {said}: {wrong}");
        }
    }
}
