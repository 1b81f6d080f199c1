//! Lines over a numeric factor, in small coordinate systems that flow with the window.

use super::choose::{Group, Line, Panel};
use super::scale::{Scale, Zero};
use super::{dots, mark_of, off_center, percent, px, style_class, tip};
use crate::format::{Terms, axis_unit, tick};
use crate::words;
use maud::{Markup, html};
use model::Factor;

/// Height of the drawing, of the space above it, and of the row of labels below it, in pixels.
const HEIGHT: f64 = 196.0;
const ABOVE: f64 = 8.0;
const BELOW: f64 = 24.0;

/// Share of the width left free at each side, so that no mark is cut.
const SIDE: f64 = 0.04;

/// Width of the stretched coordinate system in which lines and bands are drawn.
const STRETCHED: f64 = 1000.0;

/// Pixels by which lines are moved apart, so that equal values do not hide one another.
const DODGE_PX: f64 = 5.0;

/// How far dots are moved off their level, as a share of the width, so that equal values are
/// told apart.
const DOT_SPREAD: f64 = 0.009;

/// Least distance between labels of the horizontal axis, as a share of the width.
const LABEL_DISTANCE: f64 = 0.11;

/// What the lines are.
pub(crate) fn legend(groups: &[Group<'_>], lines_of: &str) -> Markup {
    let mut known: Vec<(usize, &str)> = Vec::new();
    for line in groups.iter().flat_map(|g| &g.panels).flat_map(|p| &p.lines) {
        if !known.iter().any(|(style, _)| *style == line.style) {
            known.push((line.style, &line.name));
        }
    }
    known.sort_unstable();
    html! {
        @if known.len() > 1 {
            ul.legend aria-label=(lines_of) {
                @for (style, name) in known {
                    li {
                        svg class=(style_class(style)) width="34" height="14" aria-hidden="true" {
                            line.line x1="1" y1="7" x2="33" y2="7" {}
                            use.point href=(mark_of(style)) x="17" y="7" {}
                        }
                        (name)
                    }
                }
            }
        }
    }
}

/// All panels of a figure.
pub(crate) fn draw(
    axis: &Factor,
    levels: &[(f64, String)],
    groups: &[Group<'_>],
    shared: bool,
) -> Markup {
    let all: Vec<&Panel<'_>> = groups.iter().flat_map(|group| &group.panels).collect();
    let common = if shared { scale_of(&all) } else { None };
    html! {
        @for group in groups {
            @if !group.heading.is_empty() { h5 { (words::capital(&group.heading)) } }
            div.panels.four[group.panels.len() == 4] {
                @for panel in &group.panels {
                    @if let Some(y) = common.or_else(|| scale_of(&[panel])) {
                        (draw_panel(axis, levels, panel, &y))
                    }
                }
            }
        }
    }
}

/// The vertical axis that some panels share; `None` where none has a finite number.
pub(crate) fn scale_of(panels: &[&Panel<'_>]) -> Option<Scale> {
    let cells = panels.iter().flat_map(|p| &p.lines).flat_map(|l| &l.points).map(|(_, cell)| cell);
    let values = cells.flat_map(|cell| {
        let estimate = cell.estimate.map(|e| [e.point, e.low, e.high]);
        cell.dots.iter().map(|(_, value)| *value).chain(estimate.into_iter().flatten())
    });
    Scale::over(values, Zero::Always)
}

fn draw_panel(axis: &Factor, levels: &[(f64, String)], panel: &Panel<'_>, y: &Scale) -> Markup {
    let values: Vec<f64> = levels.iter().map(|(value, _)| *value).collect();
    let x = Scale::over_levels(&values).unwrap_or(Scale::Linear { low: 0.0, high: 1.0 });
    let terms = Terms::In(&panel.response.unit);
    let ticks = y.ticks(4);
    let largest = ticks.iter().copied().fold(0.0, |a: f64, b| a.max(b.abs()));
    let points: usize = panel.lines.iter().map(|line| line.points.len()).sum();
    let unit = if y.is_log() { "log scale".to_string() } else { axis_unit(largest, terms) };
    let about = format!(
        "Chart: {} over {}. {points} estimates with intervals in {} lines. Arrow keys step \
         through them; the table below holds the same numbers.",
        words::label(panel.response),
        words::plain(&axis.name),
        panel.lines.len()
    );
    html! {
        div.panel {
            p.panel-title {
                b { @if panel.heading.is_empty() { (words::label(panel.response)) } @else { (panel.heading) } }
                @if !unit.is_empty() { " " span.unit { (unit) } }
            }
            div.plot role="img" tabindex="0" aria-label=(about) {
                (value_axis(y, &ticks, terms))
                svg.canvas width="100%" height=(px(ABOVE + HEIGHT + BELOW)) {
                    (grid(y, &ticks))
                    (level_axis(&x, levels))
                    svg.stretched width="100%" height=(px(ABOVE + HEIGHT))
                        viewBox=(format!("0 0 {STRETCHED} {}", ABOVE + HEIGHT))
                        preserveAspectRatio="none" {
                        @for line in &panel.lines { (band_and_line(line, &x, y)) }
                    }
                    @for (index, line) in panel.lines.iter().enumerate() {
                        @let shift = dodge(index, panel.lines.len());
                        (points_of(line, &x, y, shift, &panel.response.unit))
                    }
                }
            }
            p.axis-title { (words::plain(&axis.name)) @if x.is_log() { span.unit { " log scale" } } }
        }
    }
}

fn dodge(index: usize, lines: usize) -> f64 {
    let step = DODGE_PX.min(14.0 / lines.max(1) as f64);
    (index as f64 - (lines as f64 - 1.0) / 2.0) * step
}

fn across(x: &Scale, value: f64) -> f64 {
    SIDE + (1.0 - 2.0 * SIDE) * x.place(value)
}

fn down(y: &Scale, value: f64) -> f64 {
    ABOVE + (1.0 - y.place(value)) * HEIGHT
}

fn value_axis(y: &Scale, ticks: &[f64], terms: Terms<'_>) -> Markup {
    let largest = ticks.iter().copied().fold(0.0, |a: f64, b| a.max(b.abs()));
    let step = ticks.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    html! {
        svg.axis width="58" height=(px(ABOVE + HEIGHT + BELOW)) aria-hidden="true" {
            @for value in ticks {
                text x="50" y=(px(down(y, *value) + 4.0)) text-anchor="end" {
                    @if y.is_log() { (super::rows::log_tick(*value, terms)) }
                    @else { (tick(*value, step, largest, terms)) }
                }
            }
        }
    }
}

fn grid(y: &Scale, ticks: &[f64]) -> Markup {
    html! {
        g.grid {
            @for value in ticks {
                @let at = px(down(y, *value));
                line x1="0" x2="100%" y1=(at) y2=(at) {}
            }
        }
        @if y.has_break() {
            (break_mark("0", &px(down(y, 0.0) - 9.0)))
        }
    }
}

/// The sign for "this axis leaps here": two short strokes.
fn break_mark(x: &str, y: &str) -> Markup {
    html! {
        svg.break x=(x) y=(y) overflow="visible" { path d="M-4 2L4-2M-4-2L4-6" {} }
    }
}

fn level_axis(x: &Scale, levels: &[(f64, String)]) -> Markup {
    let base = ABOVE + HEIGHT;
    let labels = labels_that_fit(x, levels);
    html! {
        g.levels {
            line.base x1="0" x2="100%" y1=(px(base)) y2=(px(base)) {}
            @if x.has_break() {
                @let place = SIDE + (1.0 - 2.0 * SIDE) * 0.06;
                (break_mark(&percent(place), &px(base + 2.0)))
            }
            @for (value, _) in levels {
                @let at = percent(across(x, *value));
                line x1=(at) x2=(at) y1=(px(base)) y2=(px(base + 4.0)) {}
            }
            @for (at, name) in labels {
                text x=(percent(at)) y=(px(base + 17.0)) text-anchor="middle" { (name) }
            }
        }
    }
}

/// Labels from left to right, without those that would touch the one before.
fn labels_that_fit<'l>(x: &Scale, levels: &'l [(f64, String)]) -> Vec<(f64, &'l str)> {
    let mut fitting: Vec<(f64, &str)> = Vec::new();
    for (value, name) in levels {
        let at = across(x, *value);
        if fitting.last().is_none_or(|(last, _)| at - last >= LABEL_DISTANCE) {
            fitting.push((at, name));
        }
    }
    fitting
}

fn band_and_line(line: &Line, x: &Scale, y: &Scale) -> Markup {
    let known: Vec<_> = line
        .points
        .iter()
        .filter_map(|(value, cell)| cell.estimate.map(|estimate| (*value, estimate)))
        .collect();
    let at = |value: f64, height: f64| {
        format!("{:.1} {:.1}", across(x, value) * STRETCHED, down(y, height))
    };
    let upper = known.iter().map(|(value, e)| at(*value, e.high));
    let lower = known.iter().rev().map(|(value, e)| at(*value, e.low));
    let band: Vec<String> = upper.chain(lower).collect();
    let path: Vec<String> = known.iter().map(|(value, e)| at(*value, e.point)).collect();
    html! {
        @if known.len() > 1 {
            g class=(style_class(line.style)) {
                path.band d={ "M" (band.join("L")) "Z" } {}
                path.line d={ "M" (path.join("L")) } {}
            }
        }
    }
}

fn points_of(line: &Line, x: &Scale, y: &Scale, shift: f64, unit: &model::Unit) -> Markup {
    html! {
        g class=(style_class(line.style)) transform=(format!("translate({shift:.1} 0)")) {
            @for (value, cell) in &line.points {
                @let at = across(x, *value);
                (dots(cell, unit, |index, height| {
                    (percent(at + off_center(index) * DOT_SPREAD), px(down(y, height)))
                }))
            }
            @for (value, cell) in &line.points {
                @if let Some(estimate) = &cell.estimate {
                    @let at = percent(across(x, *value));
                    g.mark data-tip=(tip(cell, unit)) {
                        line.whisker x1=(at) x2=(at) y1=(px(down(y, estimate.low)))
                            y2=(px(down(y, estimate.high))) {}
                        use.point href=(mark_of(line.style)) x=(at)
                            y=(px(down(y, estimate.point))) {}
                    }
                }
            }
        }
    }
}
