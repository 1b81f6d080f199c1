//! Charts as SVG, drawn here: no library, no picture, no colour that a theme cannot change.
//!
//! Horizontal places are percentages and vertical ones pixels, so that a chart fills whatever
//! width it is given while its text and its marks keep their size: it stays legible in a narrow
//! window, where a scaled picture would not.

mod choose;
mod grids;
mod lines;
mod meter;
mod region;
mod rows;
mod scale;
mod stack;

#[cfg(test)]
mod tests;

pub(crate) use choose::{Body, Cell, Figure, Group, Line, Panel, figures};
pub(crate) use meter::{
    Kind as MeterKind, Meter, draw as draw_meter, meter, time as meter_time, told as meter_told,
};
pub(crate) use region::strip;
pub(crate) use scale::Scale;
pub(crate) use stack::{Piece, key, shares, stack};
pub(crate) use {lines::scale_of, rows::log_tick, rows::scale_of as scale_of_rows};

use crate::format::{Parts, Terms, count, parts, value_in};
use crate::words::{self, capital, counted};
use maud::{Markup, html};
use model::Unit;

/// Different colours, marks and dashes; a ninth line begins again.
pub(crate) const STYLES: usize = 8;

/// Dots drawn per treatment at most.
pub(crate) const DOTS_MAX: usize = 60;

/// Dots drawn on one page at most, so that it stays light.
const DOTS_ON_PAGE: usize = 8_000;

/// Dots drawn per treatment at least, however many treatments there are.
const DOTS_MIN: usize = 4;

/// How many dots each treatment of a page may have, given how many there are.
pub(crate) fn dots_per_cell(cells: usize) -> usize {
    (DOTS_ON_PAGE / cells.max(1)).clamp(DOTS_MIN, DOTS_MAX)
}

/// The marks of all charts, defined once per page.
pub(crate) fn definitions() -> Markup {
    let shapes = [
        "M0-4A4 4 0 1 1 0 4A4 4 0 1 1 0-4Z",
        "M-3.5-3.5H3.5V3.5H-3.5Z",
        "M0-5L5 0L0 5L-5 0Z",
        "M0-5L4.8 3.6H-4.8Z",
        "M0 5L4.8-3.6H-4.8Z",
        "M-1.6-4.8H1.6V-1.6H4.8V1.6H1.6V4.8H-1.6V1.6H-4.8V-1.6H-1.6Z",
        "M0-5.2L3.7-1.7L2.4 4.2H-2.4L-3.7-1.7Z",
        "M-4.8-2.2H4.8V2.2H-4.8Z",
    ];
    html! {
        svg.definitions width="0" height="0" aria-hidden="true" focusable="false" {
            defs {
                @for (index, shape) in shapes.iter().enumerate() {
                    path id={ "mark" (index) } d=(shape) {}
                }
            }
        }
    }
}

/// A figure with its title, legend, chart, caption and the table behind it.
pub(crate) fn figure(figure: &Figure<'_>) -> Markup {
    let cells = figure.cells();
    let drawn: usize = cells.iter().map(|cell| cell.dots.len()).sum();
    let trials: usize = cells.iter().map(|cell| cell.trials).sum();
    html! {
        figure.figure data-dots=(drawn) {
            h4 { (capital(&figure.title)) }
            @match &figure.body {
                Body::Lines { axis, levels, groups, shared } => {
                    (lines::legend(groups, &figure.lines_of))
                    (lines::draw(axis, levels, groups, *shared))
                }
                Body::Rows { response, rows, absent } => {
                    (rows::draw(response, rows, absent, &figure.title))
                }
            }
            figcaption {
                @if drawn == trials {
                    "Each small dot is one trial (" (count(trials as u64)) "); "
                } @else {
                    "Each small dot is one trial (" (count(drawn as u64)) " of "
                    (count(trials as u64)) " drawn, evenly by rank); "
                }
                "each large mark is the estimate with its 95 % confidence interval."
                @if !figure.held.is_empty() { " Held still: " (figure.held) "." }
                @if figure.left_out > 0 {
                    " " (figure.left_out) " more are in the table of estimates alone."
                }
                @if let Some(definition) = &figure.definition { br; (capital(definition)) }
                @if let Some(absent) = &figure.absent {
                    br; b { (capital(&absent.lead)) ":" } " " (absent.why) "."
                }
            }
            (table(figure))
        }
    }
}

/// The numbers of a figure as a table, for those who do not see it.
fn table(figure: &Figure<'_>) -> Markup {
    html! {
        details.behind {
            summary { "The numbers behind this chart" }
            div.scroll {
                table {
                    thead {
                        tr {
                            th scope="col" { "treatment" }
                            th scope="col" { "response" }
                            th.number scope="col" { "estimate" }
                            th.number scope="col" { "95 % interval" }
                            th.number scope="col" { "trials" }
                        }
                    }
                    tbody {
                        @match &figure.body {
                            Body::Lines { groups, .. } => {
                                @for panel in groups.iter().flat_map(|group| &group.panels) {
                                    @for (_, cell) in panel.lines.iter().flat_map(|l| &l.points) {
                                        (table_row(cell, panel.response))
                                    }
                                }
                            }
                            Body::Rows { response, rows, .. } => {
                                @for (_, cell) in rows { (table_row(cell, response)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn table_row(cell: &Cell, response: &model::Response) -> Markup {
    let parts = numbers(cell, &response.unit);
    html! {
        tr {
            th scope="row" { (cell.label) }
            td { (words::label(response)) }
            td { (parts.point) }
            td { (parts.interval) }
            td { (cell.trials) }
        }
    }
}

/// The estimate of a cell ready to be read; dashes where there is none.
fn numbers(cell: &Cell, unit: &Unit) -> Parts {
    match &cell.estimate {
        Some(estimate) => parts(estimate, Terms::In(unit)),
        None => Parts { point: "–".into(), interval: "–".into() },
    }
}

/// What a mark says when it is pointed at: three lines.
fn tip(cell: &Cell, unit: &Unit) -> String {
    let parts = numbers(cell, unit);
    let trials = counted(cell.trials as u64, "trial");
    format!("{}\n{} {}\n{trials}", cell.label, parts.point, parts.interval)
}

/// The trials of a cell. What a dot says when pointed at lies in its data attributes.
fn dots(cell: &Cell, unit: &Unit, place: impl Fn(usize, f64) -> (String, String)) -> Markup {
    html! {
        g.dots data-name=(cell.label) {
            @for (index, (block, value)) in cell.dots.iter().enumerate() {
                @let (x, y) = place(index, *value);
                circle cx=(x) cy=(y) data-b=(block) data-v=(value_in(*value, Terms::In(unit))) {}
            }
        }
    }
}

/// Where a dot stands off its middle, from -1 to 1. Multiples of the golden ratio's fraction
/// spread evenly, however many they are, and the same dot stands in the same place every time.
fn off_center(index: usize) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_75;
    ((index as f64 + 1.0) * GOLDEN).fract() * 2.0 - 1.0
}

/// A share of the width, as SVG reads it.
fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

/// A length in pixels, as SVG reads it.
fn px(length: f64) -> String {
    format!("{length:.1}")
}

/// The classes of a style: its colour and its dash.
fn style_class(style: usize) -> String {
    format!("s{}", style % STYLES)
}

/// The mark of a style.
fn mark_of(style: usize) -> String {
    format!("#mark{}", style % STYLES)
}
