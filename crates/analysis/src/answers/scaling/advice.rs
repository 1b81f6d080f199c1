//! The answer first, and what to do.

use super::input::ScaleInput;
use super::level::{Level, chosen};
use super::trials::ScaleTrial;
use super::words::{figure, percent, percent_of, with_interval};
use crate::stats::order;
use model::{Bottleneck, ScaleAdvice, ScaleCause, ScaleCurve, ScaleLevel, ScaleWork};

/// Throughput within so much of the best counts as the best: fewer workers for less than a
/// twentieth.
const NEAR_BEST: f64 = 0.95;

/// Work per CPU second within a tenth of the best is no waste.
const NEAR_CHEAPEST: f64 = 0.9;

/// From here on, others beside the trials are reported: a tenth of the machine.
const DISTURBED: f64 = 0.1;

/// Returns only n that were measured are advised: a fitted optimum may lie where nobody has looked.
pub(super) fn advice(described: &[ScaleLevel], causes: &[ScaleCause]) -> ScaleAdvice {
    let height = |level: &ScaleLevel| level.throughput.map(|it| it.point);
    let cost = |level: &ScaleLevel| level.cpu_throughput.map(|it| it.point);
    let most = |of: &dyn Fn(&ScaleLevel) -> Option<f64>| {
        described.iter().filter_map(of).fold(0.0, f64::max)
    };
    let (best, cheapest) = (most(&height), most(&cost));
    let near = |level: &&ScaleLevel| height(level).is_some_and(|x| x >= NEAR_BEST * best);
    let for_throughput = described.iter().find(near);
    let cheap = |level: &&ScaleLevel| cost(level).is_some_and(|x| x >= NEAR_CHEAPEST * cheapest);
    let for_cost = described.iter().filter(cheap).max_by(|a, b| {
        // Of those within a twentieth of the fastest, the one with the fewest workers.
        let stands = |level: &ScaleLevel| height(level).unwrap_or(0.0);
        let same = stands(a).min(stands(b)) >= NEAR_BEST * stands(a).max(stands(b));
        if same { b.n.total_cmp(&a.n) } else { stands(a).total_cmp(&stands(b)) }
    });
    let mut sentences = Vec::new();
    if let Some(level) = for_throughput {
        let speedup = match &level.speedup {
            Some(speedup) => format!("{} times one worker", with_interval(speedup)),
            None => "the throughput of one worker".into(),
        };
        sentences.push(format!(
            "For throughput: n = {} ({speedup}); no other n measured gives 5 % more.",
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
pub(super) fn answer(
    described: &[ScaleLevel],
    curve: &ScaleCurve,
    causes: &[ScaleCause],
    work: &ScaleWork,
) -> Vec<String> {
    let mut answer = Vec::new();
    let best = described.iter().max_by(|a, b| {
        let height = |level: &ScaleLevel| level.throughput.map_or(0.0, |it| it.point);
        height(a).total_cmp(&height(b))
    });
    if let Some((best, throughput)) = best.and_then(|best| Some((best, best.throughput?))) {
        let times = match &best.speedup {
            Some(speedup) => format!(", {} times one worker", with_interval(speedup)),
            None => String::new(),
        };
        let share = best.speedup.map(|speedup| speedup.point / best.n);
        let share = share.map(|share| format!(" ({} of n times one)", percent(share)));
        answer.push(format!(
            "The most throughput measured: {} {} at n = {}{times}{}.",
            with_interval(&throughput),
            work.unit,
            figure(best.n),
            share.unwrap_or_default()
        ));
    }
    for cause in causes {
        let lost = match (&cause.lost, cause.cause) {
            (Some(lost), cause_of) if cause_of != Bottleneck::Nothing => {
                format!(" (at n = {}, {} is lost)", figure(cause.at), percent_of(lost))
            }
            _ => String::new(),
        };
        answer.push(format!("{}{lost}.", cause.sentence));
    }
    let peak = &curve.peak.sentence;
    let law = match chosen(curve) {
        Some(fit) => format!("By the {} law: {peak}.", fit.law),
        None => format!("{}.", capital(&curve.reason)),
    };
    answer.push(law);
    answer
}

/// Returns what a reader should know before believing it.
pub(super) fn remarks(
    input: &ScaleInput<'_>,
    levels: &[Level<'_>],
    described: &[ScaleLevel],
    work: &ScaleWork,
    curve: &ScaleCurve,
) -> Vec<String> {
    let mut remarks = Vec::new();
    if input.session.is_some() && !work.counted {
        remarks.push(
            "Each trial is assumed to do the same work at each n (throughput is 1 divided by the \
             execution time); --work reads the amount of work from the program's output."
                .into(),
        );
    }
    if work.grows {
        remarks.push("The work grows with n, so Gustafson's law is also fitted.".into());
    }
    if input.session.is_some() && !levels.iter().any(|level| level.n == 1.0) {
        remarks.push(
            "One worker was not measured: there is no speedup, and the lost time cannot be divided."
                .into(),
        );
    }
    let cpus = input.cpus.map_or(1.0, f64::from);
    let others = |trial: &ScaleTrial| {
        Some((trial.foreign_ns? + trial.steal_ns.unwrap_or(0.0)) / trial.wall_ns / cpus)
    };
    let all: Vec<f64> =
        levels.iter().flat_map(|level| &level.trials).filter_map(|trial| others(trial)).collect();
    if let Some(share) = order::mean(&all).filter(|share| *share >= DISTURBED) {
        remarks.push(format!(
            "Other programs used {} of the CPUs during the trials, so execution times include \
             their interference.",
            percent(share)
        ));
    }
    if described.iter().any(|level| level.account.as_ref().is_some_and(is_unsplit)) {
        remarks.push(
            "At some n the processes were too short-lived for sampling: their time on no CPU is \
             one part."
                .into(),
        );
    }
    if curve.intervals == "t" && curve.chosen.is_some() {
        remarks.push(
            "With fewer than 4 trials at an n, the intervals of the laws are Student's t \
             intervals, which assume the same relative scatter at each n."
                .into(),
        );
    }
    remarks
}

fn is_unsplit(account: &model::ScaleAccount) -> bool {
    account.parts.iter().any(|part| part.into == model::ScaleLoss::OffCpu)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
