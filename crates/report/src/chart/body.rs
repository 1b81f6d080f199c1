//! What a figure consists of, before it is drawn.

use super::axis::Axis;
use super::scale::{Scale, Zero};
use crate::say::missing::Missing;
use model::{Estimate, Limit, Response};

/// Treatments with what was measured there.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// The treatment in words.
    pub(crate) label: String,
    pub(crate) estimate: Option<Estimate>,
    /// Block and number of the trials that are drawn.
    pub(crate) dots: Vec<(u32, f64)>,
    /// Trials with a number, drawn or not.
    pub(crate) trials: usize,
}

/// A line over the axis; without an axis, a row.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) name: String,
    /// Which colour, mark and dash.
    pub(crate) style: usize,
    /// By ascending level.
    pub(crate) points: Vec<(f64, Cell)>,
}

/// One coordinate system.
#[derive(Clone, Debug)]
pub(crate) struct Panel<'a> {
    pub(crate) response: &'a Response,
    /// What tells it from its neighbours; empty if it is alone.
    pub(crate) heading: String,
    pub(crate) lines: Vec<Line>,
    /// What a theory says of all its treatments.
    pub(crate) limits: Vec<&'a Limit>,
    /// Rows without a number, by name with a word that says why.
    pub(crate) absent: Vec<(String, String)>,
}

/// How the observations of a treatment are distributed.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    /// The treatment in words.
    pub(crate) name: String,
    pub(crate) style: usize,
    /// Trials that it is made of, of how many, and the observations in them.
    pub(crate) trials: usize,
    pub(crate) of: usize,
    pub(crate) observations: usize,
    /// By ascending share.
    pub(crate) points: Vec<Quantile>,
    /// Those that are marked, with their names.
    pub(crate) marked: Vec<(&'static str, Quantile)>,
}

/// A quantile of a treatment's observations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quantile {
    /// The share of the observations that are not above it, 0 to 1.
    pub(crate) share: f64,
    /// Over all trials, each with the same weight.
    pub(crate) value: f64,
    /// The lowest and the highest of the trials'.
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// How a figure is drawn.
#[derive(Clone, Debug)]
pub(crate) enum Body<'a> {
    /// Lines over a numeric factor; without an axis, rows.
    Panels { axis: Option<Axis>, panels: Vec<Panel<'a>> },
    /// Distributions of observations.
    Distributions { response: &'a Response, curves: Vec<Curve> },
}

/// A chart with what stands around it.
#[derive(Clone, Debug)]
pub(crate) struct Figure<'a> {
    pub(crate) title: String,
    /// Factors that stand still, where a reader might wonder.
    pub(crate) held: String,
    /// The factor whose levels the lines are; its plain name.
    pub(crate) lines_of: String,
    pub(crate) body: Body<'a>,
    /// Whether CPU time is drawn in place of elapsed time, in a sentence.
    pub(crate) clock: Option<String>,
    /// Panels or rows that were not drawn.
    pub(crate) left_out: usize,
    /// From where to where is measured, where all of it shows one response that no figure before it
    /// shows.
    pub(crate) definition: Option<String>,
    /// Why treatments that belong here have no number.
    pub(crate) absent: Option<Missing>,
}

/// Returns the vertical axis of a panel, or the common one of rows: panels of one response share it.
/// `None` where none has a finite number.
pub(crate) fn scale_of(panels: &[Panel<'_>], of: &Panel<'_>, zero: Zero) -> Option<Scale> {
    let same = panels.iter().filter(|panel| panel.response.name == of.response.name);
    scale_of_cells(same.flat_map(Panel::cells), zero)
}

/// Returns the axis on which some cells lie.
pub(crate) fn scale_of_cells<'c>(
    cells: impl Iterator<Item = &'c Cell>,
    zero: Zero,
) -> Option<Scale> {
    let values = cells.flat_map(|cell| {
        let estimate = cell.estimate.map(|e| [e.point, e.low, e.high]);
        cell.dots.iter().map(|(_, value)| *value).chain(estimate.into_iter().flatten())
    });
    Scale::over(values, zero)
}

impl Panel<'_> {
    /// Returns all cells, drawn or not, in the order of the table behind the chart.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.lines.iter().flat_map(|line| &line.points).map(|(_, cell)| cell)
    }

    /// Returns its rows, each by its name within the panel.
    pub(crate) fn rows(&self) -> Vec<(usize, Cell)> {
        let row = |line: &Line, cell: &Cell| {
            let name = if line.name.is_empty() { &cell.label } else { &line.name };
            (line.style, Cell { label: name.clone(), ..cell.clone() })
        };
        let cells = |line| -> Vec<_> { Line::cells(line).map(|cell| row(line, cell)).collect() };
        self.lines.iter().flat_map(cells).collect()
    }
}

impl Line {
    fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.points.iter().map(|(_, cell)| cell)
    }
}

impl<'a> Figure<'a> {
    /// Returns a figure with nothing around it yet.
    pub(super) fn bare(title: String, held: String, body: Body<'a>) -> Figure<'a> {
        Figure {
            title,
            held,
            body,
            lines_of: String::new(),
            clock: None,
            left_out: 0,
            definition: None,
            absent: None,
        }
    }

    /// Returns its panels; none where it shows distributions.
    pub(crate) fn panels(&self) -> &[Panel<'a>] {
        match &self.body {
            Body::Panels { panels, .. } => panels,
            Body::Distributions { .. } => &[],
        }
    }

    /// Returns the names of the responses that it shows.
    pub(crate) fn responses(&self) -> Vec<&'a str> {
        self.all_responses().into_iter().map(|response| response.name.as_str()).collect()
    }

    fn all_responses(&self) -> Vec<&'a Response> {
        match &self.body {
            Body::Distributions { response, .. } => vec![*response],
            Body::Panels { panels, .. } => panels.iter().map(|panel| panel.response).collect(),
        }
    }

    /// Returns the response that all of it shows, if it is one.
    pub(crate) fn response(&self) -> Option<&'a Response> {
        let responses = self.all_responses();
        let first = *responses.first()?;
        responses.iter().all(|response| response.name == first.name).then_some(first)
    }

    /// Returns all cells.
    pub(crate) fn cells(&self) -> Vec<&Cell> {
        self.panels().iter().flat_map(Panel::cells).collect()
    }

    /// Keeps at most `most` dots per cell: evenly by rank, so that the spread and both extremes
    /// stay as they are.
    pub(crate) fn thin(&mut self, most: usize) {
        let Body::Panels { panels, .. } = &mut self.body else { return };
        let lines = panels.iter_mut().flat_map(|panel| &mut panel.lines);
        for (_, cell) in lines.flat_map(|line| &mut line.points) {
            if cell.dots.len() > most {
                cell.dots.sort_by(|a, b| a.1.total_cmp(&b.1));
                let last = cell.dots.len() - 1;
                let steps = most.saturating_sub(1).max(1);
                cell.dots = (0..most).map(|i| cell.dots[i * last / steps]).collect();
            }
        }
    }
}
