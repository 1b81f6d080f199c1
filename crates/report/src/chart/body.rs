//! What a figure consists of, before it is drawn.

use super::axis::Axis;
use super::cell::Cell;
use super::scale::{LOG_SPAN, Scale, Zero, drawable};
use crate::say::missing::Missing;
use model::{Estimate, Limit, Response, Unit};
use std::borrow::Cow;

/// Beyond numbers that are nearly equal, values have a place within this part of them.
const NARROW: f64 = 0.05;

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
    pub(crate) response: Cow<'a, Response>,
    /// What tells it from its neighbours; empty if it is alone.
    pub(crate) heading: String,
    pub(crate) lines: Vec<Line>,
    /// Laws that were fitted to the lines, each in the style of its line if it replaces the way between the
    /// line's marks, and the ideal: by ascending level, without marks.
    pub(crate) laws: Vec<Line>,
    /// What a theory says of all its treatments.
    pub(crate) limits: Vec<&'a Limit>,
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

/// The share of a treatment's observations, 0 to 1, that are not above a value; over all trials, each with
/// the same weight. The ends are the lowest and the highest of the trials' own values.
pub(crate) type Quantile = (f64, Estimate);

/// How a figure is drawn.
#[derive(Clone, Debug)]
pub(crate) enum Body<'a> {
    /// Lines over a numeric factor; without an axis, rows.
    Panels { axis: Option<Axis>, panels: Vec<Panel<'a>> },
    /// Distributions of observations, which are called by what they are.
    Distributions { response: Cow<'a, Response>, of: &'static str, curves: Vec<Curve> },
}

/// A chart with what stands around it.
#[derive(Clone, Debug)]
pub(crate) struct Figure<'a> {
    pub(crate) title: String,
    /// Factors that stand still, where a reader might wonder.
    pub(crate) held: String,
    /// The factor whose levels the lines are; its plain name.
    pub(crate) lines_of: String,
    /// What a cell stands for, and what its estimate was made of: the heads of the numbers behind it.
    pub(crate) heads: [&'static str; 2],
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
    scale_of_cells(cells_beside(panels, of), zero)
}

/// Returns the cells of all panels of a panel's response, and what laws say there.
fn cells_beside<'p>(panels: &'p [Panel<'_>], of: &Panel<'_>) -> impl Iterator<Item = &'p Cell> {
    let name = of.response.name.clone();
    let same = panels.iter().filter(move |panel| panel.response.name == name);
    same.flat_map(|panel| panel.cells().chain(panel.laws.iter().flat_map(Line::cells)))
}

/// Returns the axis on which some cells lie.
pub(crate) fn scale_of_cells<'c>(
    cells: impl Iterator<Item = &'c Cell>,
    zero: Zero,
) -> Option<Scale> {
    let cells: Vec<&Cell> = cells.collect();
    let holds = range(cells.iter().filter_map(|cell| cell.estimate));
    let near = cells.iter().flat_map(|cell| cell.values()).filter(|x| holds(*x));
    Scale::over(near, zero)
}

/// Returns what tells whether a value has a place on the axis of some estimates: it lies in their intervals, or
/// beyond them by no more than half of what they span. Without an estimate each value has.
fn range(estimates: impl Iterator<Item = Estimate>) -> impl Fn(f64) -> bool {
    let ends = estimates.flat_map(|it| [it.point, it.low, it.high]).filter_map(drawable);
    let ends: Vec<f64> = ends.collect();
    let least = ends.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let positive = ends.iter().copied().filter(|x| *x > 0.0).fold(f64::INFINITY, f64::min);
    let (low, high) = match () {
        () if ends.is_empty() => (f64::NEG_INFINITY, f64::INFINITY),
        () if least >= 0.0 && most > LOG_SPAN * positive => {
            let room = (most / positive).sqrt();
            (if least == 0.0 { 0.0 } else { least / room }, most * room)
        }
        () => {
            let room = ((most - least) / 2.0).max(most.abs().max(least.abs()) * NARROW);
            (least - room, most + room)
        }
    };
    move |x| (low..=high).contains(&x)
}

/// Returns the vertical axis of a panel of lines. Where the horizontal one is linear and values span little at each
/// level, it is linear although they span much in all: what grows in proportion is then a straight line.
pub(crate) fn scale_along(axis: &Axis, panels: &[Panel<'_>], of: &Panel<'_>) -> Option<Scale> {
    let scale = scale_of(panels, of, Zero::Always)?;
    let Scale::Linear { low: first, high: last } = axis.scale else { return Some(scale) };
    let same = panels.iter().filter(|panel| panel.response.name == of.response.name);
    let points = same.flat_map(|panel| panel.lines.iter().flat_map(|line| &line.points));
    let mut at: Vec<(f64, f64)> =
        points.filter_map(|(x, cell)| Some((*x, cell.estimate?.point))).collect();
    at.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let is_narrow = at.chunk_by(|one, other| one.0 == other.0).all(|level| span(level) <= LOG_SPAN);
    let grows_as_levels = first > 0.0 && span(&at) <= LOG_SPAN * last / first;
    if scale.is_log() && is_narrow && grows_as_levels {
        let holds = range(cells_beside(panels, of).filter_map(|cell| cell.estimate));
        let near = cells_beside(panels, of).flat_map(Cell::values).filter(|x| holds(*x));
        return Scale::linear_over(near, Zero::Always);
    }
    Some(scale)
}

/// Returns how many times as large as the least of some points the greatest is.
fn span(points: &[(f64, f64)]) -> f64 {
    let values = points.iter().map(|(_, value)| *value);
    values.clone().fold(0.0, f64::max) / values.fold(f64::INFINITY, f64::min)
}

/// Returns how many trials of a figure lie beyond its axes, at whose edges they are drawn.
pub(crate) fn beyond(body: &Body<'_>) -> usize {
    let Body::Panels { axis, panels } = body else { return 0 };
    let of_panel = |panel: &Panel<'_>| {
        let scale = match axis {
            Some(axis) => scale_along(axis, panels, panel),
            None => scale_of(panels, panel, panel.zero_of_rows()),
        };
        let dots = panel.cells().flat_map(|cell| &cell.dots);
        scale.map_or(0, |scale| dots.filter(|(_, x)| !scale.holds(*x)).count())
    };
    panels.iter().map(of_panel).sum()
}

impl<'a> Panel<'a> {
    /// Returns a panel of lines that stands alone.
    pub(crate) fn of(response: Cow<'a, Response>, lines: Vec<Line>) -> Panel<'a> {
        let (laws, limits) = (Vec::new(), Vec::new());
        Panel { response, heading: String::new(), lines, laws, limits }
    }

    /// Returns all cells, drawn or not, in the order of the table behind the chart.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.lines.iter().flat_map(Line::cells)
    }

    /// Returns its rows, each by its name within the panel; what a law says is a dot.
    pub(crate) fn rows(&self) -> Vec<(usize, Cell)> {
        let law = |x: f64| {
            let (_, cell) =
                self.laws.iter().flat_map(|law| &law.points).find(|(at, _)| *at == x)?;
            Some((0, cell.estimate?.point))
        };
        let row = |line: &Line, (x, cell): &(f64, Cell)| match self.laws.is_empty() {
            false => Cell { dots: law(*x).into_iter().collect(), ..cell.clone() },
            true if line.name.is_empty() => cell.clone(),
            true => Cell { label: line.name.clone(), ..cell.clone() },
        };
        let rows = |line: &Line| -> Vec<_> {
            line.points.iter().map(|point| (line.style, row(line, point))).collect()
        };
        self.lines.iter().flat_map(rows).collect()
    }

    /// Returns whether an axis of its rows begins at 0: things are counted from there, and places on a
    /// scale are not.
    pub(crate) fn zero_of_rows(&self) -> Zero {
        let counted = self.response.unit == Unit::Count || !self.laws.is_empty();
        if counted { Zero::Always } else { Zero::IfNear }
    }
}

impl Line {
    fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.points.iter().map(|(_, cell)| cell)
    }
}

impl<'a> Figure<'a> {
    /// Returns a figure with nothing around it yet.
    pub(crate) fn bare(title: String, body: Body<'a>) -> Figure<'a> {
        Figure {
            title,
            held: String::new(),
            body,
            lines_of: String::new(),
            heads: ["treatment", "trials"],
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

    /// Returns the responses that it shows, one for each panel.
    pub(crate) fn responses(&self) -> Vec<&Response> {
        match &self.body {
            Body::Distributions { response, .. } => vec![response],
            Body::Panels { panels, .. } => panels.iter().map(|panel| &*panel.response).collect(),
        }
    }

    /// Returns the response that all of it shows, if it is one.
    pub(crate) fn response(&self) -> Option<&Response> {
        let responses = self.responses();
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
