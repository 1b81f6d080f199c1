//! The study file: how users describe an experiment on programs of their own.
//!
//! Text in, [`model::Design`] out, with the program as its [`model::Subject`]; or an [`Error`] that
//! names the file, the line, the column and the key, and says what would be right. This room
//! opens no file and looks for no program: [`read`] asks its caller for what it cannot know.
//!
//! docs/studies.md describes every key.
//!
//! [`experiment()`] and [`presets`] read the files of the catalog; [`scale()`] and [`why()`] make the designs of the commands of these names.

mod claims;
mod example;
mod experiment;
mod factors;
mod figures;
mod findings;
mod metrics;
mod place;
mod preset;
mod read;
mod responses;
mod scale;
mod spoken;
mod subject;
mod table;
mod why;

pub use example::{course, example};
pub use experiment::{experiment, experiment_with, measured};
pub use place::{Error, Place};
pub use preset::{Preset, presets};
pub use read::{detect, read};
pub use scale::{PrintedWork, ScaleRequest, scale};
pub use spoken::{Shell, Spoken, Variable, spoken, spoken_words};
pub use why::{WhyRequest, why};

/// Reports whether a text can be the name of a factor or a metric: letters a-z, digits and `_`.
fn is_word(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    !name.is_empty() && name.chars().all(fits)
}

/// Returns the error for a name that is none of those known.
fn no_such<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    format!("{name:?} is no {what}; {}", ask::hint(name, known))
}

/// What stands around a study file.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    /// What the file is called in errors.
    pub file: &'a str,
    /// The folder that it lies in, as an absolute path.
    pub folder: &'a str,
    /// The study's name if it gives none: any text, such as the file's name without its ending.
    pub stem: &'a str,
}
