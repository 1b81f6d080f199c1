//! Who is left when one worker dereferences a null pointer?
//!
//! The crash happens in a process of its own, so that the trial survives to record it. In it live
//! main, a bystander of the worker's kind, and the worker. After the worker is gone, those that are
//! left mark themselves in memory that the trial shares.

use super::worker::Worker;
use kit::{Result, Stop, Trial};
use std::sync::atomic::{AtomicU64, Ordering};
use sys::gate::SharedGate;

/// Words in which the two that do not crash say that they are left.
const MAIN: usize = 0;
const BYSTANDER: usize = 1;
/// The signal that ended a worker that is a process.
const SIGNAL: usize = 2;
/// How many were there before the crash.
const THERE: usize = 3;
const WORDS: usize = 4;

/// Main and a bystander.
const OTHERS: f64 = 2.0;

/// The exit code of a house in which something else went wrong.
const BROKEN: i32 = 9;

pub(super) fn trial(trial: &mut Trial<'_>, worker: Worker) -> Result<()> {
    let words = sys::pages::shared(WORDS * size_of::<u64>())?;
    trial.begin()?;
    let ended = house(worker, words.words())?;
    trial.end()?;
    let word = |index: usize| words.words()[index].load(Ordering::SeqCst);
    let survivors = word(MAIN) + word(BYSTANDER);
    trial.record_one("survivors_count", survivors as i64);
    let signal = match worker {
        Worker::Thread => i64::from(ended.signal.unwrap_or(0)),
        Worker::Process | Worker::SharingProcess => word(SIGNAL) as i64,
    };
    let wanted = f64::from(sys::signal::SIGSEGV);
    trial.check("the signal of the crash", signal as f64, wanted, wanted);
    trial.check("others before the crash", word(THERE) as f64, OTHERS, OTHERS);
    let is_left = |left: bool| if left { "is left" } else { "is gone" }.to_string();
    let signal_of = |signal: Option<i32>| match signal {
        Some(signal) => format!("ended by {}", sys::calls::signal_name(signal)),
        None => "ended by itself".into(),
    };
    trial.exhibit(
        "after the worker has dereferenced a null pointer",
        &["who", "what became of it"],
        vec![
            vec!["main".into(), is_left(word(MAIN) == 1)],
            vec!["another worker".into(), is_left(word(BYSTANDER) == 1)],
            vec!["their process".into(), signal_of(ended.signal)],
        ],
    );
    Ok(())
}

/// The process in which it happens; returns how it ended.
pub(super) fn house(worker: Worker, words: &[AtomicU64]) -> Result<sys::task::Ended> {
    let gate = SharedGate::new()?;
    let pid = sys::task::fork_run(|| {
        let lived = match worker {
            Worker::Thread => among_threads(words, &gate),
            Worker::Process | Worker::SharingProcess => among_processes(words, &gate),
        };
        lived.map_or(BROKEN, |()| 0)
    })?;
    let ended = sys::task::wait(pid)?;
    match ended.code {
        Some(BROKEN) => Err(Stop::failed("the process of the crash could not be set up")),
        _ => Ok(ended),
    }
}

/// A bystander: it is there, waits until the worker is gone, and says that it is left.
fn stand_by(words: &[AtomicU64], gate: &SharedGate) {
    gate.arrive_and_wait();
    words[BYSTANDER].store(1, Ordering::SeqCst);
}

/// Main waits until the bystander is there.
fn await_bystander(words: &[AtomicU64], gate: &SharedGate) {
    while gate.arrived().load(Ordering::SeqCst) == 0 {
        // An error here is a spurious return; the loop looks again.
        let _ = sys::futex::wait_shared(gate.arrived(), 0, None);
    }
    words[THERE].store(2, Ordering::SeqCst);
}

/// Main says that it is left, and lets the bystander say so.
fn go_on(words: &[AtomicU64], gate: &SharedGate) {
    words[MAIN].store(1, Ordering::SeqCst);
    gate.open();
}

fn among_threads(words: &[AtomicU64], gate: &SharedGate) -> Result<()> {
    std::thread::scope(|scope| {
        let bystander =
            std::thread::Builder::new().spawn_scoped(scope, || stand_by(words, gate))?;
        await_bystander(words, gate);
        let worker = std::thread::Builder::new().spawn_scoped(scope, sys::null::dereference);
        // If the worker's crash were its own affair, main would go on here.
        let crashed = worker.map(|worker| worker.join());
        go_on(words, gate);
        let _ = bystander.join();
        crashed.map(drop).map_err(Stop::from)
    })
}

fn among_processes(words: &[AtomicU64], gate: &SharedGate) -> Result<()> {
    let bystander = sys::task::fork_run(|| {
        stand_by(words, gate);
        0
    })?;
    await_bystander(words, gate);
    let worker = sys::task::fork_run(|| i32::from(sys::null::dereference().is_err()))?;
    let signal = sys::task::wait(worker)?.signal.unwrap_or(0);
    words[SIGNAL].store(signal.unsigned_abs().into(), Ordering::SeqCst);
    go_on(words, gate);
    sys::task::wait(bystander)?;
    Ok(())
}
