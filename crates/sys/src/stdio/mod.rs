//! libc's buffered output: what is left in it when a process forks, and what becomes of records that
//! several callers print at once.

mod records;

pub use records::{Appender, Printing, RECORD_BYTES, Stream, parse_record};

use crate::error::{check, last_errno};
use crate::{Error, Result};
use rustix::fs::{MemfdFlags, memfd_create};
use std::ffi::CStr;
use std::fs::File;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::ptr::NonNull;

/// What a program does that keeps a log by stdio and flushes it each time: `fopen`
/// to append, `fwrite`, `fflush`, `fclose`.
///
/// # Errors
/// What these four say.
pub fn append_flushed(path: &CStr, bytes: &[u8]) -> Result<()> {
    let failed = |call: &str| Error::new(call.to_string(), last_errno());
    // SAFETY: both are C strings, which libc does not keep.
    let stream = unsafe { libc::fopen(path.as_ptr(), c"ab+".as_ptr()) };
    let Some(stream) = NonNull::new(stream) else { return Err(failed("fopen")) };
    // SAFETY: the bytes are readable for their length, the stream is open.
    let written = unsafe { libc::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), stream.as_ptr()) };
    let wrote = if written == bytes.len() { Ok(()) } else { Err(failed("fwrite")) };
    // SAFETY: the stream is open.
    let flushed = match unsafe { libc::fflush(stream.as_ptr()) } {
        0 => Ok(()),
        _ => Err(failed("fflush")),
    };
    // SAFETY: the stream is open, and nobody uses it afterwards.
    let closed = match unsafe { libc::fclose(stream.as_ptr()) } {
        0 => Ok(()),
        _ => Err(failed("fclose")),
    };
    wrote.and(flushed).and(closed)
}

/// From now on what this process prints to its standard output and standard error is lost. For a
/// child whose libc is about to say how its heap was destroyed.
///
/// # Errors
/// Where /dev/null cannot be opened.
pub fn silence() -> Result<()> {
    let null = File::options()
        .write(true)
        .open("/dev/null")
        .map_err(|error| Error::io("open(/dev/null)", &error))?;
    rustix::stdio::dup2_stdout(&null).map_err(Error::of("dup2(/dev/null, 1)"))?;
    rustix::stdio::dup2_stderr(&null).map_err(Error::of("dup2(/dev/null, 2)"))
}

/// The longest text that is sure to stay in a stream's buffer: the smallest
/// buffers in use (those of musl) hold 1 KiB.
const TEXT_BYTES_MAX: usize = 1000;

/// A stream of libc's stdio that holds text which has not been written yet, as
/// that of a program which printed a line to a pipe or a file.
///
/// A forked child gets a copy of the text; if it ends by `exit`, libc writes
/// that copy too. The stream leads to a file without a name that nobody else
/// sees.
#[derive(Debug)]
pub struct Unflushed {
    stream: NonNull<libc::FILE>,
    file: File,
}

impl Unflushed {
    /// Opens a fully buffered stream and prints `text`, which stays in the
    /// buffer: it may have up to 1000 bytes.
    ///
    /// # Errors
    /// `ENOSYS` without `memfd_create` (before Linux 3.17), `EMFILE`, `ENOMEM`;
    /// `EMSGSIZE` for a longer text.
    pub fn new(text: &[u8]) -> Result<Self> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(Error::new(format!("fwrite({} bytes)", text.len()), libc::EMSGSIZE));
        }
        let descriptor = memfd_create(c"unflushed", MemfdFlags::CLOEXEC);
        let descriptor = descriptor.map_err(Error::of("memfd_create"))?;
        let file =
            File::from(descriptor.try_clone().map_err(|error| Error::io("dup(memfd)", &error))?);
        // SAFETY: the descriptor is open for writing and the mode is a C string.
        let stream = unsafe { libc::fdopen(descriptor.as_raw_fd(), c"w".as_ptr()) };
        let Some(stream) = NonNull::new(stream) else {
            return Err(Error::new("fdopen(memfd)", last_errno()));
        };
        // The stream owns the descriptor from here on: `fclose` closes it.
        let _ = descriptor.into_raw_fd();
        let unflushed = Self { stream, file };
        // SAFETY: the stream is open and nothing was done with it yet; a null
        // buffer lets libc make its own.
        let result = unsafe {
            libc::setvbuf(
                stream.as_ptr(),
                std::ptr::null_mut(),
                libc::_IOFBF,
                libc::BUFSIZ as usize,
            )
        };
        check(if result == 0 { 0 } else { -1 }, || "setvbuf(_IOFBF)".to_string())?;
        // SAFETY: the text is readable for its length, the stream is open.
        let printed = unsafe { libc::fwrite(text.as_ptr().cast(), 1, text.len(), stream.as_ptr()) };
        if printed != text.len() { Err(Error::new("fwrite", last_errno())) } else { Ok(unflushed) }
    }

    /// How many bytes have reached the file so far, from whichever process.
    ///
    /// # Errors
    /// None is known for an open file.
    pub fn written_bytes(&self) -> Result<u64> {
        let metadata = self.file.metadata().map_err(|error| Error::io("fstat(memfd)", &error))?;
        Ok(metadata.len())
    }
}

impl Drop for Unflushed {
    fn drop(&mut self) {
        // SAFETY: the stream is open and not used afterwards. What it still
        // holds goes to a file that ends with us.
        unsafe { libc::fclose(self.stream.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task;
    use crate::testing::in_child;

    // The streams are opened in a child of its own: the children that other
    // tests fork at the same moment would inherit, and perhaps flush, them too.
    #[test]
    fn a_child_that_exits_writes_the_text_once_more() {
        in_child(|| {
            let stream = Unflushed::new(b"a line\n").unwrap();
            assert_eq!(stream.written_bytes().unwrap(), 0);
            for times in 1..=2 {
                let child = task::fork_exit(true).unwrap();
                assert_eq!(task::wait(child).unwrap().code, Some(0));
                assert_eq!(stream.written_bytes().unwrap(), 7 * times);
            }
        });
    }

    #[test]
    fn a_child_that_ends_at_once_writes_nothing() {
        in_child(|| {
            let stream = Unflushed::new(b"a line\n").unwrap();
            let child = task::fork_exit(false).unwrap();
            assert_eq!(task::wait(child).unwrap().code, Some(0));
            assert_eq!(stream.written_bytes().unwrap(), 0);
        });
    }

    #[test]
    fn what_is_appended_is_in_the_file_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        append_flushed(&name, b"one ").unwrap();
        append_flushed(&name, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one two");
        assert_eq!(append_flushed(c"/nowhere/log", b"x").unwrap_err().errno(), Some(libc::ENOENT));
    }

    #[test]
    fn a_silenced_process_writes_to_nothing() {
        in_child(|| {
            silence().unwrap();
            for number in [1, 2] {
                let led = std::fs::read_link(format!("/proc/self/fd/{number}")).unwrap();
                assert_eq!(led, std::path::Path::new("/dev/null"));
            }
        });
    }

    #[test]
    fn a_text_that_would_be_flushed_is_refused() {
        let error = Unflushed::new(&[b'x'; TEXT_BYTES_MAX + 1]).unwrap_err();
        assert_eq!(error.errno(), Some(libc::EMSGSIZE));
    }
}
