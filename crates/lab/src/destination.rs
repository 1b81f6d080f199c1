//! Where a file that was asked for goes, without harm to any session.

use crate::input;
use anyhow::{Context, Result, bail, ensure};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Files of a session that nothing else may replace: what cannot be measured again, what everybody
/// reads from there, and the lock.
const OF_A_SESSION: [&str; 6] = [
    store::MANIFEST_FILE,
    store::TRIALS_FILE,
    store::SUMMARY_FILE,
    store::REPORT_FILE,
    store::CLAIMS_FILE,
    store::LOCK_FILE,
];

/// Standard output, or a file.
///
/// A file appears, or is replaced, when all of it is there: half a table looks like a whole one to
/// its readers. What is no ordinary file (a pipe, a device) is written to as it is.
///
/// If the program is asked to end while a file is being written, no file appears and nothing of it is
/// left: see [`Stopped`].
pub(crate) struct Destination {
    /// Its name in errors.
    name: String,
    out: BufWriter<Box<dyn Write>>,
    is_stdout: bool,
    /// A file that is to appear when it is whole.
    grows: Option<Partial>,
    /// Whether a request to end stops the writing.
    heeds: bool,
}

/// The program was asked to end before a file was whole.
#[derive(Debug, thiserror::Error)]
#[error("interrupted; nothing was written")]
pub(crate) struct Stopped;

impl Stopped {
    /// Reports whether that is what an error says.
    pub(crate) fn is_in(error: &anyhow::Error) -> bool {
        error.chain().any(|cause| {
            let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
            inner.is_some_and(|inner| inner.is::<Stopped>())
        })
    }
}

/// A file beside the one that it will be; it is removed unless it is given its place.
struct Partial {
    partial: PathBuf,
    path: PathBuf,
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After a rename it is not there. If it cannot be removed, nothing else depends on it.
        let _ = std::fs::remove_file(&self.partial);
    }
}

impl Destination {
    /// Opens it; `None` and `-` are standard output.
    pub(crate) fn open(output: Option<&Path>, binary: bool) -> Result<Self> {
        let Some(path) = output.filter(|path| !input::is_standard(path)) else {
            let terminal = io::stdout().is_terminal();
            if terminal && binary {
                bail!("Parquet is binary, which a terminal cannot show: --output FILE, or a pipe");
            }
            let out: Box<dyn Write> = if terminal {
                Box::new(Harmless::new(io::stdout()))
            } else {
                Box::new(io::stdout())
            };
            return Ok(Destination {
                name: "standard output".into(),
                out: BufWriter::with_capacity(1 << 16, out),
                is_stdout: true,
                grows: None,
                heeds: false,
            });
        };
        let name = path.display().to_string();
        let opened = open_file(path).with_context(|| format!("cannot write to {name}"))?;
        let (file, grows) = opened;
        let out = BufWriter::with_capacity(1 << 16, Box::new(file) as Box<dyn Write>);
        let heeds = grows.is_some();
        Ok(Destination { name, out, is_stdout: false, grows, heeds })
    }

    /// Writes the file even if the program is asked to end, since its content cannot be measured again.
    pub(crate) fn in_any_case(self) -> Self {
        Destination { heeds: false, ..self }
    }

    /// Gives the file its place if all of it was `written`. A reader of standard output that has had enough
    /// (`| head`) is no error.
    pub(crate) fn end(mut self, written: io::Result<()>) -> Result<()> {
        let whole = written.and_then(|()| self.flush()).and_then(|()| self.go_on());
        let in_place = whole.and_then(|()| match &self.grows {
            Some(Partial { partial, path }) => std::fs::rename(partial, path),
            None => Ok(()),
        });
        match in_place {
            Err(error) if self.is_stdout && error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other.with_context(|| format!("cannot write to {}", self.name)),
        }
    }

    /// Writes all that the file consists of, and gives it its place.
    pub(crate) fn put(mut self, bytes: &[u8]) -> Result<()> {
        let written = self.write_all(bytes);
        self.end(written)
    }

    fn go_on(&self) -> io::Result<()> {
        match self.heeds && sys::interrupt::requested().is_some() {
            true => Err(io::Error::other(Stopped)),
            false => Ok(()),
        }
    }
}

/// Writes a whole file of text there; see [`Destination`]. A terminal gets none of its control characters,
/// which JSON need not escape beyond U+001F.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    Destination::open(Some(path), false)?.put(format!("{}\n", text.trim_end()).as_bytes())
}

/// Returns where a file goes that a flag asked for; it is written although the command was interrupted.
pub(crate) fn place(path: Option<&Path>, flag: &'static str) -> Result<Option<Destination>> {
    let open = |path| Destination::open(Some(path), false).map(Destination::in_any_case);
    path.map(open).transpose().context(flag)
}

/// Opens what is no ordinary file as it is, and else a new file beside the one that it will be.
fn open_file(path: &Path) -> Result<(File, Option<Partial>)> {
    // Through links, so that the file itself is replaced and not the link to it.
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    ensure!(!path.is_dir(), "it is a folder");
    refuse_session_files(&path)?;
    if path.exists() && !path.is_file() {
        return Ok((File::options().write(true).open(&path)?, None));
    }
    let Some(name) = path.file_name() else {
        bail!("it has no name");
    };
    // A signal that ended this process would leave the partial file.
    sys::interrupt::install()?;
    let mut beside = OsString::from(".");
    beside.push(name);
    beside.push(format!(".{}.partial", std::process::id()));
    let partial = path.with_file_name(beside);
    Ok((create_anew(&partial)?, Some(Partial { partial, path })))
}

/// Returns a file that is new. In a folder that others may write to, something may lie under its name: a
/// link there would have us write over the file that it names. What lies there is taken away, or the
/// writing fails; nothing is written through it.
fn create_anew(path: &Path) -> io::Result<File> {
    let create = || File::options().write(true).create_new(true).open(path);
    match create() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // Of a process that had our number and was killed, mostly.
            std::fs::remove_file(path)?;
            create()
        }
        other => other,
    }
}

/// Reports whether a folder is a session's; other programs also have a manifest.json.
pub(crate) fn is_session(folder: &Path) -> bool {
    [store::MANIFEST_FILE, store::TRIALS_FILE].iter().all(|file| folder.join(file).exists())
}

fn refuse_session_files(path: &Path) -> Result<()> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if is_session(folder)
        && path.file_name().is_some_and(|name| OF_A_SESSION.iter().any(|it| name == *it))
    {
        bail!("that is a file of a session");
    }
    Ok(())
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.go_on()?;
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Passes on text in UTF-8 with `?` for every control character but the end of a line: a name in
/// somebody else's session must not command the terminal that it is shown on. Pipes and files get
/// what is there.
struct Harmless<W> {
    out: W,
    /// The first byte of a character of two, of which some are control characters (U+0080 to
    /// U+009F), waits for the second.
    waits: bool,
}

/// The first byte, in UTF-8, of U+0080 to U+00BF.
const FIRST_OF_LATIN: u8 = 0xc2;

impl<W> Harmless<W> {
    fn new(out: W) -> Self {
        Harmless { out, waits: false }
    }
}

impl<W: Write> Write for Harmless<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = Vec::with_capacity(bytes.len() + 1);
        for &byte in bytes {
            if std::mem::take(&mut self.waits) {
                match byte {
                    0x80..=0x9f => {
                        text.push(b'?');
                        continue;
                    }
                    _ => text.push(FIRST_OF_LATIN),
                }
            }
            match byte {
                FIRST_OF_LATIN => self.waits = true,
                b'\n' => text.push(byte),
                0..0x20 | 0x7f => text.push(b'?'),
                _ => text.push(byte),
            }
        }
        self.out.write_all(&text)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_commands() {
        let mut out = Harmless::new(Vec::new());
        // In pieces, the control character of two bytes cut in its middle.
        for piece in [&b"a\x1b[31m\tb\x7f\r\n\xc2"[..], b"\x9bc ", "é ° \u{2026}".as_bytes()] {
            out.write_all(piece).unwrap();
        }
        assert_eq!(String::from_utf8(out.out).unwrap(), "a?[31m?b??\n?c é ° \u{2026}");
    }

    #[test]
    fn the_files_of_a_session_are_not_replaced() {
        let session = tempfile::tempdir().unwrap();
        let dir = session.path();
        std::fs::write(dir.join(store::MANIFEST_FILE), "another program's").unwrap();
        assert!(write(&dir.join(store::REPORT_FILE), "").is_ok());
        std::fs::remove_file(dir.join(store::REPORT_FILE)).unwrap();
        std::fs::write(dir.join(store::TRIALS_FILE), "precious").unwrap();
        for name in OF_A_SESSION {
            let refused = open_file(&dir.join(name)).err().map(|error| error.to_string());
            assert_eq!(refused.as_deref(), Some("that is a file of a session"), "{name}");
        }
        let link = dir.join("link.csv");
        std::os::unix::fs::symlink(dir.join(store::TRIALS_FILE), &link).unwrap();
        assert!(open_file(&link).is_err());
        assert!(open_file(&dir.join("own.csv")).is_ok());
        // Nothing is left of a file that was not finished.
        let left: Vec<_> = std::fs::read_dir(dir).unwrap().flatten().collect();
        assert_eq!(left.len(), 3, "{left:?}");
    }

    #[test]
    fn a_link_where_the_file_grows_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        std::fs::write(&victim, "precious").unwrap();
        let partial = format!(".out.csv.{}.partial", std::process::id());
        std::os::unix::fs::symlink(&victim, folder.path().join(partial)).unwrap();
        write(&folder.path().join("out.csv"), "a,b\n").unwrap();
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
        assert_eq!(std::fs::read_to_string(folder.path().join("out.csv")).unwrap(), "a,b\n");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
