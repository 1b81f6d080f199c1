//! The worker: a thread or a process that does what main asks for, one step after the other.

use super::local;
use crate::support::child::beside;
use kit::workers::Model;
use kit::{Result, Stop};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use sys::gate::SharedGate;
use sys::pages::SharedWords;
use sys::task::Pid;

/// Who is handed the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worker {
    Thread,
    Process,
    SharingProcess,
}

/// What the levels of the factor `worker` stand for.
pub(super) const WORKERS: [(&str, Worker); 3] = [
    ("thread", Worker::Thread),
    ("process", Worker::Process),
    ("process_shared", Worker::SharingProcess),
];

/// How often main looks whether the worker died instead of answering.
const LOOK: Duration = Duration::from_millis(20);

/// What the worker is asked: the low bits of a step, above which steps are counted.
const KIND_BITS: u32 = 2;
const LOOK_THERE: u32 = 1;
const WRITE: u32 = 2;
const GO_HOME: u32 = 3;

/// Words in which both sides speak.
const ADDRESS: usize = 0;
const FRAME: usize = 1;
const VALUE: usize = 2;
const TO_WRITE: usize = 3;
const WORDS: usize = 4;

/// What the worker sees of the variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sight {
    /// The address it was handed.
    pub(super) address: u64,
    /// The number of the physical page; 0 where the kernel does not tell.
    pub(super) frame: u64,
    /// What it reads there.
    pub(super) value: u64,
}

/// Main's end of the conversation.
pub(super) struct MainEnd<'a> {
    talk: &'a Talk,
    process: Option<Pid>,
}

/// What both sides share, whatever the worker is.
struct Talk {
    words: SharedWords,
    gate: SharedGate,
}

/// Makes a worker that knows the variable, lets `main` tell it what to do, and sends it home.
pub(super) fn with_worker<T>(
    worker: Worker,
    variable: &AtomicU64,
    main: impl FnOnce(&MainEnd<'_>) -> Result<T>,
) -> Result<T> {
    let talk =
        Talk { words: sys::pages::shared(WORDS * size_of::<u64>())?, gate: SharedGate::new()? };
    let model = if worker == Worker::Thread { Model::Thread } else { Model::Process };
    let live = || {
        talk.live(variable);
        Ok(())
    };
    beside(model, live, |process| {
        let main_end = MainEnd { talk: &talk, process };
        let done = main(&main_end);
        // Whatever came of it: the worker is sent home, or it would be waited for without end.
        main_end.ask(GO_HOME)?;
        done
    })
}

impl Talk {
    /// The worker's life.
    fn live(&self, variable: &AtomicU64) {
        let words = self.words.words();
        let mut last = 0;
        loop {
            let step = self.gate.hear(last);
            last = step;
            let kind = step & ((1 << KIND_BITS) - 1);
            if kind == WRITE {
                variable.store(words[TO_WRITE].load(Ordering::SeqCst), Ordering::SeqCst);
            }
            words[ADDRESS].store(local::address(variable) as u64, Ordering::SeqCst);
            words[VALUE].store(variable.load(Ordering::SeqCst), Ordering::SeqCst);
            // After the read: a fork does not copy the page tables of a shared mapping, so that
            // nothing stands behind its addresses in the child until they are used.
            let found = local::backing(variable).ok().flatten();
            let frame = found.and_then(|backing| backing.frame).unwrap_or(0);
            words[FRAME].store(frame, Ordering::SeqCst);
            self.gate.arrived().store(step, Ordering::SeqCst);
            let _ = sys::futex::wake_shared(self.gate.arrived(), 1);
            if kind == GO_HOME {
                return;
            }
        }
    }
}

impl MainEnd<'_> {
    /// What the worker sees.
    pub(super) fn look(&self) -> Result<Sight> {
        self.ask(LOOK_THERE)?;
        let word = |index: usize| self.talk.words.words()[index].load(Ordering::SeqCst);
        Ok(Sight { address: word(ADDRESS), frame: word(FRAME), value: word(VALUE) })
    }

    /// Has the worker write to the variable; returns what it reads there afterwards.
    pub(super) fn write(&self, value: u64) -> Result<u64> {
        let words = self.talk.words.words();
        words[TO_WRITE].store(value, Ordering::SeqCst);
        self.ask(WRITE)?;
        Ok(words[VALUE].load(Ordering::SeqCst))
    }

    /// Asks for a step and waits until it is done.
    fn ask(&self, kind: u32) -> Result<()> {
        let gate = &self.talk.gate;
        let last = gate.released().load(Ordering::SeqCst);
        let step = ((last >> KIND_BITS) + 1) << KIND_BITS | kind;
        gate.say(step);
        loop {
            let done = gate.arrived().load(Ordering::SeqCst);
            if done == step {
                return Ok(());
            }
            if let Some(pid) = self.process
                && sys::process::peek_exited(pid)?
            {
                return Err(Stop::failed("the worker died"));
            }
            // A time-out or a spurious return: the loop looks again.
            let _ = sys::futex::wait_shared(gate.arrived(), done, Some(LOOK));
        }
    }
}
