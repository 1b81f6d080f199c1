//! How a program is started, and how it ends.

use crate::bench::{failed, measured, observed, outcome, program, script, test};
use libtest_mimic::Trial as Test;
use model::{Outcome, Subject};

pub(crate) fn tests() -> Vec<Test> {
    vec![
        test("the_shell_is_used_only_where_asked", the_shell_is_used_only_where_asked),
        test("words_of_the_treatment_stand_in_it", words_of_the_treatment_stand_in_it),
        test("its_folder_is_the_trials_or_the_users", its_folder_is_the_trials_or_the_users),
        test("its_environment", its_environment),
        test("it_gets_no_input_and_no_terminal", it_gets_no_input_and_no_terminal),
        test("its_signals_are_at_their_defaults", its_signals_are_at_their_defaults),
        test("prepare_and_cleanup", prepare_and_cleanup),
        test("what_cannot_be_started", what_cannot_be_started),
        test("how_it_ends_is_judged", how_it_ends_is_judged),
    ]
}

/// A script that fails unless a condition of the shell's holds.
fn holds(condition: &str) -> Subject {
    script(&format!("{condition} || {{ echo \"not so: {}\" >&2; exit 9; }}", "$0"))
}

fn the_shell_is_used_only_where_asked() {
    let echo = program(&["sh", "-c", "test \"$0\" = '$HOME; {x'", "$HOME; {x"]);
    measured(echo);
    measured(script("true && exit 0; exit 1"));
}

fn words_of_the_treatment_stand_in_it() {
    measured(program(&["test", "{n}", "=", "3"]));
    measured(program(&["test", "-d", "{scratch}"]));
}

fn its_folder_is_the_trials_or_the_users() {
    let given = tempfile::tempdir().expect("a folder");
    let path = given.path().canonicalize().expect("a path").display().to_string();
    let subject = script(&format!("test \"$(pwd -P)\" = '{path}' && test {{scratch}} != '{path}'"));
    measured(Subject { folder: path, ..subject });
    measured(holds("test \"$(pwd -P)\" = {scratch}"));
    let nowhere = Subject { folder: "/nowhere/at/all".into(), ..program(&["true"]) };
    assert!(failed(nowhere).contains("/nowhere/at/all, is no folder here"));
}

fn its_environment() {
    let environment = [("WORKERS".to_string(), "{n} of them".to_string())];
    let subject = holds("test \"$WORKERS\" = '3 of them' && test -n \"$PATH\"");
    let environment: std::collections::BTreeMap<_, _> = environment.into();
    measured(Subject { environment: environment.clone(), ..subject });
    let bare = Subject { environment, clear_environment: true, ..program(&["/usr/bin/env"]) };
    let record = measured(bare);
    // Nothing else, but the padding that the record states.
    let padding = "SCRUPLE_PADDING=\n".len() + record.padding_bytes as usize;
    let bytes = "WORKERS=3 of them\n".len() + padding;
    assert_eq!(observed(&record, "stdout_bytes"), bytes.to_string());
}

fn it_gets_no_input_and_no_terminal() {
    measured(holds("! read line && ! (: < /dev/tty) 2> /dev/null"));
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), "a line\n").expect("written");
    let stdin = file.path().display().to_string();
    measured(Subject { stdin, ..holds("read line && test \"$line\" = 'a line'") });
    let missing = Subject { stdin: "no-such-file".into(), ..program(&["true"]) };
    assert!(failed(missing).contains("no-such-file: No such file"));
}

fn its_signals_are_at_their_defaults() {
    // SIGPIPE, which Rust ignores, ends `yes`; ignored, it would complain on its stderr.
    let record = measured(script("yes | head -n 1"));
    assert_eq!(observed(&record, "stderr_bytes"), "0");
    measured(holds("grep -q '^SigIgn:.0000000000000000$' /proc/self/status"));
}

fn prepare_and_cleanup() {
    let given = tempfile::tempdir().expect("a folder");
    let file = |name: &str| given.path().join(name).display().to_string();
    let command = |words: &[&str]| words.iter().map(|word| word.to_string()).collect::<Vec<_>>();
    let subject = Subject {
        prepare: vec![command(&["sh", "-c", &format!("sleep 0.3; touch {}", file("made"))])],
        cleanup: vec![command(&["rm", &file("made")]), command(&["touch", &file("cleaned")])],
        ..program(&["test", "-e", &file("made")])
    };
    let record = measured(subject.clone());
    assert!(record.spawn_to_ready_ns > Some(300_000_000), "it is part of the set-up");
    assert!(!given.path().join("made").exists() && given.path().join("cleaned").exists());

    std::fs::remove_file(file("cleaned")).expect("it was there");
    let reason = failed(Subject { command: command(&["false"]), ..subject.clone() });
    assert_eq!(reason, "false ended with exit code 1");
    assert!(given.path().join("cleaned").exists(), "cleaned up after a failure, too");

    let complaint = command(&["sh", "-c", "echo no disk here >&2; exit 4"]);
    let reason = failed(Subject { prepare: vec![complaint], ..subject });
    assert!(reason.starts_with("prepare command “sh -c echo no disk here"), "{reason}");
    assert!(reason.ends_with("ended with exit code 4; its stderr ends with “no disk here”"));
}

fn what_cannot_be_started() {
    let reason = failed(program(&["no-such-program-here", "-x"]));
    assert!(reason.starts_with("no-such-program-here cannot be started: No such file"), "{reason}");
    assert!(failed(program(&["/etc/passwd"])).contains("Permission denied"));
    let nothing = Subject { prepare: vec![vec!["no-such".into()]], ..program(&["true"]) };
    assert!(failed(nothing).starts_with("prepare command “no-such” cannot be started"));
}

fn how_it_ends_is_judged() {
    let reason = failed(script("echo first; echo why >&2; echo '\u{1b}[2J' >&2; exit 3"));
    assert_eq!(reason, "/bin/sh ended with exit code 3; its stderr ends with “\\u{1b}[2J”");
    let reason = failed(script("kill -SEGV $$"));
    assert_eq!(reason, "/bin/sh was ended by signal 11 (SIGSEGV)");
    let expects = |codes: &[i32], code: u8| {
        outcome(Subject { exit_codes: codes.to_vec(), ..script(&format!("exit {code}")) })
    };
    assert_eq!(expects(&[1, 2], 2), Outcome::Completed { leaked: 0 });
    assert!(matches!(expects(&[1, 2], 0), Outcome::Failed { .. }));
}
