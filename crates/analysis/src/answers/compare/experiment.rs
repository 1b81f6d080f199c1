//! One experiment on all sides.

use super::asked::{AskedExperiment, AskedFinding, all};
use super::column::Column;
use super::definitions;
use super::gathered::{Answers, At, Experiment};
use super::heads::SideHeads;
use super::reading::{Reading, Readings};
use crate::session::disturbance::Disturbed;
use model::{
    Claim, ComparedExperiment, ComparedQuantity, ComparedRow, ComparedVerdict, Design, Quantity,
    Response, Treatment,
};
use std::sync::Arc;

/// What is said of an experiment, with what is needed to judge its effects.
pub(crate) struct Compared<'a> {
    pub(crate) asked: &'a AskedExperiment,
    pub(crate) own: &'a Experiment,
    pub(crate) experiment: ComparedExperiment,
    /// The readings behind `experiment.findings`, in their order.
    pub(crate) findings: Vec<Readings>,
    /// The readings behind `experiment.rows`, in their order.
    pub(crate) rows: Vec<Readings>,
}

impl Compared<'_> {
    /// Gives a row that is a finding's number that finding's verdict: it was asked for, and its family is smaller.
    pub(crate) fn agree(&mut self) {
        let Some(design) = &self.asked.design else { return };
        for (row, readings) in self.experiment.rows.iter().zip(&mut self.rows) {
            let is_same = |quantity: &Quantity| match quantity {
                Quantity::Value { response, at } => {
                    *response == row.response && design.complete(at) == row.treatment
                }
                _ => false,
            };
            let mut findings = self.experiment.findings.iter();
            let Some(at) = findings.position(|it| is_same(&it.quantity)) else { continue };
            for (row, finding) in readings.iter_mut().zip(&self.findings[at]) {
                let (Some(row), Some(finding)) = (row, finding) else { continue };
                if row.effect.ratio != finding.effect.ratio {
                    continue;
                }
                row.effect.differs = finding.effect.differs;
                row.effect.floor_of_verdict = finding.effect.floor_of_verdict;
                row.effect.trials_needed = finding.effect.trials_needed;
            }
        }
    }

    pub(crate) fn described(mut self) -> ComparedExperiment {
        let findings = self.experiment.findings.iter_mut().map(|it| &mut it.effects);
        let rows = self.experiment.rows.iter_mut().map(|it| &mut it.effects);
        let readings = self.findings.into_iter().chain(self.rows);
        for (effects, readings) in findings.chain(rows).zip(readings) {
            *effects = readings.into_iter().map(|reading| reading.map(|it| it.effect)).collect();
        }
        self.experiment
    }
}

/// Begins the comparison of an experiment; see [`ComparedExperiment`].
pub(crate) fn compared<'a>(
    answers: &Answers,
    asked: &'a AskedExperiment,
    own: &'a Experiment,
) -> Compared<'a> {
    let sides = &answers.questions.sides;
    let designs: Vec<Option<&Arc<Design>>> =
        sides.iter().map(|side| side.design(&asked.id)).collect();
    let question = designs.iter().flatten().next().map_or(String::new(), |it| it.question.clone());
    let measured: Vec<bool> =
        answers.sides.iter().map(|side| side.measured.contains(&asked.id)).collect();
    let experiment = ComparedExperiment {
        id: asked.id.clone(),
        question,
        versions: designs.iter().map(|design| design.map(|it| it.version)).collect(),
        refused: asked.refused.clone().or_else(|| definitions::unmeasured(&measured)),
        ..ComparedExperiment::default()
    };
    let mut compared = Compared { asked, own, experiment, findings: Vec::new(), rows: Vec::new() };
    let (Some(design), None) = (&asked.design, &compared.experiment.refused) else {
        return compared;
    };
    for (at, finding) in asked.findings.iter().enumerate() {
        compared.add_finding(finding, at);
    }
    compared.add_rows(design);
    let experiment = &mut compared.experiment;
    experiment.verdicts = verdicts(sides, design, own);
    experiment.warnings = warnings(sides, own, experiment);
    if experiment.rows.is_empty() && experiment.findings.is_empty() {
        experiment.refused = Some("the sides have no treatment in common".into());
    }
    compared
}

impl Compared<'_> {
    fn add_rows(&mut self, design: &Design) {
        for (treatment, sides) in &self.own.treatments {
            let [base, others @ ..] = sides.as_slice() else { continue };
            let elsewhere = others.iter().any(|side| side.tried);
            if base.tried != elsewhere {
                self.experiment.treatments_left_out += 1;
                continue;
            }
            for (at, response) in design.responses.iter().enumerate() {
                self.add_row(treatment, sides, at, response);
            }
        }
    }

    /// Adds a row, if the base or another side has a number of it: a treatment that has one no longer
    /// is worth as much as a treatment that has another.
    fn add_row(&mut self, treatment: &Treatment, sides: &[At], at: usize, response: &Response) {
        let columns: Vec<&Column> =
            sides.iter().map(|side| Column::at(&side.columns, at)).collect();
        if columns.iter().all(|column| column.is_empty()) {
            return;
        }
        let reading = |side: usize| {
            if !sides[side].tried {
                return None;
            }
            let missing = [(0, "the base"), (side, "this side")];
            let missing = missing.into_iter().find(|(side, _)| columns[*side].is_empty());
            if let Some((side, which)) = missing {
                let why = self.own.why_not(side, treatment);
                return Some(Reading::none(format!("{which} has no number{why}")));
            }
            let mut reading = Reading::of(columns[side], columns[0], true);
            let remark = disturbed([sides[0].disturbed, sides[side].disturbed]);
            remark.filter(|_| !response.exact).iter().for_each(|it| reading.add_remark(it));
            Some(reading)
        };
        self.rows.push((1..sides.len()).map(reading).collect());
        self.experiment.rows.push(ComparedRow {
            treatment: treatment.clone(),
            response: response.name.clone(),
            label: response.label.clone(),
            unit: response.unit.clone(),
            values: columns.iter().map(|column| column.shown()).collect(),
            effects: Vec::new(),
        });
    }

    /// Adds a finding on all sides, by one clock. Where elapsed time is corrected on one of them, it is on
    /// all if it can be on all; else elapsed time as measured is compared everywhere.
    fn add_finding(&mut self, AskedFinding { finding, carriers }: &AskedFinding, at: usize) {
        let (quantity, own) = (&finding.quantity, self.own);
        let of_sides = || own.sides.iter().filter_map(|side| side.findings.get(at));
        let wanted = of_sides().find_map(|it| it.carried_by.as_deref());
        let may_be_carried = !of_sides().any(|it| it.by_elapsed_time);
        let response = wanted.filter(|_| may_be_carried).unwrap_or(quantity.response());
        let place = carriers.iter().position(|it| it == response).unwrap_or_default();
        let by = own.sides.iter().map(|side| side.findings.get(at).map_or(&[][..], |it| &it.by));
        let columns: Vec<&Column> = by.map(|by| Column::at(by, place)).collect();
        let mut firsts = own.sides.iter().filter_map(|side| side.first.as_ref());
        let unit = match quantity {
            Quantity::Value { .. } | Quantity::Difference { .. } => firsts
                .find_map(|(design, _)| design.response(quantity.response()))
                .map(|response| response.unit.clone()),
            _ => None,
        };
        let values = columns.iter().map(|column| column.shown()).collect();
        let mut readings = match quantity {
            // A level is what a row is, and has logarithms of its own.
            Quantity::Value { at, .. } => {
                let place = self.asked.place(response);
                let column = |side| own.level(side, place, at);
                given(&(0..own.sides.len()).map(column).collect::<Vec<_>>(), true)
            }
            // Of numbers that are no multiples the difference.
            Quantity::Share { .. }
            | Quantity::Exponent { .. }
            | Quantity::Linearity { .. }
            | Quantity::Frequency { .. } => given(&columns, false),
            _ => given(&columns, true),
        };
        if wanted.is_some() {
            // A session by itself would take corrected numbers.
            let clock = match may_be_carried {
                true => "elapsed time less what other programs took, on all sides",
                false => {
                    "elapsed time with what other programs took: how much is not known on one side"
                }
            };
            readings.iter_mut().flatten().for_each(|reading| reading.add_remark(clock));
        }
        self.findings.push(readings);
        self.experiment.findings.push(ComparedQuantity {
            id: finding.id.clone(),
            sentence: finding.sentence.clone(),
            quantity: quantity.clone(),
            unit,
            values,
            effects: Vec::new(),
        });
    }
}

/// Returns what each side gives against what the base gives, the first of them.
fn given(columns: &[&Column], is_multiple: bool) -> Readings {
    let Some((base, others)) = columns.split_first() else { return Vec::new() };
    let one = |own: &&Column| match (own.is_empty(), base.is_empty()) {
        (true, true) => None,
        (true, false) => Some(Reading::none("this side does not give it".into())),
        (false, true) => Some(Reading::none("the base does not give it".into())),
        (false, false) => Some(Reading::of(own, base, is_multiple)),
    };
    others.iter().map(one).collect()
}

/// Says that others had the CPU in enough trials to move the number.
fn disturbed(sides: [Disturbed; 2]) -> Option<String> {
    let shifted = sides.into_iter().filter(|it| it.shifts());
    let Disturbed { bad, of } = shifted.fold(Disturbed::default(), Disturbed::and);
    (bad > 0).then(|| format!("others took the CPU from {bad} of {of} trials"))
}

/// Claims that ask the same on all sides and are not answered alike.
fn verdicts(sides: &[SideHeads], design: &Arc<Design>, own: &Experiment) -> Vec<ComparedVerdict> {
    let asks = |other: &Design, claim: &Claim| {
        let found = other.claims.iter().find(|it| it.id == claim.id);
        found.is_some_and(|it| it.quantity == claim.quantity && it.holds_if == claim.holds_if)
    };
    let others = all(sides, &design.id).filter(|other| !Arc::ptr_eq(other, design));
    let others: Vec<&Arc<Design>> = others.collect();
    let alike = |claim: &&Claim| others.iter().all(|design| asks(design, claim));
    let described = design.claims.iter().filter(alike).map(|claim| ComparedVerdict {
        id: claim.id.clone(),
        text: claim.text.clone(),
        verdicts: own.sides.iter().map(|side| side.verdicts.get(&claim.id).copied()).collect(),
    });
    described
        .filter(|it| {
            let mut known = it.verdicts.iter().flatten();
            let first = known.next();
            known.any(|verdict| Some(verdict) != first)
        })
        .collect()
}

/// Returns what a reader must know before the numbers: of which side checks failed or trials did not
/// complete, where the other sides' did not.
fn warnings(sides: &[SideHeads], own: &Experiment, compared: &ComparedExperiment) -> Vec<String> {
    let mut warnings = Vec::new();
    for (side, one) in sides.iter().zip(&own.sides) {
        for name in &one.failed_checks {
            if own.sides.iter().any(|other| !other.failed_checks.contains(name)) {
                warnings.push(format!("check \"{name}\" failed in {} alone", side.name));
            }
        }
    }
    let left_out = compared.treatments_left_out;
    if left_out > 0 {
        let s = if left_out == 1 { " was" } else { "s were" };
        warnings.push(format!("{left_out} treatment{s} not measured on both sides"));
    }
    warnings
}
