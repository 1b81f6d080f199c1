//! The ring: tasks that hand a token round, the measuring task among them.
//!
//! Between sessions all but the measuring task sleep at a gate, so that whatever it does meanwhile
//! (its talk with the runner, its reports) meets a silent machine. A session begins when they are
//! let in and ends when a token with the stop bit has gone round. Each counts from its entry into
//! the ring to the stop.

use super::footprint::{Buffer, Footprint};
use super::passing::{Calls, NUMBER, Passing, START, STOP, before_the_first};
use crate::support::{child, not_made};
use kit::workers::Model;
use kit::{Result, Stop};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use sys::black_box;
use sys::gate::SharedGate;
use sys::pages::SharedWords;
use sys::task::Pid;
use sys::usage::Usage;

/// How often the measuring task looks whether a member died instead of arriving.
const LOOK: Duration = Duration::from_millis(20);

/// The phase in which members go home.
const HOME: u32 = u32::MAX;

/// What is to be built.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// Threads or processes.
    pub(super) model: Model,
    /// The CPU of each task; there are as many tasks. The first is the measuring one's.
    pub(super) cpus: Vec<u32>,
    /// What each walks.
    pub(super) footprint: Footprint,
}

/// What one task counted over one session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// Tokens that it took and handed on.
    pub(super) hops: u64,
    /// Tokens that were not the next ones.
    pub(super) wrong: u64,
    /// Lines that its walks read.
    pub(super) lines: u64,
    /// System calls of its hops.
    pub(super) calls: Calls,
    /// CPU time, by its own clock.
    pub(super) cpu_ns: u64,
    /// What the kernel charged it.
    pub(super) usage: Usage,
    /// Whether it was ever found elsewhere than on its CPU.
    pub(super) escaped: bool,
    /// The process it belongs to.
    pub(super) process: Pid,
}

/// Words in which a member reports.
const WORDS: usize = 16;

impl Count {
    fn store(&self, words: &[AtomicU64]) {
        let all = [
            self.hops,
            self.wrong,
            self.lines,
            self.calls.all,
            self.calls.vain,
            self.cpu_ns,
            self.usage.user_ns,
            self.usage.system_ns,
            self.usage.voluntary_switches,
            self.usage.involuntary_switches,
            self.usage.minor_faults,
            self.usage.major_faults,
            u64::from(self.escaped),
            self.process as u64,
        ];
        for (word, value) in words.iter().zip(all) {
            word.store(value, Ordering::Relaxed);
        }
    }

    fn load(words: &[AtomicU64]) -> Self {
        let word = |index: usize| words[index].load(Ordering::Relaxed);
        Count {
            hops: word(0),
            wrong: word(1),
            lines: word(2),
            calls: Calls { all: word(3), vain: word(4) },
            cpu_ns: word(5),
            usage: Usage {
                user_ns: word(6),
                system_ns: word(7),
                voluntary_switches: word(8),
                involuntary_switches: word(9),
                minor_faults: word(10),
                major_faults: word(11),
                ..Usage::default()
            },
            escaped: word(12) != 0,
            process: word(13) as Pid,
        }
    }

    /// Voluntary or not.
    pub(super) fn switches(&self) -> u64 {
        self.usage.voluntary_switches + self.usage.involuntary_switches
    }

    /// Of either kind.
    pub(super) fn faults(&self) -> u64 {
        self.usage.minor_faults + self.usage.major_faults
    }
}

/// One task's own account, from when it is opened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter {
    cpu: u32,
    cpu_ns: u64,
    usage: Usage,
    escaped: bool,
}

impl Meter {
    pub(super) fn open(cpu: u32) -> Self {
        let escaped = !stands_on(cpu);
        let usage = Usage::of_thread();
        Meter { cpu, escaped, usage, cpu_ns: sys::clock::thread_cpu_ns() }
    }

    pub(super) fn close(self, mut count: Count) -> Count {
        count.cpu_ns = sys::clock::thread_cpu_ns() - self.cpu_ns;
        count.usage = Usage::of_thread().since(self.usage);
        count.escaped = self.escaped || !stands_on(self.cpu);
        count.process = sys::process::pid();
        count
    }
}

/// Whether this thread is on that CPU and may not leave it.
fn stands_on(cpu: u32) -> bool {
    sys::affinity::current_cpu() == cpu
        && sys::affinity::allowed().is_ok_and(|allowed| allowed == [cpu])
}

/// How a member's life went.
const SET_UP: u64 = 1;
const BROKEN: u64 = 2;

/// What all tasks share, whichever way they share memory.
struct Board {
    /// It says the phase.
    gate: SharedGate,
    reports: SharedWords,
}

impl Board {
    fn new(tasks: usize) -> Result<Self> {
        let reports = sys::pages::shared(tasks * WORDS * size_of::<u64>())?;
        Ok(Board { gate: SharedGate::new()?, reports })
    }

    fn words(&self, task: usize) -> &[AtomicU64] {
        &self.reports.words()[task * WORDS..(task + 1) * WORDS]
    }

    fn set_status(&self, task: usize, status: u64) {
        self.words(task)[WORDS - 1].store(status, Ordering::Release);
    }

    fn is_broken(&self, task: usize) -> bool {
        self.words(task)[WORDS - 1].load(Ordering::Acquire) == BROKEN
    }

    fn arrive(&self) {
        self.gate.arrived().fetch_add(1, Ordering::AcqRel);
        // Should it fail, the measuring task looks by itself before long.
        let _ = sys::futex::wake_shared(self.gate.arrived(), 1);
    }
}

/// A member's life: set up, then one session after the other.
fn live(task: usize, order: &Order, passing: &impl Passing, board: &Board) {
    let ready = sys::affinity::pin(&[order.cpus[task]]).is_ok();
    let buffer = order.footprint.build();
    board.set_status(task, if ready && buffer.is_ok() { SET_UP } else { BROKEN });
    board.arrive();
    let (mut phase, mut last) = (0, before_the_first(task, order.cpus.len()));
    loop {
        phase = board.gate.hear(phase);
        let Ok(buffer) = &buffer else { return };
        if phase == HOME {
            return;
        }
        if attend(task, order, passing, board, buffer, &mut last).is_err() {
            // The measuring task now waits for a token that will not come, until the trial's limit
            // of time ends them both. The kernel gives no reason for it on a pipe that is open.
            board.set_status(task, BROKEN);
            return;
        }
        board.arrive();
    }
}

/// One session of a member.
fn attend(
    task: usize,
    order: &Order,
    passing: &impl Passing,
    board: &Board,
    buffer: &Buffer,
    last: &mut u32,
) -> Result<()> {
    let tasks = order.cpus.len();
    let next = (task + 1) % tasks;
    let mut meter = Meter::open(order.cpus[task]);
    let mut count = Count::default();
    board.arrive();
    loop {
        let token = passing.take(task, *last, &mut count.calls)?;
        count.wrong += u64::from(token & NUMBER != (*last & NUMBER) + tasks as u32);
        *last = token;
        if token & START != 0 {
            count = Count::default();
            meter = Meter::open(order.cpus[task]);
            passing.give(next, token + 1, &mut Calls::default())?;
            continue;
        }
        if token & STOP != 0 {
            meter.close(count).store(board.words(task));
            return passing.give(next, token + 1, &mut Calls::default());
        }
        count.lines += black_box(buffer.walk());
        count.hops += 1;
        passing.give(next, token + 1, &mut count.calls)?;
    }
}

/// The ring as the measuring task holds it.
pub(super) struct Ring<'a, P: Passing> {
    order: &'a Order,
    passing: &'a P,
    board: &'a Board,
    processes: Vec<Pid>,
    buffer: Option<Buffer>,
    arrivals: u32,
    phase: u32,
    last: u32,
    in_session: bool,
    meter: Meter,
    count: Count,
}

/// Builds the ring, hands it to `measure`, and takes it down.
///
/// # Errors
/// Where a task cannot be made or cannot get its memory, and what `measure` says.
pub(super) fn with_ring<P: Passing, R>(
    order: &Order,
    passing: &P,
    measure: impl FnOnce(&mut Ring<'_, P>) -> Result<R>,
) -> Result<R> {
    let board = Board::new(order.cpus.len())?;
    let board = &board;
    std::thread::scope(|scope| {
        let mut ring = Ring {
            order,
            passing,
            board,
            processes: Vec::with_capacity(order.cpus.len()),
            buffer: None,
            arrivals: 0,
            phase: 0,
            last: before_the_first(0, order.cpus.len()),
            in_session: false,
            meter: Meter::open(order.cpus[0]),
            count: Count::default(),
        };
        for task in 1..order.cpus.len() {
            match order.model {
                Model::Thread => {
                    let life = move || live(task, order, passing, board);
                    let made = std::thread::Builder::new().spawn_scoped(scope, life);
                    made.map_err(not_made)?;
                }
                Model::Process => {
                    let pid = sys::task::fork_run(|| {
                        live(task, order, passing, board);
                        0
                    });
                    ring.processes.push(pid.map_err(not_made)?);
                }
            }
        }
        ring.set_up()?;
        let measured = measure(&mut ring)?;
        ring.part()?;
        Ok(measured)
    })
}

/// What is timed: laps of hops.
pub(super) trait Course {
    /// Hops in a lap.
    fn hops(&self) -> usize;
    /// Wakes all who take part.
    fn enter(&mut self) -> Result<()>;
    /// All count from here on.
    fn start(&mut self) -> Result<()>;
    /// One lap.
    fn lap(&mut self) -> Result<()>;
    /// All count to here, and sleep. What each counted, the measuring task first.
    fn leave(&mut self) -> Result<Vec<Count>>;
}

impl<P: Passing> Ring<'_, P> {
    /// Waits for the members' set-up and then does its own: memory mapped before would be copied
    /// to the members that are forked.
    fn set_up(&mut self) -> Result<()> {
        self.await_members()?;
        sys::affinity::pin(&[self.order.cpus[0]])?;
        self.buffer = Some(self.order.footprint.build()?);
        Ok(())
    }

    /// Waits until every member has arrived once more.
    fn await_members(&mut self) -> Result<()> {
        self.arrivals += self.hops() as u32 - 1;
        let arrived = self.board.gate.arrived();
        loop {
            let there = arrived.load(Ordering::Acquire);
            if (1..self.hops()).any(|task| self.board.is_broken(task)) {
                return Err(Stop::failed(
                    "a task of the ring could not set itself up or lost its token",
                ));
            }
            if there >= self.arrivals {
                return Ok(());
            }
            // A time-out or a spurious return: the loop looks again.
            let _ = sys::futex::wait_shared(arrived, there, Some(LOOK));
            for pid in &self.processes {
                kit::ensure!(!sys::process::peek_exited(*pid)?, "a process of the ring died");
            }
        }
    }

    #[inline]
    fn send(&mut self, flag: u32) -> Result<()> {
        let begun = self.last & NUMBER;
        // A ring has two tasks at least.
        self.passing.give(1, (begun + 1) | flag, &mut self.count.calls)?;
        let token = self.passing.take(0, self.last, &mut self.count.calls)?;
        self.count.wrong += u64::from(token & NUMBER != begun + self.hops() as u32);
        self.last = token;
        Ok(())
    }

    /// Sends the members home and waits for the processes among them.
    fn part(&mut self) -> Result<()> {
        self.board.gate.say(HOME);
        while let Some(pid) = self.processes.pop() {
            let ended = sys::task::wait(pid)?;
            kit::ensure!(ended.code == Some(0), "a process of the ring ended badly");
        }
        Ok(())
    }
}

impl<P: Passing> Course for Ring<'_, P> {
    fn hops(&self) -> usize {
        self.order.cpus.len()
    }

    fn enter(&mut self) -> Result<()> {
        self.phase += 1;
        self.board.gate.say(self.phase);
        self.in_session = true;
        self.await_members()
    }

    fn start(&mut self) -> Result<()> {
        self.send(START)?;
        self.count = Count::default();
        self.meter = Meter::open(self.order.cpus[0]);
        Ok(())
    }

    #[inline]
    fn lap(&mut self) -> Result<()> {
        if let Some(buffer) = &self.buffer {
            self.count.lines += black_box(buffer.walk());
        }
        self.count.hops += 1;
        self.send(0)
    }

    fn leave(&mut self) -> Result<Vec<Count>> {
        let own = self.meter.close(self.count);
        self.send(STOP)?;
        self.in_session = false;
        self.await_members()?;
        let members = (1..self.hops()).map(|task| Count::load(self.board.words(task)));
        Ok(std::iter::once(own).chain(members).collect())
    }
}

impl<P: Passing> Drop for Ring<'_, P> {
    /// After an error threads must be let go, or the scope would wait for them for ever, and
    /// processes must be ended. After success there is nothing left to do.
    fn drop(&mut self) {
        if self.in_session {
            for task in 1..self.hops() {
                let _ = self.passing.give(task, STOP | task as u32, &mut Calls::default());
            }
        }
        self.board.gate.say(HOME);
        self.processes.drain(..).for_each(child::end);
    }
}

/// One task that does the system calls of all hops itself, and walks the memory of all: what the
/// ring costs without its switches.
pub(super) struct Alone<'a, P: Passing> {
    passing: &'a P,
    cpu: u32,
    buffers: Vec<Buffer>,
    /// The buffer that is walked in each task's place.
    walked: Vec<usize>,
    /// The last token in each task's place.
    last: Vec<u32>,
    meter: Meter,
    count: Count,
}

impl<'a, P: Passing> Alone<'a, P> {
    /// Creates one over the places of a ring's tasks, which walks that number of buffers in turn.
    pub(super) fn new(
        order: &Order,
        passing: &'a P,
        footprint: Footprint,
        buffers: usize,
    ) -> Result<Self> {
        let count = buffers.max(1);
        let buffers: Result<Vec<Buffer>> = (0..count).map(|_| footprint.build()).collect();
        let tasks = order.cpus.len();
        Ok(Alone {
            passing,
            cpu: order.cpus[0],
            buffers: buffers?,
            walked: (0..tasks).map(|place| place % count).collect(),
            last: (0..tasks).map(|task| before_the_first(task, tasks)).collect(),
            meter: Meter::open(order.cpus[0]),
            count: Count::default(),
        })
    }
}

impl<P: Passing> Course for Alone<'_, P> {
    fn hops(&self) -> usize {
        self.last.len()
    }

    fn enter(&mut self) -> Result<()> {
        Ok(())
    }

    fn start(&mut self) -> Result<()> {
        self.count = Count::default();
        self.meter = Meter::open(self.cpu);
        Ok(())
    }

    #[inline]
    fn lap(&mut self) -> Result<()> {
        let tasks = self.last.len();
        for place in 0..tasks {
            let buffer = &self.buffers[self.walked[place]];
            self.count.lines += black_box(buffer.walk());
            let next = if place + 1 == tasks { 0 } else { place + 1 };
            let token = self.last[next] + tasks as u32;
            self.passing.give(next, token, &mut self.count.calls)?;
            let taken = self.passing.take(next, self.last[next], &mut self.count.calls)?;
            self.count.wrong += u64::from(taken != token);
            self.last[next] = taken;
            self.count.hops += 1;
        }
        Ok(())
    }

    fn leave(&mut self) -> Result<Vec<Count>> {
        Ok(vec![self.meter.close(self.count)])
    }
}
