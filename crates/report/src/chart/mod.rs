//! Charts as SVG, drawn here: no library, no picture, no colour that a theme cannot change.
//!
//! Horizontal places are percentages and vertical ones pixels, so that a chart fills whatever
//! width it is given while its text and its marks keep their size: it stays legible in a narrow
//! window, where a scaled picture would not.

mod axis;
mod body;
mod cell;
mod distributions;
mod figures;
pub(crate) mod letters;
mod lines;
mod main_answers;
mod material;
mod meter;
mod region;
mod response;
mod rows;
mod scale;
mod series;
mod shown;
mod speedup;
mod stack;
mod throughput;
mod ticks;
mod timeline;
mod times;
mod workers;

#[cfg(test)]
mod tests;

pub(crate) use axis::Axis as LevelAxis;
pub(crate) use body::{
    Body, Curve, Figure, Line, Panel, Quantile, scale_along, scale_of, scale_of_cells,
};
pub(crate) use cell::Cell;
pub(crate) use figures::figures;
pub(crate) use lines::legend_of;
pub(crate) use main_answers::{Answer, Answers};
pub(crate) use meter::meter;
pub(crate) use region::strip;
pub(crate) use response::response_by_load;
pub(crate) use rows::{across, axis as row_axis, grid as row_grid};
pub(crate) use scale::{Scale, Zero};
pub(crate) use series::load_over_time;
pub(crate) use stack::{Stack, key, shares};
pub(crate) use throughput::throughput;
pub(crate) use ticks::Ticks;
pub(crate) use timeline::Timelines;
pub(crate) use times::{Mark, request_times};
pub(crate) use workers::Workers;

use crate::doc::{self, Drawing, Table, Text};
use crate::text::Letters;
use crate::words;
use letters::Sheet;
use maud::{Markup, PreEscaped, html};
use model::{Estimate, Unit};
use std::borrow::Borrow;
use std::fmt::Write as _;
use wording::number::{Parts, Terms, count, parts, value_in};

/// Different colours, marks and dashes; a ninth line begins again.
pub(crate) const STYLES: usize = 8;

/// Dots drawn per treatment at most.
pub(crate) const DOTS_MAX: usize = 60;

/// Dots drawn on one page at most, so that it stays light.
const DOTS_ON_PAGE: usize = 4_000;

/// Treatments on a page, beyond which it bears fewer dots.
const CELLS_MANY: usize = 400;

/// Dots drawn per treatment at least, however many treatments there are.
const DOTS_MIN: usize = 2;

/// How many dots each treatment of a page may have, given how many there are.
pub(crate) fn dots_per_cell(cells: usize) -> usize {
    // With many treatments the tables take the room.
    let most = if cells > CELLS_MANY { DOTS_ON_PAGE / 2 } else { DOTS_ON_PAGE };
    (most / cells.max(1)).clamp(DOTS_MIN, DOTS_MAX)
}

/// The marks of all styles.
pub(crate) const MARKS: [&str; STYLES] = [
    "M0-4A4 4 0 1 1 0 4A4 4 0 1 1 0-4Z",
    "M-3.5-3.5H3.5V3.5H-3.5Z",
    "M0-5L5 0L0 5L-5 0Z",
    "M0-5L4.8 3.6H-4.8Z",
    "M0 5L4.8-3.6H-4.8Z",
    "M-1.6-4.8H1.6V-1.6H4.8V1.6H1.6V4.8H-1.6V1.6H-4.8V-1.6H-1.6Z",
    "M0-5.2L3.7-1.7L2.4 4.2H-2.4L-3.7-1.7Z",
    "M-4.8-2.2H4.8V2.2H-4.8Z",
];

/// The marks of all charts, defined once per page.
pub(crate) fn definitions() -> Markup {
    html! {
        svg.definitions width="0" height="0" aria-hidden="true" focusable="false" {
            defs {
                @for (index, shape) in MARKS.iter().enumerate() {
                    path id={ "mark" (index) } d=(shape) {}
                }
            }
        }
    }
}

/// The most characters of a title.
const TITLE_CHARACTERS: usize = 200;

/// A figure at an address of the page, and in the letters of a terminal unless only a page shows it.
struct Chart<F> {
    figure: F,
    place: String,
    letters: Option<Letters>,
}

impl<'a, F: Borrow<Figure<'a>>> Drawing for Chart<F> {
    fn svg(&self) -> Markup {
        drawn(self.figure.borrow(), &self.place)
    }

    fn letters(&self, width: usize) -> Vec<String> {
        let drawn = |letters| letters::drawn(self.figure.borrow(), Sheet::new(width, letters));
        self.letters.map_or(Vec::new(), drawn)
    }
}

/// Returns a figure with its title, a caption and the numbers behind it. `place` is its address on the page;
/// without letters only a page draws it.
pub(crate) fn shown<'a, F: Borrow<Figure<'a>> + 'a>(
    figure: F,
    place: String,
    letters: Option<Letters>,
    caption: Vec<Text>,
) -> doc::Figure<'a> {
    let title = wording::capital(&wording::short(&figure.borrow().title, TITLE_CHARACTERS));
    let numbers = Some(numbers_behind(figure.borrow()));
    let data = data(figure.borrow());
    let chart = Chart { figure, place, letters };
    doc::Figure { numbers, data, ..doc::Figure::new(title, chart, caption) }
}

/// Returns the drawing of a figure with its legend. `place` is its address on the page.
fn drawn(figure: &Figure<'_>, place: &str) -> Markup {
    html! {
        @match &figure.body {
            Body::Panels { axis: Some(axis), panels } => {
                (lines::legend(panels, &figure.lines_of))
                (lines::draw(axis, panels, place))
            }
            Body::Panels { axis: None, panels } => (rows::panels(panels, (&figure.title, place))),
            Body::Distributions { response, of, curves } => {
                (distributions::draw((response, of, curves), &figure.lines_of, place))
            }
        }
    }
}

/// Returns what the marks of a figure mean.
pub(crate) fn explained(figure: &Figure<'_>) -> String {
    if let Body::Distributions { response, curves, .. } = &figure.body {
        return distributions::caption(response, curves);
    }
    let cells = figure.cells();
    let drawn: usize = cells.iter().map(|cell| cell.dots.len()).sum();
    let trials: usize = cells.iter().map(|cell| cell.trials).sum();
    let among = match drawn == trials {
        true => count(trials as u64),
        false => {
            format!("{} of {} drawn, evenly by rank", count(drawn as u64), count(trials as u64))
        }
    };
    let large = match computed(figure) {
        true => "the number that all of them computed",
        false => "the estimate with its 95 % confidence interval",
    };
    if trials > 0 && drawn == 0 {
        return format!("Each mark is {large}.");
    }
    let beyond = match body::beyond(&figure.body) {
        0 => String::new(),
        1 => " One trial lies beyond the axis and is drawn at its edge.".into(),
        n => format!(" {} trials lie beyond the axis and are drawn at its edge.", count(n as u64)),
    };
    format!("Each small dot is one trial ({among}); each large mark is {large}.{beyond}")
}

/// Returns the numbers behind a figure, in the order in which it draws them. A response that is the same
/// in all rows is said once, over its numbers.
fn numbers_behind(figure: &Figure<'_>) -> Table {
    if let Body::Distributions { response, curves, .. } = &figure.body {
        return distributions::table(response, curves);
    }
    let same = figure.response();
    let label = same.map_or("estimate".into(), words::label);
    let response = if same.is_none() { &["response"][..] } else { &[] };
    let number = format!("#{label}");
    let [name, samples] = figure.heads;
    let samples = format!("#{samples}");
    let heads = [&[name], response, &[&number, "#95 % interval", &samples]].concat();
    let mut table = Table::of(&heads);
    for panel in figure.panels() {
        for cell in panel.cells() {
            let parts = numbers(cell, &panel.response.unit);
            let response = same.is_none().then(|| words::label(&panel.response));
            let named = std::iter::once(cell.label.clone()).chain(response);
            table.row(named.chain([parts.point, parts.interval, cell.trials.to_string()]));
        }
    }
    table
}

/// Returns the numbers of a figure for other programs: a column for each factor that varies, and numbers as they were
/// computed, in the response's own unit. `None` where a number is of no treatment.
fn data(figure: &Figure<'_>) -> Option<Table> {
    if matches!(figure.body, Body::Distributions { .. }) {
        return None;
    }
    let cells = figure.panels().iter().flat_map(|panel| panel.cells().map(move |it| (panel, it)));
    let cells = cells.map(|(panel, cell)| Some((panel, cell, cell.treatment.as_ref()?)));
    let cells: Vec<_> = cells.collect::<Option<_>>()?;
    let (.., first) = cells.first()?;
    let varies =
        |name: &&String| cells.iter().any(|(.., it)| it.0.get(*name) != first.0.get(*name));
    let factors: Vec<&String> = first.0.keys().filter(varies).collect();
    let heads = ["response", "#value", "#low", "#high", "unit", "#trials"];
    let heads: Vec<&str> = factors.iter().map(|name| name.as_str()).chain(heads).collect();
    let mut table = Table::of(&heads);
    for (panel, cell, treatment) in &cells {
        let levels = factors.iter().map(|name| treatment.level(name).unwrap_or_default());
        let ends = cell.estimate.map_or_else(Default::default, |it| {
            [it.point, it.low, it.high].map(|end| end.to_string())
        });
        let [value, low, high] = ends;
        let rest = [panel.response.name.clone(), value, low, high];
        let last = [panel.response.unit.name().to_string(), cell.trials.to_string()];
        table.row(levels.map(String::from).chain(rest).chain(last));
    }
    Some(table)
}

/// Whether nothing in a figure was measured.
fn computed(figure: &Figure<'_>) -> bool {
    let mut known = figure.cells().into_iter().filter_map(|cell| cell.estimate).peekable();
    known.peek().is_some() && known.all(|estimate| estimate.is_exact())
}

/// The estimate of a cell ready to be read; dashes where there is none.
fn numbers(cell: &Cell, unit: &Unit) -> Parts {
    match &cell.estimate {
        Some(estimate) => parts(estimate, Terms::In(unit)),
        None => Parts { point: "–".into(), interval: "–".into() },
    }
}

/// A cell as it is drawn: its trials, and over them its estimate, at a place of the drawing.
///
/// What they say when pointed at stands in the table behind the chart, where each cell has its row:
/// the script reads it there. A dot's own block and number are a line each of what the cell carries.
/// There may be thousands of both, so that each is written as shortly as can be.
fn drawn_cell(
    cell: &Cell,
    unit: &Unit,
    class: &str,
    (axis, at): (&str, &str),
    dot: impl Fn(usize, f64) -> (String, String),
    estimate: impl Fn(&Estimate) -> Markup,
) -> Markup {
    let (mut circles, mut tips) = (String::new(), Vec::new());
    for (index, (block, value)) in cell.dots.iter().enumerate() {
        let (x, y) = dot(index, *value);
        let _ = write!(circles, "<circle cx=\"{x}\" cy=\"{y}\"></circle>");
        tips.push(format!("{block} {}", value_in(*value, Terms::In(unit))));
    }
    let kind = if cell.estimate.is_some() { "mark" } else { "lone" };
    let class = format!("{kind} {class}");
    let (x, y) = if axis == "x" { (Some(at), None) } else { (None, Some(at)) };
    html! {
        svg x=[x] y=[y] class=(class.trim_end()) data-dots=[(!tips.is_empty()).then(|| tips.join("\n"))] {
            (PreEscaped(circles))
            @if let Some(known) = &cell.estimate { (estimate(known)) }
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
pub(crate) fn percent(share: f64) -> String {
    format!("{}%", shortest(share * 100.0, 2))
}

/// A length in pixels, as SVG reads it.
pub(crate) fn px(length: f64) -> String {
    shortest(length, 1)
}

/// Returns a number with at most `decimals` digits after the point, and no zeros at the end of them.
fn shortest(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// The classes of a style: its colour and its dash; beyond the first, its mark is hollow.
pub(crate) fn style_class(style: usize) -> String {
    format!("s{}{}", style % STYLES, if style < STYLES { "" } else { " hollow" })
}

/// The mark of a style.
pub(crate) fn mark_of(style: usize) -> String {
    format!("#mark{}", style % STYLES)
}
