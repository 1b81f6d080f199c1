//! One row per treatment: the trials' dots, the interval over them, the number beside them.

use super::body::{Panel, scale_of};
use super::cell::Cell;
use super::lines::once;
use super::scale::Scale;
use super::ticks::Ticks;
use super::{drawn_cell, mark_of, numbers, off_center, percent, px, style_class};
use maud::{Markup, html};
use model::{Estimate, Unit};
use wording::number::Terms;

/// Height of a row of one line, in pixels.
const HEIGHT: f64 = 30.0;

/// How far dots are moved off the middle, in pixels, so that equal values do not hide each other.
const SPREAD_PX: f64 = 8.0;

/// Share of the width left free at each side.
const SIDE: f64 = 0.03;

/// Returns the panels of a figure without an axis, under its title, at an address of the page that is its
/// own.
pub(super) fn panels(panels: &[Panel<'_>], (title, place): (&str, &str)) -> Markup {
    let mut first = 0;
    html! {
        @for (index, panel) in panels.iter().enumerate() {
            @if !panel.heading.is_empty() { p.panel-title { b { (wording::capital(&panel.heading)) } } }
            @let about = format!("{title}{}{}", if panel.heading.is_empty() { "" } else { ", " }, panel.heading);
            @let place = format!("{place}-{}", index + 1);
            @match scale_of(panels, panel, panel.zero_of_rows()) {
                Some(scale) => (draw(panel, &scale, (&about, &place, first))),
                None => p.quiet { "No trial gave a number." },
            }
            ({ first += panel.cells().count(); "" })
        }
    }
}

/// Returns rows with their axis, and those that have no number; under a title, at an address of the page.
/// The table behind has their cells from row `first` on.
fn draw(panel: &Panel<'_>, scale: &Scale, (title, place, first): (&str, &str, usize)) -> Markup {
    let ticks = Ticks::new(scale, 5, Terms::In(&panel.response.unit));
    let rows = panel.rows();
    let about = format!(
        "Chart: {title}. {} rows with estimate and interval. Arrow keys step through \
         them; the table below holds the same numbers.",
        rows.len()
    );
    html! {
        div.rows role="img" tabindex="0" aria-label=(about) data-first=(first) {
            @for (index, (style, cell)) in rows.iter().enumerate() {
                (draw_row(*style, cell, scale, &panel.response.unit, &grid(scale, &ticks, place, index)))
            }
            (axis(scale, &ticks))
        }
    }
}

/// The lines of the axis behind a row: drawn once, and taken from there by the rows below.
pub(crate) fn grid(scale: &Scale, ticks: &Ticks, place: &str, row: usize) -> Markup {
    let lines = || {
        html! {
            g.grid {
                @for (value, _) in &ticks.at {
                    @let at = percent(across(scale, *value));
                    line x1=(at) x2=(at) y2="100%" {}
                }
            }
        }
    };
    once(row == 0, place, "grid", lines)
}

fn draw_row(style: usize, cell: &Cell, scale: &Scale, unit: &Unit, grid: &Markup) -> Markup {
    let numbers = numbers(cell, unit);
    let place = |index: usize, value: f64| {
        (percent(across(scale, value)), px(off_center(index) * SPREAD_PX))
    };
    let mark = |estimate: &Estimate| {
        let at = |value: f64| percent(across(scale, value));
        html! {
            line x1=(at(estimate.low)) x2=(at(estimate.high)) {}
            use href=(mark_of(style)) x=(at(estimate.point)) {}
        }
    };
    // A label of two lines makes the row higher: the marks stay in its middle.
    let marks = drawn_cell(cell, unit, &style_class(style), ("y", "50%"), place, mark);
    row(&cell.label, HEIGHT, &html! { (grid) (marks) }, [&numbers.point, &numbers.interval])
}

/// Draws a row: its name, what lies in its strip of some pixels' height, and a number with what follows it.
pub(super) fn row(name: &str, height: f64, strip: &Markup, [number, more]: [&str; 2]) -> Markup {
    html! {
        div.row {
            div.row-label { (name) }
            svg.strip height=(px(height)) { (strip) }
            div.row-value { b { (number) } " " span.interval { (more) } }
        }
    }
}

/// The width of a letter on an axis, and of the narrowest strip that a page has, in pixels.
const LETTER_PX: f64 = 7.5;
const STRIP_PX: f64 = 170.0;

/// Draws the axis under rows: words at shares of the width, and what they are counted in. Those for which a narrow
/// strip has no room are marked.
pub(super) fn foot<'w>(words: impl Iterator<Item = (f64, &'w String)>, unit: &str) -> Markup {
    let mut end = f64::NEG_INFINITY;
    let words = words.map(|(at, word)| {
        let half = LETTER_PX * (word.chars().count() + 1) as f64 / STRIP_PX / 2.0;
        let fits = at - half >= end;
        end = if fits { at + half } else { end };
        (at, word, (!fits).then_some("further-tick"))
    });
    html! {
        div.row.row-axis {
            div.row-label {}
            svg.strip height="20" {
                @for (at, word, class) in words {
                    text class=[class] x=(percent(at)) y="14" text-anchor=[(at == 0.0).then_some("start")] { (word) }
                }
            }
            div.row-value.unit { (unit) }
        }
    }
}

/// Draws the axis of values under rows.
pub(crate) fn axis(scale: &Scale, ticks: &Ticks) -> Markup {
    foot(ticks.at.iter().map(|(value, word)| (across(scale, *value), word)), &ticks.unit)
}

/// Returns where a value lies in the width of a row.
pub(crate) fn across(scale: &Scale, value: f64) -> f64 {
    SIDE + (1.0 - 2.0 * SIDE) * scale.place(value)
}
