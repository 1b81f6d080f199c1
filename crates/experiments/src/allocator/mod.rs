//! What does contention cost in malloc and free?
//!
//! The program executes itself anew with the allocator of the treatment in place, proves that it
//! is the one that works, and has threads on CPUs of their own take and give back blocks. What is
//! written in a block must be found in it.

mod design;
mod level;
mod work;

use crate::support::crowd::{
    self, Gate, MILLION, Span, Step, all_disturbed, are_apart, by_round, gather, is_sound,
    per_million, places,
};
use crate::support::random::Random;
use design::{PATTERNS, Pattern};
use kit::{Experiment, Stop, Trial};
use level::{ALLOCATORS, Calls, Level};
use work::{Counts, LIVE, Ring, SIZES, Side, Sizes, Tally};

/// The experiment.
pub(crate) const EXPERIMENT: Experiment =
    Experiment { id: "allocator", design: design::design, trial };

/// Memory beside the blocks: the trial itself, its threads' stacks, the allocators' own.
const SPARE_BYTES: u64 = 64 << 20;

/// What one trial is to do.
#[derive(Clone, Copy, Debug)]
struct Plan {
    level: Level,
    threads: usize,
    sizes: Sizes,
    pattern: Pattern,
    seed: u64,
}

fn trial(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let plan = Plan::read(trial)?;
    if plan.threads > 1 {
        trial.need_cpus(2)?;
    }
    // Twice, since an allocator may keep as much as is in use.
    let blocks = plan.threads * LIVE * plan.sizes.most_bytes();
    trial.need_memory(2 * blocks as u64 + SPARE_BYTES)?;
    plan.level.put_in_place(trial)?;
    let cpus = places(&trial.spec().cpus, plan.threads);
    trial.observe("placement", sys::affinity::format_list(&cpus));
    let at_first_bytes = sys::proc::memory(sys::process::pid())?.rss_bytes;
    let mut found = Found::default();
    let rings: Vec<Ring> = (0..plan.threads.div_ceil(2)).map(|_| Ring::new()).collect();
    let tallies = gather(
        &cpus,
        trial.spec().timed_ns,
        |index, gate| plan.work(index, &rings, gate),
        |step| match step {
            Step::Begin => trial.begin(),
            Step::End => trial.end().map(|_| ()),
            Step::Look => Found::now(plan.level, plan.threads).map(|now| found = now),
        },
    )?;
    let added_bytes = found.rss_bytes.saturating_sub(at_first_bytes);
    trial.record_one("rss_bytes", added_bytes as i64);
    plan.record(trial, &tallies, are_apart(&cpus))?;
    plan.check(trial, &tallies, &found);
    Ok(())
}

/// What is seen of the heap while the threads still hold their blocks.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    rss_bytes: u64,
    arenas: Option<usize>,
}

impl Found {
    fn now(level: Level, threads: usize) -> Result<Self, Stop> {
        let rss_bytes = sys::proc::memory(sys::process::pid())?.rss_bytes;
        let arenas = level.arenas(threads).map(|_| sys::allocator::glibc_arenas()).transpose()?;
        Ok(Found { rss_bytes, arenas })
    }
}

impl Plan {
    fn read(trial: &Trial<'_>) -> Result<Self, Stop> {
        Ok(Plan {
            level: trial.realise("allocator", &ALLOCATORS)?,
            threads: trial.number("threads")? as usize,
            sizes: trial.realise("size", &SIZES)?,
            pattern: trial.realise("pattern", &PATTERNS)?,
            seed: trial.spec().seed,
        })
    }

    /// One thread's work. In the pattern `handed`, those of an even number take blocks, and each
    /// one's next gives them back.
    fn work(&self, index: usize, rings: &[Ring], gate: &Gate) -> Option<Tally> {
        let allocator = self.level.functions();
        let random = Random::new(self.seed, index);
        if self.pattern == Pattern::Same {
            return work::alone(allocator, self.level.calls, self.sizes, random, index, gate);
        }
        let pair = index / 2;
        let seed = Random::new(self.seed, pair).next();
        let side = Side { allocator, ring: &rings[pair], seed };
        if index.is_multiple_of(2) {
            side.produce(self.sizes, random, index, gate)
        } else {
            side.consume(index, gate)
        }
    }

    /// Keeps what each round came to in which all threads had their CPUs.
    fn record(&self, trial: &mut Trial<'_>, tallies: &[Tally], apart: bool) -> Result<(), Stop> {
        let threads: Vec<_> = tallies.iter().map(|tally| &tally.rounds).collect();
        let all = by_round(&threads);
        let of_all = all.len();
        let rounds: Vec<Round> = all
            .iter()
            .filter(|(spans, _)| is_sound(spans, apart))
            .map(|(spans, counts)| Round::of(spans, counts))
            .filter(|round| round.pairs > 0)
            .collect();
        if rounds.is_empty() {
            return Err(all_disturbed(of_all, trial.spec().profile));
        }
        let each = |of: fn(&Round) -> i64| rounds.iter().map(of).collect::<Vec<i64>>();
        let (wall, cpu) = match self.pattern {
            Pattern::Same => ("pair_ns", "pair_cpu_ns"),
            Pattern::Handed => ("handed_ns", "handed_cpu_ns"),
        };
        trial.record(wall, MILLION, each(|round| per_million(round.wall_ns, round.pairs)));
        trial.record(cpu, MILLION, each(|round| per_million(round.cpu_ns, round.pairs)));
        trial.record("sleeps_count", MILLION, each(|round| per_million(round.sleeps, round.pairs)));
        trial.record("throughput_per_s", 1, each(Round::pairs_per_s));
        if self.threads > 1 && apart {
            trial.record("overlap_ppm", 1, each(|round| round.overlap_ppm));
        }
        let set_aside = (of_all - rounds.len()) as i64;
        trial.record("set_aside_count", of_all as u64, vec![set_aside]);
        Ok(())
    }

    fn check(&self, trial: &mut Trial<'_>, tallies: &[Tally], found: &Found) {
        let all = tallies.iter().fold(Counts::default(), |sum, tally| sum.plus(tally.all));
        trial.record("failed_count", all.asked.max(1), vec![all.refused as i64]);
        trial.check("blocks that were changed by others", all.changed as f64, 0.0, 0.0);
        // Those that came less those that went, and those that are there.
        let kept: i64 = tallies.iter().map(|tally| tally.kept).sum();
        trial.check("blocks that are missing", (all.gained() - kept) as f64, 0.0, 0.0);
        if self.level.calls == Calls::None {
            return;
        }
        if let (Some(arenas), Some((low, high))) = (found.arenas, self.level.arenas(self.threads)) {
            trial.record_one("arenas_count", arenas as i64);
            trial.check("arenas", arenas as f64, low, high);
        }
    }
}

/// A round, all threads together.
#[derive(Clone, Copy, Debug)]
struct Round {
    pairs: u64,
    whole_ns: u64,
    wall_ns: u64,
    cpu_ns: u64,
    sleeps: u64,
    overlap_ppm: i64,
}

impl Round {
    fn of(spans: &[Span], counts: &[Counts]) -> Self {
        let sum = |of: fn(&Span) -> u64| spans.iter().map(of).sum();
        Round {
            pairs: counts.iter().map(|counts| counts.freed).sum(),
            whole_ns: crowd::whole_ns(spans),
            wall_ns: sum(Span::wall_ns),
            cpu_ns: sum(|span| span.cpu_ns),
            sleeps: sum(|span| span.sleeps),
            overlap_ppm: crowd::overlap_ppm(spans),
        }
    }

    fn pairs_per_s(&self) -> i64 {
        (u128::from(self.pairs) * 1_000_000_000 / u128::from(self.whole_ns.max(1))) as i64
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests;
