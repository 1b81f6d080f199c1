//! A signal to a process with several threads: which of them gets it?

use super::sender::{self, Plan};
use super::stage::{HANDLED, READY, SENT, Stage};
use kit::workers::Model;
use kit::{Result, Stop, Trial};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use sys::clock::now_ns;
use sys::handler;
use sys::wait_signal::{self, SignalSet, masks_of};

/// Threads of the process, the main one (number 0) included.
const THREADS: usize = 4;

/// The one that does not block the signal where all others do.
const CHOSEN: usize = 2;

/// The most signals of a trial.
const SIGNALS_MAX: u64 = 400;

/// How long a signal may take to be handled by anybody. Nobody may block it everywhere.
const PATIENCE_NS: u64 = 2_000_000_000;

/// How often a thread that sleeps looks whether it may end, should its wake-up have failed.
const LOOK: Duration = Duration::from_millis(500);

/// Which threads block the signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blocking {
    /// None.
    Nobody,
    /// The main thread.
    Main,
    /// All but one, which is not the main one.
    AllButOne,
}

impl Blocking {
    fn blocks(self, thread: usize) -> bool {
        match self {
            Blocking::Nobody => false,
            Blocking::Main => thread == 0,
            Blocking::AllButOne => thread != CHOSEN,
        }
    }
}

/// What came of the signals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Delivered {
    pub(super) sent: u64,
    pub(super) by_thread: [u64; THREADS],
    /// As read back from /proc.
    pub(super) blocks: [bool; THREADS],
}

pub(super) fn measure(
    trial: &mut Trial<'_>,
    blocking: Blocking,
    signal: i32,
    model: Model,
) -> Result<()> {
    let cpus = trial.spec().cpus.clone();
    let plan = Plan::of(trial, SIGNALS_MAX)?;
    trial.pin(&cpus)?;
    trial.begin()?;
    let delivered = run(blocking, signal, model, plan)?;
    trial.end()?;
    trial.record("main_count", delivered.sent, vec![delivered.by_thread[0] as i64]);
    let receivers = delivered.by_thread.iter().filter(|handled| **handled > 0).count();
    trial.record_one("receivers_count", receivers as i64);
    let handled: u64 = delivered.by_thread.iter().sum();
    let all = delivered.by_thread.iter().zip(delivered.blocks);
    let by_who_blocks: u64 =
        all.clone().filter(|(_, blocks)| *blocks).map(|(handled, _)| handled).sum();
    let share = handled as f64 / delivered.sent as f64;
    trial.check("signals handled per signal sent", share, 1.0, 1.0);
    trial.check("signals handled where blocked", by_who_blocks as f64, 0.0, 0.0);
    let title = "Who handled the signals to the process";
    let row = |(thread, (handled, blocks)): (usize, (&u64, bool))| {
        let name = if thread == 0 { "main".into() } else { format!("thread {thread}") };
        vec![name, if blocks { "yes" } else { "no" }.into(), handled.to_string()]
    };
    let rows = all.enumerate().map(row).collect();
    trial.exhibit(title, &["thread", "blocks the signal", "handled"], rows);
    Ok(())
}

/// Makes the threads, has signals sent to the process one by one, and counts who handled them.
pub(super) fn run(blocking: Blocking, signal: i32, model: Model, plan: Plan) -> Result<Delivered> {
    let stage = Stage::new()?;
    let set = SignalSet::of(&[signal]);
    handler::count(signal)?;
    handler::count_into(stage.word(HANDLED));
    let there = AtomicU32::new(0);
    let stop = AtomicU32::new(0);
    let live = |thread: usize| -> sys::Result<()> {
        take_mask(blocking, thread, &set)?;
        handler::count_this_thread(thread);
        there.fetch_add(1, Ordering::AcqRel);
        while stop.load(Ordering::Acquire) == 0 {
            // A signal ends the sleep; the loop looks again.
            sys::futex::wait(&stop, 0, Some(LOOK))?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (1..THREADS).map(|thread| scope.spawn(move || live(thread))).collect();
        take_mask(blocking, 0, &set)?;
        handler::count_this_thread(0);
        let all_are_there = || there.load(Ordering::Acquire) as usize == THREADS - 1;
        while !all_are_there() && !threads.iter().any(|thread| thread.is_finished()) {
            std::thread::yield_now();
        }
        let blocks = std::array::from_fn(|thread| seen_to_block(thread, signal));
        let before = counts();
        let sent = send_and_wait(stage, signal, model, plan);
        stop.store(1, Ordering::Release);
        sys::futex::wake(&stop, u32::MAX)?;
        for thread in threads {
            thread.join().map_err(|_| Stop::failed("a thread panicked"))??;
        }
        let after = counts();
        let by_thread = std::array::from_fn(|thread| after[thread] - before[thread]);
        verify(blocking, &blocks)?;
        Ok(Delivered { sent: sent?, by_thread, blocks: blocks.map(|blocks| blocks == Some(true)) })
    })
}

fn take_mask(blocking: Blocking, thread: usize, set: &SignalSet) -> sys::Result<()> {
    if blocking.blocks(thread) { wait_signal::block(set) } else { wait_signal::unblock(set) }
}

fn counts() -> [u64; THREADS] {
    std::array::from_fn(handler::counted_by)
}

/// What the kernel says of a thread's mask; `None` where it says nothing.
fn seen_to_block(thread: usize, signal: i32) -> Option<bool> {
    masks_of(handler::thread_of(thread)).ok().map(|masks| masks.blocks(signal))
}

/// Whether the masks were what the treatment asks for.
fn verify(blocking: Blocking, seen: &[Option<bool>; THREADS]) -> Result<()> {
    let asked: [Option<bool>; THREADS] =
        std::array::from_fn(|thread| Some(blocking.blocks(thread)));
    if *seen == asked {
        return Ok(());
    }
    Err(Stop::failed(format!("the threads should block the signal: {asked:?}; they do: {seen:?}")))
}

/// Has the sender send, in the main thread's presence: it sleeps as the others do. Returns how many
/// signals were sent.
fn send_and_wait(stage: Stage, signal: i32, model: Model, plan: Plan) -> Result<u64> {
    let pid = sys::process::pid();
    let work = || {
        let begun_ns = now_ns();
        let mut sent = 0;
        while sent < plan.rounds_max && (sent == 0 || now_ns() - begun_ns < plan.limit_ns) {
            sys::process::kill(pid, signal)?;
            sent += 1;
            let sent_ns = now_ns();
            while !stage.reached(HANDLED, sent) {
                if now_ns() - sent_ns > PATIENCE_NS {
                    return Err(sys::Error::unsupported("kill", "nobody handled a signal"));
                }
                std::thread::yield_now();
            }
        }
        stage.set(READY, sent);
        stage.set(SENT, 1);
        Ok(())
    };
    sender::beside(model, plan.cpu, signal, work, || {
        let over = AtomicU32::new(0);
        let begun_ns = now_ns();
        while !stage.reached(SENT, 1) && now_ns() - begun_ns < 2 * PATIENCE_NS {
            // Asleep, like the other threads; nobody wakes it but signals.
            sys::futex::wait(&over, 0, Some(Duration::from_millis(1)))?;
        }
        Ok(stage.get(READY))
    })
}
