//! Threads beside processes: one slope per setting, with the ratio at its end.

use super::body::{Body, Cell as BodyCell, Figure, Slope, Slopes};
use super::choose::{Material, facet_heading, is_control, levels_of, listed, order};
use super::lines::{self, ABOVE, BELOW, HEIGHT};
use super::scale::Scale;
use super::{STYLES, mark_of, numbers, percent, px, style_class, tip};
use crate::format::{Terms, joined, parts};
use crate::words;
use maud::{Markup, html};
use model::{Cell, Estimate, Factor, Level, Response, Treatment, Unit};
use std::collections::BTreeMap;

/// Levels that are the same work done with threads and with processes.
const TWINS: [(&str, &str); 3] =
    [("thread", "process"), ("threads", "processes"), ("pthread", "fork")];

/// Slopes from which they are parted into panels.
const SLOPES_MAX: usize = 6;

/// So few factors are all named in a setting.
const NAMED_MAX: usize = 2;

/// Panels drawn at most; the tables hold what is left out.
const PANELS_MAX: usize = 8;

/// Where a slope begins, where it ends, and where its ratio is written, as shares of the width.
const FROM: f64 = 0.1;
const TO: f64 = 0.46;
const RATIO: f64 = 0.52;

/// The least distance between two ratios, in pixels.
const LABEL_PX: f64 = 15.0;

/// Pixels by which slopes are moved apart, so that equal values do not hide one another.
const DODGE_PX: f64 = 3.0;

/// The two levels of a factor that are a thread and a process.
pub(super) fn twins(factor: &Factor) -> Option<(&Level, &Level)> {
    TWINS.iter().find_map(|(one, other)| Some((factor.level(one)?, factor.level(other)?)))
}

/// The slopes of a response, where at least two settings were measured both ways. Numbers that are
/// counts, or not above 0, have no ratios to speak of.
pub(super) fn choose<'a>(material: &Material<'a, '_>, main: &'a Response) -> Option<Figure<'a>> {
    if !matches!(main.unit, Unit::Ns | Unit::Bytes | Unit::PerSecond) {
        return None;
    }
    let (factor, (one, other)) =
        material.design.factors.iter().find_map(|factor| Some((factor, twins(factor)?)))?;
    let pairs = pairs(material, main, factor, [one, other]);
    if pairs.len() < 2 {
        return None;
    }
    let all: Vec<&Treatment> = pairs.iter().flat_map(|pair| [&pair.0, &pair.1]).collect();
    let varying: Vec<&'a Factor> =
        material.design.factors.iter().filter(|known| levels_of(known, &all).len() > 1).collect();
    let settings: Vec<&'a Factor> =
        varying.iter().copied().filter(|known| known.name != factor.name).collect();
    let facet = facet(&settings, &pairs);
    let (panels, left_out) = panels(material, main, &pairs, &settings, facet, &varying);
    let names: Vec<String> = settings.iter().map(|factor| words::plain(&factor.name)).collect();
    let ends = [one, other].map(|level| words::plain(&level.name));
    let title =
        format!("{} from {} to {}, by {}", words::label(main), ends[0], ends[1], listed(&names));
    let body = Body::Slopes { response: main, ends, panels };
    let lines_of = "setting".to_string();
    Some(Figure { left_out, lines_of, ..material.bare(title, material.held(&all, &varying), body) })
}

/// The treatments that differ in nothing but the way, in the design's order.
fn pairs(
    material: &Material<'_, '_>,
    main: &Response,
    factor: &Factor,
    [one, other]: [&Level; 2],
) -> Vec<(Treatment, Treatment)> {
    let known = |treatment: &Treatment| {
        let estimate = material.estimates.get(&(main.name.as_str(), treatment));
        estimate.is_some_and(|e| e.point > 0.0 && e.low > 0.0) && !is_control(main, treatment)
    };
    let factors: Vec<&Factor> = material.design.factors.iter().collect();
    let of_main = material.estimates.keys().filter(|(response, _)| *response == main.name);
    let mut pairs: Vec<(Treatment, Treatment)> = of_main
        .map(|(_, treatment)| *treatment)
        .filter(|treatment| treatment.level(&factor.name) == Some(&one.name) && known(treatment))
        .filter_map(|treatment| {
            let twin = treatment.with(&Cell::default().with(&factor.name, &other.name));
            known(&twin).then(|| (treatment.clone(), twin))
        })
        .collect();
    pairs.sort_by_cached_key(|(treatment, _)| order(&factors, treatment));
    pairs
}

/// The factor whose levels get a panel each, where one panel would hold too many slopes: the first
/// that leaves few enough in each.
fn facet<'a>(settings: &[&'a Factor], pairs: &[(Treatment, Treatment)]) -> Option<&'a Factor> {
    if pairs.len() <= SLOPES_MAX {
        return None;
    }
    let most = |factor: &&&Factor| {
        let in_each = factor.levels.iter().map(|level| {
            let own = |pair: &&(Treatment, Treatment)| {
                pair.0.level(&factor.name) == Some(level.name.as_str())
            };
            pairs.iter().filter(own).count()
        });
        in_each.max().unwrap_or(0)
    };
    settings
        .iter()
        .find(|factor| most(factor) <= SLOPES_MAX)
        .or_else(|| settings.iter().min_by_key(most))
        .copied()
}

fn panels(
    material: &Material<'_, '_>,
    main: &Response,
    pairs: &[(Treatment, Treatment)],
    settings: &[&Factor],
    facet: Option<&Factor>,
    varying: &[&Factor],
) -> (Vec<Slopes>, usize) {
    let facets: Vec<&Factor> = facet.into_iter().collect();
    let mut styles: Vec<String> = Vec::new();
    let mut by_facet: BTreeMap<Vec<usize>, Slopes> = BTreeMap::new();
    let mut left_out = 0;
    for (one, other) in pairs {
        let name = setting(settings, facet, one);
        let style = styles.iter().position(|known| *known == name).unwrap_or_else(|| {
            styles.push(name.clone());
            styles.len() - 1
        });
        let panel = by_facet
            .entry(order(&facets, one))
            .or_insert_with(|| Slopes { heading: facet_heading(&facets, one), slopes: Vec::new() });
        if panel.slopes.len() == STYLES {
            left_out += 1;
            continue;
        }
        let blocks = together(material, main, one, other);
        let end = |treatment: &Treatment, side: fn(&(f64, f64)) -> f64| {
            let values: Vec<f64> = blocks.iter().map(side).collect();
            let estimate = analysis::median_estimate(&values);
            let trials = values.len();
            BodyCell {
                estimate,
                trials,
                dots: Vec::new(),
                ..material.cell(main, treatment, varying)
            }
        };
        let (from, to) = (end(one, |pair| pair.0), end(other, |pair| pair.1));
        let ratio = ratio(&blocks);
        panel.slopes.push(Slope { name, style, from, to, ratio });
    }
    let mut panels: Vec<Slopes> = by_facet.into_values().collect();
    left_out += panels.iter().skip(PANELS_MAX).map(|panel| panel.slopes.len()).sum::<usize>();
    panels.truncate(PANELS_MAX);
    (panels, left_out)
}

/// A setting in words: the numbers, and what is not the baseline.
fn setting(settings: &[&Factor], facet: Option<&Factor>, treatment: &Treatment) -> String {
    let varied = || settings.iter().filter(|factor| facet.is_none_or(|f| f.name != factor.name));
    let all = varied().count() <= NAMED_MAX;
    let words: Vec<String> = varied()
        .filter_map(|factor| {
            let level = treatment.level(&factor.name)?;
            let number = factor.level(level).is_some_and(|level| level.value.is_some());
            (all || number || level != factor.baseline).then(|| words::level(&factor.name, level))
        })
        .collect();
    if words.is_empty() { "as usual".into() } else { words.join(" · ") }
}

/// What both treatments were in each block that holds both: only such a pair is a comparison, and
/// a slope whose ends came from other blocks than its ratio could contradict it.
fn together(
    material: &Material<'_, '_>,
    main: &Response,
    one: &Treatment,
    other: &Treatment,
) -> Vec<(f64, f64)> {
    let of = |treatment| material.samples(main).and_then(|samples| samples.get(treatment));
    let (Some(one), Some(other)) = (of(one), of(other)) else {
        return Vec::new();
    };
    let other: BTreeMap<u32, f64> = other.iter().copied().collect();
    one.iter().filter_map(|(block, value)| Some((*value, *other.get(block)?))).collect()
}

/// The second treatment divided by the first: the centre of the blocks' log-ratios, as for every
/// effect.
fn ratio(blocks: &[(f64, f64)]) -> Option<Estimate> {
    if blocks.iter().any(|(one, other)| *one <= 0.0 || *other <= 0.0) {
        return None;
    }
    let logs: Vec<f64> = blocks.iter().map(|(one, other)| (other / one).ln()).collect();
    Some(analysis::interval::centre(&logs)?.estimate(f64::exp))
}

/// All panels, on one scale.
pub(super) fn draw(
    response: &Response,
    ends: &[String; 2],
    panels: &[Slopes],
    lines_of: &str,
) -> Markup {
    let slopes = || panels.iter().flat_map(|panel| &panel.slopes);
    let cells = slopes().flat_map(|slope| [&slope.from, &slope.to]);
    let values = cells.filter_map(|cell| cell.estimate).flat_map(|e| [e.point, e.low, e.high]);
    let Some(scale) = Scale::ratios(values) else {
        return html! {};
    };
    let known = slopes().map(|slope| (slope.style, slope.name.as_str()));
    html! {
        (lines::legend_of(known, lines_of))
        div.panels {
            @for panel in panels { (draw_panel(response, ends, panel, &scale)) }
        }
    }
}

fn draw_panel(response: &Response, ends: &[String; 2], panel: &Slopes, y: &Scale) -> Markup {
    let terms = Terms::In(&response.unit);
    let ticks = y.ticks(4);
    let about = format!(
        "Chart: {}{}{} from {} to {}. {} slopes with intervals. Arrow keys step through them; the \
         table below holds the same numbers.",
        words::label(response),
        if panel.heading.is_empty() { "" } else { ", " },
        panel.heading,
        ends[0],
        ends[1],
        panel.slopes.len()
    );
    let places = label_places(&panel.slopes, y);
    let base = px(ABOVE + HEIGHT);
    html! {
        div.panel {
            p.panel-title {
                b { @if panel.heading.is_empty() { (words::label(response)) } @else { (panel.heading) } }
                span.unit { " log scale" }
            }
            div.plot.slopes role="img" tabindex="0" aria-label=(about) {
                (lines::value_axis(y, &ticks, terms))
                svg.canvas width="100%" height=(px(ABOVE + HEIGHT + BELOW)) {
                    (lines::grid(y, &ticks))
                    g.levels {
                        @for (at, name) in [FROM, TO].into_iter().zip(ends) {
                            line x1=(percent(at)) x2=(percent(at)) y1=(px(ABOVE)) y2=(base) {}
                            text x=(percent(at)) y=(px(ABOVE + HEIGHT + 17.0)) { (name) }
                        }
                    }
                    @for (slope, place) in panel.slopes.iter().zip(places) {
                        (draw_slope(slope, y, place, response, ends))
                    }
                }
            }
        }
    }
}

fn draw_slope(
    slope: &Slope,
    y: &Scale,
    place: f64,
    response: &Response,
    ends: &[String; 2],
) -> Markup {
    let height = |cell: &BodyCell| cell.estimate.map(|e| lines::down(y, e.point));
    let ratio = slope.ratio.map(|ratio| joined(&parts(&ratio, Terms::Times)));
    let shift = (slope.style as f64 - STYLES as f64 / 2.0 + 0.5) * DODGE_PX;
    html! {
        @if let (Some(from), Some(to)) = (height(&slope.from), height(&slope.to)) {
            g class=(style_class(slope.style)) {
                g transform=(format!("translate({shift:.1})")) {
                    line.line x1=(percent(FROM)) y1=(px(from)) x2=(percent(TO)) y2=(px(to)) {}
                    @for (at, cell) in [(FROM, &slope.from), (TO, &slope.to)] {
                        @if let Some(e) = &cell.estimate {
                            g.mark data-tip=(slope_tip(cell, response, slope, ends)) {
                                line.whisker x1=(percent(at)) x2=(percent(at))
                                    y1=(px(lines::down(y, e.low))) y2=(px(lines::down(y, e.high))) {}
                                use.point href=(mark_of(slope.style)) x=(percent(at)) y=(px(lines::down(y, e.point))) {}
                            }
                        }
                    }
                }
                @if let Some(ratio) = &ratio {
                    line.leader x1=(percent(TO + 0.035)) y1=(px(to)) x2=(percent(RATIO - 0.01)) y2=(px(place)) {}
                    text.ratio x=(percent(RATIO)) y=(px(place + 4.0)) { (ratio) }
                }
            }
        }
    }
}

fn slope_tip(cell: &BodyCell, response: &Response, slope: &Slope, ends: &[String; 2]) -> String {
    let ratio = slope.ratio.map(|ratio| joined(&parts(&ratio, Terms::Times)));
    let ratio = ratio.map(|ratio| format!("\n{} ÷ {}: {ratio}", ends[1], ends[0]));
    format!("{}{}", tip(cell, &response.unit), ratio.unwrap_or_default())
}

/// How far down each ratio is written: beside its slope's end, but never over another.
fn label_places(slopes: &[Slope], y: &Scale) -> Vec<f64> {
    let end = |slope: &Slope| slope.to.estimate.map_or(0.0, |e| lines::down(y, e.point));
    let mut order: Vec<usize> = (0..slopes.len()).collect();
    order.sort_by(|a, b| end(&slopes[*a]).total_cmp(&end(&slopes[*b])));
    let wanted: Vec<f64> = order.iter().map(|index| end(&slopes[*index])).collect();
    let spread = spread(&wanted, LABEL_PX, ABOVE + HEIGHT);
    let mut places = vec![0.0; slopes.len()];
    for (index, place) in order.into_iter().zip(spread) {
        places[index] = place;
    }
    places
}

/// Ascending places moved apart to a least distance, none beyond `most`: down where they crowd,
/// then up again where that went too far.
fn spread(wanted: &[f64], distance: f64, most: f64) -> Vec<f64> {
    let mut places = wanted.to_vec();
    // Each crowd is centred on where its members want to be.
    let mut first = 0;
    while first < places.len() {
        let mut last = first;
        let centred = |first: usize, last: usize| {
            let members = &wanted[first..=last];
            let middle = members.iter().sum::<f64>() / members.len() as f64;
            middle - distance * (last - first) as f64 / 2.0
        };
        while last + 1 < places.len()
            && wanted[last + 1] < centred(first, last) + distance * (last + 1 - first) as f64
        {
            last += 1;
        }
        let top = centred(first, last);
        for (offset, place) in places[first..=last].iter_mut().enumerate() {
            *place = top + distance * offset as f64;
        }
        first = last + 1;
    }
    for index in 1..places.len() {
        places[index] = places[index].max(places[index - 1] + distance);
    }
    let mut limit = most;
    for place in places.iter_mut().rev() {
        *place = place.min(limit);
        limit = *place - distance;
    }
    places
}

/// The numbers of a figure as a table's rows: setting, both ends, ratio.
pub(super) fn table(response: &Response, ends: &[String; 2], panels: &[Slopes]) -> Markup {
    let end = |cell: &BodyCell| joined(&numbers(cell, &response.unit));
    html! {
        thead {
            tr {
                th scope="col" { "setting" }
                th.number scope="col" { (ends[0]) }
                th.number scope="col" { (ends[1]) }
                th.number scope="col" { (ends[1]) " ÷ " (ends[0]) }
            }
        }
        tbody {
            @for panel in panels {
                @for slope in &panel.slopes {
                    tr {
                        th scope="row" {
                            (panel.heading) @if !panel.heading.is_empty() { " · " } (slope.name)
                        }
                        td { (end(&slope.from)) }
                        td { (end(&slope.to)) }
                        td { (slope.ratio.map_or("–".into(), |ratio| joined(&parts(&ratio, Terms::Times)))) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_their_distance_and_their_order() {
        let cases: [&[f64]; 5] = [
            &[10.0, 12.0, 14.0],
            &[190.0, 195.0, 200.0],
            &[10.0, 100.0],
            &[50.0; 8],
            &[20.0, 20.0, 48.0, 49.0, 200.0],
        ];
        for wanted in cases {
            let placed = spread(wanted, 15.0, 204.0);
            for pair in placed.windows(2) {
                assert!(pair[1] - pair[0] >= 14.999, "{wanted:?}: {placed:?}");
            }
            assert!(placed.iter().all(|place| *place <= 204.0), "{placed:?}");
        }
        assert_eq!(spread(&[10.0, 100.0], 15.0, 204.0), [10.0, 100.0]);
    }
}
