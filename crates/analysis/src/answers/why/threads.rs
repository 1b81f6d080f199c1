//! What limits a program of several threads, by what they do while nothing is taken from it.

use super::time::{decided, longest};
use crate::scaling::{HELD, kind_words};
use model::{Estimate, WaitKind, WhyTime, WhyWait};
use wording::number::{self, Terms};

/// CPUs that are not used, and threads that could: from this number on, something else than CPUs limits a program.
const LOST: f64 = 0.2;

/// Sleeps with which less than this is lost each, in seconds, are many short ones.
const SLEEP_MAX_S: f64 = 1e-3;

/// What explains this part of something explains it.
const MOST: f64 = 0.5;

/// A thread that runs for this part of the elapsed time sets the pace.
const BUSY: f64 = 0.9;

/// Threads that hand over to one another and use about one CPU together take turns.
const TURNS: std::ops::Range<f64> = 0.7..1.1;

/// What limits a program of several threads.
pub(super) enum Limit<'a> {
    /// Its threads wait for this. Where the waits are many and short, with the number of sleeps a second.
    Wait(&'a WhyWait, Option<f64>),
    /// One thread or process runs at a time, and hands over to the next.
    Turns(&'a WhyWait),
    /// One thread runs nearly all the time.
    One(Estimate),
    /// One thread runs while the others do not, for this part of the time.
    Alone(Estimate),
}

/// Returns what limits it; `None` of a program with one thread, or one that uses its CPUs.
pub(super) fn limit(time: &WhyTime) -> Option<Limit<'_>> {
    let workers = decided(&time.workers)?.point;
    let unused = workers.min(f64::from(time.cpus?)) - decided(&time.cpu)?.point;
    // Where nothing runs, the wait that ends that limits it; unless a lock is held meanwhile.
    if let Some(lock) = longest(time).and_then(|still| lock(time, workers, still)) {
        return Some(Limit::Wait(lock, None));
    }
    // What is lost around many short sleeps is lost by them: a thread that was woken is ready for some time.
    let sleeps = decided(&time.switches_per_s).map(|it| it.point);
    let sleeps = sleeps.filter(|sleeps| unused < SLEEP_MAX_S * sleeps);
    let ready = decided(&time.ready).filter(|_| sleeps.is_none());
    let lost = unused - ready.map_or(0.0, |ready| ready.point);
    if workers < 2.0 || lost < LOST || longest(time).is_some() {
        return None;
    }
    let is_sure = |wait: &&WhyWait| sleeps.is_some() || wait.share.low > 0.0;
    let wait = wait(time).filter(is_sure);
    let one = match sleeps {
        Some(_) => busy(&time.ran),
        None => one(time),
    };
    if one.is_some() {
        return one;
    }
    let alone = decided(&time.alone).filter(|alone| alone.low >= LOST);
    let wait = wait.filter(|wait| sleeps.is_some() || wait.share.point >= MOST * lost);
    // Others that get their work from one thread wait while that does its own.
    let is_mostly_alone = alone.is_some_and(|alone| alone.point >= HELD * lost);
    let is_for_work = |wait: &WhyWait| {
        matches!(wait.kind, WaitKind::Signal | WaitKind::Hidden | WaitKind::Message)
    };
    let takes_turns = time.cpu.is_some_and(|used| TURNS.contains(&used.point));
    match wait.filter(|wait| !(is_mostly_alone && is_for_work(wait))) {
        Some(wait) if takes_turns && is_for_work(wait) => Some(Limit::Turns(wait)),
        Some(wait) => Some(Limit::Wait(wait, sleeps)),
        None => alone.map(Limit::Alone),
    }
}

/// Returns that one thread runs, or is ready, nearly all the time, if it does.
pub(super) fn one(time: &WhyTime) -> Option<Limit<'_>> {
    busy(&time.busiest)
}

fn busy<'a>(part: &Option<Estimate>) -> Option<Limit<'a>> {
    decided(part).filter(|part| part.low >= BUSY).map(Limit::One)
}

/// Returns what threads waited for longest, for other things than the end of one another.
fn wait(time: &WhyTime) -> Option<&WhyWait> {
    let most = time.threads.iter().find(is_named)?;
    let lock = time.threads.iter().find(|wait| wait.kind == WaitKind::Lock);
    lock.filter(|lock| lock.share.point >= HELD * most.share.point).or(Some(most))
}

fn is_named(wait: &&WhyWait) -> bool {
    !matches!(wait.kind, WaitKind::Thread | WaitKind::Child | WaitKind::Unknown)
}

/// Returns the lock that is held by those of some workers who wait for something else, while they are `still`: others
/// wait for it nearly as much.
fn lock<'a>(time: &'a WhyTime, workers: f64, still: &WhyWait) -> Option<&'a WhyWait> {
    let others = time.threads.iter().filter(is_named).filter(|wait| !wait.is_held);
    let most = others.map(|wait| wait.share.point).fold(still.share.point, f64::max);
    let least = HELD * ((workers - 1.0) / 2.0).clamp(0.5, 1.0) * most;
    let held = time.threads.iter().filter(|wait| wait.is_held && wait.kind != still.kind);
    held.filter(|wait| wait.share.low > 0.0).find(|wait| wait.share.point >= least)
}

/// Returns what follows the kind of a wait: its name, if it has one.
fn name(wait: &WhyWait) -> String {
    let name = Some(wording::short(&wait.what, 200)).filter(|name| !name.is_empty());
    name.map_or(String::new(), |name| format!(": {name}"))
}

/// Returns the limit in words.
pub(super) fn words(time: &WhyTime, limit: &Limit<'_>) -> String {
    let used = used(time).unwrap_or_default();
    match limit {
        Limit::Wait(wait, sleeps) => {
            let threads = number::estimate(&wait.share, Terms::Plain);
            let name = name(wait);
            let of = kind_words(wait.kind);
            let how = match sleeps {
                None => format!("On average, {threads} of its threads wait for it."),
                Some(sleeps) => format!(
                    "Its threads sleep {} times a second, mostly there, and lose time as they are woken.",
                    number::count(sleeps.round() as u64)
                ),
            };
            format!("This command is limited by waits for {of}{name}. {how}{used}")
        }
        Limit::Turns(wait) => {
            let name = name(wait);
            format!(
                "This command is limited by the CPU time of threads or processes that take turns: one runs while the \
                 others wait for {}{name}.{used}",
                kind_words(wait.kind)
            )
        }
        Limit::One(busy) => format!(
            "This command is limited by the CPU time of one thread, which runs or is ready for {} of the elapsed \
             time.{used}",
            share(busy)
        ),
        Limit::Alone(alone) => format!(
            "This command is limited by a part that one thread does alone: for {} of the elapsed time, no other \
             thread runs.{used}",
            share(alone)
        ),
    }
}

/// Returns how many of the CPUs that it may use a program uses, or that it keeps its threads to fewer; `None` of one
/// CPU, and where all are in use.
pub(super) fn used(time: &WhyTime) -> Option<String> {
    let (own, given) = (time.cpus?, time.cpus_given?);
    if own < given && time.workers.is_some_and(|workers| workers.point > f64::from(own)) {
        return Some(format!(" Its threads may use {own} of {given} CPUs (CPU affinity)."));
    }
    let (cpus, used) = (time.cpus.filter(|cpus| *cpus > 1)?, decided(&time.cpu)?);
    let is_less = used.point < BUSY * f64::from(cpus);
    is_less.then(|| {
        let used = used.point;
        format!(" It uses {used:.2} of the {cpus} CPUs that it may use.")
    })
}

/// "93 % [90, 95]".
pub(super) fn share(share: &Estimate) -> String {
    number::estimate(share, Terms::Share)
}
