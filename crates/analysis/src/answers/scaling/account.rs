//! Where the time of n workers went: n times the elapsed time, divided.

use super::held::Held;
use super::level::{Level, centre};
use super::trials::ScaleTrial;
use crate::stats::order;
use model::{Estimate, ScaleAccount, ScaleLoss, ScalePart};

/// The parts of one trial's budget, in the order in which they are shown.
type Shares = Vec<(ScaleLoss, f64)>;

/// Returns the account of a level; `one` is the level with one worker. `None` without CPU time.
///
/// Each share is the mean over the trials of the part by n times the elapsed time, so that they sum
/// to 1 whatever the trials are. What one worker needed is itself known with an error: it is added,
/// in squares, to the intervals of the two parts that it divides.
pub(super) fn account(level: &Level, one: &Level, cpus: Option<u32>) -> Option<ScaleAccount> {
    let alone = centre(&one.values(ScaleTrial::cpu_each_ns))?;
    let split: Vec<&ScaleTrial> = level.trials.iter().copied().filter(|it| is_split(it)).collect();
    let whole = 2 * split.len() >= level.trials.len();
    let trials = if whole { split } else { level.trials.clone() };
    let each: Vec<Shares> =
        trials.iter().filter_map(|trial| shares(trial, alone.point, whole, cpus)).collect();
    let budget_ns = order::mean(&trials.iter().map(|trial| budget_ns(trial)).collect::<Vec<_>>())?;
    let error = (alone.high - alone.low) / 2.0 / budget_ns;
    let part = |(place, &(into, _)): (usize, &(ScaleLoss, f64))| {
        let values: Vec<f64> = each.iter().map(|shares| shares[place].1).collect();
        let divided = matches!(into, ScaleLoss::Useful | ScaleLoss::MoreCpu);
        let extra = if divided { error } else { 0.0 };
        Some(ScalePart { into, share: widened(centre(&values)?, extra) })
    };
    let parts: Vec<ScalePart> =
        each.first()?.iter().enumerate().map(part).collect::<Option<_>>()?;
    let named = parts.iter().filter(|part| part.into != ScaleLoss::Rest);
    let explained = named.map(|part| part.share.point).sum();
    let waits = Held::of(level).map(|held| held.waits).unwrap_or_default();
    Some(ScaleAccount { budget_ns, parts, explained, waits })
}

/// Returns the share of a part; 0 where the account has no such part.
pub(super) fn share(account: &ScaleAccount, into: ScaleLoss) -> f64 {
    let part = account.parts.iter().find(|part| part.into == into);
    part.map_or(0.0, |part| part.share.point)
}

/// Returns all that one worker is waited for: n times the elapsed time, per unit of work.
fn budget_ns(trial: &ScaleTrial) -> f64 {
    trial.n * trial.wall_ns / trial.work
}

fn is_split(trial: &ScaleTrial) -> bool {
    trial.waiting_ns.is_some() && trial.blocked_ns.is_some() && trial.absent_ns.is_some()
}

fn shares(trial: &ScaleTrial, alone_ns: f64, whole: bool, cpus: Option<u32>) -> Option<Shares> {
    let budget = budget_ns(trial);
    let of = |time: Option<f64>| Some(trial.each(time)? / budget);
    let cpu = of(trial.cpu_ns)?;
    let useful = alone_ns / budget;
    let mut parts = vec![(ScaleLoss::Useful, useful), (ScaleLoss::MoreCpu, cpu - useful)];
    let throttled = held_back(trial, cpus).and_then(|ns| of(Some(ns))).unwrap_or(0.0);
    if whole {
        let waiting = of(trial.waiting_ns)?;
        let throttled = throttled.min(waiting);
        parts.push((ScaleLoss::Throttled, throttled));
        parts.push((ScaleLoss::Waiting, waiting - throttled));
        parts.push((ScaleLoss::Blocked, of(trial.blocked_ns)?));
        parts.push((ScaleLoss::Absent, of(trial.absent_ns)?));
    } else {
        // The kernel counts what a quota holds back, however short the program is.
        let throttled = throttled.min((1.0 - cpu).max(0.0));
        parts.push((ScaleLoss::Throttled, throttled));
        parts.push((ScaleLoss::OffCpu, 1.0 - cpu - throttled));
    }
    let sum: f64 = parts.iter().map(|(_, share)| share).sum();
    parts.push((ScaleLoss::Rest, 1.0 - sum));
    Some(parts)
}

/// Returns how long workers waited because a quota held the program back. The kernel counts the CPUs on
/// which it did; where there are more workers than CPUs, several wait at each.
fn held_back(trial: &ScaleTrial, cpus: Option<u32>) -> Option<f64> {
    let crowd = cpus.map_or(1.0, |cpus| (trial.n / f64::from(cpus)).max(1.0));
    Some(trial.throttled_ns? * crowd)
}

fn widened(estimate: Estimate, error: f64) -> Estimate {
    let below = (estimate.point - estimate.low).hypot(error);
    let above = (estimate.high - estimate.point).hypot(error);
    Estimate { low: estimate.point - below, high: estimate.point + above, ..estimate }
}
