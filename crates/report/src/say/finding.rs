//! A finding in words.

use super::chapter::Chapter;
use crate::doc::Text;
use crate::words;
use model::{FindingResult, QuantityResult};
use wording::number::{self, Parts};

/// Returns a finding's sentence with its number standing out, with what a share leaves unexplained; or
/// why there is none.
pub(crate) fn sentence(chapter: &Chapter<'_>, finding: &FindingResult) -> Text {
    let rest = number::rest(&finding.result).map(|rest| format!(" {rest}"));
    said(chapter, finding, |_| true).then(rest.unwrap_or_default())
}

/// Returns the same for an answer: the counts of a rate, and what a share leaves, stand with the finding. Of none and of all
/// they are the number.
pub(crate) fn answer(chapter: &Chapter<'_>, finding: &FindingResult) -> Text {
    said(chapter, finding, |number| number.interval.is_empty())
}

fn said(chapter: &Chapter<'_>, finding: &FindingResult, counts: fn(&Parts) -> bool) -> Text {
    let result = &finding.result;
    if result.estimate.is_none() {
        let sentence = words::without_number(&finding.sentence);
        return chapter.missing(result).text().then(Text::quiet(format!(" (Asked: {sentence})")));
    }
    let (before, number, after) = number::sentence_parts(&finding.sentence, result);
    let aside = number::aside(result).filter(|_| number.as_ref().is_some_and(counts));
    let aside = aside.map(|aside| Text::quiet(format!(" ({aside})")));
    Text::from(before)
        .then(number.map(Text::number).unwrap_or_default())
        .then(aside.unwrap_or_default())
        .then(after)
}

/// Returns what is to be known of a number. That it is exact is seen: it has no interval.
pub(crate) fn remark(result: &QuantityResult) -> Option<String> {
    result.estimate?;
    let remarks = result.remark.split("; ").filter(|remark| !remark.starts_with("exact: "));
    let lost = result.lost.as_ref().map(words::lost);
    let remarks =
        wording::clauses(std::iter::once(lost).chain(remarks.map(|it| Some(it.into()))), "; ")?;
    (!remarks.is_empty()).then(|| wording::sentence(&remarks, 1000))
}
