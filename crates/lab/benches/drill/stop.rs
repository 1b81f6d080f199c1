//! The runner is stopped for a while, in the middle of a trial.

use crate::kills::{session, whole};
use crate::ledger::{Ledger, Lines};
use crate::trials::trial_of;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

pub(crate) fn drill(stops: u64, seconds: u64, folder: &Path, ledger: &mut Ledger) {
    if stops == 0 {
        return;
    }
    let (expected, _) = whole(&folder.join("stops"));
    let (mut marked, mut longest_ns) = (0, 0);
    for number in 1..=stops {
        let dir = folder.join(format!("stopped-{number}"));
        let mut command = session(&dir, number);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while child.try_wait().unwrap().is_none() {
            if Lines::of(&dir).count() >= 3 && trial_of(child.id()).is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let pid = child.id() as i32;
        sys::process::kill(pid, sys::signal::SIGSTOP).unwrap();
        std::thread::sleep(Duration::from_millis(500));
        let stopped = Lines::of(&dir).count();
        std::thread::sleep(Duration::from_secs(seconds).saturating_sub(Duration::from_millis(500)));
        let still = Lines::of(&dir).count();
        ledger.must(stopped == still, || "a stopped runner stored trials".into());
        sys::process::kill(pid, sys::signal::SIGCONT).unwrap();
        let status = child.wait().unwrap();
        ledger.must(status.success(), || format!("a session that was stopped: {status}"));
        ledger.must_be_whole("a session that was stopped", &dir, expected);
        for record in Lines::of(&dir).records() {
            let kind = record["outcome"]["kind"].clone();
            ledger.must(kind == "completed" || kind == "unsupported", || {
                format!("a trial of a session that was stopped {kind}")
            });
            let total_ns = record["total_ns"].as_u64().unwrap_or(0);
            let pauses = record["machine"]["runner_pauses"].as_u64().unwrap_or(0);
            // A trial whose time holds the pause says so.
            let held = Duration::from_nanos(total_ns) >= Duration::from_secs(seconds);
            ledger.must(!held || pauses > 0, || format!("{total_ns} ns, and no pause is noted"));
            marked += u64::from(pauses > 0);
            longest_ns = longest_ns.max(total_ns);
        }
    }
    ledger.tell(format!(
        "SIGSTOP of the runner: {stops} times for {seconds} s; {marked} trials say that it was \
         paused meanwhile, the longest took {:.1} s on its clock, none timed out",
        longest_ns as f64 / 1e9
    ));
}
