//! A stored session becomes a page or a text.
//!
//! This room knows neither the machine it works on nor any experiment's code: it reads a
//! manifest, its records and their summary, and returns strings. It opens no file, prints
//! nothing, and a session from another machine renders the same as one from this.

pub mod catalog;
mod chart;
mod doc;
pub mod format;
mod page;
mod paint;
mod say;
mod text;
mod words;

#[cfg(test)]
#[path = "../tests/it/fixture/mod.rs"]
mod fixture;

pub use text::Letters;

use model::{
    Advice, Comparison, Design, ExperimentSummary, FleetResult, Knee, LoadPrediction, LoadResult,
    Manifest, Record, Scaling, Selftest, Summary, Treatment, Why,
};

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
/// from elsewhere, and every text from outside is escaped. It links to the page of claims, which
/// is to lie beside it under the name of [`CLAIMS_PAGE`].
pub fn html(session: &Session<'_>) -> String {
    page::page(session, page::Neighbour::Beside)
}

/// The report without a link to the page of claims: for a file that goes elsewhere alone.
pub fn html_alone(session: &Session<'_>) -> String {
    page::page(session, page::Neighbour::Elsewhere)
}

/// Returns which model of concurrency sustains a load, for a terminal of `width` columns, with ANSI
/// colours: what to use, what it does and with which margin, all models, and the measured numbers
/// behind it. What others wrote is made harmless.
pub fn advice_text(advice: &Advice, width: usize) -> String {
    paint::text(&say::plan(advice), width, paint::Folds::Closed)
}

/// Writes the answers to what was asked of sessions, wrapped to the width.
pub fn asked_text(answers: &[model::Asked], width: usize) -> String {
    paint::text(&say::asked(answers), width, paint::Folds::Open)
}

/// Returns sessions compared with each other as one self-contained page in the look of the report: what
/// makes the comparison doubtful, what differs, the facts, and each experiment with a chart of ratios.
/// What others wrote is escaped, as in the report.
pub fn comparison_html(comparison: &Comparison) -> String {
    say::compare::page(comparison)
}

/// Text broken at spaces into lines of at most `width` columns, made harmless to a terminal; a
/// longer word is cut.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    text::wrapped(text, width)
}

/// Text from outside in one line, without what a terminal would obey.
pub fn harmless(text: &str) -> String {
    words::cleaned(text)
}

/// A treatment in the words of the factors that have several levels, as tables name it.
pub fn treatment(design: &Design, treatment: &Treatment) -> String {
    let varying = design.factors.iter().filter(|factor| factor.levels.len() > 1);
    let varying: Vec<String> = varying.map(|factor| factor.name.clone()).collect();
    words::treatment(design, treatment, &varying)
}

/// A command line as a shell would take it.
pub fn command_line(words: &[String]) -> String {
    words::command_line(words)
}

/// What the two pages of a session are called where they link to each other.
pub const REPORT_PAGE: &str = "report.html";
/// See [`REPORT_PAGE`].
pub const CLAIMS_PAGE: &str = "claims.html";

/// What people say beside what this machine says, as one self-contained page: every claim of the
/// session with its source, mechanism, verdict, number, floor and grade; refuted claims first.
pub fn claims_html(session: &Session<'_>) -> String {
    page::sayings(session)
}

/// All planted answers and diagnoses of a session for a terminal of `width` columns, with ANSI
/// colours: each with its mark, what was planted, the truth, the interval found and whether it was
/// found. Empty where nothing was planted.
pub fn selftest_text(session: &Session<'_>, width: usize) -> String {
    say::known_answers(session, width)
}

/// What a session of `scruple scale` says, computed from its trials; none for a session of another
/// kind. `scruple` is the version that analyses.
pub fn scaling(manifest: &Manifest, records: &[Record], scruple: &str) -> Option<Scaling> {
    say::scale::of(manifest, records, scruple)
}

/// How a program scales, for a terminal of `width` columns, with ANSI colours: the answer, what to
/// do, throughput over n as a chart, where the workers' time went, the causes, the laws. What
/// others wrote is made harmless.
pub fn scaling_text(scaling: &Scaling, width: usize) -> String {
    paint::text(&say::scale::document(scaling), width, paint::Folds::Closed)
}

/// The final summary of a session for a terminal of `width` columns, with ANSI colours. Each
/// experiment's question with its answer, each claim with its verdict and who makes it, then
/// what may be trusted and what it cost. Where that is more than `height` lines, long claims are
/// cut, then blank lines go, then only refuted claims keep lines of their own, and at last each
/// experiment has one line and the refuted claims are named. Without a `height`
/// accounts and exhibits are printed in full; with one, they are a line that points to the report.
pub fn terminal(session: &Session<'_>, width: usize, height: Option<usize>) -> String {
    say::terminal(session, width, height)
}

/// Experiments of a session drawn for a terminal of `width` columns (40 to 160), with ANSI colours:
/// each of those named, or all where none is, with its question, answers, the figures that the page
/// draws, accounts, claims and floors. A name that the session does not hold draws nothing.
pub fn charts(
    session: &Session<'_>,
    experiments: &[String],
    width: usize,
    letters: Letters,
) -> String {
    say::charts(session, experiments, width, letters)
}

/// Text for a terminal in the letters that it understands. In ASCII "µ" is "u" and "×" is "x"; a
/// letter of a name that has no likeness is "?". Colours stay. A line that becomes longer than
/// `width` columns is broken.
pub fn in_letters(text: &str, width: usize, letters: Letters) -> String {
    letters.of_lines(text, width)
}

/// Writes the grade of a self-test for a terminal: for which size of effect the machine can be
/// trusted, what was missed, wrong or not tested, and what the words of the table mean.
pub fn grade_text(selftest: &Selftest, width: usize) -> String {
    paint::text(&say::selftest::grade(selftest), width, paint::Folds::Open)
}

/// Returns sessions compared with each other, for a terminal of `width` columns, with ANSI colours: with
/// a `height` the conditions, what makes the comparison doubtful, the answer and the largest differences
/// that fit; without one every number.
pub fn comparison_text(comparison: &Comparison, width: usize, height: Option<usize>) -> String {
    say::compare::terminal(comparison, width, height)
}

/// Returns the result of a fleet, for a terminal of `width` columns, with ANSI colours: its nodes, which
/// are one machine, how far those of one kind lie apart, outliers, then their sessions compared with that
/// of the first as in [`comparison_text`]. With a `height` about what fits.
pub fn fleet_text(result: &FleetResult, width: usize, height: Option<usize>) -> String {
    say::fleet::terminal(result, width, height)
}

/// Returns the same as one self-contained page. What nodes and engines said is escaped.
pub fn fleet_html(result: &FleetResult) -> String {
    say::fleet::page(result)
}

/// Which resource limits a session's command; `None` where the session squeezed nothing.
pub fn why(session: &Session<'_>) -> Option<Why> {
    say::why::of(session)
}

/// The answer for a terminal of `width` columns, with ANSI colours: what limits the command, each
/// squeeze with its elasticity and its strengths, what the kernel counted, and what was not
/// squeezed.
pub fn why_text(why: &Why, width: usize) -> String {
    paint::text(&say::why::document(why), width, paint::Folds::Open)
}

/// The times of a load as curves: pairs of a time in ns and the share of the requests that had been
/// answered (or sent, for lateness) by then, 0 to 1, both ascending. An empty curve is not drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadCurves {
    /// From due to answered.
    pub response: Vec<(u64, f64)>,
    /// From sent to answered.
    pub service: Vec<(u64, f64)>,
    /// From due to sent.
    pub lateness: Vec<(u64, f64)>,
}

/// Style of the pages of loads beyond the common one: an address is long, and tables are narrow.
const LOAD_STYLE: &str = "h1 { font-size: clamp(1.35rem, 4vw, 2rem); }
.scroll > table { width: auto; min-width: min(100%, 30rem); }";

/// Returns what a load did, for a terminal of `width` columns, with ANSI colours: throughput, caveats,
/// errors, the three times side by side, and details. What others wrote is made harmless.
pub fn load_terminal(result: &LoadResult, width: usize) -> String {
    paint::text(&say::load(result, &LoadCurves::default()), width, paint::Folds::Closed)
}

/// Returns the same as one self-contained page in the look of the report, with the distributions of the
/// three times and all counts. What others wrote is escaped.
pub fn load_page(result: &LoadResult, curves: &LoadCurves) -> String {
    paint::page(&say::load(result, curves), LOAD_STYLE)
}

/// Returns the highest rate that a server sustains, for a terminal of `width` columns, with ANSI colours.
pub fn knee_terminal(knee: &Knee, width: usize) -> String {
    paint::text(&say::knee(knee), width, paint::Folds::Closed)
}

/// Returns a server's response times next to those of a simulated one, for a terminal of `width`
/// columns, with ANSI colours.
pub fn prediction_terminal(prediction: &LoadPrediction, width: usize) -> String {
    paint::text(&say::prediction(prediction, &[]), width, paint::Folds::Closed)
}

/// The response times of one load of a prediction as curves: pairs of a time in ns and the share of
/// the requests, 0 to 1, that had been answered by then, both ascending; of the requests that were
/// answered in both. Empty where there are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PredictedCurves {
    /// As measured.
    pub measured: Vec<(u64, f64)>,
    /// As simulated.
    pub predicted: Vec<(u64, f64)>,
}

/// Returns the same as one self-contained page in the look of the report; `curves` has an element for
/// each load, in their order. What others wrote is escaped.
pub fn prediction_page(prediction: &LoadPrediction, curves: &[PredictedCurves]) -> String {
    paint::page(&say::prediction(prediction, curves), LOAD_STYLE)
}
