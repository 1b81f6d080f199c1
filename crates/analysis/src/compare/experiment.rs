//! One experiment on all sides.

use super::contrast::Arm;
use super::reading::{Numbers, Reading, Scale, arm, of_trials, shown};
use super::{CompareSession, CompareSide, definitions};
use crate::disturbance::Disturbed;
use crate::effect::{Effect, effect, form};
use crate::estimate::median_estimate;
use crate::evidence::{self, Evidence};
use crate::sample::Table;
use model::{
    Cell, Claim, ComparedExperiment, ComparedQuantity, ComparedRow, ComparedVerdict, Design,
    Estimate, Finding, Quantity, Response, SessionEffect, Treatment, Unit, Verdict,
};
use std::collections::BTreeSet;

/// What is said of an experiment, with what is needed to judge its effects.
pub(crate) struct Compared {
    experiment: ComparedExperiment,
    /// The readings behind `experiment.findings`, one per side but the base.
    findings: Vec<Vec<Option<Reading>>>,
    /// The readings behind `experiment.rows`, likewise.
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

    /// What the base measured, and another side did not, with this response.
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

    pub(crate) fn told(self) -> ComparedExperiment {
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

/// The tables of one side, a session each.
struct Tables<'a>(Vec<Table<'a>>);

impl<'a> Tables<'a> {
    fn of(side: &CompareSide<'a>, id: &str) -> Self {
        let table = |session: &CompareSession<'a>| {
            let design = session.design(id)?;
            let table = Table::new(design, session.records.iter());
            (!table.treatments().is_empty()).then_some(table)
        };
        Tables(side.sessions.iter().filter_map(table).collect())
    }

    fn treatments(&self) -> BTreeSet<&'a Treatment> {
        self.0.iter().flat_map(Table::treatments).collect()
    }

    /// The trials of each session at the treatment that a cell means.
    fn level(&self, response: &str, at: &Cell) -> Numbers {
        let at = self.0.first().map(|table| table.design.complete(at));
        at.map_or_else(Vec::new, |treatment| self.numbers(response, &treatment))
    }

    fn numbers(&self, response: &str, treatment: &Treatment) -> Numbers {
        let trials = self.0.iter().map(|table| table.trials(response, treatment));
        trials.filter(|trials| !trials.is_empty()).collect()
    }
}

/// See [`ComparedExperiment`].
pub(crate) fn compared(sides: &[CompareSide<'_>], id: &str) -> Compared {
    let designs: Vec<Option<&Design>> = sides.iter().map(|side| side.design(id)).collect();
    let question = designs.iter().flatten().next().map_or(String::new(), |it| it.question.clone());
    let mut compared = Compared {
        experiment: ComparedExperiment {
            id: id.to_string(),
            question,
            versions: designs.iter().map(|design| design.map(|it| it.version)).collect(),
            refused: definitions::refusal(sides, id),
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
    let (Some(design), None) = (designs.first().copied().flatten(), &compared.experiment.refused)
    else {
        return compared;
    };
    let tables: Vec<Tables<'_>> = sides.iter().map(|side| Tables::of(side, id)).collect();
    for finding in &design.findings {
        // A finding that another version of the catalog asks in another way is another finding.
        let same = |other: &&Design| {
            other.findings.iter().any(|it| it.id == finding.id && it.quantity == finding.quantity)
        };
        if designs.iter().flatten().all(same) {
            let (told, readings) = compared_finding(&tables, finding);
            compared.experiment.findings.push(told);
            compared.findings.push(readings);
        }
    }
    add_rows(&mut compared, design, &tables);
    compared.experiment.verdicts = verdicts(sides, id);
    compared.experiment.warnings = warnings(sides, id, &compared.experiment);
    if compared.experiment.rows.is_empty() && compared.experiment.findings.is_empty() {
        compared.experiment.refused = Some("the sides have no treatment in common".into());
    }
    compared
}

fn add_rows(compared: &mut Compared, design: &Design, tables: &[Tables<'_>]) {
    let measured: Vec<BTreeSet<&Treatment>> = tables.iter().map(Tables::treatments).collect();
    let Some((base, others)) = measured.split_first() else {
        return;
    };
    for treatment in base.iter().filter(|it| others.iter().any(|side| !side.contains(*it))) {
        let told = design.responses.iter().map(|response| response.name.as_str());
        let told = told.filter(|response| !tables[0].numbers(response, treatment).is_empty());
        compared.lost.extend(told.map(|response| (response.to_string(), (*treatment).clone())));
    }
    let elsewhere: BTreeSet<&Treatment> = others.iter().flatten().copied().collect();
    compared.experiment.treatments_left_out = base.symmetric_difference(&elsewhere).count() as u64;
    for treatment in base.intersection(&elsewhere) {
        for response in &design.responses {
            if let Some((row, readings)) = compared_row(tables, treatment, response) {
                compared.experiment.rows.push(row);
                compared.rows.push(readings);
            }
        }
    }
}

/// A row, if the base or another side has a number of it: a treatment that has one no longer is
/// worth as much as a treatment that has another.
fn compared_row(
    tables: &[Tables<'_>],
    treatment: &Treatment,
    response: &Response,
) -> Option<(ComparedRow, Vec<Option<Reading>>)> {
    let numbers: Vec<Numbers> =
        tables.iter().map(|side| side.numbers(&response.name, treatment)).collect();
    if numbers.iter().all(Vec::is_empty) {
        return None;
    }
    let (base, others) = numbers.split_first()?;
    let readings = others.iter().zip(&tables[1..]).map(|(own, side)| {
        if !side.treatments().contains(treatment) {
            return None;
        }
        let missing = [(base, &tables[0], "the base"), (own, side, "this side")];
        let missing = missing.into_iter().find(|(numbers, ..)| numbers.is_empty());
        if let Some((_, side, which)) = missing {
            let why = side.0.first().map_or(String::new(), |table| table.why_not(treatment));
            return Some(Reading::none(format!("{which} has no number{why}")));
        }
        let mut reading = of_trials(own, base, response);
        if is_timed(response)
            && let Some(remark) = disturbed(&[&tables[0], side], treatment)
        {
            reading.add_remark(&remark);
        }
        Some(reading)
    });
    let readings: Vec<Option<Reading>> = readings.collect();
    let values = numbers.iter().map(|sessions| level(sessions, response.is_counted()));
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

/// What is shown of one side's trials.
fn level(sessions: &Numbers, counted: bool) -> Option<Estimate> {
    if let [trials] = sessions.as_slice() {
        return median_estimate(trials);
    }
    let positive = sessions.iter().flatten().all(|value| *value > 0.0);
    let arms: Vec<Arm> =
        sessions.iter().filter_map(|trials| arm(trials, positive, counted)).collect();
    shown(&arms, if positive { f64::exp } else { |x| x })
}

/// That others had the CPU, of so many trials that it moves the number.
fn disturbed(sides: &[&Tables<'_>], treatment: &Treatment) -> Option<String> {
    let one = |side: &&Tables<'_>| {
        let records: Vec<_> =
            side.0.iter().flat_map(|table| table.records(treatment)).copied().collect();
        Disturbed::among(&records)
    };
    let found: Vec<Disturbed> = sides.iter().map(one).filter(|it| it.shifts()).collect();
    let bad: usize = found.iter().map(|it| it.bad).sum();
    let of: usize = found.iter().map(|it| it.of).sum();
    (bad > 0).then(|| format!("others took the CPU from {bad} of {of} trials"))
}

fn is_timed(response: &Response) -> bool {
    !response.is_counted()
}

/// A finding on all sides. Where CPU time carries it on one of them, it carries it on all: a wall
/// clock against CPU time is no comparison.
fn compared_finding(
    tables: &[Tables<'_>],
    finding: &Finding,
) -> (ComparedQuantity, Vec<Option<Reading>>) {
    let quantity = &finding.quantity;
    let as_read: Vec<Vec<Effect>> = effects(tables, |table| effect(table, quantity));
    let carrier = as_read.iter().flatten().find_map(|effect| effect.carried_by.clone());
    let all = match &carrier {
        Some(twin) => effects(tables, |table| form(table, quantity, twin)),
        None => effects(tables, |table| form(table, quantity, quantity.response())),
    };
    let evidence: Vec<Vec<Evidence>> = all
        .iter()
        .map(|side| side.iter().map(|it| it.evidence).filter(|it| *it != Evidence::None).collect())
        .collect();
    let response = carrier.as_deref().unwrap_or(quantity.response());
    let unit = match quantity {
        Quantity::Value { .. } | Quantity::Difference { .. } => tables
            .iter()
            .find_map(|side| side.0.first()?.design.response(response).map(|it| it.unit.clone())),
        _ => None,
    };
    if let Quantity::Value { at, .. } = quantity {
        // A level is what a row is, and has logarithms of its own.
        let numbers: Vec<Numbers> = tables.iter().map(|side| side.level(response, at)).collect();
        return (
            told(finding, unit, &evidence),
            level_readings(&numbers, tables, response, carrier.as_deref()),
        );
    }
    let readings = match evidence.split_first() {
        None => Vec::new(),
        Some((base, others)) => {
            others.iter().map(|own| finding_reading(own, base, quantity)).collect()
        }
    };
    let mut readings: Vec<Option<Reading>> = readings;
    carried(&mut readings, carrier.as_deref());
    (told(finding, unit, &evidence), readings)
}

fn told(finding: &Finding, unit: Option<Unit>, evidence: &[Vec<Evidence>]) -> ComparedQuantity {
    ComparedQuantity {
        id: finding.id.clone(),
        sentence: finding.sentence.clone(),
        quantity: finding.quantity.clone(),
        unit,
        values: evidence.iter().map(|side| finding_value(side)).collect(),
        effects: Vec::new(),
    }
}

/// Says that CPU time stands for the wall clock.
fn carried(readings: &mut [Option<Reading>], carrier: Option<&str>) {
    if let Some(twin) = carrier {
        let remark = format!("others had the CPU, so that {twin} carries it on all sides");
        readings.iter_mut().flatten().for_each(|reading| reading.add_remark(&remark));
    }
}

/// A finding that is a level: its trials against those of the base.
fn level_readings(
    numbers: &[Numbers],
    tables: &[Tables<'_>],
    response: &str,
    carrier: Option<&str>,
) -> Vec<Option<Reading>> {
    let unit = tables.iter().find_map(|side| side.0.first()?.design.response(response));
    let (Some(response), Some((base, others))) = (unit, numbers.split_first()) else {
        return Vec::new();
    };
    let one = |own: &Numbers| match (own.is_empty(), base.is_empty()) {
        (true, true) => None,
        (true, _) => Some(Reading::none("this side does not give it".into())),
        (_, true) => Some(Reading::none("the base does not give it".into())),
        _ => Some(of_trials(own, base, response)),
    };
    let mut readings: Vec<Option<Reading>> = others.iter().map(one).collect();
    carried(&mut readings, carrier);
    readings
}

fn effects(tables: &[Tables<'_>], form: impl Fn(&Table<'_>) -> Effect) -> Vec<Vec<Effect>> {
    tables.iter().map(|side| side.0.iter().map(&form).collect()).collect()
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
    let (own, base): (Vec<Arm>, Vec<Arm>) = (arms(own), arms(base));
    Some(Reading::of(&own, &base, scale))
}

/// A ratio of ratios and of levels; of numbers that are no multiples the difference.
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
    match *evidence {
        Evidence::None => None,
        Evidence::Blocks { located, scale: own, counted, .. } => {
            let arm = Arm::of(located, counted);
            Some(if own == evidence::Scale::Log && scale != Scale::Log { arm.exp() } else { arm })
        }
        Evidence::Events(frequency) => Some(Arm::given(&frequency.estimate(), frequency.trials)),
    }
}

/// What is shown of a finding on one side.
fn finding_value(side: &[Evidence]) -> Option<Estimate> {
    if let [one] = side {
        return one.estimate();
    }
    let log = |it: &Evidence| matches!(it, Evidence::Blocks { scale: evidence::Scale::Log, .. });
    let (scale, from): (Scale, fn(f64) -> f64) = match side.iter().all(log) {
        true => (Scale::Log, f64::exp),
        false => (Scale::Ratio, |x| x),
    };
    let arms: Vec<Arm> = side.iter().filter_map(|it| evidence_arm(it, scale)).collect();
    shown(&arms, from)
}

/// Claims that ask the same on all sides and are not answered alike.
fn verdicts(sides: &[CompareSide<'_>], id: &str) -> Vec<ComparedVerdict> {
    let Some(design) = sides.first().and_then(|side| side.design(id)) else {
        return Vec::new();
    };
    let asks = |other: &Design, claim: &Claim| {
        let found = other.claims.iter().find(|it| it.id == claim.id);
        found.is_some_and(|it| it.quantity == claim.quantity && it.holds_if == claim.holds_if)
    };
    let alike = |claim: &&Claim| {
        let designs = sides.iter().flat_map(|side| side.sessions).filter_map(|it| it.design(id));
        designs.into_iter().all(|design| asks(design, claim))
    };
    let told = design.claims.iter().filter(alike).map(|claim| ComparedVerdict {
        id: claim.id.clone(),
        text: claim.text.clone(),
        verdicts: sides.iter().map(|side| verdict(side, id, &claim.id)).collect(),
    });
    told.filter(|it| {
        let mut known = it.verdicts.iter().flatten();
        let first = known.next();
        known.any(|verdict| Some(verdict) != first)
    })
    .collect()
}

/// The verdict of a side: that of its sessions if they agree.
fn verdict(side: &CompareSide<'_>, id: &str, claim: &str) -> Option<Verdict> {
    let summaries = side.sessions.iter().flat_map(|session| &session.summary.experiments);
    let claims = summaries.filter(|it| it.id == id).flat_map(|it| &it.claims);
    let mut verdicts = claims.filter(|it| it.id == claim).map(|it| it.verdict);
    let first = verdicts.next()?;
    Some(if verdicts.all(|it| it == first) { first } else { Verdict::Inconclusive })
}

/// What a reader must know before the numbers: of which side checks failed or trials did not
/// complete, where the other sides' did not.
fn warnings(sides: &[CompareSide<'_>], id: &str, compared: &ComparedExperiment) -> Vec<String> {
    let mut warnings = Vec::new();
    let own: Vec<BTreeSet<&str>> = sides
        .iter()
        .map(|side| {
            let summaries = side.sessions.iter().flat_map(|session| &session.summary.experiments);
            let own = summaries.filter(|it| it.id == id);
            own.flat_map(|it| &it.failed_checks).map(|(name, _)| name.as_str()).collect()
        })
        .collect();
    for (side, failed) in sides.iter().zip(&own) {
        for name in failed {
            if own.iter().any(|other| !other.contains(name)) {
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
