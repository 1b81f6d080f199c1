//! `scruple load`: what it refuses before the first request, in one line and with exit code 2.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod support;

use std::process::Output;
use support::{said, scruple};

const HERE: &str = "http://127.0.0.1:9/";
/// TEST-NET-1 of RFC 5737: nobody has it.
const ELSEWHERE: &str = "http://192.0.2.1/";

fn load(words: &[&str]) -> Output {
    scruple().arg("load").args(words).output().unwrap()
}

/// The one line of an error.
fn refusal(words: &[&str]) -> String {
    let output = load(words);
    assert_eq!(output.status.code(), Some(2), "{words:?}: {}", said(&output));
    assert!(output.stdout.is_empty(), "{words:?}: {}", said(&output));
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.lines().count(), 1, "{words:?}: {text}");
    assert!(text.starts_with("error: "), "{text}");
    text
}

#[test]
fn what_is_no_url_of_http_is_told_what_would_be() {
    assert!(refusal(&["https://127.0.0.1/"]).contains("https is not spoken"));
    assert!(refusal(&["127.0.0.1:80"]).contains("http://127.0.0.1:8080/"));
    assert!(refusal(&["http://no.such.host.invalid/"]).contains("no.such.host.invalid"));
}

#[test]
fn another_machine_is_asked_only_by_who_says_so_and_how_much() {
    assert!(refusal(&[ELSEWHERE]).contains("--allow-remote"));
    let with = |words: &[&str]| refusal(&[&[ELSEWHERE, "--allow-remote"], words].concat());
    for words in [&[][..], &["-q", "10"], &["-z", "1s"], &["-q", "10", "-n", "5"]] {
        assert!(with(words).contains("--rate and --duration"), "{words:?}");
    }
    for words in [&["--find-knee"][..], &["--find-knee", "-q", "9"]] {
        assert!(with(words).contains("--rate and --time-budget"), "{words:?}");
    }
    assert!(refusal(&["http://0.0.0.0/"]).contains("not this machine"));
}

#[test]
fn flags_that_contradict_each_other_are_told() {
    assert!(refusal(&[HERE, "--open"]).contains("--rate"));
    assert!(refusal(&[HERE, "-c", "2", "-t", "4"]).contains("2 connections"));
    assert!(refusal(&[HERE, "-D", "/no/such/file"]).contains("/no/such/file"));
    assert!(refusal(&[HERE, "--json", "--html", "-"]).contains("standard output"));
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    assert!(refusal(&[HERE, "--html", folder]).contains("--html"));
    assert!(refusal(&[HERE, "--hdr-log", folder]).contains("--hdr-log"));
}

#[test]
fn what_the_command_line_cannot_mean_is_refused() {
    for (words, part) in [
        (&["-t", "20s"][..], "--timeout"),
        (&["-z", "10x"], "such as 10s"),
        (&["-q", "0"], "such as 500"),
        (&["-c", "0"], "1..=65536"),
        (&["-n", "0"], "0 is not in"),
        (&["-H", "Content-Length: 1"], "follows from the body"),
        (&["-H", "none"], "Accept: text/html"),
        (&["-m", "GET /"], "such as GET"),
        (&["-d", "a", "-D", "b"], "cannot be used with"),
        (&["--find-knee", "-n", "5"], "cannot be used with"),
        (&["--limit", "50ms"], "--find-knee"),
        (&["--open=sometimes", "-q", "5"], "poisson"),
    ] {
        let output = load(&[&[HERE], words].concat());
        let text = String::from_utf8_lossy(&output.stderr).to_string();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {text}");
        assert!(text.contains(part), "{words:?}: {text}");
    }
}

#[test]
fn the_help_tells_the_exit_codes() {
    let output = load(&["--help"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for part in
        ["Exit codes: 0 measured", "--allow-remote", "Three times of each request", "docs/load.md"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let short = String::from_utf8(scruple().arg("--help").output().unwrap().stdout).unwrap();
    assert!(short.contains("Put a load on an HTTP server"), "{short}");
}
