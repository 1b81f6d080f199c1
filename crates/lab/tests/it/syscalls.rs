//! `scruple syscalls -- COMMAND`: what is traced, what is passed through, how it ends.

use crate::support::*;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Output, Stdio};

/// Whether this machine lets us trace at all; says so where it does not.
fn may_trace() -> bool {
    let output = scruple().args(["syscalls", "--", "true"]).output().unwrap();
    let may = output.status.success();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(may || complaint.contains("ptrace"), "{}", said(&output));
    if !may {
        println!("skipped: {}", complaint.trim());
    }
    may
}

/// A command traced to its end, with what was seen of it; `None` where tracing is forbidden.
fn traced(command: &[&str]) -> Option<(Value, Output)> {
    if !may_trace() {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("seen.json");
    let output = scruple()
        .args(["syscalls", "--json", "--output"])
        .arg(&file)
        .arg("--")
        .args(command)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    Some((seen(&file), output))
}

fn seen(file: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

/// A traced shell that has said its first line, which is returned with it.
fn waiting(script: &str, file: &Path) -> (Child, String) {
    let mut child = scruple()
        .args(["syscalls", "--json", "--output"])
        .arg(file)
        .args(["--", "sh", "-c", script])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (child, line)
}

fn signal(process: u32, signal: i32) {
    sys::process::kill(i32::try_from(process).unwrap(), signal).unwrap();
}

#[test]
fn the_processes_of_a_pipeline_are_told_with_their_calls() {
    let Some((seen, output)) = traced(&["sh", "-c", "echo a | cat; true"]) else { return };
    assert_eq!(output.stdout, b"a\n");
    assert_eq!(seen["end"]["code"], 0);
    assert!(seen["processes_made"].as_u64().unwrap() >= 2, "{seen}");
    assert_eq!(seen["threads_made"], 0);
    for made in seen["made"].as_array().unwrap() {
        assert_eq!((&made["kind"], &made["by_program"]), (&"process".into(), &"sh".into()));
        assert_eq!(made["exit_signal"], "SIGCHLD");
        assert!(made["call"].as_str().is_some_and(|call| call.contains("clone") || call == "fork"));
    }
    let groups = seen["groups"].as_array().unwrap();
    let cat = groups.iter().find(|group| group["program"] == "cat").unwrap();
    let calls = cat["calls"].as_array().unwrap();
    assert!(calls.iter().any(|call| call["name"] == "write" && call["calls"].as_u64() >= Some(1)));
    let sum = |key: &str| -> u64 {
        let all = groups.iter().flat_map(|group| group["calls"].as_array().unwrap());
        all.map(|call| match &call[key] {
            Value::Object(errors) => errors.values().map(|count| count.as_u64().unwrap()).sum(),
            count => count.as_u64().unwrap(),
        })
        .sum()
    };
    assert_eq!(
        (seen["calls"].as_u64(), seen["errors"].as_u64()),
        (Some(sum("calls")), Some(sum("errors")))
    );
}

/// A program with threads: this very test binary, told to do this test alone.
#[test]
fn three_threads_are_made_here() {
    let threads: Vec<_> = (0..3).map(|index| std::thread::spawn(move || index)).collect();
    let sum: i32 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(sum, 3);
}

#[test]
fn threads_are_told_from_processes_by_their_flags() {
    let own = std::env::current_exe().unwrap();
    let own = own.to_str().unwrap();
    let Some((seen, _)) = traced(&[own, "--exact", "syscalls::three_threads_are_made_here"]) else {
        return;
    };
    assert!(seen["threads_made"].as_u64().unwrap() >= 3, "{seen}");
    assert_eq!(seen["processes_made"], 0);
    for made in seen["made"].as_array().unwrap() {
        let flags: Vec<&str> =
            made["flags"].as_array().unwrap().iter().map(|flag| flag.as_str().unwrap()).collect();
        for flag in ["CLONE_VM", "CLONE_FS", "CLONE_FILES", "CLONE_SIGHAND", "CLONE_THREAD"] {
            assert!(flags.contains(&flag), "{made}");
        }
        assert_eq!(made["exit_signal"], Value::Null);
    }
    let of: Vec<&str> = seen["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["of"].as_str().unwrap())
        .collect();
    assert!(of.contains(&"processes") && of.contains(&"threads"), "{of:?}");
}

#[test]
fn a_chain_of_programs_is_one_process() {
    let script = "exec sh -c 'exec sh -c \"exit 7\"'";
    let Some((seen, _)) = traced(&["sh", "-c", script]) else { return };
    assert_eq!((&seen["processes_made"], &seen["end"]["code"]), (&0.into(), &7.into()));
    let executed = seen["executed"].as_array().unwrap();
    let [shell] = &executed[..] else { panic!("{seen}") };
    assert_eq!(shell["count"], 2, "the command itself is not counted: {seen}");
    assert_eq!(shell["pids"], serde_json::json!([seen["pid"]]));
}

#[test]
fn a_process_that_a_signal_ends_is_reported() {
    let Some((seen, output)) = traced(&["sh", "-c", "kill -KILL $$"]) else { return };
    assert_eq!(seen["end"]["signal_name"], "SIGKILL");
    assert_eq!(seen["killed"][0]["pids"][0], seen["pid"]);
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{}", said(&output));
    let Some((seen, _)) = traced(&["sh", "-c", "trap 'exit 3' USR1; kill -USR1 $$"]) else {
        return;
    };
    assert_eq!((&seen["end"]["code"], &seen["signals"]["SIGUSR1"]), (&3.into(), &1.into()));
}

#[test]
fn what_goes_in_and_out_is_passed_through_and_the_table_comes_last() {
    if !may_trace() {
        return;
    }
    let mut child = scruple()
        .args(["syscalls", "sh", "-c", "cat; echo to the other side >&2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"what goes in\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(output.stderr, b"to the other side\n");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("what goes in\nsh -c cat"), "{text}");
    assert!(text.contains("exit code 0") && text.contains("How they were made"), "{text}");
    assert!(text.contains("SIGCHLD") && text.contains("execve"), "{text}");
}

#[test]
fn a_command_that_cannot_be_run_is_one_clear_error() {
    for (command, reason) in [
        ("/no/such/command", "No such file"),
        ("/etc/passwd", "Permission denied"),
        ("", "No such file"),
    ] {
        let output = scruple().args(["syscalls", "--", command]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains(reason) || text.contains("ptrace"), "{text}");
        assert_eq!(text.trim_end().lines().count(), 1, "{text}");
        assert!(output.stdout.is_empty());
    }
    let output = scruple().arg("syscalls").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

#[test]
fn a_file_that_cannot_be_written_is_found_out_before_the_command_runs() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("it-ran");
    let output = scruple()
        .args(["syscalls", "--output", "/nowhere/seen", "--", "touch"])
        .arg(&trace)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--output"), "{}", said(&output));
    assert!(!trace.exists());
}

#[test]
fn what_was_seen_never_replaces_a_file_of_a_session() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("it-ran");
    for name in ["manifest.json", "trials.ndjson", "report.html"] {
        std::fs::write(folder.path().join(name), "precious").unwrap();
    }
    let output = |file: &Path| {
        let mut command = scruple();
        command.args(["syscalls", "--output"]).arg(file).args(["--", "touch"]).arg(&trace);
        command.output().unwrap()
    };
    for name in ["manifest.json", "trials.ndjson", "report.html"] {
        let output = output(&folder.path().join(name));
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("a file of a session"), "{}", said(&output));
        assert_eq!(std::fs::read(folder.path().join(name)).unwrap(), b"precious");
    }
    assert!(!trace.exists());
    if may_trace() {
        // Standard output by its other name, and no file of that name.
        let output = output(Path::new("-"));
        assert!(said(&output).contains("exit_group"), "{}", said(&output));
        assert!(!Path::new("-").exists());
    }
}

#[test]
fn where_tracing_is_not_possible_it_says_what_would_help() {
    if !may_trace() {
        return;
    }
    // What is traced already cannot be traced by another.
    let output = scruple()
        .args(["syscalls", "--json", "--"])
        .arg(binary())
        .args(["syscalls", "true"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("tracing is forbidden") && text.contains("ptrace_scope"), "{text}");
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(seen["end"]["code"], 2);
}

#[test]
fn a_request_to_end_reaches_the_command_and_what_was_seen_is_kept() {
    if !may_trace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("seen.json");
    let (mut child, _) = waiting("echo here; exec sleep 60", &file);
    signal(child.id(), sys::signal::SIGTERM);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let seen = seen(&file);
    assert_eq!(seen["end"]["signal_name"], "SIGTERM");
    assert_eq!(seen["complete"], true);
}

#[test]
fn what_the_command_left_behind_can_be_left_to_itself() {
    if !may_trace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("seen.json");
    let (mut child, line) = waiting("sleep 60 & echo $$ $!", &file);
    let pids: Vec<i32> = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let [shell, sleeper] = pids[..] else { panic!("{line}") };
    eventually("the shell's end", || !sys::task::exists(shell));
    // scruple may still be on its way to notice; it is asked until it ends.
    let mut status = None;
    eventually("the end of the watching", || {
        let _ = sys::process::kill(i32::try_from(child.id()).unwrap(), sys::signal::SIGTERM);
        status = child.try_wait().unwrap();
        status.is_some()
    });
    assert_eq!(status.unwrap().code(), Some(3));
    assert!(sys::task::exists(sleeper), "it goes on");
    sys::process::kill(sleeper, sys::signal::SIGKILL).unwrap();
    let seen = seen(&file);
    assert_eq!((&seen["complete"], &seen["end"]["code"]), (&false.into(), &0.into()));
    assert!(seen["warnings"][0].as_str().unwrap().contains("not ended"), "{seen}");
}

#[test]
fn nothing_that_is_traced_outlives_its_tracer() {
    if !may_trace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (mut child, line) = waiting("echo $$; exec sleep 60", &folder.path().join("seen.json"));
    let traced: i32 = line.trim().parse().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    eventually("the end of what was traced", || !sys::task::exists(traced) || is_zombie(traced));
}

/// Dead, and not yet reaped by whoever adopted it.
fn is_zombie(process: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
}

#[test]
fn the_experiment_sees_every_level_end_well() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    let output = scruple()
        .args(["run", "syscalls", "isolation", "--profile", "quick", "--runs", "1", "--json"])
        .args(["--no-shield", "--output"])
        .arg(&dir)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    for experiment in summary["experiments"].as_array().unwrap() {
        let id = experiment["id"].as_str().unwrap();
        if !["syscalls", "isolation"].contains(&id) {
            continue;
        }
        for outcome in experiment["outcomes"].as_array().unwrap() {
            let kind = outcome["outcome"].as_str().unwrap();
            assert!(["completed", "unsupported"].contains(&kind), "{id}: {outcome}");
        }
        assert_eq!(experiment["failed_checks"].as_array().unwrap().len(), 0, "{experiment}");
    }
}
