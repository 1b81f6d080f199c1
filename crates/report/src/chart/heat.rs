//! Two factors at once: a field per treatment, coloured by its number, which is written in it.

use super::body::{Cell, Field, Grid};
use super::numbers;
use crate::format::{Terms, rounded};
use crate::words;
use maud::{Markup, html};
use model::Response;

/// Steps of the scale of colours: more look alike.
const STEPS: usize = 7;

/// Numbers that span more than this are coloured by ratios.
const LOG_SPAN: f64 = 20.0;

/// How far from the median colours reach, as a ratio: one number from another world must not make
/// all others look the same.
const REACH: f64 = 1000.0;

/// From a number to a colour.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Colours {
    low: f64,
    high: f64,
    log: bool,
    /// Whether there are numbers beyond the ends.
    below: bool,
    above: bool,
}

impl Colours {
    fn over(values: &[f64]) -> Option<Colours> {
        let values = analysis::sorted(values);
        let (least, most) = (*values.first()?, *values.last()?);
        let log = least > 0.0 && most / least > LOG_SPAN;
        if !log {
            return Some(Colours { low: least, high: most, log, below: false, above: false });
        }
        let middle = analysis::quantile(&values, 0.5)?;
        let inside =
            || values.iter().copied().filter(|x| *x >= middle / REACH && *x <= middle * REACH);
        let low = inside().fold(f64::INFINITY, f64::min);
        let high = inside().fold(f64::NEG_INFINITY, f64::max);
        Some(Colours { low, high, log, below: least < low, above: most > high })
    }

    fn step(&self, value: f64) -> usize {
        let along = |x: f64| if self.log { x.max(f64::MIN_POSITIVE).ln() } else { x };
        let (first, last) = (along(self.low), along(self.high));
        if last <= first {
            return STEPS / 2;
        }
        let share = ((along(value) - first) / (last - first)).clamp(0.0, 1.0);
        ((share * STEPS as f64) as usize).min(STEPS - 1)
    }
}

/// All grids, on one scale of colours.
pub(super) fn draw(response: &Response, across: &str, down: &str, grids: &[Grid]) -> Markup {
    let cells = grids.iter().flat_map(|grid| &grid.rows).flat_map(|(_, fields)| fields);
    let values: Vec<f64> = cells
        .filter_map(|field| match field {
            Field::Measured(cell) => cell.estimate.map(|e| e.point),
            _ => None,
        })
        .collect();
    let Some(colours) = Colours::over(&values) else {
        return html! { p.quiet { "No trial gave a number." } };
    };
    let fields = || grids.iter().flat_map(|grid| &grid.rows).flat_map(|(_, fields)| fields);
    let hatched = fields().any(|field| matches!(field, Field::Absent(..)));
    let blank = fields().any(|field| matches!(field, Field::None));
    html! {
        (legend(&colours, response, hatched, blank))
        @for (index, grid) in grids.iter().enumerate() {
            @if !grid.heading.is_empty() { h5 { (words::capital(&grid.heading)) } }
            @let first = grids[..index].iter().map(rows_behind).sum();
            (draw_grid(response, [across, down], grid, first, &colours))
        }
    }
}

fn legend(colours: &Colours, response: &Response, hatched: bool, blank: bool) -> Markup {
    let terms = Terms::In(&response.unit);
    html! {
        p.heat-legend {
            (words::label(response)) ": "
            span.figures { @if colours.below { "≤ " } (rounded(colours.low, terms)) }
            span.heat-scale aria-hidden="true" {
                @for step in 0..STEPS { i.(format!("h{step}")) {} }
            }
            span.figures { @if colours.above { "≥ " } (rounded(colours.high, terms)) }
            @if colours.log { span.unit { " equal steps are equal ratios" } }
            @if hatched { span.heat-scale { i.absent aria-hidden="true" {} } "no number" }
            @if blank { span.unit { "blank: not part of this session's plan" } }
        }
    }
}

/// The rows of a grid in the table behind the chart: one for each field that is a treatment.
fn rows_behind(grid: &Grid) -> usize {
    let fields = grid.rows.iter().flat_map(|(_, fields)| fields);
    fields.filter(|field| !matches!(field, Field::None)).count()
}

fn draw_grid(
    response: &Response,
    [across, down]: [&str; 2],
    grid: &Grid,
    first: usize,
    colours: &Colours,
) -> Markup {
    let about = format!(
        "Heat map: {} by {down} (down) and {across} (across), {} by {} fields. Arrow keys step \
         through them; the table below holds the same numbers.",
        words::label(response),
        grid.rows.len(),
        grid.columns.len()
    );
    html! {
        div.plot.heat.many[grid.columns.len() > 4] role="img" tabindex="0" aria-label=(about)
            data-first=(first) style={ "--n:" (grid.columns.len()) } {
            @for (name, fields) in &grid.rows {
                span.heat-name { (name) }
                @for field in fields { (draw_field(response, field, colours)) }
            }
            span.heat-name.unit { (down) " ↑ · " (across) " →" }
            @for column in &grid.columns { span.heat-column { (column) } }
        }
    }
}

fn draw_field(response: &Response, field: &Field, colours: &Colours) -> Markup {
    let hue = |cell: &Cell| {
        format!("h{}", colours.step(cell.estimate.map_or(f64::NAN, |estimate| estimate.point)))
    };
    html! {
        @match field {
            Field::Measured(cell) => {
                span.field.mark.hit.(hue(cell)) {
                    (numbers(cell, &response.unit).point)
                }
            }
            Field::Absent(name, why) => {
                span.field.mark.hit.absent data-tip={ (name) "\n" (why) } { span { (why) } }
            }
            Field::None => span.field {}
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test should stop where it fails")]
mod tests {
    use super::*;

    #[test]
    fn colours_rise_with_the_number_and_use_the_whole_scale() {
        for values in
            [vec![1.0, 2.0, 3.0, 4.0], vec![1.0, 10.0, 100.0, 900.0], vec![-4.0, 0.0, 9.0]]
        {
            let colours = Colours::over(&values).unwrap();
            let steps: Vec<usize> = values.iter().map(|value| colours.step(*value)).collect();
            assert!(steps.is_sorted(), "{steps:?}");
            assert_eq!((steps[0], steps[values.len() - 1]), (0, STEPS - 1));
        }
        let same = Colours::over(&[5.0, 5.0]).unwrap();
        assert_eq!(same.step(5.0), STEPS / 2);
        assert_eq!(Colours::over(&[f64::NAN]), None);
    }

    #[test]
    fn one_number_from_another_world_leaves_the_others_their_colours() {
        let colours = Colours::over(&[1e-9, 1.0, 3.0, 10.0, 40.0]).unwrap();
        assert!(colours.below && !colours.above);
        assert_eq!(colours.low, 1.0);
        assert_eq!(colours.step(1e-9), 0);
        assert!(colours.step(3.0) > 0 && colours.step(10.0) > colours.step(3.0));
    }
}
