//! What the blocks of one experiment have in common.

use super::{Effect, form_given};
use crate::session::sample::Table;
use crate::stats::dependence::shared_correlation;
use model::Quantity;

/// Returns the correlation of each block with its predecessor that all numbers of an experiment show together
/// which are formed within blocks: those of its findings and claims.
pub(super) fn alike(table: &Table<'_>) -> Option<f64> {
    table.alike(|| {
        let findings = table.design.findings.iter().map(|finding| &finding.quantity);
        let claims = table.design.claims.iter().map(|claim| &claim.quantity);
        let mut known: Vec<&Quantity> = Vec::new();
        for quantity in findings.chain(claims) {
            if !matches!(quantity, Quantity::Value { .. }) && !known.contains(&quantity) {
                known.push(quantity);
            }
        }
        let formed = |quantity: &&Quantity| form_given(table, quantity, quantity.response(), None);
        let effects: Vec<Effect> = known.iter().map(formed).collect();
        let measured = effects.iter().filter(|effect| !effect.evidence.is_certain());
        let numbers = measured.filter_map(|effect| Some(effect.evidence.located()?.blocks()));
        shared_correlation(&numbers.collect::<Vec<_>>())
    })
}
