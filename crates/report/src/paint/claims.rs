//! Claims in a terminal: each claim, and under it the verdict, the number with its direction, the source.

use super::Folds;
use super::styled::{marked, plain, plain_words, styled};
use crate::doc::Claim;
use crate::text::{BAD, CARE, DIM, GOOD, paint};
use crate::words;
use anstyle::Style;
use model::Verdict;
use wording::{capital, uncapital};

/// What stands before the lines under a claim.
const INDENT: &str = "  ";

/// Returns claims as lines of at most `width` columns.
pub(super) fn lines(claims: &[Claim], width: usize, folds: Folds) -> Vec<String> {
    claims.iter().flat_map(|claim| one(claim, width, folds)).collect()
}

fn one(claim: &Claim, width: usize, folds: Folds) -> Vec<String> {
    let style = style(claim.verdict);
    let mut lines = marked(words::mark(claim.verdict), style, &claim.text, width);
    let (number, source) = (plain_words(&claim.number), &claim.source);
    let measured = match claim.missing.as_str() {
        "" => format!("{} {number}", claim.direction),
        why => format!("{}: {why}", uncapital(&number)),
    };
    let measured = measured.trim().trim_end_matches('.');
    let open = if claim.open.is_empty() { String::new() } else { format!("; {}", claim.open) };
    let text = format!("{}: {measured}{open}. Source: {source}.", claim.judged);
    let word = format!("{INDENT}{}", capital(words::verdict(claim.verdict)));
    let judged = plain(&text, INDENT, width).into_iter().enumerate();
    lines.extend(judged.map(|(index, line)| match line.strip_prefix(&word) {
        Some(rest) if index == 0 => format!("{}{rest}", paint(style, &word)),
        _ => line,
    }));
    if folds == Folds::Closed {
        return lines;
    }
    if let Some(caveat) = &claim.caveat {
        lines.extend(styled(CARE, caveat, INDENT, width));
    }
    let evidence: Vec<String> = claim.evidence.iter().map(plain_words).collect();
    lines.extend(styled(DIM, &evidence.join(" "), INDENT, width));
    lines
}

/// Returns the colour of a verdict.
pub(crate) fn style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Supported => GOOD,
        Verdict::Refuted => BAD,
        Verdict::Inconclusive => CARE,
    }
}
