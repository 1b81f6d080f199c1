//! `scruple study`, from the file to the report.

use crate::support::{alone, assert_no_doubles, eventually, said, scruple, stored_trials};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// A study in a folder of its own.
fn study(dir: &Path, text: &str) -> String {
    let file = dir.join("a.toml");
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

fn command(arguments: &[&str]) -> Command {
    let mut command = scruple();
    command.arg("study").args(arguments).env_remove("NO_COLOR").env("LC_ALL", "C.UTF-8");
    command
}

fn scruple_study(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// Measures in two blocks, without a shield.
fn measured(file: &str, session: &Path, more: &[&str]) -> Output {
    let session = session.display().to_string();
    let fixed = ["--profile", "smoke", "--seed", "7", "--no-shield", "--output", &session];
    scruple_study(&[&[file], &fixed[..], more].concat())
}

fn refused_in(output: &Output, wanted: &str) {
    assert_eq!(output.status.code(), Some(2), "{}", said(output));
    assert!(String::from_utf8_lossy(&output.stderr).contains(wanted), "{}", said(output));
}

fn refused(arguments: &[&str], wanted: &[&str]) {
    let output = scruple_study(arguments);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert_eq!(told.trim_end().lines().count(), 1, "{told}");
    for wanted in wanted {
        assert!(told.contains(wanted), "{wanted:?} is not in: {told}");
    }
}

const PLANTED: &str = r#"
question = "Is a printed number found?"
command = ["sh", "-c", "echo {n} files; echo speed {n}.5 >&2"]
[factors]
n = [1, 2, 4]
[metrics.files]
regex = '^(\d+) files'
unit = "count"
[metrics.speed]
regex = 'speed ([0-9.]+)'
from = "stderr"
unit = "MB/s"
[[claims]]
text = "Four files are four."
value = { at = { n = 4 }, response = "files" }
holds = "= 4"
[[claims]]
text = "The speed does not change."
flat = { over = "n", response = "speed" }
holds = "within 10%"
[[claims]]
text = "The files are in proportion."
exponent = { over = "n", response = "files" }
holds = "0.99..1.01"
"#;

#[test]
fn what_a_program_prints_is_judged_and_a_session_is_whole() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let (file, session) = (study(dir.path(), PLANTED), dir.path().join("s"));
    // So many blocks make an answer that never changes significant among ten.
    let output = measured(&file, &session, &["--json", "--fail-if-refuted", "--runs", "16"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    let claims = summary["experiments"][0]["claims"].as_array().unwrap().clone();
    let verdict = |id: &str| {
        let claim = claims.iter().find(|claim| claim["id"] == id);
        claim.unwrap_or_else(|| panic!("{claims:#?}"))["verdict"].clone()
    };
    assert_eq!(verdict("four_files_are_four"), "supported");
    assert_eq!(verdict("the_speed_does_not_change_n_4"), "refuted");
    assert_eq!(verdict("the_files_are_in_proportion"), "supported");
    // A number with places keeps them: 4.5 by 1.5.
    let findings = summary["experiments"][0]["findings"].as_array().unwrap();
    let speed = findings.iter().find(|it| it["id"] == "speed_n_4").unwrap();
    assert!((speed["result"]["estimate"]["point"].as_f64().unwrap() - 3.0).abs() < 1e-9, "{speed}");
    // Three treatments and the baseline once more, in each block.
    let trials = stored_trials(&session);
    assert_eq!(trials.len(), 64);
    assert_no_doubles(&trials);
    assert_eq!(summary["trust"]["controls"].as_array().unwrap().len(), 2, "{summary}");
    let page = std::fs::read_to_string(session.join("report.html")).unwrap();
    assert!(page.contains("echo {n} files"), "the command is not shown");
    assert!(page.contains(&format!("scruple study {file} --seed 7 --profile smoke --runs 16")));
    assert!(!page.contains("again no"), "the control's factor is in the way");
}

#[test]
fn a_level_that_fails_is_told_and_the_others_are_measured() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let text = "command = [\"sh\", \"-c\", \"test {n} != 2 || { echo sorry >&2; exit 3; }\"]\n\
                factors.n = [1, 2, 3]";
    let (file, session) = (study(dir.path(), text), dir.path().join("s"));
    let output = measured(&file, &session, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let row = |wanted: &str| shown.lines().any(|line| line.starts_with(wanted));
    // Where others took of the time, numbers are longer and the name of the first row has two lines. A reason
    // stands beside its row's name or, where there is little room, below it.
    assert!(row("treatment ") && row("n 1") && row("n 3"), "{shown}");
    assert!(row("n 2") && shown.contains("no trial succeeded: n 2: "), "{shown}");
    let warned = String::from_utf8_lossy(&output.stderr).into_owned();
    for wanted in ["2 of 8 trials failed: ", "exit code 3", "sorry", "(at: n 2)"] {
        assert!(warned.contains(wanted), "{warned}");
    }
    let summary = std::fs::read_to_string(session.join("summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    let estimates = summary["experiments"][0]["estimates"].as_array().unwrap();
    let wall = |n: &str| {
        let is = |row: &&Value| row["response"] == "wall_ns" && row["treatment"]["n"] == n;
        estimates.iter().filter(is).any(|row| !row["estimate"].is_null())
    };
    assert!(wall("1") && wall("3") && !wall("2"), "{estimates:#?}");
}

#[test]
fn a_number_that_is_never_printed_is_told() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let text = "command = [\"echo\", \"nothing\"]\nmetrics.speed.regex = 'speed (\\d+)'";
    let (file, session) = (study(dir.path(), text), dir.path().join("s"));
    let output = measured(&file, &session, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("warning: speed has no number in 4 of 4 trials: /speed"), "{told}");
    assert!(told.contains("matches nothing"), "{told}");
    // The rest of the trial counts.
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("Elapsed time: ") && shown.contains("speed has no number"), "{shown}");
    assert_eq!(stored_trials(&session).len(), 4);
}

#[test]
fn numbers_are_read_as_they_are_printed_and_two_of_a_trial_are_compared() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let text = r#"
command = ["sh", "-c", "echo procs: 30$(date +%N | cut -c3),$(date +%N | cut -c1-3) us; echo threads: 0,1 ms"]
[metrics.procs]
regex = 'procs: (.+)'
unit = "ms"
[metrics.threads]
regex = 'threads: (.+)'
unit = "ms"
[[claims]]
text = "Processes take longer."
quotient = { of = "procs", to = "threads" }
holds = "> 2"
"#;
    let (file, session) = (study(dir.path(), text), dir.path().join("s"));
    let output = measured(&file, &session, &["--json", "--runs", "12"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    let claim = &summary["experiments"][0]["claims"][0];
    assert_eq!(claim["verdict"], "supported", "{claim:#}");
    let times = claim["result"]["estimate"]["point"].as_f64().unwrap();
    assert!((3.0..4.0).contains(&times), "{claim:#}");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("threads was read “0,1 ms” as 0.1 ms"), "{told}");
    let page = std::fs::read_to_string(session.join("report.html")).unwrap();
    assert!(page.contains("threads “0,1 ms” as 0.1 ms"), "the page does not say how");
    let asked =
        scruple().args(["ask"]).arg(&session).arg("procs_ns / threads_ns").output().unwrap();
    let shown = String::from_utf8_lossy(&asked.stdout).into_owned();
    assert!(shown.starts_with("a.procs_ns / a.threads_ns = "), "{}", said(&asked));
}

#[test]
fn what_cannot_be_measured_is_refused_before_the_first_trial() {
    let dir = tempfile::tempdir().unwrap();
    let file = |text: &str| study(dir.path(), text);
    let of = |text: &str, wanted: &[&str]| {
        let session = dir.path().join("never");
        refused(&[&file(text), "--output", &session.display().to_string()], wanted);
        assert!(!session.exists());
    };
    of("command = [\"no-such-program\"]", &["a.toml:1:11: command: ", "PATH"]);
    of("\ncommand = [\"./none\"]", &["a.toml:2:11: command: ", "there is no program", "./none"]);
    of(
        "command = [\"{p}\"]\nfactors.p = [\"sh\", \"no-such\"]",
        &[":1:11: command: ", "\"no-such\""],
    );
    of("command = [\"sh\"]\nprepare = [\"no-such\"]", &["a.toml:2:11: prepare: ", "\"no-such\""]);
    of("command = [\"sh\"]\nfolder = \"none\"", &["a.toml:2:10: folder: ", "is not there"]);
    of("command = [\"sh\"]\nstdin = \"none\"", &["a.toml:2:9: stdin: ", "is not there"]);
    of("command = [\"sh\", \"{n}\"]", &["a.toml:1:11: command: ", "{n} is no factor"]);
    of("command = [\"sh\"", &["a.toml:1:16: no valid TOML: "]);
    of("comand = [\"sh\"]", &["a.toml:1:1: comand: ", "did you mean command?"]);
    refused(&["none.toml"], &["cannot read none.toml"]);
    refused(&[&dir.path().display().to_string()], &["is a folder"]);
    std::fs::write(dir.path().join("a.toml"), b"question = \"\xff\"").unwrap();
    refused(&[&dir.path().join("a.toml").display().to_string()], &["a.toml:1: not in UTF-8"]);
}

#[test]
fn a_dry_run_shows_the_trials_and_measures_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let text = "question = \"What does sorting take?\"\n\
                command = [\"sort\", \"{how}\", \"--parallel={n}\", \"a b\"]\n\
                prepare = [\"touch\", \"{scratch}/in-{n}\"]\n\
                cleanup = [\"true\"]\nenv = { LC_ALL = \"C\" }\naffinity = \"0\"\n\
                [factors]\nn = [1, 2]\n\
                how = [{ name = \"plain\", word = [] }, { name = \"reverse\", word = \"-r\" }]\n";
    let file = study(dir.path(), text);
    let output = scruple_study(&[&file, "--dry-run", "--seed", "7"]);
    assert!(output.status.success(), "{}", said(&output));
    let folder = dir.path().display().to_string();
    let shown = String::from_utf8_lossy(&output.stdout).replace(&folder, "FOLDER");
    insta::assert_snapshot!(shown);
    let output = scruple_study(&[&file, "--dry-run", "--json"]);
    let trials: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(trials.len(), 5);
    let plain = trials.iter().find(|it| it["treatment"]["how"] == "plain").unwrap();
    assert_eq!(plain["command"].as_array().unwrap().len(), 3, "{plain}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_dry_run_of_any_command_says_how_many_trials_and_how_long() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let run = |line: &str| {
        let mut command = scruple();
        command.current_dir(dir.path()).args(line.split(' ')).output().unwrap()
    };
    let shown = |line: &str| {
        let (verb, rest) = line.split_once(' ').unwrap();
        let output = run(&format!("{verb} --dry-run {rest}"));
        assert!(output.status.success(), "{line}: {}", said(&output));
        let words = String::from_utf8_lossy(&output.stdout).into_owned();
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for (line, says) in [
        ("run clock --runs 3", "Planned: 45 trials in random order. Then the session ends."),
        ("run clock --seed 3 --runs 3", "Planned: 45 trials in the order that seed 3 gives."),
        ("run clock --runs 3 --time-budget 9s", "order. No block begins after 9 s."),
        ("run threads-vs-processes", "order. No block begins after 2 min; if time is left, more"),
        (
            "scale --levels 1,2 --runs 2 -- sleep {n}",
            "6 trials in random order. They take 6 s if each",
        ),
        (
            "why --squeeze cpu -- sleep 1",
            "Blocks with wide intervals follow until 3 min have passed.",
        ),
        ("selftest planted_delay", "Planned: 88 trials in random order."),
    ] {
        let shown = shown(line);
        assert!(shown.contains(says), "{line}: {shown}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    refused_in(&run("scale --dry-run --fit -"), "--dry-run");
    refused_in(&run("run --dry-run no-such"), "no-such");
    // The time comes from a session that measured the same experiments, of whatever profile is planned.
    assert!(run("run clock --profile smoke --runs 2 --no-shield").status.success());
    let judged = shown("run clock --profile smoke --runs 2000");
    assert!(judged.contains(", judging by scruple-sessions/"), "{judged}");
    for line in ["run clock --runs 2", "run clock switch --profile smoke --runs 2"] {
        assert!(!shown(line).contains("judging by"), "{line}");
    }
}

#[test]
fn a_study_to_begin_from_is_written_once_and_runs() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.toml").display().to_string();
    let output = scruple_study(&["--init", &file, "true", "sh -c 'exit 0'"]);
    assert!(output.status.success(), "{}", said(&output));
    let written = std::fs::read_to_string(&file).unwrap();
    refused(&["--init", &file, "true", "false"], &["is there already"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), written);
    refused(
        &["--init", &dir.path().join("b").display().to_string(), "a 'b", "c"],
        &["never closed"],
    );
    assert!(!dir.path().join("b").exists());
    let output = measured(&file, &dir.path().join("s"), &["--fail-if-inconclusive"]);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", said(&output));
    assert_eq!(stored_trials(&dir.path().join("s")).len(), 6);
}

#[test]
fn a_study_begun_in_another_folder_runs_what_was_typed_here() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("sub dir")).unwrap();
    let script = dir.path().join("my_own_tool");
    std::fs::write(&script, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let within = |words: &[&str]| {
        let output = scruple().current_dir(&dir).arg("study").args(words).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), said(&output))
    };
    let (code, out, all) =
        within(&["--init", "sub dir/x.toml", "./my_own_tool 1", "./my_own_tool 2"]);
    assert!(code == Some(0) && out.contains("scruple study 'sub dir/x.toml'"), "{all}");
    let (code, out, all) = within(&["sub dir/x.toml", "--dry-run"]);
    assert!(code == Some(0) && out.contains("my_own_tool"), "{all}");
    let (code, _, all) = within(&["sub dir/x.toml", "other.toml", "--dry-run"]);
    assert!(code == Some(2) && all.contains("a study is one file"), "{all}");
}

#[test]
fn an_interrupted_study_goes_on_and_a_session_is_study_enough() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let text = "command = [\"sleep\", \"0.0{n}\"]\nfactors.n = [1, 2, 3, 4]";
    let (file, session) = (study(dir.path(), text), dir.path().join("s"));
    let path = session.display().to_string();
    let mut child = command(&[&file, "--runs", "40", "--no-shield", "--output", &path])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    eventually("three trials are stored", || stored_trials(&session).len() >= 3);
    let pid = nix::unistd::Pid::from_raw(child.id() as i32);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    let before = stored_trials(&session).len();
    assert!((3..200).contains(&before), "{before}");
    // The file may change meanwhile: the session goes on as it was begun.
    std::fs::write(&file, text.replace("[1, 2, 3, 4]", "[5]")).unwrap();
    let manifest = session.join("manifest.json");
    let fewer =
        std::fs::read_to_string(&manifest).unwrap().replace("\"blocks\": 40", "\"blocks\": 3");
    std::fs::write(&manifest, fewer).unwrap();
    let output = scruple_study(&["--resume", &path]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("is not as it was"),
        "{}",
        said(&output)
    );
    let trials = stored_trials(&session);
    assert_no_doubles(&trials);
    assert!(trials.len() >= 15 && trials.len() < 200, "{}", trials.len());
    // Its file is not needed to do it again.
    std::fs::remove_file(&file).unwrap();
    let again = dir.path().join("again");
    let (to, seed) = (again.display().to_string(), ["--seed", "7", "--no-shield"]);
    let output =
        scruple_study(&[&["--from", &path, "--runs", "1", "--output", &to], &seed[..]].concat());
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(stored_trials(&again).len(), 5);
}

#[test]
fn a_width_that_was_asked_for_is_kept_and_is_no_change_of_the_file() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let text = "command = [\"true\"]\nprecision = \"5%\"";
    let (file, session) = (study(dir.path(), text), dir.path().join("s"));
    refused(&[&file, "--detect", "two"], &["--detect", "\"two\"", "write it like 2%"]);
    let output = measured(&file, &session, &["--detect", "3%"]);
    assert!(output.status.success(), "{}", said(&output));
    let manifest: Value =
        serde_json::from_slice(&std::fs::read(session.join("manifest.json")).unwrap()).unwrap();
    let precision = manifest["designs"][0]["precision"].as_f64().unwrap();
    assert!((0.015..0.03).contains(&precision), "{precision}");
    let changed = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let output = scruple_study(&["--resume", &session.display().to_string()]);
        assert!(output.status.success(), "{}", said(&output));
        String::from_utf8_lossy(&output.stderr).contains("is not as it was")
    };
    assert!(!changed(text));
    assert!(changed(&text.replace("true", "false")));
}
