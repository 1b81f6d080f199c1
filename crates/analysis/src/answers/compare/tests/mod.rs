//! What is said of sessions.

mod gates;
mod machines;
mod many;

use super::*;
use crate::fixture::{design, response, task};
use crate::together::{CompareInput, CompareSession, CompareSide, compare};
use model::{
    Cell, Claim, ComparedExperiment, ComparedRow, Control, Design, Estimate, Finding, GateOutcome,
    Manifest, Outcome, Quantity, Record, Region, Replication, Response, Series, ShieldReport,
    Treatment, Unit, Weight,
};

/// Enough for a verdict of two sessions.
const BLOCKS: u32 = 16;

/// A stored session.
struct Made {
    manifest: Manifest,
    records: Vec<Record>,
    complete: bool,
}

impl Made {
    fn new(design: Design, records: Vec<Record>) -> Self {
        Made::named("one", vec![design], records)
    }

    fn named(session: &str, designs: Vec<Design>, records: Vec<Record>) -> Self {
        let manifest = Manifest {
            format: 1,
            scruple: "0.1.0".into(),
            session: session.into(),
            started_unix_ms: 5,
            seed: 7,
            command: Vec::new(),
            options: Default::default(),
            environment: Default::default(),
            shield: ShieldReport::default(),
            designs,
            redacted: false,
            runs: Vec::new(),
        };
        Made { manifest, records, complete: true }
    }

    fn session(&self) -> CompareSession<'_> {
        CompareSession { manifest: &self.manifest, records: &self.records, complete: self.complete }
    }
}

/// Each side a list of sessions.
fn compared_with(sides: &[&[&Made]], conditions: &[&str]) -> Comparison {
    let conditions: Vec<Condition> = conditions.iter().map(|it| it.parse().unwrap()).collect();
    let sessions: Vec<Vec<CompareSession<'_>>> =
        sides.iter().map(|side| side.iter().map(|made| made.session()).collect()).collect();
    let names = ["A", "B", "C"];
    let sides: Vec<CompareSide<'_>> =
        sessions.iter().zip(names).map(|(sessions, name)| CompareSide { name, sessions }).collect();
    compare(&CompareInput { scruple: "0.1.0", sides: &sides, only: &[], conditions: &conditions })
}

fn of_two(base: &Made, side: &Made, conditions: &[&str]) -> Comparison {
    compared_with(&[&[base], &[side]], conditions)
}

fn cell(model: &str) -> Cell {
    Cell::new([("model", model), ("n", "1")])
}

/// `made_up` with one finding, one claim and one control.
fn study() -> Design {
    let mut design = design();
    let ratio =
        Quantity::Ratio { response: "task_ns".into(), of: cell("process"), to: cell("thread") };
    design.findings = vec![Finding {
        id: "cost".into(),
        sentence: "A process costs {} threads.".into(),
        quantity: ratio.clone(),
        drives: true,
    }];
    design.claims = vec![Claim {
        id: "dear".into(),
        text: "A process costs three threads or more.".into(),
        source: "[notes]".into(),
        mechanism: String::new(),
        quantity: ratio,
        holds_if: Region::above(3.0),
        note: String::new(),
        shown: String::new(),
    }];
    design
}

/// Noise of up to 0.5 % that no two trials share.
fn noise(block: u32, place: u32, seed: u32) -> i64 {
    i64::from((block * 7 + place * 5 + seed * 13) % 11) - 5
}

/// A thread that takes 10 µs times `factor`, a process that takes `multiple` threads.
fn records(blocks: u32, factor: f64, multiple: f64, seed: u32) -> Vec<Record> {
    (0..blocks)
        .flat_map(|block| {
            let value = |of: f64, place| {
                (of * 10_000.0 * factor) as i64 * (1000 + noise(block, place, seed)) / 1000
            };
            [
                task(block, "thread", "1", value(1.0, 0)).series("faults_count", 1, &[3]).record(),
                task(block, "process", "1", value(multiple, 3))
                    .series("faults_count", 1, &[0])
                    .record(),
            ]
        })
        .collect()
}

fn made(factor: f64, multiple: f64, seed: u32) -> Made {
    Made::named(&format!("s{seed}"), vec![study()], records(BLOCKS, factor, multiple, seed))
}

fn experiment(comparison: &Comparison) -> &ComparedExperiment {
    &comparison.experiments[0]
}

fn row<'a>(comparison: &'a Comparison, response: &str, model: &str) -> &'a ComparedRow {
    let mut rows = experiment(comparison).rows.iter();
    rows.find(|row| row.response == response && row.treatment.level("model") == Some(model))
        .unwrap()
}

fn effect(row: &ComparedRow) -> &SessionEffect {
    row.effects[0].as_ref().unwrap()
}

#[test]
fn what_changed_is_found_with_its_size_and_what_did_not_is_not() {
    let comparison = of_two(&made(1.0, 4.0, 1), &made(1.2, 4.0, 2), &[]);
    for model in ["thread", "process"] {
        let effect = effect(row(&comparison, "task_ns", model));
        let ratio = effect.ratio.unwrap();
        assert!(
            (ratio.point - 1.2).abs() < 0.01 && ratio.low < 1.2 && ratio.high > 1.2,
            "{ratio:?}"
        );
        assert!(effect.differs && effect.p_value.unwrap() < 1e-4, "{effect:?}");
        assert_eq!(effect.unit_of_replication, Replication::Trials);
        // None of the family is left open, so that its verdicts need no more than one number alone.
        assert_eq!(effect.floor, effect.floor_of_verdict);
    }
    // What was formed within the sessions has lost what moved both of its parts.
    let finding = &experiment(&comparison).findings[0];
    let ratio = finding.effects[0].as_ref().unwrap();
    assert!(!ratio.differs && (ratio.ratio.unwrap().point - 1.0).abs() < 0.01, "{ratio:?}");
    assert!((finding.values[0].unwrap().point - 4.0).abs() < 0.05);
    assert!(comparison.warnings.iter().any(|text| text.contains("one session per side (A, B)")));
}

#[test]
fn the_findings_share_their_error_among_themselves_alone() {
    // One finding among so many responses that none of these stands.
    let many = |multiple: f64, seed: u32| {
        let (mut design, mut records) = (study(), records(BLOCKS, 1.0, multiple, seed));
        let more: Vec<Response> =
            (0..200).map(|n| response(&format!("r{n}_ns"), Unit::Ns)).collect();
        for (place, record) in records.iter_mut().enumerate() {
            let measured = record.measured.as_mut().unwrap();
            for (n, response) in more.iter().enumerate() {
                let values = vec![10_000 + 10 * noise(record.block, (place + n) as u32, seed)];
                measured.series.push(Series {
                    response: response.name.as_str().into(),
                    per: 1,
                    values,
                });
            }
        }
        design.responses.extend(more);
        Made::named(&format!("s{seed}"), vec![design], records)
    };
    let base = many(4.0, 1);
    let finding = |multiple: f64| {
        let comparison = of_two(&base, &many(multiple, 2), &[]);
        let rows = experiment(&comparison).rows.clone();
        let found = experiment(&comparison).findings[0].effects[0].clone().unwrap();
        (found, rows)
    };
    // A little more each time, until it stands among the findings.
    let (_, rows) = (0..40)
        .map(|step| finding(4.0 * (1.0 + 0.0005 * f64::from(step))))
        .find(|(found, _)| found.differs)
        .unwrap();
    let floors = rows.iter().map(effect).filter_map(|it| it.floor.zip(it.floor_of_verdict));
    for (alone, among) in floors {
        assert!(among > 1.3 * alone, "{alone} {among}");
    }
}

#[test]
fn counts_without_noise_stand_without_interval() {
    let mut later = made(1.0, 4.0, 2);
    for record in &mut later.records {
        for series in &mut record.measured.as_mut().unwrap().series {
            if series.response == "faults_count" {
                series.values[0] += 1;
            }
        }
    }
    let base = made(1.0, 4.0, 1);
    let same = of_two(&base, &made(1.0, 4.0, 2), &["made_up.faults_count > +0%"]);
    let thread = effect(row(&same, "faults_count", "thread"));
    assert_eq!(thread.ratio.map(|r| (r.point, r.low, r.high)), Some((1.0, 1.0, 1.0)));
    assert_eq!((thread.p_value, thread.differs, thread.floor), (Some(1.0), false, None));
    assert_eq!(same.gates[0].outcome, GateOutcome::Fine, "{:?}", same.gates);
    let other = of_two(&base, &later, &["made_up.faults_count{model=process} > +900%"]);
    let thread = effect(row(&other, "faults_count", "thread"));
    let ratio = thread.ratio.unwrap();
    assert!((ratio.point - 4.0 / 3.0).abs() < 1e-9 && thread.differs, "{thread:?}");
    assert!(ratio.high - ratio.low < 1e-9);
    // From none to one is more than any multiple, in 16 trials of 16.
    let process = effect(row(&other, "faults_count", "process"));
    assert_eq!((process.ratio, process.differs), (None, true));
    assert!(process.p_value.unwrap() > 0.0);
    assert_eq!(other.gates[0].outcome, GateOutcome::Regression);
    let back = of_two(&later, &base, &["made_up.faults_count > +0%"]);
    assert_eq!(back.gates[0].outcome, GateOutcome::Fine);
}

#[test]
fn a_number_that_may_be_0_has_a_ratio_only_where_the_base_is_told_from_it() {
    let of = |values: [i64; 8]| {
        let records = (0..BLOCKS).zip(values.iter().chain(&values).copied());
        Made::new(study(), records.map(|(b, v)| task(b, "thread", "1", v).record()).collect())
    };
    let near = of([3, 0, -2, 5, -4, 1, 0, 2]);
    let far = of([1000, 1010, 990, 1005, 995, 1002, 998, 1000]);
    let lost = of_two(&near, &far, &["made_up > +5%"]);
    let one = effect(row(&lost, "task_ns", "thread"));
    assert_eq!(one.ratio, None);
    assert!(one.differs && one.remark.contains("indistinguishable from 0"), "{one:?}");
    // Then a difference says how much, and its floor is in the same terms.
    let difference = one.difference.unwrap();
    assert!(difference.low > 980.0 && difference.high < 1020.0, "{difference:?}");
    assert!((1.0..100.0).contains(&one.floor.unwrap()), "{one:?}");
    assert_eq!(lost.gates[0].outcome, GateOutcome::CannotTell);
    // The other way round it has: it vanished.
    let gone = of_two(&far, &near, &["made_up < -50%"]);
    let ratio = effect(row(&gone, "task_ns", "thread")).ratio.unwrap();
    assert!(ratio.point.abs() < 0.01 && ratio.high < 0.02 && ratio.low > -0.02, "{ratio:?}");
    assert_eq!(gone.gates[0].outcome, GateOutcome::Regression);
}

type Change = fn(&mut Design);

#[test]
fn another_version_or_definition_is_refused() {
    let base = made(1.0, 4.0, 1);
    let refused = |change: Change| {
        let mut design = study();
        change(&mut design);
        let side = Made::named("s2", vec![design], records(BLOCKS, 1.0, 4.0, 2));
        let comparison = of_two(&base, &side, &["made_up > +5%"]);
        let experiment = experiment(&comparison).clone();
        if experiment.refused.is_some() {
            assert!(experiment.rows.is_empty() && experiment.findings.is_empty());
            assert!(experiment.verdicts.is_empty());
            assert_eq!(comparison.gates[0].outcome, GateOutcome::CannotTell);
        }
        experiment.refused
    };
    let why = refused(|it| it.version = 4).unwrap();
    assert!(why.contains("version 3 in one session and 4"), "{why}");
    let changes: [(Change, &str); 6] = [
        (|it| it.responses[0].card.to = "elsewhere".into(), "task_ns"),
        (|it| it.responses[0].center = model::Center::Mean, "task_ns"),
        (|it| it.responses[0].subtract = Some(Cell::new([("model", "empty")])), "task_ns"),
        (|it| it.responses[2].unit = Unit::Other("x".into()), "faults_count"),
        (|it| it.factors[0].levels[0].about = "another thread".into(), "thread"),
        (|it| it.factors[1].levels[1].value = Some(3.0), "level 2"),
    ];
    for (change, named) in changes {
        let why = refused(change).unwrap();
        assert!(why.contains(named) && why.contains("under the same version"), "{why}");
    }
    // What is not compared may differ.
    assert_eq!(refused(|it| it.responses[0].label = "a task".into()), None);
    assert_eq!(refused(|it| it.question = "Why?".into()), None);
    assert_eq!(refused(|it| it.responses.push(response("more_ns", Unit::Ns))), None);
    let none = Made::named("s2", Vec::new(), Vec::new());
    let why = |a, b| experiment(&of_two(a, b, &[])).refused.clone().unwrap();
    assert_eq!(why(&base, &none), "only the base measured it");
    assert_eq!(why(&none, &base), "the base did not measure it");
}

#[test]
fn a_treatment_that_no_longer_works_is_told_and_passes_no_gate() {
    let base = made(1.0, 4.0, 1);
    let mut records = records(BLOCKS, 1.0, 4.0, 2);
    for record in records.iter_mut().filter(|it| it.treatment.level("model") == Some("process")) {
        record.outcome = Outcome::Failed { reason: "no memory".into() };
        record.measured = None;
    }
    let broken = Made::named("s2", vec![study()], records);
    let comparison = of_two(&base, &broken, &["made_up > +5%"]);
    let one = row(&comparison, "task_ns", "process");
    assert!(one.values[0].is_some() && one.values[1].is_none());
    assert!(effect(one).remark.contains("this side has no number: failed, no memory"), "{one:?}");
    let gate = &comparison.gates[0];
    assert_eq!(gate.outcome, GateOutcome::CannotTell);
    assert!(gate.reason.contains("1 of them without a number"), "{}", gate.reason);
    let counts: Vec<GateOutcome> = gate.looked_at.iter().map(|look| look.outcome).collect();
    assert_eq!(counts, [GateOutcome::CannotTell, GateOutcome::Fine]);
    // What was not planned on both sides is counted, and no gate passes on what it cannot see.
    let half = base.records.iter().filter(|it| it.treatment.level("model") == Some("thread"));
    let half = Made::named("s3", vec![study()], half.cloned().collect());
    let comparison = of_two(&base, &half, &["made_up > +5%"]);
    assert_eq!(experiment(&comparison).treatments_left_out, 1);
    assert_eq!(comparison.gates[0].outcome, GateOutcome::CannotTell, "{:?}", comparison.gates);
}

#[test]
fn with_several_sessions_on_both_sides_the_session_is_the_unit() {
    let base: Vec<Made> =
        [1.00, 1.03, 0.98].into_iter().zip(1..).map(|(f, s)| made(f, 4.0, s)).collect();
    let side: Vec<Made> =
        [1.02, 0.99, 1.00].into_iter().zip(4..).map(|(f, s)| made(f, 4.0, s)).collect();
    let (a, b): (Vec<&Made>, Vec<&Made>) = (base.iter().collect(), side.iter().collect());
    let by_session = compared_with(&[&a, &b], &[]);
    let by_trial = compared_with(&[&a[..1], &b[..1]], &[]);
    let width = |it: &Estimate| it.high - it.low;
    let (session, trial) = (
        effect(row(&by_session, "task_ns", "thread")).clone(),
        effect(row(&by_trial, "task_ns", "thread")).clone(),
    );
    assert_eq!(session.unit_of_replication, Replication::Sessions);
    assert!(trial.differs && !session.differs, "{trial:?} {session:?}");
    assert!(width(&session.ratio.unwrap()) > 4.0 * width(&trial.ratio.unwrap()));
    assert_eq!(session.ratio.unwrap().samples, 3);
    // Welch's t by hand: ln of 1.00, 1.03, 0.98 against 1.02, 0.99, 1.00.
    let logs = |of: [f64; 3]| of.map(f64::ln);
    let (x, y) = (logs([1.02, 0.99, 1.0]), logs([1.0, 1.03, 0.98]));
    let mean = |v: [f64; 3]| v.iter().sum::<f64>() / 3.0;
    assert!((session.ratio.unwrap().point.ln() - (mean(x) - mean(y))).abs() < 2e-3);
    assert!(!by_session.warnings.iter().any(|text| text.contains("one session per side")));
    assert!(by_trial.warnings.iter().any(|text| text.contains("one session per side")));
    // One session against three: by trial, and said.
    let mixed = compared_with(&[&a, &b[..1]], &[]);
    let one = effect(row(&mixed, "task_ns", "thread"));
    assert_eq!(one.unit_of_replication, Replication::Trials);
    assert!(mixed.warnings.iter().any(|text| text.contains("one session per side (B)")));
}

#[test]
fn facts_that_differ_are_told_with_their_weight() {
    let base = made(1.0, 4.0, 1);
    let mut side = made(1.0, 4.0, 2);
    let environment = &mut side.manifest.environment;
    environment.kernel = "6.99".into();
    environment.load = 0.4;
    environment.settings.insert("thp".into(), "always".into());
    environment.settings.insert("seccomp".into(), "1 filter".into());
    side.manifest.shield.means = vec!["nice -20".into()];
    side.manifest.options.cpus = vec![0, 1, 2, 5];
    let comparison = of_two(&base, &side, &[]);
    let said: Vec<(&str, &str, Weight)> = comparison
        .facts
        .iter()
        .map(|row| (row.name.as_str(), row.values[1].as_str(), row.weight))
        .collect();
    assert_eq!(
        said,
        [
            ("shield", "nice -20", Weight::Nuisance),
            ("setting seccomp", "1 filter", Weight::Nuisance),
            ("kernel", "6.99", Weight::Subject),
            ("CPUs of the trials", "0-2,5", Weight::Subject),
            ("setting thp", "always", Weight::Subject),
        ]
    );
    side.manifest.environment.load = 0.6;
    assert!(of_two(&base, &side, &[]).facts.iter().any(|row| row.name == "load when it began"));
    assert!(of_two(&base, &made(1.0, 4.0, 2), &[]).facts.is_empty());
}

#[test]
fn the_same_session_twice_and_doubtful_sessions_are_said() {
    let base = made(1.0, 4.0, 1);
    let twice = of_two(&base, &base, &["made_up > +5%"]);
    assert!(twice.warnings[0].contains("s1 stands here more than once"), "{:?}", twice.warnings);
    let effects = experiment(&twice).rows.iter().flat_map(|row| &row.effects).flatten();
    for effect in effects {
        assert!(!effect.differs);
        assert!(effect.ratio.is_none_or(|ratio| (ratio.point - 1.0).abs() < 1e-12));
    }
    let mut cut = made(1.0, 4.0, 2);
    cut.complete = false;
    cut.manifest.environment.machine = "b".into();
    let mut third = made(1.0, 4.0, 3);
    third.manifest.environment.machine = "a".into();
    let said = of_two(&base, &cut, &[]).warnings.join("\n");
    assert!(said.contains("B: not complete") && said.contains("no A/A control"), "{said}");
    // Sessions of one side that are not of one setting.
    let mixed = compared_with(&[&[&base], &[&third, &cut]], &[]).warnings.join("\n");
    assert!(mixed.contains("The sessions of B are not of one setting: machine differ"), "{mixed}");
}

#[test]
fn a_side_without_a_control_is_not_known_and_not_distrusted() {
    let control = |factor: f64| {
        let mut design = study();
        let other = Cell::new([("model", "process"), ("n", "1")]);
        design.controls = vec![Control { response: "task_ns".into(), a: cell("thread"), b: other }];
        Made::named("s", vec![design], records(BLOCKS, 1.0, factor, 1))
    };
    let (alike, apart, empty) = (control(1.0), control(4.0), {
        let made = control(1.0);
        Made::named("none", made.manifest.designs, Vec::new())
    });
    let trusted = |sides: &[&[&Made]]| -> Vec<Option<bool>> {
        compared_with(sides, &[]).sides.iter().map(|side| side.trusted).collect()
    };
    assert_eq!(trusted(&[&[&alike], &[&apart], &[&empty]]), [Some(true), Some(false), None]);
    assert_eq!(trusted(&[&[&alike, &empty], &[&apart, &empty]]), [None, Some(false)]);
    // One of two is chance in one case of ten, two of two in one of 400; three of 20 in 7.5 % (binomial).
    let many = |bad: usize, all: usize| -> Vec<Made> {
        (0..all).map(|at| control(if at < bad { 4.0 } else { 1.0 })).collect()
    };
    for (bad, all, expected) in [(1, 2, true), (2, 2, false), (3, 20, true), (4, 20, false)] {
        let made = many(bad, all);
        let side: Vec<&Made> = made.iter().collect();
        assert_eq!(trusted(&[&[&alike], &side])[1], Some(expected), "{bad} of {all}");
    }
    let said = of_two(&alike, &empty, &[]).warnings.join("\n");
    assert!(said.contains("B: it has no A/A control") && !said.contains("identical"), "{said}");
}

#[test]
fn claims_are_shown_where_they_are_not_answered_alike() {
    let comparison = of_two(&made(1.0, 4.0, 1), &made(1.0, 2.0, 2), &[]);
    let verdicts = &experiment(&comparison).verdicts;
    assert_eq!(verdicts.len(), 1);
    use model::Verdict::{Inconclusive, Refuted, Supported};
    assert_eq!(verdicts[0].verdicts, [Some(Supported), Some(Refuted)]);
    assert!(experiment(&of_two(&made(1.0, 4.0, 1), &made(1.0, 5.0, 2), &[])).verdicts.is_empty());
    let (four, two) = (made(1.0, 4.0, 2), made(1.0, 2.0, 3));
    let torn = compared_with(&[&[&made(1.0, 4.0, 1)], &[&four, &two]], &[]);
    assert_eq!(experiment(&torn).verdicts[0].verdicts, [Some(Supported), Some(Inconclusive)]);
}

#[test]
fn the_same_computation_is_the_control_between_sessions() {
    let null = |factor: f64, seed: u32| {
        let mut design = study();
        design.id = "null".into();
        let a = Cell::new([("model", "thread"), ("n", "1")]);
        let b = Cell::new([("model", "empty"), ("n", "1")]);
        design.controls = vec![Control { response: "task_ns".into(), a, b }];
        let mut records = records(BLOCKS, factor, 4.0, seed);
        for record in &mut records {
            record.experiment = "null".into();
        }
        Made::named(&format!("s{seed}"), vec![design], records)
    };
    let same = of_two(&null(1.0, 1), &null(1.0, 2), &[]);
    let control = same.controls[0].as_ref().unwrap();
    assert!(
        !control.differs && control.remark.contains("task_ns at model=thread n=1"),
        "{control:?}"
    );
    let slow = of_two(&null(1.0, 1), &null(1.1, 2), &[]);
    assert!(slow.controls[0].as_ref().unwrap().differs);
    assert!(slow.warnings.iter().any(|text| text.contains("The same computation")));
    let none = of_two(&made(1.0, 4.0, 1), &made(1.0, 4.0, 2), &[]);
    assert_eq!(none.controls, [None]);
    assert!(none.warnings.iter().any(|text| text.contains("lacks the experiment null")));
}

#[test]
fn two_clocks_are_never_compared() {
    // On one side a neighbour takes half of the CPU from all trials; on the other the process uses
    // half a CPU or two of them.
    let of = |seed: u32, disturbed: bool, cpus_of_process: f64| {
        let mut records = records(BLOCKS, 1.0, 4.0, seed);
        for record in &mut records {
            let process = record.treatment.level("model") == Some("process");
            let measured = record.measured.as_mut().unwrap();
            let time = &mut measured.series[0].values[0];
            let cpus = if process { cpus_of_process } else { 1.0 };
            let cpu = (*time as f64 * cpus) as u64;
            let waited = if disturbed { cpu } else { 0 };
            *time += waited as i64;
            let counters = &mut measured.counters;
            counters.wall_ns = *time as u64;
            (counters.user_ns, counters.system_ns) = (Some(cpu), Some(0));
            (counters.on_cpu_ns, counters.queue_wait_ns) = (Some(cpu), Some(waited));
            record.machine.foreign_cpu_ns = Some(waited);
        }
        Made::named(&format!("s{seed}"), vec![study()], records)
    };
    let found = |base: &Made, side: &Made| {
        let comparison = of_two(base, side, &[]);
        let finding = &experiment(&comparison).findings[0];
        let effect = finding.effects[0].clone().unwrap();
        (finding.values[0].unwrap().point, finding.values[1].unwrap().point, effect.remark)
    };
    let (quiet, busy) = (of(1, false, 1.0), of(2, true, 1.0));
    for (base, side) in [(&quiet, &busy), (&busy, &of(3, false, 0.5))] {
        let (base, side, remark) = found(base, side);
        assert!((base - 4.0).abs() < 0.1 && (side - 4.0).abs() < 0.1, "{base} {side}");
        assert!(remark.contains("other programs took, on all sides"), "{remark}");
    }
    // What was taken from work on two CPUs nobody knows.
    let (base, side, remark) = found(&busy, &of(4, false, 2.0));
    assert!((base - 4.0).abs() < 0.1 && (side - 4.0).abs() < 0.1, "{base} {side}");
    assert!(remark.contains("how much is not known on one side"), "{remark}");
}

#[test]
fn shares_and_frequencies_have_differences() {
    let mut design = study();
    design.responses.push(response("lost_count", Unit::Count));
    design.findings = vec![Finding {
        id: "lost".into(),
        sentence: "{} are lost.".into(),
        quantity: Quantity::Frequency { response: "lost_count".into(), among: Cell::default() },
        drives: false,
    }];
    let of = |lost: i64, seed: u32| {
        let mut records = records(BLOCKS, 1.0, 4.0, seed);
        for record in &mut records {
            let series = &mut record.measured.as_mut().unwrap().series;
            series.push(model::Series {
                response: "lost_count".into(),
                per: 1000,
                values: vec![lost],
            });
        }
        Made::named(&format!("s{seed}"), vec![design.clone()], records)
    };
    let comparison = of_two(&of(100, 1), &of(300, 2), &[]);
    let found = experiment(&comparison).findings[0].effects[0].clone().unwrap();
    assert_eq!(found.ratio, None);
    let difference = found.difference.unwrap();
    assert!((difference.point - 0.2).abs() < 1e-9 && found.differs, "{found:?}");
    // 32 trials that agree may still be rare ones of many: the limits are by trials.
    assert!(difference.low > 0.05 && difference.high < 0.3, "{difference:?}");
    let same = of_two(&of(100, 1), &of(100, 2), &[]);
    assert!(!experiment(&same).findings[0].effects[0].as_ref().unwrap().differs);
}

#[test]
fn nothing_at_all_is_a_comparison_of_nothing() {
    let none = Made::named("s0", Vec::new(), Vec::new());
    let comparison = of_two(&none, &none, &["made_up > +5%"]);
    assert!(comparison.experiments.is_empty());
    assert_eq!(comparison.gates[0].outcome, GateOutcome::CannotTell);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..proptest::prelude::ProptestConfig::default()
    })]

    #[test]
    fn any_numbers_compare_without_panic_and_the_other_way_round_is_the_inverse(
        of in proptest::collection::vec(-5_i64..4_000_000_000, 0..9),
        to in proptest::collection::vec(-5_i64..4_000_000_000, 0..9),
    ) {
        let made = |values: &[i64], name: &str| {
            let records = (0..).zip(values).map(|(b, v)| task(b, "thread", "1", *v).record());
            Made::named(name, vec![study()], records.collect())
        };
        let (base, side) = (made(&to, "s1"), made(&of, "s2"));
        let there = of_two(&base, &side, &["made_up > +5%", "made_up < -5%"]);
        let back = of_two(&side, &base, &[]);
        for (one, other) in there.experiments.iter().zip(&back.experiments) {
            for (row, inverse) in one.rows.iter().zip(&other.rows) {
                let ratios = (effect(row).ratio, effect(inverse).ratio);
                if let (Some(a), Some(b)) = ratios {
                    proptest::prop_assert!(a.low <= a.point && a.point <= a.high);
                    if of.iter().chain(&to).all(|v| *v > 0) {
                        proptest::prop_assert!((a.point * b.point - 1.0).abs() < 1e-9);
                        proptest::prop_assert!((a.low * b.high - 1.0).abs() < 1e-9);
                    }
                }
                proptest::prop_assert_eq!(effect(row).differs, effect(inverse).differs);
            }
        }
    }
}
