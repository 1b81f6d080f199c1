//! One experiment on all sides.

use super::asked::AskedExperiment;
use super::column::{Arms, Column};
use super::contrast::Arm;
use super::definitions;
use super::gathered::{At, Experiment, Gathered};
use super::heads::SideHeads;
use super::reading::{Reading, Scale, of_columns, shown};
use crate::session::disturbance::Disturbed;
use crate::session::evidence::{self, Evidence};
use model::{
    Claim, ComparedExperiment, ComparedQuantity, ComparedRow, ComparedVerdict, Design, Estimate,
    Finding, Quantity, Response, SessionEffect, Treatment, Unit,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is said of an experiment, with what is needed to judge its effects.
pub(crate) struct Compared {
    experiment: ComparedExperiment,
    /// The readings behind `experiment.findings`, one per side but the base.
    findings: Vec<Vec<Option<Reading>>>,
    /// The readings behind `experiment.rows`, in their order.
    rows: Vec<Vec<Option<Reading>>>,
    /// Responses at treatments of which the base has a number and some other side no trial.
    lost: Vec<(String, Treatment)>,
}

impl Compared {
    pub(crate) fn id(&self) -> &str {
        &self.experiment.id
    }

    pub(crate) fn refused(&self) -> Option<&str> {
        self.experiment.refused.as_deref()
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = (&ComparedRow, &[Option<Reading>])> {
        self.experiment.rows.iter().zip(self.rows.iter().map(Vec::as_slice))
    }

    /// Returns what the base measured, and another side did not, with this response.
    pub(crate) fn lost(&self, response: &str) -> impl Iterator<Item = &Treatment> {
        let of = move |(name, _): &&(String, Treatment)| name == response;
        self.lost.iter().filter(of).map(|(_, treatment)| treatment)
    }

    pub(crate) fn findings_mut(&mut self) -> impl Iterator<Item = &mut Reading> {
        self.findings.iter_mut().flatten().flatten()
    }

    pub(crate) fn rows_mut(&mut self) -> impl Iterator<Item = &mut Reading> {
        self.rows.iter_mut().flatten().flatten()
    }

    pub(crate) fn described(self) -> ComparedExperiment {
        let effects = |readings: Vec<Option<Reading>>| -> Vec<Option<SessionEffect>> {
            readings.into_iter().map(|reading| reading.map(|it| it.effect)).collect()
        };
        let mut experiment = self.experiment;
        for (finding, readings) in experiment.findings.iter_mut().zip(self.findings) {
            finding.effects = effects(readings);
        }
        for (row, readings) in experiment.rows.iter_mut().zip(self.rows) {
            row.effects = effects(readings);
        }
        experiment
    }
}

/// Begins the comparison of an experiment; see [`ComparedExperiment`].
pub(crate) fn compared(
    sides: &[SideHeads],
    asked: &AskedExperiment,
    gathered: &Gathered,
    own: &Experiment,
) -> Compared {
    let designs: Vec<Option<&Arc<Design>>> =
        sides.iter().map(|side| side.design(&asked.id)).collect();
    let question = designs.iter().flatten().next().map_or(String::new(), |it| it.question.clone());
    let measured: Vec<bool> =
        gathered.sides.iter().map(|side| side.measured.contains(&asked.id)).collect();
    let mut compared = Compared {
        experiment: ComparedExperiment {
            id: asked.id.clone(),
            question,
            versions: designs.iter().map(|design| design.map(|it| it.version)).collect(),
            refused: asked.refused.clone().or_else(|| definitions::unmeasured(&measured)),
            warnings: Vec::new(),
            findings: Vec::new(),
            rows: Vec::new(),
            treatments_left_out: 0,
            verdicts: Vec::new(),
        },
        findings: Vec::new(),
        rows: Vec::new(),
        lost: Vec::new(),
    };
    let (Some(design), None) = (&asked.design, &compared.experiment.refused) else {
        return compared;
    };
    for (at, finding) in asked.findings.iter().enumerate() {
        let (described, readings) = compared_finding(&design.findings[finding.at], asked, own, at);
        compared.experiment.findings.push(described);
        compared.findings.push(readings);
    }
    add_rows(&mut compared, design, own);
    compared.experiment.verdicts = verdicts(sides, design, own);
    compared.experiment.warnings = warnings(sides, own, &compared.experiment);
    if compared.experiment.rows.is_empty() && compared.experiment.findings.is_empty() {
        compared.experiment.refused = Some("the sides have no treatment in common".into());
    }
    compared
}

fn add_rows(compared: &mut Compared, design: &Design, own: &Experiment) {
    let measured: Vec<BTreeSet<&Treatment>> =
        (0..own.sides.len()).map(|side| own.treatments(side)).collect();
    let Some((base, others)) = measured.split_first() else {
        return;
    };
    for treatment in base.iter().filter(|it| others.iter().any(|side| !side.contains(*it))) {
        let has = |at: usize| own.column(0, at, treatment).is_some_and(|it| !it.is_empty());
        let described = design.responses.iter().enumerate().filter(|(at, _)| has(*at));
        compared.lost.extend(described.map(|(_, it)| (it.name.clone(), (*treatment).clone())));
    }
    let elsewhere: BTreeSet<&Treatment> = others.iter().flatten().copied().collect();
    compared.experiment.treatments_left_out = base.symmetric_difference(&elsewhere).count() as u64;
    for treatment in base.intersection(&elsewhere) {
        for (at, response) in design.responses.iter().enumerate() {
            if let Some((row, readings)) = compared_row(own, treatment, at, response) {
                compared.experiment.rows.push(row);
                compared.rows.push(readings);
            }
        }
    }
}

/// Returns a row, if the base or another side has a number of it: a treatment that has one no longer is
/// worth as much as a treatment that has another.
fn compared_row(
    own: &Experiment,
    treatment: &Treatment,
    at: usize,
    response: &Response,
) -> Option<(ComparedRow, Vec<Option<Reading>>)> {
    let sides = own.treatments.get(treatment)?;
    let none = Column::default();
    let columns: Vec<&Column> =
        sides.iter().map(|side| side.columns.get(at).unwrap_or(&none)).collect();
    if columns.iter().all(|column| column.is_empty()) {
        return None;
    }
    let base = *columns.first()?;
    let reading = |side: usize| {
        if !sides[side].tried {
            return None;
        }
        let missing = [(0, "the base"), (side, "this side")];
        let missing = missing.into_iter().find(|(side, _)| columns[*side].is_empty());
        if let Some((side, which)) = missing {
            let why = own.why_not(side, treatment);
            return Some(Reading::none(format!("{which} has no number{why}")));
        }
        let mut reading = of_columns(columns[side], base, response);
        if is_timed(response)
            && let Some(remark) = disturbed(&[&sides[0], &sides[side]])
        {
            reading.add_remark(&remark);
        }
        Some(reading)
    };
    let readings: Vec<Option<Reading>> = (1..sides.len()).map(reading).collect();
    let values = columns.iter().map(|column| level(column, response.exact));
    let row = ComparedRow {
        treatment: treatment.clone(),
        response: response.name.clone(),
        label: response.label.clone(),
        unit: response.unit.clone(),
        values: values.collect(),
        effects: Vec::new(),
    };
    Some((row, readings))
}

/// Returns what is shown of one side's trials.
fn level(column: &Column, computed: bool) -> Option<Estimate> {
    if let Some(alone) = column.alone() {
        return alone;
    }
    let positive = column.is_positive();
    shown(&column.arms(positive, computed), if positive { f64::exp } else { |x| x })
}

/// Says that others had the CPU in enough trials to move the number.
fn disturbed(sides: &[&At]) -> Option<String> {
    let found: Vec<Disturbed> =
        sides.iter().map(|side| side.disturbed).filter(|it| it.shifts()).collect();
    let bad: usize = found.iter().map(|it| it.bad).sum();
    let of: usize = found.iter().map(|it| it.of).sum();
    (bad > 0).then(|| format!("others took the CPU from {bad} of {of} trials"))
}

fn is_timed(response: &Response) -> bool {
    !response.exact
}

/// Returns a finding on all sides, by one clock. Where CPU time carries it on one of them, it carries it
/// on all if it may stand in on all; else elapsed time is compared everywhere.
fn compared_finding(
    finding: &Finding,
    asked: &AskedExperiment,
    own: &Experiment,
    at: usize,
) -> (ComparedQuantity, Vec<Option<Reading>>) {
    let quantity = &finding.quantity;
    let carriers = &asked.findings[at].carriers;
    let may_be_carried = own.sides.iter().all(|side| side.findings[at].may_be_carried);
    let wanted = own.sides.iter().find_map(|side| side.findings[at].carried_by.as_deref());
    let carrier = wanted.filter(|_| may_be_carried);
    let response = carrier.unwrap_or(quantity.response());
    let place = carriers.iter().position(|it| it == response).unwrap_or_default();
    let evidence: Vec<&[Evidence]> =
        own.sides.iter().map(|side| side.findings[at].evidence(place)).collect();
    let firsts = || own.sides.iter().filter_map(|side| side.first.as_ref()).map(|(it, _)| it);
    let defined = firsts().find_map(|design| design.response(response));
    let unit = match quantity {
        Quantity::Value { .. } | Quantity::Difference { .. } => defined.map(|it| it.unit.clone()),
        _ => None,
    };
    let mut readings = if let Quantity::Value { at, .. } = quantity {
        // A level is what a row is, and has logarithms of its own.
        let place = asked.responses.iter().position(|it| it == response);
        let column = |side| place.and_then(|place| own.level(side, place, at));
        let columns: Vec<Option<&Column>> = (0..own.sides.len()).map(column).collect();
        level_readings(&columns, defined)
    } else {
        match evidence.split_first() {
            None => Vec::new(),
            Some((base, others)) => {
                others.iter().map(|own| finding_reading(own, base, quantity)).collect()
            }
        }
    };
    by_one_clock(&mut readings, wanted, may_be_carried);
    (described(finding, unit, &evidence), readings)
}

fn described(finding: &Finding, unit: Option<Unit>, evidence: &[&[Evidence]]) -> ComparedQuantity {
    ComparedQuantity {
        id: finding.id.clone(),
        sentence: finding.sentence.clone(),
        quantity: finding.quantity.clone(),
        unit,
        values: evidence.iter().map(|side| finding_value(side)).collect(),
        effects: Vec::new(),
    }
}

/// Names the clock where a session by itself would take CPU time.
fn by_one_clock(readings: &mut [Option<Reading>], wanted: Option<&str>, may_be_carried: bool) {
    let Some(twin) = wanted else { return };
    let remark = match may_be_carried {
        true => format!("CPU time ({twin}) on all sides, since others used the CPUs"),
        false => "elapsed time on all sides: CPU time cannot stand in on one of them, although \
                  others used the CPUs"
            .into(),
    };
    readings.iter_mut().flatten().for_each(|reading| reading.add_remark(&remark));
}

/// Returns a finding that is a level: its trials against those of the base.
fn level_readings(
    columns: &[Option<&Column>],
    response: Option<&Response>,
) -> Vec<Option<Reading>> {
    let none = Column::default();
    let columns: Vec<&Column> = columns.iter().map(|column| column.unwrap_or(&none)).collect();
    let (Some(response), Some((base, others))) = (response, columns.split_first()) else {
        return Vec::new();
    };
    let one = |own: &&Column| match (own.is_empty(), base.is_empty()) {
        (true, true) => None,
        (true, _) => Some(Reading::none("this side does not give it".into())),
        (_, true) => Some(Reading::none("the base does not give it".into())),
        _ => Some(of_columns(own, base, response)),
    };
    others.iter().map(one).collect()
}

fn finding_reading(own: &[Evidence], base: &[Evidence], quantity: &Quantity) -> Option<Reading> {
    if own.is_empty() && base.is_empty() {
        return None;
    }
    if own.is_empty() || base.is_empty() {
        let which = if base.is_empty() { "the base" } else { "this side" };
        return Some(Reading::none(format!("{which} does not give it")));
    }
    let scale = scale(own.iter().chain(base), quantity);
    let arms = |side: &[Evidence]| side.iter().filter_map(|it| evidence_arm(it, scale)).collect();
    let (own, base): (Arms, Arms) = (arms(own), arms(base));
    Some(Reading::of(&own, &base, scale))
}

/// Returns a ratio of ratios and of levels; of numbers that are no multiples the difference.
fn scale<'a>(mut all: impl Iterator<Item = &'a Evidence>, quantity: &Quantity) -> Scale {
    use Quantity as Q;
    let log = |it: &Evidence| matches!(it, Evidence::Blocks { scale: evidence::Scale::Log, .. });
    match quantity {
        Q::Share { .. } | Q::Exponent { .. } | Q::Linearity { .. } | Q::Frequency { .. } => {
            Scale::Difference
        }
        _ if all.all(log) => Scale::Log,
        _ => Scale::Ratio,
    }
}

fn evidence_arm(evidence: &Evidence, scale: Scale) -> Option<Arm> {
    match evidence {
        Evidence::None => None,
        Evidence::Blocks { located, scale: own, computed } => {
            let arm = Arm::of(located.clone(), *computed);
            Some(if *own == evidence::Scale::Log && scale != Scale::Log { arm.exp() } else { arm })
        }
        Evidence::Events(frequency) => Some(Arm::given(&frequency.estimate(), frequency.trials)),
    }
}

/// Returns what is shown of a finding on one side.
fn finding_value(side: &[Evidence]) -> Option<Estimate> {
    if let [one] = side {
        return one.estimate();
    }
    let log = |it: &Evidence| matches!(it, Evidence::Blocks { scale: evidence::Scale::Log, .. });
    let (scale, from): (Scale, fn(f64) -> f64) = match side.iter().all(log) {
        true => (Scale::Log, f64::exp),
        false => (Scale::Ratio, |x| x),
    };
    let arms: Arms = side.iter().filter_map(|it| evidence_arm(it, scale)).collect();
    shown(&arms, from)
}

/// Claims that ask the same on all sides and are not answered alike.
fn verdicts(sides: &[SideHeads], design: &Arc<Design>, own: &Experiment) -> Vec<ComparedVerdict> {
    let asks = |other: &Design, claim: &Claim| {
        let found = other.claims.iter().find(|it| it.id == claim.id);
        found.is_some_and(|it| it.quantity == claim.quantity && it.holds_if == claim.holds_if)
    };
    let others: Vec<&Arc<Design>> = sides
        .iter()
        .flat_map(|side| &side.heads)
        .filter_map(|head| head.design(&design.id))
        .filter(|other| !Arc::ptr_eq(other, design))
        .collect();
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
