//! What may happen while a session measures: its folder goes elsewhere, its guard is killed, another session
//! comes, its time is up. It keeps what it has, says so, and leaves nothing behind.

use crate::support::*;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// A session that goes on until something happens.
fn endless(dir: &Path) -> Command {
    // A shell may have begun this test with SIGINT ignored, which is inherited.
    sys::signal::heed(sys::signal::SIGINT).unwrap();
    small_session(dir, 1000)
}

fn resumed(dir: &Path) -> Command {
    let mut command = scruple();
    command.args(["run", "--resume"]).arg(dir);
    command
}

fn begun(mut command: Command, dir: &Path) -> Child {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually("a trial is stored", || {
        !stored_trials(dir).is_empty() || child.try_wait().unwrap().is_some()
    });
    child
}

/// Waits for a session that must end with this code and say this, and sees that nothing is left of it.
fn ended(child: Child, code: i32, wanted: &[&str]) -> String {
    let pid = child.id();
    let output = child.wait_with_output().unwrap();
    printed(&output, code, wanted);
    assert!(processes_with("__trial").is_empty() && processes_with("__guard").is_empty());
    assert!(cgroups_of(pid).is_empty(), "{:?}", cgroups_of(pid));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn printed(output: &Output, code: i32, wanted: &[&str]) {
    assert_eq!(output.status.code(), Some(code), "{}", said(output));
    for wanted in wanted {
        assert!(said(output).contains(wanted), "{wanted:?}: {}", said(output));
    }
}

fn interrupt(child: &Child) {
    sys::process::kill(child.id() as i32, sys::signal::SIGINT).unwrap();
}

#[test]
fn every_session_whose_folder_is_moved_ends_and_is_whole_in_its_new_place() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let study = folder.path().join("a.toml");
    std::fs::write(&study, "question = \"How long?\"\ncommand = [\"sleep\", \"0.02\"]\n").unwrap();
    let study = study.display().to_string();
    let sleeps = ["sh", "-c", "sleep 0.0{n}"];
    for (name, words, command) in [
        ("run", &["null", "--profile", "smoke"][..], &[][..]),
        ("selftest", &["--profile", "smoke"], &[]),
        ("study", &[&study, "--profile", "smoke"], &[]),
        ("scale", &["--levels", "1,2"], &sleeps),
        ("why", &["--squeeze", "timer"], &["sleep", "0.02"]),
    ] {
        let (here, there) = (folder.path().join(name), folder.path().join(format!("{name}-moved")));
        let mut session = scruple();
        session.arg(name).args(words).args(["--runs", "400", "--no-shield", "-o"]).arg(&here);
        if !command.is_empty() {
            session.arg("--").args(command);
        }
        let child = begun(session, &here);
        let stored = stored_trials(&here);
        std::fs::rename(&here, &there).unwrap();
        let resume =
            format!("trials are kept, to finish: scruple {name} --resume {}", there.display());
        let text = ended(child, 2, &["was moved to", &resume]);
        assert_eq!(text.matches("error:").count(), 1, "{text}");
        assert!(!here.exists(), "{name} is split over two folders");
        let kept = stored_trials(&there);
        assert_eq!(kept[..stored.len()], stored, "{name}");
        let names: Vec<_> = std::fs::read_dir(&there).unwrap().flatten().collect();
        assert_eq!(names.len(), 2, "{name} left more than manifest and trials: {names:?}");
    }
}

#[test]
fn a_session_whose_folder_is_removed_ends_and_does_not_make_it_again() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    let child = begun(endless(&dir), &dir);
    // The runner may make a file while its folder is emptied.
    eventually("it is gone", || std::fs::remove_dir_all(&dir).is_ok() || !dir.exists());
    ended(child, 2, &["trials.ndjson was removed while", "are lost unless there is a copy"]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "something is left");
}

#[test]
fn a_file_of_trials_that_is_replaced_or_moved_gets_no_more_trials() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    let (trials, other) = (dir.join("trials.ndjson"), folder.path().join("other"));
    let child = begun(endless(&dir), &dir);
    std::fs::copy(&trials, &other).unwrap();
    std::fs::rename(&other, &trials).unwrap();
    let copied = std::fs::read(&trials).unwrap();
    let rescued = folder.path().join("session.kept");
    let resume = format!("to finish: scruple run --resume {}", rescued.display());
    ended(child, 2, &["was replaced by another file", &resume]);
    assert!(stored_trials(&rescued).len() >= stored_trials(&dir).len());
    assert_no_doubles(&stored_trials(&rescued));
    assert_eq!(std::fs::read(&trials).unwrap(), copied);
    assert!(!dir.join("scratch").exists() && !dir.join("report.html").exists());

    // The copy may end in a torn line: it is a session all the same.
    let child = begun(resumed(&dir), &dir);
    eventually("it goes on", || std::fs::read(&trials).unwrap().len() > copied.len());
    std::fs::rename(&trials, &other).unwrap();
    let kept = format!("was moved to {}", other.canonicalize().unwrap().display());
    ended(child, 2, &[&kept, "are kept in it; move it back, then: scruple run --resume"]);
    assert!(!trials.exists());
    std::fs::rename(&other, &trials).unwrap();
    assert_no_doubles(&stored_trials(&dir));
}

/// Each edit ends the session with what was measured until then in a folder that can be resumed.
#[test]
fn files_that_are_edited_in_place_lose_no_trial() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    for (at, (name, edit, wanted)) in [
        ("trials.ndjson", "cp trials.ndjson ../a; sleep 0.3; cat ../a > trials.ndjson", "changed"),
        ("trials.ndjson", "truncate -s 0 trials.ndjson", "changed"),
        ("trials.ndjson", "echo foreign >> trials.ndjson", "changed"),
        ("trials.ndjson", "rm trials.ndjson", "removed"),
        ("manifest.json", "rm manifest.json", "removed"),
        ("manifest.json", "echo x >> manifest.json", "changed"),
    ]
    .into_iter()
    .enumerate()
    {
        let dir = folder.path().join(at.to_string());
        let child = begun(endless(&dir), &dir);
        eventually("more trials are stored", || stored_trials(&dir).len() > 2);
        let before = stored_trials(&dir);
        let edited = Command::new("sh").args(["-c", edit]).current_dir(&dir).status().unwrap();
        assert!(edited.success());
        let rescued = folder.path().join(format!("{at}.kept"));
        let resume =
            format!("trials are kept, to finish: scruple run --resume {}", rescued.display());
        ended(child, 2, &[&format!("{name} was {wanted}"), &resume]);
        assert_eq!(stored_trials(&rescued)[..before.len()], before, "{edit}");
        if edit.starts_with("echo foreign") {
            let read = scruple().arg("report").arg(&dir).output().unwrap();
            let line = std::fs::read_to_string(dir.join("trials.ndjson")).unwrap().lines().count();
            printed(&read, 0, &[&format!("1 line of {line} is no record: line {line}")]);
        }
    }
}

#[test]
fn a_guard_that_is_killed_is_replaced_and_the_new_one_cleans_up() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    let guard_of = |child: &Child| {
        let children = sys::process::nearest(child.id() as i32, 100);
        let is_guard =
            |pid: &i32| sys::proc::stat(*pid).is_some_and(|stat| stat.name == "scruple-guard");
        children.into_iter().find(is_guard)
    };
    for ends_well in [true, false] {
        let command = if ends_well { endless(&dir) } else { resumed(&dir) };
        let mut child = begun(command, &dir);
        eventually("there is a guard", || guard_of(&child).is_some());
        let first = guard_of(&child);
        sys::process::kill(first.unwrap(), sys::signal::SIGKILL).unwrap();
        eventually("there is another", || guard_of(&child).is_some_and(|pid| Some(pid) != first));
        let stored = stored_trials(&dir).len();
        eventually("it goes on", || stored_trials(&dir).len() > stored);
        if ends_well {
            interrupt(&child);
            ended(child, 3, &["was killed; another one has taken its place"]);
        } else {
            let pid = child.id();
            child.kill().unwrap();
            child.wait().unwrap();
            eventually("trial and guard are gone", || {
                processes_with("__trial").is_empty() && processes_with("__guard").is_empty()
            });
            eventually("its cgroups are gone", || cgroups_of(pid).is_empty());
        }
        assert!(!dir.join("scratch").exists());
    }
    assert_no_doubles(&stored_trials(&dir));
}

#[test]
fn two_sessions_on_the_same_cpus_see_each_other() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    // Sessions of other tests may be seen, too: each of these two is to see the other.
    let begin = |name: &str| {
        let (dir, log) = (folder.path().join(name), folder.path().join(format!("{name}.log")));
        let mut command = endless(&dir);
        command.stdout(Stdio::null()).stderr(std::fs::File::create(&log).unwrap());
        (command.spawn().unwrap(), dir, log)
    };
    let (mut first, mut second) = (begin("a"), begin("b"));
    let warnings = |log: &Path, pid: u32| {
        let warning = format!("another scruple (process {pid}) measures on CPU");
        std::fs::read_to_string(log).unwrap().matches(&warning).count()
    };
    let of = |dir: &Path| std::fs::read_to_string(dir.join("trials.ndjson")).unwrap_or_default();
    for ((_, dir, log), other) in [(&first, second.0.id()), (&second, first.0.id())] {
        eventually("it warns, and a trial says so", || {
            warnings(log, other) == 1 && of(dir).contains("\"other_sessions\":")
        });
    }
    for (child, dir, _) in [&mut first, &mut second] {
        interrupt(child);
        assert_eq!(child.wait().unwrap().code(), Some(3));
        let page = std::fs::read_to_string(dir.join("report.html")).unwrap();
        assert!(page.contains("Another scruple session measured on the same CPUs during"));
    }
    assert_eq!(warnings(&first.2, second.0.id()), 1);
}

/// A session of a study with a time budget.
fn budgeted(dir: &Path, command: &str, budget: &str) -> Output {
    let file = dir.join("a.toml");
    std::fs::write(&file, format!("question = \"How long?\"\ncommand = {command}\n")).unwrap();
    let mut study = scruple();
    study.arg("study").arg(&file).args([
        "--profile",
        "smoke",
        "--no-shield",
        "--time-budget",
        budget,
    ]);
    study.args(["--seed", "7", "-o"]).arg(dir.join("s")).output().unwrap()
}

#[test]
fn a_program_without_an_end_is_ended_when_the_time_is_up() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let output = budgeted(dir.path(), "[\"yes\", \"scruple-endless\"]", "1s");
    let wanted =
        ["nothing was measured: a trial of a (the command", "ran when the time was up", "--resume"];
    printed(&output, 2, &wanted);
    assert_eq!(stored_trials(&dir.path().join("s")), []);
    assert!(!dir.path().join("s/scratch").exists());
    let left = std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line == b"yes\0scruple-endless\0"
    });
    assert_eq!(left.count(), 0, "the program is left");
}

#[test]
fn what_ended_in_time_is_kept() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    // The order of the first block is the seed's.
    let command = "[\"sleep\", \"{s}\"]\n[factors]\ns = [\"0.01\", \"4242.5\"]";
    let output = budgeted(dir.path(), command, "5s");
    printed(&output, 0, &["ran when the time was up; it was ended after", "and does not count"]);
    let trials = stored_trials(&dir.path().join("s"));
    assert!(!trials.is_empty() && trials.iter().all(|(.., treatment)| !treatment.contains("4242")));
}
