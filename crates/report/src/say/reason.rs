//! Why the headline is what it is, in one clause, where the session knows.

use super::chapter::Chapter;
use crate::format::{Terms, parts, sentence_parts};
use crate::words::short;
use maud::{Markup, html};
use model::{
    AccountResult, Design, Estimate, FindingResult, PartResult, Quantity, Term, Treatment,
};

/// More than so much is most of it.
const MOST: f64 = 0.5;

/// Characters of a title or label that are shown.
const CHARACTERS: usize = 100;

/// What most of the headline comes from: a cause whose removal takes most of the gap away, a suspect
/// that was named, or the largest part of an account; nothing where the interval of its share does
/// not lie above a half.
///
/// A cause is looked for by the treatments alone: the share, the diagnosis or the account must be
/// about the very treatment that the headline puts first.
pub(crate) fn why(chapter: &Chapter<'_>) -> Markup {
    html! {
        @if let Some(clause) = clause(chapter) { p.why { b { "Why: " } (clause) } }
    }
}

fn clause(chapter: &Chapter<'_>) -> Option<Markup> {
    let design = chapter.design?;
    let (first, others) = chapter.summary.findings.split_first()?;
    first.result.estimate.as_ref()?;
    let headline = Headline::of(design, &first.result.quantity)?;
    removed(&headline, others)
        .or_else(|| named(&headline, chapter))
        .or_else(|| counted(&headline, chapter))
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

    /// Whether a share is of this headline's gap, or of another that begins at the same treatment;
    /// the former counts for more. One that takes away just what the headline compares with says
    /// the headline again, and not why.
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

/// An ablation: the cause was taken away, and most of the gap went with it.
fn removed(headline: &Headline<'_>, findings: &[FindingResult]) -> Option<Markup> {
    let mut best: Option<(bool, f64, &FindingResult)> = None;
    for finding in findings {
        let result = &finding.result;
        let explains = headline.is_explained_by(&result.quantity);
        if let (Some(same), Some(share)) = (explains, result.estimate.filter(most))
            && best.is_none_or(|(other, point, _)| (other, point) < (same, share.point))
        {
            best = Some((same, share.point, finding));
        }
    }
    let (_, _, finding) = best?;
    let (before, number, after) = sentence_parts(&finding.sentence, &finding.result);
    let number = number?;
    Some(html! {
        (short(before, 400)) (number.point) " " span.interval { (number.interval) } (short(after, 400))
    })
}

/// A diagnosis that names one suspect.
fn named(headline: &Headline<'_>, chapter: &Chapter<'_>) -> Option<Markup> {
    let diagnoses = chapter.summary.diagnoses.iter();
    let (suspect, share) = diagnoses
        .filter_map(|diagnosis| {
            let named = diagnosis.named.as_ref()?;
            let blame = diagnosis.suspects.iter().find(|blame| blame.suspect == *named)?;
            // "The gap" is that of the headline, and of nothing else that begins at its treatment.
            headline.is_explained_by(&blame.share.quantity).filter(|same| *same)?;
            Some((named, blame.share.estimate.filter(most)?))
        })
        .next()?;
    Some(html! { "most of the gap vanishes without " (short(suspect, CHARACTERS)) (of_it(&share)) })
}

/// An account whose total is what the headline puts first.
fn counted(headline: &Headline<'_>, chapter: &Chapter<'_>) -> Option<Markup> {
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
    Some(html! {
        "most of " (lead(&account.title)) " is " (lead(&part.label)) (of_it(&share))
    })
}

fn of_it(share: &Estimate) -> Markup {
    let number = parts(share, Terms::Share);
    html! { " (" (number.point) " " span.interval { (number.interval) } ")." }
}

/// What a title says before it explains itself.
fn lead(text: &str) -> String {
    let end = text.find([':', ';', ',']).unwrap_or(text.len());
    short(text[..end].trim(), CHARACTERS)
}
