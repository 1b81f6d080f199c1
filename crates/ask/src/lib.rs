//! The quantity language: one notation for every number that a session can answer with.
//!
//! ```text
//! condition  = quantity relation | number "<=" quantity "<=" number
//! relation   = "<" n | "<=" n | ">" n | ">=" n | "=" n | n ".." n | "within" share "of" n
//! quantity   = item | item "/" item | item "-" item
//!            | "growth(" item "over" factor ")"
//!            | "linearity(" item "over" factor ")"
//!            | "proportion(" item "over" factor "," level "to" level ")"
//!            | "share(" item "-" item "of" item "-" item ")"
//!            | "rate(" item ")"
//! item       = [experiment "."] response ["[" level {"," level} "]"]
//! level      = name | factor "=" name
//! ```
//!
//! A factor that is not named stands at its baseline; in `rate` it is free. A bare level name is
//! enough where one factor alone has it. A name that holds one of `,=[]()"` stands in quotation
//! marks, in which `\` precedes a quotation mark or a backslash.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

mod figure;
mod holds;
mod names;
mod near;
mod parse;
mod print;
mod resolve;
#[cfg(test)]
mod tests;
pub mod units;

pub use figure::plot;
pub use holds::{Terms, region};
pub use near::{hint, meant};
pub use parse::experiment;
pub use print::full_text;
pub use resolve::{cell, condition, quantity, term};

/// An expression that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {}: {what}", .at + 1)]
pub struct Error {
    /// The byte of the expression at which it is wrong.
    pub at: usize,
    /// What is wrong, and what would be right.
    pub what: String,
}
