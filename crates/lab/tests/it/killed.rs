//! A session whose runner is killed loses nothing that was complete, and leaves nothing behind.

use crate::support::*;
use std::process::Stdio;
use std::time::Duration;

const BLOCKS: u32 = 3;

/// A session with threads, forked workers and files; every fifth one shielded, so that there are
/// cgroups to leave behind.
fn session(dir: &std::path::Path, kill: u32) -> std::process::Command {
    let mut command = scruple();
    command
        .args(["run", "create", "workers", "--profile", "smoke", "--seed", "7", "--output"])
        .arg(dir)
        .args(["--runs", &BLOCKS.to_string()]);
    if !kill.is_multiple_of(5) {
        command.arg("--no-shield");
    }
    command
}

/// xorshift64*: moments that are the same in every session of the tests.
struct Moments(u64);

impl Moments {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % below
    }
}

#[test]
fn fifty_random_kills_lose_no_complete_trial_and_double_none() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    let output = session(&whole, 1).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let expected = stored_trials(&whole).len();
    assert!(expected >= BLOCKS as usize * 2, "only {expected} trials");

    let mut moments = Moments(0x5c2a_91e5);
    let mut interrupted = 0;
    for kill in 0..50 {
        let dir = folder.path().join(format!("killed-{kill}"));
        let command = session(&dir, kill);
        // How far a session is, and not how long it takes, places the kill on any machine.
        let anywhere = moments.next(expected as u64) as usize;
        // Some sessions are killed while they begin.
        let stored = if kill % 10 == 3 { 0 } else { anywhere };
        let after = Duration::from_micros(moments.next(20_000));
        let before = kill_and_resume(command, &dir, stored, after, expected);
        interrupted += u32::from(before > 0 && before < expected);
    }
    // If no kill ever came before the end, this test would have tested nothing.
    assert!(interrupted >= 10, "only {interrupted} of 50 sessions were really interrupted");
}

/// Kills a session some time after it has stored a number of trials, resumes it, and checks it. Returns how many
/// trials it had stored by then.
fn kill_and_resume(
    mut command: std::process::Command,
    dir: &std::path::Path,
    stored: usize,
    after: Duration,
    expected: usize,
) -> usize {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let has_ended = |child: &mut std::process::Child| child.try_wait().unwrap().is_some();
    let lines = || std::fs::read(dir.join("trials.ndjson")).unwrap_or_default();
    let count = || lines().iter().filter(|byte| **byte == b'\n').count();
    while count() < stored && !has_ended(&mut child) {
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(after);
    let pid = child.id();
    // One that has ended is not killed any more.
    let _ = child.kill();
    child.wait().unwrap();
    eventually("trials and guard are gone", || {
        processes_with("__trial").is_empty() && processes_with("__guard").is_empty()
    });
    eventually("its cgroups are gone", || cgroups_of(pid).is_empty());
    assert!(!dir.join("scratch").exists(), "the scratch folder is left");

    let before = stored_trials(dir);
    if !dir.join("manifest.json").exists() {
        assert!(before.is_empty());
        return 0;
    }
    let output = scruple().args(["run", "--resume"]).arg(dir).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let after = stored_trials(dir);
    assert!(before.iter().all(|trial| after.contains(trial)), "a complete trial is lost");
    assert_no_doubles(&after);
    assert_eq!(after.len(), expected, "the session is not complete");
    assert!(dir.join("report.html").exists());
    before.len()
}

#[test]
fn ctrl_c_keeps_what_is_complete_and_says_how_to_resume() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    let child = interruptible(&mut small_session(&dir, 400));
    eventually("a few trials are stored", || stored_trials(&dir).len() > 5);
    sys::process::kill(child.id() as i32, sys::signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("--resume"), "{text}");
    assert!(dir.join("report.html").exists() && dir.join("summary.json").exists());
    assert!(!dir.join("scratch").exists());
    assert!(processes_with("__trial").is_empty());
}

#[test]
fn the_seed_repeats_the_order() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    for dir in [&a, &b] {
        let output = small_session(dir, 3).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
    }
    assert_eq!(stored_trials(&a), stored_trials(&b));
    let c = folder.path().join("c");
    let output = small_session(&c, 3).args(["--color", "never"]).output().unwrap();
    assert!(output.status.success());
    let other = scruple()
        .args(["run", "null", "--profile", "smoke", "--seed", "8", "--no-shield", "--runs", "3"])
        .arg("--output")
        .arg(folder.path().join("d"))
        .output()
        .unwrap();
    assert!(other.status.success());
    assert_ne!(stored_trials(&c), stored_trials(&folder.path().join("d")));
}

#[test]
fn a_session_whose_time_was_up_is_finished_by_resuming_it() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    let output = scruple()
        .args(["run", "null", "--profile", "smoke", "--no-shield", "--runs", "300"])
        .args(["--time-budget", "3s", "--output"])
        .arg(&dir)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("the time was up"), "{}", said(&output));
    let before = stored_trials(&dir).len();
    assert!((1..1800).contains(&before), "{before} trials in three seconds");
    let output = scruple().args(["run", "--json", "--resume"]).arg(&dir).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["complete"], true);
    let after = stored_trials(&dir);
    assert_eq!(after.len(), 1800);
    assert_no_doubles(&after);
}

#[test]
fn children_that_were_there_before_are_left_alone() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("session");
    // A shell starts something and then becomes scruple: it is scruple's child, but not its own.
    let script = "sleep 600 >/dev/null 2>&1 & echo $! > \"$2\"; exec \"$0\" run null --profile smoke --runs 1 --output \"$1\"";
    let pid_file = folder.path().join("pid");
    let output = std::process::Command::new("bash")
        .args(["-c", script])
        .arg(binary())
        .arg(&dir)
        .arg(&pid_file)
        .output()
        .unwrap();
    let sleeper: i32 = std::fs::read_to_string(&pid_file).unwrap().trim().parse().unwrap();
    let alive = sys::task::exists(sleeper);
    let _ = sys::process::kill(sleeper, sys::signal::SIGKILL);
    assert!(output.status.success(), "{}", said(&output));
    assert!(alive, "somebody else's process was killed");
    let text = std::fs::read_to_string(dir.join("trials.ndjson")).unwrap();
    assert!(!text.contains("\"leaked\":1"), "somebody else's process was counted as leaked");
}

#[test]
fn a_path_that_is_not_text_is_a_path() {
    use std::os::unix::ffi::OsStrExt;
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join(std::ffi::OsStr::from_bytes(b"d\xff"));
    let output = small_session(&dir, 1).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(dir.join("report.html").exists() && !dir.join("scratch").exists());
}
