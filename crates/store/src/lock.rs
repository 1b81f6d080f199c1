use crate::files::Place;
use crate::{Error, LOCK_FILE, files};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

/// How often the lock file may vanish under our hands before we give up: each time another
/// scruple ended in that very moment.
const ATTEMPTS: u32 = 16;

/// The right to write a session. The kernel takes it back when the process dies, however it
/// dies; a clean end also removes the file.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// A lock file that nobody holds was left by a process that was killed; it is taken over.
    pub(crate) fn acquire(dir: &Path) -> Result<Lock, Error> {
        let path = dir.join(LOCK_FILE);
        for _ in 0..ATTEMPTS {
            let file = files::open_or_create(&path).map_err(Error::io("open", &path))?;
            let lock = Lock::take(file, path.clone(), dir)?;
            // The last holder may have removed the file between our opening it and our
            // locking it: then the lock is on a file that no third process will ever look at.
            if lock.is_in_place() {
                return Ok(lock);
            }
        }
        Err(Error::Busy { dir: dir.to_path_buf() })
    }

    fn take(file: File, path: PathBuf, dir: &Path) -> Result<Lock, Error> {
        match file.try_lock() {
            Ok(()) => Ok(Lock { file, path }),
            Err(TryLockError::WouldBlock) => Err(Error::Busy { dir: dir.to_path_buf() }),
            Err(TryLockError::Error(error)) => {
                Err(Error::Unlockable { path, cause: sys::Error::io("flock", &error) })
            }
        }
    }

    /// Whether the file that is locked is the one that the name stands for.
    fn is_in_place(&self) -> bool {
        Place::of(&self.file, &self.path) == Place::Here
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed while it is still held, so that nobody can have taken it in between. Failure
        // leaves an empty file that the next writer takes over.
        let _ = match Place::of(&self.file, &self.path) {
            Place::Here => std::fs::remove_file(&self.path),
            Place::Moved(now) => std::fs::remove_file(now),
            Place::Replaced | Place::Removed | Place::Changed => Ok(()),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::Lock;
    use crate::{LOCK_FILE, files};

    #[test]
    fn a_lock_on_a_file_that_was_removed_meanwhile_is_none() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join(LOCK_FILE);
        let first = Lock::acquire(dir.path()).unwrap();
        // The second opens the file, the first ends, a third comes, and now the second locks.
        let opened = files::open_or_create(&path).unwrap();
        drop(first);
        let third = Lock::acquire(dir.path()).unwrap();
        let second = Lock::take(opened, path.clone(), dir.path()).unwrap();
        assert!(third.is_in_place() && !second.is_in_place());
        drop(second);
        assert!(path.exists(), "it is the third one's");
        drop(third);
        assert!(!path.exists());
    }
}
