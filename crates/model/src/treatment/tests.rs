use super::*;
use crate::{
    Card, Center, Claim, Grid, Level, NumaNode, Quantity, Region, Response, Topology, Unit,
};
use proptest::prelude::*;

fn level(name: &str, from: Profile) -> Level {
    Level { value: name.parse().ok(), from, ..Level::new(name, "") }
}

fn factor(name: &str, levels: &[(&str, Profile)]) -> Factor {
    Factor {
        name: name.into(),
        about: String::new(),
        levels: levels.iter().map(|(name, from)| level(name, *from)).collect(),
        baseline: levels[0].0.into(),
        ..Factor::default()
    }
}

fn response(name: &str, unit: Unit) -> Response {
    Response {
        name: name.into(),
        label: String::new(),
        unit,
        center: Center::Median,
        cpu_twin: None,
        subtract: None,
        exact: false,
        independent: false,
        limits: Vec::new(),
        card: Card::default(),
    }
}

fn design() -> Design {
    use Profile::{Quick, Smoke, Standard};
    Design {
        id: "sample".into(),
        factors: vec![
            factor("model", &[("thread", Smoke), ("process", Smoke)]),
            factor("count", &[("1", Smoke), ("2", Quick), ("8", Standard)]),
            factor("files", &[("own", Smoke), ("shared", Smoke)]),
        ],
        responses: vec![response("wall_ns", Unit::Ns)],
        ..Design::default()
    }
}

fn grid(from: Profile, vary: &[(&str, &[&str])]) -> Grid {
    let names = |levels: &[&str]| levels.iter().map(|level| level.to_string()).collect();
    Grid { from, vary: vary.iter().map(|(f, levels)| (f.to_string(), names(levels))).collect() }
}

fn told(design: &Design) -> String {
    design.check().expect_err("the design contradicts itself").to_string()
}

#[test]
fn without_grids_it_is_the_full_factorial_of_the_profiles_levels() {
    let design = design();
    assert_eq!(design.treatments(Profile::Smoke).len(), 2 * 2);
    assert_eq!(design.treatments(Profile::Quick).len(), 2 * 2 * 2);
    assert_eq!(design.treatments(Profile::Thorough).len(), 2 * 3 * 2);
}

#[test]
fn grids_unite_and_factors_they_do_not_name_stand_at_their_baselines() {
    let mut design = design();
    design.grids = vec![
        grid(Profile::Smoke, &[("model", &[]), ("count", &[])]),
        grid(Profile::Quick, &[("files", &[]), ("count", &["2"])]),
    ];
    assert_eq!(design.treatments(Profile::Smoke).len(), 2);
    let quick = design.treatments(Profile::Quick);
    // 2 models × 2 counts, and files=shared at count 2; files=own at count 2 is in both grids.
    assert_eq!(quick.len(), 5);
    let shared = Cell::new([("files", "shared")]);
    let only: Vec<_> = quick.iter().filter(|treatment| treatment.matches(&shared)).collect();
    assert_eq!(only.len(), 1);
    assert_eq!(only[0].to_string(), "count=2 files=shared model=thread");
}

#[test]
fn a_quantity_names_the_treatments_it_needs() {
    let mut design = design();
    let all = design.treatments(Profile::Thorough);
    let of = |quantity: &Quantity, design: &Design| quantity.treatments(design, &all).len();
    let at = Cell::new([("model", "process")]);
    let over =
        Quantity::Exponent { response: "wall_ns".into(), over: "count".into(), at: at.clone() };
    assert_eq!(of(&over, &design), 3);
    let anywhere = Quantity::Frequency { response: "wall_ns".into(), among: at.clone() };
    assert_eq!(of(&anywhere, &design), 6);
    let ratio = Quantity::Ratio { response: "wall_ns".into(), of: at, to: Cell::default() };
    assert_eq!(of(&ratio, &design), 2);
    design.responses[0].subtract = Some(Cell::new([("files", "shared")]));
    assert_eq!(of(&ratio, &design), 4);
}

#[test]
fn contradictions_are_named() {
    let mut bad = design();
    bad.factors[1].baseline = "3".into();
    assert!(told(&bad).contains("factor count has no level 3"));

    let mut bad = design();
    bad.responses[0].name = "wall".into();
    assert!(told(&bad).contains("must end in _ns"));

    let mut bad = design();
    bad.grids = vec![grid(Profile::Smoke, &[("colour", &[])])];
    assert!(told(&bad).contains("colour is no factor"));

    let mut bad = design();
    bad.factors[0].levels.push(level("thread", Profile::Smoke));
    assert!(told(&bad).contains("two levels of one name"));

    let mut bad = design();
    bad.claims = vec![Claim {
        id: "x".into(),
        text: String::new(),
        source: String::new(),
        mechanism: String::new(),
        quantity: Quantity::Value {
            response: "wall_ns".into(),
            at: Cell::new([("model", "coroutine")]),
        },
        holds_if: Region::above(1.0),
        note: String::new(),
        shown: String::new(),
    }];
    assert!(told(&bad).contains("coroutine is no level of model"));

    let mut bad = design();
    bad.id = "Two Words".into();
    assert!(told(&bad).contains("its id must be"));
}

proptest! {
    #[test]
    fn treatments_are_complete_and_stand_once(model in 1..3_usize, count in 1..4_usize) {
        let mut design = design();
        let names = |factor: &Factor, n: usize| -> Vec<String> {
            factor.levels.iter().take(n).map(|level| level.name.clone()).collect()
        };
        let vary = vec![
            ("model".to_string(), names(&design.factors[0], model)),
            ("count".to_string(), names(&design.factors[1], count)),
        ];
        design.grids = vec![Grid { from: Profile::Smoke, vary }];
        let all = design.treatments(Profile::Thorough);
        prop_assert_eq!(all.len(), model * count);
        let once: BTreeSet<_> = all.iter().collect();
        prop_assert_eq!(once.len(), all.len());
        for treatment in &all {
            prop_assert_eq!(treatment.0.len(), design.factors.len());
            let known = |(factor, level): (&String, &String)| {
                design.factor(factor).is_some_and(|found| found.level(level).is_some())
            };
            prop_assert!(treatment.0.iter().all(known));
        }
    }

    #[test]
    fn a_region_about_a_value_is_symmetric_on_the_log_scale(value in 0.01..100.0_f64, margin in 0.01..1.0_f64) {
        let region = Region::about(value, margin);
        let (low, high) = (region.low.unwrap_or(0.0), region.high.unwrap_or(0.0));
        prop_assert!((low * high / (value * value) - 1.0).abs() < 1e-9);
        prop_assert!(region.contains(value) && !region.contains(high * 1.001) && !region.contains(low / 1.001));
    }
}

#[test]
fn levels_follow_the_machine_where_a_grid_says_so() {
    let count = factor(
        "count",
        &[
            ("1", Profile::Smoke),
            ("2", Profile::Smoke),
            ("4", Profile::Quick),
            ("6", Profile::Thorough),
            ("8", Profile::Thorough),
            ("64", Profile::Thorough),
        ],
    );
    let place = factor(
        "place",
        &[
            ("apart", Profile::Smoke),
            ("siblings", Profile::Thorough),
            ("packages", Profile::Thorough),
        ],
    );
    let grid =
        |from, factor: &str| Grid { from, vary: vec![(factor.into(), vec![OF_MACHINE.into()])] };
    let design = Design {
        id: "it".into(),
        factors: vec![count, place],
        grids: vec![grid(Profile::Quick, "count"), grid(Profile::Quick, "place")],
        ..Design::default()
    };
    design.check().expect("there");
    let counts = |cpus: u32| {
        let cpus: Vec<u32> = (0..cpus).collect();
        let design = design.clone().on(&cpus, &Topology::default());
        let all = design.treatments(Profile::Quick).into_iter();
        let mut counts: Vec<u32> =
            all.map(|it| it.level("count").expect("there").parse().expect("there")).collect();
        counts.sort_unstable();
        counts
    };
    assert_eq!(counts(1), [1, 2]);
    assert_eq!(counts(2), [1, 2, 4]);
    assert_eq!(counts(6), [1, 2, 4, 6, 8]);
    assert_eq!(counts(64), [1, 2, 4, 8, 64]);
    assert_eq!(counts(200), [1, 2, 4, 8, 64]);
    // Without a machine such a grid measures nothing.
    assert_eq!(design.treatments(Profile::Thorough), []);
    // Two cores with two threads each have two kinds of pairs; two CPUs have one, which is the baseline's.
    let topology = Topology {
        cores: vec![vec![0, 2], vec![1, 3]],
        packages: vec![vec![0, 1, 2, 3]],
        ..Topology::default()
    };
    let places = |cpus: &[u32]| {
        let design = design.clone().on(cpus, &topology);
        let all = design.treatments(Profile::Quick).into_iter();
        all.filter(|it| it.level("place") != Some("apart")).count()
    };
    assert_eq!((places(&[0, 1, 2, 3]), places(&[0, 1]), places(&[0, 2])), (1, 0, 0));
}

#[test]
fn far_memory_is_a_level_where_a_second_node_has_memory() {
    let memory = factor("memory", &[(NEAR, Profile::Smoke), (FAR, Profile::Quick)]);
    let vary = vec![("memory".into(), vec![OF_MACHINE.into()])];
    let grids = vec![Grid { from: Profile::Smoke, vary }];
    let design = Design { id: "it".into(), factors: vec![memory], grids, ..Design::default() };
    let levels = |memory_bytes: &[u64]| {
        let node =
            |(node, bytes): (u32, &u64)| NumaNode { node, cpus: vec![node], memory_bytes: *bytes };
        let nodes = (0..).zip(memory_bytes).map(node).collect();
        let design = design.clone().on(&[0], &Topology { nodes, ..Topology::default() });
        design.treatments(Profile::Smoke).len()
    };
    // The baseline is always measured.
    assert_eq!([levels(&[]), levels(&[1]), levels(&[1, 0]), levels(&[1, 1])], [1, 1, 1, 2]);
}
