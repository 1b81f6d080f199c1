//! What does contention cost in malloc and free?
//!
//! The program executes itself again with the allocator of the treatment in place, proves that it
//! is the one in use, and has pinned threads allocate and free blocks. What is written in a block
//! must be found in it.

mod level;
mod work;

use crate::support::party::{PAIRS, Party};
use crate::support::random::Random;
use kit::workers::{Model, Refusal, Rounds, Span, Worker};
use kit::{Result, Stop, Trial, per_second, ppm};
use level::{ALLOCATORS, Level};
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};
use work::{Consumer, Counts, LIVE, Part, Producer, Ring, SIZES, Side, Sizes, Work};

experiment!("allocator", "allocator.toml");

/// Memory besides the blocks: the trial itself, its threads' stacks, the allocators' own.
const SPARE_BYTES: u64 = 64 << 20;

/// Whether another thread gives a block back than the one that took it.
const PATTERNS: [(&str, bool); 2] = [("same", false), ("handed", true)];

/// What one trial is to do.
#[derive(Clone, Copy, Debug)]
struct Plan {
    level: Level,
    threads: usize,
    sizes: Sizes,
    handed: bool,
    seed: u64,
}

fn trial(trial: &mut Trial<'_>) -> Result<()> {
    let plan = Plan::read(trial)?;
    trial.need_cpus(plan.threads.min(2))?;
    // Twice, since an allocator may keep as much as is in use.
    let blocks = plan.threads * LIVE * plan.sizes.most_bytes();
    trial.need_memory(2 * blocks as u64 + SPARE_BYTES)?;
    plan.level.put_in_place(trial)?;
    let party = match trial.pick("placement", &PAIRS)? {
        None => Party::new(trial, Model::Thread, plan.threads, plan.threads),
        relation => {
            let threads = plan.threads;
            kit::require!(threads == 2, "two CPUs have something in common, not {threads}");
            Party::of_two(trial, Model::Thread, relation)
        }
    }?;
    let at_first_bytes = sys::proc::memory(sys::process::pid())?.rss_bytes;
    let house = House::new(plan, party.rounds(trial)?);
    let mut found = None;
    party.work_and_hold(
        trial,
        |worker| house.work(worker),
        || found = Some(Found::now(plan.level, plan.threads)),
    )?;
    let found = found.ok_or_else(|| Stop::failed("the memory was not read"))??;
    trial.record_one("rss_bytes", found.rss_bytes.saturating_sub(at_first_bytes) as i64);
    plan.record(trial, &house.rounds);
    party.record_overlap(trial, &house.rounds, true)?;
    plan.check(trial, house.tally(), &found)
}

/// What is seen of the heap while the threads still hold their blocks.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    rss_bytes: u64,
    arenas: Option<usize>,
}

impl Found {
    fn now(level: Level, threads: usize) -> Result<Self> {
        let rss_bytes = sys::proc::memory(sys::process::pid())?.rss_bytes;
        let arenas = level.arenas(threads).map(|_| sys::allocator::glibc_arenas()).transpose()?;
        Ok(Found { rss_bytes, arenas })
    }
}

impl Plan {
    fn read(trial: &Trial<'_>) -> Result<Self> {
        Ok(Plan {
            level: trial.pick("allocator", &ALLOCATORS)?,
            threads: trial.number("threads")? as usize,
            sizes: trial.pick("size", &SIZES)?,
            handed: trial.pick("pattern", &PATTERNS)?,
            seed: trial.spec().seed,
        })
    }

    /// Keeps what each round came to.
    fn record(&self, trial: &mut Trial<'_>, rounds: &Rounds) {
        let each = |of: &dyn Fn(u64, &[Span], usize) -> i64| -> Vec<i64> {
            (0..rounds.count())
                .map(|round| of(rounds.found(round), &rounds.spans(round), round))
                .collect()
        };
        let (wall, cpu) = match self.handed {
            false => ("pair_ns", "pair_cpu_ns"),
            true => ("handed_ns", "handed_cpu_ns"),
        };
        let sum =
            |of: fn(&Span) -> u64| each(&|pairs, spans, _| ppm(spans.iter().map(of).sum(), pairs));
        trial.record(wall, MILLION, sum(Span::wall_ns));
        trial.record(cpu, MILLION, sum(|span| span.cpu_ns));
        trial.record("sleeps_count", MILLION, sum(|span| span.sleeps));
        let walls_ns = rounds.walls_ns();
        trial.record(
            "throughput_per_s",
            1,
            each(&|pairs, _, round| per_second(pairs, walls_ns[round])),
        );
    }

    fn check(&self, trial: &mut Trial<'_>, tally: Tally, found: &Found) -> Result<()> {
        let Tally { counts, held } = tally;
        trial.record("failed_count", counts.asked.max(1), vec![counts.refused as i64]);
        trial.check("blocks that were changed by others", counts.changed as f64, 0.0, 0.0);
        // Those that came less those that went, and those that are there.
        trial.check("blocks that are missing", (counts.gained() - held as i64) as f64, 0.0, 0.0);
        if let (Some(arenas), Some(wanted)) = (found.arenas, self.level.arenas(self.threads)) {
            trial.record_one("arenas_count", arenas as i64);
            kit::require!(
                arenas == wanted,
                "glibc has {arenas} arenas and should have {wanted}: its tunables, or a limit \
                     on memory (ulimit -v), kept it from them"
            );
        }
        Ok(())
    }
}

/// What a total is scaled to by [`ppm`], so that a fraction of a nanosecond is not lost. Of no operation
/// at all, in a round that was lost to others, it is that of one.
const MILLION: u64 = 1_000_000;

/// What all threads did.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    counts: Counts,
    /// Blocks that they have when all have worked.
    held: u64,
}

/// What the threads of a trial share.
#[derive(Debug)]
struct House {
    plan: Plan,
    rounds: Rounds,
    rings: Vec<Ring>,
    /// Blocks given back in this round.
    pairs: AtomicU64,
    tally: Mutex<Tally>,
}

impl House {
    fn new(plan: Plan, rounds: Rounds) -> Self {
        let rings = (0..plan.threads.div_ceil(2)).map(|_| Ring::new()).collect();
        House { plan, rounds, rings, pairs: AtomicU64::new(0), tally: Mutex::default() }
    }

    /// One thread's life until it is looked at. What it returns holds its blocks.
    fn work(&self, worker: &Worker<'_>) -> Result<Box<dyn Work + '_>, Refusal> {
        let mut work = self.part(worker.index);
        let mut part = Part { work: &mut *work, pairs: &self.pairs, freed_before: 0 };
        self.rounds.run(worker, &mut part)?;
        work.close();
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.counts = tally.counts.plus(*work.counts());
        tally.held += work.held();
        drop(tally);
        Ok(work)
    }

    /// In the pattern `handed` threads of an even number take blocks, and each one's next gives
    /// them back.
    fn part(&self, index: usize) -> Box<dyn Work + '_> {
        let Plan { level, sizes, handed, seed, .. } = self.plan;
        let random = Random::new(seed, index);
        if !handed {
            return work::alone(level.functions(), level.calls, sizes, random);
        }
        let pair = index / 2;
        let ring = &self.rings[pair];
        let side =
            Side { allocator: level.functions(), ring, seed: Random::new(seed, pair).next() };
        if index.is_multiple_of(2) {
            Box::new(Producer::new(side, sizes, random))
        } else {
            Box::new(Consumer::new(side))
        }
    }

    fn tally(&self) -> Tally {
        *self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests;
