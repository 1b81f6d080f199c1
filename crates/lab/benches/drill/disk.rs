//! Disks that are too small for the session: what was stored stays, and once there is room the session
//! is gone on with.

use crate::ledger::{Ledger, Lines};
use crate::moments::Moments;
use crate::support::{is_root, said, scruple, small_session};
use std::path::Path;
use std::process::Command;

/// Blocks of the session, and the trials that they have.
const BLOCKS: u32 = 40;
const TRIALS: u64 = 240;

/// The sizes, in KiB, reach from nothing to about what the session needs.
const KIB: [u64; 2] = [4, 500];

/// On every fifth disk there is not even room for the session's manifest.
const TINY_KIB: u64 = 8;

pub(crate) fn drill(disks: u64, folder: &Path, moments: &mut Moments, ledger: &mut Ledger) {
    if disks == 0 {
        return;
    }
    if !is_root() {
        println!("a full disk: not looked at, since mounting a small one needs root");
        return;
    }
    let (mut full, mut nothing, mut kept) = (0, 0, 0);
    for number in 0..disks {
        let at = folder.join(format!("disk-{number}"));
        std::fs::create_dir(&at).unwrap();
        let most = if number % 5 == 4 { TINY_KIB } else { KIB[1] };
        let kib = KIB[0] + moments.below(most - KIB[0]);
        mount(&["-t", "tmpfs", "-o", &format!("size={kib}k"), "scruple-drill"], &at);
        let dir = at.join("s/session");
        let output = small_session(&dir, BLOCKS).output().unwrap();
        let before = Lines::of(&dir);
        if !output.status.success() {
            full += 1;
            let said = said(&output);
            ledger.must(output.status.code() == Some(2) && said.contains("No space left"), || said);
        }
        if !dir.exists() {
            nothing += 1;
            let left = std::fs::read_dir(&at).unwrap().count();
            ledger.must(left == 0, || format!("a disk of {kib} KiB: {left} entries are left"));
        }
        kept += before.count();
        mount(&["-o", "remount,size=64m"], &at);
        let mut again = match dir.join("manifest.json").exists() {
            true => {
                let mut command = scruple();
                command.args(["run", "--resume"]).arg(&dir);
                command
            }
            false => small_session(&dir, BLOCKS),
        };
        let output = again.output().unwrap();
        ledger.must(output.status.success(), || said(&output));
        ledger.compare(&before, &Lines::of(&dir));
        ledger.must_be_whole(&format!("the disk of {kib} KiB"), &dir, TRIALS);
        assert!(Command::new("umount").arg(&at).status().unwrap().success());
    }
    ledger.tell(format!(
        "a full disk: {disks} disks of {} to {} KiB, {full} of them too small; {kept} trials were \
         stored on them before and kept, on {nothing} no session could begin and nothing was left",
        KIB[0], KIB[1]
    ));
}

fn mount(words: &[&str], at: &Path) {
    assert!(Command::new("mount").args(words).arg(at).status().unwrap().success());
}
