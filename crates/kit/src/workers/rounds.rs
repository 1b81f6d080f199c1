//! Short rounds of work, done by all workers of a crew at the same time, again and again.
//!
//! Work that is to be really parallel must be short, or somebody's preemption falls into it; and
//! it must be repeated, so that the rounds which were disturbed all the same are few. Before each
//! round all workers meet; each then takes its own instants, directly around its work.
//!
//! Every round is kept, with what its workers lacked of their CPUs. Rounds are not chosen by that
//! afterwards: as long as fewer than half were disturbed their median is sound, and otherwise the
//! trial says so ([`Rounds::concurrencies_ppm`]) instead of showing its good rounds alone.

use super::{Refusal, Worker};
use crate::{OBSERVATIONS_MAX, Result, ppm};
use std::sync::atomic::{AtomicU64, Ordering};
use sys::pages::SharedWords;
use sys::proc::SchedStat;
use sys::usage::Usage;

/// When one worker worked, and what kept it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Its first instant, in nanoseconds of CLOCK_MONOTONIC.
    pub started_ns: u64,
    /// Its last instant.
    pub ended_ns: u64,
    /// Its CPU time in between.
    pub cpu_ns: u64,
    /// Its time on a run queue; absent where the kernel does not tell.
    pub queue_wait_ns: Option<u64>,
    /// How often it went to sleep.
    pub sleeps: u64,
}

impl Span {
    /// Words that hold one.
    pub const WORDS: usize = 5;

    /// Does work, and returns its instants and CPU time. The CPU clock, which is a system call, is
    /// read outside of the wall clock's instants.
    pub fn of(work: impl FnOnce()) -> Self {
        let cpu_ns = sys::clock::thread_cpu_ns();
        let started_ns = sys::clock::now_ns();
        work();
        let ended_ns = sys::clock::now_ns();
        let cpu_ns = sys::clock::thread_cpu_ns() - cpu_ns;
        Span { started_ns, ended_ns, cpu_ns, ..Span::default() }
    }

    /// Keeps it in words.
    pub fn store(&self, words: &[AtomicU64]) {
        let queue_wait_ns = self.queue_wait_ns.unwrap_or(u64::MAX);
        let values = [self.started_ns, self.ended_ns, self.cpu_ns, queue_wait_ns, self.sleeps];
        for (word, value) in words.iter().zip(values) {
            word.store(value, Ordering::Relaxed);
        }
    }

    /// What [`Span::store`] has kept.
    ///
    /// # Panics
    /// Of fewer words than [`Span::WORDS`].
    pub fn load(words: &[AtomicU64]) -> Self {
        let [started_ns, ended_ns, cpu_ns, queue_wait_ns, sleeps] =
            std::array::from_fn(|index| words[index].load(Ordering::Relaxed));
        let queue_wait_ns = (queue_wait_ns != u64::MAX).then_some(queue_wait_ns);
        Span { started_ns, ended_ns, cpu_ns, queue_wait_ns, sleeps }
    }

    /// How long it lasted.
    pub fn wall_ns(&self) -> u64 {
        self.ended_ns.saturating_sub(self.started_ns)
    }

    /// What it lacked of a CPU: all that it did not run, if it never slept. One that slept, for a
    /// lock, wanted no CPU meanwhile; what it then lacked is its time on a run queue.
    fn lacked_ns(&self) -> u64 {
        match self.queue_wait_ns {
            Some(queue_wait_ns) if self.sleeps > 0 => queue_wait_ns,
            _ => self.wall_ns().saturating_sub(self.cpu_ns),
        }
    }
}

/// From the first instant of any to the last instant of all, in nanoseconds.
fn whole_ns(spans: &[Span]) -> u64 {
    let first = spans.iter().map(|span| span.started_ns).min().unwrap_or(0);
    let last = spans.iter().map(|span| span.ended_ns).max().unwrap_or(0);
    last.saturating_sub(first)
}

/// From the last one's first instant to the first one's last instant, in nanoseconds.
fn together_ns(spans: &[Span]) -> u64 {
    let all_began = spans.iter().map(|span| span.started_ns).max().unwrap_or(0);
    let one_ended = spans.iter().map(|span| span.ended_ns).min().unwrap_or(0);
    one_ended.saturating_sub(all_began)
}

/// All that the workers lacked of a CPU while they worked, in nanoseconds.
fn lacked_ns(spans: &[Span]) -> u64 {
    spans.iter().map(Span::lacked_ns).sum()
}

/// [`super::Crew::together_ppm`] of these.
pub(super) fn together_ppm(spans: &[Span]) -> i64 {
    ppm(together_ns(spans), whole_ns(spans))
}

/// The least time in which all must have had a **CPU**, as a share of the time from the first
/// instant of any to the last instant of all, in parts per million.
///
/// It is the time in which all had begun and none had ended, less all that any of them lacked of a
/// CPU while it worked: nobody knows when they lacked it, so all of it is taken off, as if no two
/// had ever lacked it at once. One that sleeps for a lock is at work. What a hypervisor took from a
/// CPU is seen only where the kernel leaves it out of the CPU time.
pub fn overlap_ppm(spans: &[Span]) -> i64 {
    ppm(together_ns(spans).saturating_sub(lacked_ns(spans)), whole_ns(spans))
}

/// The same time as in [`overlap_ppm`], but as a share of the time from the first instant of any
/// until the first of them was done, in parts per million.
///
/// Workers that fight over something need not get equal parts of it, so that one is done long
/// before the other. That lowers the overlap, and is what the treatment does to them; this number
/// tells it from workers that began late or lacked a CPU.
pub(super) fn concurrency_ppm(spans: &[Span]) -> i64 {
    let first = spans.iter().map(|span| span.started_ns).min().unwrap_or(0);
    let one_ended = spans.iter().map(|span| span.ended_ns).min().unwrap_or(0);
    let both_ns = together_ns(spans).saturating_sub(lacked_ns(spans));
    ppm(both_ns, one_ended.saturating_sub(first))
}

/// Work that all workers of a crew do at the same time, and again: one worker's part of it.
pub trait Repeated {
    /// What is timed. It allocates and prints nothing. Work that goes by the clock, not by a count,
    /// ends at `until_ns`, which is the same for all.
    fn work(&mut self, index: usize, until_ns: u64);

    /// What each worker does when its part is done, before anybody settles: not timed.
    fn hand_in(&mut self, _index: usize) {}

    /// Says what the round came to, and makes all ready for the next one. Called by one worker,
    /// possibly in a process of its own, while the others wait.
    fn settle(&mut self) -> u64;
}

/// How rounds follow each other.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The number of rounds at the beginning that are not kept.
    pub warm_up: usize,
    /// The fewest rounds that are kept, however long they take.
    pub least: usize,
    /// The time after which no more rounds are begun, in nanoseconds.
    pub limit_ns: u64,
    /// How long work that goes by the clock lasts in a round, in nanoseconds.
    pub round_ns: u64,
}

/// The instants of all workers in all rounds, and what each round came to, in memory that a fork
/// shares.
#[derive(Debug)]
pub struct Rounds {
    words: SharedWords,
    workers: usize,
    pace: Pace,
}

impl Rounds {
    /// The most rounds that are kept: as many as a trial keeps of one response.
    const MOST: usize = OBSERVATIONS_MAX;

    /// Makes room for the rounds of `workers` workers.
    ///
    /// # Errors
    /// Where the kernel refuses the memory.
    pub fn new(workers: usize, pace: Pace) -> Result<Self> {
        let count = Self::ROUNDS_AT + Self::MOST * (1 + workers * Span::WORDS);
        let words = sys::pages::shared(count * size_of::<u64>())?;
        // Touched now, so that the first to write finds the pages there.
        words.words().iter().for_each(|word| word.store(0, Ordering::Relaxed));
        Ok(Rounds { words, workers, pace })
    }

    /// The first word says when the round ends, or with 0 that there is none; the second how many
    /// rounds are done; the rounds' words begin at the next cache lines.
    const ROUNDS_AT: usize = 16;

    /// A worker's part of all rounds.
    ///
    /// # Errors
    /// [`Refusal::Failed`] if another worker will not come.
    pub fn run(&self, worker: &Worker<'_>, task: &mut impl Repeated) -> Result<(), Refusal> {
        let Pace { warm_up, least, limit_ns, round_ns } = self.pace;
        let [until, done] = [&self.words.words()[0], &self.words.words()[1]];
        let mut begun_ns = 0;
        for round in 0.. {
            worker.meet()?;
            if worker.index == 0 {
                if round > 0 {
                    let found = task.settle();
                    if let Some(kept) = (round - 1_usize).checked_sub(warm_up) {
                        self.outcome(kept).store(found, Ordering::Relaxed);
                        done.store(kept as u64 + 1, Ordering::Relaxed);
                    }
                }
                let now_ns = sys::clock::now_ns();
                if round == warm_up {
                    begun_ns = now_ns;
                }
                let kept = round.saturating_sub(warm_up);
                let go_on = kept < least.max(1) || now_ns - begun_ns < limit_ns;
                let until_ns = if go_on && kept < Self::MOST { now_ns + round_ns } else { 0 };
                until.store(until_ns, Ordering::Relaxed);
            }
            // What the kernel counts of a thread that its clocks do not tell. Read before the last
            // meeting and not behind it: it takes some microseconds, by which workers would begin
            // apart.
            let sched = sys::proc::schedstat_thread();
            let usage = Usage::of_thread();
            // Relaxed stores above: a meeting orders what was before it and what comes after.
            worker.meet()?;
            let until_ns = until.load(Ordering::Relaxed);
            if until_ns == 0 {
                break;
            }
            let span = Span::of(|| task.work(worker.index, until_ns));
            if let Some(kept) = round.checked_sub(warm_up) {
                let queue_wait_ns = queue_wait_since(sched);
                let sleeps = Usage::of_thread().since(usage).voluntary_switches;
                let words = self.span_words(kept, worker.index);
                Span { queue_wait_ns, sleeps, ..span }.store(words);
            }
            task.hand_in(worker.index);
        }
        Ok(())
    }

    /// How many rounds were kept.
    pub fn count(&self) -> usize {
        self.words.words()[1].load(Ordering::Acquire) as usize
    }

    /// When each worker worked in a round.
    pub fn spans(&self, round: usize) -> Vec<Span> {
        (0..self.workers).map(|index| Span::load(self.span_words(round, index))).collect()
    }

    /// What [`Repeated::settle`] said of a round.
    pub fn found(&self, round: usize) -> u64 {
        self.outcome(round).load(Ordering::Relaxed)
    }

    /// From the first worker's first instant to the last one's last, for each round, in ns.
    pub fn walls_ns(&self) -> Vec<u64> {
        (0..self.count()).map(|round| whole_ns(&self.spans(round))).collect()
    }

    /// CPU time of all workers, for each round, in ns.
    pub fn cpus_ns(&self) -> Vec<u64> {
        let sum = |spans: Vec<Span>| spans.iter().map(|span| span.cpu_ns).sum();
        (0..self.count()).map(|round| sum(self.spans(round))).collect()
    }

    /// The least time in which all must have had a CPU, for each round, as a share of the time from
    /// the first instant of any to the last instant of all, in parts per million.
    pub fn overlaps_ppm(&self) -> Vec<i64> {
        (0..self.count()).map(|round| overlap_ppm(&self.spans(round))).collect()
    }

    /// The same time as a share of the time until the first of them was done, for each round, in
    /// parts per million: 1,000,000 if all ran whenever all had something to do.
    pub fn concurrencies_ppm(&self) -> Vec<i64> {
        (0..self.count()).map(|round| concurrency_ppm(&self.spans(round))).collect()
    }

    fn round_at(&self, round: usize) -> usize {
        Self::ROUNDS_AT + round * (1 + self.workers * Span::WORDS)
    }

    fn outcome(&self, round: usize) -> &AtomicU64 {
        &self.words.words()[self.round_at(round)]
    }

    fn span_words(&self, round: usize, index: usize) -> &[AtomicU64] {
        let at = self.round_at(round) + 1 + index * Span::WORDS;
        &self.words.words()[at..at + Span::WORDS]
    }
}

/// How long the calling thread has waited for a CPU since an earlier look at its account; absent
/// where the kernel does not tell.
pub fn queue_wait_since(earlier: Option<SchedStat>) -> Option<u64> {
    Some(sys::proc::schedstat_thread()?.since(earlier?).queue_wait_ns)
}
