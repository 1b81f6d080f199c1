//! The answer first, and what to do.

use super::level::{Level, chosen};
use super::trials::ScaleTrial;
use super::words::{figure, percent, percent_of, with_interval};
use crate::stats::order;
use model::{Bottleneck, ScaleAdvice, ScaleCause, ScaleLevel, ScaleLoss, Scaling};
use wording::capital;

/// Throughput within so much of the best counts as the best: fewer workers for less than a
/// twentieth.
const NEAR_BEST: f64 = 0.95;

/// Work per CPU second within a tenth of the best is no waste.
const NEAR_CHEAPEST: f64 = 0.9;

/// From here on, others beside the trials are reported: a tenth of the machine.
const DISTURBED: f64 = 0.1;

/// Returns only n that were measured are advised: a fitted optimum may lie where nobody has looked.
/// `is_noise` says that they differ by no more than chance.
pub(super) fn advice(
    described: &[ScaleLevel],
    causes: &[ScaleCause],
    is_noise: bool,
) -> ScaleAdvice {
    let height = |level: &ScaleLevel| level.throughput.map(|it| it.point);
    let cost = |level: &ScaleLevel| level.cpu_throughput.map(|it| it.point);
    let most = |of: &dyn Fn(&ScaleLevel) -> Option<f64>| {
        described.iter().filter_map(of).fold(0.0, f64::max)
    };
    let (best, cheapest) = (most(&height), most(&cost));
    let near = |level: &&ScaleLevel| height(level).is_some_and(|x| x >= NEAR_BEST * best);
    // One trial has no interval; where that is all there is, as in a table, the rows are what they are.
    let is_table = described.iter().all(|level| level.trials < 2);
    // Workers that are not shown to gain anything are not advised.
    let is_shown = |level: &&ScaleLevel| {
        let is_known = is_table || level.trials > 1;
        level.speedup.is_none_or(|speedup| speedup.low > 1.0 && is_known)
    };
    let best_shown = described.iter().filter(near).find(is_shown);
    let one = described.iter().find(|level| level.n == 1.0);
    let for_throughput = best_shown.or(one).filter(|_| !is_noise);
    let others = if best_shown.is_some() { "gives 5 % more" } else { "is shown to give more" };
    let cheap = |level: &&ScaleLevel| cost(level).is_some_and(|x| x >= NEAR_CHEAPEST * cheapest);
    let cheap_shown = described.iter().filter(cheap).any(|level| is_shown(&level));
    let cheap = described.iter().filter(cheap).filter(|level| !cheap_shown || is_shown(level));
    let for_cost = cheap.max_by(|a, b| {
        // Of those within a twentieth of the fastest, the one with the fewest workers.
        let stands = |level: &ScaleLevel| height(level).unwrap_or(0.0);
        let same = stands(a).min(stands(b)) >= NEAR_BEST * stands(a).max(stands(b));
        if same { b.n.total_cmp(&a.n) } else { stands(a).total_cmp(&stands(b)) }
    });
    let mut sentences = Vec::new();
    if let Some(level) = for_throughput {
        let speedup = match &level.speedup {
            Some(speedup) => format!(" ({} times one worker)", with_interval(speedup)),
            None => String::new(),
        };
        sentences.push(format!(
            "For throughput: n = {}{speedup}; no other n measured {others}.",
            figure(level.n)
        ));
    }
    if let Some(level) = for_cost {
        sentences.push(format!(
            "For cost: n = {}, the fastest whose work per CPU second is within 10 % of the best.",
            figure(level.n)
        ));
    }
    sentences.extend(causes.iter().enumerate().map(|(rank, cause)| match rank {
        0 => format!("To go further: {}", cause.remedy),
        _ => format!("Then: {}", cause.remedy),
    }));
    ScaleAdvice {
        n_for_throughput: for_throughput.map(|level| level.n),
        n_for_cost: for_cost.map(|level| level.n),
        sentences,
    }
}

/// Returns the answer in plain sentences.
pub(super) fn answer(scaling: &Scaling) -> Vec<String> {
    let mut answer = Vec::new();
    let height = |level: &ScaleLevel| level.throughput.map_or(0.0, |it| it.point);
    let best = scaling.levels.iter().max_by(|a, b| height(a).total_cmp(&height(b)));
    if let Some((best, throughput)) = best.and_then(|best| Some((best, best.throughput?))) {
        let times = best.speedup.map_or(String::new(), |speedup| {
            let share = percent(speedup.point / best.n);
            format!(", {} times one worker ({share} of n times one)", with_interval(&speedup))
        });
        answer.push(format!(
            "The most throughput measured: {} {} at n = {}{times}.",
            with_interval(&throughput),
            scaling.work.unit,
            figure(best.n)
        ));
    }
    for cause in &scaling.causes {
        let lost = cause.lost.filter(|_| cause.cause != Bottleneck::Nothing);
        let lost = lost.map_or(String::new(), |lost| {
            format!(" (at n = {}, {} is lost)", figure(cause.at), percent_of(&lost))
        });
        answer.push(format!("{}{lost}.", cause.sentence));
    }
    let curve = &scaling.throughput;
    answer.push(match chosen(curve) {
        Some(fit) => format!("By the {} law: {}.", fit.law, curve.peak.sentence),
        None => format!("{}.", capital(&curve.reason)),
    });
    answer
}

/// Returns what a reader should know before believing it.
pub(super) fn remarks(scaling: &Scaling, levels: &[Level<'_>]) -> Vec<String> {
    let cpus = scaling.cpus.map_or(1.0, f64::from);
    let others = |trial: &&ScaleTrial| {
        Some((trial.foreign_ns? + trial.steal_ns.unwrap_or(0.0)) / trial.wall_ns / cpus)
    };
    let all: Vec<f64> = levels.iter().flat_map(|level| &level.trials).filter_map(others).collect();
    let disturbed = order::mean(&all).filter(|share| *share >= DISTURBED);
    let others = format!(
        "Other programs used {} of the CPUs during the trials, so execution times include their \
         interference.",
        percent(disturbed.unwrap_or_default().min(1.0))
    );
    let is_session = scaling.session.is_some();
    let accounts = scaling.levels.iter().filter_map(|level| level.account.as_ref());
    let mut parts = accounts.flat_map(|account| &account.parts);
    let remarks = [
        (
            is_session && !scaling.work.counted,
            "Each trial is assumed to do the same work at each n (throughput is 1 divided by the \
             execution time); --work reads the amount of work from the program's output.",
        ),
        (scaling.work.grows, "The work grows with n, so Gustafson's law is also fitted."),
        (
            !levels.iter().any(|level| level.n == 1.0),
            "One worker was not measured: there is no speedup, and the lost time cannot be divided.",
        ),
        (disturbed.is_some(), &others),
        (
            is_session && parts.any(|part| part.into == ScaleLoss::OffCpu),
            "At some n the processes were too short-lived for sampling: their time on no CPU is one \
             part.",
        ),
        (
            scaling.throughput.intervals == "t" && scaling.throughput.chosen.is_some(),
            "With fewer than 4 trials at an n, the intervals of the laws are Student's t intervals, \
             which assume the same relative scatter at each n.",
        ),
    ];
    remarks.into_iter().filter(|(holds, _)| *holds).map(|(_, remark)| remark.into()).collect()
}
