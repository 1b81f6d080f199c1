//! What people say, what this machine says: all claims of a session on a page of their own.

use super::{bind, document, footer};
use crate::doc::{Claim, Text};
use crate::paint;
use crate::say::chapter::{Chapter, chapters_without_figures};
use crate::say::claims;
use crate::say::evidence::FLOOR_MEANING;
use crate::say::opening::{grades, lead, tally, warning};
use crate::words::{self, anchor, counted, short};
use crate::{REPORT_PAGE, Session};
use maud::{Markup, PreEscaped, html};
use model::{ClaimResult, Verdict};

/// What the page does by itself: hiding the verdicts that are not asked for. Without it all of
/// them are shown, each verdict in a section of its own.
const SCRIPT: &str = include_str!("../claims.js");

/// What contradicts people comes first.
const ORDER: [Verdict; 3] = [Verdict::Refuted, Verdict::Supported, Verdict::Inconclusive];

/// Returns what people say beside what this machine says, as one self-contained page: every claim of the
/// session with its source, mechanism, verdict, number, floor and grade; refuted claims first.
pub fn sayings(session: &Session<'_>) -> String {
    let chapters = chapters_without_figures(session);
    let title = format!("What people say · {}", short(&session.manifest.session, 120));
    let sections: Vec<(Verdict, Vec<(&Chapter<'_>, &ClaimResult)>)> =
        ORDER.into_iter().map(|verdict| (verdict, of(&chapters, verdict))).collect();
    let body = html! {
        a.skip href="#claims" { "To the claims" }
        main.sayings {
            (opening(session, &chapters))
            div #claims {
                @for (verdict, found) in &sections {
                    @if !found.is_empty() { (section(*verdict, found)) }
                }
            }
        }
        (footer(session))
    };
    let body = PreEscaped(bind::percents(&body.0));
    document(session, &title, &html! { (body) }, &[SCRIPT])
}

/// The claims of one verdict with the experiments they belong to.
fn of<'c, 'a>(
    chapters: &'c [Chapter<'a>],
    verdict: Verdict,
) -> Vec<(&'c Chapter<'a>, &'a ClaimResult)> {
    let all = chapters.iter().flat_map(|chapter| {
        let claims = &chapter.summary.claims;
        claims.iter().map(move |claim| (chapter, claim))
    });
    all.filter(|(_, claim)| claim.verdict == verdict).collect()
}

fn opening(session: &Session<'_>, chapters: &[Chapter<'_>]) -> Markup {
    let manifest = session.manifest;
    let verdicts: Vec<Verdict> = chapters
        .iter()
        .flat_map(|chapter| &chapter.summary.claims)
        .map(|claim| claim.verdict)
        .collect();
    html! {
        header.opening {
            p.eyebrow {
                a href=(REPORT_PAGE) { "The whole report" } " · scruple, a session of "
                (words::moment(manifest.started_unix_ms))
            }
            h1 { "What people say, what this machine says" }
            p.lead {
                (lead(session))
            }
            @if let Some(warning) = warning(session) { (paint::html_blocks(&[warning])) }
            @if verdicts.is_empty() {
                p { "No claim was put to the test in this session." }
            } @else {
                p { (counted(verdicts.len() as u64, "claim")) " put to the test: "
                    b { (tally(&verdicts)) } "." }
                p.small #grades { (grades(session)) }
                (legend())
                (filter(&verdicts))
            }
        }
    }
}

/// How to read a row.
fn legend() -> Markup {
    html! {
        details {
            summary { "How to read this page" }
            p.small {
                "Each block of trials gives one number. A claim is supported or refuted if more \
                 blocks lie inside or outside the region that would make it true than chance \
                 explains: at most 5 % of sessions hold a wrong verdict on a claim (exact sign \
                 test over blocks, Holm's correction over all claims of the session). Otherwise it is \
                 inconclusive. The A/A controls and the planted answers are tested apart, with 5 % \
                 each. Shaded: the region. Bar: the 95 % confidence interval measured here."
            }
            p.small {
                (FLOOR_MEANING) " The floor of the verdict is after that correction, as if no other \
                 claim were decided."
            }
        }
    }
}

/// A choice of verdicts. It is hidden until the script that serves it runs.
fn filter(verdicts: &[Verdict]) -> Markup {
    html! {
        fieldset #filter hidden {
            legend { "Show" }
            (choice("all", "all", verdicts.len(), true))
            @for verdict in ORDER {
                @let own = verdicts.iter().filter(|other| **other == verdict).count();
                @if own > 0 { (choice(words::verdict(verdict), words::verdict(verdict), own, false)) }
            }
        }
    }
}

fn choice(value: &str, word: &str, claims: usize, checked: bool) -> Markup {
    html! {
        label {
            input type="radio" name="verdict" value=(value) checked[checked];
            span { (word) " (" (claims) ")" }
        }
    }
}

fn section(verdict: Verdict, found: &[(&Chapter<'_>, &ClaimResult)]) -> Markup {
    let word = words::verdict(verdict);
    html! {
        section.by-verdict id=(word) data-verdict=(word) {
            h2 { span.verdict.(word) { (words::mark(verdict)) } " " (words::capital(word)) }
            @let claims: Vec<Claim<'_>> = found.iter().map(|one| with_home(one)).collect();
            (paint::html_claims(&claims))
        }
    }
}

/// Returns a claim with the experiment that it belongs to.
fn with_home((chapter, result): &(&Chapter<'_>, &ClaimResult)) -> Claim<'static> {
    let mut claim = claims::claim(chapter, result);
    let id = &chapter.summary.id;
    let link = Text::link(short(id, 64), format!("{REPORT_PAGE}#{}", anchor(id)));
    let question = format!(", {}", short(&chapter.summary.question, 200));
    claim.about.push(Text::strong("Measured by: ").then(link).then(question));
    claim
}
