//! What a comparison keeps of a session when its trials are dropped.

use super::asked::{Asked, AskedControl, AskedExperiment, AskedFinding};
use super::column::Column;
use super::gathered::{At, Finding, OfSide, Side, Treatments};
use super::heads::Head;
use crate::session::disturbance::Disturbed;
use crate::session::effect::{effect, form, may_be_carried};
use crate::session::outcomes::failed_checks;
use crate::session::sample::Table;
use crate::session::summary::{by_experiment, trust, verdicts};
use model::{Record, Treatment};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a comparison keeps of the trials of one session: numbers, and hardly more than the table of
/// its estimates has.
#[derive(Debug)]
pub struct Digest {
    /// A side of this session alone.
    pub(crate) side: Side,
    /// In the order in which they are asked for; empty where there is no trial of it.
    pub(crate) experiments: Vec<(OfSide, Treatments)>,
    pub(crate) control: Column,
}

impl Digest {
    /// Returns trials with a record.
    pub fn trials(&self) -> u64 {
        self.side.trials
    }

    /// Reports whether every planned trial has a record.
    pub fn is_complete(&self) -> bool {
        self.side.incomplete == 0
    }

    /// Reports whether its own A/A controls found a difference where there is none.
    pub fn is_distrusted(&self) -> bool {
        self.side.distrusted > 0
    }
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
        let (treatments, why_not) = treatments(asked, &tables[at]);
        let checks = failed_checks(own(&asked.id));
        let own = OfSide {
            first: Some((Arc::clone(&head.designs[at]), why_not)),
            findings: asked.findings.iter().map(|it| finding(it, &tables[at])).collect(),
            verdicts: verdicts[at].iter().cloned().collect(),
            failed_checks: checks.into_iter().map(|(name, _)| name).collect(),
        };
        Some((own, treatments))
    };
    Digest {
        side: Side {
            sessions: 1,
            trials: records.len() as u64,
            incomplete: usize::from(!complete),
            distrusted: usize::from(!trust.controls.is_empty() && !trust.holds),
            unknown: usize::from(trust.controls.is_empty()),
            measured,
        },
        experiments: asked
            .experiments
            .iter()
            .map(|it| experiment(it).unwrap_or_default())
            .collect(),
        control: asked
            .control
            .as_ref()
            .map(|it| control(it, own(&it.design.id)))
            .unwrap_or_default(),
    }
}

/// Returns the treatments with their numbers, and of those that lack one why.
fn treatments(
    asked: &AskedExperiment,
    table: &Table<'_>,
) -> (Treatments, BTreeMap<Treatment, String>) {
    let of = |treatment: &Treatment| {
        let column = |name: &String| {
            let computed = table.design.response(name).is_some_and(|it| it.exact);
            Column::of_trials(&table.trials(name, treatment), computed)
        };
        let columns = asked.responses.iter().map(column).collect();
        let disturbed = Disturbed::among(table.records(treatment));
        (treatment.clone(), At { tried: true, disturbed, columns })
    };
    let all: Treatments = table.treatments().into_iter().map(of).collect();
    let lacking = all.iter().filter(|(_, at)| at.columns.iter().any(Column::is_empty));
    let why_not = lacking.map(|(it, _)| (it.clone(), table.why_not(it))).collect();
    (all, why_not)
}

fn finding(asked: &AskedFinding, table: &Table<'_>) -> Finding {
    let quantity = &asked.quantity;
    let may_be_carried = asked.carriers.len() > 1 && may_be_carried(table, quantity);
    let column = |it: &String| Column::of_evidence(&form(table, quantity, it).evidence);
    Finding {
        carried_by: may_be_carried.then(|| effect(table, quantity).carried_by).flatten(),
        by_elapsed_time: !may_be_carried,
        by: asked.carriers.iter().map(column).collect(),
    }
}

/// Returns the trials of the same computation. Its two names mean one treatment, so that the trials of
/// both count.
fn control(asked: &AskedControl, own: &[&Record]) -> Column {
    let table = Table::new(&asked.design, own.iter().copied());
    let cells = [&asked.control.a, &asked.control.b].map(|cell| asked.design.complete(cell));
    let trials = cells.iter().flat_map(|cell| table.trials(&asked.control.response, cell));
    Column::of_trials(&trials.collect::<Vec<f64>>(), asked.response.exact)
}
