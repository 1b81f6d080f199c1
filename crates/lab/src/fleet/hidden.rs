//! Results of nodes without names.

use model::{NodeResult, NodeStanding, REDACTED};

/// Replaces the names of a node, which has this place in the fleet.
pub(super) fn hide(result: &mut NodeResult, place: usize) {
    let name = format!("node-{}", place + 1);
    // A doubt may name an attempt, which is called by its node, or hold what a job printed.
    let complete = result.standing == NodeStanding::Complete;
    let own = std::mem::replace(&mut result.name, name.clone());
    result.doubts.retain(|doubt| complete && !doubt.contains(&own) && !doubt.contains('/'));
    result.session = result.session.take().map(|_| name);
    (result.job, result.host) = (None, String::new());
    hide_reason(result);
}

/// Replaces why a node has no session that could be taken: it may name files and hosts.
pub(super) fn hide_reason(result: &mut NodeResult) {
    if !result.reason.is_empty() {
        result.reason = REDACTED.into();
    }
}
