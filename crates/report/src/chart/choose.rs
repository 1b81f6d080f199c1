//! Which charts an experiment gets: by its design's data alone, never by its name.
//!
//! One figure per grid of the design, since a grid is a question of its own; grids that vary the
//! same factors share one. A numeric factor with three measured levels or more becomes an axis
//! with lines over it; anything else becomes rows of dots.

use super::grids::{self, Estimates};
use crate::catalog::definition;
use crate::missing::{self, Measured, Missing};
use crate::words;
use model::{
    Design, Estimate, ExperimentSummary, Factor, Level, Profile, Record, Response, Treatment,
};
use std::collections::{BTreeMap, BTreeSet};

/// What stands behind the name of a treatment that is subtracted from the others.
const CONTROL: &str = " (subtracted)";

/// Block and value of each trial, by treatment.
type Samples = BTreeMap<Treatment, Vec<(u32, f64)>>;

/// Measured levels from which a numeric factor is worth an axis.
const AXIS_LEVELS_MIN: usize = 3;

/// Figures, panels and rows drawn at most; the tables hold what is left out.
const FIGURES_MAX: usize = 6;
const PANELS_MAX: usize = 32;
const ROWS_MAX: usize = 60;

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
}

/// Panels that belong together.
#[derive(Clone, Debug)]
pub(crate) struct Group<'a> {
    pub(crate) heading: String,
    pub(crate) panels: Vec<Panel<'a>>,
}

/// How a figure is drawn.
#[derive(Clone, Debug)]
pub(crate) enum Body<'a> {
    /// Lines over a numeric factor.
    Lines {
        axis: &'a Factor,
        /// The measured levels, ascending.
        levels: Vec<(f64, String)>,
        groups: Vec<Group<'a>>,
        /// Whether all panels share the vertical axis.
        shared: bool,
    },
    /// One row per treatment; then those without a number, by name with a word that says why.
    Rows { response: &'a Response, rows: Vec<(usize, Cell)>, absent: Vec<(String, String)> },
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
    /// Panels or rows that were not drawn.
    pub(crate) left_out: usize,
    /// From where to where is measured, where all of it shows one response that no figure before it
    /// shows.
    pub(crate) definition: Option<String>,
    /// Why treatments that belong here have no number.
    pub(crate) absent: Option<Missing>,
}

impl Figure<'_> {
    /// The names of the responses that it shows.
    pub(crate) fn responses(&self) -> Vec<&str> {
        self.all_responses().into_iter().map(|response| response.name.as_str()).collect()
    }

    fn all_responses(&self) -> Vec<&Response> {
        match &self.body {
            Body::Rows { response, .. } => vec![response],
            Body::Lines { groups, .. } => {
                groups.iter().flat_map(|group| &group.panels).map(|panel| panel.response).collect()
            }
        }
    }

    /// The response that all of it shows, if it is one.
    fn response(&self) -> Option<&Response> {
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
        }
    }

    /// All cells, to be thinned.
    fn cells_mut(&mut self) -> Vec<&mut Cell> {
        match &mut self.body {
            Body::Lines { groups, .. } => groups
                .iter_mut()
                .flat_map(|group| &mut group.panels)
                .flat_map(|panel| &mut panel.lines)
                .flat_map(|line| line.points.iter_mut().map(|(_, cell)| cell))
                .collect(),
            Body::Rows { rows, .. } => rows.iter_mut().map(|(_, cell)| cell).collect(),
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

/// An experiment's data in the form that charts need.
struct Material<'a> {
    design: &'a Design,
    estimates: Estimates<'a>,
    samples: BTreeMap<&'a str, Samples>,
}

/// The charts of an experiment, the most important first.
pub(crate) fn figures<'a>(
    design: &'a Design,
    summary: &'a ExperimentSummary,
    records: &[&Record],
    profile: Profile,
) -> Vec<Figure<'a>> {
    let estimates: Estimates<'a> = summary
        .estimates
        .iter()
        .filter_map(|row| Some(((row.response.as_str(), &row.treatment), row.estimate?)))
        .collect();
    let Some(main) = grids::main_response(design, &estimates) else {
        return Vec::new();
    };
    let twins = grids::twin_responses(design, &estimates, main);
    let sets: Vec<_> = grids::groups(design, profile)
        .into_iter()
        .map(|set| (grids::response_for(design, &estimates, main, &set), set))
        .collect();
    let shown = twins.iter().copied().chain(sets.iter().map(|(response, _)| *response));
    let samples = shown
        .map(|response| (response.name.as_str(), response))
        .collect::<BTreeMap<_, _>>()
        .into_iter()
        .map(|(name, response)| {
            (name, analysis::samples(design, records.iter().copied(), &response.name))
        })
        .collect();
    let material = Material { design, estimates, samples };
    let mut figures: Vec<Figure<'a>> = Vec::new();
    for (response, treatments) in sets {
        let responses = if figures.is_empty() { twins.as_slice() } else { &[] };
        if let Some(mut figure) = material.figure(response, responses, &treatments) {
            let treatments: Vec<Treatment> = treatments.into_iter().collect();
            let measured = Measured { design, records, profile };
            figure.absent = missing::of_treatments(measured, &treatments);
            if let Body::Rows { absent, .. } = &mut figure.body {
                *absent = absent_rows(measured, &treatments);
            }
            let name = |figure: &Figure<'_>| figure.response().map(|r| r.name.clone());
            if !figures.iter().any(|other| name(other) == name(&figure)) {
                figure.definition = figure.response().and_then(definition);
            }
            figures.push(figure);
        }
    }
    // One row beside nothing says no more than the table.
    let compares = |figure: &Figure<'_>| figure.cells().len() > 1 || figure.absent.is_some();
    if figures.iter().any(compares) {
        figures.retain(compares);
    }
    figures.truncate(FIGURES_MAX);
    figures
}

impl<'a> Material<'a> {
    fn figure(
        &self,
        main: &'a Response,
        twins: &[&'a Response],
        treatments: &BTreeSet<Treatment>,
    ) -> Option<Figure<'a>> {
        let measured: Vec<&Treatment> = treatments
            .iter()
            .filter(|t| std::iter::once(&main).chain(twins).any(|r| self.has(r, t)))
            .collect();
        if measured.is_empty() {
            return None;
        }
        let varying: Vec<&'a Factor> = self
            .design
            .factors
            .iter()
            .filter(|factor| levels_of(factor, &measured).len() > 1)
            .collect();
        let axis = varying.iter().copied().find(|factor| {
            let levels = levels_of(factor, &measured);
            levels.len() >= AXIS_LEVELS_MIN && levels.iter().all(|level| level.value.is_some())
        });
        let held = self.held(&measured, &varying);
        match axis {
            Some(axis) => Some(self.lines(axis, &varying, main, twins, &measured, held)),
            None => Some(self.rows(&varying, main, &measured, held)),
        }
    }

    fn has(&self, response: &Response, treatment: &Treatment) -> bool {
        self.estimates.contains_key(&(response.name.as_str(), treatment))
            || self.samples.get(response.name.as_str()).is_some_and(|s| s.contains_key(treatment))
    }

    /// Factors that stand still in this figure but have other levels elsewhere.
    fn held(&self, measured: &[&Treatment], varying: &[&Factor]) -> String {
        let still = self.design.factors.iter().filter(|factor| {
            factor.levels.len() > 1 && !varying.iter().any(|other| other.name == factor.name)
        });
        let words: Vec<String> = still
            .filter_map(|factor| {
                let level = measured.first()?.level(&factor.name)?;
                Some(format!("{} {}", words::plain(&factor.name), words::plain(level)))
            })
            .collect();
        words.join(", ")
    }

    /// The style of a level: its place among those that were measured anywhere, so that a figure
    /// does not begin with the first colour again for want of the ones it leaves out.
    fn style(&self, factor: &Factor, treatment: &Treatment) -> usize {
        let measured: Vec<&Treatment> =
            self.estimates.keys().map(|(_, treatment)| *treatment).collect();
        let level = treatment.level(&factor.name);
        let levels = levels_of(factor, &measured);
        let found = levels.iter().position(|known| Some(known.name.as_str()) == level);
        found.unwrap_or(levels.len())
    }

    fn cell(&self, response: &Response, treatment: &Treatment, varying: &[&Factor]) -> Cell {
        let names: Vec<String> = varying.iter().map(|factor| factor.name.clone()).collect();
        let dots = self
            .samples
            .get(response.name.as_str())
            .and_then(|samples| samples.get(treatment))
            .cloned()
            .unwrap_or_default();
        Cell {
            label: format!(
                "{}{}",
                words::treatment(self.design, treatment, &names),
                if is_control(response, treatment) { CONTROL } else { "" }
            ),
            estimate: self.estimates.get(&(response.name.as_str(), treatment)).copied(),
            trials: dots.len(),
            dots,
        }
    }

    fn rows(
        &self,
        varying: &[&'a Factor],
        main: &'a Response,
        measured: &[&Treatment],
        held: String,
    ) -> Figure<'a> {
        let color = varying.iter().copied().find(|factor| is_twin(factor));
        let mut rows: Vec<(Vec<usize>, usize, Cell)> = measured
            .iter()
            .filter(|t| self.has(main, t))
            .map(|t| {
                let style = color.map_or(0, |factor| self.style(factor, t));
                (order(varying, t), style, self.cell(main, t, varying))
            })
            .collect();
        rows.sort_by(|a, b| a.0.cmp(&b.0));
        let left_out = rows.len().saturating_sub(ROWS_MAX);
        rows.truncate(ROWS_MAX);
        let names: Vec<String> = varying.iter().map(|f| words::plain(&f.name)).collect();
        let by = if names.is_empty() { String::new() } else { format!(" by {}", listed(&names)) };
        Figure {
            title: format!("{}{by}", words::label(main)),
            held,
            lines_of: color.map(|factor| words::plain(&factor.name)).unwrap_or_default(),
            body: Body::Rows {
                response: main,
                rows: rows.into_iter().map(|(_, style, cell)| (style, cell)).collect(),
                absent: Vec::new(),
            },
            left_out,
            absent: None,
            definition: None,
        }
    }

    fn lines(
        &self,
        axis: &'a Factor,
        varying: &[&'a Factor],
        main: &'a Response,
        twins: &[&'a Response],
        measured: &[&Treatment],
        held: String,
    ) -> Figure<'a> {
        let others: Vec<&'a Factor> =
            varying.iter().copied().filter(|factor| factor.name != axis.name).collect();
        let line = others
            .iter()
            .copied()
            .find(|factor| is_twin(factor))
            .or_else(|| others.first().copied());
        let facets: Vec<&'a Factor> = others
            .iter()
            .copied()
            .filter(|factor| line.is_none_or(|line| line.name != factor.name))
            .collect();
        let twin = axis.name == "count" && line.is_some_and(is_twin) && twins.len() > 1;
        let responses = if twin { twins } else { &[main][..] };
        let mut by_facet: BTreeMap<Vec<usize>, Vec<&Treatment>> = BTreeMap::new();
        for treatment in measured {
            by_facet.entry(order(&facets, treatment)).or_default().push(treatment);
        }
        let mut groups = Vec::new();
        for members in by_facet.values() {
            let heading = facet_heading(&facets, members[0]);
            let panels = responses
                .iter()
                .map(|response| Panel {
                    response,
                    heading: if twin { words::label(response) } else { heading.clone() },
                    lines: self.panel_lines(axis, line, response, members, varying),
                })
                .filter(|panel| !panel.lines.is_empty());
            groups.push(Group { panels: panels.collect(), heading });
        }
        let left_out = bound_panels(&mut groups);
        if !twin {
            let panels = groups.into_iter().flat_map(|group| group.panels).collect();
            groups = vec![Group { heading: String::new(), panels }];
        }
        Figure {
            title: lines_title(if twin { None } else { Some(main) }, axis, line, &facets),
            held,
            lines_of: line.map(|factor| words::plain(&factor.name)).unwrap_or_default(),
            body: Body::Lines { axis, levels: axis_levels(axis, measured), groups, shared: !twin },
            left_out,
            absent: None,
            definition: None,
        }
    }

    fn panel_lines(
        &self,
        axis: &Factor,
        line: Option<&Factor>,
        response: &Response,
        members: &[&Treatment],
        varying: &[&Factor],
    ) -> Vec<Line> {
        let mut lines: BTreeMap<usize, Line> = BTreeMap::new();
        for treatment in members.iter().filter(|t| self.has(response, t)) {
            let level = treatment.level(&axis.name).and_then(|name| axis.level(name));
            let Some(x) = level.and_then(|level| level.value) else {
                continue;
            };
            let style = line.map_or(0, |factor| self.style(factor, treatment));
            let name = line.and_then(|factor| treatment.level(&factor.name)).unwrap_or_default();
            let entry = lines.entry(style).or_insert_with(|| Line {
                name: words::plain(name),
                style,
                points: Vec::new(),
            });
            entry.points.push((x, self.cell(response, treatment, varying)));
        }
        let mut lines: Vec<Line> = lines.into_values().collect();
        for line in &mut lines {
            line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        lines
    }
}

/// Names of treatments without a number, each with a word for why.
fn absent_rows(measured: Measured<'_>, treatments: &[Treatment]) -> Vec<(String, String)> {
    let all: Vec<&Treatment> = treatments.iter().collect();
    let factors = measured.design.factors.iter();
    let varying: Vec<String> = factors
        .filter(|factor| levels_of(factor, &all).len() > 1)
        .map(|factor| factor.name.clone())
        .collect();
    let absent = treatments.iter().filter_map(|treatment| {
        let missing = missing::of_treatments(measured, std::slice::from_ref(treatment))?;
        Some((words::treatment(measured.design, treatment, &varying), missing.word))
    });
    absent.take(ROWS_MAX).collect()
}

fn bound_panels(groups: &mut Vec<Group<'_>>) -> usize {
    let mut room = PANELS_MAX;
    let mut left_out = 0;
    for group in groups.iter_mut() {
        let kept = group.panels.len().min(room);
        left_out += group.panels.len() - kept;
        group.panels.truncate(kept);
        room -= kept;
    }
    groups.retain(|group| !group.panels.is_empty());
    left_out
}

fn lines_title(
    response: Option<&Response>,
    axis: &Factor,
    line: Option<&Factor>,
    facets: &[&Factor],
) -> String {
    let what = response.map_or("responses".to_string(), words::label);
    let names: Vec<String> =
        line.into_iter().chain(facets.iter().copied()).map(|f| words::plain(&f.name)).collect();
    let by = if names.is_empty() { String::new() } else { format!(", by {}", listed(&names)) };
    format!("{what} over {}{by}", words::plain(&axis.name))
}

/// "a", "a and b", "a, b and c".
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn facet_heading(facets: &[&Factor], treatment: &Treatment) -> String {
    let words: Vec<String> = facets
        .iter()
        .filter_map(|factor| {
            let level = treatment.level(&factor.name)?;
            Some(format!("{} {}", words::plain(&factor.name), words::plain(level)))
        })
        .collect();
    words.join(", ")
}

/// Whether a factor's levels are the same work done with threads and with processes.
fn is_twin(factor: &Factor) -> bool {
    factor.name == "model" && factor.level("thread").is_some() && factor.level("process").is_some()
}

fn levels_of<'f>(factor: &'f Factor, measured: &[&Treatment]) -> Vec<&'f Level> {
    factor
        .levels
        .iter()
        .filter(|level| measured.iter().any(|t| t.level(&factor.name) == Some(&level.name)))
        .collect()
}

fn axis_levels(axis: &Factor, measured: &[&Treatment]) -> Vec<(f64, String)> {
    let mut levels: Vec<(f64, String)> = levels_of(axis, measured)
        .into_iter()
        .filter_map(|level| Some((level.value?, words::short(&level.name, 16))))
        .collect();
    levels.sort_by(|a, b| a.0.total_cmp(&b.0));
    levels
}

/// Whether a treatment is the control of a response: it is shown whole among numbers from which it
/// was subtracted.
fn is_control(response: &Response, treatment: &Treatment) -> bool {
    response.subtract.as_ref().is_some_and(|control| treatment.matches(control))
}

fn level_index(factor: &Factor, treatment: &Treatment) -> usize {
    let level = treatment.level(&factor.name).unwrap_or_default();
    factor.levels.iter().position(|l| l.name == level).unwrap_or(factor.levels.len())
}

fn order(factors: &[&Factor], treatment: &Treatment) -> Vec<usize> {
    factors.iter().map(|factor| level_index(factor, treatment)).collect()
}
