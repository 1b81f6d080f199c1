//! The process that a limit is put on: it makes the crew, so that the trial itself stays outside,
//! sees who is left, and lives to tell when the kernel kills.

use super::Limit;
use crate::support::child::Child;
use crate::support::memory::{limited_cgroup, move_into};
use kit::workers::{Fate, Model, Refusal, crew};
use kit::{Result, Stop};
use std::sync::atomic::{AtomicU64, Ordering};
use sys::cgroup::{Cgroup, Guard};
use sys::gate::SharedGate;
use sys::limits::Resource;
use sys::pages::{Huge, Mapping, SharedWords};
use sys::task::{Ended, Pid};

/// Exit codes of the house: what went wrong in it.
const LIMIT_NOT_SET: i32 = 3;
const CREW_FAILED: i32 = 4;

const LIMIT_IN_FORCE: usize = 0;
const PID_COUNT: usize = 1;
/// What became of the workers: finished, refused, killed, and the crew's elapsed time.
const OUTCOME: usize = 2;
const PIDS: usize = 6;

/// What the house is to do.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// Threads or processes.
    pub(super) model: Model,
    /// How many.
    pub(super) count: usize,
    /// Memory that each fills and holds.
    pub(super) buffer_bytes: usize,
    /// What is limited.
    pub(super) limit: Limit,
    /// The limit.
    pub(super) limit_bytes: u64,
    /// The CPUs of the workers.
    pub(super) cpus: Vec<u32>,
}

/// What became of the workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Did their work and lived until all were released.
    pub(super) finished: u64,
    /// Were refused their memory, or could not even be made.
    pub(super) refused: u64,
    /// Were killed.
    pub(super) killed: u64,
    /// The crew's elapsed time; absent if the whole house was killed.
    pub(super) wall_ns: Option<u64>,
}

/// A house with its limit in force, waiting to be opened.
#[derive(Debug)]
pub(super) struct House {
    child: Child,
    order: Order,
    words: SharedWords,
    held: SharedGate,
    // Removed when the house is gone: it is dropped after the child.
    _cgroup: Option<Guard>,
}

impl House {
    /// Forks the house, puts it under its limit and verifies that.
    pub(super) fn build(order: Order, memory_cgroup: Option<&str>) -> Result<Self> {
        let cgroup = match order.limit {
            Limit::Cgroup => {
                Some(limited_cgroup(memory_cgroup, "crew", order.limit_bytes)?.guarded())
            }
            Limit::None | Limit::AddressSpace => None,
        };
        let words = sys::pages::shared((PIDS + order.count) * size_of::<u64>())?;
        let held = SharedGate::new()?;
        let child = Child::fork(refusal(&order), |open| {
            let group = cgroup.as_ref().map(Guard::group);
            match enter_limit(&order, group) {
                Ok(in_force) => words.words()[LIMIT_IN_FORCE].store(in_force, Ordering::Release),
                Err(_) => return LIMIT_NOT_SET,
            }
            open.arrive_and_wait();
            if live(&order, words.words(), &held).is_ok() { 0 } else { CREW_FAILED }
        })?;
        Ok(House { child, order, words, held, _cgroup: cgroup })
    }

    /// The limit that the house has read back, in bytes; 0 for none.
    pub(super) fn limit_in_force(&self) -> u64 {
        self.words.words()[LIMIT_IN_FORCE].load(Ordering::Acquire)
    }

    /// Lets the crew work. `while_held` sees the pids of the house and of its worker processes
    /// while all that is left of the crew holds its memory; it is not called if the house dies.
    pub(super) fn occupy(self, while_held: impl FnOnce(&[Pid])) -> Result<Outcome> {
        self.child.release();
        if self.child.arrives(&self.held)? {
            while_held(&self.pids());
            self.held.open();
        }
        self.outcome(&sys::task::wait(self.child.pid())?)
    }

    fn pids(&self) -> Vec<Pid> {
        let words = self.words.words();
        let count = words[PID_COUNT].load(Ordering::Acquire) as usize;
        let workers = words[PIDS..].iter().take(count.min(self.order.count));
        let workers = workers.map(|word| word.load(Ordering::Acquire) as Pid);
        std::iter::once(self.child.pid()).chain(workers).collect()
    }

    fn outcome(&self, ended: &Ended) -> Result<Outcome> {
        let word = |index: usize| self.words.words()[OUTCOME + index].load(Ordering::Acquire);
        let [finished, refused, killed, wall_ns] = std::array::from_fn(word);
        match (ended.signal, ended.code) {
            // Threads die with their process, and worker processes with the house that made them.
            (Some(_), _) => Ok(Outcome { killed: self.order.count as u64, ..Outcome::default() }),
            (None, Some(0)) => Ok(Outcome { finished, refused, killed, wall_ns: Some(wall_ns) }),
            (None, code) => Err(Stop::failed(format!(
                "the process with the crew ended with code {}",
                code.unwrap_or_default()
            ))),
        }
    }
}

fn refusal(order: &Order) -> Stop {
    Stop::unsupported(format!(
        "the limit of {} MiB on {} could not be set for a process of its own",
        order.limit_bytes >> 20,
        order.limit.what()
    ))
}

/// Puts this process under its limit; returns the limit read back, 0 for none.
fn enter_limit(order: &Order, group: Option<&Cgroup>) -> Result<u64> {
    match (order.limit, group) {
        (Limit::AddressSpace, _) => {
            sys::limits::set(Resource::AddressSpace, Some(order.limit_bytes))?;
            Ok(sys::limits::get(Resource::AddressSpace).soft.unwrap_or(0))
        }
        (Limit::Cgroup, Some(group)) => {
            move_into(group)?;
            Ok(group.memory_limit().unwrap_or(0))
        }
        _ => Ok(0),
    }
}

/// The house's life: the crew works, waits to be looked at, and goes.
fn live(order: &Order, words: &[AtomicU64], held: &SharedGate) -> Result<()> {
    let fill = |worker: &kit::workers::Worker<'_>| {
        let mut buffer = Mapping::new(order.buffer_bytes, Huge::Always)
            .or_else(|_| Mapping::new(order.buffer_bytes, Huge::Default))
            .map_err(|_| Refusal::Refused)?;
        buffer.touch(sys::pages::page_bytes());
        worker.worked(order.buffer_bytes as u64);
        Ok(buffer)
    };
    let crew = crew(order.model, order.count, &order.cpus, fill, |pids| {
        for (word, pid) in words[PIDS..].iter().zip(pids) {
            word.store(*pid as u64, Ordering::Release);
        }
        words[PID_COUNT].store(pids.len() as u64, Ordering::Release);
        held.arrive_and_wait();
    })?;
    let count = |fate: Fate| crew.count(fate) as u64;
    let killed = u64::from(crew.killed);
    // Some were killed while they held still, after they had reported.
    let killed_later = killed.saturating_sub(count(Fate::Killed));
    let finished = count(Fate::Done).saturating_sub(killed_later);
    let refused = count(Fate::Refused) + count(Fate::NotMade);
    for (word, value) in words[OUTCOME..].iter().zip([finished, refused, killed, crew.wall_ns]) {
        word.store(value, Ordering::Release);
    }
    Ok(())
}
