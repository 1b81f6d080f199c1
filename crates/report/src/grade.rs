//! The grade of a self-test, in words for a terminal.

use crate::text::{BAD, BOLD, CARE, DIM, GOOD, bounded, paint, paragraph};
use anstyle::Style;
use model::{Selftest, Standing, TrustGrade};

/// See [`crate::grade_text`].
pub(crate) fn grade_text(selftest: &Selftest, width: usize) -> String {
    let width = bounded(width);
    let mut out = String::new();
    let style = style(selftest.grade);
    let grade = match selftest.grade {
        Some(grade) => format!("Grade {grade:?}"),
        None => "No grade".into(),
    };
    out.push_str(&paint(style, &paint(BOLD, &grade)));
    out.push('\n');
    out.push_str(&paragraph(&selftest.sentence, "", "", width));
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
    out
}

fn style(grade: Option<TrustGrade>) -> Style {
    match grade {
        Some(TrustGrade::A) => GOOD,
        Some(TrustGrade::D | TrustGrade::F) => BAD,
        Some(TrustGrade::B | TrustGrade::C) | None => CARE,
    }
}

/// How many of one kind are right.
struct Tally {
    what: &'static str,
    how: &'static str,
    right: usize,
    wrong: usize,
    of: usize,
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

fn tallies(selftest: &Selftest) -> Vec<Tally> {
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
