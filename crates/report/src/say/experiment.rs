//! One experiment: question, answers, caveats, figures, claims, accounts, exhibits, numbers, trials.

use super::chapter::Chapter;
use super::disturbance::CHECK;
use super::{
    accounts, catalog, claims, disturbance, exhibits, finding, missing, numbers, opening, planted,
    processor, smallest_difference, subject, trials, waits,
};
use crate::Session;
use crate::chart::{self, Figure};
use crate::doc::{Block, Kind, Role, Text, Tone};
use crate::text::Letters;
use crate::words;
use maud::html;
use model::{
    ExperimentSummary, FindingResult, Outcome, OutcomeCount, QuantityResult, Record, Treatment,
};
use wording::{capital, counted, short};

/// The most characters shown of what a failed trial printed.
const LOG_CHARACTERS: usize = 2000;

/// The most trials whose outcome is shown one by one.
const TROUBLED_TRIALS_MAX: usize = 20;

/// The most claims that stand beside an answer on a page, and under it in a terminal.
const KEY_MAX: usize = 3;
const CLAIMS_MAX: usize = 5;

/// Returns an experiment in short for a terminal: what [`chapter`] shows before its folds, the most important
/// claims, and what else there is.
pub(crate) fn in_short<'a>(
    session: &Session<'_>,
    chapter: &'a Chapter<'a>,
    letters: Letters,
) -> Vec<Block<'a>> {
    let (mut blocks, mut more) = (Vec::new(), Vec::new());
    for block in self::chapter(session, chapter, Some(letters)) {
        match block {
            Block::Fold(fold) => more.push(wording::uncapital(&fold.label.words())),
            block => blocks.push(block),
        }
    }
    let claims = claims::key(chapter, CLAIMS_MAX);
    let rest = chapter.summary.claims.len().min(CLAIMS_MAX) - claims.len();
    blocks.push(Block::KeyClaims(claims));
    if rest > 0 {
        blocks.push(Block::small(format!(
            "{} without a number.",
            counted(rest as u64, "more claim")
        )));
    }
    blocks.push(Block::small(format!("With --all: {}.", more.join(", "))));
    blocks
}

/// Returns an experiment: its answer, its most important claims and its first figure, then all that is known
/// of it behind labels. It is for a terminal of these letters, or for a page, which also has every trial.
pub(crate) fn chapter<'a>(
    session: &Session<'_>,
    chapter: &'a Chapter<'a>,
    terminal: Option<Letters>,
) -> Vec<Block<'a>> {
    let mut blocks: Vec<Block<'a>> = subject::subject(chapter).into_iter().collect();
    let letters = terminal.unwrap_or(Letters::Unicode);
    let own = if terminal.is_none() { chapter.own_blocks() } else { Vec::new() };
    let mut figures = figures(chapter, letters).into_iter();
    if own.is_empty() {
        let columns =
            vec![summary(chapter, terminal.is_none()), figures.next().into_iter().collect()];
        blocks.push(Block::Columns(Kind::Glance, columns));
    } else {
        blocks.extend(own);
    }
    // In a terminal, and on a page of many chapters, they are folded; a study of programs is asked for them.
    let mut pictures = exhibits::pictures(chapter);
    let is_alone = terminal.is_none() && session.summary.experiments.len() == 1;
    if is_alone || chapter.is_study() {
        blocks.append(&mut pictures);
    }
    pictures.extend(exhibits::exhibits(chapter));
    let caveats = caveats(chapter);
    let cautions = caveats_label(chapter);
    let mut folds = Vec::new();
    match terminal {
        Some(_) => blocks.extend(caveats),
        None => folds.push((cautions, caveats)),
    }
    blocks.extend(planted::planted(chapter));
    blocks.extend(planted::diagnoses(chapter));
    let counted = |n: usize, noun| Text::from(counted(n as u64, noun));
    let summary = chapter.summary;
    let answers = (0..summary.findings.len()).flat_map(|index| answer(chapter, index)).collect();
    let mut figures: Vec<Block<'a>> = figures.collect();
    // A preset is asked for its figures.
    if terminal.is_none() && session.manifest.options.preset.is_some() {
        blocks.append(&mut figures);
    }
    let precision = smallest_difference::blocks(chapter);
    let trials = all_trials(session, chapter, terminal.is_none());
    folds.extend([
        (counted(summary.findings.len(), "answer"), answers),
        (counted(figures.len(), "more figure"), figures),
        (counted(summary.claims.len(), "claim"), claims::claims(chapter)),
        ("What it is made of".into(), accounts::accounts(chapter, letters)),
        ("What threads waited for".into(), waits::of_study(chapter)),
        ("What the processor counted".into(), processor::counted(chapter)),
        ("What a trial saw".into(), pictures),
        ("Estimates".into(), under(numbers::numbers(chapter), "Precision", precision)),
        ("Method, trials".into(), under(method(session, chapter), "Trials", trials)),
    ]);
    folds.retain(|(_, blocks)| !blocks.is_empty());
    blocks.extend(subject::details(chapter));
    blocks.extend(folds.into_iter().map(|(label, blocks)| Block::fold(label, blocks)));
    blocks
}

/// Returns blocks with others behind them under a heading, if there are any.
fn under<'a>(
    mut blocks: Vec<Block<'a>>,
    head: &'static str,
    rest: Vec<Block<'a>>,
) -> Vec<Block<'a>> {
    if !rest.is_empty() {
        blocks.push(Block::heading(3, head));
        blocks.extend(rest);
    }
    blocks
}

/// Returns the answer with its reason, and on a page the most important claims.
fn summary(chapter: &Chapter<'_>, page: bool) -> Vec<Block<'static>> {
    let mut blocks = vec![Block::paragraph(Role::Answer, opening::answer(chapter))];
    blocks.extend(opening::why(chapter).map(|why| Block::paragraph(Role::Further, why)));
    let key = claims::key(chapter, KEY_MAX);
    if page && !key.is_empty() {
        blocks.push(Block::KeyClaims(key));
    }
    blocks
}

/// Returns how the trials work, what they need, and the command that does them again.
fn method(session: &Session<'_>, chapter: &Chapter<'_>) -> Vec<Block<'static>> {
    let id = std::slice::from_ref(&chapter.summary.id);
    let again = (!session.manifest.redacted).then(|| {
        let command = words::repeat_command(session.manifest, id);
        Text::quiet("Repeat this experiment: ").then(Text::code(command))
    });
    let part = short(&chapter.design.chapter, 80);
    let part = (!part.is_empty()).then(|| Block::small(format!("Chapter of the catalog: {part}.")));
    let mut blocks = catalog::method(chapter.design);
    blocks.extend(part);
    blocks.extend(again.map(|again| Block::paragraph(Role::Command, again)));
    blocks
}

/// Returns how the trials ended, which of them were disturbed, and on a page every one.
fn all_trials(session: &Session<'_>, chapter: &Chapter<'_>, page: bool) -> Vec<Block<'static>> {
    let mut blocks = outcomes(chapter);
    blocks.extend(disturbance::tags(chapter));
    blocks.extend(trials::place(session, chapter).filter(|_| page));
    blocks
}

fn answer(chapter: &Chapter<'_>, index: usize) -> Vec<Block<'static>> {
    let findings = &chapter.summary.findings;
    let finding = &findings[index];
    let role = if index == 0 { Role::Answer } else { Role::Further };
    let mut blocks = vec![Block::Paragraph(role, finding::sentence(chapter, finding))];
    let response = finding.result.quantity.response();
    let known = |other: &FindingResult| other.result.quantity.response() == response;
    // Once for all findings about it.
    if !findings[..index].iter().any(known) {
        let definition = catalog::of_quantity(chapter, &finding.result.quantity);
        blocks.extend(definition.map(|text| Block::paragraph(Role::Definition, text)));
    }
    blocks
        .extend(finding::remark(&finding.result).map(|text| Block::paragraph(Role::Caveat, text)));
    blocks.extend(worth(&finding.result).map(Block::small));
    blocks
}

/// Returns how small a difference a finding's number could show, and what it is without tagged trials.
fn worth(result: &QuantityResult) -> Option<String> {
    result.estimate?;
    let parts = [claims::floors(result), claims::moved_by_tags(result)];
    wording::clauses(parts, "; ").map(|worth| format!("{}.", capital(&worth)))
}

/// Returns what a reader must know before the numbers.
fn caveats(chapter: &Chapter<'_>) -> Vec<Block<'static>> {
    let summary = chapter.summary;
    let mut blocks = Vec::new();
    for outcome in summary.outcomes.iter().filter(is_refusal) {
        let names = of_outcome(chapter, outcome);
        let instead = Text::quiet(format!("Instead of a number for: {names}."));
        let instead = Some(instead).filter(|_| !names.is_empty());
        let text = std::iter::once(short(&outcome.reason, 1000).into()).chain(instead);
        blocks.push(Block::said(Tone::Absent, "not possible here", text.collect()));
    }
    let warnings = notes(summary);
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

fn is_refusal(outcome: &&OutcomeCount) -> bool {
    outcome.outcome == "unsupported"
}

/// Returns the warnings of the analysis except those of refusals and checks, which have places of their own.
fn notes(summary: &ExperimentSummary) -> Vec<Text> {
    let other = |warning: &&String| {
        !matches!(disturbance::subject(summary, warning), Some("unsupported" | CHECK))
    };
    let warnings = summary.warnings.iter().filter(other);
    warnings.map(|warning| wording::sentence(warning, 1000).into()).collect()
}

/// Returns how many caveats there are, with the mark of the gravest.
fn caveats_label(chapter: &Chapter<'_>) -> Text {
    let checks = chapter.summary.failed_checks.len() as u64;
    let notes =
        notes(chapter.summary).len() + chapter.summary.outcomes.iter().filter(is_refusal).count();
    let checks = (checks > 0).then(|| format!("✗ {}", counted(checks, "failed check")));
    let notes = (notes > 0).then(|| format!("! {}", counted(notes as u64, "note")));
    wording::clauses([checks, notes], ", ").unwrap_or_default().into()
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

/// Names the treatments that had this outcome for this reason.
fn of_outcome(chapter: &Chapter<'_>, outcome: &OutcomeCount) -> String {
    let some = chapter.witnesses.iter().filter(|witness| match &witness.outcome {
        Outcome::Unsupported { reason } => *reason == outcome.reason,
        _ => outcome.treatments.contains(&witness.treatment),
    });
    let some = some.map(|witness| &witness.treatment);
    let mut some: Vec<&Treatment> = some.collect();
    some.sort_by_cached_key(|treatment| words::place(chapter.design, treatment));
    missing::named(chapter.design, &some, &chapter.design.treatments(chapter.profile))
}

/// Returns the charts, each with an address of its own.
fn figures<'a>(chapter: &'a Chapter<'a>, letters: Letters) -> Vec<Block<'a>> {
    let own = words::anchor(&chapter.summary.id);
    let one = |(index, figure): (usize, &'a Figure<'a>)| {
        let place = format!("{own}-chart-{}", index + 1);
        Block::Chart(place.clone(), chart::shown(figure, place, Some(letters), caption(figure)))
    };
    chapter.figures.iter().enumerate().map(one).collect()
}

/// Returns what must be known with a figure. What its marks mean is said once in a terminal, above all.
fn caption(figure: &Figure<'_>) -> Vec<Text> {
    let mut caption = vec![Text::on_page(html! { (chart::explained(figure)) })];
    caption.extend(Some(&figure.held).filter(|held| !held.is_empty()).map(held_still));
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

fn held_still(held: &String) -> Text {
    format!("Held still: {held}.").into()
}

/// Returns how the trials ended, and what those that failed printed.
fn outcomes(chapter: &Chapter<'_>) -> Vec<Block<'static>> {
    let summary = chapter.summary;
    let outcome = |outcome: &OutcomeCount| {
        let name = words::plain(&outcome.outcome);
        let mut text = Text::strong(counted(outcome.trials, "trial")).then(format!(" {name}"));
        if !outcome.reason.is_empty() {
            text = text.then(format!(": {}", short(&outcome.reason, 600)));
        }
        if outcome.outcome != "completed" && !outcome.treatments.is_empty() {
            let names = of_outcome(chapter, outcome);
            text = text.then(Text::quiet(format!(" ({names})")));
        }
        text
    };
    let about = format!(
        "{} in {}.",
        counted(chapter.records.len() as u64, "trial"),
        counted(summary.blocks.into(), "block")
    );
    let mut blocks = vec![Block::plain(about), Block::list(summary.outcomes.iter().map(outcome))];
    let completed = |record: &&&Record| matches!(record.outcome, Outcome::Completed { .. });
    let troubled: Vec<_> = chapter.records.iter().filter(|record| !completed(record)).collect();
    if !troubled.is_empty() {
        let shown = troubled.iter().take(TROUBLED_TRIALS_MAX);
        let mut list: Vec<Text> = shown.map(|record| without_number(chapter, record)).collect();
        if troubled.len() > TROUBLED_TRIALS_MAX {
            list.push(format!("and {} more.", troubled.len() - TROUBLED_TRIALS_MAX).into());
        }
        blocks.push(Block::heading(3, "Those that gave no number"));
        blocks.push(Block::List(list));
    }
    blocks
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
