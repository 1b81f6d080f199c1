//! Compares sessions in one call, for tests and benchmarks that hold all trials at once.

use analysis::{Answers, Condition, Heads, Questions, SideHeads};
use model::{Comparison, Manifest, Record};
use std::sync::Arc;

/// What is to be compared, all at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompareInput<'a> {
    /// Version of the scruple that compares.
    pub(crate) scruple: &'a str,
    /// The base first; at least 2.
    pub(crate) sides: &'a [CompareSide<'a>],
    /// The only experiments to look at; empty means all.
    pub(crate) only: &'a [String],
    /// What is asked of the result.
    pub(crate) conditions: &'a [Condition],
}

/// One side: one session, or several of the same setting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompareSide<'a> {
    /// What it is called.
    pub(crate) name: &'a str,
    /// Its sessions, at least one.
    pub(crate) sessions: &'a [CompareSession<'a>],
}

/// A stored session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompareSession<'a> {
    /// What was measured where.
    pub(crate) manifest: &'a Manifest,
    /// Its trials, in any order.
    pub(crate) records: &'a [Record],
    /// Whether every planned trial has a record.
    pub(crate) complete: bool,
}

/// Returns all that sessions say of each other whose trials are all at hand.
pub(crate) fn compare(input: &CompareInput<'_>) -> Comparison {
    let mut heads = Heads::default();
    let side = |side: &CompareSide<'_>| SideHeads {
        name: side.name.to_string(),
        heads: side.sessions.iter().map(|it| heads.head(it.manifest.clone())).collect(),
    };
    let questions = Arc::new(Questions::new(input.sides.iter().map(side).collect(), input.only));
    let mut answers = Answers::new(&questions);
    for (side, session) in questions.order() {
        let CompareSession { records, complete, .. } = input.sides[side].sessions[session];
        answers.add(side, questions.digest((side, session), records, complete));
    }
    answers.end(input.scruple, input.conditions)
}
