//! Short rounds of work, done by all workers of a crew at the same time, again and again.
//!
//! Work that is to be really parallel must be short, or somebody's preemption falls into it; and
//! it must be repeated, so that the rounds which were disturbed all the same are few. Before each
//! round all workers meet; each then takes its own instants, directly around its work.

use super::{Refusal, Worker};
use crate::{OBSERVATIONS_MAX, Stop};
use std::sync::atomic::Ordering;
use sys::pages::SharedWords;

/// Words kept of one worker in one round.
const WORDS: usize = 3;

/// When one worker worked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Its first instant, in nanoseconds of CLOCK_MONOTONIC.
    pub started_ns: u64,
    /// Its last instant.
    pub ended_ns: u64,
    /// Its CPU time in between.
    pub cpu_ns: u64,
}

impl Span {
    fn wall_ns(&self) -> u64 {
        self.ended_ns.saturating_sub(self.started_ns)
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
    spans.iter().map(|span| span.wall_ns().saturating_sub(span.cpu_ns)).sum()
}

fn ppm(part: u64, whole: u64) -> i64 {
    (u128::from(part) * 1_000_000 / u128::from(whole.max(1))) as i64
}

/// The time in which all had begun and none had ended, as a share of the time from the first
/// instant of any to the last instant of all, in parts per million. They need not have run
/// meanwhile: workers that take turns on one CPU are together, too.
pub fn together_ppm(spans: &[Span]) -> i64 {
    ppm(together_ns(spans), whole_ns(spans))
}

/// The least time in which all must have been **running**, as a share of the time from the first
/// instant of any to the last instant of all, in parts per million.
///
/// It is the time in which all had begun and none had ended, less all that any of them lacked of a
/// CPU while it worked (its wall time less its CPU time): nobody knows when they lacked it, so all
/// of it is taken off, as if no two had ever lacked it at once. What a hypervisor took from a CPU
/// is seen only where the kernel leaves it out of the CPU time.
pub fn overlap_ppm(spans: &[Span]) -> i64 {
    ppm(together_ns(spans).saturating_sub(lacked_ns(spans)), whole_ns(spans))
}

/// The same time as in [`overlap_ppm`], but as a share of the time from the first instant of any
/// until the first of them was done, in parts per million.
///
/// Workers that fight over something need not get equal parts of it, so that one is done long
/// before the other. That lowers the overlap, and is what the treatment does to them; this number
/// tells it from workers that began late or lacked a CPU.
pub fn concurrency_ppm(spans: &[Span]) -> i64 {
    let first = spans.iter().map(|span| span.started_ns).min().unwrap_or(0);
    let one_ended = spans.iter().map(|span| span.ended_ns).min().unwrap_or(0);
    let both_ns = together_ns(spans).saturating_sub(lacked_ns(spans));
    ppm(both_ns, one_ended.saturating_sub(first))
}

/// Work that all workers of a crew do at the same time, and again.
pub trait Repeated: Sync {
    /// One worker's part, which is timed. It allocates and prints nothing.
    fn work(&self, index: usize);

    /// What each worker does when its part is done, before anybody settles: not timed.
    fn hand_in(&self, _index: usize) {}

    /// Says what the round came to, and makes all ready for the next one. Called by one worker,
    /// possibly in a process of its own, while the others wait.
    fn settle(&self) -> u64;
}

/// The instants of all workers in all rounds, and what each round came to, in memory that a fork
/// shares.
#[derive(Debug)]
pub struct Rounds {
    words: SharedWords,
    workers: usize,
    warm_up: usize,
    most: usize,
    limit_ns: u64,
}

impl Rounds {
    /// Room for the rounds of so many workers. The first `warm_up` rounds are not kept; after them
    /// rounds go on until `limit_ns` is over, but at least `least` and at most as many as a
    /// trial keeps of one response.
    ///
    /// # Errors
    /// Where the kernel refuses the memory.
    pub fn new(workers: usize, warm_up: usize, limit_ns: u64) -> Result<Self, Stop> {
        let most = OBSERVATIONS_MAX;
        let count = Self::ROUNDS_AT + most * (1 + workers * WORDS);
        let words = sys::pages::shared(count * size_of::<u64>())?;
        // Touched now, so that the first to write finds the pages there.
        words.words().iter().for_each(|word| word.store(0, Ordering::Relaxed));
        Ok(Rounds { words, workers, warm_up, most, limit_ns })
    }

    /// The first word says whether to go on, the second how many rounds are done; the rounds'
    /// words begin at the next cache lines.
    const ROUNDS_AT: usize = 16;

    /// A worker's part of all rounds.
    ///
    /// # Errors
    /// [`Refusal::Failed`] if another worker is dead.
    pub fn run(&self, worker: &Worker<'_>, task: &impl Repeated) -> Result<(), Refusal> {
        let [go_on, done] = [&self.words.words()[0], &self.words.words()[1]];
        let mut begun_ns = 0;
        for round in 0.. {
            worker.meet()?;
            if worker.index == 0 {
                if round > 0 {
                    let found = task.settle();
                    if let Some(kept) = (round - 1_usize).checked_sub(self.warm_up) {
                        self.outcome(kept).store(found, Ordering::Relaxed);
                        done.store(kept as u64 + 1, Ordering::Relaxed);
                    }
                }
                if round == self.warm_up {
                    begun_ns = sys::clock::now_ns();
                }
                let kept = round.saturating_sub(self.warm_up);
                let early = kept == 0 || sys::clock::now_ns() - begun_ns < self.limit_ns;
                go_on.store(u64::from(early && kept < self.most), Ordering::Relaxed);
            }
            // Relaxed stores above: a meeting orders what was before it and what comes after.
            worker.meet()?;
            if go_on.load(Ordering::Relaxed) == 0 {
                break;
            }
            let span = timed(|| task.work(worker.index));
            if let Some(kept) = round.checked_sub(self.warm_up) {
                self.keep(kept, worker.index, span);
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
        let at = self.round_at(round) + 1;
        let words = &self.words.words()[at..at + self.workers * WORDS];
        words
            .chunks_exact(WORDS)
            .map(|words| Span {
                started_ns: words[0].load(Ordering::Relaxed),
                ended_ns: words[1].load(Ordering::Relaxed),
                cpu_ns: words[2].load(Ordering::Relaxed),
            })
            .collect()
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

    /// [`overlap_ppm`] of each round.
    pub fn overlaps_ppm(&self) -> Vec<i64> {
        (0..self.count()).map(|round| overlap_ppm(&self.spans(round))).collect()
    }

    /// [`concurrency_ppm`] of each round.
    pub fn concurrencies_ppm(&self) -> Vec<i64> {
        (0..self.count()).map(|round| concurrency_ppm(&self.spans(round))).collect()
    }

    fn round_at(&self, round: usize) -> usize {
        Self::ROUNDS_AT + round * (1 + self.workers * WORDS)
    }

    fn outcome(&self, round: usize) -> &std::sync::atomic::AtomicU64 {
        &self.words.words()[self.round_at(round)]
    }

    fn keep(&self, round: usize, index: usize, span: Span) {
        let at = self.round_at(round) + 1 + index * WORDS;
        let words = &self.words.words()[at..at + WORDS];
        words[0].store(span.started_ns, Ordering::Relaxed);
        words[1].store(span.ended_ns, Ordering::Relaxed);
        words[2].store(span.cpu_ns, Ordering::Relaxed);
    }
}

/// The CPU clock, which is a system call, is read outside of the wall clock's instants.
fn timed(work: impl FnOnce()) -> Span {
    let cpu_ns = sys::clock::thread_cpu_ns();
    let started_ns = sys::clock::now_ns();
    work();
    let ended_ns = sys::clock::now_ns();
    let cpu_ns = sys::clock::thread_cpu_ns() - cpu_ns;
    Span { started_ns, ended_ns, cpu_ns }
}
