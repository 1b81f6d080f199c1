//! Reading the kernel's small text files.

use crate::{Error, Result};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The most bytes of a file that are read. The longest text asked for is smaps of a process with
/// the 65,530 mappings that a kernel allows by itself: 50 MB. In a container somebody else decides
/// what stands in the place of /proc, and a text without an end must not fill the memory.
const TEXT_BYTES_MAX: u64 = 64 << 20;

/// Room for most texts, so that they are had by one `read`.
const USUAL_BYTES: usize = 4096;

/// The whole of a small text file. Bytes that are not UTF-8 (a process may
/// name itself with any bytes) become replacement characters.
///
/// What is no regular file is refused, and never waited for: the kernel's texts are.
pub(crate) fn read(path: impl AsRef<Path>) -> Result<String> {
    let path = path.as_ref();
    let call = || format!("read({})", path.display());
    let mut options = OpenOptions::new();
    // A named pipe without a writer would stop an ordinary open for ever.
    let opened = options.read(true).custom_flags(libc::O_NONBLOCK).open(path);
    let bytes = opened.and_then(|file| whole(&file)).map_err(|error| Error::io(call(), &error))?;
    if bytes.len() as u64 > TEXT_BYTES_MAX {
        return Err(Error::unreadable(call(), format!("it has more than {TEXT_BYTES_MAX} bytes")));
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// What a file holds, but no more than one byte beyond the limit.
fn whole(file: &File) -> std::io::Result<Vec<u8>> {
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::with_capacity(USUAL_BYTES);
    file.take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
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

    #[test]
    fn what_is_no_file_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).unwrap();
        let endless = folder.path().join("endless");
        std::os::unix::fs::symlink("/dev/zero", &endless).unwrap();
        for path in [pipe.as_path(), &endless, folder.path()] {
            let said = read(path).unwrap_err().to_string();
            assert!(said.contains("not a regular file"), "{said}");
            assert_eq!((value(path), number(path)), (None, None));
        }
    }

    #[test]
    fn a_text_without_an_end_is_refused_before_it_fills_the_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hole");
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(1 << 40).unwrap();
        let mut said = String::new();
        let held = crate::testing::most_held(|| said = read(&path).unwrap_err().to_string());
        assert!(said.contains("more than 67108864 bytes"), "{said}");
        // A vector that grows by doubling holds up to twice what it needs.
        assert!(held as u64 <= 4 * TEXT_BYTES_MAX, "{held}");
        file.set_len(TEXT_BYTES_MAX).unwrap();
        assert_eq!(read(&path).unwrap().len() as u64, TEXT_BYTES_MAX);
    }
}
