//! Planted answers and diagnoses of a session for a terminal, as tables. Nothing in them is cut:
//! what is too long for its column goes on in the next line.

use crate::Session;
use crate::format::{self, Terms, joined};
use crate::planted::{diagnosed, outcome, size, truth};
use crate::text::{BAD, BOLD, CARE, DIM, GOOD, bounded, columns, padded, paint, wrapped};
use crate::words::capital;
use anstyle::Style;
use model::{DiagnosisResult, ExperimentSummary, PlantedResult};

/// Columns that the truth, a number with its interval, and what follows from it take at most, and
/// to how few the first and the last are broken where what was planted would get too little.
const TRUTH_COLUMNS: [usize; 2] = [9, 22];
const NUMBER_COLUMNS_MAX: usize = 22;
const SAID_COLUMNS: [usize; 2] = [13, 22];

/// The fewest columns in which one planted answer is told from another; with less, what was
/// planted gets a line of its own.
const WHAT_COLUMNS_MIN: usize = 22;

/// What stands between two columns.
const GAP: &str = "  ";

/// One line of the table.
struct Row {
    mark: &'static str,
    style: Style,
    what: String,
    truth: String,
    number: String,
    said: String,
}

/// See [`crate::selftest_text`].
pub(crate) fn text(session: &Session<'_>, width: usize) -> String {
    let experiments: Vec<&ExperimentSummary> = session.experiments().collect();
    let lines = tables(&experiments, bounded(width));
    if lines.is_empty() { String::new() } else { lines.join("\n") + "\n" }
}

/// The planted answers of some experiments, and under them their diagnoses.
pub(crate) fn tables(experiments: &[&ExperimentSummary], width: usize) -> Vec<String> {
    let planted: Vec<Row> = experiments
        .iter()
        .flat_map(|of| of.planted.iter().map(|planted| planted_row(of, planted)))
        .collect();
    let diagnoses: Vec<Row> = experiments
        .iter()
        .flat_map(|of| of.diagnoses.iter().map(|diagnosis| diagnosis_row(of, diagnosis)))
        .collect();
    let mut lines = table(["planted", "truth", "found here", "so"], &planted, width);
    let causes = table(["slow", "planted cause", "largest share", "so"], &diagnoses, width);
    if !lines.is_empty() && !causes.is_empty() {
        lines.push(String::new());
    }
    lines.extend(causes);
    lines
}

fn style(kind: &str) -> Style {
    match kind {
        "supported" => GOOD,
        "refuted" => BAD,
        _ => CARE,
    }
}

fn planted_row(experiment: &ExperimentSummary, planted: &PlantedResult) -> Row {
    let outcome = outcome(experiment, planted);
    let size = size(planted).filter(|_| !crate::planted::is_nothing(planted));
    let number = match (&planted.result.estimate, format::result_parts(&planted.result)) {
        (Some(estimate), Some(parts)) if columns(&joined(&parts)) > NUMBER_COLUMNS_MAX => {
            let terms = format::terms(&planted.result);
            joined(&format::parts_within(estimate, terms, NUMBER_COLUMNS_MAX))
        }
        (_, Some(parts)) => joined(&parts),
        (_, None) => "–".into(),
    };
    Row {
        mark: outcome.mark,
        style: style(outcome.kind),
        what: match size {
            Some(size) => format!("{} ({size})", planted.what),
            None => planted.what.clone(),
        },
        truth: truth(planted),
        number,
        said: match outcome.held {
            "" => outcome.found.into(),
            held => format!("{}; {held}", outcome.found),
        },
    }
}

fn diagnosis_row(experiment: &ExperimentSummary, diagnosis: &DiagnosisResult) -> Row {
    let (mark, kind, _) = diagnosed(experiment, diagnosis);
    let largest = diagnosis.suspects.first().and_then(|blame| blame.share.estimate.as_ref());
    Row {
        mark,
        style: style(kind),
        what: diagnosis.what.clone(),
        truth: diagnosis.planted.clone().unwrap_or_else(|| "–".into()),
        number: largest.map_or("–".into(), |share| {
            joined(&format::parts_within(share, Terms::Share, NUMBER_COLUMNS_MAX))
        }),
        said: match &diagnosis.named {
            Some(named) if diagnosis.planted.as_ref() == Some(named) => "named".into(),
            Some(named) => format!("named: {named}"),
            None if largest.is_none() => "not measured".into(),
            None => "none named".into(),
        },
    }
}

/// The rows under their heads; nothing where there are none.
fn table(heads: [&str; 4], rows: &[Row], width: usize) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let Some(widths) = widths(heads, rows, width) else {
        return rows.iter().flat_map(|row| stacked(heads, row, width)).collect();
    };
    let head = broken(heads, widths).into_iter().map(|line| paint(DIM, &format!("  {line}")));
    let mut lines: Vec<String> = head.collect();
    for row in rows {
        let what = capital(&row.what);
        let cells = broken([&what, &row.truth, &row.number, &row.said], widths);
        lines.extend(cells.iter().enumerate().map(|(index, line)| match index {
            0 => format!("{} {line}", paint(row.style, row.mark)),
            _ => format!("  {line}"),
        }));
    }
    lines
}

/// How wide the columns are; `None` where even the narrowest leave no room for what was planted.
fn widths(heads: [&str; 4], rows: &[Row], width: usize) -> Option<[usize; 4]> {
    let widest = |head: &str, of: fn(&Row) -> &str| {
        let cells = rows.iter().map(|row| columns(of(row)));
        cells.max().unwrap_or(0).max(columns(head))
    };
    let longest = widest(heads[0], |row| &row.what);
    let mut truth = widest(heads[1], |row| &row.truth).min(TRUTH_COLUMNS[1]);
    let number = widest(heads[2], |row| &row.number).min(NUMBER_COLUMNS_MAX);
    let mut said = widest(heads[3], |row| &row.said).min(SAID_COLUMNS[1]);
    let wanted = WHAT_COLUMNS_MIN.min(longest);
    // The mark and the gaps.
    let room = width.saturating_sub(2 + 3 * columns(GAP) + number);
    let lacking = (wanted + truth + said).saturating_sub(room);
    let from_said = lacking.min(said.saturating_sub(SAID_COLUMNS[0]));
    said -= from_said;
    truth -= (lacking - from_said).min(truth.saturating_sub(TRUTH_COLUMNS[0]));
    let left = room.saturating_sub(truth + said);
    (left >= wanted).then_some([longest.min(left), truth, number, said])
}

/// A row of cells, each broken at its column's width.
fn broken(cells: [&str; 4], widths: [usize; 4]) -> Vec<String> {
    let cells: Vec<(Vec<String>, usize)> =
        cells.into_iter().zip(widths).map(|(cell, width)| (wrapped(cell, width), width)).collect();
    let height = cells.iter().map(|(lines, _)| lines.len()).max().unwrap_or(0);
    let line = |index: usize| {
        let cells = cells.iter().map(|(lines, width)| {
            padded(lines.get(index).map(String::as_str).unwrap_or_default(), *width)
        });
        cells.collect::<Vec<_>>().join(GAP).trim_end().to_string()
    };
    (0..height).map(line).collect()
}

/// A row where there is no room for columns.
fn stacked(heads: [&str; 4], row: &Row, width: usize) -> Vec<String> {
    let inner = width.saturating_sub(2);
    let numbers = format!("{} {}, {} {}", heads[1], row.truth, heads[2], row.number);
    let mut lines = wrapped(&capital(&row.what), inner);
    for (index, line) in lines.iter_mut().enumerate() {
        let mark = if index == 0 { paint(row.style, row.mark) } else { " ".into() };
        *line = format!("{mark} {}", paint(BOLD, line));
    }
    let rest = [numbers, row.said.clone()];
    lines.extend(rest.iter().flat_map(|text| wrapped(text, inner)).map(|line| format!("  {line}")));
    lines
}
