//! What exactly is measured: definition cards near the numbers, and how the trials work.

use super::Chapter;
use crate::catalog::{card_lines, definition, needs, unit};
use crate::words::{self, capital, short};
use maud::{Markup, html};
use model::{Design, Factor, Quantity, Response};
use std::collections::BTreeSet;

/// The definition of a number, where an experiment measures one thing by several: findings and
/// claims about different responses of the same unit are easily taken for the same.
pub(super) fn of_quantity(chapter: &Chapter<'_>, quantity: &Quantity) -> Markup {
    let response = chapter.design.and_then(|design| {
        let response = design.response(quantity.response())?;
        is_ambiguous(design, response).then_some(response)
    });
    html! {
        @if let Some(text) = response.and_then(definition) {
            p.small.definition { (capital(&text)) }
        }
    }
}

/// Whether findings and claims are about other responses of this one's unit, too.
fn is_ambiguous(design: &Design, response: &Response) -> bool {
    let findings = design.findings.iter().map(|finding| finding.quantity.response());
    let claims = design.claims.iter().map(|claim| claim.quantity.response());
    let asked: BTreeSet<&str> = findings.chain(claims).collect();
    asked
        .into_iter()
        .filter_map(|name| design.response(name))
        .any(|other| other.name != response.name && other.unit == response.unit)
}

/// The definition cards of some responses.
pub(super) fn cards<'r>(responses: impl Iterator<Item = &'r Response>) -> Markup {
    html! {
        div.cards {
            @for response in responses {
                div.card {
                    p { b { (capital(&words::label(response))) } " "
                        span.quiet { code { (short(&response.name, 80)) } ", in " (unit(&response.unit)) } }
                    ul {
                        @for line in card_lines(response) { li { (short(&line, 600)) } }
                        @for gap in gaps(response) { li.quiet { (gap) } }
                    }
                }
            }
        }
    }
}

/// What a card leaves open, in words: a reader is not to guess whether nothing was corrected or
/// nobody said so.
fn gaps(response: &Response) -> Vec<&'static str> {
    let card = &response.card;
    let mut gaps = Vec::new();
    if card.from.is_empty() && card.to.is_empty() {
        gaps.push("from where to where: the card does not say");
    }
    if card.corrected.is_empty() && response.subtract.is_none() {
        gaps.push("corrected: nothing is divided or subtracted");
    }
    if card.source.is_empty() {
        gaps.push("read from: the card does not say");
    }
    gaps
}

/// How the trials work, what they vary and what they need.
pub(super) fn method(design: &Design) -> Markup {
    html! {
        details {
            summary { "How it is measured, and what it needs" }
            p { (short(&design.method, 4000)) }
            h4 { "Needs and limits" }
            ul { @for line in needs(design) { li { (capital(&short(&line, 600))) } } }
            h4 { "What is varied" }
            div.scroll {
                table {
                    thead {
                        tr {
                            th scope="col" { "factor" }
                            th scope="col" { "level" }
                            th scope="col" { "from profile" }
                            th scope="col" { "what the trial does" }
                        }
                    }
                    tbody { @for factor in &design.factors { (factor_rows(factor)) } }
                }
            }
        }
    }
}

fn factor_rows(factor: &Factor) -> Markup {
    html! {
        @for level in &factor.levels {
            tr {
                td { (words::plain(&factor.name)) }
                th scope="row" {
                    (words::plain(&level.name))
                    @if level.name == factor.baseline { span.quiet { " (baseline)" } }
                }
                td { (level.from.name()) }
                td { (short(&level.about, 400)) }
            }
        }
    }
}
