//! What a comparison keeps of a session when its trials are dropped.

use super::asked::{AskedControl, AskedExperiment, AskedFinding, Questions};
use super::column::Column;
use super::gathered::{At, Digest, Finding, OfSide, Side, Treatments};
use crate::session::disturbance::Disturbed;
use crate::session::effect::{effect, form, may_be_corrected};
use crate::session::outcomes::failed_checks;
use crate::session::sample::Table;
use crate::session::summary::{by_experiment, trust, verdicts};
use model::{Record, Treatment};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Questions {
    /// Returns what a comparison keeps of a session: `at` is one of [`Questions::order`], `records` are
    /// its trials in any order, and `complete` is whether every planned one has a record.
    pub fn digest(&self, at: (usize, usize), records: &[Record], complete: bool) -> Digest {
        let head = &self.sides[at.0].heads[at.1];
        let own = by_experiment(records);
        let measured = own.keys().map(ToString::to_string).collect();
        let own = |id: &str| own.get(id).map_or(&[][..], Vec::as_slice);
        let table = |design| Table::new(design, own(&design.id).iter().copied());
        let tables: Vec<Table<'_>> = head.designs.iter().map(|design| table(design)).collect();
        let verdicts = verdicts(&tables);
        let trust = trust(&tables);
        let experiment = |asked: &AskedExperiment| {
            let at = head.designs.iter().position(|design| design.id == asked.id);
            let Some(at) = at.filter(|_| asked.design.is_some() && !own(&asked.id).is_empty())
            else {
                return Default::default();
            };
            let (treatments, why_not) = treatments(asked, &tables[at]);
            let checks = failed_checks(own(&asked.id));
            let own = OfSide {
                first: Some((Arc::clone(&head.designs[at]), why_not)),
                findings: asked.findings.iter().map(|it| finding(it, &tables[at])).collect(),
                verdicts: verdicts[at].iter().cloned().collect(),
                failed_checks: checks.into_iter().map(|(name, _)| name).collect(),
            };
            (own, treatments)
        };
        let of_control = |it: &AskedControl| control(it, own(&it.design.id));
        Digest {
            side: Side {
                sessions: 1,
                trials: records.len() as u64,
                incomplete: usize::from(!complete),
                distrusted: usize::from(!trust.controls.is_empty() && !trust.holds),
                unknown: usize::from(trust.controls.is_empty()),
                measured,
            },
            experiments: self.experiments.iter().map(experiment).collect(),
            control: self.control.as_ref().map(of_control).unwrap_or_default(),
        }
    }
}

/// Returns the treatments with their numbers, and of those that lack one why.
fn treatments(asked: &AskedExperiment, table: &Table) -> (Treatments, BTreeMap<Treatment, String>) {
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
    let quantity = &asked.finding.quantity;
    let may_be_carried = asked.carriers.len() > 1 && may_be_corrected(table, quantity);
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
