//! The grade of a self-test.

use super::planted::meanings;
use crate::doc::{Block, Doc, Role, Tone};
use model::{Selftest, Standing, TrustGrade};
use wording::{short, stated, uncapital};

/// Returns the grade of a self-test: for which size of effect the machine can be trusted, what was
/// missed, wrong or not tested, and what the words of the table mean.
pub fn grade(selftest: &Selftest) -> Doc<'static> {
    let mut doc = Doc::new("", "self-test", "self-test");
    let sentence = format!("{}: {}", word(selftest.grade), uncapital(&selftest.sentence));
    doc.push(Block::paragraph(Role::Answer, sentence));
    doc.blocks.extend(grounds(selftest, usize::MAX));
    doc.push(Block::small(meanings(selftest.answers.iter().map(|answer| &answer.result))));
    doc
}

/// "Grade B".
pub(crate) fn word(grade: Option<TrustGrade>) -> String {
    grade.map_or("No grade".into(), |grade| format!("Grade {grade:?}"))
}

/// Returns what a grade rests on: how many of what was planted are right, by kind, at most `most` of the
/// reasons and of what was not tested, and what to do.
pub(crate) fn grounds(selftest: &Selftest, most: usize) -> Vec<Block<'static>> {
    let answers = |sized: bool| {
        let of_kind = selftest.answers.iter().filter(move |it| it.result.size.is_some() == sized);
        of_kind.map(|it| it.standing)
    };
    let controls = selftest.controls.iter();
    let controls = controls.map(|it| if it.differs { Standing::Wrong } else { Standing::Right });
    let tallies = [
        tally("effects", "found and sized", answers(true)),
        tally("other planted answers", "right", answers(false)),
        tally("causes", "named", selftest.causes.iter().map(|it| it.standing)),
        tally("identical treatments", "without a difference", controls),
    ];
    let mut blocks: Vec<Block<'_>> = tallies.into_iter().flatten().collect();
    let reasons = selftest.reasons.iter().take(most);
    blocks.extend(reasons.map(|reason| Block::note(Tone::Care, short(reason, 400))));
    let reasons = selftest.reasons.len();
    blocks.extend(Block::left_out(reasons, most, "more reason", ", in the chapters"));
    let untested = selftest.untested.iter().take(most);
    blocks.extend(
        untested.map(|what| Block::note(Tone::Quiet, format!("not tested: {}", short(what, 600)))),
    );
    blocks.extend(stated(&selftest.advice).map(Block::plain));
    blocks
}

/// Returns how many of one kind are right; `None` where none was tested.
fn tally(
    what: &str,
    how: &str,
    standings: impl Iterator<Item = Standing>,
) -> Option<Block<'static>> {
    let tested: Vec<Standing> = standings.filter(|one| *one != Standing::Untested).collect();
    let count = |standing| tested.iter().filter(|one| **one == standing).count();
    let (right, of) = (count(Standing::Right), tested.len());
    let tone = match count(Standing::Wrong) {
        _ if right == of => Tone::Good,
        0 => Tone::Open,
        _ => Tone::Bad,
    };
    let text = format!("{what}: {right} of {of} {how}");
    (of > 0).then(|| Block::said(tone, "", vec![text.into()]))
}
