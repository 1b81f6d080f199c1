//! One row per treatment: the trials' dots, the interval over them, the number beside them.

use super::body::{self, Cell, Panel, scale_of_cells};
use super::scale::{Scale, Zero};
use super::{drawn_cell, mark_of, numbers, off_center, percent, px, style_class};
use crate::format::{Terms, axis_unit, rounded, tick};
use crate::words;
use maud::{Markup, html};
use model::{Estimate, Response, Unit};

/// Height of a row of one line, in pixels.
const HEIGHT: f64 = 30.0;

/// How far dots are moved off the middle, in pixels, so that equal values do not hide each other.
const SPREAD_PX: f64 = 8.0;

/// Share of the width left free at each side.
const SIDE: f64 = 0.03;

/// Rows with their styles, and those without a number by name with a word that says why.
type Rows<'r> = (&'r [(usize, Cell)], &'r [(String, String)]);

/// The panels of a figure without an axis, under its title, at an address of the page that is its own.
pub(super) fn panels(panels: &[Panel<'_>], (title, place): (&str, &str)) -> Markup {
    let mut first = 0;
    html! {
        @for (index, panel) in panels.iter().enumerate() {
            @if !panel.heading.is_empty() { h5 { (words::capital(&panel.heading)) } }
            @let scale = body::scale_of(panels, panel, zero(panel.response));
            @let about = format!("{title}{}{}", if panel.heading.is_empty() { "" } else { ", " }, panel.heading);
            @let place = format!("{place}-{}", index + 1);
            (draw(panel.response, (&panel.rows(), &panel.absent), scale, (&about, &place, first)))
            ({ first += panel.cells().count(); "" })
        }
    }
}

/// Rows with their axis, and those that have no number; under a title, at an address of the page. The
/// table behind has their cells from row `first` on.
pub(crate) fn draw(
    response: &Response,
    (rows, absent): Rows<'_>,
    scale: Option<Scale>,
    (title, place, first): (&str, &str, usize),
) -> Markup {
    let Some(scale) = scale else {
        return html! { p.quiet { "No trial gave a number." } };
    };
    let ticks = scale.ticks(5);
    let about = format!(
        "Chart: {title}. {} rows with estimate and interval. Arrow keys step through \
         them; the table below holds the same numbers.",
        rows.len()
    );
    html! {
        div.rows role="img" tabindex="0" aria-label=(about) data-first=(first) {
            @for (index, (style, cell)) in rows.iter().enumerate() {
                (draw_row(*style, cell, &scale, &response.unit, &grid(&scale, &ticks, place, index)))
            }
            @for (label, word) in absent {
                div.row {
                    div.row-label { (label) }
                    div.strip {}
                    div.row-value.row-absent { (word) }
                }
            }
            (axis(&scale, &ticks, &response.unit))
        }
    }
}

/// Whether an axis of rows begins at 0: things are counted from there, and places on a scale are not.
pub(crate) fn zero(response: &Response) -> Zero {
    if response.unit == Unit::Count { Zero::Always } else { Zero::IfNear }
}

/// The axis that rows of a response share; `None` where none has a finite number.
pub(crate) fn scale_of(response: &Response, rows: &[(usize, Cell)]) -> Option<Scale> {
    scale_of_cells(rows.iter().map(|(_, cell)| cell), zero(response))
}

/// The lines of the axis behind a row: drawn once, and taken from there by the rows below.
fn grid(scale: &Scale, ticks: &[f64], place: &str, row: usize) -> Markup {
    html! {
        @if row == 0 {
            g.grid id={ (place) "-grid" } {
                @for value in ticks {
                    @let at = percent(across(scale, *value));
                    line x1=(at) x2=(at) y2="100%" {}
                }
            }
        } @else {
            use href={ "#" (place) "-grid" } {}
        }
    }
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
    html! {
        div.row {
            div.row-label { (cell.label) }
            svg.strip height=(px(HEIGHT)) {
                (grid)
                // A label of two lines makes the row higher: the marks stay in its middle.
                (drawn_cell(cell, unit, &style_class(style), ("y", "50%"), place, mark))
            }
            div.row-value { b { (numbers.point) } " " span.interval { (numbers.interval) } }
        }
    }
}

fn axis(scale: &Scale, ticks: &[f64], unit: &Unit) -> Markup {
    let terms = Terms::In(unit);
    let largest = ticks.iter().copied().fold(0.0, |a: f64, b| a.max(b.abs()));
    let step = ticks.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    let name = if scale.is_log() { "log scale".to_string() } else { axis_unit(largest, terms) };
    html! {
        div.row.row-axis {
            div.row-label {}
            svg.strip height="20" {
                @for value in ticks {
                    text x=(percent(across(scale, *value))) y="14" {
                        @if scale.is_log() { (log_tick(*value, terms)) }
                        @else { (tick(*value, step, largest, terms)) }
                    }
                }
            }
            div.row-value.unit { (name) }
        }
    }
}

/// A tick of a logarithmic axis carries its own unit: "10 µs", "1 ms".
pub(crate) fn log_tick(value: f64, terms: Terms<'_>) -> String {
    if value == 0.0 {
        return "0".into();
    }
    rounded(value, terms)
}

fn across(scale: &Scale, value: f64) -> f64 {
    SIDE + (1.0 - 2.0 * SIDE) * scale.place(value)
}
