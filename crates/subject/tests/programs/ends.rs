//! Whatever ends the runner, nothing of a program is left, in whichever session it hides.

use crate::bench::{design, script, settings, test};
use libtest_mimic::Trial as Test;
use model::{Cell, Subject};
use runner::{Order, Runner};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use sys::task::Pid;

/// The first argument of this binary that makes it a runner of [`HIDING`], in the folder that is
/// the second.
pub(crate) const CONDUCT: &str = "__conduct";

/// Programs that sleep for so long, which no other program does.
const HIDING: &str = "trap '' TERM INT HUP; \
                      (setsid sh -c '(setsid sleep 36117 &) ; sleep 36117' &) ; \
                      sleep 36117 & sleep 36117";

pub(crate) fn tests() -> Vec<Test> {
    vec![
        test("a_runner_that_is_killed", || ends_with(sys::signal::SIGKILL)),
        test("a_runner_that_is_interrupted", || ends_with(sys::signal::SIGINT)),
    ]
}

/// Conducts the program, for as long as it takes.
pub(crate) fn conduct(folder: &Path) {
    sys::interrupt::install().expect("handlers");
    let cleaned = folder.join("cleaned").display().to_string();
    let cleanup = vec![vec!["touch".to_string(), cleaned]];
    let design = design(Subject { cleanup, ..script(HIDING) });
    let treatment = design.complete(&Cell::new([]));
    let order = Order {
        design: &design,
        treatment: &treatment,
        trial: 0,
        block: 0,
        position: 0,
        until: None,
    };
    let mut runner = Runner::start(settings(folder)).expect("a runner");
    assert!(runner.conduct(&order).expect("the runner goes on").is_none(), "it was interrupted");
}

fn ends_with(signal: i32) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut runner: Child = Command::new("/proc/self/exe")
        .arg(CONDUCT)
        .arg(folder.path())
        .stdin(Stdio::null())
        .spawn()
        .expect("a runner");
    until("all four sleep", || sleepers() == 4);
    sys::process::kill(runner.id() as Pid, signal).expect("it lives");
    runner.wait().expect("it ends");
    until("none is left", || sleepers() == 0);
    until("it was cleaned up", || folder.path().join("cleaned").exists());
    until("the scratch folder is gone", || !folder.path().join("scratch").exists());
}

fn until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// How many programs of [`HIDING`] sleep on this machine.
fn sleepers() -> usize {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    entries
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .filter(|line| line == b"sleep\x0036117\0")
        .count()
}
