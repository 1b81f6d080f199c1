//! One experiment: question, answers, doubts, charts, verdicts, definitions, numbers.

use super::opening::{answer, heading};
use super::{Chapter, anchor, claims, note};
use crate::Session;
use crate::catalog::{card_lines, unit};
use crate::chart;
use crate::format::{Terms, count, parts};
use crate::words::{self, counted, short};
use maud::{Markup, html};
use model::{Design, EstimateRow, ExperimentSummary, Outcome, OutcomeCount, Treatment};

/// The most characters shown of what a failed trial printed.
const LOG_LINE_CHARACTERS: usize = 240;

/// The most trials whose outcome is shown one by one.
const TROUBLED_TRIALS_MAX: usize = 20;

/// An experiment's part of the page.
pub(super) fn chapter(session: &Session<'_>, chapter: &Chapter<'_>) -> Markup {
    let summary = chapter.summary;
    let first = chapter.design.map(|design| design.chapter.as_str()).unwrap_or_default();
    html! {
        section.experiment id=(anchor(&summary.id)) {
            p.eyebrow {
                @if !first.is_empty() { (short(first, 80)) " · " }
                (short(&summary.id, 80))
            }
            h2 { (heading(&summary.question)) }
            (answers(summary))
            (doubts(summary))
            @for figure in &chapter.figures { (chart::figure(figure)) }
            (claims::table(chapter))
            @if let Some(design) = chapter.design { (definitions(design)) }
            (numbers(chapter))
            (trials(chapter))
            (repeat(session, summary))
        }
    }
}

fn answers(summary: &ExperimentSummary) -> Markup {
    html! {
        @for (index, finding) in summary.findings.iter().enumerate() {
            @if index == 0 { p.answer { (answer(finding)) } }
            @else { p.further { (answer(finding)) } }
            @if finding.result.estimate.is_some() && !finding.result.remark.is_empty() {
                p.small { (short(&finding.result.remark, 1000)) }
            }
        }
    }
}

/// What a reader must know before the numbers.
fn doubts(summary: &ExperimentSummary) -> Markup {
    let refused: Vec<&OutcomeCount> =
        summary.outcomes.iter().filter(|outcome| outcome.outcome == "unsupported").collect();
    html! {
        @for outcome in refused {
            (note("care", "–", "not possible here", &html! {
                p { (short(&outcome.reason, 1000)) }
                @if !outcome.treatments.is_empty() {
                    p.small { "Instead of a number for: " (treatments(&outcome.treatments)) "." }
                }
            }))
        }
        @for warning in &summary.warnings {
            (note("care", "!", "note", &html! { p { (short(warning, 1000)) } }))
        }
        @for (check, trials) in &summary.failed_checks {
            (note("bad", "✗", "check failed", &html! {
                p {
                    (short(check, 400)) ": in " (counted(*trials, "trial"))
                    " the treatment may not be what its name says."
                }
            }))
        }
    }
}

fn treatments(treatments: &[Treatment]) -> String {
    let names: Vec<String> =
        treatments.iter().take(8).map(|t| words::cell(&model::Cell(t.0.clone()))).collect();
    names.join("; ")
}

fn definitions(design: &Design) -> Markup {
    html! {
        details {
            summary { "What exactly is measured" }
            p { (short(&design.method, 4000)) }
            div.cards {
                @for response in &design.responses {
                    div.card {
                        p { b { (heading(&words::label(response))) } " "
                            span.quiet { code { (short(&response.name, 80)) } ", in " (unit(&response.unit)) } }
                        ul { @for line in card_lines(response) { li { (short(&line, 600)) } } }
                    }
                }
            }
            h4 { "What is varied" }
            div.scroll {
                table {
                    thead {
                        tr {
                            th scope="col" { "factor" }
                            th scope="col" { "level" }
                            th scope="col" { "what the trial does" }
                        }
                    }
                    tbody {
                        @for factor in &design.factors {
                            @for level in &factor.levels {
                                tr {
                                    td { (words::plain(&factor.name)) }
                                    th scope="row" {
                                        (words::plain(&level.name))
                                        @if level.name == factor.baseline { span.quiet { " (baseline)" } }
                                    }
                                    td { (short(&level.about, 400)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Every estimate of the experiment.
fn numbers(chapter: &Chapter<'_>) -> Markup {
    let summary = chapter.summary;
    let names: Vec<&str> = match chapter.design {
        Some(design) => design.factors.iter().map(|factor| factor.name.as_str()).collect(),
        None => Vec::new(),
    };
    html! {
        details {
            summary { "All estimates (" (count(summary.estimates.len() as u64)) ")" }
            div.scroll {
                table {
                    thead {
                        tr {
                            @if names.is_empty() { th scope="col" { "treatment" } }
                            @for name in &names { th scope="col" { (words::plain(name)) } }
                            th scope="col" { "response" }
                            th.number scope="col" { "estimate" }
                            th.number scope="col" { "95 % interval" }
                            th.number scope="col" { "trials" }
                        }
                    }
                    tbody { @for row in &summary.estimates { (estimate_row(row, &names)) } }
                }
            }
        }
    }
}

fn estimate_row(row: &EstimateRow, names: &[&str]) -> Markup {
    html! {
        tr {
            @if names.is_empty() {
                td { (short(&row.treatment.to_string(), words::LABEL_CHARACTERS_MAX)) }
            }
            @for name in names { td { (words::plain(row.treatment.level(name).unwrap_or("–"))) } }
            td { (short(&row.response, 80)) }
            @match &row.estimate {
                Some(estimate) => {
                    @let number = parts(estimate, Terms::In(&row.unit));
                    td.number { (number.point) }
                    td.number { (number.interval) }
                    td.number { (estimate.samples) }
                }
                None => {
                    td.number { "–" }
                    td.number { "–" }
                    td.number { "< 2" }
                }
            }
        }
    }
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
                            span.quiet { " (" (treatments(&outcome.treatments)) ")" }
                        }
                    }
                }
                @for (tag, trials) in &summary.tags {
                    li { "tagged " b { (short(tag, 120)) } ": " (counted(*trials, "trial")) }
                }
            }
            @if !troubled.is_empty() {
                h4 { "Those that gave no number" }
                ul {
                    @for record in troubled.iter().take(TROUBLED_TRIALS_MAX) {
                        li {
                            "trial " (record.trial) ", block " (record.block) ", "
                            (short(&record.treatment.to_string(), words::LABEL_CHARACTERS_MAX)) ": "
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
