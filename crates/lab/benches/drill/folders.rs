//! A session's folder is renamed, removed, or gets another file of trials while it measures.

use crate::kills::{must_leave_nothing, session, whole};
use crate::ledger::{Ledger, Lines};
use crate::moments::Moments;
use crate::support::{said, scruple};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// The faults fall into this share of the time of a whole session, so that most come before its end.
const SHARE: f64 = 0.8;

/// The file of trials that takes another's place ends in the middle of a line.
const TORN_BYTES: u64 = 10;

#[derive(Clone, Copy, Debug)]
enum Fault {
    Renamed,
    Removed,
    Replaced,
}

pub(crate) fn drill(folders: u64, folder: &Path, moments: &mut Moments, ledger: &mut Ledger) {
    if folders == 0 {
        return;
    }
    let (expected, time) = whole(&folder.join("folders"));
    let mut noticed = 0;
    for number in 1..=folders {
        let fault = [Fault::Renamed, Fault::Removed, Fault::Replaced][number as usize % 3];
        let (dir, other) =
            (folder.join(format!("here-{number}")), folder.join(format!("there-{number}")));
        let mut command = session(&dir, number);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while !dir.join("manifest.json").exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(moments.within(time.mul_f64(SHARE)));
        let before = Lines::of(&dir);
        befall(fault, &dir, &other);
        let runner = child.id();
        let output = child.wait_with_output().unwrap();
        must_leave_nothing(runner, &[&dir, &other], ledger);
        let is_noticed = must_be_told(fault, &output, ledger);
        noticed += u64::from(is_noticed);
        if let Fault::Renamed = fault {
            ledger.must(!dir.exists(), || "a session is split over two folders".into());
            ledger.compare(&before, &Lines::of(&other));
            ledger.must(!other.join("lock").exists(), || "a lock is left".into());
            let output = go_on(&other);
            ledger.must(output.status.success(), || said(&output));
            ledger.compare(&before, &Lines::of(&other));
            ledger.must_be_whole("a session that was renamed", &other, expected);
        }
        if let Fault::Removed = fault {
            ledger.must(!dir.exists(), || "a folder that was removed is there again".into());
        }
    }
    ledger.tell(format!(
        "the folder renamed, removed, or with another file of trials: {folders} times, {noticed} of \
         them before the end; each ended the session with code 2"
    ));
}

fn befall(fault: Fault, dir: &Path, other: &Path) {
    match fault {
        Fault::Renamed => std::fs::rename(dir, other).unwrap(),
        // The runner may make a file while its folder is emptied.
        Fault::Removed => while dir.exists() && std::fs::remove_dir_all(dir).is_err() {},
        Fault::Replaced => {
            let (trials, new): (PathBuf, _) = (dir.join("trials.ndjson"), dir.join("new"));
            std::fs::copy(&trials, &new).unwrap();
            let file = std::fs::OpenOptions::new().write(true).open(&new).unwrap();
            file.set_len(file.metadata().unwrap().len().saturating_sub(TORN_BYTES)).unwrap();
            std::fs::rename(&new, &trials).unwrap();
        }
    }
}

/// Whether the session was not over yet: then it must end with code 2, and name what is left.
fn must_be_told(fault: Fault, output: &Output, ledger: &mut Ledger) -> bool {
    if output.status.success() {
        return false;
    }
    let text = said(output);
    let named = match fault {
        Fault::Renamed => text.contains("was moved to") && text.contains("--resume"),
        Fault::Removed => text.contains("was removed") && text.contains("are lost"),
        Fault::Replaced => text.contains("was replaced") && text.contains("are lost"),
    };
    ledger.must(output.status.code() == Some(2) && named, || format!("{fault:?}: {text}"));
    true
}

fn go_on(dir: &Path) -> Output {
    let mut command: Command = scruple();
    command.args(["run", "--resume"]).arg(dir);
    command.output().unwrap()
}
