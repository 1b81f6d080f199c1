//! One experiment: question, answers, caveats, figures, claims, accounts, exhibits, numbers, trials.

use super::chapter::Chapter;
use super::disturbance::{CHECK, subject};
use super::{
    accounts, catalog, claims, disturbance, exhibits, fineness, missing, numbers, planted, trials,
};
use crate::Session;
use crate::chart::{self, Figure};
use crate::doc::{Block, Role, Text, Tone};
use crate::text::Letters;
use crate::words;
use maud::html;
use model::{FindingResult, Outcome, OutcomeCount, QuantityResult, Record, Treatment};
use wording::number;
use wording::{capital, counted, short};

/// The number of answers that are open from the start.
const OPEN_ANSWERS_MAX: usize = 6;

/// The most characters shown of what a failed trial printed.
const LOG_CHARACTERS: usize = 2000;

/// The most trials whose outcome is shown one by one.
const TROUBLED_TRIALS_MAX: usize = 20;

/// Returns an experiment in the order in which one asks: the answer, the figures, the claims, why, what
/// exactly was measured, how finely, everything, and how to do it again. It is for a terminal of these
/// letters, or for a page, which also has every trial.
pub(crate) fn chapter<'a>(
    session: &Session<'_>,
    chapter: &'a Chapter<'a>,
    terminal: Option<Letters>,
) -> Vec<Block<'a>> {
    let mut blocks = super::subject::subject(chapter);
    let letters = terminal.unwrap_or(Letters::Unicode);
    let own = if terminal.is_none() { chapter.own_blocks() } else { Vec::new() };
    match own.is_empty() {
        true => blocks.extend(answers(chapter)),
        false => {
            blocks.extend(own);
            blocks.push(Block::fold("All answers", answers(chapter)));
        }
    }
    blocks.extend(caveats(chapter));
    blocks.extend(planted::planted(chapter));
    blocks.extend(figures(chapter, letters));
    blocks.extend(claims::claims(chapter));
    blocks.extend(accounts::accounts(chapter, letters));
    blocks.extend(planted::diagnoses(chapter));
    blocks.extend(exhibits::exhibits(chapter));
    blocks.push(Block::heading(3, "All that was measured, and how"));
    blocks.push(catalog::method(chapter.design));
    blocks.extend(fineness::fineness(chapter));
    blocks.push(numbers::numbers(chapter));
    blocks.push(disturbance::tags(chapter));
    blocks.push(outcomes(chapter));
    if terminal.is_none() {
        blocks.extend(trials::place(session, chapter));
    }
    let id = std::slice::from_ref(&chapter.summary.id);
    let again = Text::quiet("Repeat this experiment: ")
        .then(Text::code(words::repeat_command(session.manifest, id)));
    blocks.push(Block::paragraph(Role::Command, again));
    blocks
}

/// Returns the findings; of many, those beyond the first few are folded away.
pub(crate) fn answers(chapter: &Chapter<'_>) -> Vec<Block<'static>> {
    let all = chapter.summary.findings.len();
    let open = if all > OPEN_ANSWERS_MAX + 1 { OPEN_ANSWERS_MAX } else { all };
    let mut blocks: Vec<Block<'_>> = (0..open).flat_map(|index| answer(chapter, index)).collect();
    if open < all {
        let more = (open..all).flat_map(|index| answer(chapter, index)).collect();
        let label = counted((all - open) as u64, "more answer");
        blocks.push(Block::details("answers-more", label, false, more));
    }
    blocks
}

fn answer(chapter: &Chapter<'_>, index: usize) -> Vec<Block<'static>> {
    let findings = &chapter.summary.findings;
    let finding = &findings[index];
    let role = if index == 0 { Role::Answer } else { Role::Further };
    let mut blocks = vec![Block::Paragraph(role, sentence(chapter, finding))];
    let response = finding.result.quantity.response();
    let known = |other: &FindingResult| other.result.quantity.response() == response;
    // Once for all findings about it.
    if !findings[..index].iter().any(known) {
        let definition = catalog::of_quantity(chapter, &finding.result.quantity);
        blocks.extend(definition.map(|text| Block::paragraph(Role::Definition, text)));
    }
    blocks.extend(remark(&finding.result).map(|text| Block::paragraph(Role::Caveat, text)));
    blocks.extend(worth(&finding.result).map(Block::small));
    blocks
}

/// Returns a finding's sentence with its number standing out, with what a share leaves unexplained; or
/// why there is none.
pub(crate) fn sentence(chapter: &Chapter<'_>, finding: &FindingResult) -> Text {
    let result = &finding.result;
    if result.estimate.is_none() {
        let missing = chapter.missing(result);
        let sentence = finding.sentence.replace("{}", "…");
        return Text::quiet(sentence).then(" ").then(missing.text());
    }
    let (before, number, after) = number::sentence_parts(&finding.sentence, result);
    let counts = number::counts(result).filter(|_| number.is_some());
    let counts = counts.map(|counts| Text::quiet(format!(" ({counts})")));
    let rest = number::rest(result).map(|rest| format!(" {rest}"));
    Text::from(before)
        .then(number.map(Text::number).unwrap_or_default())
        .then(counts.unwrap_or_default())
        .then(after)
        .then(rest.unwrap_or_default())
}

/// Returns how small a difference a finding's number could show, and what it is without tagged trials.
fn worth(result: &QuantityResult) -> Option<String> {
    result.estimate?;
    let parts = [claims::floors(result), claims::moved_by_tags(result)];
    wording::clauses(parts, "; ").map(|worth| format!("{}.", capital(&worth)))
}

/// Returns what is to be known of a number. That it is exact is seen: it has no interval.
pub(crate) fn remark(result: &QuantityResult) -> Option<String> {
    result.estimate?;
    let remarks = result.remark.split("; ").filter(|remark| !remark.starts_with("exact: "));
    let remarks = wording::clauses(remarks.map(|remark| Some(remark.into())), "; ")?;
    (!remarks.is_empty()).then(|| wording::sentence(&remarks, 1000))
}

/// Returns what a reader must know before the numbers.
fn caveats(chapter: &Chapter<'_>) -> Vec<Block<'static>> {
    let summary = chapter.summary;
    let mut blocks = Vec::new();
    for outcome in summary.outcomes.iter().filter(|outcome| outcome.outcome == "unsupported") {
        let names = treatments(chapter, &outcome.treatments);
        let instead = Text::quiet(format!("Instead of a number for: {names}."));
        let instead = Some(instead).filter(|_| !names.is_empty());
        let text = std::iter::once(short(&outcome.reason, 1000).into()).chain(instead);
        blocks.push(Block::said(Tone::Absent, "not possible here", text.collect()));
    }
    // The analysis also warns of refusals and checks, for those who see its warnings alone.
    let other =
        |warning: &&String| !matches!(subject(summary, warning), Some("unsupported" | CHECK));
    let warnings = summary.warnings.iter().filter(other);
    let warnings: Vec<Text> =
        warnings.map(|warning| wording::sentence(warning, 1000).into()).collect();
    if !warnings.is_empty() {
        let word = if warnings.len() == 1 { "note" } else { "notes" };
        blocks.push(Block::said(Tone::Care, word, warnings));
    }
    for (check, trials) in &summary.failed_checks {
        let trials = counted(*trials, "trial");
        let text = format!("{}: in {trials} {}", short(check, 400), blame(chapter, check));
        blocks.push(Block::said(Tone::Bad, "check failed", vec![text.into()]));
    }
    blocks
}

/// Returns what a failed check means: either the machine was too busy for the treatment, or something is
/// wrong with the trial itself.
fn blame(chapter: &Chapter<'_>, name: &str) -> &'static str {
    let measured = chapter.records.iter().filter_map(|record| record.measured.as_ref());
    let mut failed = measured.flat_map(|m| &m.checks).filter(|c| c.name == name && !c.holds());
    if failed.any(|check| check.wants_cpus) {
        "others had the CPUs that the treatment needs at the same time. They are kept, and their \
         numbers may be those of less concurrency than the treatment's name says."
    } else {
        "the treatment may not be what its name says."
    }
}

fn treatments(chapter: &Chapter<'_>, treatments: &[Treatment]) -> String {
    let named = |treatment: &Treatment| {
        words::cell(&model::Cell(chapter.design.as_named(treatment).0.as_ref().clone()))
    };
    treatments.iter().take(8).map(named).collect::<Vec<_>>().join("; ")
}

/// Returns the charts, each with an address of its own.
fn figures<'a>(chapter: &'a Chapter<'a>, letters: Letters) -> Vec<Block<'a>> {
    if chapter.figures.is_empty() {
        return Vec::new();
    }
    let own = words::anchor(&chapter.summary.id);
    let mut blocks = vec![Block::heading(3, "What the trials show")];
    for (index, figure) in chapter.figures.iter().enumerate() {
        let place = format!("{own}-chart-{}", index + 1);
        let shown = chart::shown(figure, place.clone(), Some(letters), caption(figure));
        blocks.push(Block::Chart(place, shown));
    }
    blocks
}

/// Returns what must be known with a figure. What its marks mean is said once in a terminal, above all.
fn caption(figure: &Figure<'_>) -> Vec<Text> {
    let mut caption = vec![Text::on_page(html! { (chart::explained(figure)) })];
    if !figure.held.is_empty() {
        caption.push(format!("Held still: {}.", figure.held).into());
    }
    caption.extend(figure.clock.iter().map(|clock| clock.as_str().into()));
    if figure.left_out > 0 {
        caption.push(
            format!("{} more are in the report's table of estimates.", figure.left_out).into(),
        );
    }
    caption.extend(figure.definition.iter().map(|definition| capital(definition).into()));
    caption.extend(figure.absent.iter().map(missing::Missing::text));
    caption
}

/// Returns how the trials ended, and what those that failed printed.
fn outcomes(chapter: &Chapter<'_>) -> Block<'static> {
    let summary = chapter.summary;
    let outcome = |outcome: &OutcomeCount| {
        let name = words::plain(&outcome.outcome);
        let mut text = Text::strong(counted(outcome.trials, "trial")).then(format!(" {name}"));
        if !outcome.reason.is_empty() {
            text = text.then(format!(": {}", short(&outcome.reason, 600)));
        }
        if outcome.outcome != "completed" && !outcome.treatments.is_empty() {
            let names = treatments(chapter, &outcome.treatments);
            text = text.then(Text::quiet(format!(" ({names})")));
        }
        text
    };
    let mut blocks = vec![Block::list(summary.outcomes.iter().map(outcome))];
    let completed = |record: &&&Record| matches!(record.outcome, Outcome::Completed { .. });
    let troubled: Vec<_> = chapter.records.iter().filter(|record| !completed(record)).collect();
    if !troubled.is_empty() {
        let shown = troubled.iter().take(TROUBLED_TRIALS_MAX);
        let mut list: Vec<Text> = shown.map(|record| without_number(chapter, record)).collect();
        if troubled.len() > TROUBLED_TRIALS_MAX {
            list.push(format!("and {} more.", troubled.len() - TROUBLED_TRIALS_MAX).into());
        }
        blocks.push(Block::heading(4, "Those that gave no number"));
        blocks.push(Block::List(list));
    }
    let label = format!(
        "The trials: {} in {}",
        counted(chapter.records.len() as u64, "trial"),
        counted(summary.blocks.into(), "block")
    );
    Block::fold(label, blocks)
}

fn without_number(chapter: &Chapter<'_>, record: &Record) -> Text {
    let treatment = chapter.design.as_named(&record.treatment).to_string();
    let text = Text::from(format!(
        "trial {}, block {}, {}: {}",
        record.trial,
        record.block,
        short(&treatment, words::LABEL_CHARACTERS_MAX),
        short(&words::outcome(&record.outcome), 600)
    ));
    match record.log.trim() {
        "" => text,
        log => text.then(" It printed: ").then(Text::code(wording::lines(log, LOG_CHARACTERS))),
    }
}
