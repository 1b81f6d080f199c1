//! The signs that tell causes apart.

use super::level::Level;
use super::trials::ScaleTrial;

/// So near to a whole number of CPUs a program is kept to them: what starting and ending takes.
const WHOLE_CPU: f64 = 0.03;

/// Of threads that share a CPU one loses it at the end of each slice, some milliseconds, to another
/// that is ready; of threads that work in turn none does. So much more often in a second of elapsed
/// time than with one worker speaks for sharing.
const PREEMPTED_PER_S: f64 = 50.0;

/// What is known of the trials at one n beside those with one worker: means over trials. What is not
/// known is 0 where it would have to be much to be a sign.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signs {
    /// CPU time per operation over that of one worker, less 1.
    pub(super) cpu_growth: f64,
    /// The part of what it grew by that was spent in the kernel.
    pub(super) system_share: f64,
    /// How long a worker is blocked each time, beyond what one worker is.
    pub(super) blocked_each_ns: Option<f64>,
    /// What n workers lost beyond one, by those switches.
    pub(super) lost_each_ns: Option<f64>,
    /// Switches because it waited, per trial, beyond those of one worker.
    pub(super) more_switches: f64,
    /// How often per second of elapsed time a thread lost its CPU while it was ready to go on,
    /// beyond what one worker did.
    pub(super) preempted_per_s: f64,
    /// CPU time of others, as a share of the elapsed time of all CPUs.
    pub(super) foreign: f64,
    /// CPU time that the hypervisor gave away, as a share of the same.
    pub(super) steal: f64,
    /// Time waited for a CPU, over all workers, as a share of the same.
    pub(super) waiting: Option<f64>,
    /// CPUs used on average: CPU time by elapsed time.
    pub(super) used: Option<f64>,
    /// Time for which a quota held the program back, as a share of the elapsed time.
    pub(super) throttled: f64,
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
        self.preempted_per_s >= PREEMPTED_PER_S
    }

    /// Returns what is known at one level beside that of one worker.
    pub(super) fn of(one: &Level<'_>, at: &Level<'_>, cpus: Option<u32>) -> Self {
        let more = |of: fn(&ScaleTrial) -> Option<f64>| Some(at.mean(of)? - one.mean(of)?);
        let each = |of: fn(&ScaleTrial) -> Option<f64>| {
            let of = |level: &Level<'_>| level.mean(|trial| trial.each(of(trial)));
            Some(of(at)? - of(one)?)
        };
        let off = |trial: &ScaleTrial| match (trial.blocked_ns, trial.absent_ns) {
            (Some(blocked), Some(absent)) => Some(blocked + absent),
            _ => Some((trial.n * trial.wall_ns - trial.cpu_ns?).max(0.0)),
        };
        let cpus = cpus.map_or(1.0, f64::from);
        let of_wall = |of: fn(&ScaleTrial) -> Option<f64>, among: f64| {
            at.mean(|trial| Some(of(trial)? / trial.wall_ns / among))
        };
        let switches = each(|trial| trial.voluntary);
        let by_switch = |ns: f64| switches.filter(|count| *count > 0.0).map(|count| ns / count);
        let lost = each(|trial| Some(trial.n * trial.wall_ns)).filter(|lost| *lost > 0.0);
        let grown = at.mean(ScaleTrial::cpu_each_ns).zip(one.mean(ScaleTrial::cpu_each_ns));
        let system = each(|trial| trial.system_ns).zip(each(|trial| trial.cpu_ns));
        let system = system.filter(|(_, cpu)| *cpu > 0.0);
        let preempted = more(|trial| Some(trial.involuntary? / (trial.wall_ns / 1e9)));
        Signs {
            cpu_growth: grown.map_or(0.0, |(at, one)| at / one - 1.0),
            system_share: system.map_or(0.0, |(system, cpu)| (system / cpu).clamp(0.0, 1.0)),
            blocked_each_ns: each(off).and_then(by_switch),
            lost_each_ns: lost.and_then(by_switch),
            more_switches: switches.unwrap_or_default(),
            preempted_per_s: preempted.unwrap_or_default(),
            foreign: of_wall(|trial| trial.foreign_ns, cpus).unwrap_or_default().min(1.0),
            steal: of_wall(|trial| trial.steal_ns, cpus).unwrap_or_default().min(1.0),
            waiting: of_wall(|trial| trial.waiting_ns, cpus),
            used: of_wall(|trial| trial.cpu_ns, 1.0),
            throttled: of_wall(|trial| trial.throttled_ns, 1.0).unwrap_or_default(),
        }
    }
}
