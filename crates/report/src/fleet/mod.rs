//! The machines of a fleet side by side, for a terminal and as a page.

mod page;
mod text;
mod words;

pub(crate) use page::page;
pub(crate) use text::text;

#[cfg(test)]
mod tests;
