#![expect(clippy::unwrap_used, reason = "a test should stop where it fails")]

use super::body::{Body, Field, Figure};
use super::choose::figures;
use super::grids::{Estimates, response_for};
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
fn every_grid_of_its_own_gets_a_figure() {
    let fixture = fixture::session(4);
    let create = figures_of(&fixture, 0);
    let titles: Vec<&str> = create.iter().map(|figure| figure.title.as_str()).collect();
    assert_eq!(
        titles,
        [
            "time to create and wait by mechanism",
            "time to create and wait from pthread to fork, by memory and pages",
            "time to create and wait over memory, by mechanism",
            "time to create and wait by mechanism and pages"
        ]
    );
    assert_eq!(create[0].held, "memory 0, pages small");
}

#[test]
fn twins_over_a_count_get_the_panels_that_people_draw() {
    let fixture = fixture::session(3);
    let workers = figures_of(&fixture, 1);
    let Body::Lines { groups, axis, shared } = &workers[0].body else {
        panic!("{:?}", workers[0].title);
    };
    assert_eq!(axis.levels.len(), 8);
    assert!(!shared);
    let headings: Vec<&str> = groups.iter().map(|group| group.heading.as_str()).collect();
    assert_eq!(headings, ["worker cpu", "worker mem", "worker io"]);
    for group in groups {
        let names: Vec<&str> =
            group.panels.iter().map(|panel| panel.response.name.as_str()).collect();
        assert_eq!(names, ["wall_ns", "cpu_ppm", "pss_bytes", "written_bytes"]);
        for panel in &group.panels {
            let lines: Vec<&str> = panel.lines.iter().map(|line| line.name.as_str()).collect();
            assert_eq!(lines, ["thread", "process"]);
        }
    }
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
fn a_grid_without_its_baseline_is_shown_beside_it() {
    let mut fixture = fixture::session(3);
    let create = &mut fixture.manifest.designs[0];
    create.grids.truncate(1);
    let vary = |name: &str, level: &str| (name.to_string(), vec![level.to_string()]);
    create.grids.push(model::Grid {
        from: Profile::Smoke,
        vary: vec![vary("mechanism", "fork"), vary("memory", "64")],
    });
    let figures = figures_of(&fixture, 0);
    let labels: Vec<&str> = figures[2].cells().iter().map(|cell| cell.label.as_str()).collect();
    assert_eq!(labels, ["memory 0", "memory 64"]);
    assert_eq!(figures[2].held, "mechanism fork, pages small");
}

#[test]
fn a_figure_shows_a_response_that_was_measured_there() {
    let mut fixture = fixture::session(3);
    for row in &mut fixture.summary.experiments[1].estimates {
        let second_grid = row.treatment.level("affinity") == Some("free")
            || row.treatment.level("count") == Some("2");
        if row.response == "wall_ns" && second_grid {
            row.estimate = None;
        }
    }
    let workers = figures_of(&fixture, 1);
    let Body::Rows { response, .. } = &workers[2].body else {
        panic!("{:?}", workers[2].title);
    };
    assert_eq!(response.name, "cpu_ppm");
}

/// A design of two factors with a number of levels each, the second a quantity, and its session.
fn crossed(kinds: usize, sizes: usize) -> fixture::Fixture {
    let mut fixture = fixture::session(3);
    let create = &mut fixture.manifest.designs[0];
    let level = |name: String, value: Option<f64>| model::Level {
        name,
        value,
        about: String::new(),
        from: Profile::Smoke,
    };
    create.grids.clear();
    create.factors.truncate(2);
    create.factors[0].levels = (0..kinds).map(|k| level(format!("kind {k}"), None)).collect();
    create.factors[0].baseline = "kind 0".into();
    create.factors[1].levels = (1..=sizes).map(|s| level(s.to_string(), Some(s as f64))).collect();
    create.factors[1].baseline = "1".into();
    let response = create.responses[0].name.clone();
    create.findings.clear();
    let design = create.clone();
    let summary = &mut fixture.summary.experiments[0];
    let row = summary.estimates[0].clone();
    summary.estimates = design
        .treatments(Profile::Quick)
        .into_iter()
        .enumerate()
        .map(|(index, treatment)| {
            let point = 10.0 + index as f64;
            let estimate = model::Estimate {
                point,
                low: point - 1.0,
                high: point + 1.0,
                standard_error: None,
                level: 0.95,
                samples: 3,
            };
            let (response, estimate) = (response.clone(), Some(estimate));
            model::EstimateRow { treatment, response, estimate, ..row.clone() }
        })
        .collect();
    fixture.records.retain(|record| record.experiment != design.id);
    fixture
}

#[test]
fn many_lines_become_fields_and_few_stay_lines() {
    let few = crossed(6, 3);
    assert!(matches!(figures_of(&few, 0)[0].body, Body::Lines { .. }));
    let mut many = crossed(7, 3);
    // One treatment has no number: it is a field that says so.
    many.summary.experiments[0].estimates[4].estimate = None;
    let figures = figures_of(&many, 0);
    let Body::Heat { grids, across, down, .. } = &figures[0].body else {
        panic!("{:?}", figures[0].title);
    };
    assert_eq!((across.as_str(), down.as_str()), ("memory", "mechanism"));
    assert_eq!((grids[0].columns.len(), grids[0].rows.len()), (3, 7));
    let fields = || grids[0].rows.iter().flat_map(|(_, fields)| fields);
    let measured = fields().filter(|field| matches!(field, Field::Measured(_))).count();
    let absent = fields().filter(|field| matches!(field, Field::Absent(..))).count();
    assert_eq!((measured, absent), (20, 1));
    let drawn = super::figure(&figures[0], "here").into_string();
    assert_eq!(drawn.matches("field mark hit").count(), 21);
    // The table behind has a row for each, from which the script reads what a field says.
    assert_eq!(drawn.matches("<th scope=\"row\">").count(), 21);
    assert!(drawn.contains("field mark hit absent"), "{drawn}");
}

#[test]
fn a_slope_joins_a_thread_and_a_process_of_the_same_setting() {
    let fixture = fixture::session(5);
    let workers = figures_of(&fixture, 1);
    let Body::Slopes { ends, panels, .. } = &workers[1].body else {
        panic!("{:?}", workers[1].title);
    };
    assert_eq!(ends, &["thread", "process"]);
    for slope in panels.iter().flat_map(|panel| &panel.slopes) {
        assert_eq!(slope.from.label.replace("thread", "process"), slope.to.label);
        let (from, to) = (slope.from.estimate.unwrap(), slope.to.estimate.unwrap());
        let ratio = slope.ratio.unwrap();
        assert!((ratio.point.ln() - (to.point / from.point).ln()).abs() < 0.1, "{slope:?}");
        assert!(ratio.low <= ratio.point && ratio.point <= ratio.high);
    }
}

#[test]
fn a_computed_number_is_given_no_interval_in_words() {
    let mut fixture = fixture::session(3);
    let told =
        |fixture: &fixture::Fixture| super::figure(&figures_of(fixture, 0)[0], "f").into_string();
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
        let point = create[2].cells()[0].estimate.unwrap().point;
        (create[2].response().unwrap().name.clone(), point)
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
    assert!(create[2].title.contains("over memory"), "{}", create[2].title);
    let drawn = super::figure(&create[2], "f").into_string();
    assert!(drawn.contains("true here"));
    assert!(!drawn.contains("true elsewhere") && !drawn.contains("beyond the axis"));
}

#[test]
fn a_computed_response_that_ignores_a_factor_gives_way_to_one_that_follows_it() {
    let mut design = fixture::session(2).manifest.designs.swap_remove(0);
    let at = |memory: &str, pages: &str| {
        let levels = [("memory", memory), ("pages", pages)];
        Treatment::from_iter(levels.map(|(factor, level)| (factor.into(), level.into())))
    };
    let treatments: std::collections::BTreeSet<Treatment> =
        [at("0", "small"), at("0", "huge"), at("1", "small"), at("1", "huge")].into();
    let (first, second) = (design.responses[0].name.clone(), design.responses[1].name.clone());
    let mut estimates = Estimates::new();
    for treatment in &treatments {
        let memory = if treatment.level("memory") == Some("1") { 2.0 } else { 1.0 };
        let pages = if treatment.level("pages") == Some("huge") { 10.0 } else { 0.0 };
        estimates.insert((&first, treatment), Estimate::exactly(memory, 2));
        estimates.insert((&second, treatment), Estimate::exactly(memory + pages, 2));
    }
    let chosen = |design: &model::Design| {
        response_for(design, &estimates, &design.responses[0], &treatments).name.clone()
    };
    assert_eq!(chosen(&design), first, "what is measured scatters, and is shown all the same");
    design.responses[0].exact = true;
    assert_eq!(chosen(&design), second);
}
