//! Claims in a terminal: the verdict, the number and the claim in columns, or one under the other.

use super::Folds;
use super::terminal::{marked, plain, plain_words, styled};
use crate::doc::Claim;
use crate::text::{BAD, CARE, DIM, GOOD, columns, padded, paint, wrapped};
use crate::words;
use anstyle::Style;
use model::Verdict;

/// Columns of "✗ inconclusive" with the space after it.
pub(crate) const VERDICT_COLUMNS: usize = 16;

/// The widest number that keeps its column.
const NUMBER_COLUMNS_MAX: usize = 30;

/// The fewest columns in which a claim is read with ease.
const TEXT_COLUMNS_MIN: usize = 32;

/// Returns claims as lines of at most `width` columns.
pub(super) fn lines(claims: &[Claim], width: usize, folds: Folds) -> Vec<String> {
    let widest = claims.iter().map(|claim| columns(&plain_words(&claim.number)));
    let number = widest.filter(|columns| *columns <= NUMBER_COLUMNS_MAX).max().unwrap_or(0);
    let indent = VERDICT_COLUMNS + number + 2;
    let beside = width.saturating_sub(indent) >= TEXT_COLUMNS_MIN;
    let mut out = Vec::new();
    for claim in claims {
        let words = format!("{} {}", words::mark(claim.verdict), words::verdict(claim.verdict));
        let verdict = padded(&words, VERDICT_COLUMNS - 1);
        let style = style(claim.verdict);
        let measured = wording::cleaned(&plain_words(&claim.number));
        let text = format!("{} ({})", claim.text, claim.source);
        let indent = if beside { indent } else { 2 };
        let text_lines = wrapped(&text, width.saturating_sub(indent));
        let fits = beside && columns(&measured) <= number;
        if fits {
            let first = text_lines.first().map_or("", String::as_str);
            let verdict = paint(style, &verdict);
            out.push(format!("{verdict} {}  {first}", padded(&measured, number)));
        } else {
            out.extend(marked(&verdict, style, &measured, width));
        }
        let space = " ".repeat(indent);
        out.extend(text_lines.iter().skip(usize::from(fits)).map(|line| format!("{space}{line}")));
        out.extend(plain(&claim.missing, &space, width).iter().map(|line| paint(DIM, line)));
        if let Some(caveat) = &claim.caveat {
            out.extend(styled(CARE, caveat, &space, width));
        }
        if folds != Folds::Closed {
            let evidence: Vec<String> = claim.evidence.iter().map(plain_words).collect();
            out.extend(styled(DIM, &evidence.join(" "), &space, width));
        }
    }
    out
}

/// Returns the colour of a verdict.
pub(crate) fn style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Supported => GOOD,
        Verdict::Refuted => BAD,
        Verdict::Inconclusive => CARE,
    }
}
