//! The comparison of sessions in a terminal.

use crate::compared;
use crate::plain::plain;
use model::{Comparison, GateOutcome};

fn text(comparison: &Comparison, width: usize, height: Option<usize>) -> String {
    plain(&report::comparison_text(comparison, width, height))
}

#[test]
fn what_differs_is_told_first_and_the_largest_first() {
    insta::assert_snapshot!("comparison_two_100", text(&compared::two(), 100, Some(60)));
    insta::assert_snapshot!("comparison_two_44", text(&compared::two(), 44, Some(60)));
    insta::assert_snapshot!("comparison_two_whole", text(&compared::two(), 100, None));
    insta::assert_snapshot!("comparison_large_80", text(&compared::large(200), 80, Some(40)));
}

#[test]
fn the_page_and_the_terminal_have_one_order_and_one_set_of_marks() {
    let mut comparison = compared::two();
    let rows = &mut comparison.experiments[0].rows;
    // The point of one lies farthest from 1, the interval of another does.
    for (row, (point, low, high)) in rows.iter_mut().zip([(3.0, 1.1, 8.0), (2.0, 1.9, 2.1)]) {
        let effect = row.effects[0].as_mut().unwrap();
        let ratio = effect.ratio.as_mut().unwrap();
        (ratio.point, ratio.low, ratio.high, effect.differs) = (point, low, high, true);
    }
    for said in [text(&comparison, 120, Some(80)), report::comparison_html(&comparison)] {
        let list = &said[said.find("Responses at each treatment").unwrap()..];
        let place = |number: &str| list.find(number).unwrap();
        assert!(place("▲ 2.0") < place("▲ 3.0"), "{list}");
        assert!(!said.contains('↑') && !said.contains('↓'), "{said}");
    }
}

#[test]
fn nothing_differs_is_said_with_what_could_have_been_found() {
    let said = text(&compared::alike(), 100, Some(40));
    assert!(said.contains("No significant difference between"), "{said}");
    assert!(said.contains("No recorded fact differs"), "{said}");
    let mut comparison = compared::two();
    assert!(!text(&comparison, 100, Some(60)).contains("No significant difference between"));
    comparison.experiments.clear();
    // Of nothing nothing is said.
    assert!(!text(&comparison, 100, Some(60)).contains("No significant difference between"));
}

#[test]
fn it_keeps_to_the_width_and_nearly_to_the_height() {
    for comparison in [compared::two(), compared::alike(), compared::large(300)] {
        for width in [10, 40, 60, 80, 95, 96, 120, 200] {
            for height in [None, Some(24), Some(60)] {
                let said = text(&comparison, width, height);
                let most = width.clamp(40, 120);
                for line in said.lines() {
                    assert!(line.chars().count() <= most, "{width}: {line:?}");
                }
            }
        }
    }
    let said = text(&compared::large(300), 100, Some(40));
    assert!(said.lines().count() <= 42, "{said}");
    assert!(said.contains("more numbers differ: `scruple compare --all` shows"), "{said}");
    assert!(text(&compared::large(300), 100, None).lines().count() > 300);
}

#[test]
fn text_from_outside_is_made_harmless() {
    const EVIL: &str = "\u{1b}[2Jevil\r\u{7}\u{202e}";
    let mut comparison = compared::two();
    let spoil = |text: &mut String| *text = format!("{EVIL}{text}\nmore");
    for side in &mut comparison.sides {
        spoil(&mut side.name);
        spoil(&mut side.host);
    }
    for row in &mut comparison.facts {
        spoil(&mut row.name);
        row.values.iter_mut().for_each(spoil);
    }
    comparison.warnings.iter_mut().for_each(spoil);
    for gate in &mut comparison.gates {
        spoil(&mut gate.condition);
        spoil(&mut gate.reason);
        gate.outcome = GateOutcome::Regression;
    }
    for experiment in &mut comparison.experiments {
        spoil(&mut experiment.id);
        spoil(&mut experiment.question);
        experiment.refused.iter_mut().for_each(spoil);
        for finding in &mut experiment.findings {
            spoil(&mut finding.sentence);
            finding.effects.iter_mut().flatten().for_each(|it| spoil(&mut it.remark));
        }
        for row in &mut experiment.rows {
            spoil(&mut row.label);
            row.unit = model::Unit::Other(EVIL.into());
            let levels = row.treatment.levels_mut().values_mut();
            levels.for_each(spoil);
        }
        for claim in &mut experiment.verdicts {
            spoil(&mut claim.text);
        }
    }
    for control in comparison.controls.iter_mut().flatten() {
        spoil(&mut control.remark);
    }
    for height in [None, Some(60)] {
        let coloured = report::comparison_text(&comparison, 100, height);
        assert!(coloured.contains("evil"));
        assert!(!coloured.contains("\u{1b}[2J") && !coloured.contains('\u{202e}'));
        let rest = plain(&coloured);
        assert!(!rest.chars().any(|c| c.is_control() && c != '\n'), "{rest:?}");
        assert!(rest.lines().all(|line| line.chars().count() <= 100), "{rest}");
    }
}
