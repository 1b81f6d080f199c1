use super::*;
use model::Unit;
use model::{Options, Profile};

#[test]
fn regions_are_read_in_the_terms_of_the_number() {
    assert_eq!(region(Region::above(15.0), Terms::Times), "≥ 15×");
    assert_eq!(region(Region::below(9e3), Terms::In(&Unit::Ns)), "≤ 9 µs");
    assert_eq!(region(Region::within(0.5, 0.8), Terms::Share), "50 % to 80 %");
    assert_eq!(region(Region { low: None, high: None }, Terms::Plain), "anywhere");
}

#[test]
fn a_session_is_repeated_with_what_was_asked_for() {
    let mut manifest = crate::fixture::session(1).manifest;
    manifest.seed = 42;
    manifest.options = Options {
        profile: Profile::Standard,
        blocks: Some(12),
        cpus: vec![0, 3],
        time_budget_s: Some(60.0),
        ..Options::default()
    };
    assert_eq!(
        repeat_command(&manifest, &["create".into()]),
        "scruple run create --seed 42 --profile standard --runs 12 --affinity 0,3 \
         --time-budget 60s --no-shield"
    );
    // The time that a self-test takes by itself is that of no profile.
    manifest.options.selftest = true;
    manifest.options.time_budget_s = Some(manifest.options.profile.budget_s() as f64);
    assert_eq!(
        repeat_command(&manifest, &["planted_delay".into()]),
        "scruple selftest planted_delay --seed 42 --profile standard --runs 12 --affinity 0,3 \
         --time-budget 900s --no-shield"
    );
}

#[test]
fn numeric_levels_keep_the_name_of_their_factor() {
    assert_eq!(level("memory", "64"), "memory 64");
    assert_eq!(level("mechanism", "fork"), "fork");
    assert_eq!(level("huge_pages", "no"), "huge pages no");
}

#[test]
fn a_trial_is_named_by_what_differs_from_the_baseline() {
    let design = crate::fixture::session(2).manifest.designs.remove(0);
    let mut treatment = design.complete(&Cell::default());
    assert_eq!(crate::briefly(&design, &treatment), "pthread");
    treatment.levels_mut().insert("memory".into(), "64".into());
    assert_eq!(crate::briefly(&design, &treatment), "pthread · memory 64");
}

#[test]
fn sides_have_letters_like_the_columns_of_a_sheet() {
    let letters: Vec<String> = [0, 1, 25, 26, 27, 701, 702].map(letter).to_vec();
    assert_eq!(letters, ["A", "B", "Z", "AA", "AB", "ZZ", "AAA"]);
}

#[test]
fn lost_trials_are_told_with_what_they_may_hide() {
    let at = Cell::new([("mechanism", "fork")]);
    let shown = |timed_out, other_trials| {
        lost(&Lost { at: at.clone(), trials: 3, timed_out, of: 20, other_trials, other_of: 20 })
    };
    assert_eq!(
        shown(1, 0),
        "3 of 20 trials of mechanism fork gave no number, and none of 20 of the other side: if these \
         were its slow ones, mechanism fork takes more than shown"
    );
    assert!(shown(3, 1).starts_with("3 of 20 trials of mechanism fork timed out, and 1 of 20 of"));
    assert!(shown(0, 0).contains("fork gave no number, and none"));
}
