//! Draws a document: as a page, or as text for a terminal.

mod html;
mod table;
mod terminal;
#[cfg(test)]
mod tests;

pub(crate) use html::{blocks as html_blocks, page};
pub(crate) use terminal::{Folds, lines, text};
