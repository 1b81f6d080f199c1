//! A page that needs nothing but itself: its head, look, scripts, contents beside the text, and data.

use super::html::{blocks, inline};
use super::slim::slim;
use crate::chart;
use crate::doc::{Block, Doc, Text};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use wording::short;

/// The look. Colours are variables, so that the dark scheme changes them in one place.
const STYLE: &str = include_str!("page.css");

/// What a page does by itself: tooltips and keys, contents, sorting, trials, a choice of verdicts. It
/// reads data attributes and writes text, never markup.
const SCRIPT: &str = concat!(
    include_str!("page.js"),
    include_str!("figure.js"),
    include_str!("rail.js"),
    include_str!("sort.js"),
    include_str!("raw.js"),
    include_str!("claims.js"),
    include_str!("search.js")
);

/// The most bytes of a page; data take what the rest leaves.
const PAGE_BYTES: usize = 2_600_000;

/// What stands around the style, the body, the data and the script takes less.
const AROUND_BYTES: usize = 10_000;

/// The bytes of data that a page carries however large the rest of it is.
const DATA_BYTES: usize = 100_000;

/// Returns the page; `style` is what its drawings need beside the common look.
pub(crate) fn page(doc: &Doc<'_>, style: &str) -> String {
    // What comes before the second heading is the opening.
    let opening = doc.blocks.iter().position(begins_section);
    let (opening, rest) = doc.blocks.split_at(opening.unwrap_or(doc.blocks.len()));
    let body = html! {
        @if !doc.contents.is_empty() {
            a.skip href="#contents" { "To the contents" }
            (rail(&doc.contents))
        }
        main data-source=[(!doc.source.is_empty()).then_some(&doc.source)] {
            header.opening #opening {
                p.eyebrow { (inline(&doc.kind)) }
                (blocks(opening))
            }
            @for section in sections(rest) {
                @if begins_by_itself(&section[0]) { (blocks(section)) }
                @else { section { (blocks(section)) } }
            }
        }
        footer { p { (inline(&doc.footer)) } }
        div #tip role="status" aria-live="polite" hidden {}
    };
    let body = slim(&body.0);
    let taken = body.len() + AROUND_BYTES + STYLE.len() + style.len() + SCRIPT.len();
    let room = PAGE_BYTES.saturating_sub(taken).max(DATA_BYTES);
    let data = doc.data.as_ref().map(|data| data(room)).unwrap_or_default();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "scruple " (short(&doc.scruple, 40)) };
                link rel="icon" href="data:,";
                title { "scruple · " (short(&doc.title, 120)) }
                style { (PreEscaped(STYLE)) (PreEscaped(style)) }
            }
            body {
                (chart::definitions())
                (PreEscaped(&body))
                // Behind all that is read: a browser shows the page before it comes to them.
                @for data in &data {
                    script type="application/gzip" id={ (data.of) "-data" } {
                        (PreEscaped(&data.gzip))
                    }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// Nothing is fetched from anywhere, even if something on the page asked for it; no script runs but this
/// one, known by its digest; and no form is sent and no link bent, which `default-src` says nothing of.
/// (Content Security Policy Level 3, 2.3.1: a hash source is the digest in base64.)
fn policy() -> String {
    let digest = BASE64_STANDARD.encode(Sha256::digest(SCRIPT));
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; \
         img-src data:; base-uri 'none'; form-action 'none'"
    )
}

/// Returns the contents that stay beside the text, or fold away where there is no room.
fn rail(contents: &[Text]) -> Markup {
    html! {
        nav #rail aria-label="Chapters" {
            button.rail-toggle type="button" aria-controls="rail-list" aria-expanded="false" hidden {
                "Contents"
            }
            ol #rail-list { @for link in contents { li { (inline(link)) } } }
        }
    }
}

fn begins_by_itself(block: &Block<'_>) -> bool {
    matches!(block, Block::Section(..) | Block::Chapter(..))
}

fn begins_section(block: &Block<'_>) -> bool {
    matches!(block, Block::Heading(2, _)) || begins_by_itself(block)
}

/// Cuts blocks before each heading of level 2, and around blocks with an address.
fn sections<'d, 'a>(blocks: &'d [Block<'a>]) -> Vec<&'d [Block<'a>]> {
    let mut cuts: Vec<usize> = (0..blocks.len())
        .filter(|index| {
            let before = index.checked_sub(1).map(|at| &blocks[at]);
            before.is_none_or(begins_by_itself) || begins_section(&blocks[*index])
        })
        .collect();
    cuts.push(blocks.len());
    cuts.windows(2).map(|pair| &blocks[pair[0]..pair[1]]).collect()
}
