use std::io;
use std::path::{Path, PathBuf};

/// What can go wrong with a fleet. Every text names what it is about, and what would be right.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A name from outside holds what no name of that kind holds.
    #[error("{what} {text:?}: {why}")]
    Name {
        /// What it names: "--partition", "the folder".
        what: String,
        /// The text.
        text: String,
        /// What is wrong with it, and what would be right.
        why: String,
    },
    /// The engine's program is not there, refused, or did not end.
    #[error("{program}: {why}")]
    Engine {
        /// The program.
        program: String,
        /// What it said, or what became of it.
        why: String,
    },
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A folder or file is not what it should be.
    #[error("{}: {what}", path.display())]
    Folder {
        /// The folder or file.
        path: PathBuf,
        /// What is wrong, and what would be right.
        what: String,
    },
}

impl Error {
    /// For `map_err`: what was tried, and on what.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::Io { action, path, source }
    }

    /// A folder or file that is not what it should be.
    pub(crate) fn folder(path: &Path, what: impl Into<String>) -> Error {
        Error::Folder { path: path.to_path_buf(), what: what.into() }
    }
}
