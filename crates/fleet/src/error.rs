use std::fmt::Display;
use std::io;
use std::path::Path;

/// What went wrong with a fleet: what it is about, and what would be right.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

impl Error {
    /// An error that is about something: a name, a file, an engine's program.
    pub(crate) fn of(what: impl Display, why: impl Display) -> Error {
        Error(format!("{what}: {why}"))
    }

    /// For `map_err`: what was tried, and on what.
    pub(crate) fn io(action: &str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error(format!("cannot {action} {}: {source}", path.display()))
    }
}
