//! What a comparison keeps of a session when its trials are dropped.

use super::asked::{Asked, AskedControl, AskedExperiment};
use super::column::Number;
use super::heads::Head;
use crate::session::disturbance::Disturbed;
use crate::session::effect::{effect, form, may_be_carried};
use crate::session::evidence::Evidence;
use crate::session::outcomes::failed_checks;
use crate::session::sample::Table;
use crate::session::summary::{by_experiment, trust, verdicts};
use model::{Record, Treatment, Verdict};
use std::collections::BTreeSet;

/// What a comparison keeps of the trials of one session: numbers, and hardly more than the table of
/// its estimates has.
#[derive(Debug)]
pub struct Digest {
    pub(crate) trials: u64,
    pub(crate) complete: bool,
    /// Whether its own A/A controls found no difference; none where it has no control.
    pub(crate) holds: Option<bool>,
    /// Experiments that have trials.
    pub(crate) measured: BTreeSet<String>,
    /// In the order in which they are asked for; none where there is no trial of it.
    pub(crate) experiments: Vec<Option<ExperimentDigest>>,
    pub(crate) control: Option<Number>,
}

impl Digest {
    /// Returns trials with a record.
    pub fn trials(&self) -> u64 {
        self.trials
    }

    /// Reports whether every planned trial has a record.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Reports whether its own A/A controls found no difference where there is none; none where it has
    /// none.
    pub fn holds(&self) -> Option<bool> {
        self.holds
    }
}

/// What is kept of one experiment.
#[derive(Debug)]
pub(crate) struct ExperimentDigest {
    pub(crate) treatments: Vec<TreatmentDigest>,
    /// One per finding that is asked for.
    pub(crate) findings: Vec<FindingDigest>,
    pub(crate) verdicts: Vec<(String, Verdict)>,
    pub(crate) failed_checks: BTreeSet<String>,
}

/// What is kept of one treatment.
#[derive(Debug)]
pub(crate) struct TreatmentDigest {
    pub(crate) treatment: Treatment,
    pub(crate) disturbed: Disturbed,
    /// One per response that is asked for, where it has a number.
    pub(crate) numbers: Vec<Option<Number>>,
    /// Where one of them has none: why, as the end of a sentence.
    pub(crate) why_not: Option<String>,
}

/// What is kept of one finding.
#[derive(Debug)]
pub(crate) struct FindingDigest {
    /// The CPU twin that carries it in this session.
    pub(crate) carried_by: Option<String>,
    /// Whether one could.
    pub(crate) may_be_carried: bool,
    /// The finding by each response that can carry it.
    pub(crate) by: Vec<Evidence>,
}

/// Returns the digest of a session: of its trials, in any order, what is asked for.
pub(crate) fn digest(asked: &Asked, head: &Head, records: &[Record], complete: bool) -> Digest {
    let own = by_experiment(records);
    let measured = own.keys().map(ToString::to_string).collect();
    let own = |id: &str| own.get(id).map_or(&[][..], Vec::as_slice);
    let table = |design| Table::new(design, own(&design.id).iter().copied());
    let tables: Vec<Table<'_>> = head.designs.iter().map(|design| table(design)).collect();
    let verdicts = verdicts(&tables);
    let trust = trust(&tables);
    let experiment = |asked: &AskedExperiment| {
        let at = head.designs.iter().position(|design| design.id == asked.id)?;
        if asked.design.is_none() || own(&asked.id).is_empty() {
            return None;
        }
        let checks = failed_checks(own(&asked.id));
        Some(ExperimentDigest {
            treatments: treatments(asked, &tables[at]),
            findings: findings(asked, &tables[at]),
            verdicts: verdicts[at].clone(),
            failed_checks: checks.into_iter().map(|(name, _)| name).collect(),
        })
    };
    Digest {
        trials: records.len() as u64,
        complete,
        holds: (!trust.controls.is_empty()).then_some(trust.holds),
        measured,
        experiments: asked.experiments.iter().map(experiment).collect(),
        control: asked.control.as_ref().and_then(|it| control(it, own(&it.design.id))),
    }
}

fn treatments(asked: &AskedExperiment, table: &Table<'_>) -> Vec<TreatmentDigest> {
    let of = |treatment: &Treatment| {
        let number = |name: &String| Number::of(&table.trials(name, treatment));
        let numbers: Vec<Option<Number>> = asked.responses.iter().map(number).collect();
        let lacks = numbers.iter().any(Option::is_none);
        TreatmentDigest {
            treatment: treatment.clone(),
            disturbed: Disturbed::among(table.records(treatment)),
            numbers,
            why_not: lacks.then(|| table.why_not(treatment)),
        }
    };
    table.treatments().into_iter().map(of).collect()
}

fn findings(asked: &AskedExperiment, table: &Table<'_>) -> Vec<FindingDigest> {
    let of = |finding: &super::asked::AskedFinding| {
        let quantity = &finding.quantity;
        let by = finding.carriers.iter().map(|it| form(table, quantity, it).evidence);
        let may_be_carried = finding.carriers.len() > 1 && may_be_carried(table, quantity);
        FindingDigest {
            carried_by: may_be_carried.then(|| effect(table, quantity).carried_by).flatten(),
            may_be_carried,
            by: by.collect(),
        }
    };
    asked.findings.iter().map(of).collect()
}

/// Returns the trials of the same computation. Its two names mean one treatment, so that the trials of
/// both count.
fn control(asked: &AskedControl, own: &[&Record]) -> Option<Number> {
    let table = Table::new(&asked.design, own.iter().copied());
    let cells = [&asked.control.a, &asked.control.b].map(|cell| asked.design.complete(cell));
    let trials = cells.iter().flat_map(|cell| table.trials(&asked.control.response, cell));
    Number::of(&trials.collect::<Vec<f64>>())
}
