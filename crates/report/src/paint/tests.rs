use super::{Folds, page, text};
use crate::doc::{Block, Doc, Figure, Role, Table, Text, Tone};
use crate::text::columns;
use maud::{Markup, html};
use proptest::prelude::*;

/// A bar of that many lines.
struct Bar(usize);

impl super::super::doc::Drawing for Bar {
    fn svg(&self) -> Markup {
        html! { svg {} }
    }

    fn letters(&self, width: usize) -> Vec<String> {
        vec!["#".repeat(width); self.0]
    }
}

fn bar(lines: usize) -> Block<'static> {
    Block::Figure(Figure {
        title: "Time by model".into(),
        drawing: Box::new(Bar(lines)),
        caption: vec!["Each mark is one trial.".into()],
        numbers: None,
        data: None,
        shown: false,
    })
}

fn sample(cell: &str) -> Doc<'static> {
    let mut doc = Doc::new("1.0", "a sample", "sample");
    doc.push(Block::heading(1, "Which is faster?"));
    doc.push(Block::paragraph(Role::Answer, "Threads are 1.2 times as fast as processes."));
    doc.push(Block::note(Tone::Care, "Other programs used 12 % of the CPUs."));
    let mut table = Table::of(&["model", "#time"]);
    table.row([cell, "12.3 µs [12.1, 12.6]"]);
    table.row(["process", "9 µs"]);
    doc.push(Block::heading(2, "The numbers"));
    doc.push(Block::Table(table));
    doc.push(bar(1));
    let more = Block::paragraph(Role::Plain, Text::from("Run ").then(Text::code("scruple run")));
    doc.push(Block::fold("More", vec![more]));
    doc
}

fn bare(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[test]
fn a_wide_table_is_several_where_it_does_not_fit() {
    let mut doc = Doc::new("1.0", "a sample", "sample");
    let mut table = Table::of(&["treatment", "#time", "#CPU time", "#size"]).kind("wide", "");
    table.row(["gzip", "12.3 µs [12.1, 12.6]", "12.0 µs [11.9, 12.2]", "13 kB"]);
    table.absent("xz", "not installed");
    doc.push(Block::Table(table));
    let at = |width| bare(&text(&doc, width, Folds::Open));
    assert_eq!(at(80).matches("gzip").count(), 1);
    let parts = "\
treatment                  time              CPU time
gzip       12.3 µs [12.1, 12.6]  12.0 µs [11.9, 12.2]
xz         not installed

treatment   size
gzip       13 kB
";
    assert_eq!(at(56), parts);
    assert!(at(40).contains("gzip\n  time: 12.3 µs [12.1, 12.6]\n"), "{}", at(40));
}

#[test]
fn a_reason_in_the_place_of_few_numbers_has_lines_of_its_own() {
    let mut doc = Doc::new("1.0", "a sample", "sample");
    let mut table = Table::of(&["treatment", "#time"]).kind("wide", "");
    table.row(["gzip", "12.3 µs"]);
    table.absent("xz", "failed");
    table.absent("zstd", "failed: zstd ended with exit code 1 after “no such file”");
    doc.push(Block::Table(table));
    let shown = "\
treatment     time
gzip       12.3 µs
xz         failed
zstd
  failed: zstd ended with exit code 1
  after “no such file”
";
    assert_eq!(bare(&text(&doc, 40, Folds::Open)), shown);
}

#[test]
fn a_document_reads_alike_on_a_page_and_in_a_terminal() {
    let doc = sample("thread");
    let (page, terminal) = (page(&doc, ""), bare(&text(&doc, 60, Folds::Open)));
    for sentence in ["Which is faster?", "Threads are 1.2 times as fast", "The numbers", "More"] {
        assert!(page.contains(sentence) && terminal.contains(sentence), "{sentence}");
    }
    assert!(terminal.contains("`scruple run`") && page.contains("<code>scruple run</code>"));
    assert!(terminal.contains("thread   12.3 µs [12.1, 12.6]\nprocess                  9 µs"));
}

#[test]
fn details_are_left_out_of_a_terminal_unless_they_are_asked_for() {
    let closed = bare(&text(&sample("thread"), 60, Folds::Closed));
    assert!(!closed.contains("More") && closed.ends_with("Each mark is one trial.\n"), "{closed}");
}

#[test]
fn a_figure_without_letters_is_left_out_of_a_terminal() {
    let mut doc = Doc::new("1.0", "a sample", "sample");
    doc.push(Block::paragraph(Role::Lead, "Two models on one machine."));
    doc.push(bar(0));
    doc.push(Block::paragraph(Role::Answer, "Threads are faster."));
    let terminal = bare(&text(&doc, 60, Folds::Open));
    assert_eq!(terminal, "Two models on one machine.\n\nThreads are faster.\n");
    assert!(page(&doc, "").contains("Time by model"));
}

#[test]
fn a_row_that_a_number_names_is_aligned_with_its_head() {
    let mut table = Table::of(&["#rate", "why"]);
    table.row(["50", "too slow"]);
    let page = super::html_blocks(&[Block::Table(table)]).into_string();
    assert_eq!(page.matches("class=\"number\"").count(), 2, "{page}");
}

#[test]
fn what_others_wrote_is_made_harmless() {
    let doc = sample("<script>\u{1b}[2J");
    assert!(page(&doc, "").contains("&lt;script&gt;\u{fffd}[2J"));
    assert!(text(&doc, 60, Folds::Open).contains("<script>\u{fffd}[2J"));
}

#[test]
fn sections_have_addresses_and_cells_the_numbers_that_sort_them() {
    let mut doc = Doc::new("1.0", "a sample", "sample");
    let mut table = Table::of(&["model", "#time"]);
    table.row([Text::from("thread"), Text::from("12 µs").sorted(12e3)]);
    table.row([Text::from("process"), Text::from("–").sorted(f64::NAN)]);
    doc.push(Block::heading(1, "Which?"));
    doc.push(Block::Section("first".into(), vec![Block::heading(2, "One"), Block::Table(table)]));
    doc.push(Block::heading(2, "Two"));
    let page = page(&doc, "");
    for part in ["<section id=\"first\"><h2>One", "</section><section><h2>Two"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(page.contains("data-v=1.2000e4>12 µs<") && page.contains("data-v=\"\">–<"), "{page}");
    assert_eq!(
        bare(&text(&doc, 60, Folds::Open)),
        "Which?\n\nOne\nmodel     time\nthread   12 µs\nprocess      –\n\nTwo\n"
    );
}

proptest! {
    #[test]
    fn nothing_is_wider_than_the_terminal_and_no_word_is_lost(
        cell in "[a-z]{1,12}( [a-z]{1,12}){0,20}", width in 40..120_usize
    ) {
        let told = bare(&text(&sample(&cell), width, Folds::Open));
        prop_assert!(told.lines().all(|line| columns(line) <= width), "{told}");
        for word in cell.split(' ') {
            prop_assert!(told.contains(word), "{word}: {told}");
        }
    }
}
