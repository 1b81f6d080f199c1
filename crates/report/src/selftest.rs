//! Planted answers and diagnoses of a session for a terminal: one line each.

use crate::Session;
use crate::format::{self, Terms, joined};
use crate::planted::{diagnosed, outcome, size, truth};
use crate::text::{BAD, BOLD, CARE, DIM, GOOD, bounded, columns, padded, paint};
use crate::words::{capital, short};
use anstyle::Style;
use model::{DiagnosisResult, ExperimentSummary, PlantedResult};

/// Columns that the truth, a number with its interval, and what follows from it take at most.
const TRUTH_COLUMNS_MAX: usize = 22;
const NUMBER_COLUMNS_MAX: usize = 24;

/// Columns for what follows from it, at least; the mark says the worst of it.
const SAID_COLUMNS_MIN: usize = 16;

/// The fewest columns in which one planted answer is told from another; with less, what was
/// planted gets a line of its own.
const WHAT_COLUMNS_MIN: usize = 18;

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
    let width = bounded(width);
    let own = session.experiments();
    let planted: Vec<Row> = own.flat_map(|one| one.planted.iter().map(planted_row)).collect();
    let diagnoses: Vec<Row> =
        session.experiments().flat_map(|one| one.diagnoses.iter().map(diagnosis_row)).collect();
    let mut lines = table(["planted", "truth", "found here", "so"], &planted, width);
    let causes = table(["slow", "planted cause", "largest share", "so"], &diagnoses, width);
    if !lines.is_empty() && !causes.is_empty() {
        lines.push(String::new());
    }
    lines.extend(causes);
    if lines.is_empty() { String::new() } else { lines.join("\n") + "\n" }
}

/// The same for one experiment, where it has any.
pub(crate) fn lines(experiment: &ExperimentSummary, width: usize) -> Vec<String> {
    let planted: Vec<Row> = experiment.planted.iter().map(planted_row).collect();
    let diagnoses: Vec<Row> = experiment.diagnoses.iter().map(diagnosis_row).collect();
    let mut lines = table(["planted", "truth", "found here", "so"], &planted, width);
    lines.extend(table(["slow", "planted cause", "largest share", "so"], &diagnoses, width));
    lines
}

fn style(kind: &str) -> Style {
    match kind {
        "supported" => GOOD,
        "refuted" => BAD,
        _ => CARE,
    }
}

fn planted_row(planted: &PlantedResult) -> Row {
    let outcome = outcome(planted);
    let size = size(planted).filter(|_| !crate::planted::is_nothing(planted));
    let number = match (&planted.result.estimate, format::result_parts(&planted.result)) {
        (Some(estimate), Some(parts)) if columns(&joined(&parts)) > NUMBER_COLUMNS_MAX => {
            let terms = format::terms(&planted.result);
            joined(&format::parts_within(estimate, terms, NUMBER_COLUMNS_MAX))
        }
        (_, Some(parts)) => joined(&parts),
        (_, None) => "not measured".into(),
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
        said: format!("{}; {}", outcome.found, outcome.held),
    }
}

fn diagnosis_row(diagnosis: &DiagnosisResult) -> Row {
    let (mark, kind, _) = diagnosed(diagnosis);
    let largest = diagnosis.suspects.first().and_then(|blame| blame.share.estimate.as_ref());
    Row {
        mark,
        style: style(kind),
        what: diagnosis.what.clone(),
        truth: diagnosis.planted.clone().unwrap_or_else(|| "–".into()),
        number: largest.map_or("not measured".into(), |share| {
            joined(&format::parts_within(share, Terms::Share, NUMBER_COLUMNS_MAX))
        }),
        said: match &diagnosis.named {
            Some(named) if diagnosis.planted.as_ref() == Some(named) => "named".into(),
            Some(named) => format!("named: {named}"),
            None => "none named".into(),
        },
    }
}

/// The rows under their heads; nothing where there are none.
fn table(heads: [&str; 4], rows: &[Row], width: usize) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let widest = |head: &str, most: usize, of: fn(&Row) -> &str| {
        let cells = rows.iter().map(|row| columns(of(row)));
        cells.max().unwrap_or(0).max(columns(head)).min(most)
    };
    let truth = widest(heads[1], TRUTH_COLUMNS_MAX, |row| &row.truth);
    let number = widest(heads[2], NUMBER_COLUMNS_MAX, |row| &row.number);
    let taken = 2 + truth + 2 + number + 2;
    let longest = rows.iter().map(|row| columns(&row.what)).max().unwrap_or(0);
    let room = width.saturating_sub(taken + SAID_COLUMNS_MIN + 2);
    if room < WHAT_COLUMNS_MIN.min(longest) {
        return rows.iter().flat_map(|row| stacked(heads, row, width)).collect();
    }
    let what = longest.max(columns(heads[0])).min(room);
    let line = |mark: String, cells: [&str; 4]| {
        let [first, second, third, last] = cells;
        let cell = |text: &str, most: usize| padded(&short(text, most), most);
        let text = format!(
            "{}  {}  {}  {}",
            cell(first, what),
            cell(second, truth),
            cell(third, number),
            short(last, width.saturating_sub(taken + what + 2))
        );
        (mark, text.trim_end().to_string())
    };
    let (_, head) = line(String::new(), heads);
    let mut lines = vec![paint(DIM, &format!("  {head}"))];
    lines.extend(rows.iter().map(|row| {
        let what = capital(&row.what);
        let (mark, text) =
            line(paint(row.style, row.mark), [&what, &row.truth, &row.number, &row.said]);
        format!("{mark} {text}")
    }));
    lines
}

/// A row where there is no room for columns.
fn stacked(heads: [&str; 4], row: &Row, width: usize) -> Vec<String> {
    let inner = width.saturating_sub(2);
    let what = paint(BOLD, &short(&capital(&row.what), inner));
    let numbers = format!("{} {}, {} {}", heads[1], row.truth, heads[2], row.number);
    vec![
        format!("{} {what}", paint(row.style, row.mark)),
        format!("  {}", short(&numbers, inner)),
        format!("  {}", short(&row.said, inner)),
    ]
}
