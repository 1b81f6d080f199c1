//! Draws a document: as a page, or as text for a terminal.

mod claims;
mod html;
mod table;
mod terminal;
#[cfg(test)]
mod tests;

pub(crate) use html::{blocks as html_blocks, claims as html_claims, inline, page};
pub(crate) use terminal::{Folds, lines, text};
