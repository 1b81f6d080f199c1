//! Sessions without who measured what where: plants in every place that a command fills are gone, and a
//! comparison says the same.

use crate::fleet::Cluster;
use crate::support::*;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What nobody may find. It is long enough that no packed data hold it by chance.
const PLANT: &str = "zqxplant";

/// A study of which every word is a plant that may be one.
const STUDY: &str = r#"
question = "Does zqxplant-question pay?"
command = [
    "sh", "-c", "echo zqxplant-out 5 $*; echo zqxplant-err at $PWD >&2; cat; test $1 != b || exit 3",
    "zqxplant-arg", "{other}", "{zqxplant_factor}",
]
stdin = "zqxplant-input"
prepare = ["sh", "-c", "true zqxplant-before"]
cleanup = ["sh", "-c", "true zqxplant-after"]
env = { ZQXPLANT_VARIABLE = "zqxplant-value", FROM_LEVEL = "{other}" }
grids = [["zqxplant_factor"], ["other"]]
[factors]
zqxplant_factor = [
    { name = "zqxplant-label", word = "zqxplant-word", about = "zqxplant-about" },
    { name = "zqxplant-list", word = ["zqxplant-x", "zqxplant-y"], label = "zqxplant-shown" },
    { name = "7", word = "zqxplant-seven" },
]
other = ["zqxplant-a", "b"]
[metrics.zqxplant_metric]
regex = 'zqxplant-out (\d+)'
unit = "zqxplant-unit"
label = "zqxplant-metric-label"
[figures.zqxplant_figure]
title = "zqxplant-title"
shows = "zqxplant_metric by other"
[[claims]]
text = "zqxplant-claim holds."
source = "zqxplant-source"
because = "zqxplant-because"
note = "zqxplant-note"
value = { at = { other = "zqxplant-a" } }
holds = "> 1 ns"
"#;

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    /// A folder whose name is a plant, with the study.
    fn new() -> Place {
        let dir = tempfile::Builder::new().prefix("zqxplant-folder").tempdir().unwrap();
        fs::write(dir.path().join("zqxplant_study.toml"), STUDY).unwrap();
        fs::write(dir.path().join("zqxplant-input"), "zqxplant-read\n").unwrap();
        Place { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs scruple there, on a machine that is called by a plant where that may be.
    fn run(&self, words: &[&str]) -> Output {
        let mut command = match may_rename() {
            true => Command::new("unshare"),
            false => scruple(),
        };
        if may_rename() {
            let script = "hostname zqxplant-host && exec \"$0\" \"$@\"";
            command.args(["--uts", "sh", "-c", script]).arg(binary());
        }
        let home = self.path("zqxplant-home");
        command.current_dir(self.dir.path()).env("HOME", home).env("USER", "zqxplant-user");
        command.env("ZQXPLANT_INHERITED", "zqxplant-inherited").args(words).output().unwrap()
    }

    fn done(&self, words: &[&str]) -> Output {
        let output = self.run(words);
        assert!(output.status.success(), "{words:?}: {}", said(&output));
        output
    }
}

/// Whether a process here may call the machine by another name, for itself alone.
fn may_rename() -> bool {
    let mut command = Command::new("unshare");
    command.args(["--uts", "sh", "-c", "hostname zqxplant-host"]).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Returns the files of a folder, also those of its folders.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(files(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found
}

/// Returns a text with what a page holds packed, unpacked behind it.
fn unpacked(text: &str) -> String {
    let mut all = text.to_string();
    for part in text.split("type=\"application/gzip\"").skip(1) {
        let data = part.split_once('>').and_then(|(_, rest)| rest.split('<').next()).unwrap();
        let packed = BASE64_STANDARD.decode(data.trim()).unwrap();
        flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut all).unwrap();
    }
    all
}

/// Panics if a text holds a plant, an id of the kernel, or the name of the machine where no other text can hold
/// that by chance.
fn holds_no_plant(what: &str, text: &str) {
    let text = unpacked(text).to_lowercase();
    if let Some((before, after)) = text.split_once(PLANT) {
        let before: Vec<char> = before.chars().rev().take(80).collect();
        let before: String = before.into_iter().rev().collect();
        panic!("{what}: {before}{PLANT}{}", after.chars().take(80).collect::<String>());
    }
    let value = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_lowercase();
    let ids = ["/etc/machine-id", "/proc/sys/kernel/random/boot_id", "/proc/sys/kernel/hostname"];
    for id in ids.map(value).iter().filter(|id| id.len() > 7) {
        assert!(!text.contains(id.as_str()), "{what} holds {id}");
    }
}

fn folder_holds_no_plant(dir: &Path) {
    let found = files(dir);
    assert!(found.len() >= 5, "{found:?}");
    for path in found {
        let text = String::from_utf8(fs::read(&path).unwrap()).unwrap();
        holds_no_plant(&path.file_name().unwrap().to_string_lossy(), &text);
    }
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_redacted_study_holds_nothing_of_its_user() {
    let _alone = alone();
    let place = Place::new();
    let study =
        ["study", "zqxplant_study.toml", "--profile", "smoke", "--runs", "2", "--no-shield"];
    place.done(&[&study[..], &["--output", "plain"]].concat());
    place.done(&[&study[..], &["--output", "direct", "--redact"]].concat());
    // The plants are where they would be found.
    let plain = files(&place.path("plain"));
    let texts = plain.iter().map(|path| unpacked(&fs::read_to_string(path).unwrap()));
    let all = texts.collect::<Vec<_>>().join("\n");
    for plant in
        ["-out", "-err", "-arg", "-question", "-claim", "-unit", "-word", "-folder", "_study"]
    {
        assert!(all.contains(&format!("{PLANT}{plant}")), "{plant} was not planted");
    }
    assert_eq!(may_rename(), all.contains("zqxplant-host"));
    // A neighbour of this name cannot be had for sure; what a session would say of it can.
    let path = place.path("plain/manifest.json");
    let mut manifest = json(&path);
    manifest["environment"]["neighbours"] =
        serde_json::json!([{"name": "zqxplant-process", "cpu_share": 0.5}]);
    fs::write(&path, manifest.to_string()).unwrap();

    place.done(&["export", "plain", "--redact", "--format", "session", "--output", "after"]);
    for dir in ["direct", "after"] {
        folder_holds_no_plant(&place.path(dir));
    }
    assert_eq!(json(&place.path("after/manifest.json"))["redacted"], true);
    for words in [
        &["report", "plain", "--redact"][..],
        &["report", "plain", "--redact", "--all"],
        &["report", "plain", "--redact", "--json"],
        &["report", "plain", "--redact", "--output", "-"],
        &["export", "plain", "--redact"],
        &["export", "plain", "--redact", "--observations"],
        &["export", "plain", "--redact", "--format", "hyperfine"],
        &["export", "plain", "--redact", "--format", "google-benchmark"],
        &["export", "plain", "--redact", "--format", "bencher"],
    ] {
        let output = place.done(words);
        assert!(output.stdout.len() > 100, "{words:?}: {}", said(&output));
        holds_no_plant(&words.join(" "), &String::from_utf8(output.stdout).unwrap());
    }
    // Reading changed nothing.
    assert!(fs::read_to_string(place.path("plain/report.html")).unwrap().contains(PLANT));
}

#[test]
fn what_scale_and_why_measured_is_redacted() {
    let _alone = alone();
    let place = Place::new();
    let command = ["sh", "-c", "echo zqxplant-out 5; true zqxplant-arg {n}"];
    let scale = [
        "scale",
        "--profile",
        "smoke",
        "--runs",
        "1",
        "--levels",
        "1,2",
        "--redact",
        "--no-shield",
    ];
    let work =
        ["--work", r"zqxplant-out (\d+)", "--unit", "zqxplant-unit", "--output", "scale", "--"];
    let output = place.done(&[&scale[..], &work, &command].concat());
    holds_no_plant("scale", &String::from_utf8(output.stdout).unwrap());
    let why = ["why", "--runs", "1", "--squeeze", "timer", "--redact", "--no-shield", "--json"];
    let output =
        place.run(&[&why[..], &["--output", "why", "sh", "-c", "true zqxplant-arg"]].concat());
    holds_no_plant("why", &String::from_utf8(output.stdout).unwrap());
    for dir in ["scale", "why"] {
        folder_holds_no_plant(&place.path(dir));
    }
}

/// Returns the numbers of a comparison's effects, in their order of size, since names order them otherwise.
fn effects(comparison: &Value) -> Vec<String> {
    fn walk(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("ratio").map(Value::to_string));
                found.extend(fields.get("p_value").map(Value::to_string));
                fields.values().for_each(|value| walk(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| walk(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(&comparison["experiments"], &mut found);
    found.sort();
    found
}

fn compared(one: &Path, other: &Path) -> Value {
    let output = scruple().arg("compare").args([one, other]).arg("--json").output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn redacted(session: &Path, to: &Path) {
    let mut command = scruple();
    command
        .arg("export")
        .arg(session)
        .args(["--redact", "--format", "session", "--output"])
        .arg(to);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
}

/// Sessions of an earlier version, whose hash of the machine is of another kind and whose boot is not hashed.
#[test]
fn redacted_sessions_compare_like_their_originals() {
    let folder = tempfile::tempdir().unwrap();
    let dir = |name: &str| folder.path().join(name);
    let (base, later) = (recorded("base"), recorded("later"));
    redacted(&base, &dir("one"));
    redacted(&later, &dir("two"));
    let boot = json(&dir("one/manifest.json"))["environment"]["boot"].clone();
    assert!(boot.as_str().is_some_and(|hash| hash.len() == 32), "{boot}");
    let (plain, hidden) = (compared(&base, &later), compared(&dir("one"), &dir("two")));
    assert!(!effects(&plain).is_empty());
    for part in ["experiments", "controls", "gates", "alike"] {
        assert_eq!(plain[part], hidden[part], "{part}");
    }
    let facts = |comparison: &Value| -> Vec<Value> {
        let rows = comparison["facts"].as_array().unwrap();
        rows.iter().filter(|row| row["name"] != "machine").cloned().collect()
    };
    assert_eq!(facts(&plain), facts(&hidden));
    let names = |comparison: &Value| -> Vec<Value> {
        comparison["facts"].as_array().unwrap().iter().map(|row| row["name"].clone()).collect()
    };
    assert_eq!(names(&plain), names(&hidden));
    // A session and what is left of it are of one machine.
    let same = compared(&base, &dir("one"));
    assert!(names(&same).is_empty(), "{:?}", same["facts"]);
    assert!(same["alike"][0].as_str().unwrap().contains("same machine"), "{:?}", same["alike"]);
}

#[test]
fn redacted_studies_compare_like_their_originals() {
    let _alone = alone();
    let place = Place::new();
    for (dir, seed) in [("a", "1"), ("b", "2")] {
        let study =
            ["study", "zqxplant_study.toml", "--profile", "smoke", "--runs", "3", "--no-shield"];
        place.done(&[&study[..], &["--seed", seed, "--output", dir]].concat());
        redacted(&place.path(dir), &place.path(&format!("redacted-{dir}")));
    }
    let plain = compared(&place.path("a"), &place.path("b"));
    let hidden = compared(&place.path("redacted-a"), &place.path("redacted-b"));
    assert!(effects(&plain).len() > 4, "{plain}");
    assert_eq!(effects(&plain), effects(&hidden));
    let warnings = hidden["warnings"].to_string();
    assert!(warnings.contains("redacted"), "{warnings}");
}

#[test]
fn a_redacted_session_of_the_catalog_is_finished_and_one_of_programs_is_not() {
    let _alone = alone();
    let place = Place::new();
    let run = ["run", "null", "--profile", "smoke", "--runs", "2", "--no-shield", "--redact"];
    place.done(&[&run[..], &["--output", "run"]].concat());
    let trials = place.path("run/trials.ndjson");
    let all = fs::read_to_string(&trials).unwrap();
    let some: String = all.lines().take(2).map(|line| format!("{line}\n")).collect();
    fs::write(&trials, some).unwrap();
    place.done(&["run", "--resume", "run"]);
    assert_eq!(fs::read_to_string(&trials).unwrap().lines().count(), all.lines().count());
    folder_holds_no_plant(&place.path("run"));
    let study =
        ["study", "zqxplant_study.toml", "--profile", "smoke", "--runs", "1", "--no-shield"];
    place.done(&[&study[..], &["--redact", "--output", "study"]].concat());
    for words in [&["study", "--resume", "study"], &["study", "--from", "study"]] {
        let output = place.run(words);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("is redacted"), "{}", said(&output));
    }
    // Its folder has no name of the machine either.
    place.done(&run);
    let name = fs::read_dir(place.path("scruple-sessions")).unwrap().flatten().next().unwrap();
    holds_no_plant("the folder's name", &name.file_name().to_string_lossy());
}

/// Measures a study whose `env` has a value, and takes half of its trials away.
fn begun(place: &Place, more: &[&str]) -> String {
    let text =
        "command = [\"sh\", \"-c\", \"test ${#KEY} = 12\"]\nenv = { KEY = \"zqxplant-key\" }\n";
    fs::write(place.path("a.toml"), text).unwrap();
    let study =
        ["study", "a.toml", "--profile", "smoke", "--runs", "3", "--no-shield", "--output", "s"];
    place.done(&[&study[..], more].concat());
    let trials = place.path("s/trials.ndjson");
    let all = fs::read_to_string(&trials).unwrap();
    let half: String = all.lines().take(3).map(|line| format!("{line}\n")).collect();
    fs::write(&trials, &half).unwrap();
    half
}

#[test]
fn values_of_variables_are_not_stored_and_a_session_goes_on_with_the_same() {
    let _alone = alone();
    let place = Place::new();
    let half = begun(&place, &[]);
    for path in files(&place.path("s")) {
        let text = unpacked(&fs::read_to_string(&path).unwrap());
        assert!(!text.contains("zqxplant-key"), "{}", path.display());
    }
    let page = fs::read_to_string(place.path("s/report.html")).unwrap();
    assert!(page.contains("KEY (its value is not stored)"));
    let (file, trials) = (place.path("a.toml"), place.path("s/trials.ndjson"));
    let text = fs::read_to_string(&file).unwrap();
    let completes = |output: &Output| {
        assert!(output.status.success(), "{}", said(output));
        let stored = fs::read_to_string(&trials).unwrap();
        assert_eq!(stored.matches("\"completed\"").count(), 6, "{}", said(output));
        assert!(!stored.contains("zqxplant-key"));
        fs::write(&trials, &half).unwrap();
    };
    completes(&place.run(&["study", "--resume", "s"]));
    // Another value is another study.
    fs::write(&file, text.replace("\"zqxplant-key\" }", "\"other\" }")).unwrap();
    let output = place.run(&["study", "--resume", "s"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("does not hold the value of KEY"), "{}", said(&output));
    // The file may be gone, if the environment has the value.
    fs::remove_file(&file).unwrap();
    let with_key = |words: &[&str]| {
        let mut command = scruple();
        command
            .current_dir(place.dir.path())
            .env("KEY", "zqxplant-key")
            .args(words)
            .output()
            .unwrap()
    };
    completes(&with_key(&["study", "--resume", "s"]));
    let from = ["study", "--from", "s", "--profile", "smoke", "--runs", "1", "--output", "again"];
    let output = with_key(&from);
    assert!(output.status.success(), "{}", said(&output));
    let output = place.run(&["study", "--from", "s", "--output", "none"]);
    assert!(said(&output).contains("does not give it"), "{}", said(&output));
}

#[test]
fn values_are_stored_where_that_is_asked_for_and_read_where_they_are_stored() {
    let _alone = alone();
    let place = Place::new();
    begun(&place, &["--keep-env-values"]);
    let manifest = json(&place.path("s/manifest.json"));
    assert_eq!(manifest["designs"][0]["subject"]["environment"]["KEY"], "zqxplant-key");
    fs::remove_file(place.path("a.toml")).unwrap();
    place.done(&["study", "--resume", "s"]);
    assert_eq!(fs::read_to_string(place.path("s/trials.ndjson")).unwrap().lines().count(), 6);
}

#[test]
fn a_redacted_fleet_names_no_node_and_says_the_same() {
    let _alone = alone();
    let cluster = Cluster::new();
    let nodes = ["zqxplant1", "zqxplant2", "zqxplant3"];
    let idle = nodes.map(|node| format!("{node}|idle|ssd\n"));
    fs::write(cluster.fake("nodes"), idle.concat()).unwrap();
    cluster.mode("zqxplant3", &["fail"]);
    let list = nodes.join(",");
    let output = cluster.run(&["--nodelist", &list, "--partition", "zqxplant"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let copy = cluster.folder().with_file_name("copy");
    let to = copy.display().to_string();
    let output = cluster.on_folder("collect", &["--redact", &to, "--json"]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    holds_no_plant("what it prints", &String::from_utf8_lossy(&output.stdout));
    folder_holds_no_plant(&copy);
    let [plain, hidden] =
        [cluster.folder(), copy.clone()].map(|dir| json(&dir.join("result.json")));
    let names = hidden["nodes"].as_array().unwrap().iter().map(|node| node["name"].clone());
    assert_eq!(names.collect::<Vec<_>>(), ["node-1", "node-2", "node-3"]);
    assert!(!effects(&plain["comparison"]).is_empty());
    assert_eq!(effects(&plain["comparison"]), effects(&hidden["comparison"]));
    assert_eq!(hidden["same_machine"], serde_json::json!([["node-1", "node-2"]]));
    // Its sessions are sessions.
    assert!(effects(&compared(&copy.join("node-1"), &copy.join("node-2"))).len() > 2);
    let again = cluster.on_folder("collect", &["--redact", &to]);
    assert!(said(&again).contains("it is not empty"), "{}", said(&again));
}
