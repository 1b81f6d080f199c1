//! Known answers that were put into an experiment, and what became of them.

use super::Chapter;
use crate::format::{self, Terms, joined, parts};
use crate::planted::{
    EXCLUDED, HELD, NEAR_MISS, diagnosed, held_meaning, is_nothing, outcome, size, truth,
};
use crate::words::{self, capital, short};
use maud::{Markup, html};
use model::{Blame, DiagnosisResult, PlantedResult};

/// What was planted beside what was found.
pub(super) fn planted(chapter: &Chapter<'_>) -> Markup {
    let planted = &chapter.summary.planted;
    html! {
        @if !planted.is_empty() {
            h3 { "What was planted, and what was found" }
            p.small {
                "A known answer was put into each of these. "
                @for held in [HELD, NEAR_MISS, EXCLUDED] {
                    (capital(held)) ": " (held_meaning(held)) ". "
                }
            }
            div.scroll {
                table.planted {
                    thead {
                        tr {
                            td {}
                            th scope="col" { "planted" }
                            th.number scope="col" { "truth" }
                            th.number scope="col" { "found here" }
                            th scope="col" { "so" }
                        }
                    }
                    tbody { @for one in planted { (row(chapter, one)) } }
                }
            }
        }
    }
}

fn row(chapter: &Chapter<'_>, planted: &PlantedResult) -> Markup {
    let outcome = outcome(chapter.summary, planted);
    let result = &planted.result;
    html! {
        tr.(outcome.kind) {
            td.verdict { span.verdict-mark { (outcome.mark) } }
            th scope="row" {
                (capital(&short(&planted.what, 200)))
                @if let Some(size) = size(planted) {
                    @if !is_nothing(planted) { span.quiet { " (" (size) ")" } }
                }
                p.small { (words::quantity(&result.quantity, chapter.design)) }
            }
            td.number data-label="truth" { (truth(planted)) }
            td.number data-label="found here" {
                @match format::result_parts(result) {
                    Some(number) => { (number.point) " " span.interval { (number.interval) } }
                    None => { (chapter.missing(result).word) }
                }
            }
            td.says {
                b { (outcome.found) }
                @if !outcome.held.is_empty() { "; " (outcome.held) }
            }
        }
    }
}

/// Each gap with its suspects, the largest share first.
pub(super) fn diagnoses(chapter: &Chapter<'_>) -> Markup {
    let diagnoses = &chapter.summary.diagnoses;
    html! {
        @if !diagnoses.is_empty() {
            h3 { "What the gap comes from" }
            p.small {
                "Each suspect was removed in a treatment of its own. Its share is the part of the \
                 gap that goes away without it; shares of causes that act together need not add up \
                 to 100 %. A suspect is named where its share is told from that of every other."
            }
            div.diagnoses { @for one in diagnoses { (diagnosis(chapter, one)) } }
        }
    }
}

fn diagnosis(chapter: &Chapter<'_>, diagnosis: &DiagnosisResult) -> Markup {
    let (mark, kind, said) = diagnosed(chapter.summary, diagnosis);
    html! {
        figure.figure.diagnosis {
            h4 { (capital(&short(&diagnosis.what, 200))) }
            p.(kind) { span.verdict { (mark) } " " (said) }
            div.scroll {
                table.suspects {
                    thead {
                        tr {
                            th scope="col" { "suspect" }
                            th.number scope="col" { "share of the gap" }
                            td {}
                        }
                    }
                    tbody {
                        @for blame in &diagnosis.suspects { (suspect(chapter, diagnosis, blame)) }
                    }
                }
            }
        }
    }
}

fn suspect(chapter: &Chapter<'_>, diagnosis: &DiagnosisResult, blame: &Blame) -> Markup {
    let is = |name: &Option<String>| name.as_ref() == Some(&blame.suspect);
    html! {
        tr {
            th scope="row" { (short(&blame.suspect, 120)) }
            td.number {
                @match &blame.share.estimate {
                    Some(share) => (joined(&parts(share, Terms::Share))),
                    None => (chapter.missing(&blame.share).word),
                }
            }
            td {
                @if is(&diagnosis.named) { b { "named" } " " }
                @if is(&diagnosis.planted) { "planted" }
            }
        }
    }
}
