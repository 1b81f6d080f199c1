//! What disturbed the trials of a session, and what warns of it.

use super::chapter::Chapter;
use super::claims::differs_visibly;
use super::conditions::{RECOGNISED_MAX, sentence};
use crate::Session;
use crate::chart;
use crate::doc::{Block, Figure, Table, Text};
use model::{EstimateRow, ExperimentSummary, OutcomeCount, Unit};
use wording::number::{Terms, count, share, value};
use wording::{capital, counted, short};

/// Rows shown at most: those that differ, and this number altogether where fewer do. A page of twenty
/// experiments has to stay light.
const DIFFERING_MAX: usize = 30;
const ROWS_MAX: usize = 16;

/// Returns what disturbed, a sentence each.
pub(crate) fn disturbance(session: &Session<'_>) -> Vec<Text> {
    let (harness, meter) = (&session.summary.harness, &session.summary.meter);
    let strong = |x: f64| Text::strong(share(x));
    let some = |part: Option<f64>| part.filter(|part| *part > 0.0);
    let parts = [
        (harness.foreign_cpu_share, "Others used {} of one CPU while trials lived."),
        (some(meter.steal_share), "{} of the trials' time was stolen by the hypervisor."),
        (some(meter.cpu_pressure_share), "{} of the trials' time some task waited for a CPU."),
        (some(meter.throttled_share), "{} of the trials' time a CPU quota throttled the session."),
    ];
    let parts = parts.into_iter().filter_map(|(part, text)| Some((part?, text)));
    let mut said: Vec<Text> = parts.map(|(x, text)| Text::filled(text, [strong(x)])).collect();
    let nothing = said.is_empty() && meter.tags.is_empty();
    if let (Some(ns), Some(spread)) = (meter.calibration_ns, meter.calibration_spread) {
        let text = format!(
            "A fixed loop before and after each trial took {} (median); in the slowest tenth of the \
             trials it took {{}} longer than in the fastest.",
            value(ns, &Unit::Ns)
        );
        said.push(Text::filled(&text, [strong(spread)]));
    }
    let all = count(harness.trials);
    if meter.tagged > 0 {
        let text = format!(
            "{{}} of {} carry a tag. Every estimate keeps them.",
            counted(harness.trials, "trial")
        );
        said.push(Text::filled(&text, [Text::strong(count(meter.tagged))]));
    }
    said.extend(meter.tags.iter().map(|(tag, trials)| {
        let (tag, trials) = (short(tag, 120), counted(*trials, "trial"));
        format!("{tag}: {trials} of {all}, kept and tagged.").into()
    }));
    if harness.leaking_trials > 0 {
        let text = counted(harness.leaking_trials, "trial");
        said.push(format!("{text} left processes behind, which were killed.").into());
    }
    let more = meter.recognised.iter().take(RECOGNISED_MAX);
    said.extend(more.map(|text| sentence(text)));
    if nothing {
        said.push("Nothing was recorded that disturbed the trials.".into());
    }
    said
}

/// Returns the warnings of the session and of all experiments, the worst first, without its
/// [`super::conditions`]; one that several share is said once.
pub(crate) fn warnings(session: &Session<'_>) -> Vec<String> {
    let mut shared: Vec<(&str, Vec<&ExperimentSummary>)> = Vec::new();
    for experiment in &session.summary.experiments {
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
    let all = session.summary.experiments.len();
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
    match subject(experiment, warning) {
        None | Some("completed") => 1,
        Some("unsupported") => 2,
        Some(_) => 0,
    }
}

/// What [`subject`] returns of a failed check.
pub(super) const CHECK: &str = "check";

/// Returns the outcome of trials that a warning of the analysis is about, or [`CHECK`].
pub(super) fn subject<'e>(experiment: &'e ExperimentSummary, warning: &str) -> Option<&'e str> {
    let is_about = |name: &str| warning.starts_with(&format!("check \"{name}\" failed in "));
    if experiment.failed_checks.iter().any(|(name, _)| is_about(name)) {
        return Some(CHECK);
    }
    let ends = |end: &&OutcomeCount| {
        !end.reason.is_empty() && warning.ends_with(&format!(": {}", end.reason))
    };
    let ends = experiment.outcomes.iter().filter(ends).map(|end| end.outcome.as_str());
    ends.max_by_key(|name| !["completed", "unsupported"].contains(name))
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

/// Returns tags with their trials, then every estimate that has tagged trials behind it, with and without
/// them.
pub(crate) fn tags(chapter: &Chapter<'_>) -> Vec<Block<'static>> {
    let summary = chapter.summary;
    let mut rows: Vec<&EstimateRow> =
        summary.estimates.iter().filter(|row| row.tagged > 0 && row.estimate.is_some()).collect();
    if summary.tags.is_empty() && rows.is_empty() {
        return vec![Block::small("No trial carries a tag.")];
    }
    let moved = rows.iter().filter(|row| differs(row)).count();
    rows.sort_by_key(|row| !differs(row));
    let shown = moved.clamp(ROWS_MAX, DIFFERING_MAX).min(rows.len());
    let tagged = summary.tags.iter().map(|(tag, trials)| {
        Text::strong(tag.clone()).then(format!(": {}", counted(*trials, "trial")))
    });
    let about = "Tagged trials are kept: they are in every estimate. A row is marked where the \
                 estimate without them lies more than a quarter of the interval's width away.";
    let heading = format!("Disturbed trials: {}", headline(chapter, rows.len(), moved));
    let mut blocks = vec![Block::heading(3, heading), Block::list(tagged), Block::small(about)];
    if shown > 0 {
        blocks.push(Block::Table(table(chapter, &rows[..shown])));
    }
    blocks.extend(Block::more(rows.len(), shown, "summary.json"));
    blocks
}

fn headline(chapter: &Chapter<'_>, rows: usize, moved: usize) -> String {
    let tags = chapter.summary.tags.iter().take(4).map(|(tag, trials)| format!("{tag} {trials}"));
    let tags: Vec<String> = tags.collect();
    let mut text = if tags.is_empty() { counted(rows as u64, "estimate") } else { tags.join(", ") };
    if rows > 0 {
        text.push_str(&match moved {
            0 => "; without them no estimate differs visibly".to_string(),
            1 => format!("; without them 1 of {rows} estimates differs visibly"),
            n => format!("; without them {n} of {rows} estimates differ visibly"),
        });
    }
    text
}

fn differs(row: &EstimateRow) -> bool {
    matches!((&row.estimate, &row.untagged), (Some(with), Some(without))
        if differs_visibly(with, without))
}

fn table(chapter: &Chapter<'_>, rows: &[&EstimateRow]) -> Table {
    let heads = ["treatment", "response", "#all trials", "#without the tagged", "#tagged"];
    let cells = rows.iter().map(|row| {
        let number = |estimate| Text::known(estimate, Terms::In(&row.unit));
        let mark = if differs(row) { Text::strong("≠ ") } else { Text::default() };
        let without = match row.untagged {
            None => "too few are left".into(),
            without => mark.then(number(without)),
        };
        [
            chapter.name(&row.treatment).into(),
            Text::code(row.response.clone()),
            number(row.estimate),
            without,
            row.tagged.to_string().into(),
        ]
    });
    Table::of(&heads).kind("wide", "estimates with and without tagged trials").rows(cells)
}
