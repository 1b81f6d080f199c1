//! Experiments drawn in a terminal: the figures that the page draws, in letters.
//!
//! One drawing serves every terminal. Marks differ by shape and not by colour alone, numbers stand
//! in columns, and nothing is framed, so that a line that wraps stays legible. Braille is not used:
//! few fonts of a server's console hold it, and those that do give it other widths.

mod accounts;
mod axis;
mod lines;
mod others;
mod rows;
mod strip;

use super::{Columns, Detail, Own, answer_lines, claim_lines, header, inventory, worth_lines};
use crate::Session;
use crate::chart::{self, Body, Figure};
use crate::format::{self, Terms};
use crate::text::{self, BOLD, CARE, DIM, GOOD, Letters, columns, cut, padded, paint, wrapped};
use crate::trust::{alarm, control_sentence, floor_sentence};
use crate::words::{self, capital, counted};
use model::{Environment, ExperimentSummary};

/// The widest drawing; text in it is broken earlier.
const WIDTH_MAX: usize = 160;

/// Answers that are told, as many as the page leaves unfolded.
const ANSWERS_MAX: usize = 6;

/// Warnings of one experiment, and lines of one.
const WARNINGS_MAX: usize = 6;
const WARNING_LINES_MAX: usize = 4;

/// How wide things are, and in which letters.
#[derive(Clone, Copy, Debug)]
struct Sheet {
    /// For drawings.
    width: usize,
    /// For sentences, which are hard to read where they are long.
    prose: usize,
    letters: Letters,
}

/// See [`crate::charts`].
pub(crate) fn charts(
    session: &Session<'_>,
    experiments: &[String],
    width: usize,
    letters: Letters,
) -> String {
    let width = width.clamp(text::WIDTH_MIN, WIDTH_MAX);
    let sheet = Sheet { width, prose: text::bounded(width), letters };
    let mut blocks = vec![header(session, sheet.prose), key(sheet)];
    let chosen = |experiment: &&ExperimentSummary| {
        experiments.is_empty() || experiments.contains(&experiment.id)
    };
    let columns = Columns::over(session, sheet.prose, Detail::Full);
    for experiment in session.experiments().filter(chosen) {
        blocks.extend(chapter(&Own::of(session, experiment), session, &columns, sheet));
    }
    blocks.push(trust(session, sheet.prose));
    let blocks: Vec<Vec<String>> = blocks
        .into_iter()
        .map(|lines| lines.iter().map(|line| line.trim_end().to_string()).collect())
        .collect();
    letters.of_lines(&super::laid_out(&blocks, 1), width)
}

/// What the marks mean.
fn key(sheet: Sheet) -> Vec<String> {
    let text =
        "· is one trial; ├──●──┤ or ● on │ is the estimate with its 95 % confidence interval.";
    wrapped(text, sheet.prose).iter().map(|line| paint(DIM, line)).collect()
}

/// An experiment as blocks with a blank line between them.
fn chapter(
    own: &Own<'_>,
    session: &Session<'_>,
    columns: &Columns,
    sheet: Sheet,
) -> Vec<Vec<String>> {
    let mut blocks = vec![opening(own, sheet)];
    let figures = figures(own, &session.manifest.environment);
    blocks.extend(figures.iter().map(|figure| figure_lines(figure, sheet)));
    let planted = crate::selftest::tables(&[own.summary], sheet.prose.saturating_sub(2));
    blocks.push(planted.iter().map(|line| format!("  {line}")).collect());
    for account in &own.summary.accounts {
        blocks.push(accounts::account(own, account, sheet));
    }
    let claims = own.summary.claims.iter();
    let mut said: Vec<String> =
        claims.flat_map(|claim| claim_lines(own, claim, columns, sheet.prose)).collect();
    if !said.is_empty() {
        said.insert(0, format!("  {}", paint(BOLD, "What people say")));
    }
    blocks.push(said);
    blocks.push(floors(own, &figures, sheet));
    let mut last = Vec::new();
    last.extend(inventory::exhibits_pointer(own, sheet.prose.saturating_sub(2)));
    let id = std::slice::from_ref(&own.summary.id);
    let repeat = format!("Repeat: {}", words::repeat_command(session.manifest, id));
    let repeat = wrapped(&repeat, sheet.prose.saturating_sub(2));
    last.extend(repeat.iter().map(|line| format!("  {}", paint(DIM, line))));
    blocks.push(last);
    blocks.retain(|lines| !lines.is_empty());
    blocks
}

fn figures<'a>(own: &'a Own<'a>, environment: &Environment) -> Vec<Figure<'a>> {
    own.design.map_or_else(Vec::new, |design| {
        chart::figures(design, own.summary, &own.records, own.profile, environment)
    })
}

/// Question, answers, and what must be known before the numbers.
fn opening(own: &Own<'_>, sheet: Sheet) -> Vec<String> {
    let width = sheet.prose;
    let id = cut(&own.summary.id, width / 2);
    let question = wrapped(&own.summary.question, width);
    let mut lines: Vec<String> = question.iter().map(|line| paint(BOLD, line)).collect();
    match (lines.last_mut(), question.last()) {
        (Some(line), Some(last)) if columns(last) + 2 + columns(&id) <= width => {
            line.push_str(&format!("  {}", paint(DIM, &id)));
        }
        _ => lines.push(paint(DIM, &id)),
    }
    let findings = &own.summary.findings;
    let told = if findings.len() > ANSWERS_MAX + 1 { ANSWERS_MAX } else { findings.len() };
    for (index, finding) in findings[..told].iter().enumerate() {
        lines.extend(answer_lines(own, finding, width));
        if index == 0 {
            lines.extend(worth_lines(own, &finding.result, None, 2, width));
        }
    }
    if told < findings.len() {
        let more = counted((findings.len() - told) as u64, "more answer");
        lines.push(format!("  {}", paint(DIM, &format!("{more} in the report"))));
    }
    let warnings = &own.summary.warnings;
    for warning in warnings.iter().take(WARNINGS_MAX) {
        let text = cut(warning, WARNING_LINES_MAX * width.saturating_sub(4));
        for (index, line) in wrapped(&text, width.saturating_sub(4)).iter().enumerate() {
            lines.push(paint(CARE, &format!("  {} {line}", if index == 0 { "!" } else { " " })));
        }
    }
    if warnings.len() > WARNINGS_MAX {
        let more = counted((warnings.len() - WARNINGS_MAX) as u64, "more warning");
        lines.push(paint(CARE, &format!("  ! {more} in the report")));
    }
    lines
}

fn figure_lines(figure: &Figure<'_>, sheet: Sheet) -> Vec<String> {
    let title = wrapped(&capital(&figure.title), sheet.prose.saturating_sub(2));
    let mut lines: Vec<String> =
        title.iter().map(|line| format!("  {}", paint(BOLD, line))).collect();
    match &figure.body {
        Body::Rows { response, rows, absent } => {
            lines.extend(rows::draw(response, rows, absent, sheet));
        }
        Body::Lines { axis, groups, shared } => {
            lines.extend(lines::draw(axis, groups, *shared, sheet));
        }
        Body::Heat { response, grids, .. } => lines.extend(others::heat(response, grids, sheet)),
        Body::Slopes { ends, panels, .. } => lines.extend(others::slopes(ends, panels, sheet)),
        Body::Distributions { response, curves } => {
            lines.extend(others::distributions(response, curves, sheet));
        }
    }
    let mut notes = Vec::new();
    if let Body::Lines { axis, .. } = &figure.body
        && !axis.landmarks.is_empty()
    {
        let sizes = axis.landmarks.iter().map(|(_, name)| name.as_str());
        notes.push(format!("This machine: {}.", sizes.collect::<Vec<_>>().join(", ")));
    }
    if !figure.held.is_empty() {
        notes.push(format!("Held still: {}.", figure.held));
    }
    if figure.left_out > 0 {
        notes.push(format!("{} more are in the report's table.", figure.left_out));
    }
    notes.extend(figure.clock.clone());
    notes.extend(figure.definition.as_ref().map(|definition| capital(definition)));
    if let Some(absent) = &figure.absent {
        notes.push(format!("{}: {}.", capital(&absent.lead), absent.why));
    }
    for note in notes {
        let note = wrapped(&note, sheet.prose.saturating_sub(2));
        lines.extend(note.iter().map(|line| format!("  {}", paint(DIM, line))));
    }
    lines
}

/// The smallest difference that shows in what the figures show.
fn floors(own: &Own<'_>, figures: &[Figure<'_>], sheet: Sheet) -> Vec<String> {
    let shown: Vec<&str> = figures.iter().flat_map(Figure::responses).collect();
    let percent = |x: Option<f64>| x.map_or("–".into(), |x| format::rounded(x, Terms::Share));
    let known = own.summary.floors.iter().filter(|floor| {
        shown.contains(&floor.response.as_str())
            && (floor.now.is_some() || floor.in_ten_times.is_some())
    });
    let rows: Vec<[String; 3]> = known
        .map(|floor| {
            let response = own.design.and_then(|design| design.response(&floor.response));
            let name = response.map_or_else(|| words::plain(&floor.response), words::label);
            [name, percent(floor.now), percent(floor.in_ten_times)]
        })
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let most = |index: usize| rows.iter().map(|row| columns(&row[index])).max().unwrap_or(0);
    let (now, later) = (most(1), most(2));
    let name = most(0).min(sheet.prose.saturating_sub(now + later + 8));
    let title = "The smallest difference that shows, now and in ten times the time";
    let title = wrapped(title, sheet.prose.saturating_sub(2));
    let mut lines: Vec<String> =
        title.iter().map(|line| format!("  {}", paint(BOLD, line))).collect();
    lines.extend(rows.iter().map(|[label, first, second]| {
        let label = padded(&cut(label, name), name);
        let line = format!("    {label}  {}  {second}", padded(first, now));
        cut(&line, sheet.prose)
    }));
    lines
}

/// What the controls say and how small a difference could be found; the page holds the rest. An
/// alarm stands at the top already.
fn trust(session: &Session<'_>, width: usize) -> Vec<String> {
    let floor = floor_sentence(session);
    let (mark, text) = match alarm(session) {
        None => ("✓", format!("{} {floor}", control_sentence(session))),
        Some(_) => (" ", floor),
    };
    let lines = wrapped(&text, width.saturating_sub(2));
    let marked = lines.iter().enumerate().map(|(index, line)| match index {
        0 => format!("{} {line}", paint(GOOD, mark)),
        _ => format!("  {line}"),
    });
    marked.collect()
}
