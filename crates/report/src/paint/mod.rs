//! Draws a document: as a page, as text for a terminal, or its figures as pictures.

mod claims;
mod csv;
mod html;
mod markdown;
mod picture;
mod sheet;
mod slim;
mod styled;
mod table;
mod terminal;
#[cfg(test)]
mod tests;

pub(crate) use csv::csv;
#[cfg(test)]
pub(crate) use html::blocks as html_blocks;
pub(crate) use markdown::markdown;
pub(crate) use picture::{Around, picture};
pub use picture::{Sheet, Theme};
pub(crate) use sheet::page;
pub(crate) use terminal::{Folds, lines, text};

use crate::doc::Doc;

/// Style of the pages of loads beyond the common one: an address is long, and tables are narrow.
const LOAD_STYLE: &str = "h1 { font-size: clamp(1.35rem, 4vw, 2rem); }
.scroll > table { width: auto; min-width: min(100%, 30rem); }";

impl Doc<'_> {
    /// Returns the document for a terminal of `width` columns, with ANSI colours.
    pub fn text(&self, width: usize) -> String {
        text(self, width, Folds::Closed)
    }

    /// Returns the document as one self-contained page in the look of the report. What others wrote is
    /// escaped.
    pub fn page(&self) -> String {
        page(self, LOAD_STYLE)
    }
}
