//! Archives of tar, read member by member: nothing is made of a member's name but a comparison, and
//! only regular files are looked at.
//!
//! The formats are those of POSIX.1 (ustar and pax) and GNU's long names. A program `tar` would make
//! links, devices and paths of what a stranger wrote.

use std::io::{self, Read, Seek, SeekFrom};

const BLOCK_BYTES: usize = 512;

/// The most bytes of a name that stands in a member of its own.
const NAME_BYTES_MAX: u64 = 64 << 10;

/// A regular file of an archive, whose bytes are read from where the archive stands.
pub(crate) struct Member {
    /// Its path, as the archive says it.
    pub(crate) path: String,
    /// The bytes that it has.
    pub(crate) bytes: u64,
}

/// Reads an archive from its beginning.
pub(crate) struct Archive<R> {
    input: R,
    /// Where the next header is.
    next: u64,
    /// The bytes that the archive has.
    end: u64,
}

impl<R: Read + Seek> Archive<R> {
    /// # Errors
    /// What the operating system refused.
    pub(crate) fn new(mut input: R) -> io::Result<Self> {
        let end = input.seek(SeekFrom::End(0))?;
        Ok(Archive { input, next: 0, end })
    }

    /// Returns the next regular file; `None` at the end.
    ///
    /// # Errors
    /// If the archive is damaged or ends early, or the operating system refuses.
    pub(crate) fn next(&mut self) -> io::Result<Option<Member>> {
        let mut long = None;
        while let Some((header, kind, bytes)) = self.header()? {
            match kind {
                b'L' => long = Some(self.text(bytes)?.trim_end_matches('\0').to_string()),
                b'x' => long = path_of(&self.text(bytes)?)?.or(long),
                // Of all members that follow: nothing that matters here. `K` is where a link leads.
                b'g' | b'K' => {}
                b'0' | b'7' | b'\0' => {
                    let path = long.take().unwrap_or_else(|| name(&header));
                    return Ok(Some(Member { path, bytes }));
                }
                // A folder, a link, a device, a pipe, a file with holes.
                _ => long = None,
            }
        }
        Ok(None)
    }

    /// Returns what the member that came last holds.
    pub(crate) fn content(&mut self, member: &Member) -> io::Take<&mut R> {
        self.input.by_ref().take(member.bytes)
    }

    /// Returns the next header with the kind and the bytes of its member, and stands before these.
    fn header(&mut self) -> io::Result<Option<([u8; BLOCK_BYTES], u8, u64)>> {
        let mut header = [0; BLOCK_BYTES];
        // Two blocks of zeros end it; some writers leave them out.
        if self.next >= self.end {
            return Ok(None);
        }
        self.input.seek(SeekFrom::Start(self.next))?;
        self.input.read_exact(&mut header).map_err(|_| damaged("it ends early"))?;
        if header.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let said = octal(&header[148..156]).ok_or_else(|| damaged("it is no archive of tar"))?;
        let sum = |(at, byte): (usize, &u8)| {
            u64::from(if (148..156).contains(&at) { b' ' } else { *byte })
        };
        if said != header.iter().enumerate().map(sum).sum::<u64>() {
            return Err(damaged("it is no archive of tar"));
        }
        let bytes = octal(&header[124..136]).ok_or_else(|| damaged("a member is too large"))?;
        let first = self.next + BLOCK_BYTES as u64;
        let whole = bytes.checked_next_multiple_of(BLOCK_BYTES as u64);
        match whole.and_then(|whole| first.checked_add(whole)) {
            Some(next) if first + bytes <= self.end => self.next = next,
            _ => return Err(damaged("it ends early")),
        }
        Ok(Some((header, header[156], bytes)))
    }

    /// Returns a member that is a text.
    fn text(&mut self, bytes: u64) -> io::Result<String> {
        if bytes > NAME_BYTES_MAX {
            return Err(damaged("the name of a member is too long"));
        }
        let mut text = Vec::new();
        self.input.by_ref().take(bytes).read_to_end(&mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

/// Returns the path in a header: what stands before, and the name.
fn name(header: &[u8; BLOCK_BYTES]) -> String {
    let text = |bytes: &[u8]| {
        let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    };
    // GNU keeps times where others have the rest of a long name.
    match (&header[257..263], text(&header[345..500])) {
        (b"ustar\0", before) if !before.is_empty() => format!("{before}/{}", text(&header[..100])),
        _ => text(&header[..100]),
    }
}

/// Returns the path that an extended header of pax says, if it says one: lines of `LENGTH KEY=VALUE`.
fn path_of(text: &str) -> io::Result<Option<String>> {
    let mut path = None;
    for line in text.lines() {
        let said = line.split_once(' ').and_then(|(_, said)| said.split_once('='));
        match said {
            Some(("path", value)) => path = Some(value.to_string()),
            // The header says another size than the member has.
            Some((key, _)) if key == "size" || key.starts_with("GNU.sparse") => {
                return Err(damaged("a member is too large, or has holes"));
            }
            _ => {}
        }
    }
    Ok(path)
}

/// Returns an octal number with blanks and zeros around it.
fn octal(bytes: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(bytes).ok()?;
    let text = text.trim_matches(['\0', ' ']);
    if text.is_empty() { Some(0) } else { u64::from_str_radix(text, 8).ok() }
}

fn damaged(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Cursor;
    use std::process::Command;

    fn listed(archive: Vec<u8>) -> io::Result<Vec<(String, String)>> {
        let mut archive = Archive::new(Cursor::new(archive))?;
        let mut found = Vec::new();
        while let Some(member) = archive.next()? {
            let mut content = String::new();
            archive.content(&member).read_to_string(&mut content)?;
            found.push((member.path, content));
        }
        Ok(found)
    }

    /// What `tar` makes of a folder with files, a link and a pipe.
    fn made(format: &str, name: &str) -> Vec<u8> {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a"), "first").unwrap();
        std::fs::write(folder.join("b"), "x".repeat(1000)).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.join("c")).unwrap();
        // ustar has no place for a long one.
        if name.len() < 90 {
            std::fs::hard_link(folder.join("a"), folder.join("d")).unwrap();
        }
        let mut tar = Command::new("tar");
        tar.args([&format!("--format={format}"), "--sort=name", "-cf", "-", "-C"]);
        let made = tar.arg(dir.path()).arg(name).output().unwrap();
        assert!(made.status.success());
        made.stdout
    }

    #[test]
    fn files_of_every_format_are_read_and_links_are_not() {
        for format in ["ustar", "gnu", "pax", "v7"] {
            let found = listed(made(format, "m1.ab.0")).unwrap();
            let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
            assert_eq!(paths, ["m1.ab.0/a", "m1.ab.0/b"], "{format}");
            assert_eq!((found[0].1.as_str(), found[1].1.len()), ("first", 1000), "{format}");
        }
        let long = format!("{}/{}", "long".repeat(30), "name".repeat(30));
        for format in ["gnu", "pax"] {
            assert_eq!(listed(made(format, &long)).unwrap()[0].0, format!("{long}/a"), "{format}");
        }
        let split = format!("{}/{}", "p".repeat(90), "n".repeat(90));
        assert_eq!(listed(made("ustar", &split)).unwrap()[1].0, format!("{split}/b"));
    }

    #[test]
    fn an_archive_that_is_none_or_ends_early_is_refused() {
        let whole = made("gnu", "x");
        for (archive, why) in [
            (b"no archive".to_vec(), "ends early"),
            (vec![b'x'; 2048], "no archive"),
            (whole[..1024 + 3].to_vec(), "ends early"),
            (whole[..2 * 512 + 600].to_vec(), "ends early"),
        ] {
            let error = listed(archive).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        assert_eq!(listed(Vec::new()).unwrap(), []);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic_or_go_on_for_ever(
            changes in proptest::collection::vec((0..4096_usize, any::<u8>()), 0..8),
            length in 0..6000_usize,
        ) {
            let mut archive = made("pax", "x");
            changes.iter().for_each(|(at, byte)| archive[*at] = *byte);
            archive.truncate(length);
            if let Ok(found) = listed(archive) {
                prop_assert!(found.len() <= 12);
            }
        }
    }
}
