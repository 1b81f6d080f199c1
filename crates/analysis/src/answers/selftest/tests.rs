use super::{percent, selftest};
use crate::fixture::{Trial, design};
use crate::{Input, summarise};
use model::{
    Blame, Cell, Control, ControlResult, DiagnosisResult, Environment, Estimate, ExperimentSummary,
    Finding, Outcome, PlantedResult, Quantity, QuantityResult, Record, Region, Selftest, Standing,
    Summary, TrustGrade, Unit,
};

fn estimate(point: f64) -> Estimate {
    Estimate { point, low: point, high: point, standard_error: None, level: 0.95, samples: 12 }
}

fn result(unit: Option<Unit>, point: f64) -> QuantityResult {
    QuantityResult {
        of_means: None,
        likeness: None,
        lost: None,
        quantity: Quantity::Value { response: "task_ns".into(), at: Cell::default() },
        unit,
        estimate: Some(estimate(point)),
        events: None,
        chances: None,
        carried_by: None,
        floor: None,
        floor_in_ten_times: None,
        tagged: 0,
        untagged: None,
        remark: String::new(),
    }
}

/// An effect of a size that was found and sized.
fn effect(size: f64) -> PlantedResult {
    PlantedResult {
        id: format!("delay_{size}"),
        what: format!("a wait of {} ns", 100_000.0 * size),
        result: result(None, 1.0 + size),
        without: 1.0,
        truth: Region::within(1.0 + size, 1.0 + size),
        size: Some(size),
        holds: Some(true),
        found: Some(true),
        excluded: Some(false),
    }
}

fn lost(size: f64) -> PlantedResult {
    let mut one = PlantedResult { found: Some(false), ..effect(size) };
    one.result.estimate.as_mut().unwrap().low = 1.0 - size;
    one
}

/// A number of things that was planted.
fn count(seen: f64) -> PlantedResult {
    let right = seen == 7.0;
    PlantedResult {
        id: "calls".into(),
        what: "7 calls".into(),
        result: result(Some(Unit::Count), seen),
        without: 0.0,
        truth: Region::within(7.0, 7.0),
        size: None,
        holds: Some(right),
        found: Some(true),
        excluded: Some(!right),
    }
}

/// Nothing was planted.
fn silence(found: bool) -> PlantedResult {
    PlantedResult {
        id: "nothing".into(),
        what: "nothing".into(),
        truth: Region::within(1.0, 1.0),
        size: None,
        holds: Some(!found),
        found: Some(found),
        excluded: Some(found),
        ..effect(0.0)
    }
}

fn diagnosis(named: Option<&str>) -> DiagnosisResult {
    let blame = |suspect: &str| Blame { suspect: suspect.into(), share: result(None, 0.5) };
    DiagnosisResult {
        id: "slow".into(),
        what: "two slow threads".into(),
        suspects: vec![blame("the lock"), blame("the cache line")],
        named: named.map(String::from),
        planted: Some("the lock".into()),
    }
}

fn experiment(planted: Vec<PlantedResult>, diagnoses: Vec<DiagnosisResult>) -> ExperimentSummary {
    ExperimentSummary { planted, diagnoses, ..summary_of(&[]).experiments.remove(0) }
}

/// The summary of some records of the fixture's design, with its A/A control.
fn summary_of(records: &[Record]) -> Summary {
    let of = |model: &str| Cell::new([("model", model)]);
    let mut design = design();
    design.controls = vec![Control { response: "task_ns".into(), a: of("thread"), b: of("empty") }];
    let quantity =
        Quantity::Ratio { response: "task_ns".into(), of: of("process"), to: of("thread") };
    let (id, sentence) = ("gap".into(), "{}".into());
    design.findings = vec![Finding { id, sentence, quantity, drives: false }];
    summarise(&Input {
        shield: &model::ShieldReport::default(),
        scruple: "0",
        session: "made up",
        complete: true,
        environment: &Environment::default(),
        designs: &[design],
        records,
    })
}

/// A session in which identical treatments did not differ.
fn summary(planted: Vec<PlantedResult>, diagnoses: Vec<DiagnosisResult>) -> Summary {
    let mut summary = summary_of(&[]);
    summary.experiments = vec![experiment(planted, diagnoses)];
    summary.trust.controls = vec![ControlResult {
        experiment: "null".into(),
        response: "pass_ns".into(),
        at: Cell::default(),
        ratio: estimate(1.0),
        differs: false,
    }];
    summary.trust.holds = true;
    summary
}

fn graded(planted: Vec<PlantedResult>, diagnoses: Vec<DiagnosisResult>) -> Selftest {
    selftest(&summary(planted, diagnoses))
}

fn all_right() -> Vec<PlantedResult> {
    vec![effect(0.02), effect(0.05), effect(0.2), count(7.0), silence(false)]
}

#[test]
fn all_found_is_an_a() {
    let described = graded(all_right(), vec![diagnosis(Some("the lock"))]);
    assert_eq!(
        (described.grade, described.finest, described.trusted),
        (Some(TrustGrade::A), Some(0.02), true)
    );
    assert_eq!(
        described.sentence,
        "This machine can be trusted for effects of 2 % and more, the finest that was planted."
    );
    assert!(
        described.reasons.is_empty()
            && described.advice.is_empty()
            && described.untested.is_empty()
    );
    assert!(described.answers.iter().all(|it| it.standing == Standing::Right && it.why.is_empty()));
    assert_eq!(described.controls_silent, Some(true));
}

#[test]
fn sizes_down_to_five_and_twenty_per_cent_are_b_and_c_and_less_is_d() {
    let described = graded(vec![effect(0.2), effect(0.05), lost(0.02)], Vec::new());
    assert_eq!(
        (described.grade, described.finest, described.trusted),
        (Some(TrustGrade::B), Some(0.05), false)
    );
    assert_eq!(
        described.sentence,
        "This machine can be trusted for effects of 5 % and more, but not for smaller ones."
    );
    assert_eq!(
        described.reasons,
        ["made_up: a wait of 2000 ns (2 %): not found: it is indistinguishable from nothing"]
    );
    let described = graded(vec![lost(0.02), lost(0.05), effect(0.2)], Vec::new());
    assert_eq!((described.grade, described.finest), (Some(TrustGrade::C), Some(0.2)));
    assert!(
        described.reasons[0].contains("(5 %)"),
        "the largest comes first: {:?}",
        described.reasons
    );
    let described = graded(vec![lost(0.02), lost(0.2), effect(0.5)], Vec::new());
    assert_eq!((described.grade, described.finest), (Some(TrustGrade::D), Some(0.5)));
    let described = graded(vec![lost(0.02), lost(0.05), lost(0.2)], Vec::new());
    assert_eq!((described.grade, described.finest), (Some(TrustGrade::D), None));
    assert!(described.sentence.contains("cannot be trusted for effects of 20 % and less"));
    assert!(described.advice.contains("--time-budget"));
}

#[test]
fn too_few_blocks_say_nothing_of_the_machine() {
    let few = |size: f64| {
        let mut one = lost(size);
        let found = one.result.estimate.as_mut().unwrap();
        (found.samples, found.high) = (7, found.high * 1.01);
        one
    };
    let described = graded(vec![few(0.02), few(0.05), few(0.2)], Vec::new());
    assert_eq!((described.grade, described.finest, described.trusted), (None, None, false));
    assert!(described.sentence.starts_with("The blocks are too few to find an effect of any size"));
    assert!(described.reasons[0].ends_with("its blocks are too few to find anything"));
    assert!(described.advice.contains("--time-budget"), "{}", described.advice);
    // A large one that was found stands; what the small ones lack is in the reasons.
    let described = graded(vec![few(0.02), few(0.05), effect(0.2)], Vec::new());
    assert_eq!((described.grade, described.finest), (Some(TrustGrade::C), Some(0.2)));
}

#[test]
fn a_lucky_find_below_a_miss_proves_nothing() {
    let described = graded(vec![effect(0.02), lost(0.05), effect(0.2)], Vec::new());
    assert_eq!((described.grade, described.finest), (Some(TrustGrade::C), Some(0.2)));
    // Two of one size: both must be found.
    let described = graded(vec![effect(0.2), effect(0.05), lost(0.05)], Vec::new());
    assert_eq!((described.grade, described.finest), (Some(TrustGrade::C), Some(0.2)));
}

#[test]
fn every_contradiction_is_an_f() {
    let excluded = PlantedResult { holds: Some(false), excluded: Some(true), ..effect(0.2) };
    let cases = [
        (vec![count(8.0)], Vec::new(), "the count is wrong"),
        (vec![excluded], Vec::new(), "(20 %): the true value lies outside"),
        (vec![silence(true)], Vec::new(), "found where nothing was planted"),
        (Vec::new(), vec![diagnosis(Some("the cache line"))], "the cache line was named instead"),
    ];
    for (wrong, diagnoses, why) in cases {
        let described = graded([all_right(), wrong].concat(), diagnoses);
        assert_eq!((described.grade, described.finest), (Some(TrustGrade::F), None), "{why}");
        assert!(described.sentence.contains("effects of any size"), "{}", described.sentence);
        assert!(described.reasons[0].contains(why) && !described.advice.is_empty());
    }
    let mut differing = summary(all_right(), Vec::new());
    differing.trust.controls[0].differs = true;
    let described = selftest(&differing);
    assert_eq!((described.grade, described.controls_silent), (Some(TrustGrade::F), Some(false)));
    assert!(
        described.reasons[0].contains("identical treatments differ"),
        "{:?}",
        described.reasons
    );
    assert!(described.advice.contains("one of ten"), "{}", described.advice);
}

#[test]
fn what_is_wrong_without_any_size_is_still_an_f() {
    let described = graded(vec![count(8.0)], Vec::new());
    assert_eq!(described.grade, Some(TrustGrade::F));
}

#[test]
fn a_cause_that_is_not_named_is_missed_and_not_wrong() {
    let described = graded(all_right(), vec![diagnosis(Some("the lock")), diagnosis(None)]);
    assert_eq!(
        (described.grade, described.finest, described.trusted),
        (Some(TrustGrade::B), Some(0.02), false)
    );
    assert!(
        described.sentence.contains("of 2 % and more, but not for all"),
        "{}",
        described.sentence
    );
    assert_eq!(described.causes[1].standing, Standing::Missed);
    assert!(described.causes[1].why.contains("indistinguishable from the other suspects"));
    let mut unmeasured = diagnosis(None);
    unmeasured.suspects[0].share.estimate = None;
    unmeasured.suspects[0].share.remark = "only 1 block".into();
    let described = graded(all_right(), vec![unmeasured]);
    assert_eq!(described.causes[0].why, "not named: not measured: only 1 block");
    assert_eq!(described.grade, Some(TrustGrade::B));
    let unknown = DiagnosisResult { planted: None, ..diagnosis(Some("the cache line")) };
    let described = graded(all_right(), vec![unknown]);
    assert_eq!(described.grade, Some(TrustGrade::A), "nobody knows the answer to that one");
    assert!(described.causes.is_empty());
}

#[test]
fn a_miss_beside_the_sizes_does_not_raise_them() {
    let described = graded(vec![effect(0.2)], vec![diagnosis(None)]);
    assert_eq!(described.grade, Some(TrustGrade::C));
    let scattered = PlantedResult { excluded: Some(false), ..count(8.0) };
    let described = graded([all_right(), vec![scattered]].concat(), Vec::new());
    assert_eq!(described.grade, Some(TrustGrade::B));
    assert!(described.reasons[0].contains("scatters"), "{:?}", described.reasons);
}

#[test]
fn without_a_control_or_a_size_there_is_no_a() {
    let mut unchecked = summary(all_right(), Vec::new());
    unchecked.trust.controls.clear();
    let described = selftest(&unchecked);
    assert_eq!((described.grade, described.controls_silent), (Some(TrustGrade::B), None));
    let described = graded(vec![count(7.0)], Vec::new());
    assert_eq!((described.grade, described.trusted), (None, false));
    assert!(described.sentence.contains("unknown"), "{}", described.sentence);
    assert_eq!(graded(Vec::new(), Vec::new()).grade, None);
}

/// Trials of two treatments, of which one was refused.
fn refused(outcome: &Outcome) -> Summary {
    let trial = |block, model: &str, refused: bool| {
        let trial = Trial::new(block).at([("model", model), ("n", "1")]);
        let mut record = trial.series("task_ns", 1, &[100 + i64::from(block)]).record();
        if refused {
            record.outcome = outcome.clone();
            record.measured = None;
        }
        record
    };
    let block = |block| [trial(block, "thread", false), trial(block, "process", true)];
    summary_of(&(0..6).flat_map(block).collect::<Vec<_>>())
}

#[test]
fn what_a_machine_cannot_realise_is_untested_and_lowers_nothing() {
    let reason = "needs 2 CPUs at the same time, has 1".to_string();
    let mut refused = refused(&Outcome::Unsupported { reason: reason.clone() });
    let found = refused.experiments[0].findings[0].result.clone();
    assert_eq!(found.estimate, None);
    let nothing = || PlantedResult {
        result: found.clone(),
        holds: None,
        found: None,
        excluded: None,
        ..effect(0.01)
    };
    let mut cause = diagnosis(None);
    cause.suspects[1].share = found.clone();
    refused.experiments[0].planted = [all_right(), vec![nothing()]].concat();
    refused.experiments[0].diagnoses = vec![cause];
    refused.trust = summary(Vec::new(), Vec::new()).trust;
    let described = selftest(&refused);
    assert_eq!((described.grade, described.finest), (Some(TrustGrade::A), Some(0.02)));
    // Both for the same reason: in one line.
    let line = format!("made_up: a wait of 1000 ns; two slow threads: {reason}");
    assert_eq!(described.untested, [line]);
    refused.experiments[0].planted = vec![nothing()];
    assert_eq!(selftest(&refused).grade, None, "nothing is left to grade by");
}

#[test]
fn what_failed_is_missed_and_not_untested() {
    let mut failed = refused(&Outcome::Failed { reason: "no such page".into() });
    let found = failed.experiments[0].findings[0].result.clone();
    let nothing =
        PlantedResult { result: found, holds: None, found: None, excluded: None, ..effect(0.01) };
    failed.experiments[0].planted = [all_right(), vec![nothing]].concat();
    failed.trust = summary(Vec::new(), Vec::new()).trust;
    let described = selftest(&failed);
    assert_eq!((described.grade, described.finest), (Some(TrustGrade::B), Some(0.02)));
    assert!(described.reasons[0].contains("no such page"), "{:?}", described.reasons);
}

#[test]
fn shares_are_read_as_per_cent() {
    let said: Vec<String> = [0.02, 0.005, 0.2, 1.0, 0.125].map(percent).into();
    assert_eq!(said, ["2 %", "0.5 %", "20 %", "100 %", "12.5 %"]);
}
