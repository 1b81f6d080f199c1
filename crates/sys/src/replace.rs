//! Files that are replaced at once or not at all.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Everybody may read them; the umask takes away what the user wants to keep.
const MODE: u32 = 0o644;

/// Gives `name` in `dir` the new content, at once or not at all: a reader, also after a crash, finds
/// the old file or the new one and never a part.
///
/// The content grows beside it under the name `temporary`. What lies there was left by a process that
/// was killed, or is a link that somebody planted; it is taken away and never written through. Two
/// processes that may replace one file at once need different temporary names.
///
/// # Errors
/// What the operating system refused; the old file stands, and nothing of the new one is left, unless
/// only making its name durable failed.
pub fn file(dir: &Path, name: &str, temporary: &str, content: &[u8]) -> io::Result<()> {
    let beside = dir.join(temporary);
    let replaced = written(&beside, content)
        .and_then(|()| std::fs::rename(&beside, dir.join(name)))
        .and_then(|()| names(dir));
    if replaced.is_err() {
        // Best effort: the first error is the one worth telling.
        let _ = std::fs::remove_file(&beside);
    }
    replaced
}

/// Makes the names in a folder durable.
///
/// # Errors
/// What the operating system refused.
pub fn names(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

fn written(path: &Path, content: &[u8]) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(MODE).open(path)?;
    file.write_all(content)?;
    // Without this a crash soon after the rename can leave the new name with no content.
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::file;
    use std::path::Path;

    fn read(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn the_new_content_stands_alone_whatever_was_left() {
        let folder = tempfile::tempdir().unwrap();
        let (dir, victim) = (folder.path(), folder.path().join("victim"));
        std::fs::write(&victim, "precious").unwrap();
        std::fs::write(dir.join("a"), "old").unwrap();
        std::os::unix::fs::symlink(&victim, dir.join(".a.new")).unwrap();
        file(dir, "a", ".a.new", b"new").unwrap();
        assert_eq!((read(&dir.join("a")), read(&victim)), ("new".into(), "precious".into()));
        assert_eq!(std::fs::read_dir(dir).unwrap().count(), 2);
    }

    #[test]
    fn what_is_refused_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        // A folder cannot be replaced by a file.
        std::fs::create_dir_all(dir.join("a/b")).unwrap();
        assert!(file(dir, "a", ".a.new", b"new").is_err());
        assert_eq!(std::fs::read_dir(dir).unwrap().count(), 1);
    }
}
