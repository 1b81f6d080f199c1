//! What a session inherits from its parent, and what changes while it runs: it works, and names what moves its
//! numbers.

use crate::support::*;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// Returns a command that starts scruple by others, and their words; none where these start no program here, as where
/// a container refuses a call.
fn started_by(words: &[&str]) -> Option<Command> {
    let (first, rest) = words.split_first()?;
    let mut probe = Command::new(first);
    probe.args(rest).arg("true").stdout(Stdio::null()).stderr(Stdio::null());
    if !probe.status().is_ok_and(|status| status.success()) {
        println!("skipped: {} starts no program here", words.join(" "));
        return None;
    }
    let mut command = Command::new(first);
    command.args(rest).arg(binary());
    Some(command)
}

fn settings(dir: &Path) -> Value {
    let manifest = std::fs::read(dir.join("manifest.json")).unwrap();
    serde_json::from_slice::<Value>(&manifest).unwrap()["environment"]["settings"].clone()
}

/// Trials of the catalog start from one state; a user's program keeps its own, which is recorded and shown.
#[test]
fn a_session_works_in_any_state_and_names_what_it_keeps() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let study = folder.path().join("a.toml");
    std::fs::write(&study, "question = \"How long?\"\ncommand = [\"sleep\", \"0.01\"]\n").unwrap();
    let states: [(&[&str], &str, &str); 5] = [
        (&["env", "--ignore-signal=CHLD"], "", ""),
        (&["env", "--block-signal=CHLD", "--ignore-signal=USR1"], "", ""),
        (&["setarch", "-R"], "personality", "addresses are not randomised"),
        (&["chrt", "--batch", "0"], "scheduling_policy", "batch"),
        (&["chrt", "--idle", "0"], "scheduling_policy", "idle"),
    ];
    for (at, (words, name, value)) in states.into_iter().enumerate() {
        let measured = |what: &[&str], file: Option<&Path>| {
            let dir = folder.path().join(format!("{}{at}", what[0]));
            let mut command = started_by(words)?;
            command.args(what).args(file).args(["--profile", "smoke", "--runs", "2", "-o"]);
            let output = command.arg(&dir).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{words:?} {what:?}: {}", said(&output));
            Some(dir)
        };
        let Some(run) = measured(&["run", "kernel_entry"], None) else { continue };
        let study = measured(&["study"], Some(&study)).unwrap();
        if !name.is_empty() {
            assert_eq!(settings(&run)[name], Value::Null, "{words:?}");
            let kept = settings(&study)[name].as_str().unwrap_or_default().to_string();
            assert!(kept.contains(value), "{words:?}: {kept:?}");
            let page = std::fs::read_to_string(study.join("report.html")).unwrap();
            assert!(page.contains(value), "{words:?} is not on the page");
            let resumed = scruple().args(["study", "--resume"]).arg(&study).output().unwrap();
            assert_eq!(resumed.status.code(), Some(0), "{}", said(&resumed));
            assert!(said(&resumed).contains(&format!("{name} none, before")), "{}", said(&resumed));
            let page = std::fs::read_to_string(study.join("report.html")).unwrap();
            assert!(page.contains("under other conditions"), "{words:?}");
            let compared = scruple().arg("compare").args([&run, &study]).output().unwrap();
            assert!(said(&compared).contains(name), "{}", said(&compared));
        }
    }
}

#[test]
fn a_filter_of_system_calls_is_named_on_screen_and_page_and_by_doctor() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    let filtered = |words: &[&str]| {
        let mut command = scruple();
        command.args(words);
        let filter = sys::filter::Filter { calls: &["acct"], newest: None, errno: 1 };
        filter.arrange(&mut command).unwrap();
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        said(&output)
    };
    let path = dir.display().to_string();
    let screen =
        filtered(&["run", "kernel_entry", "--profile", "smoke", "--runs", "2", "-o", &path]);
    assert!(screen.contains("Each system call passes seccomp"), "{screen}");
    let page = std::fs::read_to_string(dir.join("report.html")).unwrap();
    assert!(page.contains("Each system call passes seccomp"));
    assert!(settings(&dir)["seccomp"].as_str().unwrap().contains("filter"));
    let doctor = filtered(&["doctor", "--no-measure"]);
    assert!(doctor.contains("system call passes seccomp"), "{doctor}");
}

#[test]
fn timers_of_a_parent_end_nothing_and_its_variables_are_named() {
    let _alone = alone();
    let Some(mut command) = started_by(&["perl", "-e", "alarm 1; exec @ARGV"]) else { return };
    command.args(["waits", "--", "sleep", "1.5"]);
    command.env("GLIBC_TUNABLES", "glibc.malloc.arena_max=1");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = said(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("GLIBC_TUNABLES=glibc.malloc.arena_max=1"), "{text}");
}

/// A session of a study whose command runs `./prog data`.
fn of_a_program(folder: &Path, script: &str, runs: &str) -> Command {
    use std::os::unix::fs::PermissionsExt;
    let file = |name: &str| folder.join(name);
    std::fs::write(file("prog"), format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(file("prog"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(file("data"), "1\n").unwrap();
    let study = "question = \"How long?\"\ncommand = [\"./prog\", \"data\"]\n";
    std::fs::write(file("a.toml"), study).unwrap();
    let mut command = scruple();
    command.current_dir(folder).args(["study", "a.toml", "--profile", "smoke", "--no-shield"]);
    command.args(["--runs", runs, "-o", "s"]);
    command
}

#[test]
fn a_program_that_changes_ends_its_session_and_what_a_trial_writes_does_not() {
    let _alone = alone();
    for (edit, file) in [
        ("echo '#' >> prog", "prog"),
        ("cp prog p; echo 'sleep 0.01' >> p; mv p prog", "prog"),
        ("sed -i s/0.02/0.04/ prog", "prog"),
        ("echo 2 >> data", "data"),
        ("rm data", "data"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = of_a_program(folder.path(), "sleep 0.02", "400");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let dir = folder.path().join("s");
        eventually("trials are stored", || {
            stored_trials(&dir).len() > 2 || child.try_wait().unwrap().is_some()
        });
        let edited = Command::new("sh").args(["-c", edit]).current_dir(folder.path()).status();
        assert!(edited.unwrap().success());
        let output = child.wait_with_output().unwrap();
        let text = said(&output);
        assert_eq!(output.status.code(), Some(2), "{edit}: {text}");
        let wanted = format!("{file} was changed while its session was measured");
        assert!(text.contains(&wanted) && text.contains("trials are kept"), "{edit}: {text}");
        let mut resume = scruple();
        let again = resume.args(["study", "--resume"]).arg(&dir).output().unwrap();
        assert_eq!(again.status.code(), Some(2), "{edit}: {}", said(&again));
        assert!(said(&again).contains(&wanted), "{edit}: {}", said(&again));
    }
    let folder = tempfile::tempdir().unwrap();
    let output = of_a_program(folder.path(), "echo 1 >> $1", "6").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let manifest = std::fs::read_to_string(folder.path().join("s/manifest.json")).unwrap();
    assert!(manifest.contains("/prog\"") && !manifest.contains("/data\""), "{manifest}");
}
