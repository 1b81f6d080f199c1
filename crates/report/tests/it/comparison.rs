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
    let table = page.split("<table class=\"wide\">").nth(1).unwrap_or_default();
    assert_eq!(table.matches("<th scope=\"row\">").count(), 1000);
    // What is not drawn is said to be missing.
    assert!(page.contains("more are in the table alone."));
}

#[test]
fn the_opening_says_what_differs_and_what_could_have_been_found() {
    let said = said(&compared::two());
    for needle in [
        "B held against A",
        "15 of 49 numbers differ from A: 2 of 2 findings and 13 of 47 other numbers; 11 larger in B, \
         4 smaller.",
        "The largest: cpu, fork · memory 1024: 1.65 [1.58, 1.71] times as long in B as in A.",
        "1 number more could not be compared",
        "to stand among its kind (findings, responses), the middle number needs 8 %",
        "The unit of replication is the trial, of one session a side",
        "What differs and makes numbers incomparable: compiler of scruple",
        "Measured in B alone: false_sharing .",
        "▼ −0.20 [−0.25, −0.15]",
        "3 treatments left out",
        "a ratio needs numbers above 0",
    ] {
        assert!(said.contains(needle), "{needle}\n{said}");
    }
}

#[test]
fn where_nothing_differs_the_page_says_what_would_have_been_found() {
    let said = said(&compared::alike());
    for needle in [
        "None of 12 numbers differs from A, as far as could be seen",
        "All intervals of ratios lie between 0.959× and 1.04× of A.",
        "four times in five is 4.2 % in the middle number; in the finest quarter 4.2 % or less",
        "No recorded fact differs",
        "No difference from A was found in 12 numbers",
    ] {
        assert!(said.contains(needle), "{needle}\n{said}");
    }
}

#[test]
fn nothing_compared_is_not_nothing_found() {
    let mut comparison = compared::two();
    comparison.experiments.retain(|experiment| experiment.refused.is_some());
    let said = said(&comparison);
    assert!(said.contains("No number could be held against A."), "{said}");
    assert!(!said.contains("None of"), "{said}");
}

#[test]
fn whoever_reads_reads_this() {
    insta::assert_snapshot!("comparison", read(&compared::two()).join("\n"));
}
