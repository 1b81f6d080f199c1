//! Many signals at once: how many of them are handled?

use super::receiver::{Receiver, Way};
use super::sender::{self, BURST, Plan, Target};
use super::stage::{READY, SENT, Stage};
use kit::workers::Model;
use kit::{Result, Trial};
use sys::clock::now_ns;

/// The most bursts of a trial.
const ROUNDS_MAX: u64 = 200;

/// What the receiver does while a burst comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Busy {
    /// It has blocked the signal, and handles what is pending when all have been sent.
    Blocking,
    /// It waits, handles, and waits again.
    Waiting,
}

/// What came of the bursts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bursts {
    pub(super) sent: u64,
    pub(super) handled: u64,
    /// How often the waiting loop went round and found something new.
    pub(super) notices: u64,
}

pub(super) fn measure(
    trial: &mut Trial<'_>,
    busy: Busy,
    way: Way,
    signal: i32,
    model: Model,
) -> Result<()> {
    let plan = Plan::of(trial, ROUNDS_MAX)?;
    trial.pin_to_one()?;
    need_queue()?;
    let receiver = Receiver::new(way, signal, 0)?;
    trial.begin()?;
    let bursts = run(receiver, busy, signal, model, plan)?;
    trial.end()?;
    let merged = bursts.sent.saturating_sub(bursts.handled);
    trial.record("merged_count", bursts.sent, vec![merged as i64]);
    if busy == Busy::Waiting {
        trial.record("notices_count", bursts.sent, vec![bursts.notices as i64]);
    }
    let share = bursts.handled as f64 / bursts.sent as f64;
    trial.check("signals handled per signal sent", share, 1.0 / BURST as f64, 1.0);
    Ok(())
}

/// Refuses the treatment where a burst could not be queued.
fn need_queue() -> Result<()> {
    let masks = sys::wait_signal::masks_of(sys::wait_signal::thread_id())?;
    let free = masks.queue_limit.saturating_sub(masks.queued);
    kit::require!(
        free >= 2 * BURST,
        "{free} more signals may be queued for this user, {} are needed: raise `ulimit -i`",
        2 * BURST
    );
    Ok(())
}

pub(super) fn run(
    mut receiver: Receiver,
    busy: Busy,
    signal: i32,
    model: Model,
    plan: Plan,
) -> Result<Bursts> {
    let stage = Stage::new()?;
    let target = Target::this_thread(signal)?;
    let work = || sender::in_bursts(stage, &target, plan);
    sender::beside(model, plan.cpu, signal, work, || {
        let mut bursts = Bursts { sent: 0, handled: 0, notices: 0 };
        let mut round = 1;
        loop {
            bursts.notices += match busy {
                Busy::Blocking => blocked(stage, &mut receiver, round)?,
                Busy::Waiting => waiting(stage, &mut receiver, round)?,
            };
            bursts.sent += BURST;
            stage.notice(round, now_ns());
            if !stage.another(round, std::thread::yield_now) {
                bursts.handled = receiver.handled();
                return Ok(bursts);
            }
            round += 1;
        }
    })
}

/// Blocks the signal until all of a burst have been sent, then handles what is pending.
fn blocked(stage: Stage, receiver: &mut Receiver, round: u64) -> Result<u64> {
    receiver.shut()?;
    stage.set(READY, round);
    while !stage.reached(SENT, round) {
        std::thread::yield_now();
    }
    receiver.drain()?;
    Ok(0)
}

/// Waits and handles until all of a burst have been sent; returns how often something new was
/// found after a wait.
fn waiting(stage: Stage, receiver: &mut Receiver, round: u64) -> Result<u64> {
    receiver.reset()?;
    stage.set(READY, round);
    let (mut notices, mut known) = (0, receiver.handled());
    while !stage.reached(SENT, round) {
        receiver.sleep()?;
        let handled = receiver.handled();
        notices += u64::from(handled > known);
        known = handled;
    }
    receiver.shut()?;
    receiver.drain()?;
    Ok(notices + u64::from(receiver.handled() > known))
}
