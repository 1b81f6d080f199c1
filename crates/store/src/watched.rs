//! The two files of a session as their writer left them, so that a change by somebody else is noticed.

use crate::{Error, Place, files};
use sha2::{Digest, Sha256};
use std::cell::Cell;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Bytes of a file that are read and hashed at a time.
const PIECE_BYTES: usize = 1 << 16;

/// What a file held when its writer last wrote it.
#[derive(Debug)]
pub(crate) struct Content {
    digest: Sha256,
    bytes: u64,
    /// Its times of change when it held that: another one means that it has to be read again.
    seen: Cell<Option<Changed>>,
}

/// File, and when its content last changed.
type Changed = (u64, i64, i64);

fn changed(metadata: &Metadata) -> Changed {
    (metadata.ino(), metadata.mtime(), metadata.mtime_nsec())
}

impl Content {
    /// The first `bytes` of a file.
    pub(crate) fn of(file: &File, bytes: u64) -> io::Result<Content> {
        let mut content = Content { digest: Sha256::new(), bytes, seen: Cell::new(None) };
        content.digest = digest(file, bytes)?;
        content.note(file);
        Ok(content)
    }

    /// Notes what was written at its end.
    pub(crate) fn add(&mut self, written: &[u8], file: &File) {
        self.digest.update(written);
        self.bytes += written.len() as u64;
        self.note(file);
    }

    fn note(&self, file: &File) {
        self.seen.set(file.metadata().ok().as_ref().map(changed));
    }

    /// Reports whether a file holds nothing else. Its content is read where its times or `thoroughly` say so:
    /// the kernel's clock may stand still between a write of ours and the next one of somebody else.
    fn is_in(&self, file: &File, thoroughly: bool) -> io::Result<bool> {
        let metadata = file.metadata()?;
        if metadata.len() != self.bytes {
            return Ok(false);
        }
        if thoroughly || self.seen.get() != Some(changed(&metadata)) {
            if digest(file, self.bytes)?.finalize() != self.digest.clone().finalize() {
                return Ok(false);
            }
            self.seen.set(Some(changed(&metadata)));
        }
        Ok(true)
    }

    /// Checks a file that this process holds open and that must still be the one at its path.
    ///
    /// # Errors
    /// [`Error::Displaced`].
    pub(crate) fn must_be_in(
        &self,
        file: &File,
        path: &Path,
        thoroughly: bool,
    ) -> Result<(), Error> {
        match Place::of(file, path) {
            Place::Here if self.is_in(file, thoroughly).unwrap_or(false) => Ok(()),
            Place::Here => Err(displaced(path, Place::Changed)),
            place => Err(displaced(path, place)),
        }
    }

    /// Checks the file at a path, whichever it is.
    ///
    /// # Errors
    /// [`Error::Displaced`].
    pub(crate) fn must_be_at(&self, path: &Path, thoroughly: bool) -> Result<(), Error> {
        let Ok(metadata) = path.metadata() else { return Err(displaced(path, Place::Removed)) };
        let same = self.seen.get() == Some(changed(&metadata)) && metadata.len() == self.bytes;
        let holds = || self.is_in(&files::open_to_read(path)?, thoroughly);
        match (same && !thoroughly) || holds().unwrap_or(false) {
            true => Ok(()),
            false => Err(displaced(path, Place::Changed)),
        }
    }
}

fn displaced(path: &Path, place: Place) -> Error {
    Error::Displaced { path: PathBuf::from(path), place }
}

/// Hashes the first bytes of a file, or all that there are if it is shorter.
fn digest(file: &File, bytes: u64) -> io::Result<Sha256> {
    let mut digest = Sha256::new();
    let mut piece = vec![0; PIECE_BYTES];
    let mut at = 0;
    while at < bytes {
        let wanted = PIECE_BYTES.min((bytes - at) as usize);
        let read = file.read_at(&mut piece[..wanted], at)?;
        if read == 0 {
            break;
        }
        digest.update(&piece[..read]);
        at += read as u64;
    }
    Ok(digest)
}
