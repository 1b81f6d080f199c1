//! The page of a comparison as text.

use crate::compared;
use model::Comparison;

/// What a reader reads of a page, one line per piece of text; charts, style and script aside.
fn read(comparison: &Comparison) -> Vec<String> {
    let page = report::comparison_html(comparison).replace('\u{a0}', " ");
    let mut lines = Vec::new();
    let mut rest = page.as_str();
    while let Some(start) = rest.find('<') {
        let text = rest[..start].trim();
        if !text.is_empty() {
            lines.push(text.to_string());
        }
        let tag = &rest[start + 1..];
        let skipped = ["style", "script", "svg", "title"]
            .into_iter()
            .find(|name| tag.strip_prefix(name).is_some_and(|after| after.starts_with([' ', '>'])));
        let end = skipped.map_or_else(|| ">".to_string(), |name| format!("</{name}>"));
        rest = rest[start..].split_once(&end).map_or("", |(_, after)| after);
    }
    lines
}

/// The page in one line.
fn said(comparison: &Comparison) -> String {
    read(comparison).join(" ")
}

#[test]
fn a_large_comparison_stays_light_and_its_tables_hold_every_row() {
    let page = report::comparison_html(&compared::large(1000));
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    let table = page.split("<table class=\"wide compared\">").nth(1).unwrap_or_default();
    assert_eq!(table.matches("<th scope=\"row\">").count(), 1000);
    // What is not drawn is said to be missing.
    assert!(page.contains("more are in the table alone."));
}

#[test]
fn the_opening_says_what_differs_and_what_could_have_been_found() {
    let said = said(&compared::two());
    for needle in [
        "B compared with A",
        "15 of 49 numbers differ significantly between A and B: 2 of 2 findings and 13 of 47 other \
         numbers; 11 larger in B, 4 smaller.",
        "The largest: cpu, fork · memory 1024: 1.65 [1.58, 1.71] times as long in B as in A.",
        "1 more number could not be compared",
        "found in four of five cases: 8 % in the median number",
        "Intervals rest on the trials of one session per side",
        "These facts make numbers incomparable: compiler of scruple",
        "Not compared: false_sharing (measured in B alone)",
        "▼ −0.20 [−0.25, −0.15]",
        "Left out: 3 treatments not measured on A and another side",
        "a ratio needs numbers above 0",
    ] {
        assert!(said.contains(needle), "{needle}\n{said}");
    }
}

#[test]
fn where_nothing_differs_the_page_says_what_would_have_been_found() {
    let said = said(&compared::alike());
    for needle in [
        "No significant difference between A and B in 12 numbers.",
        "All intervals of ratios lie between 0.959× and 1.04× of A.",
        "found in four of five cases: 6 % in the median number, 6 % or less in the finest quarter",
        "Compared alone, the median number needs 4.2 %.",
        "No recorded fact differs",
    ] {
        assert!(said.contains(needle), "{needle}\n{said}");
    }
}

#[test]
fn an_interval_that_decides_alone_says_why_there_is_no_verdict() {
    let open = |needed: Option<u32>| {
        let mut comparison = compared::alike();
        let rows = comparison.experiments.iter_mut().flat_map(|it| &mut it.rows);
        let effect = rows.flat_map(|row| &mut row.effects).flatten().next().unwrap();
        (effect.p_value, effect.trials_needed) = (Some(0.01), needed);
        said(&comparison)
    };
    let among = open(None);
    for needle in [
        "No difference between A and B stands among 12 numbers. Compared alone, 1 would be significant.",
        "(significant alone, not among all that is compared)",
    ] {
        assert!(among.contains(needle), "{needle}\n{among}");
    }
    let few = open(Some(8));
    for needle in [
        "Too few trials to decide between A and B: alone, 1 of 12 numbers would be significant.",
        "(undecided: a verdict takes 8 trials per side)",
    ] {
        assert!(few.contains(needle), "{needle}\n{few}");
    }
    assert!(!among.contains("No significant difference between"));
    assert!(!few.contains("No significant difference between"));
}

#[test]
fn nothing_compared_is_not_nothing_found() {
    let mut comparison = compared::two();
    comparison.experiments.retain(|experiment| experiment.refused.is_some());
    let said = said(&comparison);
    assert!(said.contains("No number of B could be compared with A."), "{said}");
    assert!(!said.contains("No significant difference"), "{said}");
}

#[test]
fn whoever_reads_reads_this() {
    insta::assert_snapshot!("comparison", read(&compared::two()).join("\n"));
}
