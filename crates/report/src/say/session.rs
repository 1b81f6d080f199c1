//! A session for a terminal: at the end of a run, whole, or some experiments with their figures.

use super::chapter::{Chapter, chapters_without_figures};
use super::evidence::FLOOR_MEANING;
use super::trust::{alarm, control_sentence, floor_sentence};
use super::{claims, disturbance, experiment, machine, opening, planted, trust};
use crate::Session;
use crate::chart::letters::KEY;
use crate::doc::{Block, Doc, Role, Table, Text, Tone};
use crate::paint::{self, Folds};
use crate::text::{Letters, bounded};
use crate::words::{self, counted};
use model::{FindingResult, Verdict};

/// Warnings that are shown at the end of a run.
const WARNINGS_MAX: usize = 4;

/// What contradicts people comes first.
const ORDER: [Verdict; 3] = [Verdict::Refuted, Verdict::Supported, Verdict::Inconclusive];

/// Returns the final summary of a session for a terminal of `width` columns, with ANSI colours: each
/// experiment's question with its answer and claims, what may be trusted and what it cost. Where every
/// claim takes more than `height` lines, each experiment has its answer alone; nothing is cut.
pub fn terminal(session: &Session<'_>, width: usize, height: Option<usize>) -> String {
    let chapters = chapters_without_figures(session);
    let most = height.map_or(usize::MAX, |_| WARNINGS_MAX);
    let whole = document(session, chapters.iter().flat_map(with_claims), most);
    let whole = paint::text(&whole, width, Folds::Closed);
    if height.is_none_or(|height| whole.lines().count() <= height) {
        return whole;
    }
    paint::text(&document(session, brief(&chapters), most), width, Folds::Closed)
}

fn document<'a>(
    session: &Session<'_>,
    chapters: impl IntoIterator<Item = Block<'a>>,
    most: usize,
) -> Doc<'a> {
    let mut doc = Doc::new(&session.summary.scruple, "a session", "a session");
    doc.blocks.extend(header(session));
    doc.blocks.extend(chapters);
    doc.blocks.extend(last(session, most));
    doc
}

fn header(session: &Session<'_>) -> Vec<Block<'static>> {
    let manifest = session.manifest;
    let environment = &manifest.environment;
    let text = format!(
        "{} · profile {} · {} · {}, Linux {}",
        manifest.session,
        manifest.options.profile.name(),
        counted(session.summary.harness.trials, "trial"),
        counted(environment.cpus_allowed.len() as u64, "CPU"),
        environment.kernel
    );
    let mut blocks = vec![Block::paragraph(Role::Lead, text)];
    if let Some(alarm) = alarm(session) {
        blocks.push(Block::Note(alarm.note()));
    }
    if !session.summary.complete {
        let text = "not complete: some planned trials have no record";
        blocks.push(Block::note(Tone::Care, text));
    }
    blocks
}

/// Returns an experiment with its answer and its claims.
fn with_claims(chapter: &Chapter<'_>) -> Vec<Block<'static>> {
    let mut blocks = vec![heading(chapter)];
    blocks.extend(first_answer(chapter));
    let claims = chapter.summary.claims.iter();
    blocks.push(Block::Claims(claims.map(|claim| claims::claim(chapter, claim)).collect()));
    blocks
}

fn heading(chapter: &Chapter<'_>) -> Block<'static> {
    let id = Text::quiet(format!("  {}", chapter.summary.id));
    Block::heading(2, Text::from(chapter.summary.question.clone()).then(id))
}

fn first_answer(chapter: &Chapter<'_>) -> Vec<Block<'static>> {
    let Some(finding) = chapter.summary.findings.first() else {
        return Vec::new();
    };
    let mut blocks = vec![Block::Paragraph(Role::Plain, answer(chapter, finding))];
    if finding.result.of_means.is_some() {
        let remark = experiment::remark(&finding.result);
        blocks.extend(remark.map(|text| Block::paragraph(Role::Caveat, text)));
    }
    blocks
}

/// Returns the answer to an experiment's question, or why there is none.
fn answer(chapter: &Chapter<'_>, finding: &FindingResult) -> Text {
    if finding.result.estimate.is_some() {
        return experiment::sentence(chapter, finding);
    }
    let missing = chapter.missing(&finding.result);
    format!("No answer, {}: {}.", missing.lead, missing.why).into()
}

/// Returns a row for each experiment: its answer, and how many of its claims have which verdict; then
/// the refuted claims by name.
fn brief(chapters: &[Chapter<'_>]) -> Vec<Block<'static>> {
    let mut table = Table::of(&["", "", ""]);
    for chapter in chapters {
        let first = chapter.summary.findings.first();
        let said = first.map(|finding| answer(chapter, finding));
        table.row([
            chapter.summary.id.clone().into(),
            verdicts(chapter).into(),
            said.unwrap_or_default(),
        ]);
    }
    let of = |verdict: Verdict| {
        let claims = chapters.iter().flat_map(|chapter| &chapter.summary.claims);
        claims.filter(move |claim| claim.verdict == verdict).map(|claim| claim.id.as_str())
    };
    let all: Vec<Verdict> = ORDER.iter().flat_map(|one| of(*one).map(|_| *one)).collect();
    let mut blocks = vec![Block::Table(table)];
    if !all.is_empty() {
        let tally = ORDER.into_iter().map(|verdict| (verdict, of(verdict).count()));
        let tally: Vec<String> = tally
            .filter(|(_, n)| *n > 0)
            .map(|(verdict, n)| format!("{n} {} {}", words::verdict(verdict), words::mark(verdict)))
            .collect();
        let mut text = format!("{}: {}.", counted(all.len() as u64, "claim"), tally.join(", "));
        let refuted: Vec<&str> = of(Verdict::Refuted).collect();
        if !refuted.is_empty() {
            text.push_str(&format!(" Refuted: {}.", refuted.join(", ")));
        }
        blocks.push(Block::paragraph(Role::Plain, text));
    }
    blocks
}

/// Returns "✗6 ✓10".
fn verdicts(chapter: &Chapter<'_>) -> String {
    let count = |verdict: Verdict| {
        let n = chapter.summary.claims.iter().filter(|claim| claim.verdict == verdict).count();
        (n > 0).then(|| format!("{}{n}", words::mark(verdict)))
    };
    ORDER.into_iter().filter_map(count).collect::<Vec<_>>().join(" ")
}

/// Returns controls, floor, what the harness cost, and at most `most` warnings.
fn last(session: &Session<'_>, most: usize) -> Vec<Block<'static>> {
    let mut blocks = vec![Block::heading(2, "Can these numbers be trusted?"), trusted(session)];
    if most == usize::MAX {
        blocks.push(Block::paragraph(Role::Small, FLOOR_MEANING));
        if session.experiments().any(|experiment| !experiment.claims.is_empty()) {
            blocks.push(Block::paragraph(Role::Small, opening::grades(session)));
        }
    }
    let harness = machine::harness_sentence(session);
    blocks.extend(harness.map(|text| Block::paragraph(Role::Small, text)));
    let warnings = disturbance::warnings(session);
    let shown = warnings.iter().take(most);
    blocks.extend(shown.map(|text| Block::note(Tone::Care, words::cleaned(text))));
    if warnings.len() > most {
        let more = counted((warnings.len() - most) as u64, "more warning");
        blocks.push(Block::note(Tone::Care, format!("{more} in the report")));
    }
    blocks
}

/// Returns what the controls say. What is said at the top is not said again.
fn trusted(session: &Session<'_>) -> Block<'static> {
    let floor = floor_sentence(session);
    match alarm(session) {
        Some(_) => Block::paragraph(Role::Plain, floor),
        None => Block::note(Tone::Good, format!("{} {floor}", control_sentence(session))),
    }
}

/// Returns experiments of a session drawn for a terminal of `width` columns (40 to 160), with ANSI
/// colours: each of those named, or all where none is, with its question, answers, the figures that the
/// page draws, accounts, claims and floors. A name that the session does not hold draws nothing.
pub fn charts(
    session: &Session<'_>,
    experiments: &[String],
    width: usize,
    letters: Letters,
) -> String {
    let mut chapters = chapters_without_figures(session);
    chapters.retain(|one| experiments.is_empty() || experiments.contains(&one.summary.id));
    chapters.iter_mut().for_each(|chapter| chapter.draw(session));
    let mut doc = Doc::new(&session.summary.scruple, "a session", "a session");
    doc.blocks.extend(header(session));
    doc.push(Block::paragraph(Role::Small, KEY));
    for chapter in &chapters {
        doc.push(heading(chapter));
        let around = experiment::Around { answer: None, trials: None };
        doc.blocks.extend(experiment::chapter(session, chapter, around, letters));
    }
    doc.push(Block::heading(2, "Can these numbers be trusted?"));
    doc.push(trusted(session));
    letters.of_lines(&paint::text(&doc, bounded(width), Folds::Verdicts), width)
}

/// Returns all planted answers and diagnoses of a session for a terminal of `width` columns, with ANSI
/// colours: each with its mark, what was planted, the truth, the interval found and whether it was found.
/// Empty where nothing was planted.
pub fn selftest_text(session: &Session<'_>, width: usize) -> String {
    let chapters = chapters_without_figures(session);
    let doc = planted::document(&session.summary.scruple, &chapters);
    if doc.blocks.is_empty() { String::new() } else { doc.text(width) }
}

/// Returns what the page of a session says before and after its chapters.
pub(crate) fn around(session: &Session<'_>) -> [Vec<Block<'static>>; 4] {
    let mut trusted = trust::trust(session);
    trusted.insert(2, Block::Anchored("grades", Text::from(opening::grades(session))));
    trusted.extend(disturbance::over_time(session));
    [trusted, machine::environment(session), machine::harness(session), machine::repeat(session)]
}
