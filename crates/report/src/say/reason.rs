//! Why the headline is what it is, in one clause, where the session knows.

use super::chapter::Chapter;
use crate::doc::Text;
use crate::format::{Terms, parts, sentence_parts};
use crate::words::short;
use model::{
    AccountResult, Design, Estimate, FindingResult, PartResult, Quantity, Term, Treatment,
};

/// A share above this is most of it.
const MOST: f64 = 0.5;

/// Characters of a title or label that are shown.
const CHARACTERS: usize = 100;

/// Returns what most of the headline comes from: a cause whose removal takes most of the gap away, or
/// the largest part of an account; `None` where the interval of its share does not lie above a half.
///
/// A cause is looked for by the treatments alone: the share or the account must be about the very
/// treatment that the headline puts first.
pub(crate) fn why(chapter: &Chapter<'_>) -> Option<Text> {
    let (first, others) = chapter.summary.findings.split_first()?;
    first.result.estimate.as_ref()?;
    let headline = Headline::of(chapter.design, &first.result.quantity)?;
    let clause = removed(&headline, others).or_else(|| counted(&headline, chapter))?;
    Some(Text::strong("Why: ").then(clause))
}

/// The treatments that a headline is about.
struct Headline<'a> {
    design: &'a Design,
    of: Treatment,
    /// What it is compared with, if it is a comparison.
    to: Option<Treatment>,
}

impl<'a> Headline<'a> {
    fn of(design: &'a Design, quantity: &Quantity) -> Option<Self> {
        let (of, to) = match quantity {
            Quantity::Ratio { of, to, .. } | Quantity::Difference { of, to, .. } => (of, Some(to)),
            Quantity::Value { at, .. } => (at, None),
            _ => return None,
        };
        Some(Headline { design, of: design.complete(of), to: to.map(|to| design.complete(to)) })
    }

    /// Reports whether a share is of this headline's gap, or of another that begins at the same
    /// treatment; the former counts for more. One that takes away just what the headline compares with
    /// says the headline again, and not why.
    fn is_explained_by(&self, quantity: &Quantity) -> Option<bool> {
        let Quantity::Share { whole, without, base, .. } = quantity else { return None };
        let complete = |cell| Some(self.design.complete(cell));
        let explains = complete(whole).as_ref() == Some(&self.of) && complete(without) != self.to;
        explains.then(|| complete(base) == self.to)
    }
}

fn most(estimate: &Estimate) -> bool {
    estimate.low > MOST && estimate.high.is_finite()
}

/// Returns an ablation: the cause was taken away, and most of the gap went with it.
fn removed(headline: &Headline<'_>, findings: &[FindingResult]) -> Option<Text> {
    let shares = findings.iter().filter_map(|finding| {
        let same = headline.is_explained_by(&finding.result.quantity)?;
        Some((same, finding.result.estimate.filter(most)?.point, finding))
    });
    // Of equal ones the first.
    let best = shares.reduce(|a, b| if (a.0, a.1) < (b.0, b.1) { b } else { a });
    let (_, _, finding) = best?;
    let (before, number, after) = sentence_parts(&finding.sentence, &finding.result);
    Some(Text::from(short(before, 400)).then(Text::number(number?)).then(short(after, 400)))
}

/// Returns the largest part of an account whose total is what the headline puts first.
fn counted(headline: &Headline<'_>, chapter: &Chapter<'_>) -> Option<Text> {
    let about = |account: &&AccountResult| {
        let declared = headline.design.accounts.iter().find(|one| one.id == account.id);
        match declared.map(|one| &one.total) {
            Some(Term::Measured { at, .. }) => headline.design.complete(at) == headline.of,
            _ => false,
        }
    };
    let account = chapter.summary.accounts.iter().find(about)?;
    let share = |part: &PartResult| part.share.filter(most);
    let (part, share) = account.parts.iter().find_map(|part| Some((part, share(part)?)))?;
    let clause = format!("most of {} is {} (", lead(&account.title), lead(&part.label));
    Some(Text::from(clause).then(Text::number(parts(&share, Terms::Share))).then(")."))
}

/// Returns what a title says before it explains itself.
fn lead(text: &str) -> String {
    let end = text.find([':', ';', ',']).unwrap_or(text.len());
    short(text[..end].trim(), CHARACTERS)
}
