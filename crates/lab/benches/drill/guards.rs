//! Guards are killed at random moments: each is replaced before the next trial, and the one that took its
//! place does what it would have done.

use crate::kills::{begin_or_go_on, must_leave_nothing, session, whole};
use crate::ledger::{Ledger, Lines};
use crate::moments::Moments;
use crate::support::said;
use crate::trials::{child_of, trial_of};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;
use sys::Pid;

/// Kills are at most so far apart.
const APART: Duration = Duration::from_millis(300);

/// The most guards of one session that are killed.
const OF_ONE: u64 = 8;

pub(crate) fn drill(kills: u64, folder: &Path, moments: &mut Moments, ledger: &mut Ledger) {
    if kills == 0 {
        return;
    }
    let (expected, _) = whole(&folder.join("guards"));
    let (mut sent, mut sessions, mut both) = (0, 0_u64, 0_u64);
    while sent < kills {
        sessions += 1;
        let dir = folder.join(format!("guards-{sessions}"));
        let mut command = session(&dir, sessions);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // In every second session the runner is killed after its guard was replaced.
        let ends_so = sessions.is_multiple_of(2);
        let upto = kills.min(sent + OF_ONE);
        while child.try_wait().unwrap().is_none() && sent < upto {
            std::thread::sleep(moments.within(APART));
            let Some(guard) = guard_of(&child) else { continue };
            sent += u64::from(sys::process::kill(guard, sys::signal::SIGKILL).is_ok());
            if ends_so && is_replaced(&mut child, guard) {
                both += u64::from(child.kill().is_ok());
                break;
            }
        }
        let status = child.wait().unwrap();
        must_leave_nothing(child.id(), &[&dir], ledger);
        let before = Lines::of(&dir);
        if !status.success() {
            ledger.must(ends_so, || format!("session {sessions} with killed guards: {status}"));
            let output = begin_or_go_on(&dir, sessions).output().unwrap();
            ledger.must(output.status.success(), || said(&output));
        }
        ledger.compare(&before, &Lines::of(&dir));
        ledger.must_be_whole(&format!("session {sessions} with killed guards"), &dir, expected);
    }
    ledger.tell(format!(
        "kill -9 of a guard: {sent} times over {sessions} sessions, in {both} of them with the runner \
         after another guard had taken its place"
    ));
}

fn guard_of(runner: &Child) -> Option<Pid> {
    child_of(runner.id(), b"__guard")
}

/// Waits for a trial that another guard watches; false if the runner ends before.
fn is_replaced(runner: &mut Child, killed: Pid) -> bool {
    loop {
        let is_other = guard_of(runner).is_some_and(|guard| guard != killed);
        if is_other && trial_of(runner.id()).is_some() {
            return true;
        }
        if runner.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
