//! Workers that each do what one alone would do, and commands that ignore how many workers they should have.

use super::case::{At, Case};
use super::level::{Level, ratio};
use super::rows::{Found, ROWS};
use super::trials::ScaleTrial;
use super::words::{figure, percent, percent_of};
use model::{Founding, ScaleCause, WaitKind, Waits};

/// Workers that repeat something add the same CPU time each, wherever they run, except for this part of it. Those that
/// spin for 30 to 95 % of their time added amounts that differed by more (11 to 67 %, 7 programs, 2 CPUs).
const ALIKE: f64 = 0.08;

/// Amounts that differ by more than this part have another cause.
const UNLIKE: f64 = 0.3;

/// CPU time of one worker to which each adds that much more or less is all of it.
const WHOLE: f64 = 0.03;

/// Workers that spin for a lock which one of them nearly always holds add all of it to this part.
const NEARLY_WHOLE: f64 = 0.15;

/// Workers at the same time cost each other caches, and the two threads of one core each other's time: up to this
/// multiple.
const SLOWED: f64 = 1.7;

/// Fewer looks at the trials of a level may have missed threads.
const LOOKS_MIN: u32 = 10;

/// Threads that sleep twice as often as with one worker, and this number of times more, hand over to others.
const SLEEPS_MORE: f64 = 20.0;

/// A program whose throughput and use of CPUs stay within this part of one worker's does the same at each n.
const SAME: f64 = 0.1;

/// A command that makes at least this part of a thread more for each worker more heeds n.
const GROWN: f64 = 0.5;

/// What each worker beyond the first adds to the CPU time, as parts of one worker's.
struct Added {
    /// At each n measured.
    levels: Vec<f64>,
    /// By how much workers that each do the whole job would be slower at each n than one alone.
    slowed: Vec<f64>,
    /// Where all workers run on one CPU; `None` where that was not measured.
    on_one_cpu: Option<f64>,
}

impl Added {
    fn of(case: &Case<'_>, one: At<'_>) -> Option<Self> {
        let alone = one.level.values(ScaleTrial::cpu_each_ns);
        let added = |n: f64, each: &[f64]| Some((ratio(each, &alone)?.point - 1.0) / (n - 1.0));
        let (mut levels, mut slowed) = (Vec::new(), Vec::new());
        for level in case.levels.iter().filter(|level| level.n > 1.0) {
            let more = added(level.n, &level.values(ScaleTrial::cpu_each_ns))?;
            levels.push(more);
            slowed.push((1.0 + (level.n - 1.0) * more) / level.n);
        }
        let placed = case.placed.first().and_then(|first| {
            let own = case.placed.iter().filter(|trial| trial.n == first.n);
            added(first.n, &own.filter_map(|trial| trial.cpu_each_ns()).collect::<Vec<_>>())
        });
        // With a single CPU all trials are on one.
        let on_one_cpu = placed.or(levels.first().copied().filter(|_| case.cpus == Some(1)));
        (!levels.is_empty()).then_some(Added { levels, slowed, on_one_cpu })
    }

    /// Reports whether each worker adds all that one uses, on one CPU more or less exactly.
    fn is_whole(&self, within: f64) -> bool {
        self.on_one_cpu.is_some_and(|added| is_whole(added, within))
            && self.slowed.iter().all(|slowed| (1.0 - within..=SLOWED).contains(slowed))
    }

    /// Reports whether workers could repeat the job or a part of it, where no trial on one CPU shows it: several numbers
    /// of workers show that the amount is one for each, or it is the whole job.
    fn may_be_repeated(&self) -> bool {
        let is_shown = self.on_one_cpu.is_some() || self.levels.len() > 1;
        is_shown || self.levels.iter().all(|added| is_whole(*added, NEARLY_WHOLE))
    }

    /// Returns the least and the most that a worker adds at any level and on one CPU.
    fn ends(&self) -> (f64, f64) {
        let all = self.levels.iter().copied().chain(self.on_one_cpu);
        all.fold((f64::INFINITY, 0.0), |(least, most), it| (it.min(least), it.max(most)))
    }

    /// Returns by what part of it the amount varies from level to level and from CPU to CPU.
    fn spread(&self) -> f64 {
        let (least, most) = self.ends();
        (most - least) / most
    }

    /// Words the amounts.
    fn range(&self) -> String {
        let (least, most) = self.ends();
        let ends = [percent(least), percent(most)];
        if ends[0] == ends[1] { ends[0].clone() } else { ends.join(" to ") }
    }
}

/// Reports whether a worker adds what one alone uses, more or less exactly.
fn is_whole(added: f64, within: f64) -> bool {
    (added - 1.0).abs() <= within
}

/// Finds that each worker adds the same CPU time: it repeats all or a part of what one does, unless it waits busily.
pub(super) fn repeated(case: &Case<'_>, one: At<'_>, evidence: &mut Vec<String>) -> Option<Found> {
    let added = Added::of(case, one)?;
    let spread = added.spread();
    let row = match added.is_whole(WHOLE) {
        true => &ROWS.repeated,
        false if added.is_whole(NEARLY_WHOLE) => &ROWS.repeated_or_busy,
        false if spread <= ALIKE && added.on_one_cpu.is_some() => &ROWS.repeated_part,
        false if spread <= UNLIKE && added.may_be_repeated() => &ROWS.repeated_or_busy,
        false => return None,
    };
    let levels = case.levels.iter().filter(|level| level.n > 1.0).zip(&added.levels);
    let levels: Vec<String> = levels
        .map(|(level, added)| format!("{} with n = {}", percent(*added), figure(level.n)))
        .collect();
    let on_one_cpu = added.on_one_cpu.map(percent);
    let placed = on_one_cpu
        .as_ref()
        .map_or(String::new(), |added| format!(", and {added} where all run on one CPU"));
    evidence.push(format!(
        "each worker beyond the first adds CPU time, as a part of one worker's: {}{placed}",
        wording::listed(&levels),
    ));
    Some(Found::named(row, on_one_cpu.unwrap_or_else(|| added.range())))
}

/// Returns that workers repeat work or wait busily: what each adds may be either.
pub(super) fn repeated_or_busy(case: &Case<'_>, one: At<'_>) -> Option<Found> {
    Some(Found::named(&ROWS.repeated_or_busy, Added::of(case, one)?.range()))
}

/// Finds that the command makes the same threads and does the same, whatever n is.
pub(super) fn ignored(case: &Case<'_>, one: At<'_>) -> Option<ScaleCause> {
    let threads = one.level.mean(|trial| trial.threads)?;
    let more: Vec<&Level<'_>> = case.levels.iter().filter(|level| level.n > 1.0).collect();
    let is_alike = !more.is_empty() && more.iter().all(|level| is_same(level, one) == Some(true));
    let last = case.described.last().filter(|_| is_alike)?;
    // A runtime's own threads come and go; n workers are n - 1 threads more.
    let grown = |level: &Level<'_>| Some(level.mean(|trial| trial.threads)? - threads);
    let heeds = |level: &&Level<'_>| {
        grown(level).is_some_and(|grown| grown >= GROWN * (level.n - 1.0)) || sleeps(level, one)
    };
    if more.iter().any(heeds) {
        return None;
    }
    let grown: Vec<f64> = more.iter().filter_map(|level| grown(level)).collect();
    let is_seen = grown.len() == more.len() && more.iter().all(|level| is_seen(level));
    let is_exact = grown.iter().all(|grown| *grown == 0.0);
    let threads = match threads {
        1.0 if is_exact => "1 thread".to_string(),
        more if is_exact => format!("{} threads", figure(more)),
        more => format!("about {} threads", figure(more.round())),
    };
    let speedup = last.speedup.as_ref().map_or(String::new(), percent_of);
    let evidence = format!("n = {} gives {speedup} of the throughput of n = 1", figure(last.n));
    let place = (last.n, super::case::lost(last));
    Some(match is_seen {
        true => ROWS.ignored.cause(&threads, place, Founding::Consistent, vec![evidence]),
        false => ROWS.same.cause("", place, Founding::Suspected, vec![evidence]),
    })
}

/// Reports whether a level has the throughput and the use of CPUs of one worker.
fn is_same(level: &Level<'_>, one: At<'_>) -> Option<bool> {
    let throughput = ScaleTrial::throughput;
    let times = ratio(&level.values(throughput), &one.level.values(throughput))?;
    let rises = level.mean(used)? / one.level.mean(used)? - 1.0;
    Some(rises < SAME && (times.point - 1.0).abs() < SAME)
}

/// Returns how many CPUs a trial used.
fn used(trial: &ScaleTrial) -> Option<f64> {
    Some(trial.cpu_ns? / trial.wall_ns)
}

/// Returns how often threads went to sleep for a unit of work.
fn switches(trial: &ScaleTrial) -> Option<f64> {
    trial.each(trial.voluntary)
}

/// Reports whether threads go to sleep more often than with one worker: they wait for one another.
fn sleeps(level: &Level<'_>, one: At<'_>) -> bool {
    let both = level.mean(switches).zip(one.level.mean(switches));
    both.is_some_and(|(more, alone)| more >= (2.0 * alone).max(alone + SLEEPS_MORE))
}

/// Reports whether looks saw enough of a level to know its threads, and these are its workers: those of Go, and of other
/// runtimes that hide what tasks wait for, are not.
fn is_seen(level: &Level<'_>) -> bool {
    let seen: Vec<&Waits> =
        level.trials.iter().filter_map(|trial| trial.waits.as_deref()).collect();
    let looks: u32 = seen.iter().map(|waits| waits.looks).sum();
    let mut waits = seen.iter().flat_map(|waits| &waits.waits).filter(|wait| wait.looks > 0);
    looks >= LOOKS_MIN && waits.all(|wait| wait.kind != WaitKind::Hidden)
}
