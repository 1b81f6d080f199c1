//! The figures of recorded sessions as pictures that need no page.

use crate::fixture::Fixture;
use crate::recorded;
use report::{Saved, Session, Sheet, Theme};

fn drawn(name: &str, theme: Theme, width_px: f64) -> Vec<Saved> {
    let Fixture { manifest, records, summary } = &recorded::session(name);
    let session = Session { manifest, records, summary };
    report::figures(&session, Sheet { theme, width_px, in_mm: theme == Theme::Paper })
}

/// Returns the values of an attribute.
fn values<'s>(svg: &'s str, name: &str) -> Vec<&'s str> {
    let key = format!(" {name}=\"");
    svg.split(&key).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn every_figure_of_every_session_is_a_picture_by_itself() {
    for (name, least) in [("base", 70), ("servers", 5), ("speedup", 3), ("core", 5), ("later", 1)] {
        for (theme, width) in [(Theme::Paper, 321.3), (Theme::Slide, 960.0), (Theme::Dark, 680.0)] {
            let figures = drawn(name, theme, width);
            assert!(figures.len() >= least, "{name}: {}", figures.len());
            let names: std::collections::BTreeSet<&str> =
                figures.iter().map(|one| one.name.as_str()).collect();
            for figure in &figures {
                let svg = figure.svg.as_deref().unwrap_or_else(|| panic!("{}", figure.name));
                whole(svg, &figure.name);
            }
            assert!(names.contains("create-chart-1") || name != "base", "{names:?}");
        }
    }
}

/// Every element is closed, every class has a rule, nothing is taken from elsewhere, and all lies inside.
fn whole(svg: &str, name: &str) {
    let mut open: Vec<&str> = Vec::new();
    for tag in svg.split('<').skip(1).map(|piece| piece.split('>').next().unwrap()) {
        let element = tag.trim_start_matches('/').split(' ').next().unwrap();
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) => assert_eq!(open.pop(), Some(element), "{name}"),
            (false, true) => {}
            (false, false) => open.push(element),
        }
    }
    assert!(open.is_empty(), "{name}: {open:?}");
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "), "{name}");
    for never in ["%\"", "NaN", "var(", "href", "<use", "inf", "id=\""] {
        assert!(!svg.contains(never), "{name}: {never}");
    }
    let style = svg.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
    let containers = [
        "strip",
        "mark",
        "lone",
        "stretched",
        "values",
        "grid",
        "break",
        "limits",
        "landmarks",
        "levels",
    ];
    for class in values(svg, "class").iter().flat_map(|classes| classes.split(' ')) {
        let known =
            class.is_empty() || containers.contains(&class) || style.contains(&format!(".{class}"));
        assert!(known, "{name}: no rule for {class}");
    }
    let view: Vec<f64> =
        values(svg, "viewBox")[0].split(' ').map(|it| it.parse().unwrap()).collect();
    // A place within a group is farther left than the same on the picture.
    for (key, most) in
        [("x", view[2]), ("x2", view[2]), ("cx", view[2]), ("y", view[3]), ("y2", view[3])]
    {
        for value in values(svg, key) {
            let value: f64 = value.parse().unwrap_or_else(|_| panic!("{name}: {key}={value}"));
            assert!((-30.0..=most).contains(&value), "{name}: {key}={value} of {most}");
        }
    }
    assert!(svg.contains("session ") && svg.contains("class=\"title\""), "{name}");
}

#[test]
fn the_theme_sets_colours_and_the_size_of_letters() {
    let of = |theme, width| drawn("base", theme, width).swap_remove(0).svg.unwrap();
    let (paper, slide, dark) =
        (of(Theme::Paper, 321.26), of(Theme::Slide, 960.0), of(Theme::Dark, 680.0));
    assert!(
        paper.contains("width=\"85mm\"") && slide.contains("width=\"960\""),
        "{}",
        &paper[..200]
    );
    assert!(paper.contains(".paper { fill: #ffffff; }") && !dark.contains("#ffffff"));
    let view =
        |svg: &str| values(svg, "viewBox")[0].split(' ').nth(2).unwrap().parse::<f64>().unwrap();
    assert!(view(&paper) / 321.26 > 1.2 && view(&slide) / 960.0 < 0.7);
}

#[test]
fn the_numbers_are_csv() {
    let figures = drawn("base", Theme::Paper, 680.0);
    let create = figures.iter().find(|one| one.name == "create-chart-1").unwrap();
    let csv = create.csv.as_deref().unwrap();
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    let head: Vec<&str> = rows.headers().unwrap().iter().collect();
    assert_eq!(head, ["mechanism", "response", "value", "low", "high", "unit", "trials"]);
    let fork = rows.records().map(Result::unwrap).find(|row| &row[0] == "fork").unwrap();
    assert!(fork[2].parse::<f64>().unwrap() > 0.0 && fork[3].parse::<f64>().is_ok(), "{fork:?}");
    assert!(create.caption.contains("95 % confidence interval"), "{}", create.caption);
}
