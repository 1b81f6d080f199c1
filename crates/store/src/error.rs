use crate::Place;
use std::io;
use std::path::{Path, PathBuf};

/// What can go wrong with a session folder. Every text names the file and what would be right.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried: "write", "create"…
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A new session needs a folder of its own.
    #[error("{} is not empty: a new session needs a new or empty folder", dir.display())]
    NotEmpty {
        /// The folder.
        dir: PathBuf,
    },
    /// There is no session where one was expected.
    #[error("{} is not a session: {why}", path.display())]
    NotASession {
        /// What was given.
        path: PathBuf,
        /// What is missing or wrong.
        why: String,
    },
    /// A later scruple wrote it.
    #[error(
        "{} has session format {found}, and this scruple reads up to {known}: \
         use the scruple that wrote it, or a newer one",
        path.display()
    )]
    Newer {
        /// The manifest.
        path: PathBuf,
        /// The format it has.
        found: u64,
        /// The newest format this build reads.
        known: u32,
    },
    /// A file does not hold what it should.
    #[error("{}, line {line}: {what}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
    /// A file says what cannot be so, or asks for more than a reader should give.
    #[error("{}: {what}", path.display())]
    Inconsistent {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what would be right.
        what: String,
    },
    /// A file has more bytes than a session's may have.
    #[error(
        "{} has {found} bytes, and a session has at most {limit}: \
         give fewer experiments or blocks to a session",
        path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bytes it has, or would have.
        found: u64,
        /// The most it may have.
        limit: u64,
    },
    /// What was to be written could not be read again, so it was not written.
    #[error("cannot store this in {}: {what}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What a reader would stumble over.
        what: String,
    },
    /// The file system, or a filter of system calls, has no locks.
    #[error("cannot lock {}: {cause}; another file system may allow it (--output DIR)", path.display())]
    Unlockable {
        /// The lock file.
        path: PathBuf,
        /// Why not.
        cause: sys::Error,
    },
    /// A file is no longer at its path, or holds something else than was written.
    #[error("{} was {}while its session was measured", path.display(), displaced(place))]
    Displaced {
        /// Where it was.
        path: PathBuf,
        /// Where it is.
        place: Place,
    },
    /// Another process is writing it.
    #[error("session {} is being written by another scruple: wait until it has ended", dir.display())]
    Busy {
        /// The folder.
        dir: PathBuf,
    },
}

/// What was done to a file that is elsewhere, with a blank at the end.
fn displaced(place: &Place) -> String {
    match place {
        Place::Here => String::new(),
        Place::Moved(now) => format!("moved to {} ", now.display()),
        Place::Replaced => "replaced by another file ".into(),
        Place::Removed => "removed ".into(),
        Place::Changed => "changed by another program ".into(),
    }
}

impl Error {
    /// For `map_err`: what was tried, and on what.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::Io { action, path, source }
    }
}
