//! What a gap comes from: of the suspects, each removed in a treatment of its own, the one whose
//! removal closes the most of it.
//!
//! A suspect is **named** only if
//!
//! 1. the gap itself is resolved, so that it has shares at all;
//! 2. its share's 95 % interval lies above a third of the gap: a cause that explains less is not
//!    "the" cause, and an interval at 0 is none;
//! 3. it explains more than **every** other suspect. Both shares are parts of one gap, so that is
//!    the difference between the two treatments without them, formed block by block; it must be
//!    distinguishable from 0 at the 5 % level. To be named it must pass all these tests, and at most one can,
//!    so that no correction is needed (an intersection–union test: Berger, *Multiparameter
//!    hypothesis testing and acceptance sampling*, Technometrics 24, 1982).
//!
//! A suspect whose share is not known may be the cause, and nobody is named beside it.

use crate::session::effect::{Effect, effect};
use crate::session::evidence::Side;
use crate::session::sample::Table;
use crate::stats::interval::LEVEL;
use model::{Blame, Diagnosis, DiagnosisResult, Quantity, Suspect};

/// The part of the gap above which the whole interval of a named suspect's share lies.
pub(crate) const SHARE_NAMED: f64 = 1.0 / 3.0;

/// Returns all diagnoses of an experiment.
pub(crate) fn diagnoses(table: &Table<'_>) -> Vec<DiagnosisResult> {
    table.design.diagnoses.iter().map(|one| result(table, one)).collect()
}

/// Returns the ratio of the two ends of a diagnosis's gap, which measuring is to make precise.
pub(crate) fn gap(diagnosis: &Diagnosis) -> Quantity {
    Quantity::Ratio {
        response: diagnosis.response.clone(),
        of: diagnosis.whole.clone(),
        to: diagnosis.base.clone(),
    }
}

fn result(table: &Table<'_>, diagnosis: &Diagnosis) -> DiagnosisResult {
    let suspected = |suspect| {
        let quantity = diagnosis.share(suspect);
        Suspected { suspect, effect: effect(table, &quantity), quantity }
    };
    let mut suspects: Vec<Suspected<'_>> = diagnosis.suspects.iter().map(suspected).collect();
    suspects.sort_by(|a, b| b.share().total_cmp(&a.share()));
    let named = named(table, diagnosis, &suspects).map(|suspect| suspect.name.clone());
    let blame = |one: &Suspected<'_>| Blame {
        suspect: one.suspect.name.clone(),
        share: one.effect.result(table, &one.quantity),
    };
    DiagnosisResult {
        id: diagnosis.id.clone(),
        what: diagnosis.what.clone(),
        suspects: suspects.iter().map(blame).collect(),
        named,
        planted: diagnosis.planted.clone(),
    }
}

/// A suspect with its share of the gap.
struct Suspected<'d> {
    suspect: &'d Suspect,
    quantity: Quantity,
    effect: Effect,
}

impl Suspected<'_> {
    /// Returns the point; what is not known comes last.
    fn share(&self) -> f64 {
        self.effect.evidence.estimate().map_or(f64::NEG_INFINITY, |found| found.point)
    }
}

fn named<'d>(
    table: &Table<'_>,
    diagnosis: &Diagnosis,
    suspects: &[Suspected<'d>],
) -> Option<&'d Suspect> {
    let (first, others) = suspects.split_first()?;
    let large = first.effect.evidence.estimate()?.low > SHARE_NAMED;
    let more = |other: &Suspected<'_>| explains_more(table, diagnosis, first, other) == Some(true);
    (large && others.iter().all(more)).then_some(first.suspect)
}

/// Reports whether one suspect's share is distinguishable from another's smaller one; `None` where one of
/// them is not known.
fn explains_more(
    table: &Table<'_>,
    diagnosis: &Diagnosis,
    one: &Suspected<'_>,
    other: &Suspected<'_>,
) -> Option<bool> {
    let (larger, smaller) = (one.effect.evidence.estimate()?, other.effect.evidence.estimate()?);
    let between = |of: &model::Cell, to: &model::Cell| {
        let response = diagnosis.response.clone();
        effect(table, &Quantity::Difference { response, of: of.clone(), to: to.clone() })
    };
    let apart = between(&other.suspect.without, &one.suspect.without);
    let gap = between(&diagnosis.whole, &diagnosis.base);
    // CPU time may carry one number and the wall clock another: then the two are not parts of the
    // same gap, and only intervals that do not overlap tell them apart.
    let carried = &one.effect.carried_by;
    if [&other.effect, &apart, &gap].into_iter().any(|effect| effect.carried_by != *carried) {
        return Some(larger.low > smaller.high);
    }
    let (distance, whole) = (apart.evidence.estimate()?.point, gap.evidence.estimate()?.point);
    let same_way = distance > 0.0 && whole > 0.0 || distance < 0.0 && whole < 0.0;
    let side = if distance > 0.0 { Side::Below } else { Side::Above };
    Some(same_way && apart.evidence.p_value(0.0, side) <= 1.0 - LEVEL)
}

#[cfg(test)]
mod tests;
