//! Which n to measure next, and whether any needs it.

use super::curve::weighted;
use super::level::NOTABLE;
use super::level::{laws_for, ratio};
use super::paired::{by_level, paired};
use super::trials::{ScaleTrial, is_on_one_cpu, trials};
use crate::session::need::{Need, given_up};
use crate::session::sample::Table;
use crate::stats::estimate::mean_estimate;
use crate::stats::order;
use laws::fit::{self, Reason};
use model::measures::AGAIN;
use model::{Design, Record, Treatment};
use model::{SCALE_COPIES as COPIES, SCALE_WORK as WORK, SCALE_WORKERS as WORKERS};

/// This number of levels or fewer are all measured in the base.
const FEW: usize = 6;

/// Returns the n of the base: all where there are few, else 1, the powers of two, the number of CPUs and
/// the largest, so that the curve is known everywhere before it is refined where it is least known.
pub fn coarse(levels: &[u64], cpus: u64) -> Vec<u64> {
    let last = levels.iter().max().copied();
    let kept =
        |n: &&u64| levels.len() <= FEW || n.is_power_of_two() || **n == cpus || Some(**n) == last;
    levels.iter().filter(kept).copied().collect()
}

/// Returns what the next block should measure of a program whose scaling is asked for.
///
/// The curve is as wide as its widest 95 % interval, relative to its height, at any n that may be
/// measured; it is asked to be as narrow as the design's precision. Of these n the next is the one
/// at which one more trial narrows the chosen curve most per time that it takes: the I-optimal
/// choice ([`laws::fit::Fit::gain`]). Where no law is identified, there is no curve to narrow, and
/// the n with the widest interval of its own is next. One worker is measured beside it, since each
/// speedup is held against it, and so that a drift of the machine shows.
///
/// It looks at widths alone, never at where the numbers lie. One question depends on them: workers that need more CPU
/// time than one are also measured on one CPU, which shows why.
pub fn next(design: &Design, records: &[&Record], treatments: &[Treatment]) -> Need {
    let table = Table::new(design, records.iter().copied());
    let counted = design.response(WORK).is_some();
    let all = trials(records.iter().copied(), counted);
    let is_plain_trial = |trial: &&ScaleTrial| trial.copies == 1 && !trial.one_cpu;
    let alone: Vec<&ScaleTrial> = all.iter().filter(is_plain_trial).collect();
    let blocked = alone.iter().filter_map(|it| Some((it.n, it.block, it.throughput()?)));
    let points = paired(&blocked.collect::<Vec<_>>()).points;
    let of = |treatment: &Treatment| treatment.level(WORKERS)?.parse::<f64>().ok();
    let is_plain = |treatment: &&Treatment| {
        let is = |factor: &str, plain: &str| treatment.level(factor).is_none_or(|it| it == plain);
        is(AGAIN, "no") && is(COPIES, "1") && !is_on_one_cpu(treatment)
    };
    let plain = treatments.iter().filter(is_plain);
    let plain: Vec<&Treatment> = plain.filter(|it| !given_up(&table, it)).collect();
    let allowed: Vec<f64> = plain.iter().filter_map(|treatment| of(treatment)).collect();
    let (ratio, n) = widest(&points, &allowed, &alone, design.precision);
    let wanted = |treatment: &&Treatment| {
        let own = of(treatment);
        ratio > 1.0 && (own == n || own == Some(1.0))
    };
    let open = treatments.iter().filter(|it| is_on_one_cpu(it) && !given_up(&table, it));
    let open: Vec<&Treatment> = open.filter(|it| is_to_confirm(&all, of(it))).collect();
    if let [placed] = open[..] {
        let beside = plain.into_iter().filter(|it| [Some(1.0), of(placed)].contains(&of(it)));
        let treatments = beside.chain([placed]).cloned().collect();
        return Need { ratio: f64::INFINITY, treatments, headline: None, confirms: true };
    }
    let treatments = plain.into_iter().filter(wanted).cloned().collect();
    Need { ratio, treatments, headline: None, confirms: false }
}

/// The most blocks in which workers are kept to one CPU.
const CONFIRMING_BLOCKS: usize = 6;

/// Returns whether it should be seen what n workers need on one CPU: where they need more CPU time per operation than
/// one, in as many blocks as without.
fn is_to_confirm(all: &[ScaleTrial], n: Option<f64>) -> bool {
    let plain = all.iter().filter(|trial| trial.copies == 1 && !trial.one_cpu);
    let each = |n: Option<f64>| -> Vec<f64> {
        let own = plain.clone().filter(|trial| Some(trial.n) == n);
        own.filter_map(ScaleTrial::cpu_each_ns).collect()
    };
    let grown = ratio(&each(n), &each(Some(1.0)));
    // One trial has no interval: little more may be chance.
    let notable = if each(n).len() > 1 { NOTABLE } else { 2.0 * NOTABLE };
    let done = all.iter().filter(|trial| trial.one_cpu).count();
    let blocks = each(n).len().saturating_sub(done).min(CONFIRMING_BLOCKS);
    grown.is_some_and(|grown| grown.low > 1.0 + notable) && done < blocks
}

/// Returns how wide the curve is, in precisions, and the n to measure next.
pub(super) fn widest(
    points: &[(f64, f64)],
    allowed: &[f64],
    trials: &[&ScaleTrial],
    precision: f64,
) -> (f64, Option<f64>) {
    let choice = weighted(points).and_then(|points| fit::choose(&laws_for(false), &points));
    let is_law =
        |reason: &Reason| !matches!(reason, Reason::Nearest { .. } | Reason::TooFewForEvidence);
    let chosen = choice.as_ref().ok().filter(|choice| is_law(&choice.reason));
    let Some(fitted) = chosen.and_then(|choice| choice.fit().ok()) else {
        return by_own_width(points, allowed, precision);
    };
    let relative = |&n: &f64| {
        let (low, high) = fitted.interval_at(n).ok()?;
        Some((high - low) / 2.0 / fitted.throughput(n).ok()?)
    };
    let width = allowed.iter().filter_map(relative).fold(0.0, f64::max);
    let longest = trials.iter().map(|trial| trial.wall_ns).fold(1.0, f64::max);
    let cost = |n: f64| {
        let own: Vec<f64> = trials.iter().filter(|it| it.n == n).map(|it| it.wall_ns).collect();
        order::mean(&own).unwrap_or(longest)
    };
    let gain = |n: f64| {
        let height = fitted.throughput(n).unwrap_or(f64::INFINITY);
        fitted.gain(n, 1.0 / (height * height), allowed) / cost(n)
    };
    let best = allowed.iter().copied().max_by(|a, b| gain(*a).total_cmp(&gain(*b)));
    (width / precision, best)
}

/// Returns the n whose own mean has the widest interval; one that was not measured is wider than any.
fn by_own_width(points: &[(f64, f64)], allowed: &[f64], precision: f64) -> (f64, Option<f64>) {
    let levels = by_level(points);
    let width = |n: f64| {
        let values = levels.iter().find(|(known, _)| *known == n).map(|(_, values)| values);
        let estimate = values.and_then(|values| mean_estimate(values));
        estimate.map_or(f64::INFINITY, |it| (it.high - it.low) / 2.0 / it.point.abs())
    };
    let widest = allowed.iter().copied().max_by(|a, b| width(*a).total_cmp(&width(*b)));
    // Nothing that can be measured needs nothing.
    (widest.map_or(0.0, width) / precision, widest)
}
