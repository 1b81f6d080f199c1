#![expect(clippy::unwrap_used, reason = "a test should stop where it fails")]

use super::body::{Body, Figure};
use super::figures::figures;
use crate::fixture;
use model::{Cell, Estimate, Limit, Profile, Record, Treatment};

fn figures_of(fixture: &fixture::Fixture, index: usize) -> Vec<Figure<'_>> {
    let design = &fixture.manifest.designs[index];
    let records: Vec<&Record> =
        fixture.records.iter().filter(|record| record.experiment == design.id).collect();
    let environment = &fixture.manifest.environment;
    figures(design, &fixture.summary.experiments[index], &records, Profile::Quick, environment)
}

#[test]
fn the_declared_figures_are_drawn_in_their_order() {
    let fixture = fixture::session(4);
    let create = figures_of(&fixture, 0);
    let titles: Vec<&str> = create.iter().map(|figure| figure.title.as_str()).collect();
    assert_eq!(
        titles,
        ["time by mechanism", "time over memory, by mechanism", "time by mechanism and pages"]
    );
    assert_eq!(create[0].held, "memory 0, pages small");
    assert_eq!(create[2].held, "memory 512");
    let headings: Vec<&str> = create[2].panels().iter().map(|it| it.heading.as_str()).collect();
    assert_eq!(headings, ["pages small", "pages huge"]);
    let rows: Vec<String> =
        create[2].panels()[0].rows().into_iter().map(|(_, row)| row.label).collect();
    assert_eq!(rows, ["pthread", "fork"]);
    assert_eq!(create[2].cells()[0].label, "pthread · small");
}

#[test]
fn without_declared_figures_the_main_response_is_drawn() {
    let mut fixture = fixture::session(4);
    for design in &mut fixture.manifest.designs {
        design.figures.clear();
    }
    let create = figures_of(&fixture, 0);
    assert_eq!(create.len(), 1);
    assert_eq!(create[0].title, "time to create and wait over memory, by mechanism and pages");
    assert_eq!(create[0].held, "");
    let Body::Panels { axis: Some(axis), panels } = &create[0].body else {
        panic!("{:?}", create[0].title);
    };
    assert!(axis.levels.len() >= super::axis::LEVELS_MIN);
    assert_eq!(panels.len(), 2);
    let null = figures_of(&fixture, 2);
    assert_eq!(null[0].title, "time of a call by name");
    assert!(matches!(null[0].body, Body::Panels { axis: None, .. }));
}

#[test]
fn several_responses_have_a_panel_each() {
    let fixture = fixture::session(3);
    let workers = figures_of(&fixture, 1);
    let Body::Panels { axis: Some(axis), panels } = &workers[0].body else {
        panic!("{:?}", workers[0].title);
    };
    assert_eq!(axis.levels.len(), 8);
    let headings: Vec<&str> = panels.iter().map(|panel| panel.heading.as_str()).collect();
    assert_eq!(headings[0], "worker cpu, time until the last ends");
    assert_eq!(headings.len(), 12);
    let names: Vec<&str> = panels.iter().map(|panel| panel.response.name.as_str()).collect();
    assert_eq!(names[..4], ["wall_ns", "cpu_ppm", "pss_bytes", "written_bytes"]);
    for panel in panels {
        let lines: Vec<&str> = panel.lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(lines, ["thread", "process"]);
        // Panels of one response have one axis, so that they can be compared.
        let scale = super::scale_along(axis, panels, panel);
        let first = panels.iter().find(|it| it.response.name == panel.response.name).unwrap();
        assert_eq!(scale, super::scale_along(axis, panels, first));
    }
}

/// A panel of one line over 1, 2, 4 and 8.
fn line_of(values: [f64; 4]) -> super::Panel<'static> {
    let response = model::Response::new("t", "time", model::Unit::Ns, model::Card::default());
    let cell = |y| super::Cell::alone(String::new(), Estimate::between(y, y, y), 1);
    let points = [1.0, 2.0, 4.0, 8.0].into_iter().zip(values.map(cell)).collect();
    let line = super::Line { name: String::new(), style: 0, points };
    super::Panel::of(std::borrow::Cow::Owned(response), vec![line])
}

#[test]
fn what_grows_in_proportion_is_a_straight_line() {
    let axis = |scale| super::LevelAxis {
        name: "workers".into(),
        unit: String::new(),
        levels: Vec::new(),
        landmarks: Vec::new(),
        scale,
    };
    let linear = axis(super::Scale::Linear { low: 1.0, high: 8.0 });
    let is_log = |axis: &super::LevelAxis, panels: &[super::Panel<'_>]| {
        super::scale_along(axis, panels, &panels[0]).unwrap().is_log()
    };
    let slow = line_of([16.0, 32.0, 64.0, 128.0]);
    let fast = line_of([3.0, 6.0, 12.0, 24.0]);
    assert!(!is_log(&linear, &[slow.clone(), fast.clone()]));
    // Where the levels are powers, or values differ much at one level, or explode, a straight line hides them.
    let powers = axis(super::Scale::Log { low: 1.0, high: 8.0, zero: false });
    assert!(is_log(&powers, &[slow.clone(), fast]));
    assert!(is_log(&linear, &[slow.clone(), line_of([0.5, 1.0, 2.0, 4.0])]));
    assert!(is_log(&linear, &[slow, line_of([1.0, 10.0, 100.0, 1000.0])]));
}

#[test]
fn a_factor_whose_levels_are_no_numbers_has_rows() {
    let mut fixture = fixture::session(3);
    let plot = &mut fixture.manifest.designs[0].figures[1].plot;
    (plot.over, plot.by) = (Some("mechanism".into()), vec!["memory".into()]);
    let create = figures_of(&fixture, 0);
    let Body::Panels { axis: None, panels } = &create[1].body else {
        panic!("{:?}", create[1].title);
    };
    assert_eq!(panels[0].heading, "memory 0");
    assert_eq!(panels[0].lines.len(), 3);
}

#[test]
fn a_refused_treatment_is_named_below_its_figure() {
    let fixture = fixture::session(3);
    let create = figures_of(&fixture, 0);
    let absent = create[0].absent.as_ref().unwrap();
    assert_eq!(absent.word, "refused here");
    assert!(absent.why == "mechanism clone3", "{absent:?}");
    let rows = create[0].panels()[0].rows();
    assert!(rows.iter().all(|(_, cell)| cell.estimate.is_some()), "{rows:?}");
}

/// A session of one experiment whose time follows Amdahl's law exactly: a tenth is serial.
fn amdahl(drawn: model::Drawn, counts: &[u32]) -> fixture::Fixture {
    let mut fixture = fixture::session(6);
    let design = &mut fixture.manifest.designs[0];
    let level = |n: &u32| model::Level::number(u64::from(*n), "threads");
    design.factors = vec![model::Factor {
        name: "count".into(),
        label: "number of threads".into(),
        levels: counts.iter().map(level).collect(),
        baseline: "1".into(),
        ..model::Factor::default()
    }];
    design.responses.truncate(1);
    design.responses[0].unit = model::Unit::Ns;
    (design.grids, design.findings, design.claims) = Default::default();
    (design.accounts, design.controls) = Default::default();
    let responses = vec![design.responses[0].name.clone()];
    let over = Some("count".into());
    let plot = model::Plot { responses, drawn, over, ..model::Plot::default() };
    let title = "Speed-up".into();
    design.figures = vec![model::Figure { title, plot, ..model::Figure::default() }];
    let id = design.id.clone();
    let template = fixture.records.iter().find(|it| it.experiment == id && it.measured.is_some());
    let mut template = template.unwrap().clone();
    let series = &mut template.measured.as_mut().unwrap().series;
    series.truncate(1);
    (series[0].response, series[0].per) = (design.responses[0].name.as_str().into(), 1);
    let trials = (0..6).flat_map(|block| counts.iter().map(move |n| (block, *n)));
    let trial = |(block, n): (u32, u32)| {
        let mut record = template.clone();
        record.block = block;
        record.treatment = Treatment::from_iter([("count".to_string(), n.to_string())]);
        // Blocks differ by noise that all their trials share, and a little of their own.
        let own = 1.0 + 1e-4 * f64::from((block * 7 + n * 3) % 5);
        let ns = 1e9 * (1.0 + 0.05 * f64::from(block)) * (0.1 + 0.9 / f64::from(n)) * own;
        record.measured.as_mut().unwrap().series[0].values = vec![ns as i64];
        record
    };
    fixture.records = trials.map(trial).collect();
    let manifest = &fixture.manifest;
    fixture.summary = analysis::summarise(&analysis::Input {
        scruple: "0.1.0",
        session: &manifest.session,
        complete: true,
        environment: &manifest.environment,
        shield: &manifest.shield,
        designs: &manifest.designs,
        records: &fixture.records,
    });
    fixture
}

#[test]
fn times_of_a_known_serial_part_draw_amdahls_law() {
    let fixture = amdahl(model::Drawn::Speedup, &[1, 2, 4, 8]);
    let figures = figures_of(&fixture, 0);
    let panel = &figures[0].panels()[0];
    let expected = |n: f64| 1.0 / (0.1 + 0.9 / n);
    for (n, cell) in &panel.lines[0].points {
        let found = cell.estimate.unwrap();
        assert!((found.point / expected(*n) - 1.0).abs() < 2e-3, "{n}: {found:?}");
        assert!(found.low <= found.point && found.point <= found.high, "{n}: {found:?}");
    }
    let [law, ideal] = &panel.laws[..] else { panic!("{:?}", panel.laws) };
    for (n, cell) in &law.points {
        let found = cell.estimate.unwrap().point;
        assert!((found / expected(*n) - 1.0).abs() < 5e-3, "{n}: {found}");
    }
    let ends: Vec<(f64, f64)> =
        ideal.points.iter().map(|(n, cell)| (*n, cell.estimate.unwrap().point)).collect();
    assert!(ends.iter().all(|(n, height)| n == height), "{ends:?}");
    let definition = figures[0].definition.as_ref().unwrap();
    assert!(definition.contains("Fitted laws: Amdahl, α = 0.1"), "{definition}");
    assert!(definition.contains("at number of threads 1 divided by that at n"), "{definition}");
}

#[test]
fn efficiency_is_the_speedup_by_the_number_of_workers() {
    let fixture = amdahl(model::Drawn::Efficiency, &[1, 2, 4, 8]);
    let figures = figures_of(&fixture, 0);
    let panel = &figures[0].panels()[0];
    for (n, cell) in &panel.lines[0].points {
        let found = cell.estimate.unwrap().point;
        assert!((found / (1e6 / (0.1 * n + 0.9)) - 1.0).abs() < 2e-3, "{n}: {found}");
    }
    assert!(panel.laws[1].points.iter().all(|(_, cell)| cell.estimate.unwrap().point == 1e6));
}

#[test]
fn two_levels_have_an_ideal_and_no_law() {
    let fixture = amdahl(model::Drawn::Speedup, &[1, 2]);
    let figures = figures_of(&fixture, 0);
    assert_eq!(figures[0].panels()[0].laws.len(), 1);
    assert!(!figures[0].definition.as_ref().unwrap().contains("Fitted laws"));
}

#[test]
fn every_trial_with_a_number_is_a_dot_until_they_are_too_many() {
    let fixture = fixture::session(70);
    let mut null = figures_of(&fixture, 2);
    assert_eq!(null.len(), 1);
    let dots = |figure: &Figure<'_>| figure.cells().iter().map(|c| c.dots.len()).sum::<usize>();
    assert_eq!(dots(&null[0]), 140);
    let range = |figure: &Figure<'_>| {
        let values: Vec<f64> = figure.cells()[0].dots.iter().map(|(_, value)| *value).collect();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        (low, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    };
    let before = range(&null[0]);
    null[0].thin(super::DOTS_MAX);
    assert_eq!(dots(&null[0]), 120);
    assert_eq!(range(&null[0]), before);
}

#[test]
fn a_refused_treatment_leaves_no_dot_and_no_line() {
    let fixture = fixture::session(4);
    let create = figures_of(&fixture, 0);
    assert!(create[0].cells().iter().all(|cell| cell.label != "clone3"));
    assert_eq!(create[0].cells().len(), 6);
}

#[test]
fn more_treatments_get_fewer_dots_each() {
    assert_eq!(super::dots_per_cell(10), super::DOTS_MAX);
    assert_eq!(super::dots_per_cell(400), 10);
    assert_eq!(super::dots_per_cell(1_000_000), super::DOTS_MIN);
}

#[test]
fn a_computed_number_is_given_no_interval_in_words() {
    let mut fixture = fixture::session(3);
    let told = |fixture: &fixture::Fixture| super::explained(&figures_of(fixture, 0)[0]);
    let words = "the number that all of them computed";
    assert!(told(&fixture).contains("confidence interval") && !told(&fixture).contains(words));
    for number in &mut fixture.summary.experiments[0].estimates {
        number.estimate = number.estimate.map(|it| Estimate::exactly(it.point, 2));
    }
    assert!(!told(&fixture).contains("confidence interval") && told(&fixture).contains(words));
}

#[test]
fn a_limit_is_drawn_where_it_is_true_and_nowhere_else() {
    let mut fixture = fixture::session(3);
    let (name, value) = {
        let create = figures_of(&fixture, 0);
        let point = create[1].cells()[0].estimate.unwrap().point;
        (create[1].response().unwrap().name.clone(), point)
    };
    let limit = |label: &str, value: f64, pages: &str| {
        let at = Cell::new([("pages", pages)]);
        Limit { value, label: label.into(), at }
    };
    let responses = &mut fixture.manifest.designs[0].responses;
    let response = responses.iter_mut().find(|response| response.name == name).unwrap();
    response.limits = vec![
        limit("true here", value, "small"),
        limit("true elsewhere", value, "huge"),
        limit("beyond the axis", -1e18, "small"),
    ];
    let create = figures_of(&fixture, 0);
    assert!(create[1].title.contains("over memory"), "{}", create[1].title);
    let drawn = super::drawn(&create[1], "f").into_string();
    assert!(drawn.contains("true here"));
    assert!(!drawn.contains("true elsewhere") && !drawn.contains("beyond the axis"));
}
