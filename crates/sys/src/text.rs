//! Reading the kernel's small text files.

use crate::{Error, Result};
use std::path::Path;

/// The whole of a small text file. Bytes that are not UTF-8 (a process may
/// name itself with any bytes) become replacement characters.
pub(crate) fn read(path: impl AsRef<Path>) -> Result<String> {
    let path = path.as_ref();
    match std::fs::read(path) {
        Ok(bytes) => Ok(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }),
        Err(error) => Err(Error::io(format!("read({})", path.display()), &error)),
    }
}

/// The trimmed content of a file of one value; `None` where it cannot be read
/// or is empty.
pub(crate) fn value(path: impl AsRef<Path>) -> Option<String> {
    let text = read(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_string())
}

/// The number in a file that holds one.
pub(crate) fn number(path: impl AsRef<Path>) -> Option<u64> {
    value(path)?.parse().ok()
}

/// Writes `content` to an existing kernel file, in one `write`.
pub(crate) fn write(path: impl AsRef<Path>, content: &str) -> Result<()> {
    use std::io::Write;
    let path = path.as_ref();
    std::fs::OpenOptions::new()
        .write(true)
        .open(path)
        .and_then(|mut file| file.write_all(content.as_bytes()))
        .map_err(|error| Error::io(format!("write({}, {content})", path.display()), &error))
}

/// The number behind `key` in lines of the form `key<separator>number…`.
pub(crate) fn field(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let rest = line.strip_prefix(key)?;
        let rest = rest.strip_prefix(':').unwrap_or(rest);
        // "VmPeak" must not match a line of "VmPeakOther".
        if !rest.starts_with(|c: char| c.is_whitespace() || c == '=') {
            return None;
        }
        rest.trim_start_matches(|c: char| c.is_whitespace() || c == '=' || c == ':')
            .split_whitespace()
            .next()?
            .parse()
            .ok()
    })
}

/// The bytes behind `key` in lines of the form `key:  123 kB`.
pub(crate) fn kib_field(text: &str, key: &str) -> Option<u64> {
    field(text, key)?.checked_mul(1024)
}

/// The process ids that /proc shows. A process may end before it is looked at.
pub(crate) fn process_ids() -> Vec<crate::Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| *pid > 0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_whole() {
        let text = "VmPeakOther: 9 kB\nVmPeak:\t  12 kB\nnr 7\nnr_x 8\nse.nr_migrations   :   3\n";
        assert_eq!(kib_field(text, "VmPeak"), Some(12 * 1024));
        assert_eq!(field(text, "nr"), Some(7));
        assert_eq!(field(text, "se.nr_migrations"), Some(3));
        assert_eq!(field(text, "absent"), None);
    }

    #[test]
    fn hostile_fields_are_none() {
        for text in
            ["", "\n\n", "VmPeak:", "VmPeak: -1 kB", "VmPeak: x", "VmPeak: 99999999999999999999"]
        {
            assert_eq!(field(text, "VmPeak"), None, "{text:?}");
        }
        assert_eq!(kib_field("VmPeak: 18446744073709551615 kB", "VmPeak"), None);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, b"a\xff b").unwrap();
        assert_eq!(read(&path).unwrap(), "a\u{fffd} b");
        assert_eq!(read(folder.path().join("none")).unwrap_err().errno(), Some(libc::ENOENT));
    }
}
