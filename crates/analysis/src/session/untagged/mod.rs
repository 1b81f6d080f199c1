//! Every number once more, without the trials that have a tag.
//!
//! Nothing is deleted: the number that counts is formed from all trials. Beside it stands what the
//! others alone say, so that a reader sees whether disturbance made the answer. The same quantity is
//! formed in the same way from the same response, from the blocks that are left. Only a number that
//! counts tags has no second one: without the trials that have them there are none. Nor has one that
//! is computed: nothing that happens to a trial can touch it.

use crate::session::effect::form;
use crate::session::sample::{Table, has_value};
use crate::session::tags::{Tag, Tagger};
use crate::session::verdict::{Leaning, lean, verdicts};
use model::{
    ClaimResult, Design, Estimate, EstimateRow, ExperimentSummary, QuantityResult, Record,
    Treatment, Verdict,
};
use std::collections::HashMap;

/// Fills in what the untagged trials say, experiment by experiment as the tables stand, given the
/// records of each, and notes
/// which verdicts rest on the others.
pub(crate) fn fill(
    experiments: &mut [ExperimentSummary],
    tables: &[Table<'_>],
    records: &HashMap<&str, Vec<&Record>>,
    tagger: &Tagger,
) {
    if !records.values().flatten().any(|record| tagger.is_tagged(record)) {
        return;
    }
    let left = |design: &Design| {
        let own = records.get(design.id.as_str()).into_iter().flatten().copied();
        own.filter(|record| !tagger.is_tagged(record))
    };
    let without: Vec<Table<'_>> =
        tables.iter().map(|table| Table::new(table.design, left(table.design))).collect();
    for ((summary, table), without) in experiments.iter_mut().zip(tables).zip(&without) {
        let pair = Pair { table, without };
        for row in &mut summary.estimates {
            pair.fill_row(row);
        }
        let findings = summary.findings.iter_mut().map(|finding| &mut finding.result);
        let claims = summary.claims.iter_mut().map(|claim| &mut claim.result);
        let planted = summary.planted.iter_mut().map(|planted| &mut planted.result);
        let suspects = summary.diagnoses.iter_mut().flat_map(|diagnosis| &mut diagnosis.suspects);
        let shares = suspects.map(|blame| &mut blame.share);
        for result in findings.chain(claims).chain(planted).chain(shares) {
            pair.fill(result);
        }
    }
    note_other_verdicts(experiments, &without);
}

/// All trials of an experiment, and those without a tag.
struct Pair<'a> {
    table: &'a Table<'a>,
    without: &'a Table<'a>,
}

impl Pair<'_> {
    fn fill_row(&self, row: &mut EstimateRow) {
        let treatment = &row.treatment;
        let subtracted =
            self.table.design.response(&row.response).and_then(|it| it.subtract.as_ref());
        let control = subtracted.map(|cell| treatment.with(cell));
        let control = control.iter().filter(|control| *control != treatment);
        let declared = self.table.design.response(&row.response);
        let carried_by = row.carried_by.clone();
        let response = carried_by.as_ref().unwrap_or(&row.response);
        let again = || self.without.estimate(declared?, carried_by.as_deref(), treatment);
        let behind = std::iter::once(treatment).chain(control);
        (row.tagged, row.untagged) = self.once_more(response, behind, again);
    }

    fn fill(&self, result: &mut QuantityResult) {
        let again = || form(self.without, &result.quantity, carrier(result)).evidence.estimate();
        let behind = self.table.needed(&result.quantity);
        (result.tagged, result.untagged) = self.once_more(carrier(result), &behind, again);
    }

    /// Returns how many trials of some treatments gave the response a number and have a tag, and where
    /// there are any, the number without them.
    fn once_more<'t>(
        &self,
        response: &str,
        treatments: impl IntoIterator<Item = &'t Treatment>,
        again: impl Fn() -> Option<Estimate>,
    ) -> (u32, Option<Estimate>) {
        // Only elapsed time is corrected, which is never computed.
        if self.table.design.response(response).is_some_and(|response| response.exact) {
            return (0, None);
        }
        // A trial that is missing from the one table and in the other has a tag: looking at the tags of
        // every trial again for each number took a fifth of the whole analysis.
        let with_value = |table: &Table<'_>, treatment: &Treatment| {
            table.records(treatment).iter().filter(|record| has_value(record, response)).count()
        };
        let lost =
            |treatment| with_value(self.table, treatment) - with_value(self.without, treatment);
        let tagged: usize = treatments.into_iter().map(lost).sum();
        let has_second = tagged > 0 && Tag::counted_by(response).is_none();
        (u32::try_from(tagged).unwrap_or(u32::MAX), has_second.then(again).flatten())
    }
}

/// Returns the response that a number was formed from.
fn carrier(result: &QuantityResult) -> &str {
    result.carried_by.as_deref().unwrap_or(result.quantity.response())
}

/// Judges all claims of the session once more, from the untagged trials alone and with Hommel's
/// correction over these, and says at each claim with tagged trials if its verdict would be another;
/// where too few others are left to form the number at all, once for the experiment.
fn note_other_verdicts(experiments: &mut [ExperimentSummary], without: &[Table<'_>]) {
    let leaning = |table: &Table<'_>, claim: &ClaimResult| -> Option<Leaning> {
        let effect = form(table, &claim.result.quantity, carrier(&claim.result));
        lean(&claim.result.quantity, &effect.evidence, claim.holds_if)
    };
    let leanings: Vec<Option<Leaning>> = experiments
        .iter()
        .zip(without)
        .flat_map(|(summary, table)| summary.claims.iter().map(|claim| leaning(table, claim)))
        .collect();
    let mut verdicts = verdicts(&leanings).into_iter();
    for summary in experiments {
        let mut resting = 0;
        for (claim, verdict) in summary.claims.iter_mut().zip(verdicts.by_ref()) {
            let counts_tags = Tag::counted_by(carrier(&claim.result)).is_some();
            if claim.result.tagged == 0 || counts_tags || verdict == claim.verdict {
                continue;
            }
            match claim.result.untagged {
                Some(_) => note_other_verdict(&mut claim.result, verdict),
                None => resting += 1,
            }
        }
        if resting > 0 {
            let verdicts = if resting == 1 { "verdict rests" } else { "verdicts rest" };
            summary.warnings.push(format!(
                "{resting} {verdicts} on trials that have a tag: too few others are left to form \
                 the number without them"
            ));
        }
    }
}

fn note_other_verdict(result: &mut QuantityResult, verdict: Verdict) {
    let described = match verdict {
        Verdict::Supported => "the claim would be supported",
        Verdict::Refuted => "the claim would be refuted",
        Verdict::Inconclusive => "nothing would be decided",
    };
    let trials = match result.tagged {
        1 => "trial that has a tag".to_string(),
        many => format!("{many} trials that have a tag"),
    };
    let joint = if result.remark.is_empty() { "" } else { "; " };
    result.remark.push_str(&format!("{joint}without the {trials} {described}"));
}

#[cfg(test)]
mod tests;
