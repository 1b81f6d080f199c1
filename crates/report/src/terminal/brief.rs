//! The whole catalog on one screen: a line or two per experiment, and refuted claims by name.

use super::{ANSWER_LINES_MAX, Own, answer_sentence, style};
use crate::Session;
use crate::text::{BOLD, columns, cut, padded, paint, wrapped};
use crate::words::{self, counted};
use model::{ExperimentSummary, Verdict};

/// What contradicts people comes first.
const ORDER: [Verdict; 3] = [Verdict::Refuted, Verdict::Supported, Verdict::Inconclusive];

/// Columns of a mark with its count.
const COUNT_COLUMNS: usize = 4;

/// The fewest columns for an answer; with less, it gets lines of its own.
const ANSWER_COLUMNS_MIN: usize = 32;

/// Experiments with their answers.
pub(super) struct Told {
    pub(super) lines: Vec<String>,
    /// Answers of which a part is left out.
    pub(super) cut: usize,
}

/// Every experiment with its verdicts counted and its answer, in at most so many lines as far as
/// one line for each allows. The lines that are left go to the answers that need the fewest, so
/// that as many as can be are whole.
pub(super) fn experiments(session: &Session<'_>, height: usize, width: usize) -> Told {
    let ids = session.experiments().map(|experiment| columns(&experiment.id));
    let widest = ids.max().unwrap_or(0).min(width / 2);
    let before = widest + 2 + ORDER.len() * COUNT_COLUMNS;
    let beside = width.saturating_sub(before) >= ANSWER_COLUMNS_MIN;
    let indent = if beside { before } else { 2 };
    let room = width.saturating_sub(indent);
    let answers: Vec<Vec<String>> = session
        .experiments()
        .map(|experiment| {
            let own = Own::of(session, experiment);
            let said = experiment.findings.first().map(|finding| answer_sentence(&own, finding));
            wrapped(&cut(&said.unwrap_or_default(), ANSWER_LINES_MAX * room), room)
        })
        .collect();
    let heads = if beside { 0 } else { answers.len() };
    let given = shared_out(&answers, height.saturating_sub(heads));
    let mut told = Told { lines: Vec::new(), cut: 0 };
    for ((experiment, mut answer), given) in session.experiments().zip(answers).zip(given) {
        let id = paint(BOLD, &padded(&cut(&experiment.id, widest), widest));
        let head = format!("{id}  {}", counts(experiment));
        if answer.len() > given {
            let rest = answer.split_off(given - 1).join(" ");
            let last = cut(&rest, room.saturating_sub(1));
            answer.push(if last.ends_with('…') { last } else { last + "…" });
            told.cut += 1;
        }
        let mut answer = answer.into_iter();
        let first = if beside { answer.next().unwrap_or_default() } else { String::new() };
        told.lines.push(format!("{head}{first}").trim_end().to_string());
        told.lines.extend(answer.map(|line| format!("{}{line}", " ".repeat(indent))));
    }
    told
}

/// How many lines each answer gets: one, and what is left to those that need the fewest more.
fn shared_out(answers: &[Vec<String>], height: usize) -> Vec<usize> {
    let mut given = vec![1; answers.len()];
    let mut left = height.saturating_sub(answers.len());
    let mut order: Vec<usize> = (0..answers.len()).collect();
    order.sort_by_key(|index| answers[*index].len());
    for index in order {
        let more = answers[index].len().saturating_sub(1).min(left);
        given[index] += more;
        left -= more;
    }
    given
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

#[cfg(test)]
mod tests {
    use super::shared_out;

    #[test]
    fn lines_go_to_the_answers_that_need_the_fewest() {
        let of = |lines: usize| vec![String::new(); lines];
        let answers = [of(3), of(1), of(2), of(0), of(2)];
        assert_eq!(shared_out(&answers, 5), [1, 1, 1, 1, 1]);
        assert_eq!(shared_out(&answers, 6), [1, 1, 2, 1, 1]);
        assert_eq!(shared_out(&answers, 8), [2, 1, 2, 1, 2]);
        assert_eq!(shared_out(&answers, 99), [3, 1, 2, 1, 2]);
        // Less than one for each cannot be.
        assert_eq!(shared_out(&answers, 0), [1, 1, 1, 1, 1]);
    }
}
