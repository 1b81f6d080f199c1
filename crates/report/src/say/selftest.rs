//! The grade of a self-test.

use super::planted::meanings;
use crate::doc::{Block, Doc, Role, Tone};
use crate::words::uncapital;
use model::{Selftest, Standing, TrustGrade};

/// Returns the grade of a self-test: for which size of effect the machine can be trusted, what was
/// missed, wrong or not tested, and what the words of the table mean.
pub fn grade(selftest: &Selftest) -> Doc<'static> {
    let mut doc = Doc::new("", "self-test", "self-test");
    let sentence = format!("{}: {}", word(selftest.grade), uncapital(&selftest.sentence));
    doc.push(Block::paragraph(Role::Answer, sentence));
    for tally in tallies(selftest) {
        let tone = match tally.right == tally.of {
            true => Tone::Good,
            false if tally.wrong > 0 => Tone::Bad,
            false => Tone::Open,
        };
        doc.push(Block::said(tone, "", vec![tally.sentence().into()]));
    }
    let reasons = selftest.reasons.iter();
    doc.blocks.extend(reasons.map(|reason| Block::note(Tone::Care, reason.clone())));
    let untested = selftest.untested.iter();
    doc.blocks.extend(untested.map(|what| Block::note(Tone::Quiet, format!("not tested: {what}"))));
    if !selftest.advice.is_empty() {
        doc.push(Block::plain(selftest.advice.clone()));
    }
    let meanings = meanings(selftest.answers.iter().map(|answer| &answer.result));
    doc.push(Block::small(meanings));
    doc
}

/// "Grade B".
pub(crate) fn word(grade: Option<TrustGrade>) -> String {
    grade.map_or("No grade".into(), |grade| format!("Grade {grade:?}"))
}

/// How many of one kind are right.
pub(crate) struct Tally {
    what: &'static str,
    how: &'static str,
    right: usize,
    wrong: usize,
    of: usize,
}

impl Tally {
    /// Returns "effects: 3 of 4 found and sized".
    pub(crate) fn sentence(&self) -> String {
        format!("{}: {} of {} {}", self.what, self.right, self.of, self.how)
    }

    fn of(
        what: &'static str,
        how: &'static str,
        standings: impl Iterator<Item = Standing>,
    ) -> Self {
        let mut tally = Tally { what, how, right: 0, wrong: 0, of: 0 };
        for standing in standings.filter(|standing| *standing != Standing::Untested) {
            tally.of += 1;
            tally.right += usize::from(standing == Standing::Right);
            tally.wrong += usize::from(standing == Standing::Wrong);
        }
        tally
    }
}

/// How many of what was planted are right, by kind.
pub(crate) fn tallies(selftest: &Selftest) -> Vec<Tally> {
    let answers = |sized: bool| {
        let of_kind = selftest.answers.iter().filter(move |it| it.result.size.is_some() == sized);
        of_kind.map(|it| it.standing)
    };
    let causes = selftest.causes.iter().map(|it| it.standing);
    let controls = selftest.controls.iter();
    let controls = controls.map(|it| if it.differs { Standing::Wrong } else { Standing::Right });
    let tallies = [
        Tally::of("effects", "found and sized", answers(true)),
        Tally::of("other planted answers", "right", answers(false)),
        Tally::of("causes", "named", causes),
        Tally::of("identical treatments", "without a difference", controls),
    ];
    tallies.into_iter().filter(|tally| tally.of > 0).collect()
}
