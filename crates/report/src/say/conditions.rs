//! What all trials of a session were measured under.

use crate::Session;
use crate::doc::{Block, Text, Tone};
use model::Run;
use wording::{capital, short};

/// Sentences on what was recognised that are shown of one session at most, and of each no more than
/// this number of characters.
pub(super) const RECOGNISED_MAX: usize = 20;
const RECOGNISED_CHARACTERS: usize = 400;

/// Returns what all trials were measured under, a note each: none is ever folded away.
pub(crate) fn conditions(session: &Session<'_>) -> Vec<Block<'static>> {
    let runs = session.manifest.runs.iter().filter_map(run_differs);
    let conditions = runs.chain(session.summary.meter.conditions.iter().cloned());
    let conditions = conditions.take(RECOGNISED_MAX);
    conditions.map(|text| Block::note(Tone::Care, sentence(&text))).collect()
}

/// Returns what was recognised as a sentence of bounded length.
pub(super) fn sentence(recognised: &str) -> Text {
    capital(&short(recognised, RECOGNISED_CHARACTERS)).into()
}

/// The most facts of a run that are named.
const FACTS_MAX: usize = 6;

/// Returns under which other conditions than the first a run measured; `None` where they are the same.
pub fn run_differs(run: &Run) -> Option<String> {
    let stated = |value: &str| short(wording::stated(value).unwrap_or("none"), 80);
    let facts: Vec<String> = run
        .differs
        .iter()
        .map(|(name, [then, now])| {
            format!("{} {}, before {}", short(name, 40), stated(now), stated(then))
        })
        .collect();
    let more = wording::counted(facts.len().saturating_sub(FACTS_MAX) as u64, "more fact");
    let more = (facts.len() > FACTS_MAX).then(|| format!("; {more} in manifest.json"));
    let named = facts.iter().take(FACTS_MAX).cloned().collect::<Vec<_>>().join("; ");
    (!facts.is_empty()).then(|| {
        format!(
            "Trials from number {} on were measured when the session was resumed, under other conditions: \
             {named}{}. Its numbers mix both.",
            run.first_trial,
            more.unwrap_or_default()
        )
    })
}
