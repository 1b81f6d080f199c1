//! A stored session becomes a page or a text.
//!
//! This room knows neither the machine it works on nor any experiment's code: it reads a
//! manifest, its records and their summary, and returns strings. It opens no file, prints
//! nothing, and a session from another machine renders the same as one from this.

pub mod catalog;
mod chart;
mod exhibits;
pub mod format;
mod grade;
mod missing;
mod page;
mod selftest;
mod terminal;
mod text;
mod words;

#[cfg(test)]
#[path = "../tests/fixture/mod.rs"]
mod fixture;

use model::{Design, ExperimentSummary, Manifest, Record, Selftest, Summary};

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

impl<'a> Session<'a> {
    /// The design of an experiment, if the manifest holds it.
    fn design(&self, id: &str) -> Option<&'a Design> {
        self.manifest.designs.iter().find(|design| design.id == id)
    }

    /// The stored trials of an experiment.
    fn records_of(&self, id: &str) -> Vec<&'a Record> {
        self.records.iter().filter(|record| record.experiment == id).collect()
    }

    /// Experiments that have something to show, in the order of the catalog.
    fn experiments(&self) -> impl Iterator<Item = &'a ExperimentSummary> {
        self.summary.experiments.iter()
    }
}

/// The whole report as one self-contained HTML page: no script, style, font or picture comes
/// from elsewhere, and every text from outside is escaped.
pub fn html(session: &Session<'_>) -> String {
    page::page(session)
}

/// The final summary of a session for a terminal of `width` columns, with ANSI colours. Each
/// experiment's question with its answer, each claim with its verdict and who makes it, then
/// what may be trusted and what it cost. Where that is more than `height` lines, long claims are
/// cut, then blank lines go, then only refuted claims keep lines of their own. Without a `height`
/// accounts and exhibits are printed in full; with one, they are a line that points to the report.
pub fn terminal(session: &Session<'_>, width: usize, height: Option<usize>) -> String {
    terminal::terminal(session, width, height)
}

/// The table of a self-test for a terminal of `width` columns, with ANSI colours: what was planted,
/// and what was found.
pub fn selftest_text(session: &Session<'_>, width: usize) -> String {
    selftest::selftest_text(session, width)
}

/// The grade of a self-test likewise: for which size of effect the machine can be trusted, and what
/// was missed, wrong or not tested.
pub fn grade_text(selftest: &Selftest, width: usize) -> String {
    grade::grade_text(selftest, width)
}
