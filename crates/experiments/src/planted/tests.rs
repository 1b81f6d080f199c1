use super::PLANTED;
use kit::model::Profile;
use std::collections::BTreeSet;

#[test]
fn every_design_is_consistent_and_named_like_its_experiment() {
    for experiment in PLANTED {
        let design = (experiment.design)();
        assert_eq!(design.id, experiment.id);
        assert!(design.id.starts_with("planted_"), "{}", design.id);
        if let Err(error) = design.check() {
            panic!("{error}");
        }
        assert!(design.question.ends_with('?'), "{} asks nothing", design.id);
        assert!(!design.findings.is_empty(), "{} shows nothing", design.id);
        for response in &design.responses {
            assert!(!response.card.from.is_empty(), "{} has no card", response.name);
            assert!(!response.card.source.is_empty(), "{} has no source", response.name);
        }
    }
}

#[test]
fn every_design_has_an_answer_and_every_answer_a_name_of_its_own() {
    for experiment in PLANTED {
        let design = (experiment.design)();
        let planted = design.planted.iter().map(|planted| &planted.id);
        let searched = design.diagnoses.iter().map(|diagnosis| &diagnosis.id);
        let all: Vec<&String> = planted.chain(searched).collect();
        assert!(!all.is_empty(), "{} has no answer", design.id);
        let names: BTreeSet<&&String> = all.iter().collect();
        assert_eq!(names.len(), all.len(), "{} has two answers of one name", design.id);
    }
}

#[test]
fn truths_are_finite_intervals_or_half_lines_that_hold_something() {
    for experiment in PLANTED {
        for planted in (experiment.design)().planted {
            let ends = (planted.truth.low, planted.truth.high);
            assert!(ends != (None, None), "{} could be anything", planted.id);
            if let (Some(low), Some(high)) = ends {
                assert!(low <= high, "{}", planted.id);
            }
            assert!(planted.without.is_finite(), "{}", planted.id);
        }
    }
}

#[test]
fn smoke_and_quick_measure_what_the_answers_need() {
    for experiment in PLANTED {
        let design = (experiment.design)();
        for profile in [Profile::Smoke, Profile::Quick] {
            let all = design.treatments(profile);
            for planted in &design.planted {
                let met = |cell| all.iter().any(|treatment| treatment.matches(cell));
                let id = (&design.id, &planted.id);
                assert!(planted.quantity.cells().into_iter().all(met), "{id:?} in {profile:?}");
            }
        }
    }
}
