//! What disturbed the trials of a session, and what warns of it.

use crate::Session;
use crate::chart;
use crate::doc::{Block, Figure, Note, Text, Tone};
use crate::format::{Terms, count, rounded, value};
use crate::words::{capital, counted, short};
use model::{ExperimentSummary, Unit};
use std::collections::BTreeMap;

/// Sentences on what was recognised that are shown of one session at most, and of each no more than
/// this number of characters.
const RECOGNISED_MAX: usize = 20;
const RECOGNISED_CHARACTERS: usize = 400;

/// Those that are shown at the top; the others follow under "What disturbed".
const AT_THE_TOP_MAX: usize = 4;

/// Returns what was recognised, briefly, for the top of the page.
pub(crate) fn recognised(session: &Session<'_>) -> Option<Block<'static>> {
    let all = &session.summary.meter.recognised;
    let shown = all.iter().take(AT_THE_TOP_MAX);
    let mut text: Vec<Text> =
        shown.map(|text| capital(&short(text, RECOGNISED_CHARACTERS)).into()).collect();
    if all.len() > AT_THE_TOP_MAX {
        text.push(Text::link(format!("{} more", all.len() - AT_THE_TOP_MAX), "#trust"));
    }
    let note = Note { tone: Tone::Care, mark: "!", word: "recognised".into(), text };
    (!all.is_empty()).then_some(Block::Note(note))
}

/// Returns what disturbed, a sentence each.
pub(crate) fn disturbance(session: &Session<'_>) -> Vec<Text> {
    let (harness, meter) = (&session.summary.harness, &session.summary.meter);
    let share = |x: f64| Text::strong(rounded(x, Terms::Share));
    let mut said: Vec<Text> = Vec::new();
    if let Some(foreign) = harness.foreign_cpu_share {
        let text = Text::from("Others used ").then(share(foreign));
        said.push(text.then(" of one CPU while trials lived."));
    }
    let waits = [
        (meter.steal_share, "was stolen by the hypervisor"),
        (meter.cpu_pressure_share, "some task waited for a CPU"),
        (meter.throttled_share, "a CPU quota held the session back"),
    ];
    for (part, what) in waits {
        if let Some(part) = part.filter(|part| *part > 0.0) {
            said.push(share(part).then(format!(" of the trials' time {what}.")));
        }
    }
    let nothing = said.is_empty() && tags(session).is_empty();
    if let (Some(ns), Some(spread)) = (meter.calibration_ns, meter.calibration_spread) {
        let text = format!(
            "A fixed loop before and after each trial took {} (median); in the slowest tenth of the \
             trials it took ",
            value(ns, &Unit::Ns)
        );
        said.push(Text::from(text).then(share(spread)).then(" longer than in the fastest."));
    }
    let trials = counted(harness.trials, "trial");
    if meter.tagged > 0 {
        let text = Text::strong(count(meter.tagged)).then(format!(" of {trials} carry a tag."));
        said.push(text.then(" They are kept, and every estimate stands with and without them."));
    }
    for (tag, tagged) in tags(session) {
        let text = format!(
            "{}: {} of {}",
            short(tag, 120),
            counted(tagged, "trial"),
            count(harness.trials)
        );
        said.push(format!("{text}, kept and tagged.").into());
    }
    if harness.leaking_trials > 0 {
        let text = counted(harness.leaking_trials, "trial");
        said.push(format!("{text} left processes behind, which were killed.").into());
    }
    let more = meter.recognised.iter().skip(AT_THE_TOP_MAX).take(RECOGNISED_MAX);
    said.extend(more.map(|text| capital(&short(text, RECOGNISED_CHARACTERS)).into()));
    if nothing {
        said.push("Nothing was recorded that disturbed the trials.".into());
    }
    said
}

/// Returns each tag with its trials: as the session's meter counted them, or else by experiment.
fn tags<'a>(session: &Session<'a>) -> BTreeMap<&'a str, u64> {
    let meter = &session.summary.meter;
    let by_experiment = session.experiments().flat_map(|experiment| &experiment.tags);
    let all: Vec<_> =
        if meter.tags.is_empty() { by_experiment.collect() } else { meter.tags.iter().collect() };
    let mut tags = BTreeMap::new();
    for (tag, trials) in all {
        let sum: &mut u64 = tags.entry(tag.as_str()).or_default();
        *sum = sum.saturating_add(*trials);
    }
    tags
}

/// Returns the warnings of the session and of all experiments, the worst first; one that several share
/// is said once.
pub(crate) fn warnings(session: &Session<'_>) -> Vec<String> {
    let mut shared: Vec<(&str, Vec<&ExperimentSummary>)> = Vec::new();
    for experiment in session.experiments() {
        for warning in &experiment.warnings {
            match shared.iter_mut().find(|(known, _)| known == warning) {
                Some((_, experiments)) => experiments.push(experiment),
                None => shared.push((warning, vec![experiment])),
            }
        }
    }
    let recognised = &session.summary.meter.recognised;
    shared.extend(recognised.iter().map(|text| (text.as_str(), Vec::new())));
    // What was recognised of the machine weighs as much as what disturbed one experiment.
    shared.sort_by_key(|(warning, own)| own.first().map_or(1, |e| rank(e, warning)));
    let all = session.experiments().count();
    let said = shared.into_iter().map(|(warning, experiments)| match experiments.len() {
        0 => capital(warning),
        many if many > 2 && many == all => format!("all experiments: {warning}"),
        many if many > 4 => format!("{many} experiments: {warning}"),
        _ => {
            let names: Vec<&str> = experiments.iter().map(|e| e.id.as_str()).collect();
            format!("{}: {warning}", names.join(", "))
        }
    });
    said.collect()
}

/// Returns how grave a warning is: 0 casts doubt on what was measured, 1 on how well, 2 says what is not
/// there.
fn rank(experiment: &ExperimentSummary, warning: &str) -> u8 {
    let mut checks = experiment.failed_checks.iter();
    let ends = |kind: fn(&str) -> bool| {
        let mut outcomes = experiment.outcomes.iter().filter(move |o| kind(&o.outcome));
        outcomes.any(|o| !o.reason.is_empty() && warning.ends_with(&format!(": {}", o.reason)))
    };
    if checks.any(|(name, _)| warning.starts_with(&format!("check \"{name}\"")))
        || ends(|kind| !["completed", "unsupported"].contains(&kind))
    {
        return 0;
    }
    if ends(|kind| kind == "unsupported") { 2 } else { 1 }
}

/// Returns the session over its time, with the numbers behind it; nothing where no trial was looked at.
pub(crate) fn over_time(session: &Session<'_>) -> Option<Block<'static>> {
    let meter = chart::meter(session.records)?;
    let mut caption = "Full: the median of the trials in a stretch of time; pale: the most of any of \
                       them. Shares of the trials' time; what waited may be the trial itself. The top \
                       of a lane is its most. "
        .to_string();
    if meter.has_clock() {
        caption.push_str(
            "The calibration loop is a fixed piece of work just before and after each trial, compared \
             with its median: where it rises, the CPU was slower. ",
        );
    }
    caption.push_str("Pauses between trials are left out.");
    let numbers = Some(meter.numbers());
    let title = "When the machine was disturbed";
    Some(Block::Figure(Figure { numbers, ..Figure::new(title, meter, vec![caption.into()]) }))
}
