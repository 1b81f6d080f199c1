//! Workers that each do what one alone would do, and commands that ignore how many workers they should have.

use super::case::{At, Case};
use super::level::{Level, ratio};
use super::rows::{Found, ROWS};
use super::trials::ScaleTrial;
use super::words::{figure, percent, percent_of};
use model::{Founding, ScaleCause};

/// Workers that repeat something add the same CPU time each, wherever they run, except for this part of it. Those that
/// spin for 30 to 95 % of their time added amounts that differed by more (11 to 67 %, 7 programs, 2 CPUs).
const ALIKE: f64 = 0.08;

/// Amounts that differ by more than this part have another cause.
const UNLIKE: f64 = 0.3;

/// CPU time of one worker to which each adds that much more or less is all of it.
const WHOLE: f64 = 0.08;

/// Workers at the same time cost each other caches, and the two threads of one core each other's time: up to this
/// multiple.
const SLOWED: f64 = 1.7;

/// Fewer looks at each trial may have missed threads.
const LOOKS_MIN: f64 = 10.0;

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
        let more = || case.levels.iter().filter(|level| level.n > 1.0);
        let of = |level: &Level<'_>| added(level.n, &level.values(ScaleTrial::cpu_each_ns));
        let levels: Vec<f64> = more().map(of).collect::<Option<_>>()?;
        let slowed = more().zip(&levels).map(|(level, added)| (1.0 + (level.n - 1.0) * added) / level.n);
        let slowed = slowed.collect();
        let placed = case.placed.first().and_then(|first| {
            let own = case.placed.iter().filter(|trial| trial.n == first.n);
            added(first.n, &own.filter_map(|trial| trial.cpu_each_ns()).collect::<Vec<_>>())
        });
        // With a single CPU all trials are on one.
        let on_one_cpu = placed.or(levels.first().copied().filter(|_| case.cpus == Some(1)));
        (!levels.is_empty()).then_some(Added { levels, slowed, on_one_cpu })
    }

    fn is_whole(&self) -> bool {
        let is_at_least = |slowed: &f64| (1.0 - WHOLE..=SLOWED).contains(slowed);
        self.on_one_cpu.is_some_and(is_whole) && self.slowed.iter().all(is_at_least)
    }

    /// Reports whether workers could repeat the job or a part of it, where no trial on one CPU shows it: several numbers
    /// of workers show that the amount is one for each, or it is the whole job.
    fn may_be_repeated(&self) -> bool {
        let is_shown = self.on_one_cpu.is_some() || self.levels.len() > 1;
        is_shown || self.levels.iter().all(|added| is_whole(*added))
    }

    /// Returns the least and the most that a worker adds at any level and on one CPU.
    fn ends(&self) -> (f64, f64) {
        let all = || self.levels.iter().copied().chain(self.on_one_cpu);
        (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max))
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

/// Reports whether a worker adds what one alone uses.
fn is_whole(added: f64) -> bool {
    (added - 1.0).abs() <= WHOLE
}

/// Finds that each worker adds the same CPU time: it repeats all or a part of what one does, unless it waits busily.
pub(super) fn repeated(case: &Case<'_>, one: At<'_>, evidence: &mut Vec<String>) -> Option<Found> {
    let added = Added::of(case, one)?;
    let spread = added.spread();
    let row = match added.is_whole() {
        true => &ROWS.repeated,
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
    let looks = |trial: &ScaleTrial| Some(f64::from(trial.waits.as_ref()?.looks));
    let threads = one.level.mean(|trial| trial.threads)?;
    let used = |level: &Level<'_>| level.mean(|trial| Some(trial.cpu_ns? / trial.wall_ns));
    let throughput = |level: &Level<'_>| level.values(ScaleTrial::throughput);
    let is_same = |level: &Level<'_>| {
        let times = ratio(&throughput(level), &throughput(one.level))?;
        let rises = used(level)? / used(one.level)? - 1.0;
        Some(rises < SAME && (times.point - 1.0).abs() < SAME)
    };
    // A runtime's own threads come and go; n workers are n - 1 threads more.
    let more_threads = |level: &Level<'_>| {
        let own = level.mean(looks).filter(|looks| *looks >= LOOKS_MIN);
        Some(own.and(level.mean(|trial| trial.threads))? - threads)
    };
    let more: Vec<&Level<'_>> = case.levels.iter().filter(|level| level.n > 1.0).collect();
    let is_alike = !more.is_empty() && more.iter().all(|level| is_same(level) == Some(true));
    let last = case.described.last().filter(|_| is_alike)?;
    let grown: Vec<Option<f64>> = more.iter().map(|level| more_threads(level)).collect();
    let mut grows = more.iter().zip(&grown);
    if grows.any(|(level, grown)| grown.is_some_and(|it| it >= GROWN * (level.n - 1.0))) {
        return None;
    }
    let is_seen = grown.iter().all(Option::is_some);
    let is_exact = grown.iter().all(|grown| *grown == Some(0.0));
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
