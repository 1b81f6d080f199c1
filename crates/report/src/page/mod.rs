//! The report as one page: chapters in the order in which people read.

mod accounts;
mod bind;
mod claims;
mod definitions;
mod exhibits;
mod experiment;
mod fineness;
mod machine;
mod meter;
mod numbers;
mod opening;
mod planted;
mod raw;
mod sayings;
mod slim;
mod squeezes;
mod subject;
mod tags;
mod why;

pub(crate) use sayings::sayings;

use crate::chart::{self, Figure};
use crate::missing::{self, Measured, Missing};
use crate::{Session, evidence, words};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::{AccountResult, Design, ExperimentSummary, Profile, QuantityResult, Record, Treatment};
use sha2::{Digest, Sha256};
use slim::slim;

/// The look. Colours are variables, so that the dark scheme changes them in one place.
const STYLE: &str =
    concat!(include_str!("../page.css"), include_str!("charts.css"), include_str!("sort.css"));

/// What the chapters around the charts add to it.
const CHAPTERS: &str = concat!(
    include_str!("raw.css"),
    include_str!("rail.css"),
    include_str!("subject.css"),
    include_str!("scaling.css"),
    include_str!("print.css"),
    include_str!("squeezes.css")
);

/// What the page does by itself: tooltips and keys. It reads data attributes and writes text,
/// never markup.
const SCRIPTS: [&str; 4] =
    [include_str!("../page.js"), include_str!("rail.js"), SORT, include_str!("raw.js")];

/// A page is to have at most so many bytes; the trials take what the rest leaves.
const PAGE_BYTES: usize = 2_600_000;

/// What stands around the style, the body, the trials and the scripts takes less.
const AROUND_BYTES: usize = 10_000;

/// Sorts the tables that are on a page, of a report as of a comparison.
const SORT: &str = include_str!("sort.js");

/// So many bytes of trials a page carries however large the rest of it is.
const TRIALS_BYTES: usize = 100_000;

/// Nothing is fetched from anywhere, even if something on the page asked for it; no script runs but this
/// one, known by its digest; and no form is sent and no link bent, which `default-src` says nothing of.
/// (Content Security Policy Level 3, 2.3.1: a hash source is the digest in base64.)
fn policy(script: &str) -> String {
    let digest = BASE64_STANDARD.encode(Sha256::digest(script));
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; \
         img-src data:; base-uri 'none'; form-action 'none'"
    )
}

/// An experiment with all that is shown of it.
pub(crate) struct Chapter<'a> {
    pub(crate) summary: &'a ExperimentSummary,
    /// Absent where the manifest lost it: the numbers are shown all the same.
    pub(crate) design: Option<&'a Design>,
    pub(crate) records: Vec<&'a Record>,
    /// Those that tell what became of each treatment: [`missing::witnesses`].
    pub(crate) witnesses: Vec<&'a Record>,
    pub(crate) figures: Vec<Figure<'a>>,
    pub(crate) profile: Profile,
    /// What is said once of all claims: [`evidence::raises_most`].
    pub(crate) raises_most: Option<&'a str>,
}

impl Chapter<'_> {
    fn measured(&self) -> Option<Measured<'_>> {
        let design = self.design?;
        Some(Measured { design, records: &self.witnesses, profile: self.profile })
    }

    /// Why a quantity has no number.
    fn missing(&self, result: &QuantityResult) -> Missing {
        missing::of_quantity(self.measured(), &result.quantity, &result.remark)
    }

    /// Why an account has no number.
    fn missing_account(&self, account: &AccountResult) -> Missing {
        missing::of_account(self.measured(), &account.id, &account.remark)
    }

    /// What tells its treatments apart.
    fn varying(&self) -> Vec<String> {
        self.design.map(|design| words::varying(design, &self.witnesses)).unwrap_or_default()
    }

    /// A treatment as a row's name.
    fn name(&self, treatment: &Treatment, varying: &[String]) -> String {
        match self.design {
            Some(design) => words::treatment(design, treatment, varying),
            None => words::short(&treatment.to_string(), words::LABEL_CHARACTERS_MAX),
        }
    }
}

/// See [`crate::html`] and [`crate::html_alone`].
pub(crate) fn page(session: &Session<'_>, neighbour: Neighbour) -> String {
    let chapters = chapters(session);
    let title = format!("scruple · {}", words::short(&session.manifest.session, 120));
    let body = html! {
        a.skip href="#contents" { "To the contents" }
        (opening::rail(&chapters))
        main {
            (opening::opening(session, &chapters))
            (opening::trust(session))
            (opening::contents(session, &chapters, neighbour))
            @for chapter in &chapters { (experiment::chapter(session, chapter)) }
            (machine::environment(session))
            (machine::harness(session))
            (machine::repeat(session))
        }
        (footer(session))
        div #tip role="status" aria-live="polite" hidden {}
    };
    // Behind all that is read: a browser shows the page before it comes to them.
    let body = PreEscaped(slim(&bind::percents(&body.0)));
    let parts = [STYLE, CHAPTERS].into_iter().chain(SCRIPTS);
    let taken = body.0.len() + AROUND_BYTES + parts.map(str::len).sum::<usize>();
    let room = PAGE_BYTES.saturating_sub(taken).max(TRIALS_BYTES);
    let trials = raw::embed(&raw::Reader::new(session), &chapters, room);
    document(session, &title, &html! { (body) (trials) }, &SCRIPTS)
}

/// Whether the page of claims lies in the same folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Neighbour {
    /// It can be linked to.
    Beside,
    /// Nobody knows where this page will lie.
    Elsewhere,
}

/// A page of a session that needs nothing but itself.
fn document(session: &Session<'_>, title: &str, body: &Markup, scripts: &[&str]) -> String {
    sheet(&session.summary.scruple, title, body, &[STYLE, CHAPTERS], scripts)
}

/// A page in the look of the report that is not of one session alone: with style and script of
/// its own beside the report's.
pub(crate) fn document_of(scruple: &str, title: &str, body: &Markup, style: &str) -> String {
    let body = PreEscaped(bind::percents(&body.0));
    sheet(scruple, title, &html! { (body) }, &[STYLE, style], &[SCRIPTS[0], SORT])
}

/// A page that needs nothing but itself.
fn sheet(scruple: &str, title: &str, body: &Markup, styles: &[&str], scripts: &[&str]) -> String {
    let script = scripts.concat();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(&script));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "scruple " (words::short(scruple, 40)) };
                link rel="icon" href="data:,";
                title { (title) }
                style { @for style in styles { (PreEscaped(style)) } }
            }
            body {
                (chart::definitions())
                (body)
                script { (PreEscaped(&script)) }
            }
        }
    };
    slim(&page.into_string())
}

fn chapters<'a>(session: &Session<'a>) -> Vec<Chapter<'a>> {
    let mut chapters = chapters_without_figures(session);
    for chapter in &mut chapters {
        chapter.figures = chapter
            .design
            .map(|design| {
                let environment = &session.manifest.environment;
                let records = &chapter.records;
                chart::figures(design, chapter.summary, records, chapter.profile, environment)
            })
            .unwrap_or_default();
    }
    let figures = chapters.iter().flat_map(|chapter| &chapter.figures);
    let cells = figures.map(Figure::dotted).sum();
    let most = chart::dots_per_cell(cells);
    for figure in chapters.iter_mut().flat_map(|chapter| &mut chapter.figures) {
        figure.thin(most);
    }
    chapters
}

fn chapters_without_figures<'a>(session: &Session<'a>) -> Vec<Chapter<'a>> {
    let raises_most = evidence::raises_most(session);
    let chapter = |summary: &'a ExperimentSummary| {
        let records = session.records_of(&summary.id);
        Chapter {
            raises_most,
            summary,
            design: session.design(&summary.id),
            witnesses: missing::witnesses(&records),
            records,
            figures: Vec::new(),
            profile: session.manifest.options.profile,
        }
    };
    session.experiments().map(chapter).collect()
}

fn footer(session: &Session<'_>) -> Markup {
    html! {
        footer {
            p {
                "Measured by scruple " (session.manifest.scruple) ", analysed by scruple "
                (session.summary.scruple) ". Every number on this page can be computed again "
                "from " code { "trials.ndjson" } " beside it; this file needs no network."
            }
        }
    }
}

/// The anchor of an experiment.
pub(crate) fn anchor(id: &str) -> String {
    format!("experiment-{}", words::short(id, 64))
}

/// A box whose kind is said by a word and a mark, not by its colour alone.
pub(crate) fn note(kind: &str, mark: &str, word: &str, content: &Markup) -> Markup {
    html! {
        div.note.(kind) {
            span.note-word { (mark) " " (word) }
            div { (content) }
        }
    }
}
