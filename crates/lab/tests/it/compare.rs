//! `scruple compare` on recorded sessions, as people and programs see it.

use crate::support::{said, scruple};
use model::{Comparison, GateOutcome, Manifest};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

const BASE: &str = "recorded/base";
const LATER: &str = "recorded/later";

/// From a folder that has what these tests name of the repository, so that paths are the same on every machine,
/// and no sessions that somebody measured.
fn compare(words: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let dir = tempfile::tempdir().unwrap();
    for name in ["recorded", "docs", "README.md"] {
        std::os::unix::fs::symlink(root.join(name), dir.path().join(name)).unwrap();
    }
    scruple().arg("compare").args(words).current_dir(dir.path()).output().unwrap()
}

fn code(words: &[&str]) -> Option<i32> {
    compare(words).status.code()
}

fn json(words: &[&str]) -> Comparison {
    let output = compare(&[words, &["--json"]].concat());
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}", said(&output));
    });
    let read: Comparison = serde_json::from_value(printed.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), printed, "fields that the schema lacks");
    read
}

fn text(words: &[&str]) -> String {
    String::from_utf8(compare(words).stdout).unwrap()
}

fn error(words: &[&str]) -> String {
    let output = compare(words);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(output.stdout.is_empty(), "{}", said(&output));
    String::from_utf8(output.stderr).unwrap()
}

/// A copy of a recorded session without what a test takes out, and with its manifest changed.
fn copy(of: &str, to: &Path, change: impl Fn(&mut Manifest)) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(of);
    fs::create_dir_all(to).unwrap();
    let manifest = fs::read(from.join("manifest.json")).unwrap();
    let mut manifest: Manifest = serde_json::from_slice(&manifest).unwrap();
    change(&mut manifest);
    fs::write(to.join("manifest.json"), serde_json::to_vec(&manifest).unwrap()).unwrap();
    fs::copy(from.join("trials.ndjson"), to.join("trials.ndjson")).unwrap();
    to.to_path_buf()
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn two_recorded_sessions_are_compared_in_words_and_in_json() {
    insta::assert_snapshot!("compare_recorded", text(&[BASE, LATER, "--fail-if", "clock > +400%"]));
    insta::assert_snapshot!("compare_clock_all", text(&[BASE, LATER, "-e", "clock", "--all"]));
    let comparison = json(&[BASE, LATER, "-e", "clock", "--fail-if", "clock > +400%"]);
    insta::assert_snapshot!("compare_clock_json", brief(&comparison));
    assert_eq!(comparison.sides.len(), 2);
    assert_eq!(comparison.experiments.len(), 1);
    let whole = json(&[BASE, LATER]);
    assert_eq!(whole.experiments.len(), 21);
    let refused = whole.experiments.iter().filter(|it| it.refused.is_some()).count();
    assert_eq!(refused, 17, "create, clock, false_sharing and null are in both");
    assert!(whole.warnings.iter().any(|it| it.contains("one session per side")));
    assert!(whole.facts.iter().any(|row| row.name == "shield"));
    assert!(whole.alike[0].contains("the same machine"));
    assert!(whole.controls[0].is_some());
}

/// The JSON with six digits a number and two rows an experiment: for reading.
fn brief(comparison: &Comparison) -> String {
    fn rounded(value: &mut Value) {
        match value {
            Value::Array(all) => all.iter_mut().for_each(rounded),
            Value::Object(all) => all.values_mut().for_each(rounded),
            Value::Number(number) if number.is_f64() => {
                let shown: f64 = format!("{:.5e}", number.as_f64().unwrap()).parse().unwrap();
                *value = serde_json::json!(shown);
            }
            _ => {}
        }
    }
    let mut short = comparison.clone();
    for experiment in &mut short.experiments {
        experiment.rows.truncate(2);
        experiment.findings.truncate(2);
    }
    for gate in &mut short.gates {
        gate.looked_at.truncate(2);
    }
    let mut value = serde_json::to_value(&short).unwrap();
    rounded(&mut value);
    serde_json::to_string_pretty(&value).unwrap()
}

#[test]
fn a_session_does_not_differ_from_itself() {
    let comparison = json(&[BASE, BASE]);
    let mut compared = 0;
    for experiment in &comparison.experiments {
        assert_eq!(experiment.refused, None);
        assert!(experiment.verdicts.is_empty());
        let findings = experiment.findings.iter().flat_map(|it| &it.effects);
        let rows = experiment.rows.iter().flat_map(|it| &it.effects);
        for effect in findings.chain(rows).flatten() {
            assert!(!effect.differs, "{}: {effect:?}", experiment.id);
            if let Some(ratio) = effect.ratio {
                assert!((ratio.point - 1.0).abs() < 1e-12, "{}: {effect:?}", experiment.id);
                compared += 1;
            }
        }
    }
    assert!(compared > 1000, "{compared}");
    assert!(comparison.warnings[0].contains("stands here more than once"));
    assert!(comparison.facts.is_empty(), "{:?}", comparison.facts);
    assert!(text(&[BASE, BASE]).contains("No interval excludes that A and B are equal"));
    assert_eq!(code(&[BASE, BASE]), Some(0));
}

/// The base without the trials of most experiments, since many comparisons are made of it.
fn small_base(to: &Path) -> PathBuf {
    let small = copy(BASE, to, |_| ());
    let trials = fs::read_to_string(small.join("trials.ndjson")).unwrap();
    let kept = ["clock", "fault", "null"].map(|id| format!("\"experiment\":\"{id}\""));
    let kept = trials.lines().filter(|line| kept.iter().any(|name| line.contains(name)));
    let kept: String = kept.map(|line| format!("{line}\n")).collect();
    assert!(kept.len() < trials.len() / 2 && !kept.is_empty());
    fs::write(small.join("trials.ndjson"), kept).unwrap();
    small
}

#[test]
fn each_exit_code_says_what_it_is_documented_to_say() {
    let dir = tempfile::tempdir().unwrap();
    let base = small_base(&dir.path().join("base"));
    let base = path(&base);
    let only = ["-e", "clock", "-e", "fault"];
    let ends = |conditions: &[&str]| {
        let asked = conditions.iter().flat_map(|condition| ["--fail-if", condition]);
        code(&[&[base, LATER], &only[..], &asked.collect::<Vec<_>>()[..]].concat())
    };
    // Whatever the noise: nobody's clock became five times slower, or lost four fifths.
    assert_eq!(ends(&["clock > +400%"]), Some(0));
    assert_eq!(ends(&["clock < -80%"]), Some(0));
    // What is sure to be met: it has not become five times slower, nor lost four fifths.
    assert_eq!(ends(&["clock < +400%"]), Some(1));
    assert_eq!(ends(&["clock > -80%"]), Some(1));
    // A session against itself reaches over an edge at its own number.
    assert_eq!(code(&[base, base, "-e", "clock", "--fail-if", "clock > +0%"]), Some(3));
    // Not measured on a side.
    assert_eq!(ends(&["fault > +5%"]), Some(3));
    assert_eq!(code(&[LATER, base, "-e", "fault", "--fail-if", "fault > +5%"]), Some(3));
    // The worst of several: a regression before what cannot be told before what is fine.
    assert_eq!(ends(&["clock > +400%", "clock < -80%"]), Some(0));
    assert_eq!(ends(&["clock > +400%", "fault > +5%"]), Some(3));
    assert_eq!(ends(&["fault > +5%", "clock > -80%"]), Some(1));
    let words = [base, LATER, "--fail-if", "fault > +5%", "--fail-if", "clock > -80%"];
    let outcomes: Vec<GateOutcome> = json(&words).gates.iter().map(|gate| gate.outcome).collect();
    assert_eq!(outcomes, [GateOutcome::CannotTell, GateOutcome::Regression]);
    assert_eq!(code(&[base, LATER]), Some(0));
}

#[test]
fn what_is_wrong_is_said_with_what_would_be_right() {
    let refused = |condition: &str| error(&[LATER, LATER, "--fail-if", condition]);
    assert!(refused("create").contains("EXPERIMENT[.RESPONSE]"));
    assert!(refused("creates > +5%").contains("there are: clock, create, "));
    assert!(
        refused("clock.time_ns > +5%").contains("clock has no response time_ns; it has: read_ns")
    );
    assert!(refused("create{mechanism=forks} > +5%").contains("fork"));
    assert!(error(&[LATER, LATER, "-e", "creates"]).contains("there are: clock"));
    let only = error(&[LATER, LATER, "-e", "clock", "--fail-if", "create > +5%"]);
    assert!(only.contains("--experiment"), "{only}");
    assert!(error(&[BASE]).contains("SIDE"));
    assert!(error(&[BASE, "docs"]).contains("docs is not a session, and holds none"));
    assert!(error(&[BASE, "nowhere"]).contains("cannot read nowhere"));
    assert!(error(&[BASE, "README.md"]).contains("README.md"));
    let dir = tempfile::tempdir().unwrap();
    let damaged = copy(LATER, &dir.path().join("damaged"), |_| ());
    fs::write(damaged.join("trials.ndjson"), "{\"trial\": 1}\n").unwrap();
    let told = error(&[BASE, path(&damaged)]);
    assert!(told.contains("trials.ndjson, line 1") && told.lines().count() == 1, "{told}");
    fs::write(damaged.join("manifest.json"), "{}").unwrap();
    assert!(error(&[path(dir.path()), BASE]).contains("manifest.json"));
}

#[test]
fn nothing_is_written_and_a_base_may_be_read_only() {
    let dir = tempfile::tempdir().unwrap();
    let base = copy(LATER, &dir.path().join("base"), |_| ());
    let mut rights = fs::metadata(&base).unwrap().permissions();
    rights.set_readonly(true);
    fs::set_permissions(&base, rights).unwrap();
    let names = |dir: &Path| {
        let mut names: Vec<_> =
            fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    // A session that somebody is writing just now may be looked at as well.
    fs::write(dir.path().join("elsewhere"), "").unwrap();
    let output = compare(&[path(&base), LATER]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(output.stderr.is_empty(), "{}", said(&output));
    assert_eq!(names(&base), ["manifest.json", "trials.ndjson"]);
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(LATER);
    assert_eq!(names(&recorded), ["manifest.json", "trials.ndjson"]);
}

#[test]
fn the_page_is_written_where_it_is_asked_for_and_nowhere_else() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("compare.html");
    let output = compare(&[LATER, LATER, "--html", path(&file)]);
    assert!(output.status.success(), "{}", said(&output));
    let page = fs::read_to_string(&file).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>"));
    assert!(text(&[LATER, LATER, "--html", "-"]).starts_with("<!DOCTYPE html>"));
    assert!(error(&[LATER, LATER, "--html", "-", "--json"]).contains("give --html a file"));
    let nowhere = dir.path().join("no/such/folder.html");
    assert!(error(&[LATER, LATER, "--html", path(&nowhere)]).contains("--html: cannot write"));
}

#[test]
fn a_folder_of_sessions_is_one_side() {
    let dir = tempfile::tempdir().unwrap();
    for (side, name, seed) in [("a", "1", 1), ("a", "2", 2), ("b", "1", 3), ("b", "2", 4)] {
        copy(LATER, &dir.path().join(side).join(name), |manifest| {
            manifest.seed = seed;
            manifest.session = format!("session-{side}-{name}");
        });
    }
    // Other files do not disturb.
    fs::write(dir.path().join("a/README"), "measured on the fast machine").unwrap();
    let (a, b) = (dir.path().join("a"), dir.path().join("b"));
    let comparison = json(&[path(&a), path(&b)]);
    assert_eq!(comparison.sides[0].sessions, ["session-a-1", "session-a-2"]);
    let effects = comparison.experiments.iter().flat_map(|it| &it.rows).flat_map(|it| &it.effects);
    let mut by_session = effects.flatten().filter(|it| it.p_value.is_some());
    assert!(by_session.all(|it| it.unit_of_replication == model::Replication::Sessions));
    assert!(!comparison.warnings.iter().any(|it| it.contains("one session per side")));
    assert!(text(&[path(&a), path(&b)]).contains("Intervals rest on sessions"));
    let mixed = json(&[path(&a), BASE]);
    assert!(mixed.warnings.iter().any(|it| it.contains(&format!("one session per side ({BASE})"))));
}

#[test]
fn three_sides_have_letters() {
    let comparison = json(&[BASE, LATER, BASE, "-e", "clock"]);
    assert_eq!(comparison.sides.len(), 3);
    let rows = &comparison.experiments[0].rows;
    assert!(rows.iter().all(|row| row.values.len() == 3 && row.effects.len() == 2));
    let told = text(&[BASE, LATER, BASE, "-e", "clock"]);
    assert!(told.contains("C recorded/base") && told.contains("C against A"), "{told}");
}

#[test]
fn another_design_is_refused_and_passes_no_gate() {
    let dir = tempfile::tempdir().unwrap();
    let later = copy(LATER, &dir.path().join("later"), |manifest| {
        for design in manifest.designs.iter_mut().filter(|design| design.id == "clock") {
            design.version += 1;
        }
        manifest.environment.kernel = "\u{1b}[2J7.0-evil".into();
    });
    let words = [BASE, path(&later), "--fail-if", "clock > +400%"];
    assert_eq!(code(&words), Some(3));
    let comparison = json(&words);
    let clock = comparison.experiments.iter().find(|it| it.id == "clock").unwrap();
    assert_eq!(clock.versions, [Some(1), Some(2)]);
    assert!(clock.refused.as_deref().unwrap().contains("version 1 in one session and 2"));
    assert!(comparison.gates[0].reason.contains("clock is not compared"));
    let told = text(&words);
    assert!(told.contains("kernel") && !told.contains('\u{1b}'), "{told}");
    let coloured = compare(&[&words[..], &["--color", "always"]].concat());
    assert!(!String::from_utf8(coloured.stdout).unwrap().contains("\u{1b}[2J"));
}

/// The most memory that a comparison of two sides of so many sessions was seen to take, in KiB.
fn peak_kib(dir: &Path, sessions: usize) -> u64 {
    let sides = ["a", "b"].map(|side| dir.join(format!("{side}{sessions}")));
    for (side, seed) in sides.iter().zip([0, 1000]) {
        for number in 0..sessions as u64 {
            copy(LATER, &side.join(format!("{number:04}")), |manifest| {
                manifest.seed = seed + number;
                manifest.session = format!("{seed}-{number}");
            });
        }
    }
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("scruple"));
    command.args(["compare", path(&sides[0]), path(&sides[1])]);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let end = loop {
        let told = fs::read_to_string(&status).unwrap_or_default();
        let found = told.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let found = found.and_then(|line| line.split_whitespace().next()?.parse().ok());
        peak = found.unwrap_or(0).max(peak);
        if let Some(end) = child.try_wait().unwrap() {
            break end;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    };
    assert!(end.success(), "{end}");
    peak
}

#[test]
fn memory_does_not_grow_with_the_trials_of_all_sessions() {
    let dir = tempfile::tempdir().unwrap();
    let (few, many) = (peak_kib(dir.path(), 4), peak_kib(dir.path(), 34));
    // 60 sessions more: their trials would take over 60 MB (1.6 MB of JSON each), their numbers 3.
    assert!(few > 0 && many < few + 30_000, "{few} KiB with 8 sessions, {many} KiB with 68");
}

#[test]
fn a_side_of_too_many_sessions_is_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..=4096 {
        let session = dir.path().join(number.to_string());
        fs::create_dir(&session).unwrap();
        fs::write(session.join("manifest.json"), "").unwrap();
    }
    let told = error(&[LATER, path(dir.path())]);
    assert!(told.contains("more than 4096 sessions") && told.lines().count() == 1, "{told}");
}

#[test]
fn a_wrong_name_is_told_before_any_trial_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let damaged = copy(LATER, &dir.path().join("damaged"), |_| ());
    fs::write(damaged.join("trials.ndjson"), "{}\n").unwrap();
    let told = error(&[LATER, path(&damaged), "-e", "creates"]);
    assert!(told.contains("there are: clock") && told.lines().count() == 1, "{told}");
}

#[test]
fn help_lists_the_conditions_and_the_exit_codes() {
    let help = String::from_utf8(compare(&["--help"]).stdout).unwrap();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in ["--fail-if", "Exit codes", "1 regression", "3 undecided", "{FACTOR=LEVEL"] {
        assert!(help.contains(word), "{word}: {help}");
    }
}
