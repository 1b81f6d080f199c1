//! The figures that an experiment declares; one of its main response where it declares none.

use super::axis::{LEVELS_MIN, Values};
use super::body::{Body, Figure, Line, Panel};
use super::cell::Cell;
use super::material::{Material, levels_of, setting};
use super::shown::Shown;
use super::throughput::landmark;
use super::{STYLES, distributions, speedup};
use crate::catalog::definition;
use crate::say::missing::{self, Measured};
use crate::words;
use model::{
    Card, Design, Drawn, Environment, ExperimentSummary, Factor, Level, Limit, Plot, Profile,
    Quantity, Record, Response, Treatment, Unit,
};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Figures of an experiment that declares none, and panels and rows of each, drawn at most; the tables
/// hold what is left out.
const FIGURES_MAX: usize = 6;
const PANELS_MAX: usize = 32;
const ROWS_MAX: usize = 60;

/// How levels begin that have the first two styles in every figure.
const MODELS: [&str; 2] = ["thread", "process"];

/// Returns the charts of an experiment, the most important first.
pub(crate) fn figures<'a>(
    design: &'a Design,
    summary: &'a ExperimentSummary,
    records: &[&Record],
    profile: Profile,
    environment: &Environment,
) -> Vec<Figure<'a>> {
    let measured = Measured { design, records, profile };
    let mut material = Material::new(design, summary, measured, environment);
    let Some(main) = main_response(&material) else {
        return Vec::new();
    };
    let declared = match design.figures.as_slice() {
        [] => undeclared(&material, main),
        declared => declared.to_vec(),
    };
    let shown = declared.iter().flat_map(|figure| &figure.plot.responses);
    let shown = shown.filter_map(|name| design.response(name)).map(|it| it.name.as_str());
    material.gather(shown.collect());
    let witnesses = missing::witnesses(records);
    let mut figures: Vec<Figure<'a>> =
        declared.iter().filter_map(|figure| material.figure(figure, &witnesses)).collect();
    let first = declared.first().map(|figure| figure.plot.treatments(design, profile));
    figures.extend(distributions::choose(&material, main, &first.unwrap_or_default()));
    let mut defined: BTreeSet<String> = BTreeSet::new();
    for figure in &mut figures {
        let shown = figure.responses();
        figure.clock = shown.into_iter().find_map(|shown| material.clock_of(&shown.name));
        let new = figure.response().filter(|shown| defined.insert(shown.name.clone()));
        let definition = new.and_then(definition);
        figure.definition = figure.definition.take().or(definition);
    }
    figures
}

/// Returns the response of the first finding; failing that, the first that was measured.
fn main_response<'a>(material: &Material<'a, '_>) -> Option<&'a Response> {
    let design = material.design;
    let first = design.findings.first().and_then(|f| design.response(f.quantity.response()));
    first
        .filter(|response| material.is_measured(response))
        .or_else(|| design.responses.iter().find(|response| material.is_measured(response)))
        .or(design.responses.first())
}

/// Returns a figure of the main response; of a user's program, one of each response that its findings
/// are about: over the first factor of numbers, or else in rows.
fn undeclared(material: &Material<'_, '_>, main: &Response) -> Vec<model::Figure> {
    let design = material.design;
    let asked = design.findings.iter().filter(|_| design.subject.is_some());
    let asked = asked.filter_map(|finding| design.response(finding.quantity.response()));
    let asked = asked.filter(|response| material.is_measured(response));
    let mut known = BTreeSet::new();
    let front = std::iter::once(main).chain(asked).filter(|it| known.insert(&it.name));
    let front: Vec<&Response> = front.take(FIGURES_MAX).collect();
    let known: Vec<&Treatment> =
        material.estimates.keys().map(|(_, treatment)| *treatment).collect();
    // The second of two identical treatments is for trust, and shown only if there is nothing else.
    let repetition = design.repetition().map(|factor| factor.name.as_str());
    let varies = |factor: &&Factor| levels_of(factor, &known).len() > 1;
    let mut factors: Vec<&Factor> = design.factors.iter().filter(varies).collect();
    if factors.len() > 1 {
        factors.retain(|factor| repetition != Some(&factor.name));
    }
    let is_axis = |factor: &&&Factor| {
        levels_of(factor, &known).len() >= LEVELS_MIN
            && Values::of(factor, design, &material.estimates, &known).is_some()
    };
    let over = factors.iter().find(is_axis).map(|factor| factor.name.clone());
    let by = factors.iter().map(|factor| factor.name.clone());
    let by: Vec<String> = by.filter(|name| Some(name) != over.as_ref()).collect();
    // A session may have measured another level than the baseline alone.
    let still = design.factors.iter().filter(|factor| !varies(factor));
    let still = still.map(|factor| {
        let levels = levels_of(factor, &known);
        (factor.name.clone(), levels.iter().map(|level| level.name.clone()).collect())
    });
    let at: BTreeMap<String, Vec<String>> = still.collect();
    let names: Vec<String> = by.iter().map(|name| words::plain(name)).collect();
    let along = over.as_ref().map(|name| format!("over {}", words::plain(name)));
    let among = (!names.is_empty()).then(|| format!("by {}", wording::listed(&names)));
    let ways =
        wording::clauses([along, among], ", ").map_or(String::new(), |ways| format!(" {ways}"));
    let figure = |response: &&Response| {
        let title = format!("{}{ways}", words::label(response));
        let responses = vec![response.name.clone()];
        let (over, by, at) = (over.clone(), by.clone(), at.clone());
        let plot = Plot { responses, over, by, at, ..Plot::default() };
        model::Figure { title, plot, ..model::Figure::default() }
    };
    front.iter().map(figure).collect()
}

impl<'a> Material<'a, '_> {
    /// Returns a declared figure, as far as it was measured; `None` where nothing was.
    fn figure(&self, declared: &model::Figure, witnesses: &[&Record]) -> Option<Figure<'a>> {
        let (design, plot) = (self.design, &declared.plot);
        let planned = plot.treatments(design, self.measured.profile);
        let responses: Vec<&'a Response> =
            plot.responses.iter().filter_map(|name| design.response(name)).collect();
        let is_there = |t: &&Treatment| responses.iter().any(|response| self.has(response, t));
        let measured: Vec<&Treatment> = planned.iter().filter(is_there).collect();
        if measured.is_empty() {
            return None;
        }
        let all: Vec<&Treatment> = planned.iter().collect();
        let varying =
            |name: &String| design.factor(name).filter(|factor| levels_of(factor, &all).len() > 1);
        let over = plot.over.as_ref().and_then(varying);
        let axis = over.and_then(|over| Values::of(over, design, &self.estimates, &measured));
        // A factor whose levels turn out to be no numbers has rows.
        let by = over.filter(|_| axis.is_none()).into_iter();
        let by: Vec<&'a Factor> = by.chain(plot.by.iter().filter_map(varying)).collect();
        let (line, facets) = by.split_at(by.len().min(plot.lines_of()));
        let varied: Vec<&'a Factor> =
            axis.iter().map(|axis| axis.factor).chain(by.iter().copied()).collect();
        let names: Vec<String> = varied.iter().map(|factor| factor.name.clone()).collect();
        let witnessed = Measured { records: witnesses, ..self.measured };
        let mut by_facet: BTreeMap<Vec<usize>, Vec<&Treatment>> = BTreeMap::new();
        for treatment in &planned {
            by_facet
                .entry(words::place_among(facets.iter().copied(), treatment))
                .or_default()
                .push(treatment);
        }
        let (mut panels, mut left_out, mut fitted) = (Vec::new(), 0, Vec::new());
        for members in by_facet.values() {
            for response in &responses {
                let shown = Shown { plot, axis: axis.as_ref(), line, response, names: &names };
                let Some((mut panel, laws)) = self.panel(&shown, members) else { continue };
                if axis.is_none() {
                    left_out += panel.lines.len().saturating_sub(ROWS_MAX);
                    panel.lines.truncate(ROWS_MAX);
                }
                fitted.extend(laws);
                let several = (responses.len() > 1).then(|| words::label(response));
                let heading = Some(setting(facets, members[0])).filter(|text| !text.is_empty());
                let heading: Vec<String> = heading.into_iter().chain(several).collect();
                panels.push(Panel { heading: heading.join(", "), ..panel });
            }
        }
        left_out += panels.len().saturating_sub(PANELS_MAX);
        panels.truncate(PANELS_MAX);
        if panels.is_empty() {
            return None;
        }
        let of = responses.first().zip(axis.as_ref()).filter(|_| !plot.drawn.is_value());
        fitted.splice(..0, of.map(|(of, axis)| speedup::definition(plot.drawn, of, axis)));
        let cpus = u32::try_from(self.environment.cpus_allowed.len()).ok().filter(|it| *it > 0);
        let mut axis = axis.map(|axis| axis.axis(self.environment));
        for axis in axis.iter_mut().filter(|_| !plot.drawn.is_value()) {
            axis.landmarks = landmark(cpus, &axis.levels);
        }
        let lines_of: Vec<String> = line.iter().map(|factor| words::factor(factor)).collect();
        Some(Figure {
            held: self.held(&measured, &varied),
            lines_of: lines_of.join(" and "),
            left_out,
            definition: (!fitted.is_empty()).then(|| fitted.join(" ")),
            absent: missing::of_figure(witnessed, &planned),
            ..Figure::bare(declared.title.clone(), Body::Panels { axis, panels })
        })
    }

    /// Returns a panel with what its laws are in a sentence; `None` where nothing was measured.
    fn panel(
        &self,
        shown: &Shown<'_, 'a>,
        members: &[&Treatment],
    ) -> Option<(Panel<'a>, Option<String>)> {
        let (lines, response) = (self.lines(shown, members), shown.response);
        if lines.is_empty() {
            return None;
        }
        if let Some(by) = &shown.plot.divided_by {
            return Some((Panel::of(Cow::Owned(self.quotient_of(response, by)), lines), None));
        }
        let Some(ratio) = speedup::response(shown.plot.drawn, response) else {
            let limits = limits_of(response, members);
            return Some((Panel { limits, ..Panel::of(Cow::Borrowed(response), lines) }, None));
        };
        let (laws, named) = self.laws(shown, members, &lines);
        Some((Panel { laws, ..Panel::of(Cow::Owned(ratio), lines) }, named))
    }

    /// Returns what a response divided by another is called.
    fn quotient_of(&self, of: &Response, by: &str) -> Response {
        let by = self.design.response(by).map_or_else(|| words::plain(by), words::label);
        let label = format!("{} ÷ {by}", words::label(of));
        Response::new(&label, &label, Unit::Other(String::new()), Card::default())
    }

    /// Returns a treatment with its quotient; `None` without a number there.
    fn quotient(&self, shown: &Shown<'_, 'a>, treatment: &Treatment, by: &str) -> Option<Cell> {
        let plain = self.cell(shown.response, treatment, shown.names);
        let at = model::Cell((*treatment.0).clone());
        let (response, by) = (shown.response.name.clone(), by.to_string());
        let records = self.measured.records.iter().copied();
        let quotient = Quantity::Quotient { response, by, at };
        let estimate = analysis::ask(self.design, records, &quotient).estimate?;
        Some(plain.with(estimate))
    }

    /// Returns the lines of a panel; without an axis its rows.
    fn lines(&self, shown: &Shown<'_, 'a>, members: &[&Treatment]) -> Vec<Line> {
        let Shown { plot, axis, response, names, .. } = shown;
        let mut lines: BTreeMap<Vec<usize>, Line> = BTreeMap::new();
        for treatment in members.iter().filter(|treatment| self.has(response, treatment)) {
            let Some(x) = axis.map_or(Some(0.0), |axis| axis.at(treatment)) else {
                continue;
            };
            let cell = match (&plot.divided_by, plot.drawn) {
                (Some(by), _) => self.quotient(shown, treatment, by),
                (None, Drawn::Value) => Some(self.cell(response, treatment, names)),
                (None, _) => self.ratio(shown, treatment),
            };
            let Some(cell) = cell else { continue };
            let line = lines.entry(words::place_among(shown.line.iter().copied(), treatment));
            let line = line.or_insert_with(|| Line {
                name: shown.name(treatment),
                style: self.style(shown, treatment),
                points: Vec::new(),
            });
            line.points.push((x, cell));
        }
        let mut lines: Vec<Line> = lines.into_values().collect();
        for line in &mut lines {
            line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        lines
    }

    /// Returns the style of a treatment's line or row. That of the first factor counts its levels that were
    /// measured anywhere, so that a panel does not begin with the first colour again for want of the
    /// levels that it lacks; threads and processes have the same two in all figures. The second
    /// factor's first level has full marks, its others hollow ones.
    pub(super) fn style(&self, shown: &Shown<'_, '_>, treatment: &Treatment) -> usize {
        let place = |factor: &Factor| {
            let anywhere: Vec<&Treatment> = self.estimates.keys().map(|(_, it)| *it).collect();
            let chosen = shown.plot.at.get(&factor.name);
            let mut levels = levels_of(factor, &anywhere);
            levels.retain(|level| chosen.is_none_or(|chosen| chosen.contains(&level.name)));
            let model = |level: &&Level| {
                let name = words::level_of(factor, &level.name);
                MODELS.iter().position(|model| name.starts_with(model)).unwrap_or(MODELS.len())
            };
            levels.sort_by_key(model);
            let level = treatment.level(&factor.name);
            let found = levels.iter().position(|known| Some(known.name.as_str()) == level);
            found.unwrap_or(levels.len())
        };
        if shown.axis.is_none() {
            return usize::from(shown.name(treatment).starts_with(MODELS[1]));
        }
        let mut places = shown.line.iter().map(|factor| place(factor));
        let (first, second) = (places.next().unwrap_or(0), places.next().unwrap_or(0));
        first % STYLES + STYLES * second.min(1)
    }
}

/// Returns the limits that are true of all treatments of a panel.
fn limits_of<'a>(response: &'a Response, members: &[&Treatment]) -> Vec<&'a Limit> {
    let holds = |limit: &&Limit| members.iter().all(|treatment| treatment.matches(&limit.at));
    response.limits.iter().filter(|limit| limit.value.is_finite()).filter(holds).collect()
}
