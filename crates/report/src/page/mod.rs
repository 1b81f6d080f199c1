//! The report as one page: chapters in the order in which people read.

mod bind;
mod sayings;
mod slim;

pub use sayings::sayings;

use crate::doc::Block;
use crate::say::chapter::{Chapter, chapters};
use crate::say::{experiment, opening};
use crate::text::Letters;
use crate::{Session, chart, paint, say, words};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
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
    include_str!("print.css")
);

/// What the page does by itself: tooltips and keys. It reads data attributes and writes text,
/// never markup.
const SCRIPTS: [&str; 4] =
    [include_str!("../page.js"), include_str!("rail.js"), SORT, include_str!("raw.js")];

/// The most bytes of a page; the trials take what the rest leaves.
const PAGE_BYTES: usize = 2_600_000;

/// What stands around the style, the body, the trials and the scripts takes less.
const AROUND_BYTES: usize = 10_000;

/// Sorts the tables that are on a page, of a report as of a comparison.
const SORT: &str = include_str!("sort.js");

/// The bytes of trials that a page carries however large the rest of it is.
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

/// See [`crate::html`] and [`crate::html_alone`].
pub(crate) fn page(session: &Session<'_>, neighbour: Neighbour) -> String {
    let chapters = chapters(session);
    let [trust, machine, harness, repeat] = say::around(session);
    let title = format!("scruple · {}", words::short(&session.manifest.session, 120));
    let body = html! {
        a.skip href="#contents" { "To the contents" }
        (opening::rail(&chapters))
        main {
            (opening(session, &chapters))
            (section("trust", &trust))
            (opening::contents(session, &chapters, neighbour))
            @for chapter in &chapters { (self::chapter(session, chapter)) }
            (section("environment", &machine))
            (section("harness", &harness))
            (section("repeat", &repeat))
        }
        (footer(session))
        div #tip role="status" aria-live="polite" hidden {}
    };
    // Behind all that is read: a browser shows the page before it comes to them.
    let body = PreEscaped(slim(&bind::percents(&body.0)));
    let parts = [STYLE, CHAPTERS].into_iter().chain(SCRIPTS);
    let taken = body.0.len() + AROUND_BYTES + parts.map(str::len).sum::<usize>();
    let room = PAGE_BYTES.saturating_sub(taken).max(TRIALS_BYTES);
    let trials = say::trials::data(session, &chapters, room);
    let trials = html! {
        @for data in &trials {
            script type="application/gzip" id={ (data.of) "-data" } { (PreEscaped(&data.gzip)) }
        }
    };
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

/// Returns the opening: the session, what must be read first, the answers.
fn opening(session: &Session<'_>, chapters: &[Chapter<'_>]) -> Markup {
    let manifest = session.manifest;
    html! {
        header.opening #opening {
            p.eyebrow { "scruple · a session of " (words::moment(manifest.started_unix_ms)) }
            h1 { (opening::title(session)) " " bdi { (opening::host(&manifest.environment.host)) } }
            p.lead { (opening::lead(session)) }
            (paint::html_blocks(&opening::before(session)))
            (paint::html_blocks(&[opening::key(session)]))
            (opening::answers(session, chapters))
        }
    }
}

/// Returns an experiment's part of the page.
fn chapter(session: &Session<'_>, chapter: &Chapter<'_>) -> Markup {
    let summary = chapter.summary;
    let first = chapter.design.map(|design| design.chapter.as_str()).unwrap_or_default();
    let own = words::anchor(&summary.id);
    let subject = chapter.design.and_then(|design| design.subject.as_ref());
    let squeezed = subject.is_some_and(|subject| subject.squeeze.is_some());
    let why = say::why::why(session).filter(|_| squeezed);
    let scaling =
        || say::scale::scaling(session.manifest, session.records, &session.summary.scruple);
    let scaling = scaling().filter(|_| subject.is_some() && !squeezed);
    let answer =
        why.as_ref().map(say::why::blocks).or_else(|| scaling.as_ref().map(say::scale::blocks));
    let around = experiment::Around { answer, trials: say::trials::place(session, chapter) };
    let blocks = experiment::chapter(session, chapter, around, Letters::Unicode);
    html! {
        section.experiment id=(own) aria-label=(words::plain(&summary.id)) {
            p.eyebrow {
                @if !first.is_empty() { (words::short(first, 80)) " · " }
                (words::short(&summary.id, 80))
            }
            div.anchored {
                h2 { (opening::heading(&summary.question)) }
                a.anchor href={ "#" (own) } aria-label="Link to this chapter" { "#" }
            }
            (paint::html_blocks(&blocks))
            p.back { a href="#contents" { "Back to the contents" } }
        }
    }
}

/// Returns blocks as a section with a name.
fn section(id: &str, blocks: &[Block<'_>]) -> Markup {
    html! { section id=(id) { (paint::html_blocks(blocks)) } }
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
