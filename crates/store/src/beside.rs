//! Files that stand beside a session's own, under names that are given.

use crate::{Error, files};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// What is kept, each kind in a folder of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// Programs that were built for the session.
    Programs,
    /// What programs did, step by step.
    Traces,
}

/// The longest name of such a file.
const NAME_BYTES_MAX: usize = 200;

impl Beside {
    /// The folder's name.
    pub fn folder(self) -> &'static str {
        match self {
            Beside::Programs => "programs",
            Beside::Traces => "traces",
        }
    }
}

/// Makes a new file, with the folder around it where that is not there yet.
pub(crate) fn create(dir: &Path, kind: Beside, name: &str) -> Result<(File, PathBuf), Error> {
    let folder = dir.join(kind.folder());
    // A name becomes a path here and nowhere else in this room.
    let plain = |c: u8| c.is_ascii_alphanumeric() || b"._+-".contains(&c);
    if name.starts_with('.') || name.is_empty() || !name.bytes().all(plain) {
        let what = format!("{name:?} is no name of letters, digits, `.`, `_`, `+` and `-`");
        return Err(Error::Unreadable { path: folder, what });
    }
    let path = folder.join(name);
    if name.len() > NAME_BYTES_MAX {
        let what = format!("its name is longer than {NAME_BYTES_MAX} bytes");
        return Err(Error::Unreadable { path, what });
    }
    let made = files::NewFolders::create(&folder).map_err(Error::io("create", &folder))?;
    // Somebody may have put a link there.
    let is_folder = std::fs::symlink_metadata(&folder).is_ok_and(|facts| facts.is_dir());
    if !is_folder {
        let source = io::Error::other("it is not a folder");
        return Err(Error::io("write into", &folder)(source));
    }
    let file = files::create_new(&path).map_err(Error::io("create", &path))?;
    made.keep();
    Ok((file, path))
}

#[cfg(test)]
mod tests {
    use super::{Beside, create};

    #[test]
    fn a_name_never_leaves_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        let made = |name: &str| create(dir.path(), Beside::Traces, name);
        assert!(made("a-1.elf.txt").unwrap().1.ends_with("traces/a-1.elf.txt"));
        assert!(made("a-1.elf.txt").unwrap_err().to_string().contains("exists"));
        for name in ["", "..", "../a", "/etc/a", "a/b", ".a", "a b", "a\n", "é"] {
            assert!(made(name).unwrap_err().to_string().contains("is no name"), "{name}");
        }
        assert!(made(&"a".repeat(201)).unwrap_err().to_string().contains("longer than 200"));
        let other = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(other.path(), dir.path().join("programs")).unwrap();
        let refused = create(dir.path(), Beside::Programs, "a").unwrap_err();
        assert!(refused.to_string().contains("not a folder"), "{refused}");
    }
}
