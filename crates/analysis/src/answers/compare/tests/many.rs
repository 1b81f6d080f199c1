//! What is held of many sessions, and said of them.

use super::*;
use std::sync::Arc;

/// The arms that are held with their ends, on both scales, of all sessions of two sides.
fn held(sides: [&[Made]; 2]) -> Vec<(usize, usize)> {
    let mut heads = Heads::default();
    let side = |side: &[Made]| SideHeads {
        name: "side".into(),
        heads: side.iter().map(|made| heads.head(made.manifest.clone())).collect(),
    };
    let questions = Arc::new(Questions::new(sides.map(side).to_vec(), &[]));
    let mut answers = Answers::new(&questions);
    for at in questions.order() {
        let made = &sides[at.0][at.1];
        answers.add(at.0, questions.digest(at, &made.records, true));
    }
    let treatments = answers.experiments.iter().flat_map(|it| it.treatments.values());
    let columns = treatments.flatten().flat_map(|at| &at.columns);
    let held = columns.filter(|it| !it.is_empty()).map(column::Column::held).collect();
    let comparison = answers.end("0.1.0", &[]);
    let (a, b): (Vec<&Made>, Vec<&Made>) = (sides[0].iter().collect(), sides[1].iter().collect());
    assert_eq!(comparison.experiments, compared_with(&[&a, &b], &[]).experiments);
    held
}

#[test]
fn of_many_sessions_hardly_more_than_a_number_each_is_held() {
    let many = |seeds: std::ops::Range<u32>| -> Vec<Made> {
        seeds.map(|seed| made(1.0, 4.0, seed)).collect()
    };
    let settled = held([&many(0..9), &many(10..17)]);
    // Two treatments with two responses each, on two sides.
    assert_eq!(settled, vec![(0, 0); 8]);
    // Against one session alone the scatter within each of the others counts.
    let whole = held([&many(0..9), &many(10..11)]);
    assert!(whole.contains(&(9, 9)) && whole.contains(&(1, 1)), "{whole:?}");
    // A treatment that one side has in one session alone keeps what it may need.
    let mut late = many(10..14);
    for made in &mut late[..3] {
        made.records.retain(|it| it.treatment.level("model") == Some("thread"));
    }
    let mixed = held([&many(0..9), &late]);
    assert!(mixed.contains(&(9, 9)) && mixed.contains(&(0, 0)), "{mixed:?}");
}

#[test]
fn sessions_share_the_designs_that_are_the_same() {
    let mut heads = Heads::default();
    let [one, two] = [1, 2].map(|seed| heads.head(made(1.0, 4.0, seed).manifest));
    assert!(Arc::ptr_eq(&one.designs[0], &two.designs[0]));
    let mut other = made(1.0, 4.0, 3).manifest;
    other.designs[0].version += 1;
    let other = heads.head(other);
    assert!(!Arc::ptr_eq(&one.designs[0], &other.designs[0]) && other.manifest.designs.is_empty());
}

#[test]
fn a_thousand_sessions_twice_are_not_a_thousand_sentences() {
    let many: Vec<Made> = (0..40).map(|seed| made(1.0, 4.0, seed)).collect();
    let side: Vec<&Made> = many.iter().collect();
    let described = compared_with(&[&side, &side], &[]).warnings;
    let twice = described.iter().filter(|text| text.contains("more than once")).count();
    assert_eq!(twice, 4, "{described:?}");
    assert!(described.iter().any(|text| text == "So do 36 more sessions"), "{described:?}");
}
