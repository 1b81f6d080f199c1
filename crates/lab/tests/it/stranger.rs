//! A session folder from a stranger: `report` and `run --resume` end in one clear line, within a
//! bounded memory, whatever stands in it.

use crate::support::*;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// An address space that holds the program and a small session many times over.
const WORLD: &str = "ulimit -v 1000000;";

/// A session that was honest until its files were changed.
fn stranger(at: &Path, change: impl FnOnce(&Path, &mut Value)) {
    let output = small_session(at, 2).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let path = at.join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let before = manifest.clone();
    change(at, &mut manifest);
    if manifest != before {
        fs::write(path, manifest.to_string()).unwrap();
    }
}

/// Both commands refuse it in one line that names the file and what is wrong.
fn refused(at: &Path, parts: &[&str]) {
    for command in ["report", "run --resume"] {
        let output = Command::new("sh")
            .arg("-c")
            .arg(format!("{WORLD} exec timeout 60 \"$0\" {command} \"$1\""))
            .arg(binary())
            .arg(at)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{command}: {}", said(&output));
        let text = String::from_utf8_lossy(&output.stderr);
        let line = text.lines().find(|line| line.starts_with("error:")).unwrap();
        assert!(parts.iter().all(|part| line.contains(part)), "{command}: {line}");
        assert!(line.len() < 1000 && !line.contains(char::is_control), "{command}: {line:?}");
    }
}

fn factors(count: usize, levels: usize) -> Value {
    let level =
        |at: usize| json!({"name": at.to_string(), "value": null, "about": "", "from": "smoke"});
    let levels: Vec<Value> = (0..levels).map(level).collect();
    let factor = |at: usize| json!({"name": format!("f{at}"), "about": "", "levels": levels, "baseline": "0"});
    (0..count).map(factor).collect::<Vec<Value>>().into()
}

#[test]
fn a_design_that_explodes_is_refused() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("session");
    stranger(&at, |_, manifest| {
        let design = &mut manifest["designs"][0];
        design["factors"] = factors(16, 16);
        design["grids"] = json!([]);
        for list in ["findings", "claims", "controls", "accounts"] {
            design[list] = json!([]);
        }
    });
    refused(&at, &["manifest.json", "experiment null", "treatments are more than 4096"]);
}

#[test]
fn a_design_that_contradicts_itself_is_refused() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("session");
    stranger(&at, |_, manifest| {
        manifest["designs"][0]["controls"][0]["response"] = json!("\u{1b}]0;owned\u{7}_ns");
    });
    refused(&at, &["manifest.json", "experiment null", "is no response"]);
}

#[test]
fn trials_without_an_end_are_refused() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes, part) in
        [("hole", 1 << 40, "bytes, and a session has at most"), ("line", 1 << 30, "longer than")]
    {
        let at = folder.path().join(name);
        stranger(&at, |at, _| {
            let trials = File::options().write(true).open(at.join("trials.ndjson")).unwrap();
            trials.set_len(bytes).unwrap();
        });
        refused(&at, &["trials.ndjson", part]);
        assert_eq!(fs::metadata(at.join("trials.ndjson")).unwrap().len(), bytes, "nothing was cut");
    }
}

#[test]
fn trials_of_something_else_are_refused() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("session");
    stranger(&at, |at, _| {
        let path = at.join("trials.ndjson");
        let text = fs::read_to_string(&path).unwrap();
        let other = "\"treatment\":{\"engine\":\"steam\",";
        fs::write(path, text.replace("\"treatment\":{", other)).unwrap();
    });
    refused(&at, &["trials.ndjson, line ", "is no treatment of null"]);
}

#[test]
fn what_is_no_file_is_refused_and_not_waited_for() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    for name in ["manifest.json", "trials.ndjson"] {
        for kind in ["pipe", "device", "folder"] {
            let at = folder.path().join(format!("{name}-{kind}"));
            stranger(&at, |at, _| {
                let path = at.join(name);
                fs::remove_file(&path).unwrap();
                match kind {
                    "pipe" => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
                    "device" => std::os::unix::fs::symlink("/dev/zero", path).unwrap(),
                    _ => fs::create_dir(path).unwrap(),
                }
            });
            refused(&at, &[name]);
        }
    }
}

/// A file that somebody copied behind itself is read as it was, and one that was put together of two
/// sessions is refused, by whatever reads trials.
#[test]
fn trials_that_stand_twice_count_once_and_those_that_contradict_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("session");
    fs::create_dir(&at).unwrap();
    let from = recorded("core");
    fs::copy(from.join("manifest.json"), at.join("manifest.json")).unwrap();
    let trials = fs::read_to_string(from.join("trials.ndjson")).unwrap();
    let lines = trials.lines().count();
    let read = |trials: &str| {
        fs::write(at.join("trials.ndjson"), trials).unwrap();
        [&["report"][..], &["export"], &["figure"], &["compare", "session"]].map(|words| {
            scruple().args(words).arg("session").current_dir(folder.path()).output().unwrap()
        })
    };
    let once = read(&trials);
    let twice = read(&trials.repeat(2));
    let sentence =
        format!("left out of trials.ndjson: {lines} lines, each a copy of an earlier one");
    // What is left out stands on the report, and changes nothing else.
    let is_alike = |one: &Output, other: &Output| {
        let named = String::from_utf8_lossy(&one.stdout).contains("! Left out of trials.ndjson");
        named || one.stdout == other.stdout
    };
    for ((once, twice), sessions) in once.iter().zip(&twice).zip([1, 1, 1, 2]) {
        assert!(once.status.success(), "{}", said(once));
        assert!(twice.status.success() && is_alike(twice, once), "{}", said(twice));
        let told = String::from_utf8_lossy(&twice.stderr);
        assert_eq!(told.matches(&sentence).count(), sessions, "{told}");
    }
    let [other, another] =
        ["1", "2"].map(|more| trials.replace("\"total_ns\":", &format!("\"total_ns\":{more}")));
    // As many lines as there are records are left out, and named; more are no session.
    for (output, once) in read(&format!("{trials}{other}")).iter().zip(&once) {
        assert!(output.status.success() && is_alike(output, once), "{}", said(output));
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("it contradicts line 1 on the same trial ("), "{told}");
    }
    for output in read(&format!("{trials}{other}{another}")) {
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        let told = String::from_utf8_lossy(&output.stderr);
        let place =
            format!("trials.ndjson, line {}: it contradicts line 1 on the same trial (", lines + 1);
        assert!(
            told.contains(&place) && told.contains("compare the sessions' own folders"),
            "{told}"
        );
    }
}
