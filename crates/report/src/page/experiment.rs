//! One experiment: question, answers, doubts, charts, accounts, verdicts, exhibits, numbers, trials.

use super::opening::{answer, heading};
use super::{
    Chapter, accounts, anchor, claims, definitions, exhibits, fineness, note, numbers, planted,
    raw, squeezes, subject, tags,
};
use crate::Session;
use crate::chart;
use crate::evidence;
use crate::words::{self, counted, short};
use maud::{Markup, html};
use model::{ExperimentSummary, FindingResult, Outcome, OutcomeCount, Treatment};

/// So many answers are open from the start.
const OPEN_ANSWERS_MAX: usize = 6;

/// The most characters shown of what a failed trial printed.
const LOG_LINE_CHARACTERS: usize = 240;

/// The most trials whose outcome is shown one by one.
const TROUBLED_TRIALS_MAX: usize = 20;

/// An experiment's part of the page, in the order in which one asks: the question, the answer, the
/// pictures, the verdicts, why, what exactly was measured, how finely, and everything, and how to do
/// it again.
pub(super) fn chapter(session: &Session<'_>, chapter: &Chapter<'_>) -> Markup {
    let summary = chapter.summary;
    let first = chapter.design.map(|design| design.chapter.as_str()).unwrap_or_default();
    let own = anchor(&summary.id);
    html! {
        section.experiment id=(own) aria-label=(words::plain(&summary.id)) {
            p.eyebrow {
                @if !first.is_empty() { (short(first, 80)) " · " }
                (short(&summary.id, 80))
            }
            div.anchored {
                h2 { (heading(&summary.question)) }
                a.anchor href={ "#" (own) } aria-label="Link to this chapter" { "#" }
            }
            (subject::subject(chapter))
            (crate::scaling::chapter(session, &summary.id))
            @match squeezes::of(session, chapter) {
                Some(why) => {
                    (squeezes::squeezes(&why))
                    details { summary { "Each of the stronger squeezes" } (answers(chapter)) }
                }
                None => (answers(chapter)),
            }
            (doubts(chapter))
            (planted::planted(chapter))
            (figures(chapter, &own))
            (claims::table(chapter))
            (accounts::accounts(chapter))
            (planted::diagnoses(chapter))
            (exhibits::exhibits(chapter))
            h3.quiet-heading { "All that was measured, and how" }
            @if let Some(design) = chapter.design { (definitions::method(design)) }
            (fineness::fineness(chapter))
            (numbers::numbers(chapter))
            (tags::tags(chapter))
            (trials(chapter))
            (raw::place(session, chapter))
            (repeat(session, summary))
            p.back { a href="#contents" { "Back to the contents" } }
        }
    }
}

/// The charts, each with an address of its own.
fn figures(chapter: &Chapter<'_>, own: &str) -> Markup {
    html! {
        @if !chapter.figures.is_empty() {
            h3.quiet-heading { "What the trials show" }
            @for (index, figure) in chapter.figures.iter().enumerate() {
                @let place = format!("{own}-chart-{}", index + 1);
                div.anchored.picture id=(place) {
                    a.anchor href={ "#" (place) } aria-label="Link to this chart" { "#" }
                    (chart::figure(figure, &place))
                }
            }
        }
    }
}

/// The findings; of many, those beyond the first few are folded away.
fn answers(chapter: &Chapter<'_>) -> Markup {
    let findings = &chapter.summary.findings;
    let open =
        if findings.len() > OPEN_ANSWERS_MAX + 1 { OPEN_ANSWERS_MAX } else { findings.len() };
    html! {
        @for index in 0..open { (one_answer(chapter, index)) }
        @if open < findings.len() {
            details.answers-more {
                summary { (counted((findings.len() - open) as u64, "more answer")) }
                @for index in open..findings.len() { (one_answer(chapter, index)) }
            }
        }
    }
}

fn one_answer(chapter: &Chapter<'_>, index: usize) -> Markup {
    let findings = &chapter.summary.findings;
    let finding = &findings[index];
    let response = finding.result.quantity.response();
    let known = |other: &FindingResult| other.result.quantity.response() == response;
    let doubt = remark(finding);
    html! {
        @if index == 0 { p.answer { (answer(chapter, finding)) } }
        @else { p.further { (answer(chapter, finding)) } }
        // Once for all findings about it.
        @if !findings[..index].iter().any(known) {
            (definitions::of_quantity(chapter, &finding.result.quantity))
        }
        @if !doubt.is_empty() { p.small { (words::sentence(&doubt, 1000)) } }
        @let worth = worth(finding);
        @if !worth.is_empty() { p.small.worth { (worth) } }
    }
}

/// How small a difference a finding's number could show, and what it is without tagged trials.
fn worth(finding: &FindingResult) -> String {
    let result = &finding.result;
    if result.estimate.is_none() {
        return String::new();
    }
    let parts = [evidence::floors(result), evidence::moved_by_tags(result)];
    let told: Vec<String> = parts.into_iter().flatten().collect();
    if told.is_empty() { String::new() } else { format!("{}.", words::capital(&told.join("; "))) }
}

/// What is to be known of a finding's number. That it is exact is seen: it has no interval.
fn remark(finding: &FindingResult) -> String {
    if finding.result.estimate.is_none() {
        return String::new();
    }
    let remarks = finding.result.remark.split("; ");
    remarks.filter(|remark| !remark.starts_with("exact: ")).collect::<Vec<_>>().join("; ")
}

/// What a reader must know before the numbers.
fn doubts(chapter: &Chapter<'_>) -> Markup {
    let summary = chapter.summary;
    let refused: Vec<&OutcomeCount> =
        summary.outcomes.iter().filter(|outcome| outcome.outcome == "unsupported").collect();
    // The analysis warns of these, too, for those who see its warnings alone.
    let told = |warning: &str| {
        let mut reasons = refused.iter().map(|outcome| outcome.reason.as_str());
        let mut checks = summary.failed_checks.iter().map(|(name, _)| name);
        reasons.any(|reason| warning.ends_with(&format!(" could not be made here: {reason}")))
            || checks.any(|name| warning.starts_with(&format!("check \"{name}\" failed in ")))
    };
    html! {
        @for outcome in &refused {
            (note("care", "–", "not possible here", &html! {
                p { (short(&outcome.reason, 1000)) }
                @if !outcome.treatments.is_empty() {
                    p.small { "Instead of a number for: " (treatments(chapter, &outcome.treatments)) "." }
                }
            }))
        }
        (notes(summary.warnings.iter().filter(|warning| !told(warning)).map(String::as_str)))
        @for (check, trials) in &summary.failed_checks {
            (note("bad", "✗", "check failed", &html! {
                p { (short(check, 400)) ": in " (counted(*trials, "trial")) " " (blame(chapter, check)) }
            }))
        }
    }
}

/// Warnings as sentences, all of them in one box.
fn notes<'w>(warnings: impl Iterator<Item = &'w str>) -> Markup {
    let sentences: Vec<String> = warnings.map(|warning| words::sentence(warning, 1000)).collect();
    html! {
        @match sentences.as_slice() {
            [] => {}
            [one] => (note("care", "!", "note", &html! { p { (one) } })),
            many => (note("care", "!", "notes", &html! {
                ul.notes { @for one in many { li { (one) } } }
            })),
        }
    }
}

/// What a failed check means: either the machine was too busy for the treatment, or something is
/// wrong with the trial itself.
fn blame(chapter: &Chapter<'_>, name: &str) -> &'static str {
    let measured = chapter.records.iter().filter_map(|record| record.measured.as_ref());
    let mut failed = measured.flat_map(|m| &m.checks).filter(|c| c.name == name && !c.holds());
    if failed.any(|check| check.wants_cpus) {
        "others had the CPUs that the treatment needs at the same time. They are kept, and their \
         numbers may be those of less concurrency than the treatment's name says."
    } else {
        "the treatment may not be what its name says."
    }
}

/// A treatment by all its levels.
fn named(chapter: &Chapter<'_>, treatment: &Treatment) -> String {
    let named = chapter.design.map(|design| design.as_named(treatment));
    named.as_ref().unwrap_or(treatment).to_string()
}

fn treatments(chapter: &Chapter<'_>, treatments: &[Treatment]) -> String {
    let named = |treatment: &Treatment| {
        let named = chapter.design.map(|design| design.as_named(treatment));
        words::cell(&model::Cell(named.unwrap_or_else(|| treatment.clone()).0.as_ref().clone()))
    };
    treatments.iter().take(8).map(named).collect::<Vec<_>>().join("; ")
}

/// How the trials ended, which were disturbed, and what those that failed said.
fn trials(chapter: &Chapter<'_>) -> Markup {
    let summary = chapter.summary;
    let troubled: Vec<_> = chapter
        .records
        .iter()
        .filter(|record| !matches!(record.outcome, Outcome::Completed { .. }))
        .collect();
    html! {
        details {
            summary {
                "The trials: " (counted(chapter.records.len() as u64, "trial")) " in "
                (counted(summary.blocks.into(), "block"))
            }
            ul {
                @for outcome in &summary.outcomes {
                    li {
                        b { (counted(outcome.trials, "trial")) } " "
                        (words::outcome_name(&short(&outcome.outcome, 80)))
                        @if !outcome.reason.is_empty() { ": " (short(&outcome.reason, 600)) }
                        @if outcome.outcome != "completed" && !outcome.treatments.is_empty() {
                            span.quiet { " (" (treatments(chapter, &outcome.treatments)) ")" }
                        }
                    }
                }
            }
            @if !troubled.is_empty() {
                h4 { "Those that gave no number" }
                ul {
                    @for record in troubled.iter().take(TROUBLED_TRIALS_MAX) {
                        li {
                            "trial " (record.trial) ", block " (record.block) ", "
                            (short(&named(chapter, &record.treatment), words::LABEL_CHARACTERS_MAX)) ": "
                            (short(&words::outcome(&record.outcome), 600))
                            @if !record.log.trim().is_empty() {
                                pre { (words::lines(record.log.trim_end(), LOG_LINE_CHARACTERS)) }
                            }
                        }
                    }
                }
                @if troubled.len() > TROUBLED_TRIALS_MAX {
                    p.quiet { "and " (troubled.len() - TROUBLED_TRIALS_MAX) " more." }
                }
            }
        }
    }
}

fn repeat(session: &Session<'_>, summary: &ExperimentSummary) -> Markup {
    html! {
        p.repeat {
            span.quiet { "Repeat this experiment: " }
            code { (words::repeat_command(session.manifest, std::slice::from_ref(&summary.id))) }
        }
    }
}
