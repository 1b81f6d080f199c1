use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// The folder of a runner for the files of its trials, in a folder that it may share with other runners.
///
/// It is reached through the folder above that one, which is kept open: if somebody moves a session's
/// folder, the scratch goes with it and is found there.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// The path at which it is to be, for people.
    path: PathBuf,
    /// The path by which it is reached.
    own: PathBuf,
    _above: File,
}

impl Scratch {
    /// The folder at `path`, which need not be there; what is above the shared folder is.
    pub(crate) fn at(path: PathBuf) -> io::Result<Self> {
        let names = path.file_name().zip(path.parent().and_then(Path::file_name));
        let above = path.parent().and_then(Path::parent);
        let (Some((own, shared)), Some(above)) = (names, above) else {
            return Err(io::Error::other("it is not below two folders"));
        };
        let above = File::open(above)?;
        let reached = PathBuf::from(format!("/proc/self/fd/{}", above.as_raw_fd()));
        Ok(Scratch { own: reached.join(shared).join(own), path, _above: above })
    }

    /// Makes the folder for the files of one trial. Returns a path for processes that inherit what this
    /// one has open.
    pub(crate) fn folder_of(&self, trial: u64) -> Result<PathBuf, crate::Error> {
        let folder = self.own.join(name_of(trial));
        match std::fs::create_dir_all(&folder) {
            Ok(()) => Ok(folder),
            Err(cause) => Err(self.refused(trial, cause)),
        }
    }

    /// Removes the folder of a trial with all that is in it.
    pub(crate) fn clear(&self, trial: u64) -> Result<(), crate::Error> {
        match std::fs::remove_dir_all(self.own.join(name_of(trial))) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                Err(self.refused(trial, cause))
            }
            _ => Ok(()),
        }
    }

    fn refused(&self, trial: u64, cause: io::Error) -> crate::Error {
        crate::Error::Scratch { path: self.path.join(name_of(trial)), cause }
    }

    /// Removes the runner's own folder, and the one that it shares unless another runner's is in it. What
    /// cannot be removed stays for people to see.
    pub(crate) fn remove(&self) {
        let _ = std::fs::remove_dir_all(&self.own);
        if let Some(shared) = self.own.parent() {
            let _ = std::fs::remove_dir(shared);
        }
    }
}

fn name_of(trial: u64) -> String {
    format!("trial-{trial}")
}
