//! Two or more sessions held against each other as one page: what makes it doubtful first, then
//! what differs, then the facts, the gates, and each experiment.

mod chapter;
mod circumstances;
pub(crate) mod found;
mod item;
mod opening;
mod ratios;
mod slopes;
mod table;
mod terminal;

#[cfg(test)]
mod tests;

pub(crate) use table::probability;

use crate::page;
use crate::words::{self, letter, short};
pub(crate) use terminal::text as terminal_text;

use item::{Chapter, Tally};
use maud::{Markup, html};
use model::Comparison;

/// What this page looks like beyond the report.
pub(crate) const STYLE: &str = include_str!("comparison.css");

/// A comparison with what is drawn of it.
struct Page<'a> {
    comparison: &'a Comparison,
    chapters: Vec<Chapter<'a>>,
}

impl Page<'_> {
    /// How many sides are held against the base.
    fn others(&self) -> usize {
        self.comparison.sides.len().saturating_sub(1)
    }

    /// What all numbers together say of one side against the base.
    fn tally(&self, other: usize) -> Tally {
        self.chapters.iter().map(|chapter| chapter.tally(other)).sum()
    }

    /// What all findings together say of it.
    fn tally_of_findings(&self, other: usize) -> Tally {
        self.chapters.iter().map(|chapter| chapter.tally_of_findings(other)).sum()
    }
}

/// See [`crate::comparison_html`].
pub(crate) fn page(comparison: &Comparison) -> String {
    let names: Vec<String> =
        comparison.sides.iter().map(|side| short(&side.name, 60)).rev().collect();
    let title = format!("scruple · {}", names.join(" against "));
    page::document_of(&comparison.scruple, &title, &body(comparison, &html! {}), STYLE)
}

/// The page's body, with what stands before it.
pub(crate) fn body(comparison: &Comparison, before: &Markup) -> Markup {
    let page = Page { comparison, chapters: item::chapters(comparison) };
    html! {
        a.skip href="#contents" { "To the contents" }
        main.comparison {
            (before)
            (opening::opening(&page))
            (circumstances::gates(comparison))
            (circumstances::facts(comparison))
            (circumstances::controls(comparison))
            (opening::contents(&page))
            @for chapter in page.chapters.iter().filter(|chapter| !chapter.is_bare()) {
                (chapter::chapter(&page, chapter))
            }
            (chapter::bare(&page))
        }
        (footer(comparison))
        div #tip role="status" aria-live="polite" hidden {}
    }
}

fn footer(comparison: &Comparison) -> Markup {
    html! {
        footer {
            p {
                "Compared by scruple " (short(&comparison.scruple, 40)) ". Every number on this "
                "page can be computed again from the sessions' own folders; this file needs no "
                "network."
            }
        }
    }
}

/// "B", or "B and C" for all sides that are held against the base.
fn letters_of_others(comparison: &Comparison) -> String {
    let letters: Vec<String> = (1..comparison.sides.len()).map(letter).collect();
    joined(&letters)
}

/// "a, b and c".
pub(crate) fn joined(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A sentence from outside.
fn sentence(text: &str) -> String {
    words::sentence(text, 600)
}
