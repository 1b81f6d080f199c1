//! The first screen: the answers in sentences, whether to believe them, and where they stand.

use super::why::why;
use super::{Chapter, Neighbour, anchor, meter};
use crate::evidence::{self, FLOOR_MEANING};
use crate::format::{self, Terms, duration_s, ratio, rounded};
use crate::grade;
use crate::trust::{Alarm, alarm, control_sentence, floor_sentence};
use crate::words::{self, counted, short};
use crate::{CLAIMS_PAGE, Session};
use maud::{Markup, html};
use model::{FindingResult, Inquiry, Record, TrustGrade, Verdict};

/// Reasons for a grade that are listed at the top.
const REASONS_MAX: usize = 12;

/// Whether any of its numbers is computed and not measured.
fn any_exact(session: &Session<'_>) -> bool {
    let mut responses = session.manifest.designs.iter().flat_map(|design| &design.responses);
    responses.any(|response| response.exact)
}

/// What the session answers.
pub(super) fn opening(session: &Session<'_>, chapters: &[Chapter<'_>]) -> Markup {
    let manifest = session.manifest;
    let environment = &manifest.environment;
    html! {
        header.opening #opening {
            p.eyebrow { "scruple · a session of " (words::moment(manifest.started_unix_ms)) }
            h1 { (title(session)) " " bdi { (host(&environment.host)) } }
            p.lead {
                bdi { (short(&environment.cpu_model, 120)) } " · "
                (counted(environment.cpus_allowed.len() as u64, "CPU")) " · Linux "
                bdi { (short(&environment.kernel, 80)) } " · profile "
                (manifest.options.profile.name()) " · "
                (counted(session.summary.harness.trials, "trial"))
                @if let Some(seconds) = length_s(session) { " in " (duration_s(seconds)) }
            }
            @if manifest.options.selftest { (graded(session)) }
            (warning(session))
            (meter::recognised(session))
            @if !session.summary.complete {
                (super::note("care", "!", "not complete", &html! {
                    "Some planned trials have no record: the session was interrupted, or its time \
                     ran out. What is shown rests on the trials that are there."
                }))
            }
            p.small.brackets {
                "Each number is the median over blocks; a ratio or a difference is formed within each \
                 block first. In brackets: its 95 % confidence interval; a number without one was \
                 the same in every block. "
                @if any_exact(session) {
                    "[exact] is a number that was computed, not measured: it is the same on every \
                     machine. "
                }
                "A trial is a fresh process that measures one thing once."
            }
            p.small.on-paper {
                "What is folded away on the screen is not on paper: unfold it there before printing."
            }
            ol.answers {
                @for chapter in chapters {
                    li {
                        a.question href={ "#" (anchor(&chapter.summary.id)) } {
                            (short(&chapter.summary.question, 400))
                        }
                        @match chapter.summary.findings.first() {
                            Some(finding) => p.answer {
                                @match told(session, chapter) {
                                    Some(sentence) => (short(&sentence, 1000)),
                                    None => (answer(chapter, finding)),
                                }
                            },
                            None => p.answer.quiet { "It asks for no single number: see its chart." },
                        }
                        (why(chapter))
                    }
                }
            }
        }
    }
}

/// What is said of a user's program in other words than a finding's.
fn told(session: &Session<'_>, chapter: &Chapter<'_>) -> Option<String> {
    let lives_on = || Some(super::squeezes::of(session, chapter)?.answer);
    let scaling = || {
        let subject = chapter.design.is_some_and(|design| design.subject.is_some());
        let scaling =
            crate::scaling::of(session.manifest, session.records, &session.summary.scruple);
        scaling.filter(|_| subject)?.answer.into_iter().next()
    };
    lives_on().or_else(scaling)
}

/// What a session is about; the machine's name follows.
pub(super) fn title(session: &Session<'_>) -> &'static str {
    match (session.manifest.options.inquiry, session.manifest.options.selftest) {
        (Some(Inquiry::Study), _) => "What your programs cost on",
        (Some(Inquiry::Scale), _) => "How a command scales on",
        (Some(Inquiry::Why), _) => "What a command lives on, found on",
        (_, true) => "Self-test: how far to trust",
        (_, false) => "What concurrency costs on",
    }
}

/// The grade of a self-test, and what it rests on.
fn graded(session: &Session<'_>) -> Markup {
    let told = analysis::selftest(session.summary);
    let (kind, mark) = match told.grade {
        Some(TrustGrade::A) => ("good", "✓"),
        Some(TrustGrade::D | TrustGrade::F) => ("bad", "✗"),
        Some(TrustGrade::B | TrustGrade::C) | None => ("care", "?"),
    };
    html! {
        (super::note(kind, mark, &grade::word(told.grade), &html! {
            p { b { (short(&told.sentence, 600)) } }
            p {
                "Known answers were planted and measured like anything else. "
                @for (index, tally) in grade::tallies(&told).iter().enumerate() {
                    @if index == 0 { (words::capital(tally.what)) } @else { "; " (tally.what) }
                    ": " (tally.right) " of " (tally.of) " " (tally.how)
                }
                "."
            }
            @if !told.reasons.is_empty() {
                ul {
                    @for reason in told.reasons.iter().take(REASONS_MAX) { li { (short(reason, 400)) } }
                    @if told.reasons.len() > REASONS_MAX {
                        li { (told.reasons.len() - REASONS_MAX) " more, in the chapters" }
                    }
                }
            }
            @for untested in told.untested.iter().take(REASONS_MAX) {
                p.small { "Not tested: " (short(untested, 600)) }
            }
            @if !told.advice.is_empty() { p { (told.advice) } }
        }))
    }
}

/// What must be read before any number: that the machine told identical things apart, or that
/// nobody knows.
pub(super) fn warning(session: &Session<'_>) -> Markup {
    html! {
        @match alarm(session) {
            Some(Alarm::Differs { what, so }) => {
                (super::note("bad", "✗", "do not trust", &html! {
                    p { b { (so) } }
                    p { (what) " Their ratio is 1 by construction; what moved them moves every \
                        other number here, too." }
                }))
            }
            Some(Alarm::NotKnown) => {
                (super::note("care", "?", "trust not known", &html! { p { (control_sentence(session)) } }))
            }
            None => {}
        }
    }
}

fn host(host: &str) -> String {
    if host.is_empty() { "this machine".into() } else { short(host, 80) }
}

/// From the start of the session to the end of its last trial, in seconds.
fn length_s(session: &Session<'_>) -> Option<u64> {
    let end_ms = |r: &Record| r.started_unix_ms.saturating_add(r.total_ns / 1_000_000);
    let end = session.records.iter().map(end_ms).max()?;
    Some(end.saturating_sub(session.manifest.started_unix_ms).div_ceil(1000))
}

/// A finding's sentence with its number standing out; with what a share leaves unexplained.
pub(super) fn answer(chapter: &Chapter<'_>, finding: &FindingResult) -> Markup {
    let result = &finding.result;
    if result.estimate.is_none() {
        let sentence = finding.sentence.replace("{}", "…");
        let missing = chapter.missing(result);
        return html! {
            span.quiet {
                (short(&sentence, 1000)) " "
                b { (words::capital(&missing.lead)) ":" } " " (missing.why) "."
            }
        };
    }
    let (before, number, after) = format::sentence_parts(&finding.sentence, result);
    html! {
        (short(before, 1000))
        @if let Some(number) = number {
            span.figures {
                b { (number.point) }
                @if !number.interval.is_empty() { " " span.interval { (number.interval) } }
            }
            @if let Some(counts) = format::counts(result) {
                " " span.interval { "(" (counts) ")" }
            }
        }
        (short(after, 1000))
        @if let Some(rest) = format::rest(result) { " " span.rest-of { (rest) } }
    }
}

/// Whether the numbers can be believed: controls, floor, shield, what disturbed.
pub(super) fn trust(session: &Session<'_>) -> Markup {
    let trust = &session.summary.trust;
    let (kind, mark, word) = match (trust.controls.is_empty(), trust.holds) {
        (true, _) => ("care", "?", "not known"),
        (false, true) => ("good", "✓", "yes"),
        (false, false) => ("bad", "✗", "not all"),
    };
    html! {
        section.trust aria-labelledby="trust" {
            h2 #trust { "Can these numbers be trusted?" }
            (super::note(kind, mark, word, &html! {
                p { (control_sentence(session)) " " (floor_sentence(session)) }
                p.small { (FLOOR_MEANING) }
            }))
            p.small #grades { (evidence::grade_meaning(evidence::raises_most(session))) }
            div.columns {
                div { h3 { "The shield" } (shield(session)) }
                div { h3 { "What disturbed" } (meter::disturbance(session)) }
            }
            (meter::strip(session))
            @if !trust.controls.is_empty() {
                details {
                    summary { "The A/A controls: identical treatments, compared" }
                    div.scroll { (controls(session)) }
                }
            }
        }
    }
}

fn controls(session: &Session<'_>) -> Markup {
    html! {
        table {
            thead {
                tr {
                    th scope="col" { "experiment" }
                    th scope="col" { "response" }
                    th.number scope="col" { "ratio of the two" }
                    th scope="col" { "found" }
                }
            }
            tbody {
                @for control in &session.summary.trust.controls {
                    tr {
                        th scope="row" {
                            (short(&control.experiment, 80))
                            @if !control.at.0.is_empty() { ", " (words::cell(&control.at)) }
                        }
                        td { (short(&control.response, 80)) }
                        td.number { (ratio(&control.ratio)) }
                        td { @if control.differs { "✗ a difference" } @else { "✓ no difference" } }
                    }
                }
            }
        }
    }
}

fn shield(session: &Session<'_>) -> Markup {
    let shield = &session.manifest.shield;
    let share = |x: f64| rounded(x, Terms::Share);
    html! {
        @if shield.means.is_empty() {
            p { "Trials ran unshielded beside everything else on the machine." }
        } @else {
            p { "In force: " (short(&shield.means.join("; "), 400)) "." }
        }
        @if let (Some(without), Some(with)) = (shield.share_without, shield.share_with) {
            p {
                "Beside one rival on the same CPU a pinned loop kept " b { (share(without)) }
                " of it unshielded and " b { (share(with)) } " shielded."
            }
        }
        @if !shield.missing.is_empty() {
            ul { @for missing in &shield.missing { li { "Missing: " (short(missing, 400)) } } }
        }
    }
}

/// All chapters with their verdicts.
pub(super) fn contents(
    session: &Session<'_>,
    chapters: &[Chapter<'_>],
    neighbour: Neighbour,
) -> Markup {
    let all = session.experiments().flat_map(|experiment| &experiment.claims);
    let verdicts: Vec<Verdict> = all.map(|claim| claim.verdict).collect();
    html! {
        nav #contents aria-label="Contents" {
            h2 { "Contents" }
            @if !verdicts.is_empty() {
                p.quiet {
                    "What people say, put to the test: " (counted(verdicts.len() as u64, "claim"))
                    ", " (tally(&verdicts)) "."
                    @if neighbour == Neighbour::Beside {
                        " " a href=(CLAIMS_PAGE) { "All of them on a page of their own" } "."
                    }
                }
            }
            ol.contents {
                @for chapter in chapters {
                    @let claims: Vec<Verdict> =
                        chapter.summary.claims.iter().map(|claim| claim.verdict).collect();
                    li {
                        a href={ "#" (anchor(&chapter.summary.id)) } {
                            b { (short(&chapter.summary.id, 64)) }
                            span.quiet { (short(&chapter.summary.question, 200)) }
                        }
                        span.verdicts aria-label=(tally(&claims)) {
                            @for verdict in &claims {
                                span.(words::verdict(*verdict)) aria-hidden="true"
                                    title=(words::verdict(*verdict)) { (words::mark(*verdict)) }
                            }
                        }
                    }
                }
                li { a href="#environment" { b { "The machine" } } }
                li { a href="#harness" { b { "What measuring cost" } } }
                li { a href="#repeat" { b { "How to repeat it" } } }
            }
        }
    }
}

/// The contents once more, short: they stay beside the text, or fold away where there is no room.
pub(super) fn rail(chapters: &[Chapter<'_>]) -> Markup {
    html! {
        nav #rail aria-label="Chapters" {
            button.rail-toggle type="button" aria-controls="rail-list" aria-expanded="false" hidden {
                "Contents"
            }
            ol #rail-list {
                li { a href="#opening" { "The answers" } }
                li { a href="#trust" { "Trust" } }
                li { a href="#contents" { "Contents" } }
                @for chapter in chapters {
                    li {
                        a href={ "#" (anchor(&chapter.summary.id)) } {
                            (short(&chapter.summary.id, 64))
                        }
                    }
                }
                li { a href="#environment" { "The machine" } }
                li { a href="#harness" { "What measuring cost" } }
                li { a href="#repeat" { "How to repeat it" } }
            }
        }
    }
}

/// "3 supported, 2 refuted, 1 inconclusive".
pub(super) fn tally(verdicts: &[Verdict]) -> String {
    let kinds = [Verdict::Supported, Verdict::Refuted, Verdict::Inconclusive];
    let parts: Vec<String> = kinds
        .into_iter()
        .map(|kind| (kind, verdicts.iter().filter(|verdict| **verdict == kind).count()))
        .filter(|(_, n)| *n > 0)
        .map(|(kind, n)| format!("{n} {}", words::verdict(kind)))
        .collect();
    parts.join(", ")
}

/// A heading in the words of a sentence.
pub(super) fn heading(text: &str) -> String {
    words::capital(&short(text, 400))
}
