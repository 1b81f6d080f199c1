//! Opening and replacing files of the folder.

use crate::Error;
use std::ffi::OsStr;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Everybody may read a session; the umask takes away what the user wants to keep.
const FILE_MODE: u32 = 0o644;
const FOLDER_MODE: u32 = 0o755;
const PRIVATE_FOLDER_MODE: u32 = 0o700;

/// Opens a file that must be new. Every write goes to its end, wherever that is: after a cut, a
/// position of its own would leave a hole.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    writable().read(true).append(true).create_new(true).open(path)
}

/// Opens a file that only ever grows at its end, or is cut. It must be there, and no link.
pub(crate) fn open_to_append(path: &Path) -> io::Result<File> {
    regular(writable().read(true).append(true).open(path)?)
}

/// Opens a file, which is made if it is not there; no link.
pub(crate) fn open_or_create(path: &Path) -> io::Result<File> {
    regular(writable().write(true).create(true).truncate(false).open(path)?)
}

/// Opens a file to read, which may be a link: nothing is changed through it.
pub(crate) fn open_to_read(path: &Path) -> io::Result<File> {
    // A named pipe in a folder from elsewhere would block an ordinary open for ever.
    regular(OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?)
}

/// A session folder from elsewhere may hold links to places that are not ours to write.
fn writable() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(FILE_MODE).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    options
}

fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}

/// Where a file is that this process has open, as against the path at which it opened it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// At its path.
    Here,
    /// It was moved, or a folder above it.
    Moved(PathBuf),
    /// Another file is at its path, and it has no name that is known.
    Replaced,
    /// There is nothing at its path, and it has no name that is known.
    Removed,
    /// At its path, but it does not hold what this process has written into it.
    Changed,
}

impl Place {
    /// Where `file` is, which was opened at `path`.
    pub(crate) fn of(file: &File, path: &Path) -> Place {
        if is_at(file, path) {
            return Place::Here;
        }
        // The kernel's name of an open file follows it. It ends in " (deleted)" where there is none.
        let name = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
        match name.ok().filter(|now| is_at(file, now)) {
            Some(now) => Place::Moved(now),
            None if path.symlink_metadata().is_ok() => Place::Replaced,
            None => Place::Removed,
        }
    }
}

/// Whether a path names the file itself, and no link to it.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(held), Ok(named)) => (held.dev(), held.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// What came of a removal; something that was not there is gone.
pub(crate) fn gone(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })
}

/// Folders that were made for a session. Unless they are kept, those that are still empty go again.
#[derive(Debug)]
pub(crate) struct NewFolders {
    /// The innermost first.
    made: Vec<PathBuf>,
}

impl NewFolders {
    /// A folder with its parents; it may be there already.
    pub(crate) fn create(path: &Path) -> io::Result<NewFolders> {
        let named = path.ancestors().filter(|folder| !folder.as_os_str().is_empty());
        let missing = named.take_while(|folder| folder.symlink_metadata().is_err());
        let new = NewFolders { made: missing.map(Path::to_path_buf).collect() };
        DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)?;
        Ok(new)
    }

    /// They stay.
    pub(crate) fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        for folder in &self.made {
            // Not if somebody has put something into it meanwhile.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// A folder that only this user may enter; it may be there already, but not as a link.
pub(crate) fn create_private_folder(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(PRIVATE_FOLDER_MODE).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if path.symlink_metadata()?.is_dir() { Ok(()) } else { Err(error) }
        }
        other => other,
    }
}

/// Gives `name` in `dir` the new content, at once or not at all: a reader, also after a crash, finds
/// the old file or the new one and never a part.
///
/// The caller holds the session's lock, so a temporary file that is already there was left by a
/// process that was killed.
pub(crate) fn replace(dir: &Path, name: &str, content: &[u8]) -> Result<(), Error> {
    sys::replace::file(dir, name, &temporary(name), content)
        .map_err(Error::io("write", &dir.join(name)))
}

/// Where [`replace`] puts the new content of a file before it has its name.
pub(crate) fn temporary(name: &str) -> String {
    format!(".{name}.new")
}

/// Whether a folder holds nothing but files of these names, those of `empty` with nothing in them.
pub(crate) fn holds_only(dir: &Path, empty: &[&str], any: &[&str]) -> io::Result<bool> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let is = |names: &[&str]| names.iter().any(|name| OsStr::new(name) == entry.file_name());
        let nothing_in_it = || entry.metadata().is_ok_and(|it| it.is_file() && it.len() == 0);
        let file = || entry.file_type().is_ok_and(|it| it.is_file());
        if !(is(empty) && nothing_in_it() || is(any) && file()) {
            return Ok(false);
        }
    }
    Ok(true)
}
