//! Commands as people type them, through all commands that take one.

use crate::support::{alone, said, scruple};
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn run(words: &[&str], dir: &Path) -> Output {
    let mut command = scruple();
    let home = dir.join("home");
    command.args(words).current_dir(dir).env("HOME", home).stdin(Stdio::null());
    command.output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", said(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn variables_before_a_command_are_its_environment() {
    let dir = tempfile::tempdir().unwrap();
    let print = "printf '<%s %s>' \"$A\" \"$B\"";
    for words in [
        &["waits", "--env", "B=b", "--", "A=a a", "sh", "-c", print][..],
        &["waits", "A=a a", "B=b", "sh", "-c", print],
        &["waits", "A='a a' B=b sh -c 'printf \"<$A $B>\"'"],
        &["syscalls", "--env", "A=0", "A=a a", "B=b", "sh", "-c", print],
    ] {
        let shown = stdout(&run(words, dir.path()));
        assert!(shown.contains("<a a b>"), "{words:?}: {shown}");
    }
    // The folders of the command's own PATH are searched.
    let shown = stdout(&run(&["syscalls", "PATH=/bin:/usr/bin", "true"], dir.path()));
    assert!(shown.contains("true"), "{shown}");
    for words in [
        &["why", "--dry-run", "--", "A=a a", "true"][..],
        &["why", "--dry-run", "--env", "A=a a", "true"],
        &["scale", "--dry-run", "--", "A=a a", "N={n}", "true"],
        &["scale", "--dry-run", "--env", "N={n}", "--", "A='a a' true"],
    ] {
        let shown = stdout(&run(words, dir.path()));
        assert!(shown.contains("A='a a'") && shown.contains("true"), "{words:?}: {shown}");
    }
    let wrong = run(&["why", "--env", "A", "true"], dir.path());
    assert!(said(&wrong).contains("expected NAME=VALUE"), "{}", said(&wrong));
}

#[test]
fn what_needs_a_shell_is_refused_with_the_line_to_type() {
    let dir = tempfile::tempdir().unwrap();
    for (words, what, line) in [
        (
            &["why", "--squeeze", "cpu", "--", "a | b"][..],
            "a pipe",
            "why --squeeze cpu -- sh -c 'a | b'",
        ),
        (&["scale", "--", "a -n{n} > c"], "a redirection", "scale -- sh -c 'a -n{n} > c'"),
        (&["waits", "ls *.c"], "a pattern of file names", "waits sh -c 'ls *.c'"),
        (&["syscalls", "cat <(a)"], "in the place of a file", "syscalls bash -c 'cat <(a)'"),
        (&["why", "!", "a", "b c"], "turns an exit code round", r"why sh -c '! a '\''b c'\'''"),
    ] {
        let output = run(words, dir.path());
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = format!("type: scruple {line}\n");
        assert!(told.contains(what) && told.ends_with(&line), "{words:?}: {told}");
    }
    // The line that is to be typed is understood.
    let mut typed = Command::new("sh");
    let line = r#""$0" waits sh -c 'echo a | tr a b'"#;
    let output = typed.args(["-c", line]).arg(scruple().get_program()).output().unwrap();
    assert!(stdout(&output).starts_with("b\n"), "{}", said(&output));
}

#[test]
fn a_line_is_read_as_a_shell_reads_it() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("home")).unwrap();
    std::os::unix::fs::symlink("/bin/echo", dir.path().join("home/say it")).unwrap();
    for line in ["~/'say it' one", "time \"$HOME/say it\" one", "${HOME}/say\\ it one # why"] {
        let output = run(&["waits", line], dir.path());
        assert!(stdout(&output).starts_with("one\n"), "{line}: {}", said(&output));
        let note = said(&output).contains("time is left out");
        assert_eq!(note, line.starts_with("time"), "{}", said(&output));
    }
    let file = dir.path().join("a.toml").display().to_string();
    let init = ["study", "--init", &file, "A=1 ~/'say it' one", "time A=2 true"];
    stdout(&run(&init, dir.path()));
    let shown = stdout(&run(&["study", &file, "--dry-run"], dir.path()));
    assert!(shown.contains("A=1 ") && shown.contains("home/say it' one"), "{shown}");
    assert!(shown.contains("A=2 true"), "{shown}");
}

#[test]
fn a_variable_may_be_a_factor_and_any_exit_code_a_success() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let session = |name: &str| dir.path().join(name).display().to_string();
    let text = "command = [\"N={n}\", \"sh\", \"-c\", \"test $N = {n} && exit 12\"]\n\
                exit_codes = \"any\"\nfactors.n = [1, 2]\nprepare = [\"A=1\", \"sh\", \"-c\", \"test $A = 1\"]";
    std::fs::write(dir.path().join("a.toml"), text).unwrap();
    let fixed = ["--profile", "smoke", "--no-shield", "-o"];
    let (study, scale) = (session("study"), session("scale"));
    let output = run(&[&["study", "a.toml"], &fixed[..], &[&study]].concat(), dir.path());
    assert!(output.status.success(), "{}", said(&output));
    let trials = std::fs::read_to_string(Path::new(&study).join("trials.ndjson")).unwrap();
    assert!(trials.lines().count() > 4);
    for trial in trials.lines() {
        assert!(trial.contains("\"exit_code\":\"12\"") && trial.contains("completed"), "{trial}");
    }
    let scaled = |more: &[&str], to: &str| {
        let words = ["scale", "--runs", "2", "--levels", "1,2", "--no-shield", "-o", to];
        let command = ["--", "sh", "-c", "exit {n}"];
        run(&[&words[..], more, &command].concat(), dir.path())
    };
    let failed = scaled(&[], &session("failed"));
    assert_eq!(failed.status.code(), Some(2), "{}", said(&failed));
    assert!(said(&failed).contains("accept its exit code (--ignore-failure)"), "{}", said(&failed));
    let output = scaled(&["--ignore-failure"], &scale);
    assert!(output.status.success(), "{}", said(&output));
}
