//! The process that a limit is put on: it makes the crew, so that the trial itself stays outside,
//! sees who is left, and lives to tell when the kernel kills.

use super::Limit;
use kit::Stop;
use kit::workers::{Crew, Fate, Model, Refusal, crew};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use sys::cgroup::{Cgroup, Guard, Version};
use sys::gate::SharedGate;
use sys::limits::Resource;
use sys::pages::{Huge, Mapping, SharedWords};
use sys::task::{Ended, Pid};

/// How often the trial looks whether the house died instead of answering.
const LOOK: Duration = Duration::from_millis(20);

/// Exit codes of the house: what went wrong in it.
const LIMIT_NOT_SET: i32 = 3;
const CREW_FAILED: i32 = 4;

const LIMIT_IN_FORCE: usize = 0;
const FINISHED: usize = 1;
const REFUSED: usize = 2;
const KILLED: usize = 3;
const CREW_NS: usize = 4;
const PID_COUNT: usize = 5;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pid: Pid,
    order: Order,
    words: SharedWords,
    open: SharedGate,
    held: SharedGate,
    // Removed when the house is gone: it is dropped after the house's own Drop.
    _cgroup: Option<Guard>,
    reaped: bool,
}

impl House {
    /// Forks the house, puts it under its limit and verifies that.
    pub(super) fn build(order: Order, memory_cgroup: Option<&str>) -> Result<Self, Stop> {
        let cgroup = match order.limit {
            Limit::Cgroup => Some(limited_cgroup(memory_cgroup, order.limit_bytes)?),
            Limit::None | Limit::AddressSpace => None,
        };
        let words = sys::pages::shared((PIDS + order.count) * size_of::<u64>())?;
        let open = SharedGate::new()?;
        let held = SharedGate::new()?;
        let pid = sys::task::fork_run(|| {
            let group = cgroup.as_ref().map(Guard::group);
            match enter_limit(&order, group) {
                Ok(in_force) => words.words()[LIMIT_IN_FORCE].store(in_force, Ordering::Release),
                Err(_) => return LIMIT_NOT_SET,
            }
            arrive_and_wait(&open);
            match live(&order, words.words(), &held) {
                Ok(()) => 0,
                Err(_) => CREW_FAILED,
            }
        })?;
        let house = House { pid, order, words, open, held, _cgroup: cgroup, reaped: false };
        if !house.wait_for(house.open.arrived())? {
            return Err(house.refusal());
        }
        Ok(house)
    }

    /// The limit that the house has read back, in bytes; 0 for none.
    pub(super) fn limit_in_force(&self) -> u64 {
        self.words.words()[LIMIT_IN_FORCE].load(Ordering::Acquire)
    }

    /// Lets the crew work. `while_held` sees the pids of the house and of its worker processes
    /// while all that is left of the crew holds its memory; it is not called if the house dies.
    pub(super) fn occupy(mut self, while_held: impl FnOnce(&[Pid])) -> Result<Outcome, Stop> {
        let_go(&self.open);
        if self.wait_for(self.held.arrived())? {
            while_held(&self.pids());
            let_go(&self.held);
        }
        let ended = sys::task::wait(self.pid)?;
        self.reaped = true;
        self.outcome(&ended)
    }

    /// Waits until the house has arrived somewhere; false if it died instead.
    fn wait_for(&self, arrived: &AtomicU32) -> Result<bool, Stop> {
        loop {
            if arrived.load(Ordering::Acquire) != 0 {
                return Ok(true);
            }
            if sys::process::peek_exited(self.pid)? {
                // It may have arrived and died between the two looks; dead is dead.
                return Ok(false);
            }
            // A time-out or a spurious return: the loop looks again.
            let _ = sys::futex::wait_shared(arrived, 0, Some(LOOK));
        }
    }

    fn pids(&self) -> Vec<Pid> {
        let words = self.words.words();
        let count = words[PID_COUNT].load(Ordering::Acquire) as usize;
        let workers = words[PIDS..].iter().take(count.min(self.order.count));
        let workers = workers.map(|word| word.load(Ordering::Acquire) as Pid);
        std::iter::once(self.pid).chain(workers).collect()
    }

    fn outcome(&self, ended: &Ended) -> Result<Outcome, Stop> {
        let word = |index: usize| self.words.words()[index].load(Ordering::Acquire);
        match (ended.signal, ended.code) {
            // Threads die with their process, and worker processes with the house that made them.
            (Some(_), _) => Ok(Outcome {
                finished: 0,
                refused: 0,
                killed: self.order.count as u64,
                wall_ns: None,
            }),
            (None, Some(0)) => Ok(Outcome {
                finished: word(FINISHED),
                refused: word(REFUSED),
                killed: word(KILLED),
                wall_ns: Some(word(CREW_NS)),
            }),
            (None, code) => Err(Stop::failed(format!(
                "the process with the crew ended with code {}",
                code.unwrap_or_default()
            ))),
        }
    }

    fn refusal(&self) -> Stop {
        Stop::unsupported(format!(
            "the limit of {} MiB on {} could not be set for a process of its own",
            self.order.limit_bytes >> 20,
            self.order.limit.what()
        ))
    }
}

impl Drop for House {
    fn drop(&mut self) {
        if !self.reaped {
            let _ = sys::process::kill(self.pid, sys::signal::SIGKILL);
            let _ = sys::task::wait(self.pid);
        }
    }
}

/// A memory cgroup of our own with the limit on all of it.
fn limited_cgroup(parent: Option<&str>, bytes: u64) -> Result<Guard, Stop> {
    let why = |error: sys::Error| {
        Stop::unsupported(format!("{error}: a memory cgroup cannot be made or limited here"))
    };
    let Some(parent) = parent else {
        return Err(Stop::unsupported(
            "needs a memory cgroup; run as root, or with the memory controller delegated to you",
        ));
    };
    let parent = Cgroup::at(std::path::Path::new(parent));
    if parent.version() == Version::V2 {
        // In version 2 a group must hand its controllers down; where it does so already, or may
        // not, setting the limit tells.
        let _ = std::fs::write(parent.path().join("cgroup.subtree_control"), "+memory");
    }
    let group = parent.child(&format!("crew-{}", sys::process::pid())).map_err(why)?.guarded();
    group.group().set_memory_limit(bytes).map_err(why)?;
    Ok(group)
}

/// Puts this process under its limit; returns the limit read back, 0 for none.
fn enter_limit(order: &Order, group: Option<&Cgroup>) -> Result<u64, Stop> {
    match (order.limit, group) {
        (Limit::AddressSpace, _) => {
            sys::limits::set(Resource::AddressSpace, Some(order.limit_bytes))?;
            Ok(sys::limits::get(Resource::AddressSpace).soft.unwrap_or(0))
        }
        (Limit::Cgroup, Some(group)) => {
            group.add(sys::process::pid())?;
            if !group.processes().contains(&sys::process::pid()) {
                return Err(Stop::failed("the process is not in the cgroup it was moved to"));
            }
            Ok(group.memory_limit().unwrap_or(0))
        }
        _ => Ok(0),
    }
}

/// The house's life: the crew works, waits to be looked at, and goes.
fn live(order: &Order, words: &[AtomicU64], held: &SharedGate) -> Result<(), Stop> {
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
        arrive_and_wait(held);
    })?;
    let fates = Fates::of(&crew);
    words[FINISHED].store(fates.finished, Ordering::Release);
    words[REFUSED].store(fates.refused, Ordering::Release);
    words[KILLED].store(u64::from(crew.killed), Ordering::Release);
    words[CREW_NS].store(crew.wall_ns, Ordering::Release);
    Ok(())
}

/// The workers' fates, counted.
struct Fates {
    finished: u64,
    refused: u64,
}

impl Fates {
    fn of(crew: &Crew) -> Self {
        let count = |fate: Fate| crew.reports.iter().filter(|r| r.fate == fate).count() as u64;
        // Some were killed while they held still, after they had reported.
        let killed_later = u64::from(crew.killed).saturating_sub(count(Fate::Killed));
        Fates {
            finished: count(Fate::Done).saturating_sub(killed_later),
            refused: count(Fate::Refused) + count(Fate::NotMade),
        }
    }
}

fn arrive_and_wait(gate: &SharedGate) {
    gate.arrived().store(1, Ordering::Release);
    // The word is valid, so the kernel has no reason to refuse; the other side looks by itself.
    let _ = sys::futex::wake_shared(gate.arrived(), 1);
    while gate.released().load(Ordering::Acquire) == 0 {
        // An error here is a spurious return; the loop looks again.
        let _ = sys::futex::wait_shared(gate.released(), 0, None);
    }
}

fn let_go(gate: &SharedGate) {
    gate.released().store(1, Ordering::Release);
    let _ = sys::futex::wake_shared(gate.released(), 1);
}
