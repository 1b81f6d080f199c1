//! The whole catalog on one screen: a line or two per experiment, and refuted claims by name.

use super::{Own, answer_sentence, style};
use crate::Session;
use crate::text::{BOLD, columns, padded, paint, wrapped};
use crate::words::{self, counted, short};
use model::{ExperimentSummary, Verdict};

/// What contradicts people comes first.
const ORDER: [Verdict; 3] = [Verdict::Refuted, Verdict::Supported, Verdict::Inconclusive];

/// Columns of a mark with its count.
const COUNT_COLUMNS: usize = 4;

/// The fewest columns for an answer; with less, it gets lines of its own.
const ANSWER_COLUMNS_MIN: usize = 32;

/// Every experiment with its verdicts counted and its answer in at most so many lines.
pub(super) fn experiments(session: &Session<'_>, most: usize, width: usize) -> Vec<String> {
    let ids = session.experiments().map(|experiment| columns(&experiment.id));
    let widest = ids.max().unwrap_or(0);
    let before = widest + 2 + ORDER.len() * COUNT_COLUMNS;
    let beside = width.saturating_sub(before) >= ANSWER_COLUMNS_MIN;
    let indent = if beside { before } else { 2 };
    let room = width.saturating_sub(indent);
    let mut lines = Vec::new();
    for experiment in session.experiments() {
        let id = paint(BOLD, &padded(&short(&experiment.id, widest), widest));
        let head = format!("{id}  {}", counts(experiment));
        let own = Own::of(session, experiment);
        let said = experiment.findings.first().map(|finding| answer_sentence(&own, finding));
        let said = short(said.as_deref().unwrap_or_default(), most * room);
        let mut answer = wrapped(&said, room);
        if answer.len() > most {
            // Broken at spaces it takes more room than counted.
            let rest = answer.split_off(most - 1).join(" ");
            let cut = short(&rest, room.saturating_sub(1));
            answer.push(if cut.ends_with('…') { cut } else { cut + "…" });
        }
        let mut answer = answer.into_iter();
        let first = if beside { answer.next().unwrap_or_default() } else { String::new() };
        lines.push(format!("{head}{first}").trim_end().to_string());
        lines.extend(answer.map(|line| format!("{}{line}", " ".repeat(indent))));
    }
    lines
}

/// "✗6  ✓10 ".
fn counts(experiment: &ExperimentSummary) -> String {
    let count = |verdict: Verdict| {
        let n = experiment.claims.iter().filter(|claim| claim.verdict == verdict).count();
        let text = if n == 0 { String::new() } else { format!("{}{n}", words::mark(verdict)) };
        paint(style(verdict), &padded(&text, COUNT_COLUMNS))
    };
    ORDER.map(count).concat()
}

/// What the marks mean, with how many of each there are; then the refuted claims by name.
pub(super) fn claims(session: &Session<'_>, width: usize) -> Vec<String> {
    let of = |verdict: Verdict| {
        let claims = session.experiments().flat_map(|experiment| &experiment.claims);
        claims.filter(move |claim| claim.verdict == verdict).map(|claim| claim.id.as_str())
    };
    let all: usize = ORDER.iter().map(|verdict| of(*verdict).count()).sum();
    if all == 0 {
        return Vec::new();
    }
    let tally = ORDER.into_iter().map(|verdict| (verdict, of(verdict).count()));
    let tally: Vec<String> = tally
        .filter(|(_, n)| *n > 0)
        .map(|(verdict, n)| format!("{n} {} {}", words::verdict(verdict), words::mark(verdict)))
        .collect();
    let mut text = format!("{}: {}.", counted(all as u64, "claim"), tally.join(", "));
    let refuted: Vec<&str> = of(Verdict::Refuted).collect();
    if !refuted.is_empty() {
        text.push_str(&format!(" Refuted: {}.", refuted.join(", ")));
    }
    wrapped(&text, width)
}
