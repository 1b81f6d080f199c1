//! A crew of workers, as threads or as processes: the twin.
//!
//! The two differ in the factor alone: the same closure, the same shared words to report in, the
//! same instants. Each worker does its work, reports, and holds what it allocated until the crew
//! is released, so that memory can be read while all of it is there. The time in which it is read
//! is no part of the crew's wall time.

mod rounds;

use crate::pmu::{Counts, EVENTS_COUNT};
use crate::{Result, Stop};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use sys::gate::SharedGate;
use sys::task::{Ended, Pid};
use sys::usage::Usage;

pub use rounds::{Pace, Repeated, Rounds, Span, overlap_ppm, queue_wait_since};

/// How the workers share (or do not share) an address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Threads of one process.
    Thread,
    /// Processes made by fork.
    Process,
}

/// What the levels `thread` and `process` of a factor stand for.
pub const MODEL_LEVELS: [(&str, Model); 2] =
    [("thread", Model::Thread), ("process", Model::Process)];

/// Where the workers of a crew may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement<'a> {
    /// Each of them on any of these CPUs, ascending: those the maker is confined to.
    Among(&'a [u32]),
    /// Each on one: the first worker on the first of these CPUs, and so on, from the beginning
    /// again when there are more workers than CPUs. A worker confines itself before it comes to
    /// the start, and verifies it.
    Apart(&'a [u32]),
}

impl<'a> Placement<'a> {
    /// The CPUs of one worker.
    fn of(self, index: usize) -> &'a [u32] {
        match self {
            Placement::Apart(cpus) if !cpus.is_empty() => {
                let own = index % cpus.len();
                &cpus[own..=own]
            }
            Placement::Among(cpus) | Placement::Apart(cpus) => cpus,
        }
    }

    /// Confines the calling worker, and verifies it.
    fn confine(self, index: usize) -> Result<(), Refusal> {
        match self {
            Placement::Among(_) => Ok(()),
            Placement::Apart(_) => sys::affinity::pin(self.of(index)).map_err(|_| Refusal::Refused),
        }
    }

    /// Reports whether each of `count` workers has a CPU that no other of them uses.
    fn separates(self, count: usize) -> bool {
        matches!(self, Placement::Apart(cpus) if count <= cpus.len())
    }
}

/// Words that each worker reports in.
const WORDS: usize = 24;
/// A worker that has begun has its first instant in the first of these.
const LIFE: std::ops::Range<usize> = 0..Span::WORDS;
const INVOLUNTARY: usize = Span::WORDS;
const ESCAPED: usize = 7;
const WORK: usize = 8;
const STATUS: usize = 9;
const CHECKSUM: usize = 10;
const MET: usize = 11;
const COUNTS: std::ops::Range<usize> = 12..12 + EVENTS_COUNT;

const STATUS_DONE: u64 = 1;
const STATUS_REFUSED: u64 = 2;
const STATUS_FAILED: u64 = 3;

/// How often the crew's maker looks whether a worker died instead of reporting. It sleeps in
/// between, and is woken at once when the last worker reports.
const LOOK: Duration = Duration::from_millis(20);

/// Added to the arrivals at the crew's meetings when somebody will not come any more.
const BROKEN: u64 = 1 << 63;

/// How a worker's work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It did its work.
    Done,
    /// The system refused it memory (or whatever it asked for); it went on to report that.
    Refused,
    /// Something else failed.
    Failed,
    /// It never reported: it was killed.
    Killed,
    /// It could not even be made.
    NotMade,
}

/// Why a worker could not do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The system refused what was asked for.
    Refused,
    /// Something failed that should not.
    Failed,
}

/// What one worker reported.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// How it ended.
    pub fate: Fate,
    /// When it worked, with its voluntary switches as sleeps; its first instant is 0 if it never began,
    /// and its last one if its work was never done.
    pub life: Span,
    /// Its involuntary switches.
    pub involuntary_switches: u64,
    /// Whether it was ever found outside the CPUs it was to stay on.
    pub escaped: bool,
    /// Units of work it counted itself.
    pub work: u64,
    /// What it kept of its result, by [`Worker::keep`].
    pub result: u64,
    /// What the processor counted for it, by [`Worker::counted`].
    pub counts: Counts,
}

/// A worker, seen from its own code.
#[derive(Debug)]
pub struct Worker<'a> {
    /// Its number, from 0.
    pub index: usize,
    words: &'a [AtomicU64],
    allowed: &'a [u32],
    meeting: Meeting<'a>,
}

/// Where the workers of a crew meet.
#[derive(Clone, Copy, Debug)]
struct Meeting<'a> {
    /// How often somebody has come, in all meetings together.
    arrivals: &'a AtomicU64,
    /// How many come to each meeting.
    expected: u64,
    /// Whether each has a CPU of its own to wait on.
    separate: bool,
}

impl Meeting<'_> {
    /// Sends all home: somebody will not come.
    fn break_up(&self) {
        self.arrivals.fetch_or(BROKEN, Ordering::AcqRel);
    }
}

impl Worker<'_> {
    /// Waits until all workers of the crew have come here as often as this one.
    ///
    /// They wait by looking, not by sleeping. Workers with a CPU each go on within a fraction of a
    /// microsecond of each other, and never give their CPU to others meanwhile: beside busy
    /// neighbours the moment in which all have theirs must not be missed. Where workers share CPUs
    /// they yield, and go on as the scheduler lets them.
    ///
    /// # Errors
    /// [`Refusal::Failed`] if somebody will not come: it was never made, has died, or has failed.
    pub fn meet(&self) -> Result<(), Refusal> {
        let meetings = self.words[MET].fetch_add(1, Ordering::Relaxed) + 1;
        let Meeting { arrivals, expected, separate } = self.meeting;
        arrivals.fetch_add(1, Ordering::AcqRel);
        loop {
            match arrivals.load(Ordering::Acquire) {
                BROKEN.. => return Err(Refusal::Failed),
                come if come >= meetings * expected => return Ok(()),
                _ if separate => std::hint::spin_loop(),
                _ => std::thread::yield_now(),
            }
        }
    }

    /// Counts work done.
    pub fn worked(&self, units: u64) {
        self.words[WORK].fetch_add(units, Ordering::Relaxed);
    }

    /// Keeps what the processor counted for it.
    pub fn counted(&self, counts: &Counts) {
        for (word, count) in self.words[COUNTS].iter().zip(counts) {
            // One more, so that 0 says that nothing was counted.
            word.store(count.map_or(0, |count| count.saturating_add(1)), Ordering::Relaxed);
        }
    }

    /// Keeps a result where the compiler must not remove the work behind it.
    pub fn keep(&self, result: u64) {
        self.words[CHECKSUM].store(result, Ordering::Relaxed);
    }

    /// Looks where it is running, and remembers if that is not where it should. Cheap enough for
    /// the middle of the work: no system call, no allocation.
    pub fn glance(&self) {
        if !self.allowed.contains(&sys::affinity::current_cpu()) {
            self.words[ESCAPED].store(1, Ordering::Relaxed);
        }
    }

    /// Looks also where it may run. The kernel's mask is the evidence that a worker which never
    /// left its CPU could not have.
    fn look(&self) {
        self.glance();
        let mask_is_right =
            sys::affinity::allowed().is_ok_and(|allowed| allowed.as_slice() == self.allowed);
        if !mask_is_right {
            self.words[ESCAPED].store(1, Ordering::Relaxed);
        }
    }
}

/// What became of a crew.
#[derive(Debug)]
pub struct Crew {
    /// One per worker that was asked for.
    pub reports: Vec<Report>,
    /// From before the first worker was made until the last had done its work, plus from their
    /// release until the last was gone, in nanoseconds.
    pub wall_ns: u64,
    /// From the instant at which all workers were there and let go until the last had done its
    /// work, in nanoseconds: the work without the making and the end of the workers.
    pub work_ns: u64,
    /// CPU time that the maker spent while the workers held still.
    pub watch_cpu_ns: u64,
    /// How many workers were killed by a signal, also after they had done their work.
    pub killed: u32,
}

impl Crew {
    /// Returns how many of the workers ended so.
    pub fn count(&self, fate: Fate) -> usize {
        self.reports.iter().filter(|report| report.fate == fate).count()
    }

    /// Returns the time in which all workers had begun and none had ended, as a share of the time
    /// from the first instant of any to the last instant of all, in parts per million. They need
    /// not have run meanwhile: workers that take turns on one CPU also count as together.
    pub fn together_ppm(&self) -> i64 {
        rounds::together_ppm(&self.reports.iter().map(|report| report.life).collect::<Vec<_>>())
    }
}

/// Makes `count` workers that all stay on the CPUs `allowed`, ascending: [`crew_placed`] with
/// [`Placement::Among`].
///
/// # Errors
/// As [`crew_placed`].
pub fn crew<Kept>(
    model: Model,
    count: usize,
    allowed: &[u32],
    work: impl Fn(&Worker<'_>) -> Result<Kept, Refusal> + Sync,
    while_held: impl FnOnce(&[Pid]),
) -> Result<Crew> {
    crew_placed(model, count, Placement::Among(allowed), work, while_held)
}

/// Makes `count` workers, lets them begin together once all are there, calls `while_held` with the
/// pids of the worker processes (none for threads) while all of them hold what they allocated, and
/// waits for their end.
///
/// `placement` says on which CPUs they are to stay. A worker that cannot confine itself to its CPU
/// is refused. What `work` returns is kept until the release. A worker that panics has failed; one
/// that is killed is seen within some milliseconds. If the crew itself fails, its workers are ended
/// first.
///
/// # Errors
/// [`Stop::Failed`] where the kernel refuses what no treatment asks it to refuse (a shared page,
/// a futex, a wait). Workers that cannot be made are no error: they are `NotMade`.
pub fn crew_placed<Kept>(
    model: Model,
    count: usize,
    placement: Placement<'_>,
    work: impl Fn(&Worker<'_>) -> Result<Kept, Refusal> + Sync,
    while_held: impl FnOnce(&[Pid]),
) -> Result<Crew> {
    // The words behind the last worker's are for the meetings.
    let shared = sys::pages::shared((count + 1) * WORDS * size_of::<u64>())?;
    let (arrivals, separate) = (&shared.words()[count * WORDS], placement.separates(count));
    let meeting = Meeting { arrivals, expected: count as u64, separate };
    let [start, gate] = [SharedGate::new()?, SharedGate::new()?];
    let words_of = |index: usize| &shared.words()[index * WORDS..(index + 1) * WORDS];
    let body = &|index: usize| {
        let worker =
            Worker { index, words: words_of(index), allowed: placement.of(index), meeting };
        let placed = placement.confine(index);
        live(&worker, [&start, &gate], count, &|worker| placed.and_then(|()| work(worker)));
        0
    };
    let begun_ns = sys::clock::now_ns();
    let (opened_ns, held_ns, watch_cpu_ns, killed) = std::thread::scope(|scope| {
        let mut made = Made {
            start: &start,
            gate: &gate,
            meeting,
            words: shared.words(),
            threads: 0,
            processes: Vec::with_capacity(count),
            ended: Vec::with_capacity(count),
        };
        for index in 0..count {
            match model {
                Model::Thread => {
                    let thread = std::thread::Builder::new();
                    made.threads +=
                        usize::from(thread.spawn_scoped(scope, move || body(index)).is_ok());
                }
                Model::Process => {
                    let forked = sys::task::fork_run(|| body(index));
                    made.processes.extend(forked.ok().map(|pid| (index, pid)));
                }
            }
        }
        made.wait_until_there()?;
        let opened_ns = sys::clock::now_ns();
        start.open();
        made.wait_until_held()?;
        let (held_ns, cpu_ns) = (sys::clock::now_ns(), sys::clock::thread_cpu_ns());
        while_held(&made.pids());
        let watch_cpu_ns = sys::clock::thread_cpu_ns() - cpu_ns;
        let held_ns = held_ns..sys::clock::now_ns();
        gate.open();
        let killed = made.wait_for_processes()?;
        // Threads are joined where the scope ends, which is the next thing to happen.
        Ok::<_, Stop>((opened_ns, held_ns, watch_cpu_ns, killed))
    })?;
    let gone_ns = sys::clock::now_ns();
    let reports: Vec<Report> = (0..count).map(|index| read_report(words_of(index))).collect();
    let last_ns = reports.iter().map(|report| report.life.ended_ns).max().unwrap_or(0);
    let worked_until_ns = if last_ns > begun_ns { last_ns } else { held_ns.start };
    Ok(Crew {
        reports,
        wall_ns: (worked_until_ns - begun_ns) + (gone_ns - held_ns.end),
        work_ns: worked_until_ns.saturating_sub(opened_ns),
        watch_cpu_ns,
        killed,
    })
}

/// A worker's life: wait for the others, work, report, hold, end.
///
/// Its report costs it about 15 microseconds, which on one CPU the others wait for. What would cost
/// more (the kernel's count of migrations, for one) is left out for that reason.
fn live<Kept>(
    worker: &Worker<'_>,
    [start, gate]: [&SharedGate; 2],
    count: usize,
    work: &impl Fn(&Worker<'_>) -> Result<Kept, Refusal>,
) {
    let words = worker.words;
    worker.look();
    pass(start, count);
    let usage = Usage::of_thread();
    let sched = sys::proc::schedstat_thread();
    // Should it be killed at work, this says that it had begun.
    words[LIFE.start].store(sys::clock::now_ns(), Ordering::Relaxed);
    let mut kept = Err(Refusal::Failed);
    let life = Span::of(|| {
        // A panic must not end the worker before it has arrived: the others' maker waits for it.
        kept = catch_unwind(AssertUnwindSafe(|| work(worker))).unwrap_or(Err(Refusal::Failed));
    });
    if kept.is_err() {
        worker.meeting.break_up();
    }
    let used = Usage::of_thread().since(usage);
    let (queue_wait_ns, sleeps) = (queue_wait_since(sched), used.voluntary_switches);
    Span { queue_wait_ns, sleeps, ..life }.store(&words[LIFE]);
    words[INVOLUNTARY].store(used.involuntary_switches, Ordering::Relaxed);
    worker.look();
    let status = match &kept {
        Ok(_) => STATUS_DONE,
        Err(Refusal::Refused) => STATUS_REFUSED,
        Err(Refusal::Failed) => STATUS_FAILED,
    };
    words[STATUS].store(status, Ordering::Release);
    pass(gate, count);
    drop(kept);
}

/// Arrives at a gate and waits until it is opened.
fn pass(gate: &SharedGate, count: usize) {
    // Only the last wakes the maker: on one CPU each wake-up would interrupt the others' work.
    if gate.arrived().fetch_add(1, Ordering::AcqRel) as usize + 1 >= count {
        // Should it fail, the maker looks by itself before long.
        let _ = sys::futex::wake_shared(gate.arrived(), 1);
    }
    gate.wait();
}

fn read_report(words: &[AtomicU64]) -> Report {
    let word = |index: usize| words[index].load(Ordering::Acquire);
    let fate = match (word(STATUS), word(LIFE.start)) {
        (STATUS_DONE, _) => Fate::Done,
        (STATUS_REFUSED, _) => Fate::Refused,
        (STATUS_FAILED, _) => Fate::Failed,
        (_, 0) => Fate::NotMade,
        _ => Fate::Killed,
    };
    Report {
        fate,
        life: Span::load(&words[LIFE]),
        involuntary_switches: word(INVOLUNTARY),
        escaped: word(ESCAPED) != 0,
        work: word(WORK),
        result: word(CHECKSUM),
        counts: std::array::from_fn(|at| word(COUNTS.start + at).checked_sub(1)),
    }
}

/// The workers that could be made.
struct Made<'crew> {
    start: &'crew SharedGate,
    gate: &'crew SharedGate,
    meeting: Meeting<'crew>,
    words: &'crew [AtomicU64],
    threads: usize,
    /// Worker processes that live, as far as is known.
    processes: Vec<(usize, Pid)>,
    ended: Vec<Ended>,
}

impl Made<'_> {
    /// Waits until every worker that could be made, and lives, stands at the start.
    fn wait_until_there(&mut self) -> Result<()> {
        if ((self.threads + self.processes.len()) as u64) < self.meeting.expected {
            self.meeting.break_up();
        }
        loop {
            let there = self.start.arrived().load(Ordering::Acquire);
            if there as usize >= self.threads + self.processes.len() {
                return Ok(());
            }
            // A time-out or a spurious return: the loop looks again.
            let _ = sys::futex::wait_shared(self.start.arrived(), there, Some(LOOK));
            self.reap()?;
        }
    }

    /// Waits until every worker holds still or is dead.
    fn wait_until_held(&mut self) -> Result<()> {
        loop {
            let arrived = self.gate.arrived().load(Ordering::Acquire);
            // A process may have arrived and been killed since, so arrivals alone tell nothing of
            // those who still work.
            let processes_hold = self.processes.iter().all(|(index, _)| self.has_reported(*index));
            if arrived as usize >= self.threads && processes_hold {
                // Those that died since they reported have nothing left to be looked at.
                return self.reap();
            }
            // A time-out or a spurious return: the loop looks again.
            let _ = sys::futex::wait_shared(self.gate.arrived(), arrived, Some(LOOK));
            self.reap()?;
        }
    }

    fn has_reported(&self, index: usize) -> bool {
        self.words[index * WORDS + STATUS].load(Ordering::Acquire) != 0
    }

    fn reap(&mut self) -> Result<()> {
        let mut alive = Vec::with_capacity(self.processes.len());
        for (index, pid) in std::mem::take(&mut self.processes) {
            match sys::task::try_wait(pid)? {
                Some(ended) => {
                    self.ended.push(ended);
                    self.meeting.break_up();
                }
                None => alive.push((index, pid)),
            }
        }
        self.processes = alive;
        Ok(())
    }

    /// The worker processes that live.
    fn pids(&self) -> Vec<Pid> {
        self.processes.iter().map(|(_, pid)| *pid).collect()
    }

    /// Waits until every worker process is gone; returns how many a signal killed.
    fn wait_for_processes(&mut self) -> Result<u32> {
        while let Some((_, pid)) = self.processes.pop() {
            self.ended.push(sys::task::wait(pid)?);
        }
        Ok(self.ended.iter().filter(|ended| ended.signal.is_some()).count() as u32)
    }
}

impl Drop for Made<'_> {
    /// After an error threads must be let go, or the scope would wait for them for ever, and
    /// processes must be ended. After success there is nothing left to do.
    fn drop(&mut self) {
        self.start.open();
        self.gate.open();
        for (_, pid) in self.processes.drain(..) {
            let _ = sys::process::kill(pid, sys::signal::SIGKILL);
            let _ = sys::task::wait(pid);
        }
    }
}

#[cfg(test)]
mod tests;
