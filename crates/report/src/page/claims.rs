//! The verdicts of an experiment: what people say beside what was measured.

use super::{Chapter, definitions};
use crate::chart;
use crate::evidence;
use crate::format::{self, result_parts, terms};
use crate::words::{self, short};
use maud::{Markup, html};
use model::{ClaimResult, Design, Verdict};

/// All claims of an experiment in one table.
pub(super) fn table(chapter: &Chapter<'_>) -> Markup {
    let claims = &chapter.summary.claims;
    html! {
        @if !claims.is_empty() {
            h3 { "What people say" }
            p.small {
                "Shaded: where the number would have to lie for the claim to be true. "
                @if chapter.design.is_some_and(Design::is_exact) {
                    "The numbers are computed, and have neither interval nor p."
                } @else {
                    "Bar: the 95 % confidence interval measured here. p is that of the sign test over \
                     blocks, before Holm's correction over all claims of the session; the floor is \
                     the smallest difference that could have been found."
                }
            }
            (rows(claims.iter().map(|claim| row(chapter, claim, &html! {}))))
        }
    }
}

/// A table of claims.
pub(super) fn rows(rows: impl Iterator<Item = Markup>) -> Markup {
    html! {
        div.scroll {
            table.claims {
                thead {
                    tr {
                        th scope="col" { "verdict" }
                        th scope="col" { "claim" }
                        th scope="col" data-unsorted { "measured here" }
                    }
                }
                tbody { @for row in rows { (row) } }
            }
        }
    }
}

/// One claim, with what else is to be said of where it belongs.
pub(super) fn row(chapter: &Chapter<'_>, claim: &ClaimResult, home: &Markup) -> Markup {
    let kind = words::verdict(claim.verdict);
    html! {
        tr.(kind) {
            td.verdict { span.verdict-mark aria-hidden="true" { (words::mark(claim.verdict)) } " " (kind) }
            td.claim {
                p.claim-text { "“" (short(&claim.text, 600)) "”" }
                p.quiet { "— " (short(&claim.source, 200)) }
                @if !claim.mechanism.is_empty() {
                    p.small { b { "Why it is said: " } (short(&claim.mechanism, 1000)) }
                }
                @if !claim.note.is_empty() {
                    p.small { b { "To know: " } (short(&claim.note, 1000)) }
                }
                (home)
            }
            td.measured { (measured(chapter, claim)) }
        }
    }
}

fn measured(chapter: &Chapter<'_>, claim: &ClaimResult) -> Markup {
    let result = &claim.result;
    let terms = terms(result);
    html! {
        @match (&result.estimate, result_parts(result)) {
            (Some(estimate), Some(number)) => {
                p.figures {
                    @if let Some(counts) = format::counts(result) {
                        span.interval { (counts) ":" } " "
                    }
                    b { (number.point) } " " span.interval { (number.interval) }
                }
                (chart::strip(estimate, claim.holds_if, terms))
                @if let Some(rest) = format::rest(result) { p.small { (rest) } }
            }
            _ => {
                @let missing = chapter.missing(result);
                p.figures { b { (words::capital(&missing.lead)) } }
                p.small { (words::capital(&missing.why)) "." }
            }
        }
        p.small { (words::quantity(&result.quantity, chapter.design)) }
        @if !is_headline(chapter, claim) { (definitions::of_quantity(chapter, &result.quantity)) }
        p.small { "True if it is " b { (words::region(claim.holds_if, terms)) } "." }
        p.small { (decision(claim)) }
        @if result.estimate.is_some() { (grade(chapter, claim)) }
        @if let Some(moved) = evidence::moved_by_tags(result) {
            p.small { (words::capital(&moved)) "." }
        }
        @if result.estimate.is_some() {
            @if !result.remark.is_empty() {
                p.small { (words::capital(&short(&result.remark, 1000))) "." }
            }
        }
    }
}

/// Whether a claim is about the headline's response, whose definition stands at the top.
fn is_headline(chapter: &Chapter<'_>, claim: &ClaimResult) -> bool {
    let first = chapter.summary.findings.first().map(|finding| finding.result.quantity.response());
    first == Some(claim.result.quantity.response())
}

/// What kind of evidence the verdict rests on, and what would raise it.
fn grade(chapter: &Chapter<'_>, claim: &ClaimResult) -> Markup {
    html! {
        p.small.grade {
            "Evidence: "
            span.grade-mark aria-hidden="true" { (evidence::grade_mark(claim.grade)) } " "
            b { (evidence::grade(claim.grade)) } "."
            @if let Some(raise) = evidence::raise(claim, chapter.raises_most) {
                " Higher with: " (short(raise, 400)) "."
            } @else if !claim.raise.is_empty() {
                " " a href="#grades" { "What would raise it" }
            }
        }
    }
}

/// How sure the verdict is, and how small a difference could have been found.
fn decision(claim: &ClaimResult) -> String {
    let mut text = match (claim.p_value, claim.verdict) {
        (Some(p), _) => format!("{}p {}. ", agreeing(claim), p_value(p)),
        (None, Verdict::Inconclusive) => "Nothing was decided. ".into(),
        (None, _) => "Computed, so that no test is needed. ".into(),
    };
    let floors = [evidence::floors(&claim.result), evidence::floor_of_verdict(claim)];
    let floors: Vec<String> = floors.into_iter().flatten().collect();
    if !floors.is_empty() {
        text.push_str(&format!("{}.", words::capital(&floors.join("; "))));
    }
    text.trim_end().to_string()
}

/// How many blocks are on the side of the verdict: "19 of 20 blocks agree: ".
fn agreeing(claim: &ClaimResult) -> String {
    let all = claim.result.estimate.as_ref().map_or(0, |estimate| estimate.samples);
    match (claim.agreeing_blocks, claim.verdict) {
        (None, _) => String::new(),
        (Some(some), Verdict::Inconclusive) => {
            format!("{some} of {all} blocks agree, too few for a verdict: ")
        }
        (Some(some), _) => format!("{some} of {all} blocks agree: "),
    }
}

fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".into() } else { format!("= {p:.3}") }
}
