//! What a figure consists of, before it is drawn.

use super::axis::Axis;
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

/// A line over the axis, or a row's colour.
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
}

/// Panels that belong together.
#[derive(Clone, Debug)]
pub(crate) struct Group<'a> {
    pub(crate) heading: String,
    pub(crate) panels: Vec<Panel<'a>>,
}

/// A field of a heat map.
#[derive(Clone, Debug)]
pub(crate) enum Field {
    /// A treatment with its number.
    Measured(Cell),
    /// A treatment without one: its name, and a word that says why.
    Absent(String, String),
    /// No treatment of the design.
    None,
}

/// A heat map.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    /// What tells it from its neighbours; empty if it is alone.
    pub(crate) heading: String,
    /// The levels from left to right.
    pub(crate) columns: Vec<String>,
    /// Each level from top to bottom with its fields, as many as there are columns.
    pub(crate) rows: Vec<(String, Vec<Field>)>,
}

/// The same setting done in two ways.
#[derive(Clone, Debug)]
pub(crate) struct Slope {
    /// The setting.
    pub(crate) name: String,
    pub(crate) style: usize,
    pub(crate) from: Cell,
    pub(crate) to: Cell,
    /// The second way divided by the first, paired by block.
    pub(crate) ratio: Option<Estimate>,
}

/// Slopes in one coordinate system.
#[derive(Clone, Debug)]
pub(crate) struct Slopes {
    /// What tells it from its neighbours; empty if it is alone.
    pub(crate) heading: String,
    pub(crate) slopes: Vec<Slope>,
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
    /// Lines over a numeric factor.
    Lines {
        axis: Axis,
        groups: Vec<Group<'a>>,
        /// Whether all panels share the vertical axis.
        shared: bool,
    },
    /// One row per treatment; then those without a number, by name with a word that says why.
    Rows { response: &'a Response, rows: Vec<(usize, Cell)>, absent: Vec<(String, String)> },
    /// A field per treatment.
    Heat { response: &'a Response, across: String, down: String, grids: Vec<Grid> },
    /// From the one way to the other.
    Slopes { response: &'a Response, ends: [String; 2], panels: Vec<Slopes> },
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

impl<'a> Figure<'a> {
    /// The names of the responses that it shows.
    pub(crate) fn responses(&self) -> Vec<&'a str> {
        self.all_responses().into_iter().map(|response| response.name.as_str()).collect()
    }

    fn all_responses(&self) -> Vec<&'a Response> {
        match &self.body {
            Body::Rows { response, .. }
            | Body::Heat { response, .. }
            | Body::Slopes { response, .. }
            | Body::Distributions { response, .. } => vec![*response],
            Body::Lines { groups, .. } => {
                groups.iter().flat_map(|group| &group.panels).map(|panel| panel.response).collect()
            }
        }
    }

    /// The response that all of it shows, if it is one.
    pub(super) fn response(&self) -> Option<&'a Response> {
        let responses = self.all_responses();
        let first = *responses.first()?;
        responses.iter().all(|response| response.name == first.name).then_some(first)
    }

    /// All cells.
    pub(crate) fn cells(&self) -> Vec<&Cell> {
        match &self.body {
            Body::Lines { groups, .. } => groups
                .iter()
                .flat_map(|group| &group.panels)
                .flat_map(|panel| &panel.lines)
                .flat_map(|line| line.points.iter().map(|(_, cell)| cell))
                .collect(),
            Body::Rows { rows, .. } => rows.iter().map(|(_, cell)| cell).collect(),
            Body::Heat { grids, .. } => {
                let fields = grids.iter().flat_map(|grid| &grid.rows).flat_map(|(_, row)| row);
                fields
                    .filter_map(|field| match field {
                        Field::Measured(cell) => Some(cell),
                        _ => None,
                    })
                    .collect()
            }
            Body::Slopes { panels, .. } => {
                let slopes = panels.iter().flat_map(|panel| &panel.slopes);
                slopes.flat_map(|slope| [&slope.from, &slope.to]).collect()
            }
            Body::Distributions { .. } => Vec::new(),
        }
    }

    /// How many of its cells show their trials as dots.
    pub(crate) fn dotted(&self) -> usize {
        match self.body {
            Body::Lines { .. } | Body::Rows { .. } => self.cells().len(),
            _ => 0,
        }
    }

    /// The cells whose trials are drawn, to be thinned.
    fn cells_mut(&mut self) -> Vec<&mut Cell> {
        match &mut self.body {
            Body::Lines { groups, .. } => groups
                .iter_mut()
                .flat_map(|group| &mut group.panels)
                .flat_map(|panel| &mut panel.lines)
                .flat_map(|line| line.points.iter_mut().map(|(_, cell)| cell))
                .collect(),
            Body::Rows { rows, .. } => rows.iter_mut().map(|(_, cell)| cell).collect(),
            _ => Vec::new(),
        }
    }

    /// Keeps at most `most` dots per cell: evenly by rank, so that the spread and both extremes
    /// stay as they are.
    pub(crate) fn thin(&mut self, most: usize) {
        for cell in self.cells_mut() {
            if cell.dots.len() > most {
                cell.dots.sort_by(|a, b| a.1.total_cmp(&b.1));
                let last = cell.dots.len() - 1;
                let steps = most.saturating_sub(1).max(1);
                cell.dots = (0..most).map(|i| cell.dots[i * last / steps]).collect();
            }
        }
    }
}
