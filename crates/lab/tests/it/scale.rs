//! `scruple scale` by its command line: figures from a file, and a program with `{n}`.

use crate::support::*;
use serde_json::Value;
use std::io::Write;
use std::process::{Output, Stdio};

/// A published table: throughput of a ray tracer by processors (Gunther 2007).
const RAYTRACER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../laws/tests/data/raytracer.csv");

fn scale(words: &[&str]) -> Output {
    // What is refused leaves no session, and what is not must not leave one among the sources.
    scruple()
        .current_dir(std::env::temp_dir())
        .arg("scale")
        .args(words)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", said(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refused(words: &[&str], part: &str) {
    let output = scale(words);
    assert_eq!(output.status.code(), Some(2), "{words:?}: {}", said(&output));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains(part), "{words:?}: {told}");
}

#[test]
fn figures_from_a_file_are_fitted() {
    let told = json(&scale(&["--fit", RAYTRACER, "--json"]));
    assert_eq!(told["session"], Value::Null);
    let fits = told["throughput"]["fits"].as_array().unwrap();
    let usl = fits.iter().find(|fit| fit["law"] == "universal").unwrap();
    let value = |symbol: &str| {
        let all = usl["coefficients"].as_array().unwrap();
        all.iter().find(|one| one["symbol"] == symbol).unwrap()["value"].as_f64().unwrap()
    };
    assert!((18.0..22.0).contains(&value("γ")) && value("α") > 0.0, "{usl}");
    assert_eq!(told["causes"][0]["standing"], "suspected");
}

#[test]
fn the_text_of_a_fit_is_reviewed() {
    // From the folder of the file, so that its path is its name.
    let output = scruple()
        .args(["scale", "--fit", "raytracer.csv"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../laws/tests/data"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    insta::assert_snapshot!("scale_raytracer", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn standard_input_is_a_file_too() {
    let mut child = scruple()
        .args(["scale", "--fit", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"n,throughput\n1,10\n2,20\n4,40\n").unwrap();
    let told = json(&child.wait_with_output().unwrap());
    // Three rows lie on a line, which is a shape, and identify no law.
    assert_eq!(told["throughput"]["chosen"], Value::Null);
    assert_eq!(told["causes"][0]["cause"], "nothing");
}

#[test]
fn bad_input_is_refused_in_a_line_that_says_what_would_be_right() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bad.csv");
    std::fs::write(&file, "n,throughput\n1,10\n2,many\n").unwrap();
    refused(&["--fit", file.to_str().unwrap()], "bad.csv:3:2: \"many\" is no throughput");
    refused(&["--fit", "/no/such/file.csv"], "--fit: cannot read /no/such/file.csv");
    refused(&["--", "true"], "the command has no {n}");
    refused(&["--levels", "4..1", "--", "true", "{n}"], "4..1 goes down");
    refused(&["--work", "(", "--", "true", "{n}"], "--work \"(\"");
    refused(&["--", "no-such-program-anywhere", "{n}"], "no-such-program-anywhere");
    refused(&["--copies", "--levels", "1", "--", "true", "{n}"], "--copies needs");
    refused(&["--unit", "ops", "--", "true", "{n}"], "--work");
}

/// A whole session of a program that prints its work; no figure of it is asserted, but what
/// arithmetic makes certain.
#[test]
fn a_session_is_measured_stored_and_told_again() {
    if std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() < 2) {
        eprintln!("skipped: copies at once need two CPUs");
        return;
    }
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("session");
    let program = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo \"did $0 things\"";
    let output = scale(&[
        "--json",
        "--runs",
        "2",
        "--levels",
        "1,2",
        "--work",
        "did ([0-9]+) things",
        "--unit",
        "things",
        "--copies",
        "--output",
        place.to_str().unwrap(),
        "--",
        "sh",
        "-c",
        program,
        "{n}",
    ]);
    let told = json(&output);
    assert_eq!(told["work"]["unit"], "things/s");
    assert_eq!(told["work"]["counted"], true);
    // It says that it did n things: the work grows.
    assert_eq!(told["work"]["grows"], true);
    let levels = told["levels"].as_array().unwrap();
    assert_eq!(levels.iter().map(|it| it["n"].as_f64().unwrap()).collect::<Vec<_>>(), [1.0, 2.0]);
    // One worker twice in each block; two once.
    assert_eq!((levels[0]["trials"].as_u64(), levels[1]["trials"].as_u64()), (Some(4), Some(2)));
    let parts = levels[1]["account"]["parts"].as_array().unwrap();
    let sum: f64 = parts.iter().map(|part| part["share"]["point"].as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-6, "{sum}");
    let copies =
        stored_trials(&place).into_iter().filter(|(_, _, it)| it.contains("\"copies\":\"2\""));
    assert_eq!(copies.count(), 2);
    let again = scruple().arg("report").arg(&place).output().unwrap();
    assert!(again.status.success(), "{}", said(&again));
    let text = String::from_utf8_lossy(&again.stdout).into_owned();
    for sentence in told["answer"].as_array().unwrap() {
        let first: String = sentence.as_str().unwrap().chars().take(40).collect();
        assert!(text.contains(&first), "{first}\n{text}");
    }
    let page = std::fs::read_to_string(place.join("report.html")).unwrap();
    assert!(
        page.contains("Where the time of n workers went") && page.contains("Throughput over n")
    );
}

#[test]
fn a_command_that_fails_at_one_n_keeps_what_the_others_gave() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("session");
    let output = scale(&[
        "--json",
        "--runs",
        "2",
        "--levels",
        "1,2",
        "--output",
        place.to_str().unwrap(),
        "--",
        "sh",
        "-c",
        "test $0 -lt 2",
        "{n}",
    ]);
    let answer = json(&output);
    assert_eq!(answer["levels"].as_array().unwrap().len(), 1);
    assert_eq!(answer["causes"][0]["cause"], "unknown", "{answer}");
    assert!(
        answer["remarks"][0].as_str().unwrap().starts_with("2 of 6 trials failed: "),
        "{answer}"
    );
    let warned = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(warned.contains("failed") && warned.contains("n 2"), "{warned}");
}

#[test]
fn the_cpu_time_of_a_server_is_no_neighbour_s() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("session");
    let server = ["-c", "while :; do :; done"];
    let mut server = std::process::Command::new("sh").args(server).spawn().unwrap();
    let pid = server.id().to_string();
    let place_text = place.to_str().unwrap();
    let measured =
        ["--with", &pid, "--json", "--runs", "1", "--levels", "1,2", "--output", place_text];
    let output = scale(&[&measured[..], &["--", "sleep", "0.{n}"]].concat());
    server.kill().unwrap();
    server.wait().unwrap();
    json(&output);
    let trials = std::fs::read_to_string(place.join("trials.ndjson")).unwrap();
    for trial in trials.lines() {
        let trial: serde_json::Value = serde_json::from_str(trial).unwrap();
        let used = trial["measured"]["waits"]["peers"][0]["cpu_ns"].as_u64();
        assert!(used.is_some_and(|ns| ns > 0), "{trial}");
    }
    for nobody in ["4194303", "no such name"] {
        let output = scale(&["--with", nobody, "--", "sleep", "0.{n}"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains("no process has this ID or name"), "{}", said(&output));
    }
}
