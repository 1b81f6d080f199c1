//! Files of the user's that trials look at: read once when the session is begun, and again by each
//! trial, which looks whether they are still the same.

use model::ProgramFile;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use sys::hash::sha256;

/// The largest file that is read, in bytes: the memory of the simulated machine, and what a compiler
/// adds for debuggers.
pub const FILE_BYTES_MAX: u64 = 256 << 20;

/// The content of a file, and its SHA-256 as 64 hexadecimal digits.
///
/// # Errors
/// A sentence that names the file and says what is wrong with it.
pub fn read(path: &Path) -> Result<(Vec<u8>, String), String> {
    let shown = path.display();
    let cannot = |error: std::io::Error| format!("{shown} cannot be read: {error}");
    // Before it is opened: to open a pipe may take for ever.
    let facts = std::fs::metadata(path).map_err(cannot)?;
    model::ensure!(!facts.is_dir(), "{shown} is a folder; name an ELF file in it");
    model::ensure!(facts.is_file(), "{shown} is no regular file, as a program must be");
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(cannot)?;
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        let most = FILE_BYTES_MAX >> 20;
        return Err(format!("{shown} is larger than {most} MiB, the most that is read (strip it)"));
    }
    let sha256 = sha256(&bytes);
    Ok((bytes, sha256))
}

/// The content of a file, if it is the one that the session was begun with.
///
/// # Errors
/// A sentence that names the file and says what would be right.
pub(crate) fn unchanged(program: &ProgramFile) -> Result<Vec<u8>, String> {
    let (bytes, now) = read(Path::new(&program.path))?;
    if now != program.sha256 {
        let ProgramFile { path, sha256, .. } = program;
        return Err(format!(
            "{path} is not the file that the session was begun with (its SHA-256 is {now}, and was \
             {sha256}); put that one back, or begin a new session"
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{read, unchanged};
    use model::ProgramFile;
    use std::path::Path;

    #[test]
    fn a_file_that_changed_is_not_taken_for_the_same() {
        let path = std::env::temp_dir().join(format!("scruple-program-{}", std::process::id()));
        std::fs::write(&path, "one").unwrap();
        let (bytes, sha256) = read(&path).unwrap();
        assert_eq!(bytes, b"one");
        let program = ProgramFile {
            level: "one".into(),
            path: path.display().to_string(),
            sha256,
            about: String::new(),
            instructions_max: 1,
            ..ProgramFile::default()
        };
        assert_eq!(unchanged(&program).unwrap(), b"one");
        std::fs::write(&path, "two").unwrap();
        let refused = unchanged(&program).unwrap_err();
        assert!(refused.contains("begin a new session"), "{refused}");
        std::fs::remove_file(&path).unwrap();
        assert!(unchanged(&program).unwrap_err().contains("cannot be read"));
    }

    #[test]
    fn what_is_no_file_is_named() {
        assert!(read(Path::new("/")).unwrap_err().contains("is a folder"));
        assert!(read(Path::new("/dev/zero")).unwrap_err().contains("no regular file"));
        assert!(read(Path::new("/no/such")).unwrap_err().contains("/no/such cannot be read"));
    }
}
