//! `scruple waits`: what is watched, what is passed through, how it ends.

use crate::support::*;
use model::{WaitKind, Watched};
use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

fn watched(output: &Output) -> Watched {
    assert_eq!(output.status.code(), Some(0), "{}", said(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn waits_for(watched: &Watched, kind: WaitKind) -> bool {
    watched.waits.iter().any(|wait| wait.kind == kind && wait.found > 0)
}

#[test]
fn a_command_is_watched_to_its_end_and_its_output_passed_through() {
    let script = "sleep 0.5; echo its own; exit 3";
    let output = scruple().args(["waits", "--json", "--", "sh", "-c", script]).output().unwrap();
    let watched = watched(&output);
    assert_eq!(watched.ended, "ended with exit code 3");
    assert!(String::from_utf8_lossy(&output.stderr).contains("its own"));
    assert!(watched.elapsed_ns >= 500_000_000 && watched.cpu_ns > 0, "{watched:?}");
    assert!(waits_for(&watched, WaitKind::Timer), "{:?}", watched.waits);
    assert!(waits_for(&watched, WaitKind::Child), "{:?}", watched.waits);
    let shell = watched.threads.iter().find(|thread| thread.name == "sh").unwrap();
    let child = &watched.waits[shell.wait.unwrap() as usize];
    assert_eq!(child.kind, WaitKind::Child);
    // In words the result follows what the command wrote.
    let output = scruple().args(["waits", "--", "sh", "-c", "echo first"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("first\n") && text.contains("ended with exit code 0"), "{text}");
}

/// Processes that live for less than from one look to the next: the page has the CPU time that the kernel counted, and
/// what no thread has that was seen, as a number.
#[test]
fn the_cpu_time_of_short_lives_is_not_lost() {
    let script = "i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done";
    let watched =
        watched(&scruple().args(["waits", "--json", "--", "sh", "-c", script]).output().unwrap());
    assert!(watched.time.running_ns >= watched.cpu_ns && watched.cpu_ns > 0, "{watched:?}");
    let seen_ns: u64 =
        watched.threads.iter().filter(|one| one.pid > 0).map(|one| one.time.running_ns).sum();
    assert!(seen_ns + watched.unseen_cpu_ns <= watched.time.running_ns, "{watched:?}");
    let cpus = std::thread::available_parallelism().unwrap().get() as u64;
    let most_ns = watched.elapsed_ns.saturating_sub(watched.cpu_ns / cpus);
    assert!(watched.still_ns <= most_ns, "{watched:?}");
}

#[test]
fn a_process_that_runs_is_watched_and_goes_on() {
    let mut sleeper = Command::new("sleep").arg("600").spawn().unwrap();
    let pid = sleeper.id().to_string();
    let output =
        scruple().args(["waits", "--json", "--for", "300ms", "--pid", &pid]).output().unwrap();
    let watched = watched(&output);
    let goes_on = sleeper.try_wait().unwrap().is_none();
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    assert!(goes_on);
    assert_eq!((watched.pid, watched.ended.as_str()), (Some(sleeper.id()), ""));
    assert_eq!(watched.command, ["sleep"]);
    assert!(waits_for(&watched, WaitKind::Timer), "{:?}", watched.waits);
    // What it did before it was watched does not count.
    assert!(watched.time.all_ns() <= watched.elapsed_ns, "{watched:?}");
}

#[test]
fn a_pipe_between_processes_of_the_program_is_no_outside() {
    let words = ["waits", "--json", "--", "sh", "-c", "sleep 0.5 | cat"];
    let watched = watched(&scruple().args(words).output().unwrap());
    let waits: Vec<_> = watched.waits.iter().filter(|wait| wait.what.contains("pipe")).collect();
    assert!(!waits.is_empty(), "{:?}", watched.waits);
    assert!(waits.iter().all(|wait| wait.kind == WaitKind::Message), "{waits:?}");
}

#[test]
fn a_page_has_the_threads_with_their_timelines() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let output = scruple()
        .args(["waits", "--html"])
        .arg(&page)
        .args(["--", "sleep", "0.3"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("svg class=\"stack timeline\"") && page.contains("a sleep"), "{page}");
}

#[test]
fn a_page_that_cannot_be_written_does_not_cost_the_result() {
    let words = ["waits", "--html", "/dev/full", "--", "echo", "its own"];
    let output = scruple().args(words).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("/dev/full: No space left"), "{}", said(&output));
    assert!(said(&output).contains("ended with exit code 0"), "{}", said(&output));
}

#[test]
fn what_asks_scruple_to_end_reaches_the_command() {
    let script = "trap 'echo heard; exit 7' TERM; echo ready; while :; do sleep 0.01; done";
    let mut child =
        scruple().args(["waits", "--", "sh", "-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().as_deref(), Some("ready"));
    sys::process::kill(i32::try_from(child.id()).unwrap(), sys::signal::SIGTERM).unwrap();
    let rest: Vec<String> = lines.collect();
    assert_eq!(rest[0], "heard");
    assert!(rest.iter().any(|line| line.contains("ended with exit code 7")), "{rest:?}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_cannot_be_watched_is_one_clear_error() {
    for (args, expected) in [
        (&["--", "/no/such/program"][..], "cannot run /no/such/program: No such file"),
        (&["--pid", "4194303"], "no process has the ID 4194303"),
        (&["--pid", "1", "--", "true"], "cannot be used with"),
        (&[], "required"),
        (&["--json", "--html", "-", "--", "true"], "each want standard output"),
        (&["--html", "/nowhere/page", "--", "true"], "--html"),
    ] {
        let output = scruple().arg("waits").args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", said(&output));
        assert!(said(&output).contains(expected), "{args:?}: {}", said(&output));
    }
}
