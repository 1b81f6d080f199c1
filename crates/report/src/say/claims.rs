//! The claims of an experiment next to what was measured.

use super::chapter::Chapter;
use super::{catalog, evidence};
use crate::chart;
use crate::doc::{Block, Claim, Text};
use crate::format::{self, result_parts, terms};
use crate::words::{self, capital, counted, short};
use maud::Markup;
use model::{ClaimResult, Verdict};

/// What contradicts people comes first.
const ORDER: [Verdict; 3] = [Verdict::Refuted, Verdict::Supported, Verdict::Inconclusive];

/// Returns each verdict that claims of some experiments have, with their number.
pub(crate) fn tally(chapters: &[Chapter<'_>]) -> Vec<(Verdict, usize)> {
    let claims = || chapters.iter().flat_map(|chapter| &chapter.summary.claims);
    let count = |one: Verdict| (one, claims().filter(|claim| claim.verdict == one).count());
    ORDER.into_iter().map(count).filter(|(_, n)| *n > 0).collect()
}

/// Returns how many claims have which verdict, in a sentence; `None` where there is no claim.
pub(crate) fn said(chapters: &[Chapter<'_>]) -> Option<String> {
    let all = tally(chapters);
    let kind =
        |(one, n): &(Verdict, usize)| format!("{n} {} {}", words::verdict(*one), words::mark(*one));
    let kinds: Vec<String> = all.iter().map(kind).collect();
    let claims = counted(all.iter().map(|(_, n)| *n as u64).sum(), "claim");
    let said = format!("Tested: {claims}, {}.", kinds.join(", "));
    (!all.is_empty()).then_some(said)
}

/// Returns how many claims of an experiment have which verdict: "✗6 ✓10".
pub(crate) fn marks(chapter: &Chapter<'_>) -> String {
    let all = tally(std::slice::from_ref(chapter));
    let marks = all.iter().map(|(one, n)| format!("{}{n}", words::mark(*one)));
    marks.collect::<Vec<_>>().join(" ")
}

/// Returns all claims of an experiment, with what the columns mean.
pub(crate) fn claims(chapter: &Chapter<'_>) -> Vec<Block<'static>> {
    let claims = &chapter.summary.claims;
    if claims.is_empty() {
        return Vec::new();
    }
    let mut about =
        "Shaded: where the number would have to lie for the claim to be true. ".to_string();
    about.push_str(if chapter.design.is_exact() {
        "The numbers are computed, and have neither interval nor p."
    } else {
        "Bar: the 95 % confidence interval measured here. p is that of the sign test over blocks, \
         before Holm's correction over all claims of the session; the floor is the smallest \
         difference that could have been found."
    });
    vec![
        Block::heading(3, "Claims"),
        Block::small(Text::on_page(maud::html! { (about) })),
        Block::Claims(claims.iter().map(|one| claim(chapter, one)).collect()),
    ]
}

/// Returns one claim with its verdict and what that rests on.
pub(crate) fn claim(chapter: &Chapter<'_>, claim: &ClaimResult) -> Claim {
    let result = &claim.result;
    let about = [("Reason given: ", &claim.mechanism), ("Note: ", &claim.note)];
    let about = about.into_iter().filter_map(|(name, text)| {
        Some(Text::strong(name).then(short(words::stated(text)?, 1000)))
    });
    let (number, missing, drawing) = match (&result.estimate, result_parts(result)) {
        (Some(estimate), Some(parts)) => {
            let counts = format::counts(result).map(|counts| format!("{counts}: "));
            let number = Text::from(counts.unwrap_or_default()).then(Text::number(parts));
            let strip = chart::strip(estimate, claim.holds_if, terms(result));
            (number, String::new(), strip)
        }
        _ => {
            let missing = chapter.missing(result);
            (Text::strong(capital(&missing.word)), missing.why, Markup::default())
        }
    };
    let caveat = words::stated(&result.remark).filter(|_| result.estimate.is_some());
    Claim {
        verdict: claim.verdict,
        text: claim.text.clone(),
        source: claim.source.clone(),
        number,
        missing,
        drawing,
        about: about.collect(),
        caveat: caveat.map(|remark| format!("{}.", capital(&short(remark, 1000)))),
        evidence: rests_on(chapter, claim),
    }
}

fn rests_on(chapter: &Chapter<'_>, claim: &ClaimResult) -> Vec<Text> {
    let result = &claim.result;
    let mut lines: Vec<Text> = Vec::new();
    lines.extend(format::rest(result).map(Text::from));
    lines.push(format!("{}.", capital(&words::quantity(&result.quantity, chapter.design))).into());
    if !is_headline(chapter, claim) {
        lines.extend(catalog::of_quantity(chapter, &result.quantity).map(Text::from));
    }
    let region = words::region(claim.holds_if, terms(result));
    lines.push(Text::from("True if it is ").then(Text::strong(region)).then("."));
    lines.push(decision(claim).into());
    if result.estimate.is_some() {
        lines.push(grade(chapter, claim));
    }
    lines.extend(evidence::moved_by_tags(result).map(|it| format!("{}.", capital(&it)).into()));
    lines
}

/// Reports whether a claim is about the headline's response, whose definition stands at the top.
fn is_headline(chapter: &Chapter<'_>, claim: &ClaimResult) -> bool {
    let first = chapter.summary.findings.first().map(|finding| finding.result.quantity.response());
    first == Some(claim.result.quantity.response())
}

/// Returns what kind of evidence the verdict rests on, and what would raise it.
fn grade(chapter: &Chapter<'_>, claim: &ClaimResult) -> Text {
    let (mark, word) = evidence::grade(claim.grade);
    let text = Text::from(format!("Evidence: {mark} ")).then(Text::strong(word)).then(".");
    let link = maud::html! { " " a href="#grades" { "What would raise it" } };
    match words::stated(claim.raise.trim_end_matches('.')) {
        None => text,
        raise if raise == chapter.raises_most => text.then(Text::on_page(link)),
        Some(raise) => text.then(format!(" Higher with: {}.", short(raise, 400))),
    }
}

/// Returns how sure the verdict is, and how small a difference could have been found.
fn decision(claim: &ClaimResult) -> String {
    let mut text = match (claim.p_value, claim.verdict) {
        (Some(p), _) => format!("{}p {}. ", agreeing(claim), p_value(p)),
        (None, Verdict::Inconclusive) => "Nothing was decided. ".into(),
        (None, _) => "Computed, so that no test is needed. ".into(),
    };
    let floors = [evidence::floors(&claim.result), evidence::floor_of_verdict(claim)];
    if let Some(floors) = words::clauses(floors, "; ") {
        text.push_str(&format!("{}.", capital(&floors)));
    }
    text.trim_end().to_string()
}

/// Returns how many blocks are on the side of the verdict: "19 of 20 blocks agree: ".
fn agreeing(claim: &ClaimResult) -> String {
    let all = claim.result.estimate.as_ref().map_or(0, |estimate| estimate.samples);
    let few = if claim.verdict == Verdict::Inconclusive { ", too few for a verdict" } else { "" };
    claim.agreeing_blocks.map_or(String::new(), |n| format!("{n} of {all} blocks agree{few}: "))
}

fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".into() } else { format!("= {p:.3}") }
}
