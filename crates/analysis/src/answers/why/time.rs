//! Where a program's time goes with nothing taken from it, and how much of it each resource can limit.

use super::LIVES_ON;
use crate::scaling::{HELD, TURNS};
use crate::session::disturbance::{ONE_CPU, cpu_ns, share_of_quota};
use crate::stats::estimate::mean_estimate;
use crate::stats::interval::{BLOCKS_FREE, median_located};
use model::{
    AFFINITY, Counters, Estimate, Record, Resource, Wait, WaitKind, Waits, WhyTime, WhyWait,
    may_be_held,
};
use std::collections::BTreeSet;

/// A wait of a smaller share is not listed.
const LISTED_MIN: f64 = 0.01;

/// The most waits that are listed.
const LISTED_MAX: usize = 12;

/// The longest that a wake-up of an idle machine takes, in seconds: a program with few of them does not wait
/// for wake-ups.
const WAKE_UP_MAX_S: f64 = 50e-6;

/// Returns where the time goes in trials with nothing taken; `cpu_ppm` is their CPU use.
pub(super) fn time(plain: &[&Record], cpu_ppm: &[f64]) -> WhyTime {
    let measured = plain.iter().filter_map(|record| record.measured.as_ref());
    let measured: Vec<_> = measured.filter(|it| it.counters.wall_ns > 0).collect();
    let counters: Vec<&Counters> = measured.iter().map(|it| &it.counters).collect();
    let looked: Vec<Looked<'_>> = plain.iter().filter_map(|record| Looked::at(record)).collect();
    let kernel =
        |it: &&Counters| Some(it.system_ns? as f64 / cpu_ns(it).filter(|ns| *ns > 0)? as f64);
    let switches = |it: &&Counters| Some(it.voluntary_switches? as f64 * 1e9 / it.wall_ns as f64);
    let still: Vec<f64> = looked.iter().map(|it| it.part(it.waits.still_ns)).collect();
    let all = || looked.iter().flat_map(|it| &it.waits.waits);
    let cpus = looked.iter().filter_map(|it| it.cpus).max();
    let kinds: BTreeSet<WaitKind> = all().map(|wait| wait.kind).collect();
    let kinds = kinds.into_iter().filter_map(|kind| {
        let share = share(&looked, |wait| wait.kind == kind)?;
        Some(WhyWait { kind, what: String::new(), holder: String::new(), share, is_held: false })
    });
    let names: BTreeSet<_> = all().map(of_name).collect();
    let named = names.iter().filter_map(|name| {
        let share = share(&looked, |wait| of_name(wait) == *name)?;
        Some(of(*name, share, false))
    });
    let named: Vec<WhyWait> = named.collect();
    let of_threads = names.iter().filter_map(|name| {
        let in_trial = |it: &Looked<'_>| {
            let own = it.waits.waits.iter().filter(|wait| *name == of_name(wait));
            let ns: u64 = own.map(|wait| wait.ns.saturating_sub(wait.idle_ns)).sum();
            ns as f64 / it.wall_ns
        };
        let found = all().filter(|wait| of_name(wait) == *name).map(|wait| wait.looks);
        if found.fold(0, u32::saturating_add) < LOOKS_MIN {
            return None;
        }
        // Of a short trial few looks find a wait, and the median of few is 0.
        let share = mean_estimate(&looked.iter().map(in_trial).collect::<Vec<_>>())?;
        let turns = share_of(&looked, |wait| of_name(wait) == *name, |wait| wait.turns_ns);
        let is_in_turns = turns.zip(estimate(&still)).is_some_and(|(turns, still)| {
            still.point > 0.0 && turns.point >= 0.5 * TURNS * still.point
        });
        let is_held = name.0 == WaitKind::Lock || may_be_held(name.0, name.1) && is_in_turns;
        Some(of(*name, share, is_held))
    });
    WhyTime {
        cpus,
        cpus_given: looked.iter().filter_map(|it| it.given).max(),
        ready: over(&looked, |it| Some(it.ready_ns? / it.wall_ns)),
        throttled: estimate(&plain.iter().filter_map(|it| share_of_quota(it)).collect::<Vec<_>>()),
        workers: over(&looked, |it| Some(it.workers().count() as f64)),
        ran: over(&looked, |it| Some((it.workers().next()? / it.wall_ns).min(1.0))),
        busiest: over(&looked, |it| it.busiest()),
        alone: over(&looked, |it| it.alone()),
        threads: longest_first(of_threads.collect()),
        cpu: estimate(&cpu_ppm.iter().map(|ppm| ppm / 1e6).collect::<Vec<_>>()),
        kernel: estimate(&counters.iter().filter_map(kernel).collect::<Vec<_>>()),
        still: estimate(&still),
        switches_per_s: estimate(&counters.iter().filter_map(switches).collect::<Vec<_>>()),
        kinds: longest_first(kinds.collect()),
        waited: longest_first(named),
        unasked: looked
            .iter()
            .map(|it| &it.waits.unasked)
            .find(|it| !it.is_empty())
            .cloned()
            .unwrap_or_default(),
    }
}

fn of(
    (kind, what, holder): (WaitKind, &String, &String),
    share: Estimate,
    is_held: bool,
) -> WhyWait {
    WhyWait { kind, what: what.clone(), holder: holder.clone(), share, is_held }
}

/// What tells two waits apart.
fn of_name(wait: &Wait) -> (WaitKind, &String, &String) {
    (wait.kind, &wait.what, &wait.holder)
}

/// A wait that fewer looks found is not named.
const LOOKS_MIN: u32 = 3;

/// A thread with at least this part of the busiest one's CPU time works.
const WORKING_PART: f64 = 0.05;

/// What looks saw of a trial.
struct Looked<'a> {
    waits: &'a Waits,
    /// By what a time in ns in which nothing ran becomes a share of the elapsed time.
    per_ns: f64,
    wall_ns: f64,
    cpu_ns: Option<f64>,
    ready_ns: Option<f64>,
    /// The number of CPUs that it could use, and that its threads kept themselves to.
    given: Option<u32>,
    cpus: Option<u32>,
}

impl<'a> Looked<'a> {
    /// Returns what looks saw, held against the CPU time that the kernel counted: looks may take what ran between
    /// them for still. `None` of a trial that nobody looked at.
    fn at(record: &'a Record) -> Option<Self> {
        let measured = record.measured.as_ref().filter(|it| it.counters.wall_ns > 0)?;
        let waits = measured.waits.as_deref()?;
        let wall = measured.counters.wall_ns as f64;
        // On these CPUs something ran for at least this long.
        let given = record.observed.get(AFFINITY).and_then(|list| count(list));
        // Its threads may pin themselves to some of them.
        let cpus = given.map(|given| waits.cpus.map_or(given, |own| own.min(given)));
        let cpu_ns = cpu_ns(&measured.counters).map(|ns| ns as f64);
        let ran = given.zip(cpu_ns);
        let ran = ran.map_or(0.0, |(cpus, ns)| ns / f64::from(cpus.max(1)));
        let most = (wall - ran).max(0.0) / (waits.still_ns.max(1) as f64);
        let ready_ns = measured.counters.queue_wait_ns.map(|ns| ns as f64);
        let per_ns = most.min(1.0) / wall;
        Some(Looked { waits, per_ns, wall_ns: wall, cpu_ns, ready_ns, given, cpus })
    }

    /// Returns the CPU time of each thread that worked, in ns, the most first.
    fn workers(&self) -> impl Iterator<Item = f64> {
        let each = self.waits.cpu_each_ns.iter().map(|ns| *ns as f64);
        let most = each.clone().next().unwrap_or_default();
        each.filter(move |ns| *ns >= WORKING_PART * most)
    }

    /// Returns the part of the elapsed time in which the busiest thread ran, or was ready as much as all were; `None` where
    /// another one ran nearly as long.
    fn busiest(&self) -> Option<f64> {
        let (most, second) = (self.workers().next()?, self.workers().nth(1));
        if second.is_some_and(|second| second >= HELD * most) {
            return None;
        }
        let ready = self.ready_ns? / self.cpu_ns.filter(|ns| *ns > 0.0)?;
        Some((most * (1.0 + ready) / self.wall_ns).min(1.0))
    }

    /// Returns the part of the elapsed time in which looks found the thread alone that most often was.
    fn alone(&self) -> Option<f64> {
        let alone = self.waits.runners.iter().map(|one| one.alone_ns).max()?;
        Some((alone as f64 / self.wall_ns).min(1.0))
    }

    fn part(&self, of_ns: u64) -> f64 {
        of_ns as f64 * self.per_ns
    }
}

fn estimate(values: &[f64]) -> Option<Estimate> {
    Some(median_located(values)?.estimate(|x| x))
}

/// Returns what is known of trials, over those that know it.
fn over(looked: &[Looked<'_>], of: impl Fn(&Looked<'_>) -> Option<f64>) -> Option<Estimate> {
    estimate(&looked.iter().filter_map(of).collect::<Vec<_>>())
}

/// Returns the number of CPUs in a list: 3 of "0,2-3".
fn count(list: &str) -> Option<u32> {
    list.split(',').try_fold(0, |sum: u32, run| {
        let (first, last) = run.split_once('-').unwrap_or((run, run));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        sum.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

/// Returns the share of the elapsed time that some waits explain, over trials.
fn share(looked: &[Looked<'_>], of: impl Fn(&Wait) -> bool) -> Option<Estimate> {
    share_of(looked, of, |wait| wait.still_ns)
}

fn share_of(
    looked: &[Looked<'_>],
    of: impl Fn(&Wait) -> bool,
    time: fn(&Wait) -> u64,
) -> Option<Estimate> {
    let in_trial = |it: &Looked<'_>| {
        let own = it.waits.waits.iter().filter(|wait| of(wait));
        it.part(own.map(time).fold(0, u64::saturating_add))
    };
    estimate(&looked.iter().map(in_trial).collect::<Vec<_>>())
}

fn longest_first(mut waits: Vec<WhyWait>) -> Vec<WhyWait> {
    waits.retain(|wait| wait.share.high >= LISTED_MIN);
    waits.sort_by(|a, b| b.share.point.total_cmp(&a.share.point));
    waits.truncate(LISTED_MAX);
    waits
}

/// Returns an estimate if it has numbers enough for an interval that assumes no distribution.
pub(super) fn decided(estimate: &Option<Estimate>) -> Option<Estimate> {
    estimate.filter(|it| it.samples as usize >= BLOCKS_FREE)
}

/// Returns the part of the elapsed time in which a quota held a program back, where much of it could be saved.
pub(super) fn held_back(time: &WhyTime) -> Option<Estimate> {
    decided(&time.throttled).filter(|share| share.low >= LIVES_ON)
}

/// Returns the CPU use of a program of which one thread ran at a time; `None` of one whose threads may have run together.
fn one_at_a_time(time: &WhyTime) -> Option<Estimate> {
    let is_one = time.cpus.is_none_or(|cpus| cpus < 2)
        || time.workers.is_none_or(|workers| workers.high < 1.5);
    decided(&time.cpu).filter(|cpu| is_one && cpu.high <= ONE_CPU)
}

/// Returns the part of the elapsed time in which the program ran, or was ready to run.
pub(super) fn running(time: &WhyTime) -> Option<Estimate> {
    let one = one_at_a_time(time);
    let still = || decided(&time.still);
    let ran = || {
        still().map(|it| Estimate {
            point: 1.0 - it.point,
            low: 1.0 - it.high,
            high: 1.0 - it.low,
            ..it
        })
    };
    one.or_else(ran)
}

/// Returns the sum of the shares of some kinds of waits, each at one end of its interval.
fn sum(time: &WhyTime, kinds: &[WaitKind], end: fn(&Estimate) -> f64) -> f64 {
    let own = time.kinds.iter().filter(|wait| kinds.contains(&wait.kind));
    own.map(|wait| end(&wait.share)).sum()
}

/// Returns the most of the elapsed time that can depend on a resource, by what the program did with nothing
/// taken: 1 where too little is known.
///
/// What it needs of a CPU, memory or cache lies in the time in which it ran or was ready to; what it needs of
/// storage and timers in the time in which it was still.
pub(super) fn most(time: &WhyTime, resource: Resource) -> f64 {
    let still = decided(&time.still);
    let idle = || {
        let by_cpu = one_at_a_time(time).map(|cpu| 1.0 - cpu.low);
        still.map(|it| it.high).into_iter().chain(by_cpu).fold(1.0, f64::min)
    };
    let less = |kinds: &[WaitKind]| match still {
        Some(_) => idle() - sum(time, kinds, |share| share.low),
        None => idle(),
    };
    match resource {
        Resource::Cpu | Resource::Memory | Resource::Cache => still.map_or(1.0, |it| 1.0 - it.low),
        Resource::Storage => less(&[WaitKind::Pipe, WaitKind::Timer]),
        Resource::Timer => less(&[WaitKind::Pipe, WaitKind::Storage]),
        Resource::Queue => {
            decided(&time.switches_per_s).map_or(1.0, |it| it.high * WAKE_UP_MAX_S).min(1.0)
        }
    }
}

/// Returns the kind of wait that takes at least half of the elapsed time.
pub(super) fn longest(time: &WhyTime) -> Option<&WhyWait> {
    time.kinds.iter().find(|wait| decided(&Some(wait.share)).is_some_and(|share| share.low >= 0.5))
}

/// Returns the share of the elapsed time that the program waited for a resource, as far as a kind of wait says
/// so; `None` where waits say nothing of it.
pub(super) fn waited(time: &WhyTime, resource: Resource) -> Option<(f64, f64)> {
    decided(&time.still)?;
    let kinds: &[WaitKind] = match resource {
        Resource::Storage => &[WaitKind::Storage, WaitKind::Memory],
        Resource::Timer => &[WaitKind::Timer, WaitKind::Event],
        _ => return None,
    };
    Some((sum(time, kinds, |share| share.low), sum(time, kinds, |share| share.high)))
}
