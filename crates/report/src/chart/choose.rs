//! Which charts an experiment gets: by its design's data alone, never by its name.
//!
//! One figure per grid of the design, since a grid is a question of its own; grids that vary the
//! same factors share one. A numeric factor with three measured levels or more becomes an axis
//! with lines over it, or the columns of a heat map where the lines would be too many; anything
//! else becomes rows of dots. Where threads stand beside processes their gap gets slopes, and where
//! trials kept single observations of time these get their distribution.

use super::axis::Values;
use super::body::{Body, Cell, Field, Figure, Grid, Group, Line, Panel};
use super::grids::{self, Estimates};
use super::{distributions, slopes};
use crate::catalog::definition;
use crate::say::missing::{self, Measured};
use crate::words;
use model::{
    Design, Environment, ExperimentSummary, Factor, Level, Limit, Profile, Record, Response,
    Treatment,
};
use std::collections::{BTreeMap, BTreeSet};

/// What stands behind the name of a treatment that is subtracted from the others.
const CONTROL: &str = " (subtracted)";

/// Block and value of each trial, by treatment.
pub(super) type Samples = BTreeMap<Treatment, Vec<(u32, f64)>>;

/// Lines in one coordinate system at most; more become a heat map.
const LINES_MAX: usize = 6;

/// Fields from which two factors without an axis become a heat map, each with as many levels.
const FIELDS_MIN: usize = 12;
const FIELD_LEVELS_MIN: usize = 3;

/// Figures, panels and rows drawn at most; the tables hold what is left out.
const FIGURES_MAX: usize = 6;
const PANELS_MAX: usize = 32;
const ROWS_MAX: usize = 60;

/// An experiment's data in the form that charts need.
pub(super) struct Material<'a, 'm> {
    pub(super) design: &'a Design,
    pub(super) measured: Measured<'m>,
    environment: &'m Environment,
    pub(super) estimates: Estimates<'a>,
    samples: BTreeMap<&'a str, Samples>,
}

/// The treatments that findings and claims take by CPU time in place of elapsed time: charts draw what
/// the sentences say.
struct Clocks<'a> {
    /// The response, the treatment, and the CPU twin that stands in.
    carried: BTreeMap<(&'a str, &'a Treatment), &'a str>,
}

impl<'a> Clocks<'a> {
    fn of(design: &Design, summary: &'a ExperimentSummary) -> Self {
        let all: Vec<Treatment> =
            summary.estimates.iter().map(|row| row.treatment.clone()).collect();
        let findings = summary.findings.iter().map(|finding| &finding.result);
        let results = findings.chain(summary.claims.iter().map(|claim| &claim.result));
        let mut carried = BTreeMap::new();
        for result in results {
            let Some(twin) = result.carried_by.as_deref() else { continue };
            let needed = result.quantity.treatments(design, &all);
            let rows = summary.estimates.iter().filter(|row| needed.contains(&&row.treatment));
            let response = result.quantity.response();
            carried.extend(
                rows.filter(|row| row.response == response)
                    .map(|row| ((row.response.as_str(), &row.treatment), twin)),
            );
        }
        Clocks { carried }
    }

    fn estimates(&self, mut estimates: Estimates<'a>) -> Estimates<'a> {
        for ((response, treatment), twin) in &self.carried {
            if let Some(by_twin) = estimates.get(&(*twin, *treatment)).copied() {
                estimates.insert((response, treatment), by_twin);
            }
        }
        estimates
    }

    fn samples(&self, response: &str, of: impl Fn(&str) -> Samples) -> Samples {
        let mut samples = of(response);
        for ((_, treatment), twin) in self.carried.iter().filter(|(at, _)| at.0 == response) {
            if let Some(by_twin) = of(twin).remove(*treatment) {
                samples.insert((*treatment).clone(), by_twin);
            }
        }
        samples
    }

    /// What a chart of a response says of it; `None` where it draws elapsed time alone.
    fn clock_of(&self, response: &str) -> Option<String> {
        let carried = self.carried.keys().filter(|(name, _)| *name == response).count();
        (carried > 0).then(|| {
            let treatments = crate::words::counted(carried as u64, "treatment");
            format!("CPU time is drawn for {treatments}, since others used the CPUs.")
        })
    }
}

/// The charts of an experiment, the most important first.
pub(crate) fn figures<'a>(
    design: &'a Design,
    summary: &'a ExperimentSummary,
    records: &[&Record],
    profile: Profile,
    environment: &Environment,
) -> Vec<Figure<'a>> {
    let estimates: Estimates<'a> = summary
        .estimates
        .iter()
        .filter_map(|row| Some(((row.response.as_str(), &row.treatment), row.estimate?)))
        .collect();
    let Some(main) = grids::main_response(design, &estimates) else {
        return Vec::new();
    };
    let clocks = Clocks::of(design, summary);
    let estimates = clocks.estimates(estimates);
    let twins = grids::twin_responses(design, &estimates, main);
    let groups = grids::groups(design, profile);
    let front = grids::in_front(design, &estimates, main);
    let sets: Vec<_> = front
        .into_iter()
        .flat_map(|response| groups.iter().map(move |set| (response, set.clone())))
        .map(|(response, set)| (grids::response_for(design, &estimates, response, &set), set))
        .collect();
    let shown = twins.iter().copied().chain(sets.iter().map(|(response, _)| *response));
    let samples = shown
        .chain([main])
        .map(|response| response.name.as_str())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .map(|name| {
            let of = |name: &str| analysis::samples(design, records.iter().copied(), name);
            (name, clocks.samples(name, of))
        })
        .collect();
    let measured = Measured { design, records, profile };
    let material = Material { design, measured, environment, estimates, samples };
    let mut figures = material.of_grids(&sets, &twins);
    let slopes = slopes::choose(&material, main);
    figures.extend(distributions::choose(&material, main, sets.first().map(|(_, set)| set)));
    figures.splice(figures.len().min(1)..figures.len().min(1), slopes);
    let mut defined: BTreeSet<&str> = BTreeSet::new();
    for figure in &mut figures {
        figure.clock = figure.responses().into_iter().find_map(|name| clocks.clock_of(name));
        if let Some(response) = figure.response()
            && defined.insert(&response.name)
        {
            figure.definition = definition(response);
        }
    }
    figures
}

impl<'a> Material<'a, '_> {
    /// One figure per set of treatments that belong beside one another.
    fn of_grids(
        &self,
        sets: &[(&'a Response, BTreeSet<Treatment>)],
        twins: &[&'a Response],
    ) -> Vec<Figure<'a>> {
        let mut figures: Vec<Figure<'a>> = Vec::new();
        let witnesses = missing::witnesses(self.measured.records);
        let measured = Measured { records: &witnesses, ..self.measured };
        for (response, treatments) in sets {
            let responses = if figures.is_empty() { twins } else { &[] };
            if let Some(mut figure) = self.figure(response, responses, treatments) {
                let treatments: Vec<Treatment> = treatments.iter().cloned().collect();
                figure.absent = missing::of_treatments(measured, &treatments);
                if let Body::Rows { absent, .. } = &mut figure.body {
                    *absent = absent_rows(measured, &treatments);
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
        let axis = varying
            .iter()
            .find_map(|factor| Values::of(factor, self.design, &self.estimates, &measured));
        if let Some((across, down)) = self.fields(axis.as_ref(), &varying, &measured) {
            return Some(self.heat([across, down], &varying, main, treatments));
        }
        match axis {
            Some(axis) => Some(self.lines(&axis, &varying, main, twins, &measured)),
            None => Some(self.rows(&varying, main, &measured)),
        }
    }

    /// The two factors of a heat map, where it is easier to read than lines or rows.
    fn fields(
        &self,
        axis: Option<&Values<'a>>,
        varying: &[&'a Factor],
        measured: &[&Treatment],
    ) -> Option<(&'a Factor, &'a Factor)> {
        let levels = |factor: &Factor| levels_of(factor, measured).len();
        let Some(axis) = axis else {
            let &[one, other] = varying else {
                return None;
            };
            let least = levels(one).min(levels(other));
            let fits = least >= FIELD_LEVELS_MIN && measured.len() >= FIELDS_MIN;
            let across = if levels(one) <= levels(other) { (one, other) } else { (other, one) };
            return fits.then_some(across);
        };
        let others = || varying.iter().copied().filter(|f| f.name != axis.factor.name);
        if others().any(is_twin) {
            return None;
        }
        let second =
            |factor: &&Factor| Values::of(factor, self.design, &self.estimates, measured).is_some();
        let many = others().next().filter(|factor| levels(factor) > LINES_MAX);
        others().find(second).or(many).map(|down| (axis.factor, down))
    }

    fn heat(
        &self,
        [across, down]: [&'a Factor; 2],
        varying: &[&'a Factor],
        main: &'a Response,
        treatments: &BTreeSet<Treatment>,
    ) -> Figure<'a> {
        let all: Vec<&Treatment> = treatments.iter().collect();
        let own = [across, down];
        let facets: Vec<&Factor> = varying
            .iter()
            .copied()
            .filter(|factor| own.iter().all(|other| other.name != factor.name))
            .collect();
        let mut by_facet: BTreeMap<Vec<usize>, Vec<&Treatment>> = BTreeMap::new();
        for treatment in &all {
            by_facet.entry(order(&facets, treatment)).or_default().push(treatment);
        }
        let (columns, rows) = (levels_of(across, &all), levels_of(down, &all));
        let mut grids = Vec::new();
        for members in by_facet.values() {
            let field = |column: &Level, row: &Level| {
                let here = members.iter().find(|t| {
                    t.level(&across.name) == Some(&column.name)
                        && t.level(&down.name) == Some(&row.name)
                });
                here.map_or(Field::None, |treatment| self.field(main, treatment, varying))
            };
            let rows = rows.iter().map(|row| {
                let fields = columns.iter().map(|column| field(column, row)).collect();
                (words::plain(&row.name), fields)
            });
            grids.push(Grid {
                heading: facet_heading(&facets, members[0]),
                columns: columns.iter().map(|level| words::plain(&level.name)).collect(),
                rows: rows.collect(),
            });
        }
        let left_out = grids.len().saturating_sub(PANELS_MAX);
        grids.truncate(PANELS_MAX);
        let names: Vec<String> = varying.iter().map(|f| words::plain(&f.name)).collect();
        let title = format!("{} by {}", words::label(main), listed(&names));
        let body = Body::Heat {
            response: main,
            across: words::plain(&across.name),
            down: words::plain(&down.name),
            grids,
        };
        Figure { left_out, ..self.bare(title, self.held(&all, varying), body) }
    }

    fn field(&self, main: &Response, treatment: &Treatment, varying: &[&Factor]) -> Field {
        let mut cell = self.cell(main, treatment, varying);
        cell.dots.clear();
        if cell.estimate.is_some() {
            return Field::Measured(cell);
        }
        let missing = missing::of_treatments(self.measured, std::slice::from_ref(treatment));
        Field::Absent(cell.label, missing.map_or("too few trials".into(), |missing| missing.word))
    }

    /// A figure with nothing around it yet.
    pub(super) fn bare(&self, title: String, held: String, body: Body<'a>) -> Figure<'a> {
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

    /// Block and value of each trial of a response that is shown, by treatment.
    pub(super) fn samples(&self, response: &Response) -> Option<&Samples> {
        self.samples.get(response.name.as_str())
    }

    fn has(&self, response: &Response, treatment: &Treatment) -> bool {
        self.estimates.contains_key(&(response.name.as_str(), treatment))
            || self.samples.get(response.name.as_str()).is_some_and(|s| s.contains_key(treatment))
    }

    /// Factors that stand still in this figure but have other levels elsewhere.
    pub(super) fn held(&self, measured: &[&Treatment], varying: &[&Factor]) -> String {
        let repetition = self.design.repetition().map(|factor| factor.name.as_str());
        let still = self.design.factors.iter().filter(|factor| {
            repetition != Some(&factor.name)
                && factor.levels.len() > 1
                && !varying.iter().any(|other| other.name == factor.name)
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

    pub(super) fn cell(
        &self,
        response: &Response,
        treatment: &Treatment,
        varying: &[&Factor],
    ) -> Cell {
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
        let body = Body::Rows {
            response: main,
            rows: rows.into_iter().map(|(_, style, cell)| (style, cell)).collect(),
            absent: Vec::new(),
        };
        Figure {
            lines_of: color.map(|factor| words::plain(&factor.name)).unwrap_or_default(),
            left_out,
            ..self.bare(format!("{}{by}", words::label(main)), self.held(measured, varying), body)
        }
    }

    fn lines(
        &self,
        axis: &Values<'a>,
        varying: &[&'a Factor],
        main: &'a Response,
        twins: &[&'a Response],
        measured: &[&Treatment],
    ) -> Figure<'a> {
        let others: Vec<&'a Factor> =
            varying.iter().copied().filter(|factor| factor.name != axis.factor.name).collect();
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
        let twin = axis.factor.name == "count" && line.is_some_and(is_twin) && twins.len() > 1;
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
                    limits: limits_of(response, members),
                })
                .filter(|panel| !panel.lines.is_empty());
            groups.push(Group { panels: panels.collect(), heading });
        }
        let left_out = bound_panels(&mut groups);
        if !twin {
            let panels = groups.into_iter().flat_map(|group| group.panels).collect();
            groups = vec![Group { heading: String::new(), panels }];
        }
        let title = lines_title(if twin { None } else { Some(main) }, axis.factor, line, &facets);
        let body = Body::Lines { axis: axis.axis(self.environment), groups, shared: !twin };
        Figure {
            lines_of: line.map(|factor| words::plain(&factor.name)).unwrap_or_default(),
            left_out,
            ..self.bare(title, self.held(measured, varying), body)
        }
    }

    fn panel_lines(
        &self,
        axis: &Values<'_>,
        line: Option<&Factor>,
        response: &Response,
        members: &[&Treatment],
        varying: &[&Factor],
    ) -> Vec<Line> {
        let mut lines: BTreeMap<usize, Line> = BTreeMap::new();
        for treatment in members.iter().filter(|t| self.has(response, t)) {
            let Some(x) = axis.at(treatment) else {
                continue;
            };
            let style = line.map_or(0, |factor| self.style(factor, treatment));
            let name = line.and_then(|factor| {
                let control = if is_control(response, treatment) { CONTROL } else { "" };
                Some(words::level(&factor.name, treatment.level(&factor.name)?) + control)
            });
            let entry = lines.entry(style).or_insert_with(|| Line {
                name: name.unwrap_or_default(),
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

/// The limits that are true of all treatments of a panel.
fn limits_of<'a>(response: &'a Response, members: &[&Treatment]) -> Vec<&'a Limit> {
    let holds = |limit: &&Limit| members.iter().all(|treatment| treatment.matches(&limit.at));
    response.limits.iter().filter(|limit| limit.value.is_finite()).filter(holds).collect()
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
pub(super) fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

pub(super) fn facet_heading(facets: &[&Factor], treatment: &Treatment) -> String {
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
    factor.levels.len() == 2 && slopes::twins(factor).is_some()
}

pub(super) fn levels_of<'f>(factor: &'f Factor, measured: &[&Treatment]) -> Vec<&'f Level> {
    factor
        .levels
        .iter()
        .filter(|level| measured.iter().any(|t| t.level(&factor.name) == Some(&level.name)))
        .collect()
}

/// Whether a treatment is the control of a response: it is shown whole among numbers from which it
/// was subtracted.
pub(super) fn is_control(response: &Response, treatment: &Treatment) -> bool {
    response.subtract.as_ref().is_some_and(|control| treatment.matches(control))
}

fn level_index(factor: &Factor, treatment: &Treatment) -> usize {
    let level = treatment.level(&factor.name).unwrap_or_default();
    factor.levels.iter().position(|l| l.name == level).unwrap_or(factor.levels.len())
}

pub(super) fn order(factors: &[&Factor], treatment: &Treatment) -> Vec<usize> {
    factors.iter().map(|factor| level_index(factor, treatment)).collect()
}
