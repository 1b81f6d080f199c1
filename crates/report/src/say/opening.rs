//! What a session answers, before its chapters.

use super::chapter::Chapter;
use super::claims::marks;
use super::{disturbance, evidence, experiment, reason, selftest, trust};
use crate::Session;
use crate::doc::{Answer, Block, Role, Text, Tone};
use crate::format::duration_s;
use crate::words::{self, anchor, capital, counted, short};
use maud::html;
use model::{Inquiry, TrustGrade};

/// Reasons for a grade that are listed at the top.
const REASONS_MAX: usize = 12;

/// Returns what must be read before the answers.
pub(crate) fn before(session: &Session<'_>) -> Vec<Block<'static>> {
    let graded = session.manifest.options.selftest.then(|| graded(session));
    let parts =
        [graded, trust::warning(session), disturbance::recognised(session), incomplete(session)];
    parts.into_iter().flatten().collect()
}

/// Returns that a session lacks trials.
pub(crate) fn incomplete(session: &Session<'_>) -> Option<Block<'static>> {
    let text = "Not complete: some planned trials have no record, because the session was interrupted \
                or its time ran out. What is shown rests on the trials that are there.";
    (!session.summary.complete).then(|| Block::said(Tone::Care, "not complete", vec![text.into()]))
}

/// Returns what the numbers in the answers are.
pub(crate) fn key(session: &Session<'_>) -> Block<'static> {
    let mut text = "Each number is the median over blocks; a ratio or a difference is formed within \
                    each block first. In brackets: its 95 % confidence interval; a number without one \
                    was the same in every block. "
        .to_string();
    let mut responses = session.manifest.designs.iter().flat_map(|design| &design.responses);
    if responses.any(|response| response.exact) {
        text.push_str(
            "[exact] is a number that was computed, not measured: it is the same on every machine. ",
        );
    }
    text.push_str("A trial is a fresh process that measures one thing once.");
    Block::small(text)
}

/// Returns one line on the session, the machine and the trials.
pub(crate) fn lead(session: &Session<'_>) -> Block<'static> {
    let (manifest, environment) = (session.manifest, &session.manifest.environment);
    let cpu = short(&environment.cpu_model, 120);
    let ends = session.records.iter();
    let ends = ends.map(|one| one.started_unix_ms.saturating_add(one.total_ns / 1_000_000));
    let length = ends.max().map(|end| end.saturating_sub(manifest.started_unix_ms).div_ceil(1000));
    let length = length.map(|s| format!(" in {}", duration_s(s))).unwrap_or_default();
    let rest = format!(
        "{}, Linux {} · profile {} · {}{length}",
        counted(environment.cpus_allowed.len() as u64, "CPU"),
        short(&environment.kernel, 80),
        manifest.options.profile.name(),
        counted(session.summary.harness.trials, "trial")
    );
    let name = Text::from(format!("{} · ", short(&manifest.session, 120)));
    let text = name.then(Text::on_page(html! { (cpu) " · " })).then(rest);
    Block::Paragraph(Role::Lead, text)
}

/// Returns the answers of a session, each with the question that it answers.
pub(crate) fn answers(chapters: &[Chapter<'_>]) -> Block<'static> {
    let one = |chapter: &Chapter<'_>| Answer {
        chapter: anchor(&chapter.summary.id),
        name: short(&chapter.summary.id, 64),
        question: chapter.summary.question.clone(),
        verdicts: marks(chapter),
        answer: answer(chapter),
        why: reason::why(chapter),
    };
    Block::Answers(chapters.iter().map(one).collect())
}

/// Returns the answer to an experiment's question, or why there is none. Of a user's program something
/// else may be said than a finding.
pub(crate) fn answer(chapter: &Chapter<'_>) -> Text {
    let first = chapter.summary.findings.first();
    let own = chapter.inquiry.as_ref().and_then(|inquiry| inquiry.answer()).map(Text::from);
    own.or_else(|| first.map(|finding| experiment::sentence(chapter, finding)))
        .unwrap_or_else(|| Text::quiet("It asks for no single number: see its chart."))
}

/// Returns an experiment's question, as its heading.
pub(crate) fn heading(chapter: &Chapter<'_>) -> Block<'static> {
    let summary = chapter.summary;
    let part = short(&chapter.design.chapter, 80);
    let text = Text::from(capital(&short(&summary.question, 400)))
        .then(Text::quiet(format!("  {}", short(&summary.id, 80))));
    let part = html! { @if !part.is_empty() { span.quiet { " · " (part) } } };
    Block::heading(2, text.then(Text::on_page(part)))
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
    let tone = match graded.grade {
        Some(TrustGrade::A) => Tone::Good,
        Some(TrustGrade::D | TrustGrade::F) => Tone::Bad,
        Some(TrustGrade::B | TrustGrade::C) | None => Tone::Open,
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
    Block::said(tone, selftest::word(graded.grade), text)
}

/// Returns what is said once of all grades and floors.
pub(crate) fn grades(session: &Session<'_>) -> String {
    evidence::grade_meaning(evidence::raises_most(session))
}

/// Returns the machine's name.
pub(crate) fn host(session: &Session<'_>) -> String {
    match session.manifest.environment.host.as_str() {
        "" => "this machine".into(),
        host => short(host, 80),
    }
}
