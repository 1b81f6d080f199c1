//! The grade of a self-test, in words.

use crate::say::planted::{EXCLUDED, HELD, NEAR_MISS, held_meaning};
use crate::text::{BAD, BOLD, CARE, DIM, GOOD, bounded, paint, paragraph, wrapped};
use crate::words::{capital, uncapital};
use anstyle::Style;
use model::{Selftest, Standing, TrustGrade};

/// See [`crate::grade_text`].
pub(crate) fn grade_text(selftest: &Selftest, width: usize) -> String {
    let width = bounded(width);
    let mut out = graded(selftest, width);
    for tally in tallies(selftest) {
        let (mark, style) = match tally.right == tally.of {
            true => ("✓", GOOD),
            false if tally.wrong > 0 => ("✗", BAD),
            false => ("?", CARE),
        };
        let text = format!("{}: {} of {} {}", tally.what, tally.right, tally.of, tally.how);
        out.push_str(&format!("  {} {text}\n", paint(style, mark)));
    }
    for reason in &selftest.reasons {
        out.push_str(&paragraph(reason, "  ! ", "    ", width));
    }
    for untested in &selftest.untested {
        let text = format!("not tested: {untested}");
        out.push_str(&paint(DIM, paragraph(&text, "  - ", "    ", width).trim_end()));
        out.push('\n');
    }
    if !selftest.advice.is_empty() {
        out.push_str(&paragraph(&selftest.advice, "", "", width));
    }
    for line in wrapped(&legend(selftest), width) {
        out.push_str(&format!("{}\n", paint(DIM, &line)));
    }
    out
}

/// The grade and what it means, in one sentence.
fn graded(selftest: &Selftest, width: usize) -> String {
    let word = word(selftest.grade);
    let text = format!("{word}: {}", uncapital(&selftest.sentence));
    let text = paragraph(&text, "", "", width);
    let style = style(selftest.grade);
    match text.strip_prefix(&word) {
        Some(rest) => format!("{}{rest}", paint(style, &paint(BOLD, &word))),
        None => text,
    }
}

/// "Grade B".
pub(crate) fn word(grade: Option<TrustGrade>) -> String {
    grade.map_or("No grade".into(), |grade| format!("Grade {grade:?}"))
}

/// What the table says of intervals, as far as it says it.
fn legend(selftest: &Selftest) -> String {
    let answers = || selftest.answers.iter().map(|answer| &answer.result);
    let said = [
        (HELD, answers().any(|it| it.holds == Some(true))),
        (NEAR_MISS, answers().any(|it| it.holds == Some(false) && it.excluded != Some(true))),
        (EXCLUDED, answers().any(|it| it.holds == Some(false) && it.excluded == Some(true))),
    ];
    let meanings = said
        .into_iter()
        .filter(|(_, used)| *used)
        .map(|(held, _)| format!("{held}: {}", held_meaning(held)));
    let text = meanings.collect::<Vec<_>>().join("; ");
    if text.is_empty() { text } else { format!("{}.", capital(&text)) }
}

fn style(grade: Option<TrustGrade>) -> Style {
    match grade {
        Some(TrustGrade::A) => GOOD,
        Some(TrustGrade::D | TrustGrade::F) => BAD,
        Some(TrustGrade::B | TrustGrade::C) | None => CARE,
    }
}

/// How many of one kind are right.
pub(crate) struct Tally {
    pub(crate) what: &'static str,
    pub(crate) how: &'static str,
    pub(crate) right: usize,
    wrong: usize,
    pub(crate) of: usize,
}

impl Tally {
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
        Tally::of("identical treatments", "not told apart", controls),
    ];
    tallies.into_iter().filter(|tally| tally.of > 0).collect()
}
