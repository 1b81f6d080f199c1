//! Lines over a numeric factor, in small coordinate systems that flow with the window.

use super::axis::Axis;
use super::body::{Line, Panel, scale_of};
use super::scale::{Scale, Zero};
use super::{drawn_cell, mark_of, off_center, percent, px, style_class};
use crate::format::{Terms, axis_unit, tick};
use crate::words::{self, short};
use maud::{Markup, html};
use model::Estimate;

/// Height of the drawing, of the space above it, and of the row of labels below it, in pixels.
pub(crate) const HEIGHT: f64 = 196.0;
pub(crate) const ABOVE: f64 = 8.0;
pub(crate) const BELOW: f64 = 24.0;

/// Height of a line of landmarks' names, in pixels; they take turns in two.
const LANDMARK_PX: f64 = 14.0;

/// Share of the width left free at each side, so that no mark is cut.
const SIDE: f64 = 0.04;

/// Width of the stretched coordinate system in which lines and bands are drawn.
const STRETCHED: f64 = 1000.0;

/// Pixels by which lines are moved apart, so that equal values do not hide one another.
const DODGE_PX: f64 = 5.0;

/// How far dots are moved off their level, in pixels, so that equal values do not hide each other.
const DOT_SPREAD_PX: f64 = 3.0;

/// A character of a label of the horizontal axis and the gap between two labels, as shares of the
/// width that a chart has in a narrow window.
const CHARACTER_WIDTH: f64 = 0.021;
const LABEL_GAP: f64 = 0.03;

/// Landmarks nearer to one another than this share of the width have their names in two lines.
const LANDMARK_DISTANCE: f64 = 0.3;

/// Characters of the name of a limit; more are wider than a panel in a narrow window.
const LIMIT_CHARACTERS: usize = 40;

/// What the lines are.
pub(crate) fn legend(panels: &[Panel<'_>], lines_of: &str) -> Markup {
    let lines = panels.iter().flat_map(|panel| &panel.lines);
    legend_of(lines.map(|line| (line.style, line.name.as_str())), lines_of)
}

/// Which style is what, each once.
pub(crate) fn legend_of<'n>(
    lines: impl Iterator<Item = (usize, &'n str)>,
    lines_of: &str,
) -> Markup {
    let known: std::collections::BTreeSet<(usize, &str)> = lines.collect();
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

/// All panels of a figure, which has an address of its own on the page.
pub(super) fn draw(axis: &Axis, panels: &[Panel<'_>], place: &str) -> Markup {
    // Panels of the same responses stand in the same columns.
    let responses: std::collections::BTreeSet<_> =
        panels.iter().map(|it| &it.response.name).collect();
    let common = responses.len() == 1;
    let mut frame = Frame { axis, place, first: true, common, cells: 0 };
    html! {
        div.panels.four[responses.len() == 4] {
            @for panel in panels {
                @if let Some(y) = scale_of(panels, panel, Zero::Always) {
                    (draw_panel(&frame, panel, &y))
                    ({ frame.first = false; "" })
                }
                ({ frame.cells += panel.cells().count(); "" })
            }
        }
    }
}

/// What the panels of a figure have in common: it is drawn in the first of them, and taken from there
/// by the others.
struct Frame<'a> {
    axis: &'a Axis,
    place: &'a str,
    first: bool,
    /// Whether the vertical axis is also the same in all.
    common: bool,
    /// Cells of the panels before, drawn or not: the rows before in the table behind the chart.
    cells: usize,
}

impl Frame<'_> {
    /// A part of a panel that is drawn once, if it is common to all, under a name of its own.
    fn once(&self, common: bool, name: &str, part: impl FnOnce() -> Markup) -> Markup {
        html! {
            @match (common, self.first) {
                (false, _) => (part()),
                (true, true) => g id={ (self.place) "-" (name) } { (part()) },
                (true, false) => use href={ "#" (self.place) "-" (name) } {},
            }
        }
    }
}

fn draw_panel(frame: &Frame<'_>, panel: &Panel<'_>, y: &Scale) -> Markup {
    let axis = frame.axis;
    let x = axis.scale;
    let terms = Terms::In(&panel.response.unit);
    let ticks = y.ticks(4);
    let largest = ticks.iter().copied().fold(0.0, |a: f64, b| a.max(b.abs()));
    let points = panel.cells().count();
    let unit = if y.is_log() { "log scale".to_string() } else { axis_unit(largest, terms) };
    let title = match panel.heading.as_str() {
        "" => words::label(panel.response),
        heading => heading.to_string(),
    };
    let about = format!(
        "Chart: {} over {}. {points} estimates with intervals in {} lines. Arrow keys step \
         through them; the table below holds the same numbers.",
        words::label(panel.response),
        axis.name,
        panel.lines.len()
    );
    html! {
        div.panel {
            p.panel-title {
                b { (title) }
                @if !unit.is_empty() && !title.contains(&unit) { " " span.unit { (unit) } }
            }
            div.plot role="img" tabindex="0" aria-label=(about) data-first=(frame.cells) {
                svg.axis width="58" height=(px(ABOVE + HEIGHT + BELOW)) aria-hidden="true" {
                    (frame.once(frame.common, "values", || value_labels(y, &ticks, terms)))
                }
                svg.canvas width="100%" height=(px(ABOVE + HEIGHT + BELOW)) {
                    (frame.once(frame.common, "grid", || grid(y, &ticks)))
                    (frame.once(true, "levels", || html! {
                        (level_axis(&x, &axis.levels))
                        (landmarks(axis))
                    }))
                    (limits(panel, y))
                    svg.stretched width="100%" height=(px(ABOVE + HEIGHT))
                        viewBox=(stretched())
                        preserveAspectRatio="none" {
                        @for line in &panel.lines { (band_and_line(line, &x, y)) }
                    }
                    @for (index, line) in panel.lines.iter().enumerate() {
                        @let shift = dodge(index, panel.lines.len());
                        (points_of(line, &x, y, shift, &panel.response.unit))
                    }
                }
            }
            p.axis-title {
                (axis.name) @if !axis.unit.is_empty() { ", in " (axis.unit) }
                @if x.is_log() { ", log scale" }
            }
        }
    }
}

/// The coordinates of what is stretched to whatever width there is.
pub(super) fn stretched() -> String {
    format!("0 0 {STRETCHED} {}", ABOVE + HEIGHT)
}

/// A place in them.
pub(super) fn stretched_at(x: &Scale, value: f64, height: f64) -> String {
    format!("{} {}", px(across(x, value) * STRETCHED), px(height))
}

/// What a theory gives the response: a level line with its name each.
fn limits(panel: &Panel<'_>, y: &Scale) -> Markup {
    let shown: Vec<_> = panel.limits.iter().filter(|limit| y.holds(limit.value)).collect();
    html! {
        @if !shown.is_empty() {
            g.limits {
                @for limit in shown {
                    @let at = down(y, limit.value);
                    line x1="0" x2="100%" y1=(px(at)) y2=(px(at)) {}
                    text x="100%" y=(px(at - 4.0)) { (short(&limit.label, LIMIT_CHARACTERS)) }
                }
            }
        }
    }
}

/// What of this machine lies among the levels: an upright line with its name each.
pub(super) fn landmarks(axis: &Axis) -> Markup {
    let mut last = f64::NEG_INFINITY;
    let mut low = false;
    let mut placed = Vec::new();
    for (value, name) in &axis.landmarks {
        let at = across(&axis.scale, *value);
        low = at - last < LANDMARK_DISTANCE && !low;
        last = at;
        placed.push((at, name, ABOVE + LANDMARK_PX * if low { 2.0 } else { 1.0 } - 4.0));
    }
    html! {
        @if !placed.is_empty() {
            g.landmarks {
                @for (at, name, height) in placed {
                    line x1=(percent(at)) x2=(percent(at)) y1="0" y2=(px(ABOVE + HEIGHT)) {}
                    @let early = at > 0.75;
                    svg x=(percent(at)) y=(px(height)) overflow="visible" {
                        text x=(if early { "-4" } else { "4" }) text-anchor=[early.then_some("end")] { (name) }
                    }
                }
            }
        }
    }
}

fn dodge(index: usize, lines: usize) -> f64 {
    let step = DODGE_PX.min(14.0 / lines.max(1) as f64);
    (index as f64 - (lines as f64 - 1.0) / 2.0) * step
}

pub(super) fn across(x: &Scale, value: f64) -> f64 {
    SIDE + (1.0 - 2.0 * SIDE) * x.place(value)
}

pub(crate) fn down(y: &Scale, value: f64) -> f64 {
    ABOVE + (1.0 - y.place(value)) * HEIGHT
}

pub(crate) fn value_axis(y: &Scale, ticks: &[f64], terms: Terms<'_>) -> Markup {
    html! {
        svg.axis width="58" height=(px(ABOVE + HEIGHT + BELOW)) aria-hidden="true" {
            (value_labels(y, ticks, terms))
        }
    }
}

fn value_labels(y: &Scale, ticks: &[f64], terms: Terms<'_>) -> Markup {
    let largest = ticks.iter().copied().fold(0.0, |a: f64, b| a.max(b.abs()));
    let step = ticks.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    html! {
        g.values {
            @for value in ticks {
                text x="50" y=(px(down(y, *value) + 4.0)) {
                    @if y.is_log() { (super::log_tick(*value, terms)) }
                    @else { (tick(*value, step, largest, terms)) }
                }
            }
        }
    }
}

pub(crate) fn grid(y: &Scale, ticks: &[f64]) -> Markup {
    html! {
        g.grid {
            @for value in ticks {
                @let at = px(down(y, *value));
                line x2="100%" y1=(at) y2=(at) {}
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

pub(super) fn level_axis(x: &Scale, levels: &[(f64, String)]) -> Markup {
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
                text x=(percent(at)) y=(px(base + 17.0)) { (name) }
            }
        }
    }
}

/// Labels from left to right, without those that would touch the one before in a narrow window.
pub(super) fn labels_that_fit<'l>(x: &Scale, levels: &'l [(f64, String)]) -> Vec<(f64, &'l str)> {
    let mut fitting: Vec<(f64, &str)> = Vec::new();
    let half = |name: &str| name.chars().count() as f64 * CHARACTER_WIDTH / 2.0;
    for (value, name) in levels {
        let at = across(x, *value);
        let clear =
            |(last, before): &(f64, &str)| at - last >= half(before) + half(name) + LABEL_GAP;
        if fitting.last().is_none_or(clear) {
            fitting.push((at, name));
        }
    }
    fitting
}

pub(super) fn band_and_line(line: &Line, x: &Scale, y: &Scale) -> Markup {
    let known: Vec<_> = line
        .points
        .iter()
        .filter_map(|(value, cell)| cell.estimate.map(|estimate| (*value, estimate)))
        .collect();
    let at = |value: f64, height: f64| stretched_at(x, value, down(y, height));
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

pub(super) fn points_of(
    line: &Line,
    x: &Scale,
    y: &Scale,
    shift: f64,
    unit: &model::Unit,
) -> Markup {
    let at = |height: f64| px(down(y, height));
    let dot = |index: usize, height: f64| (px(off_center(index) * DOT_SPREAD_PX), at(height));
    let mark = |estimate: &Estimate| {
        html! {
            path d={ "M0 " (at(estimate.low)) "V" (at(estimate.high)) } {}
            use href=(mark_of(line.style)) y=(at(estimate.point)) {}
        }
    };
    html! {
        g class=(style_class(line.style)) transform=(format!("translate({shift:.1} 0)")) {
            // A point without trials belongs to a law, which is a line and no marks.
            @for (value, cell) in line.points.iter().filter(|(_, cell)| cell.trials > 0) {
                (drawn_cell(cell, unit, "", ("x", &percent(across(x, *value))), dot, mark))
            }
        }
    }
}
