//! The signs that tell causes apart.

use super::case::{At, Case};
use super::level::{Level, ratio};
use super::rows::{self, Row};
use super::trials::ScaleTrial;
use super::words::percent;

/// Where a spinning lock's holder loses its CPU, all others burn theirs until it is back; where
/// memory is short, no more workers run at a time than before. So CPU time that is more than twice
/// as much above one worker's when there are more workers than CPUs speaks for spinning.
const CROWDED: f64 = 2.0;

/// So near to a whole number of CPUs a program is kept to them: what starting and ending takes.
const WHOLE_CPU: f64 = 0.03;

/// Of threads that share a CPU one loses it at the end of each slice, some milliseconds, to another
/// that is ready; of threads that work in turn none does. So much more often in a second of elapsed
/// time than with one worker speaks for sharing.
const PREEMPTED_PER_S: f64 = 50.0;

/// What is known of the trials at one n beside those with one worker: means over trials.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signs {
    /// CPU time per operation over that of one worker, less 1.
    pub(super) cpu_growth: Option<f64>,
    /// The part of what it grew by that was spent in the kernel.
    pub(super) system_share: Option<f64>,
    /// How long a worker is blocked each time, beyond what one worker is.
    pub(super) blocked_each_ns: Option<f64>,
    /// What n workers lost beyond one, by those switches.
    pub(super) lost_each_ns: Option<f64>,
    /// Switches because it waited, per trial, beyond those of one worker.
    pub(super) more_switches: Option<f64>,
    /// How often per second of elapsed time a thread lost its CPU while it was ready to go on,
    /// beyond what one worker did.
    pub(super) preempted_per_s: Option<f64>,
    /// CPU time of others, as a share of the elapsed time of all CPUs.
    pub(super) foreign: Option<f64>,
    /// CPU time that the hypervisor gave away, as a share of the same.
    pub(super) steal: Option<f64>,
    /// Time waited for a CPU, over all workers, as a share of the same.
    pub(super) waiting: Option<f64>,
    /// CPUs used on average: CPU time by elapsed time.
    pub(super) used: Option<f64>,
    /// Time for which a quota held the program back, as a share of the elapsed time.
    pub(super) throttled: Option<f64>,
}

impl Signs {
    /// Returns the whole number of CPUs that the program is kept to, fewer than its workers: neighbours
    /// take some of each and never all but a whole one, to the percent.
    pub(super) fn kept_to(&self, n: f64) -> Option<f64> {
        let whole = self.used?.round();
        let near = (self.used? / whole - 1.0).abs() <= WHOLE_CPU;
        (whole >= 1.0 && whole < n && near).then_some(whole)
    }

    /// Reports whether threads take a CPU from one another: more of them are ready to run than have one.
    pub(super) fn is_crowded(&self) -> bool {
        self.preempted_per_s.is_some_and(|rate| rate >= PREEMPTED_PER_S)
    }

    pub(super) fn of(one: &Level<'_>, at: &Level<'_>, cpus: Option<u32>) -> Self {
        let each = |level: &Level<'_>, of: fn(&ScaleTrial) -> Option<f64>| {
            level.mean(|trial| trial.each(of(trial)))
        };
        let more = |of: fn(&ScaleTrial) -> Option<f64>| Some(each(at, of)? - each(one, of)?);
        let off = |trial: &ScaleTrial| match (trial.blocked_ns, trial.absent_ns) {
            (Some(blocked), Some(absent)) => Some(blocked + absent),
            _ => Some((trial.n * trial.wall_ns - trial.cpu_ns?).max(0.0)),
        };
        let cpus = cpus.map_or(1.0, f64::from);
        let of_wall = |of: fn(&ScaleTrial) -> Option<f64>, among: f64| {
            at.mean(|trial| Some(of(trial)? / trial.wall_ns / among))
        };
        let cpu_ns = |trial: &ScaleTrial| trial.cpu_ns;
        let switches = more(|trial| trial.voluntary);
        let by_switch = |ns: f64| switches.filter(|count| *count > 0.0).map(|count| ns / count);
        let lost = more(|trial| Some(trial.n * trial.wall_ns));
        let preempted = |level: &Level<'_>| {
            level.mean(|trial| Some(trial.involuntary? / (trial.wall_ns / 1e9)))
        };
        Signs {
            cpu_growth: each(at, cpu_ns).zip(each(one, cpu_ns)).map(|(at, one)| at / one - 1.0),
            system_share: more(|trial| trial.system_ns)
                .zip(more(cpu_ns))
                .filter(|(_, cpu)| *cpu > 0.0)
                .map(|(system, cpu)| (system / cpu).clamp(0.0, 1.0)),
            blocked_each_ns: more(off).and_then(by_switch),
            lost_each_ns: lost.filter(|lost| *lost > 0.0).and_then(by_switch),
            more_switches: switches,
            preempted_per_s: preempted(at).zip(preempted(one)).map(|(at, one)| at - one),
            foreign: of_wall(|trial| trial.foreign_ns, cpus),
            steal: of_wall(|trial| trial.steal_ns, cpus),
            waiting: of_wall(|trial| trial.waiting_ns, cpus),
            used: of_wall(|trial| trial.cpu_ns, 1.0),
            throttled: of_wall(|trial| trial.throttled_ns, 1.0),
        }
    }
}

/// Reports whether CPU time that grew by `growth` within the CPUs grows much further beyond them.
pub(super) fn by_crowd(case: &Case<'_>, one: At<'_>, growth: f64) -> Option<(Row, String)> {
    let most = case.most().filter(|most| {
        case.within().is_some_and(|within| most.described.n >= 2.0 * within.described.n)
    })?;
    let of = |level: &Level<'_>| level.values(ScaleTrial::cpu_each_ns);
    let beyond = ratio(&of(most.level), &of(one.level))?.point - 1.0;
    (beyond >= CROWDED * growth).then(|| {
        let described = format!(
            "with {} workers, more than the CPUs, it is {} higher: workers spin while the worker \
             that they wait for has no CPU",
            super::words::figure(most.described.n),
            percent(beyond)
        );
        (rows::SPINNING, described)
    })
}
