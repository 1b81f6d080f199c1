//! A stored session becomes a page or a text.
//!
//! This room knows neither the machine it works on nor any experiment's code: it reads a
//! manifest, its records and their summary, and returns strings. It opens no file, prints
//! nothing, and a session from another machine renders the same as one from this.

mod chart;
mod doc;
mod paint;
mod say;
mod text;
mod words;

#[cfg(test)]
#[path = "../tests/it/fixture/mod.rs"]
mod fixture;

pub use doc::Doc;
pub use paint::{Sheet, Theme};
pub use say::asked::asked;
pub use say::catalog;
pub use say::compare::{page as comparison_html, terminal as comparison_text};
pub use say::conditions::run_differs;
pub use say::core::core;
pub use say::figures::{Saved, figures};
pub use say::fleet::{page as fleet_html, terminal as fleet_text};
pub use say::knee::knee;
pub use say::load::load;
pub use say::loads::loads;
pub use say::numbers::estimates;
pub use say::plan::advice;
pub use say::report::{charts, claims_html, html, html_alone, in_a_line, selftest_text, terminal};
pub use say::scale::{scaling, scaling_answer};
pub use say::selftest::grade;
pub use say::topic::experiments_about;
pub use say::waits::{quota, so_far as waits_so_far, waits};
pub use say::why::{why, why_text};
pub use text::{Letters, wrapped};

use model::{Design, Manifest, Record, Summary, Treatment};

/// A stored session: all that a report is made from.
#[derive(Clone, Copy, Debug)]
pub struct Session<'a> {
    /// What was measured where, and how it was asked for.
    pub manifest: &'a Manifest,
    /// The trials, in any order.
    pub records: &'a [Record],
    /// What analysis made of them.
    pub summary: &'a Summary,
}

/// A treatment in the words of the factors that have several levels, as tables name it.
pub fn treatment(design: &Design, treatment: &Treatment) -> String {
    let varying = design.factors.iter().filter(|factor| factor.levels.len() > 1);
    let varying: Vec<String> = varying.map(|factor| factor.name.clone()).collect();
    words::treatment(design, treatment, &varying)
}

/// A treatment by the level of its first factor and those that are not baselines.
pub fn briefly(design: &Design, treatment: &Treatment) -> String {
    let named = design.factors.iter().enumerate().filter(|(index, factor)| {
        *index == 0 || treatment.level(&factor.name) != Some(factor.baseline.as_str())
    });
    let named: Vec<String> = named.map(|(_, factor)| factor.name.clone()).collect();
    words::treatment(design, treatment, &named)
}

/// What the two pages of a session are called where they link to each other.
pub const REPORT_PAGE: &str = "report.html";
/// See [`REPORT_PAGE`].
pub const CLAIMS_PAGE: &str = "claims.html";

/// Pairs of a time in ns and the share of the requests, 0 to 1, that had been answered (or sent, for
/// lateness) by then, both ascending. Without any it is not drawn.
pub type Curve = Vec<(u64, f64)>;

/// The times of a load: from due to answered, from sent to answered, from due to sent.
pub type LoadCurves = [Curve; 3];
