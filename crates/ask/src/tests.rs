use crate::print::cell_text;
use crate::{Terms, cell, condition, full_text, quantity, term};
use model::{Cell, Center, Design, Factor, Level, Quantity, Region, Response, Term, Unit};
use proptest::prelude::*;

fn level(name: &str) -> Level {
    let value = name.parse().ok();
    Level { value, ..Level::new(name, "") }
}

fn factor(name: &str, levels: &[&str]) -> Factor {
    Factor {
        name: name.into(),
        about: String::new(),
        levels: levels.iter().map(|name| level(name)).collect(),
        baseline: levels[0].into(),
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
        card: model::Card::default(),
        limits: Vec::new(),
    }
}

pub(crate) fn design() -> Design {
    Design {
        id: "create".into(),
        factors: vec![
            factor("mechanism", &["fork", "pthread", "clone \"raw\", \\ =[x]", "none"]),
            factor("touched", &["0", "64", "none"]),
        ],
        responses: vec![
            response("whole_ns", Unit::Ns),
            response("rss_bytes", Unit::Bytes),
            response("faults_count", Unit::Count),
            response("exec_ns", Unit::Ns),
            response("busy_ppm", Unit::Ppm),
            response("speed", Unit::Other("MB/s".into())),
        ],
        ..Design::default()
    }
}

fn of(pairs: &[(&str, &str)]) -> Cell {
    Cell(pairs.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect())
}

#[test]
fn names_are_looked_up_in_the_design() {
    let fork = of(&[("mechanism", "fork"), ("touched", "64")]);
    let thread = of(&[("mechanism", "pthread")]);
    assert_eq!(
        quantity("create.whole_ns[fork, touched=64] / create.whole_ns[pthread]", &design()),
        Ok(Quantity::Ratio { response: "whole_ns".into(), of: fork.clone(), to: thread.clone() })
    );
    assert_eq!(
        quantity("whole_ns [ 64 , fork ]-whole_ns[mechanism = pthread]", &design()),
        Ok(Quantity::Difference { response: "whole_ns".into(), of: fork, to: thread.clone() })
    );
    assert_eq!(
        quantity("whole_ns[fork] / create.exec_ns[mechanism=fork]", &design()),
        Ok(Quantity::Quotient {
            response: "whole_ns".into(),
            by: "exec_ns".into(),
            at: of(&[("mechanism", "fork")])
        })
    );
    assert_eq!(
        quantity("growth(whole_ns[pthread] over touched)", &design()),
        Ok(Quantity::Exponent { response: "whole_ns".into(), over: "touched".into(), at: thread })
    );
    assert_eq!(
        quantity("rate(faults_count)", &design()),
        Ok(Quantity::Frequency { response: "faults_count".into(), among: Cell::default() })
    );
    assert_eq!(term("2", &design()), Ok(Term::Known { value: 2.0 }));
    assert_eq!(cell("", &design()), Ok(Cell::default()));
}

#[test]
fn conditions_have_units() {
    let region = |text: &str| condition(text, &design()).map(|(_, region)| region);
    assert_eq!(region("whole_ns[fork] <= 200 us"), Ok(Region::below(2e5)));
    assert_eq!(region("50 ns <= whole_ns[fork] <= 0.2 ms"), Ok(Region::within(50.0, 2e5)));
    assert_eq!(region("whole_ns[fork] / whole_ns within 25% of 2"), Ok(Region::within(1.6, 2.5)));
    assert_eq!(region("rss_bytes 1..2 MiB"), Ok(Region::within(1_048_576.0, 2_097_152.0)));
    assert_eq!(region("rate(faults_count) >= 1%"), Ok(Region::above(0.01)));
}

#[test]
fn an_error_names_the_place_and_what_would_be_right() {
    let cases = [
        ("", 0, "expected RESPONSE"),
        ("whole_n[fork]", 0, "did you mean whole_ns?"),
        ("whole_ns[fourk]", 9, "did you mean fork?"),
        ("whole_ns[none]", 9, "mechanism=none or touched=none"),
        ("whole_ns[mecanism=fork]", 9, "did you mean mechanism?"),
        ("whole_ns[touched=65]", 17, "there are: 0, 64"),
        ("whole_ns[fork, pthread]", 15, "two levels of mechanism"),
        ("whole_ns[fork", 13, "expected , or ]"),
        ("whole_ns[fork] / exec_ns", 17, "both need the same levels"),
        ("whole_ns / rss_bytes", 11, "different units"),
        ("whole_ns - exec_ns", 11, "only a quotient"),
        ("whole_ns[fork] * 2", 15, "unexpected text"),
        ("growth(whole_ns over mechanism)", 21, "no numbers"),
        ("growht(whole_ns)", 0, "did you mean growth?"),
        ("share(whole_ns - whole_ns[fork] of whole_ns[64] - whole_ns)", 35, "same treatment"),
        ("whole_ns[\"fork]", 9, "never closed"),
        ("whole_ns[é]", 9, "no level"),
    ];
    for (text, column, what) in cases {
        let error = quantity(text, &design()).unwrap_err();
        assert_eq!(error.at, column, "{text}: {error}");
        assert!(error.what.contains(what), "{text}: {error}");
    }
    for text in ["whole_ns", "whole_ns > 3", "1 <= whole_ns", "2 ns <= whole_ns <= 1 ns", "4"] {
        assert!(condition(text, &design()).is_err(), "{text}");
    }
    let two = quantity("create.whole_ns / clock.whole_ns", &design()).unwrap_err();
    assert_eq!(two.at, 18, "{two}");
    assert!(
        two.what.contains("clock is not create: a quantity is formed within one experiment"),
        "{two}"
    );
    for (text, named) in [("a.x / x", Some("a")), ("rate(a.x)", Some("a")), ("x / a.x", None)] {
        assert_eq!(crate::experiment(text).as_deref(), named, "{text}");
    }
}

fn cells() -> impl Strategy<Value = Cell> {
    let mechanism = proptest::option::of(0..4_usize);
    let touched = proptest::option::of(0..3_usize);
    (mechanism, touched).prop_map(|picked| {
        let design = design();
        let picked = [picked.0, picked.1];
        let levels = design.factors.iter().zip(picked).filter_map(|(factor, at)| {
            at.map(|at| (factor.name.clone(), factor.levels[at].name.clone()))
        });
        Cell(levels.collect())
    })
}

fn quantities() -> impl Strategy<Value = Quantity> {
    (0..9_usize, 0..6_usize, cells(), cells(), cells()).prop_map(|(kind, response, a, b, c)| {
        let response = design().responses[response].name.clone();
        let over = "touched".to_string();
        match kind {
            0 => Quantity::Value { response, at: a },
            1 => Quantity::Ratio { response, of: a, to: b },
            2 => Quantity::Difference { response, of: a, to: b },
            3 => Quantity::Share { response, whole: a, without: b, base: c },
            4 => Quantity::Exponent { response, over, at: a },
            5 => Quantity::Linearity { response, over, at: a },
            6 => {
                let (lower, upper) = ("none".to_string(), "64".to_string());
                Quantity::Proportion { response, over, lower, upper, at: a }
            }
            7 => Quantity::Quotient { response: "whole_ns".into(), by: "exec_ns".into(), at: a },
            _ => Quantity::Frequency { response, among: a },
        }
    })
}

/// Returns what stands behind a number of a quantity as it is stored.
fn unit(asked: &Quantity, design: &Design) -> String {
    match Terms::of(asked, design) {
        Terms::In(Unit::Ns) => " ns".into(),
        Terms::In(Unit::Bytes) => " B".into(),
        Terms::In(Unit::Ppm) => " ppm".into(),
        Terms::In(Unit::Other(name)) => format!(" {name}"),
        _ => String::new(),
    }
}

proptest! {
    #[test]
    fn printing_and_parsing_are_inverses(asked in quantities(), low in -1e7..1e7_f64, by in 0..1000_u32, ends in 0..4) {
        let design = design();
        let full = full_text(&asked, &design);
        let text = full.replace("create.", "");
        prop_assert_eq!(quantity(&full, &design), Ok(asked.clone()));
        prop_assert_eq!(quantity(&text, &design), Ok(asked.clone()));
        let low = (low * 1e3).round() / 1e3;
        let (high, middle) = (low + f64::from(by), low.abs() + 1.0);
        let (percent, unit) = (by % 100 + 1, unit(&asked, &design));
        let (text, region) = match ends {
            0 => (format!("{text} >= {low}{unit}"), Region::above(low)),
            1 => (format!("{text} <= {low}{unit}"), Region::below(low)),
            2 => (
                format!("{low}{unit} <= {text} <= {high}{unit}"),
                Region::within(low, high),
            ),
            _ => (
                format!("{text} within {percent}% of {middle}{unit}"),
                Region::about(middle, f64::from(percent) / 100.0),
            ),
        };
        let (read, found) = condition(&text, &design).map_err(|error| {
            TestCaseError::fail(format!("{text}: {error}"))
        })?;
        prop_assert_eq!(read, asked, "{}", text);

        for (a, b) in [(found.low, region.low), (found.high, region.high)] {
            prop_assert_eq!(a, b, "{}", text);
        }
    }

    #[test]
    fn terms_and_cells_are_read_as_written(a in cells(), b in cells(), value in 0.0..1e6_f64) {
        let design = design();
        prop_assert_eq!(cell(&cell_text(&a, &design), &design), Ok(a.clone()));
        prop_assert_eq!(term(&value.to_string(), &design), Ok(Term::Known { value }));
        let response = "whole_ns".to_string();
        let measured = Quantity::Value { response: response.clone(), at: a.clone() };
        let measured = term(&full_text(&measured, &design), &design);
        prop_assert_eq!(measured, Ok(Term::Measured { response: response.clone(), at: a.clone() }));
        let gap = Quantity::Difference { response: response.clone(), of: a.clone(), to: b.clone() };
        let gap = term(&full_text(&gap, &design), &design);
        prop_assert_eq!(gap, Ok(Term::Difference { response, of: a, to: b }));
    }

    #[test]
    fn no_text_makes_it_panic(text in ".{0,60}", part in "[a-z_\\[\\]=,./<> ()\"0-9-]{0,40}") {
        let _ = condition(&text, &design());
        let _ = condition(&format!("whole_ns{part}"), &design());
        let _ = cell(&part, &design());
    }
}
