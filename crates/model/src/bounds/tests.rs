use super::*;
use crate::{
    Account, Card, Cell, Center, Claim, Control, Diagnosis, Environment, Factor, Figure, Finding,
    Grid, Level, Options, Part, Planted, Plot, Quantity, Region, Response, ShieldReport, Suspect,
    Term, Unit,
};

fn factor(name: &str, levels: usize) -> Factor {
    let level = |at: usize| Level::new(&at.to_string(), "");
    Factor {
        name: name.into(),
        about: String::new(),
        levels: (0..levels).map(level).collect(),
        baseline: "0".into(),
        ..Factor::default()
    }
}

fn response(name: &str) -> Response {
    Response {
        name: name.into(),
        label: String::new(),
        unit: Unit::Ns,
        center: Center::Median,
        cpu_twin: None,
        subtract: None,
        exact: false,
        independent: false,
        limits: Vec::new(),
        card: Card::default(),
    }
}

fn value() -> Quantity {
    Quantity::Value { response: "wall_ns".into(), at: Cell::default() }
}

fn finding(id: String) -> Finding {
    Finding { id, sentence: "It takes {}.".into(), quantity: value(), drives: false }
}

fn design(id: &str) -> Design {
    Design {
        id: id.into(),
        factors: vec![factor("count", 4)],
        responses: vec![response("wall_ns")],
        ..Design::default()
    }
}

fn manifest(designs: Vec<Design>) -> Manifest {
    Manifest {
        format: 1,
        scruple: String::new(),
        session: String::new(),
        started_unix_ms: 0,
        seed: 0,
        command: Vec::new(),
        options: Options::default(),
        environment: Environment::default(),
        shield: ShieldReport::default(),
        designs,
        redacted: false,
        runs: Vec::new(),
    }
}

/// A design that was honest before it was changed, and what is said of it.
fn refused(change: impl FnOnce(&mut Design)) -> String {
    let mut honest = design("sample");
    honest.check().expect("it is honest");
    change(&mut honest);
    honest.check().expect_err("it was changed").to_string()
}

#[test]
fn a_grid_that_explodes_is_refused_before_it_is_expanded() {
    // 16^8 treatments would be more than all memory; to count them takes no time.
    let said = refused(|design| {
        design.factors = (0..8).map(|at| factor(&format!("f{at}"), 16)).collect();
    });
    assert!(said.contains("4294967296 treatments are more than 4096"), "{said}");
    // So would a grid that varies one factor again and again, though no treatment is new.
    let said = refused(|design| {
        let vary = vec![(String::from("count"), Vec::new()); FACTORS_MAX];
        design.grids = vec![Grid { from: Profile::Smoke, vary }];
    });
    assert!(said.contains("treatments are more than"), "{said}");
    // A product that does not fit a number is a large one.
    let said = refused(|design| {
        design.factors = (0..32).map(|at| factor(&format!("f{at}"), ENTRIES_MAX)).collect();
    });
    assert!(said.contains("treatments are more than"), "{said}");
}

#[test]
fn treatments_are_counted_before_they_are_made() {
    let mut sample = design("sample");
    sample.factors.push(factor("model", 3));
    assert_eq!(sample.treatments_at_most(Profile::Smoke), sample.treatments(Profile::Smoke).len());
    let all = |name: &str| (name.to_string(), Vec::new());
    let two = |name: &str| (name.to_string(), vec!["0".to_string(), "2".to_string()]);
    sample.grids = vec![
        Grid { from: Profile::Smoke, vary: vec![two("count"), all("model")] },
        Grid { from: Profile::Quick, vary: vec![all("count")] },
    ];
    assert_eq!(sample.treatments_at_most(Profile::Smoke), 6);
    assert_eq!(sample.treatments(Profile::Smoke).len(), 6);
    // Two of the four stand in the first grid, too.
    assert_eq!(sample.treatments_at_most(Profile::Quick), 10);
    assert_eq!(sample.treatments(Profile::Quick).len(), 8);
    // The largest that is allowed can be made.
    sample.grids.clear();
    sample.factors = (0..3).map(|at| factor(&format!("f{at}"), 16)).collect();
    sample.check().expect("as many as are allowed");
    assert_eq!(sample.treatments(Profile::Smoke).len(), TREATMENTS_MAX);
}

#[test]
fn every_list_has_an_end() {
    let many = ENTRIES_MAX + 1;
    type Change = Box<dyn FnOnce(&mut Design)>;
    let changes: Vec<(&str, Change)> = vec![
        ("factors", Box::new(|it| it.factors = vec![factor("a", 1); FACTORS_MAX + 1])),
        ("levels", Box::new(move |it| it.factors[0] = factor("count", many))),
        (
            "grids",
            Box::new(move |it| {
                it.grids = vec![Grid { from: Profile::Smoke, vary: Vec::new() }; many];
            }),
        ),
        (
            "levels of a grid's factor",
            Box::new(move |it| {
                let vary = vec![("count".into(), vec!["0".into(); many])];
                it.grids = vec![Grid { from: Profile::Smoke, vary }];
            }),
        ),
        ("responses", Box::new(move |it| it.responses = vec![response("a_ns"); many])),
        ("findings", Box::new(move |it| it.findings = vec![finding("f".into()); many])),
        ("claims", Box::new(move |it| it.claims = vec![claim(); many])),
        ("controls", Box::new(move |it| it.controls = vec![control("wall_ns"); many])),
        ("accounts", Box::new(move |it| it.accounts = vec![account(0); many])),
        ("parts", Box::new(move |it| it.accounts = vec![account(many)])),
        ("figures", Box::new(move |it| it.figures = vec![figure("wall_ns", 1); many])),
        ("count", Box::new(move |it| it.figures = vec![figure("wall_ns", many)])),
        ("known answers", Box::new(move |it| it.planted = vec![planted(); many])),
        ("diagnoses", Box::new(move |it| it.diagnoses = vec![diagnosis(0, None); many])),
        ("suspects", Box::new(move |it| it.diagnoses = vec![diagnosis(many, None)])),
        ("privileges", Box::new(move |it| it.needs.privileges = vec![String::new(); many])),
    ];
    for (what, change) in changes {
        let said = refused(change);
        assert!(said.contains(what) && said.contains("more than"), "{what}: {said}");
        assert!(said.len() < 300, "{said}");
    }
}

#[test]
fn names_and_texts_have_an_end() {
    let long = "x".repeat(TEXT_BYTES_MAX + 1);
    let named = long.clone();
    let said = refused(move |it| it.id = named);
    assert!(said.contains("longer than") && said.len() < 300, "{said}");
    let named = long.clone();
    let said = refused(move |it| it.factors[0].levels[1].name = named);
    assert!(said.contains("longer than 256") && said.len() < 300, "{said}");
    let said = refused(move |it| it.responses[0].label = long);
    assert!(said.contains("longer than 16384") && said.len() < 300, "{said}");
    let said = refused(|it| it.time_limit_ms = u64::MAX);
    assert!(said.contains("time limit"), "{said}");
}

#[test]
fn what_is_named_must_be_there_and_be_one() {
    for (said, part) in [
        (refused(|it| it.responses.push(response("wall_ns"))), "two responses of the name"),
        (refused(|it| it.factors.push(factor("count", 2))), "two factors of the name"),
        (refused(|it| it.controls = vec![control("cpu_ns")]), "cpu_ns is no response"),
        (refused(|it| it.diagnoses = vec![diagnosis(1, Some("b"))]), "b is no suspect"),
        (
            refused(|it| it.figures = vec![figure("cpu_ns", 1)]),
            "shows cpu_ns, which is no response",
        ),
        (
            refused(|it| {
                it.figures = vec![figure("wall_ns", 1)];
                it.figures[0].plot.by = vec!["size".into()];
            }),
            "size is no factor",
        ),
        (
            refused(|it| {
                let (response, over, at) = ("wall_ns".into(), "size".into(), Cell::default());
                it.findings = vec![Finding {
                    quantity: Quantity::Exponent { response, over, at },
                    ..finding("f".into())
                }];
            }),
            "size is no factor",
        ),
    ] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn what_many_designs_add_up_to_has_an_end() {
    let named = |at: usize| design(&format!("d{at}"));
    let told = |designs: Vec<Design>| manifest(designs).check().expect_err("too much");
    manifest((0..DESIGNS_MAX).map(named).collect()).check().expect("as many as are allowed");
    assert!(told((0..=DESIGNS_MAX).map(named).collect()).contains("designs are more than"));
    assert!(told(vec![named(1), named(1)]).contains("twice"));
    let large = |at: usize| {
        let factors = (0..3).map(|of| factor(&format!("f{of}"), 16)).collect();
        Design { factors, ..named(at) }
    };
    let said = told((0..=SESSION_TREATMENTS_MAX / TREATMENTS_MAX).map(large).collect());
    assert!(said.contains("treatments in all are more than"), "{said}");
    let findings = |at: usize| {
        let findings = (0..ENTRIES_MAX).map(|of| finding(of.to_string())).collect();
        Design { findings, ..named(at) }
    };
    let said = told((0..=SESSION_QUANTITIES_MAX / ENTRIES_MAX).map(findings).collect());
    assert!(said.contains("quantities in all are more than"), "{said}");
    let wrong = Design { id: "\u{1b}[31m".into(), ..named(1) };
    assert!(told(vec![wrong]).contains("its id must be a word"));
}

fn claim() -> Claim {
    Claim {
        id: "c".into(),
        text: String::new(),
        source: String::new(),
        mechanism: String::new(),
        quantity: value(),
        holds_if: Region::above(1.0),
        note: String::new(),
        shown: String::new(),
    }
}

fn figure(response: &str, levels: usize) -> Figure {
    let at = [("count".to_string(), vec!["0".to_string(); levels])].into();
    let plot = Plot { responses: vec![response.into()], at, ..Plot::default() };
    Figure { id: "f".into(), plot, ..Figure::default() }
}

fn control(response: &str) -> Control {
    Control { response: response.into(), a: Cell::default(), b: Cell::default() }
}

fn account(parts: usize) -> Account {
    let known = Term::Known { value: 1.0 };
    let part = Part { label: String::new(), count: known.clone(), each: known.clone() };
    Account { id: "a".into(), title: String::new(), total: known, parts: vec![part; parts] }
}

fn planted() -> Planted {
    let (id, what) = ("p".into(), String::new());
    Planted { id, what, quantity: value(), without: 1.0, truth: Region::above(1.0), size: None }
}

fn diagnosis(suspects: usize, planted: Option<&str>) -> Diagnosis {
    Diagnosis {
        id: "d".into(),
        what: String::new(),
        response: "wall_ns".into(),
        whole: Cell::default(),
        base: Cell::default(),
        suspects: vec![Suspect { name: "a".into(), without: Cell::default() }; suspects],
        planted: planted.map(String::from),
    }
}
