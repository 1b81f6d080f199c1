//! How single observations are distributed: the empirical distribution function of a response
//! whose trials kept many.
//!
//! Each trial has the same weight, however many observations it holds: the curve is the mean of the
//! trials' own distribution functions, and a quantile is read from that mean. (Quantiles of trials
//! are never averaged: the mean of 99th percentiles is the 99th percentile of nothing.)

use super::axis::Axis;
use super::body::{Body, Curve, Figure, Quantile};
use super::lines;
use super::material::{Material, levels_of};
use super::scale::Scale;
use super::ticks::Ticks;
use super::{mark_of, percent, px, style_class};
use crate::doc::{Column, Table};
use crate::words;
use maud::{Markup, html};
use model::{Estimate, Factor, Outcome, Record, Response, Treatment, Unit};
use std::borrow::Cow;
use std::collections::BTreeMap;
use wording::counted;
use wording::number::{Terms, count, value_in};

/// Observations that a typical trial of a treatment must hold.
const OBSERVATIONS_MIN: usize = 20;

/// Curves in one coordinate system.
const CURVES_MAX: usize = 6;

/// Trials that a curve is made of at most, evenly among all.
const TRIALS_MAX: usize = 200;

/// Observations that must lie beyond a quantile for it to be marked.
const BEYOND_MIN: f64 = 5.0;

/// Values that span more than this take a logarithmic axis.
const LOG_SPAN: f64 = 3.0;

/// The quantiles that are marked.
const MARKED: [(&str, f64); 4] = [("median", 0.5), ("p90", 0.9), ("p99", 0.99), ("largest", 1.0)];

/// Quantiles of which a curve is drawn below the tail, and those of the tail.
const BODY_STEPS: u32 = 38;
const BODY_END: f64 = 0.95;
const TAIL: [f64; 6] = [0.96, 0.97, 0.98, 0.99, 0.995, 1.0];

/// The distribution of the main response, or failing that of the first that has one.
/// It is drawn for the treatments of the first question where they have one, else for all.
pub(super) fn choose<'a>(
    material: &Material<'a, '_>,
    main: &'a Response,
    first: &[Treatment],
) -> Option<Figure<'a>> {
    let design = material.design;
    let all = std::iter::once(main).chain(design.responses.iter().filter(|r| r.name != main.name));
    let is_cpu = |response: &Response| {
        design.responses.iter().any(|other| other.cpu_twin.as_deref() == Some(&response.name))
    };
    let (response, by_treatment) = all
        .filter(|response| response.unit == Unit::Ns && !is_cpu(response))
        .find_map(|response| Some((response, observed(material.measured.records, response)?)))?;
    let asked = |treatment: &&Treatment| first.contains(treatment);
    let mut chosen: Vec<&Treatment> = by_treatment.keys().copied().filter(asked).collect();
    if chosen.len() < 2 {
        chosen = by_treatment.keys().copied().collect();
    }
    chosen.sort_by_cached_key(|treatment| importance(material, treatment));
    let left_out = chosen.len().saturating_sub(CURVES_MAX);
    chosen.truncate(CURVES_MAX);
    chosen.sort_by_cached_key(|treatment| words::place(design, treatment));
    let varying: Vec<&Factor> =
        design.factors.iter().filter(|factor| levels_of(factor, &chosen).len() > 1).collect();
    let names: Vec<String> = varying.iter().map(|factor| factor.name.clone()).collect();
    let curves = chosen.iter().enumerate().filter_map(|(style, treatment)| {
        let name = words::treatment(design, treatment, &names);
        curve(name, style, &by_treatment[treatment])
    });
    let (of, curves) = ("observations", curves.collect());
    let body = Body::Distributions { response: Cow::Borrowed(response), of, curves };
    let title = format!("{}: how single observations are distributed", words::label(response));
    let held = material.held(&chosen, &varying);
    Some(Figure { held, left_out, lines_of: "treatment".into(), ..Figure::bare(title, body) })
}

/// The observations of each completed trial by treatment, those that hold enough; `None` if there
/// are none, or if any number is the total of several operations: a mean of a batch has lost the
/// very tail that the chart is about.
fn observed<'r>(
    records: &[&'r Record],
    response: &Response,
) -> Option<BTreeMap<&'r Treatment, Vec<Vec<f64>>>> {
    let mut found: BTreeMap<&Treatment, Vec<Vec<f64>>> = BTreeMap::new();
    for record in records {
        let (Outcome::Completed { .. }, Some(measured)) = (&record.outcome, &record.measured)
        else {
            continue;
        };
        for series in measured.series.iter().filter(|series| series.response == response.name) {
            if series.per != 1 {
                return None;
            }
            let values: Vec<f64> = series.values.iter().map(|value| *value as f64).collect();
            found.entry(&record.treatment).or_default().push(values);
        }
    }
    found.retain(|_, trials| {
        let counts: Vec<f64> = trials.iter().map(|values| values.len() as f64).collect();
        analysis::median(&counts).is_some_and(|typical| typical >= OBSERVATIONS_MIN as f64)
    });
    (!found.is_empty()).then_some(found)
}

/// What findings speak of comes first, then what claims do, then the rest as the design names it.
fn importance(material: &Material<'_, '_>, treatment: &Treatment) -> (usize, Vec<usize>) {
    let design = material.design;
    let findings = design.findings.iter().map(|finding| &finding.quantity);
    let quantities = findings.chain(design.claims.iter().map(|claim| &claim.quantity));
    let place = quantities
        .flat_map(|quantity| quantity.cells())
        .position(|cell| design.complete(cell) == *treatment);
    (place.unwrap_or(usize::MAX), words::place(design, treatment))
}

fn curve(name: String, style: usize, trials: &[Vec<f64>]) -> Option<Curve> {
    let kept = trials.len().min(TRIALS_MAX);
    let own: Vec<Vec<f64>> = (0..kept)
        .map(|index| analysis::sorted(&trials[index * trials.len() / kept]))
        .filter(|values| !values.is_empty())
        .collect();
    let observations: usize = own.iter().map(Vec::len).sum();
    let pooled = pooled(&own);
    let body = (0..=BODY_STEPS).map(|step| BODY_END * f64::from(step) / f64::from(BODY_STEPS));
    let at = |share: f64| quantile(share, &pooled, &own);
    let points: Option<Vec<Quantile>> = body.chain(TAIL).map(at).collect();
    let marked = MARKED
        .iter()
        .filter(|(_, share)| *share == 1.0 || observations as f64 * (1.0 - share) >= BEYOND_MIN)
        .filter_map(|(name, share)| Some((*name, at(*share)?)))
        .collect();
    let of = trials.iter().filter(|values| !values.is_empty()).count();
    Some(Curve { name, style, trials: own.len(), of, observations, points: points?, marked })
}

/// All observations, ascending, each with the share of the weight that is not above it.
fn pooled(trials: &[Vec<f64>]) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = trials
        .iter()
        .flat_map(|values| {
            let weight = 1.0 / (values.len() * trials.len()) as f64;
            values.iter().map(move |value| (*value, weight))
        })
        .collect();
    all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut sum = 0.0;
    for (_, weight) in &mut all {
        sum += *weight;
        *weight = sum;
    }
    all
}

/// The least observation that so large a share is not above, over all trials and in each.
fn quantile(share: f64, pooled: &[(f64, f64)], trials: &[Vec<f64>]) -> Option<Quantile> {
    // A sum of many weights misses a share by its last digits.
    const ROUNDING: f64 = 1e-9;
    let index = pooled
        .partition_point(|(_, sum)| *sum < share - ROUNDING)
        .min(pooled.len().checked_sub(1)?);
    let of_trial = |values: &Vec<f64>| {
        let rank = (share * values.len() as f64 - ROUNDING).ceil().max(1.0) as usize;
        values[rank.min(values.len()) - 1]
    };
    let own = || trials.iter().map(of_trial);
    let (low, high) = (own().reduce(f64::min)?, own().reduce(f64::max)?);
    Some((share, Estimate::between(low, pooled[index].0, high)))
}

/// All curves in one coordinate system. `of` says what is observed, and `lines_of` what the curves are.
pub(super) fn draw(
    (response, of, curves): (&Response, &str, &[Curve]),
    lines_of: &str,
    place: &str,
) -> Markup {
    let ends = curves.iter().flat_map(|curve| &curve.points).flat_map(|(_, q)| [q.low, q.high]);
    let ends: Vec<f64> = ends.collect();
    let Some(x) = Scale::over_levels_beyond(&ends, LOG_SPAN) else {
        return html! {};
    };
    let mut times = Ticks::new(&x, 5, Terms::In(&response.unit));
    if !x.is_log() {
        times.at.iter_mut().for_each(|(_, word)| word.push_str(&format!(" {}", times.unit)));
    }
    let name = words::label(response);
    let about = format!(
        "Chart: distribution of {name}, {} of {of}. Arrow keys step through the marked quantiles; a table \
         holds the same numbers.",
        counted(curves.len() as u64, "curve")
    );
    let axis =
        Axis { name, unit: String::new(), levels: times.at, landmarks: Vec::new(), scale: x };
    let y = Scale::Linear { low: 0.0, high: 1.0 };
    let shares = Ticks::at(&y, vec![0.0, 0.25, 0.5, 0.75, 1.0], Terms::Share);
    let at = |value: f64, share: f64| (lines::across(&x, value), lines::down(&y, share));
    let inside = html! {
        (lines::stretched(curves.iter().map(|curve| {
            let ends = curve.points.iter().map(|(share, q)| [q.point, q.low, q.high].map(|x| at(x, *share)));
            lines::band_around(curve.style, &ends.collect::<Vec<_>>(), curve.trials > 1)
        })))
        @for curve in curves {
            g class=(style_class(curve.style)) {
                @for (name, (share, quantile)) in &curve.marked {
                    @let (across, down) = at(quantile.point, *share);
                    g.mark data-tip=(tip(curve, (name, of), quantile, response)) {
                        use.point href=(mark_of(curve.style)) x=(percent(across)) y=(px(down)) {}
                    }
                }
            }
        }
    };
    let title = format!("share of {of}");
    let unit = "at or below a time, %";
    let around = lines::Around { title: &title, unit, about: &about, first: None };
    let frame = lines::Frame { axis: &axis, place, first: true, common: false };
    html! {
        (lines::legend_of(curves.iter().map(|curve| (curve.style, curve.name.as_str())), lines_of))
        div.panels { (frame.draw(&around, &y, &shares, &inside)) }
    }
}

/// Returns what a mark says when it is pointed at.
fn tip(
    curve: &Curve,
    (name, of): (&str, &str),
    quantile: &Estimate,
    response: &Response,
) -> String {
    let shown = |value: f64| value_in(value, Terms::In(&response.unit));
    let mut tip = format!("{}\n{name} of the {of}: {}", curve.name, shown(quantile.point));
    if curve.observations > 0 {
        let (trials, low) = (counted(curve.trials as u64, "trial"), shown(quantile.low));
        tip.push_str(&format!("\n{trials}, in each from {low} to {}", shown(quantile.high)));
    }
    tip
}

/// What is to be known of the curves before they are believed.
pub(super) fn caption(response: &Response, curves: &[Curve]) -> String {
    let thinned = curves.iter().filter(|curve| curve.trials < curve.of).map(|curve| curve.of).max();
    let thinned = thinned.map(|most| {
        let most = count(most as u64);
        format!(
            "Of each treatment at most {TRIALS_MAX} trials are drawn, evenly among all: up to {most}. "
        )
    });
    let control = match response.subtract {
        Some(_) => " Nothing is subtracted from an observation: the control is part of it.",
        None => "",
    };
    format!(
        "{}Every trial has the same weight; the shade runs from the lowest to the highest trial, \
         and the marks are median, p90, p99 and the largest. Observations of one trial are not \
         independent of one another: this chart shows their spread, and intervals come from trials \
         alone.{control}",
        thinned.unwrap_or_default()
    )
}

/// The numbers of the curves as a table.
pub(super) fn table(response: &Response, curves: &[Curve]) -> Table {
    let shown = |curve: &Curve, wanted: &str| {
        let found = curve.marked.iter().find(|(name, _)| *name == wanted);
        found.map_or("–".into(), |(_, (_, q))| value_in(q.point, Terms::In(&response.unit)))
    };
    let mut table = Table::of(&["treatment", "#trials", "#observations"]);
    let column = |(name, _): (&str, f64)| Column { head: name.into(), number: true };
    table.columns.extend(MARKED.map(column));
    for curve in curves {
        let trials = match curve.trials < curve.of {
            true => format!("{} of {}", count(curve.trials as u64), count(curve.of as u64)),
            false => count(curve.trials as u64),
        };
        let own = [curve.name.clone(), trials, count(curve.observations as u64)];
        table.row(own.into_iter().chain(MARKED.map(|(name, _)| shown(curve, name))));
    }
    table
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test should stop where it fails")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(trials: &[Vec<f64>]) -> Curve {
        curve("a".into(), 0, trials).unwrap()
    }

    #[test]
    fn trials_weigh_the_same_however_much_they_hold() {
        // Ninety observations of 1 in one trial, ten of 100 in the other: half of the weight each.
        let curve = of(&[vec![1.0; 90], vec![100.0; 10]]);
        let at = |share: f64| {
            let (_, found) = curve.points.iter().find(|(at, _)| *at >= share - 1e-9).unwrap();
            (found.point, found.low, found.high)
        };
        assert_eq!(at(0.475), (1.0, 1.0, 100.0));
        assert_eq!(at(0.55), (100.0, 1.0, 100.0));
        assert_eq!(curve.observations, 100);
    }

    #[test]
    fn a_quantile_with_too_little_beyond_it_is_not_marked() {
        let named = |n: usize| -> Vec<&'static str> {
            let values = (0..n).map(|value| value as f64).collect();
            of(&[values]).marked.iter().map(|(name, _)| *name).collect()
        };
        assert_eq!(named(40), ["median", "largest"]);
        assert_eq!(named(60), ["median", "p90", "largest"]);
        assert_eq!(named(500), ["median", "p90", "p99", "largest"]);
    }

    #[test]
    fn known_ranks_are_found() {
        let values: Vec<f64> = (1..=1000).map(f64::from).collect();
        let marked = of(&[values]).marked;
        let values: Vec<f64> = marked.iter().map(|(_, (_, quantile))| quantile.point).collect();
        assert_eq!(values, [500.0, 900.0, 990.0, 1000.0]);
    }

    #[test]
    fn trials_that_are_not_drawn_are_told() {
        let response = crate::fixture::session(1).manifest.designs[0].responses[0].clone();
        let tip = |trials: usize| {
            let curves = [of(&vec![vec![1.0, 2.0]; trials])];
            let table = table(&response, &curves);
            (caption(&response, &curves), table.rows[0].cells[1].words())
        };
        let (caption, table) = tip(TRIALS_MAX + 50);
        assert!(caption.starts_with("Of each treatment at most 200 trials are drawn"), "{caption}");
        assert!(caption.contains("up to 250."), "{caption}");
        assert_eq!(table, "200 of 250");
        let (caption, table) = tip(TRIALS_MAX);
        assert!(caption.starts_with("Every trial"), "{caption}");
        assert_eq!(table, "200");
    }

    proptest! {
        #[test]
        fn a_curve_rises_from_the_least_to_the_largest_within_its_trials(
            trials in prop::collection::vec(prop::collection::vec(0.0f64..1e9, 1..60), 1..12)
        ) {
            let curve = of(&trials);
            let all = analysis::sorted(&trials.concat());
            let (first, last) = (curve.points[0], *curve.points.last().unwrap());
            prop_assert_eq!((first.0, first.1.point), (0.0, all[0]));
            prop_assert_eq!((last.0, last.1.point), (1.0, all[all.len() - 1]));
            for pair in curve.points.windows(2) {
                prop_assert!(pair[0].0 < pair[1].0);
                prop_assert!(pair[0].1.point <= pair[1].1.point);
            }
            for (_, q) in &curve.points {
                prop_assert!(q.low <= q.point && q.point <= q.high, "{:?}", q);
            }
        }
    }
}
