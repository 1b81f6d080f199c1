//! The runner is killed at random moments, and its session gone on with, until it is whole; then the
//! next.

use crate::ledger::{Ledger, Lines};
use crate::moments::Moments;
use crate::support::{cgroups_of, processes_with, said, scruple};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Kills fall into this share of the time of a whole session, so that most sessions meet several.
const SHARE: f64 = 0.6;

/// How long what a killed runner leaves has to go.
const GOING: Duration = Duration::from_secs(10);

/// Threads, forked workers and files; every fifth session is shielded, so that there are cgroups.
pub(crate) fn session(dir: &Path, number: u64) -> Command {
    let mut command = scruple();
    command.args(["run", "create", "workers", "--profile", "smoke", "--runs", "3", "--output"]);
    command.arg(dir).args(["--seed", &number.to_string()]);
    if !number.is_multiple_of(5) {
        command.arg("--no-shield");
    }
    command
}

/// Begins a session, or goes on with it where there is one.
pub(crate) fn begin_or_go_on(dir: &Path, number: u64) -> Command {
    if !dir.join("manifest.json").exists() {
        return session(dir, number);
    }
    let mut command = scruple();
    command.args(["run", "--resume"]).arg(dir);
    command
}

/// What an undisturbed session stores, and how long it takes.
pub(crate) fn whole(folder: &Path) -> (u64, Duration) {
    let dir = folder.join("whole");
    let begun = Instant::now();
    let output = session(&dir, 1).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    (Lines::of(&dir).count(), begun.elapsed())
}

pub(crate) fn drill(kills: u64, folder: &Path, moments: &mut Moments, ledger: &mut Ledger) {
    if kills == 0 {
        return;
    }
    let (expected, time) = whole(folder);
    println!("{expected} trials in an undisturbed session of {:.2} s", time.as_secs_f64());
    let (mut done, mut sessions, mut before_manifest, mut torn, mut midway) = (0, 0, 0, 0, 0);
    while done < kills {
        sessions += 1;
        let dir = folder.join(format!("killed-{sessions}"));
        loop {
            let before = Lines::of(&dir);
            let after_this = moments.within(time.mul_f64(SHARE));
            let killed =
                done < kills && kill(begin_or_go_on(&dir, sessions), &dir, after_this, ledger);
            if !killed {
                // It came to its end first, or goes there now that all kills are done.
                let output = begin_or_go_on(&dir, sessions).output().unwrap();
                ledger.must(output.status.success(), || said(&output));
                break;
            }
            done += 1;
            let after = Lines::of(&dir);
            before_manifest += u64::from(!dir.join("manifest.json").exists());
            torn += u64::from(is_torn(&dir));
            midway += u64::from((1..expected).contains(&after.count()));
            ledger.compare(&before, &after);
            if done % 50 == 0 {
                println!("{done} kills, {sessions} sessions");
            }
        }
        ledger.must_be_whole(&format!("session {sessions}"), &dir, expected);
        std::fs::remove_dir_all(&dir).unwrap();
    }
    ledger.tell(format!(
        "kill -9 of the runner: {done} times over {sessions} sessions of {expected} trials; {midway} \
         with some trials stored and some not, {before_manifest} before there was a session, {torn} \
         left a torn line"
    ));
}

fn is_torn(dir: &Path) -> bool {
    let bytes = std::fs::read(dir.join("trials.ndjson")).unwrap_or_default();
    bytes.last().is_some_and(|last| *last != b'\n')
}

/// Starts a command and kills it after a while; false if it ended by itself before.
fn kill(mut command: Command, dir: &Path, after: Duration, ledger: &mut Ledger) -> bool {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let before = Lines::of(dir);
    std::thread::sleep(after);
    let _ = child.kill();
    let status = child.wait().unwrap();
    must_leave_nothing(child.id(), &[dir], ledger);
    ledger.compare(&before, &Lines::of(dir));
    status.signal() == Some(9)
}

/// Waits until nothing is left of a runner that has ended, wherever its session's folder is.
pub(crate) fn must_leave_nothing(runner: u32, dirs: &[&Path], ledger: &mut Ledger) {
    let left = || processes_with("__trial").len() + processes_with("__guard").len();
    let begun = Instant::now();
    loop {
        let processes = left();
        let scratch = dirs.iter().filter(|dir| dir.join("scratch").exists()).count();
        let cgroups = cgroups_of(runner).len();
        if processes + scratch + cgroups == 0 {
            break;
        }
        if begun.elapsed() > GOING {
            ledger.left_behind(processes as u64, scratch as u64, cgroups as u64);
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
