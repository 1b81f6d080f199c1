//! What a session answers, before its chapters.

use super::chapter::Chapter;
use super::evidence::raises_most;
use super::trust::{Alarm, alarm, control_sentence};
use super::{disturbance, evidence, experiment, reason, scale, selftest, why};
use crate::doc::{Block, Note, Role, Text, Tone};
use crate::format::duration_s;
use crate::page::Neighbour;
use crate::words::{self, anchor, counted, short};
use crate::{CLAIMS_PAGE, Session};
use maud::{Markup, html};
use model::{Inquiry, Record, TrustGrade, Verdict};

/// Reasons for a grade that are listed at the top.
const REASONS_MAX: usize = 12;

/// Reports whether any of a session's numbers is computed and not measured.
fn any_exact(session: &Session<'_>) -> bool {
    let mut responses = session.manifest.designs.iter().flat_map(|design| &design.responses);
    responses.any(|response| response.exact)
}

/// Returns what must be read before the answers.
pub(crate) fn before(session: &Session<'_>) -> Vec<Block<'static>> {
    let mut blocks = Vec::new();
    if session.manifest.options.selftest {
        blocks.push(graded(session));
    }
    blocks.extend(warning(session));
    blocks.extend(disturbance::recognised(session));
    if !session.summary.complete {
        blocks.push(Block::Note(Note {
            tone: Tone::Care,
            mark: "!",
            word: "not complete".into(),
            text: vec![
                "Some planned trials have no record: the session was interrupted, or its time ran \
                 out. What is shown rests on the trials that are there."
                    .into(),
            ],
        }));
    }
    blocks
}

/// Returns what the numbers in the answers are.
pub(crate) fn key(session: &Session<'_>) -> Block<'static> {
    let mut text = "Each number is the median over blocks; a ratio or a difference is formed within \
                    each block first. In brackets: its 95 % confidence interval; a number without one \
                    was the same in every block. "
        .to_string();
    if any_exact(session) {
        text.push_str(
            "[exact] is a number that was computed, not measured: it is the same on every machine. ",
        );
    }
    text.push_str("A trial is a fresh process that measures one thing once.");
    Block::paragraph(Role::Small, text)
}

/// Returns one line on the machine and the trials.
pub(crate) fn lead(session: &Session<'_>) -> String {
    let environment = &session.manifest.environment;
    let length = length_s(session).map(|s| format!(" in {}", duration_s(s))).unwrap_or_default();
    format!(
        "{} · {} · Linux {} · profile {} · {}{length}",
        short(&environment.cpu_model, 120),
        counted(environment.cpus_allowed.len() as u64, "CPU"),
        short(&environment.kernel, 80),
        session.manifest.options.profile.name(),
        counted(session.summary.harness.trials, "trial")
    )
}

/// Returns the answers of a session, each with the question that it answers.
pub(crate) fn answers(session: &Session<'_>, chapters: &[Chapter<'_>]) -> Markup {
    let answer = |chapter: &Chapter<'_>| -> Text {
        let own = own_answer(session, chapter).map(Text::from);
        let first = chapter.summary.findings.first();
        own.or_else(|| first.map(|finding| experiment::sentence(chapter, finding)))
            .unwrap_or_else(|| Text::quiet("It asks for no single number: see its chart."))
    };
    html! {
        ol.answers {
            @for chapter in chapters {
                li {
                    a.question href={ "#" (anchor(&chapter.summary.id)) } {
                        (short(&chapter.summary.question, 400))
                    }
                    p.answer { (crate::paint::inline(&answer(chapter))) }
                    @if let Some(why) = reason::why(chapter) { p.why { (crate::paint::inline(&why)) } }
                }
            }
        }
    }
}

/// Returns what is said of a user's program in other words than a finding's.
pub(crate) fn own_answer(session: &Session<'_>, chapter: &Chapter<'_>) -> Option<String> {
    let subject = chapter.design?.subject.as_ref()?;
    if subject.squeeze.is_some() {
        return Some(why::why(session)?.answer);
    }
    let scaling = scale::scaling(session.manifest, session.records, &session.summary.scruple)?;
    scaling.answer.into_iter().next()
}

/// Returns what a session is about; the machine's name follows.
pub(crate) fn title(session: &Session<'_>) -> &'static str {
    match (session.manifest.options.inquiry, session.manifest.options.selftest) {
        (Some(Inquiry::Study), _) => "What your programs cost on",
        (Some(Inquiry::Scale), _) => "How a command scales on",
        (Some(Inquiry::Why), _) => "What limits a command, found on",
        (_, true) => "Self-test: how far to trust",
        (_, false) => "What concurrency costs on",
    }
}

/// Returns the grade of a self-test, and what it rests on.
fn graded(session: &Session<'_>) -> Block<'static> {
    let graded = analysis::selftest(session.summary);
    let (tone, mark) = match graded.grade {
        Some(TrustGrade::A) => (Tone::Good, "✓"),
        Some(TrustGrade::D | TrustGrade::F) => (Tone::Bad, "✗"),
        Some(TrustGrade::B | TrustGrade::C) | None => (Tone::Care, "?"),
    };
    let tallies: Vec<String> =
        selftest::tallies(&graded).iter().map(selftest::Tally::sentence).collect();
    let mut text = vec![
        Text::strong(short(&graded.sentence, 600)),
        format!(
            "Known answers were planted and measured like anything else. {}.",
            words::capital(&tallies.join("; "))
        )
        .into(),
    ];
    text.extend(graded.reasons.iter().take(REASONS_MAX).map(|reason| short(reason, 400).into()));
    if graded.reasons.len() > REASONS_MAX {
        text.push(format!("{} more, in the chapters", graded.reasons.len() - REASONS_MAX).into());
    }
    let untested = graded.untested.iter().take(REASONS_MAX);
    text.extend(untested.map(|it| Text::quiet(format!("Not tested: {}", short(it, 600)))));
    if !graded.advice.is_empty() {
        text.push(graded.advice.clone().into());
    }
    Block::Note(Note { tone, mark, word: selftest::word(graded.grade), text })
}

/// Returns what must be read before any number: that the machine found differences between identical
/// things, or that nobody knows.
pub(crate) fn warning(session: &Session<'_>) -> Option<Block<'static>> {
    let note = |tone, mark, word: &str, text| Note { tone, mark, word: word.into(), text };
    Some(Block::Note(match alarm(session)? {
        Alarm::Differs { what, so } => {
            let why = format!(
                "{what} Their ratio is 1 by construction; what moved them also moves every other \
                 number here."
            );
            note(Tone::Bad, "✗", "do not trust", vec![Text::strong(so), why.into()])
        }
        Alarm::NotKnown => {
            note(Tone::Care, "?", "trust not known", vec![control_sentence(session).into()])
        }
    }))
}

/// Returns what is said once of all grades and floors.
pub(crate) fn grades(session: &Session<'_>) -> String {
    evidence::grade_meaning(raises_most(session))
}

pub(crate) fn host(host: &str) -> String {
    if host.is_empty() { "this machine".into() } else { short(host, 80) }
}

/// From the start of the session to the end of its last trial, in seconds.
fn length_s(session: &Session<'_>) -> Option<u64> {
    let end_ms = |r: &Record| r.started_unix_ms.saturating_add(r.total_ns / 1_000_000);
    let end = session.records.iter().map(end_ms).max()?;
    Some(end.saturating_sub(session.manifest.started_unix_ms).div_ceil(1000))
}

/// All chapters with their verdicts.
pub(crate) fn contents(
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
pub(crate) fn rail(chapters: &[Chapter<'_>]) -> Markup {
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
pub(crate) fn tally(verdicts: &[Verdict]) -> String {
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
pub(crate) fn heading(text: &str) -> String {
    words::capital(&short(text, 400))
}
