//! A session for a terminal: at the end of a run, whole, or some experiments with their figures.

use super::chapter::{Chapter, chapters_without_figures};
use super::evidence::{self, FLOOR_MEANING};
use super::{claims, disturbance, experiment, machine, opening, planted, trust};
use crate::Session;
use crate::chart::letters::KEY;
use crate::doc::{Block, Doc, Role, Tone};
use crate::paint::{self, Folds};
use crate::text::{Letters, bounded};
use crate::words::{self, counted};
use model::Verdict;

/// Warnings that are shown at the end of a run.
const WARNINGS_MAX: usize = 4;

/// Returns the final summary of a session for a terminal of `width` columns, with ANSI colours: each
/// experiment's question with its answer and claims, what may be trusted and what it cost. Where every
/// claim takes more than `height` lines, each experiment has its answer alone; nothing is cut.
pub fn terminal(session: &Session<'_>, width: usize, height: Option<usize>) -> String {
    let chapters = chapters_without_figures(session);
    let most = height.map_or(usize::MAX, |_| WARNINGS_MAX);
    let whole = document(session, chapters.iter().flat_map(with_claims), last(session, most));
    let whole = whole.text(width);
    if height.is_none_or(|height| whole.lines().count() <= height) {
        return whole;
    }
    document(session, brief(&chapters), last(session, most)).text(width)
}

fn document<'a>(
    session: &Session<'_>,
    chapters: impl IntoIterator<Item = Block<'a>>,
    last: Vec<Block<'a>>,
) -> Doc<'a> {
    let mut doc = Doc::new(&session.summary.scruple, "a session", "a session");
    doc.push(opening::lead(session));
    doc.blocks.extend(trust::warning(session));
    doc.blocks.extend(opening::incomplete(session));
    doc.blocks.extend(chapters);
    doc.push(Block::heading(2, trust::QUESTION));
    doc.push(trust::answer(session, None));
    doc.blocks.extend(last);
    doc
}

/// Returns an experiment with its answer and its claims.
fn with_claims<'a>(chapter: &Chapter<'a>) -> Vec<Block<'a>> {
    let mut blocks = vec![opening::heading(chapter)];
    blocks.push(Block::plain(opening::answer(chapter)));
    let first = chapter.summary.findings.first().map(|finding| &finding.result);
    let remark = first.filter(|result| result.of_means.is_some()).and_then(experiment::remark);
    blocks.extend(remark.map(|text| Block::paragraph(Role::Caveat, text)));
    let claims = chapter.summary.claims.iter();
    blocks.push(Block::Claims(claims.map(|claim| claims::claim(chapter, claim)).collect()));
    blocks
}

/// Returns the answers, and the refuted claims by name.
fn brief<'a>(chapters: &[Chapter<'_>]) -> Vec<Block<'a>> {
    let mut blocks = vec![opening::answers(chapters)];
    let all = chapters.iter().flat_map(|chapter| &chapter.summary.claims);
    let refuted = all.filter(|claim| claim.verdict == Verdict::Refuted);
    let refuted: Vec<&str> = refuted.map(|claim| claim.id.as_str()).collect();
    let refuted = match refuted.as_slice() {
        [] => String::new(),
        refuted => format!(" Refuted: {}.", refuted.join(", ")),
    };
    blocks.extend(claims::said(chapters).map(|said| Block::plain(said + &refuted)));
    blocks
}

/// Returns what the words mean where there is room, what the harness cost, and at most `most` warnings.
fn last<'a>(session: &Session<'_>, most: usize) -> Vec<Block<'a>> {
    let mut blocks = Vec::new();
    if most == usize::MAX {
        blocks.push(Block::small(FLOOR_MEANING));
        if session.summary.experiments.iter().any(|experiment| !experiment.claims.is_empty()) {
            blocks.push(Block::small(evidence::grade_meaning(session)));
        }
    }
    let harness = machine::harness_sentence(session);
    blocks.extend(harness.map(Block::small));
    let warnings = disturbance::warnings(session);
    let shown = warnings.iter().take(most);
    blocks.extend(shown.map(|text| Block::note(Tone::Care, words::cleaned(text))));
    if warnings.len() > most {
        let more = counted((warnings.len() - most) as u64, "more warning");
        blocks.push(Block::note(Tone::Care, format!("{more} in the report")));
    }
    blocks
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
    let drawn = chapters.iter().flat_map(|chapter| {
        let blocks = experiment::chapter(session, chapter, Some(letters));
        std::iter::once(opening::heading(chapter)).chain(blocks)
    });
    let key = std::iter::once(Block::small(KEY));
    let doc = document(session, key.chain(drawn), Vec::new());
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
