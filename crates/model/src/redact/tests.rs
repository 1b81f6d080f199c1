use super::*;
use crate::{
    Cell, Claim, Factor, Figure, Finding, GOROUTINES, Level, Metric, Pick, Plot, Quantity, Region,
    Response, Stream, Subject, Surroundings, Treatment, Unit, WaitKind, measures,
};

/// What nobody may find.
const PLANT: &str = "zqxplant";

/// A text that holds the plant.
fn plant(n: u32) -> String {
    format!("{PLANT}_{n}")
}

fn no_programs(_: &str, _: &[ProgramFile]) -> Option<Design> {
    None
}

fn environment() -> Environment {
    Environment {
        host: plant(1),
        machine: "0123456789abcdef0123456789abcdef".into(),
        boot: plant(2),
        kernel: "6.1.0".into(),
        settings: [("thp".into(), "always".into()), ("x".into(), format!("/srv/{}", plant(3)))]
            .into(),
        neighbours: vec![Neighbour { name: plant(4), cpu_share: 0.5 }],
        ..Environment::default()
    }
}

/// A study every word of which the user chose.
fn study() -> Design {
    let level = |n: u32| Level { label: plant(n), ..Level::new(&plant(n), &plant(n)) };
    let factor = Factor {
        name: plant(10),
        about: plant(11),
        label: plant(12),
        levels: vec![level(13), level(14), Level::number(8, &plant(15))],
        baseline: plant(13),
        unit: Some(Unit::Other(plant(16))),
    };
    let metric = format!("{}_ns", plant(17));
    let mut response =
        Response::new(&metric, &plant(18), Unit::Ns, crate::Card::new(&plant(19), "", "", ""));
    response.subtract = Some(Cell::new([(&plant(10), &plant(14))]));
    let wall = Response::new(
        measures::WALL,
        "elapsed time",
        Unit::Ns,
        crate::Card::new("its start", "", "", ""),
    );
    let at = |n: u32| Cell::new([(&plant(10), &plant(n))]);
    let quantity = Quantity::Ratio { response: metric.clone(), of: at(14), to: at(13) };
    Design {
        id: plant(20),
        version: 1,
        question: plant(21),
        words: vec![plant(22)],
        grids: vec![crate::Grid {
            from: crate::Profile::Smoke,
            vary: vec![(plant(10), vec![plant(14), "8".into()])],
        }],
        findings: vec![Finding {
            id: plant(23),
            sentence: format!("{} {{}}", plant(24)),
            quantity: quantity.clone(),
            drives: true,
        }],
        claims: vec![Claim {
            id: plant(25),
            text: plant(26),
            source: plant(27),
            mechanism: plant(28),
            quantity: quantity.clone(),
            holds_if: Region::below(2.0),
            note: plant(29),
            shown: String::new(),
        }],
        figures: vec![Figure {
            id: plant(30),
            title: plant(31),
            plot: Plot {
                responses: vec![metric.clone()],
                over: Some(plant(10)),
                by: vec![plant(10)],
                at: [(plant(10), vec![plant(13)])].into(),
                ..Plot::default()
            },
            ..Figure::default()
        }],
        controls: vec![crate::Control { response: metric.clone(), a: at(13), b: at(14) }],
        factors: vec![factor, measures::again()],
        responses: vec![response, wall],
        subject: Some(subject(metric)),
        ..Design::default()
    }
}

fn subject(metric: String) -> Subject {
    Subject {
        command: vec![plant(40), format!("{{{}}}", plant(10))],
        prepare: vec![vec![plant(41)]],
        cleanup: vec![vec![plant(42)]],
        folder: plant(43),
        environment: [(plant(44), plant(45))].into(),
        withheld: [(plant(46), plant(47))].into(),
        stdin: plant(48),
        words: [(plant(10), [(plant(13), plant(49))].into())].into(),
        lists: [(plant(10), [(plant(14), vec![plant(50)])].into())].into(),
        workers: format!("{{{}}}", plant(10)),
        with: vec![plant(51)],
        exit_codes: vec![0, 3],
        metrics: vec![Metric {
            response: metric,
            from: Stream::Stdout,
            pick: Pick::Regex(plant(52)),
            ..Metric::default()
        }],
        ..Subject::default()
    }
}

fn manifest(design: Design, inquiry: Option<Inquiry>) -> Manifest {
    Manifest {
        format: 1,
        scruple: "0.1.0".into(),
        session: plant(60),
        started_unix_ms: 5,
        seed: 7,
        command: vec![plant(61)],
        options: Options {
            experiments: vec![design.id.clone()],
            inquiry,
            study: Some(plant(62)),
            ..Options::default()
        },
        environment: environment(),
        shield: ShieldReport {
            means: vec!["nice -20".into()],
            missing: vec![format!("no /sys/fs/{}", plant(63))],
            ..ShieldReport::default()
        },
        designs: vec![design],
        redacted: false,
        runs: Vec::new(),
    }
}

fn wait(n: u32) -> Wait {
    Wait {
        kind: WaitKind::Lock,
        what: plant(n),
        place: plant(n + 1),
        holder: plant(n + 2),
        ns: 9,
        idle_ns: 4,
        still_ns: 8,
        turns_ns: 0,
        looks: 7,
        lasting: 6,
        renewed: 5,
    }
}

fn record(design: &Design, treatment: Treatment) -> Record {
    let runner = Runner {
        name: plant(72),
        is_first: true,
        cpu_ns: 1,
        idle_ns: 2,
        absent_ns: 3,
        alone_ns: 4,
        together_ns: 5,
    };
    let waits = Waits {
        waits: vec![wait(70), wait(70), Wait { what: GOROUTINES.into(), ..wait(80) }],
        runners: vec![runner],
        peers: vec![Peer { name: plant(90), cpu_ns: 1 }],
        unasked: plant(91),
        ..Waits::default()
    };
    let exhibit = crate::Exhibit {
        title: plant(92),
        columns: vec![plant(93)],
        rows: vec![vec![plant(94)]],
        rows_left_out: 0,
        pictured: false,
    };
    Record {
        trial: 3,
        experiment: design.id.as_str().into(),
        block: 1,
        position: 2,
        treatment,
        started_unix_ms: 4,
        padding_bytes: 5,
        outcome: Outcome::Failed { reason: plant(95) },
        observed: [("exit_code", "0"), ("no_pss", PLANT)].into_iter().collect(),
        measured: Some(Measured {
            series: vec![Series {
                response: design.responses[0].name.as_str().into(),
                per: 1,
                values: vec![1, 2],
            }],
            exhibits: vec![exhibit],
            waits: Some(Box::new(waits)),
            ..Measured::default()
        }),
        process: None,
        spawn_to_ready_ns: None,
        harness_ns: None,
        measuring_ns: None,
        total_ns: 6,
        runner_cpu_ns: None,
        machine: Surroundings::default(),
        log: plant(96),
    }
}

fn redaction(manifest: &Manifest) -> Redaction {
    Redaction::new(manifest, "s".into(), no_programs).expect("no program file is in it")
}

#[test]
fn nothing_that_a_user_wrote_is_left_of_a_study() {
    for inquiry in [Some(Inquiry::Study), None] {
        let manifest = manifest(study(), inquiry);
        let mut redaction = redaction(&manifest);
        let json = serde_json::to_string(redaction.manifest()).expect("it is JSON");
        assert!(!json.contains(PLANT), "{json}");
        assert_eq!(redaction.manifest().check(), Ok(()));
        let design = redaction.manifest().designs[0].clone();
        let planned = design.treatments(crate::Profile::Smoke);
        let originals = manifest.designs[0].treatments(crate::Profile::Smoke);
        assert_eq!(planned.len(), originals.len());
        for treatment in originals {
            let record = redaction.record(&record(&manifest.designs[0], treatment));
            let json = serde_json::to_string(&record).expect("it is JSON");
            assert!(!json.contains(PLANT), "{json}");
            assert!(planned.contains(&record.treatment), "{}", record.treatment);
            assert!(
                design
                    .response(&record.measured.expect("it measured").series[0].response)
                    .is_some()
            );
        }
    }
}

#[test]
fn what_a_comparison_needs_stays() {
    let manifest = manifest(study(), Some(Inquiry::Study));
    let redaction = redaction(&manifest);
    let redacted = redaction.manifest();
    let environment = &redacted.environment;
    assert_eq!(environment.machine, manifest.environment.machine);
    assert_eq!((environment.kernel.as_str(), environment.settings.len()), ("6.1.0", 1));
    assert_eq!(environment.neighbours[0].cpu_share, 0.5);
    assert_eq!((redacted.seed, redacted.started_unix_ms, redacted.redacted), (7, 5, true));
    let design = &redacted.designs[0];
    let names: Vec<&str> =
        design.factors[0].levels.iter().map(|level| level.name.as_str()).collect();
    assert_eq!(names, ["f1_level_1", "f1_level_2", "8"]);
    assert_eq!(design.factors[1], measures::again());
    assert_eq!(design.responses[0].name, "metric_1_ns");
    assert_eq!(design.responses[1], manifest.designs[0].responses[1]);
    assert_eq!(design.claims[0].holds_if, Region::below(2.0));
    assert_eq!(design.subject.as_ref().map(|it| it.exit_codes.clone()), Some(vec![0, 3]));
    assert!(design.findings[0].sentence.contains("{}"));
    // Once more, nothing changes.
    assert_eq!(self::redaction(redacted).manifest(), redacted);
}

#[test]
fn one_thing_that_is_waited_for_has_one_name_and_the_constants_of_scruple_stay() {
    let manifest = manifest(study(), Some(Inquiry::Study));
    let mut redaction = redaction(&manifest);
    let mut waits = || {
        let record = redaction.record(&record(&manifest.designs[0], Treatment::default()));
        record.measured.and_then(|measured| measured.waits).expect("it waited")
    };
    let (first, second) = (waits(), waits());
    assert_eq!(first, second);
    assert_eq!(first.waits[0], first.waits[1]);
    assert_eq!(first.waits[2].what, GOROUTINES);
    // The holder of the lock is the thread of that name.
    assert_eq!(first.waits[0].holder, first.runners[0].name);
    assert_eq!(first.waits[0].ns, 9);
}

#[test]
fn the_catalog_s_own_words_stay_and_paths_go() {
    let design =
        Design { id: "create".into(), question: "What does it cost?".into(), ..Design::default() };
    let manifest = manifest(design.clone(), None);
    let mut redaction = redaction(&manifest);
    assert_eq!(redaction.manifest().designs, std::slice::from_ref(&design));
    assert_eq!(redaction.manifest().shield.missing, [A_PATH]);
    let with = |outcome: Outcome| {
        let design = Design {
            responses: vec![Response::new("a_ns", "", Unit::Ns, Default::default())],
            ..design.clone()
        };
        let observed = [("malloc_of", "/srv/me/lib.so"), ("cores", "two")].into_iter().collect();
        Record { outcome, observed, ..record(&design, Treatment::default()) }
    };
    let mut reason = |reason: &str| {
        let record = redaction.record(&with(Outcome::Unsupported { reason: reason.into() }));
        assert_eq!(record.observed.len(), 1);
        match record.outcome {
            Outcome::Unsupported { reason } => reason,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(reason("needs 2 CPUs"), "needs 2 CPUs");
    assert_eq!(reason("cannot open /srv/me/a b"), A_PATH);
}

#[test]
fn program_files_are_numbered() {
    let file = |level: &str| ProgramFile {
        level: level.into(),
        path: format!("/srv/{level}"),
        sha256: "0".repeat(64),
        about: level.into(),
        instructions_max: 1,
        ..ProgramFile::default()
    };
    let design = |id: &str, programs: &[ProgramFile]| Design {
        id: id.into(),
        factors: vec![Factor {
            name: "program".into(),
            levels: programs.iter().map(|it| Level::new(&it.level, &it.about)).collect(),
            baseline: programs[0].level.clone(),
            ..Factor::default()
        }],
        responses: vec![Response::new("a_ns", "", Unit::Ns, Default::default())],
        programs: programs.to_vec(),
        ..Design::default()
    };
    let made = design("icache", &[file(&plant(1)), file(&plant(2))]);
    let manifest = manifest(made.clone(), None);
    let mut redaction = Redaction::new(&manifest, "s".into(), |id, all| Some(design(id, all)))
        .expect("it is of this version");
    let json = serde_json::to_string(redaction.manifest()).expect("it is JSON");
    assert!(!json.contains(PLANT), "{json}");
    let treatment = Treatment::from_iter([("program".to_string(), plant(2))]);
    let record = redaction.record(&record(&made, treatment));
    assert_eq!(record.treatment.level("program"), Some("program_2"));
    let refused =
        Redaction::new(&manifest, "s".into(), no_programs).expect_err("it is of another version");
    assert!(refused.contains("another version"), "{refused}");
}
