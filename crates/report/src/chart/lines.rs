//! Small coordinate systems that flow with the window, and the lines over a numeric factor in them.

use super::axis::Axis;
use super::body::{Line, Panel, scale_along};
use super::cell::Cell;
use super::scale::Scale;
use super::ticks::Ticks;
use super::{drawn_cell, mark_of, off_center, percent, px, style_class};
use crate::words;
use maud::{Markup, html};
use model::{Estimate, Unit};
use wording::number::Terms;
use wording::short;

/// Height of the drawing, of the space above it, and of the row of labels below it, in pixels.
const HEIGHT: f64 = 150.0;
const ABOVE: f64 = 8.0;
const BELOW: f64 = 24.0;

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
    let lines = panels.iter().flat_map(|panel| panel.lines.iter().chain(&panel.laws));
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
    let mut frame = Frame { axis, place, first: true, common };
    let mut cells = 0;
    html! {
        div.panels.four[responses.len() == 4] {
            @for panel in panels {
                @if let Some(y) = scale_along(axis, panels, panel) {
                    (draw_panel(&frame, panel, &y, cells))
                    ({ frame.first = false; "" })
                }
                ({ cells += panel.cells().count(); "" })
            }
        }
    }
}

/// What the panels of a figure have in common: it is drawn in the first of them, and taken from there
/// by the others.
pub(super) struct Frame<'a> {
    pub(super) axis: &'a Axis,
    pub(super) place: &'a str,
    pub(super) first: bool,
    /// Whether the vertical axis is also the same in all.
    pub(super) common: bool,
}

/// What is written around a coordinate system.
pub(super) struct Around<'a> {
    pub(super) title: &'a str,
    pub(super) unit: &'a str,
    /// For those who do not see it.
    pub(super) about: &'a str,
    /// The row of its first cell in the table behind the chart; `None` where marks carry what they say.
    pub(super) first: Option<usize>,
}

impl Frame<'_> {
    /// Draws a coordinate system over the common axis with what lies in it.
    pub(super) fn draw(
        &self,
        around: &Around<'_>,
        y: &Scale,
        ticks: &Ticks,
        inside: &Markup,
    ) -> Markup {
        let Axis { name, unit, levels, scale: x, .. } = self.axis;
        html! {
            div.panel {
                p.panel-title {
                    b { (around.title) }
                    @if !around.title.contains(around.unit) { @if !around.title.is_empty() { ", " } span.unit { (around.unit) } }
                }
                div.plot.distributions[around.first.is_none()] role="img" tabindex="0" aria-label=(around.about)
                    data-first=[around.first] {
                    svg.axis width="58" height=(px(ABOVE + HEIGHT + BELOW)) aria-hidden="true" {
                        (self.once(self.common, "values", || value_labels(y, ticks)))
                    }
                    svg.canvas width="100%" height=(px(ABOVE + HEIGHT + BELOW)) {
                        (self.once(self.common, "grid", || grid(y, ticks)))
                        (self.once(true, "levels", || html! {
                            (level_axis(x, levels))
                            (landmarks(self.axis))
                        }))
                        (inside)
                    }
                }
                p.axis-title {
                    (name) @if !unit.is_empty() { ", in " (unit) } @if x.is_log() { ", log scale" }
                }
            }
        }
    }

    /// Draws a part of a panel once if it is common to all.
    fn once(&self, common: bool, name: &str, part: impl FnOnce() -> Markup) -> Markup {
        if common { once(self.first, self.place, name, part) } else { part() }
    }
}

/// Draws a part the first time, under a name of its own, and takes it from there afterwards.
pub(super) fn once(first: bool, place: &str, name: &str, part: impl FnOnce() -> Markup) -> Markup {
    let id = format!("{place}-{name}");
    html! {
        @if first { g id=(id) { (part()) } } @else { use href={ "#" (id) } {} }
    }
}

fn draw_panel(frame: &Frame<'_>, panel: &Panel<'_>, y: &Scale, first: usize) -> Markup {
    let ticks = Ticks::new(y, 4, Terms::In(&panel.response.unit));
    let label = words::label(&panel.response);
    let about = format!(
        "Chart: {label} over {}. {} estimates with intervals in {} lines. Arrow keys step \
         through them; the table below holds the same numbers.",
        frame.axis.name,
        panel.cells().count(),
        panel.lines.len()
    );
    let title = if panel.heading.is_empty() { &label } else { &panel.heading };
    let x = &frame.axis.scale;
    let replaced = |line: &&Line| panel.laws.iter().any(|law| law.style == line.style);
    let ways = panel.lines.iter().filter(|line| !replaced(line));
    let inside = html! {
        (limits(panel, y))
        (stretched(ways.chain(&panel.laws).map(|line| band_and_line(line, x, y))))
        @for (index, line) in panel.lines.iter().enumerate() {
            (points_of(line, x, y, dodge(index, panel.lines.len()), &panel.response.unit))
        }
    };
    let around = Around { title, unit: &ticks.unit, about: &about, first: Some(first) };
    frame.draw(&around, y, &ticks, &inside)
}

/// Draws what is stretched to whatever width there is.
pub(super) fn stretched(parts: impl Iterator<Item = Markup>) -> Markup {
    html! {
        svg.stretched width="100%" height=(px(ABOVE + HEIGHT))
            viewBox={ "0 0 " (STRETCHED) " " (ABOVE + HEIGHT) } preserveAspectRatio="none" {
            @for part in parts { (part) }
        }
    }
}

/// Draws the line through some points of what is stretched, and the band around it. Each point is given by
/// its own place and those of the ends of its interval.
pub(super) fn band_around(style: usize, points: &[[(f64, f64); 3]], banded: bool) -> Markup {
    let along = |which: usize| -> Vec<String> {
        let places = points.iter().map(|point| point[which]);
        places.map(|(x, y)| format!("{} {}", px(x * STRETCHED), px(y))).collect()
    };
    let (mut band, low) = (along(2), along(1));
    band.extend(low.into_iter().rev());
    html! {
        g class=(style_class(style)) {
            @if banded { path.band d={ "M" (band.join("L")) "Z" } {} }
            path.line d={ "M" (along(0).join("L")) } {}
        }
    }
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
fn landmarks(axis: &Axis) -> Markup {
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

pub(super) fn down(y: &Scale, value: f64) -> f64 {
    ABOVE + (1.0 - y.place(value)) * HEIGHT
}

fn value_labels(y: &Scale, ticks: &Ticks) -> Markup {
    html! {
        g.values {
            @for (value, word) in &ticks.at { text x="50" y=(px(down(y, *value) + 4.0)) { (word) } }
        }
    }
}

fn grid(y: &Scale, ticks: &Ticks) -> Markup {
    html! {
        g.grid {
            @for (value, _) in &ticks.at {
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
                text x=(percent(at)) y=(px(base + 17.0)) { (name) }
            }
        }
    }
}

/// Labels from left to right, without those that would touch the one before in a narrow window.
fn labels_that_fit<'l>(x: &Scale, levels: &'l [(f64, String)]) -> Vec<(f64, &'l str)> {
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

fn band_and_line(line: &Line, x: &Scale, y: &Scale) -> Markup {
    let place = |(value, cell): &(f64, Cell)| {
        let estimate = cell.estimate?;
        let heights = [estimate.point, estimate.low, estimate.high];
        Some(heights.map(|height| (across(x, *value), down(y, height))))
    };
    let known: Vec<_> = line.points.iter().filter_map(place).collect();
    html! { @if known.len() > 1 { (band_around(line.style, &known, true)) } }
}

fn points_of(line: &Line, x: &Scale, y: &Scale, shift: f64, unit: &Unit) -> Markup {
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
            @for (value, cell) in &line.points {
                (drawn_cell(cell, unit, "", ("x", &percent(across(x, *value))), dot, mark))
            }
        }
    }
}
