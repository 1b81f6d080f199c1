//! Trials are killed at random moments: each must have a record that says so, and the session goes on.

use crate::kills::{session, whole};
use crate::ledger::{Ledger, Lines};
use crate::moments::Moments;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use sys::Pid;

/// Kills are at most so far apart.
const APART: Duration = Duration::from_millis(150);

pub(crate) fn drill(kills: u64, folder: &Path, moments: &mut Moments, ledger: &mut Ledger) {
    if kills == 0 {
        return;
    }
    let (expected, _) = whole(&folder.join("trials"));
    let (mut sent, mut died, mut sessions) = (0, 0, 0_u64);
    while sent < kills {
        sessions += 1;
        let dir = folder.join(format!("trials-{sessions}"));
        let mut command = session(&dir, sessions);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while child.try_wait().unwrap().is_none() {
            std::thread::sleep(moments.within(APART));
            let trial = trial_of(child.id());
            if let Some(pid) = trial.filter(|_| sent < kills) {
                sent += u64::from(sys::process::kill(pid, sys::signal::SIGKILL).is_ok());
            }
        }
        let status = child.wait().unwrap();
        ledger
            .must(status.success(), || format!("session {sessions} with killed trials: {status}"));
        let kinds = Lines::of(&dir);
        let kinds = kinds.records().map(|record| record["outcome"].clone());
        died += kinds.filter(|it| it["kind"] == "died" && it["signal"] == 9).count() as u64;
        ledger.must_be_whole(&format!("session {sessions} with killed trials"), &dir, expected);
    }
    ledger.must(died <= sent, || format!("{died} trials died of {sent} kills"));
    ledger.tell(format!(
        "kill -9 of a trial: {sent} times over {sessions} sessions; {died} recorded as died of \
         signal 9, the others had answered and ended"
    ));
}

/// The trial that a runner conducts in this moment.
pub(crate) fn trial_of(runner: u32) -> Option<Pid> {
    child_of(runner, b"__trial")
}

/// The first child of a runner with this word among its arguments.
pub(crate) fn child_of(runner: u32, role: &[u8]) -> Option<Pid> {
    let children =
        std::fs::read_to_string(format!("/proc/{runner}/task/{runner}/children")).ok()?;
    children.split_whitespace().filter_map(|word| word.parse().ok()).find(|pid: &Pid| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).any(|word| word == role)
    })
}
