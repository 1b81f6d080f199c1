//! Records that several callers print to one stream: one line each, by one call or by several.

use crate::error::last_errno;
use crate::{Error, Result};
use std::ffi::{CStr, c_char, c_int};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;

/// Bytes of a record, its newline included.
pub const RECORD_BYTES: usize = 52;

/// Digits of the number that stands in a record twice.
const DIGITS: usize = 8;

/// What stands between the two numbers.
const MIDDLE: &CStr = c".............................";

unsafe extern "C" {
    // POSIX; the libc crate does not declare them.
    fn flockfile(stream: *mut libc::FILE);
    fn funlockfile(stream: *mut libc::FILE);
    // The GNU and musl libraries.
    fn fputs_unlocked(text: *const c_char, stream: *mut libc::FILE) -> c_int;
}

/// How a record is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Printing {
    /// One `fprintf`.
    OneCall,
    /// Three `fprintf`, one after the other.
    ThreeCalls,
    /// The same three between `flockfile` and `funlockfile`.
    ThreeCallsHeld,
    /// One `fputs`.
    Text,
    /// One `fputs_unlocked`, which takes no lock.
    TextUnlocked,
}

/// A stream of libc's stdio to a file, fully buffered. It is never closed by itself.
#[derive(Debug)]
pub struct Stream {
    stream: NonNull<libc::FILE>,
}

// SAFETY: stdio's streams are made to be used from several threads. That `fputs_unlocked` is not is
// what is counted here, in a process that is made to be lost.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    /// Creates (or empties) a file.
    ///
    /// # Errors
    /// What `fopen` says.
    pub fn create(path: &CStr) -> Result<&'static Self> {
        // SAFETY: both are C strings, which libc does not keep.
        let stream = unsafe { libc::fopen(path.as_ptr(), c"w".as_ptr()) };
        let Some(stream) = NonNull::new(stream) else {
            return Err(Error::new(format!("fopen({})", path.to_string_lossy()), last_errno()));
        };
        Ok(Box::leak(Box::new(Self { stream })))
    }

    /// Prints one record of `writer` (a letter), and says whether libc took it; numbers beyond
    /// eight digits lose the first ones.
    pub fn print(&self, how: Printing, writer: u8, number: u64) -> bool {
        let stream = self.stream.as_ptr();
        let letter = c_int::from(writer);
        let number = number % 10_u64.pow(DIGITS as u32);
        let printed = match how {
            // SAFETY: the stream is open, and each format fits its arguments.
            Printing::OneCall => unsafe {
                let format = c"%c %08llu %s %08llu %c\n".as_ptr();
                libc::fprintf(stream, format, letter, number, MIDDLE.as_ptr(), number, letter)
            },
            Printing::ThreeCalls => self.three_calls(letter, number),
            Printing::ThreeCallsHeld => {
                // SAFETY: the stream is open.
                unsafe { flockfile(stream) };
                let printed = self.three_calls(letter, number);
                // SAFETY: the stream is open and this thread holds its lock.
                unsafe { funlockfile(stream) };
                printed
            }
            Printing::Text => {
                let text = record(writer, number);
                // SAFETY: the text ends in a zero byte, the stream is open.
                unsafe { libc::fputs(text.as_ptr().cast(), stream) }
            }
            Printing::TextUnlocked => {
                let text = record(writer, number);
                // SAFETY: as above. Without the lock two callers may tear each other's text, and
                // libc's own bounds keep what they write inside the buffer.
                unsafe { fputs_unlocked(text.as_ptr().cast(), stream) }
            }
        };
        printed >= 0
    }

    fn three_calls(&self, letter: c_int, number: u64) -> c_int {
        let stream = self.stream.as_ptr();
        // SAFETY: the stream is open, and each format fits its arguments.
        let results = unsafe {
            [
                libc::fprintf(stream, c"%c %08llu ".as_ptr(), letter, number),
                libc::fprintf(stream, c"%s ".as_ptr(), MIDDLE.as_ptr()),
                libc::fprintf(stream, c"%08llu %c\n".as_ptr(), number, letter),
            ]
        };
        if results.iter().any(|result| *result < 0) { -1 } else { 0 }
    }

    /// Writes out what is still in the buffer.
    ///
    /// # Errors
    /// What `fflush` says.
    pub fn flush(&self) -> Result<()> {
        // SAFETY: the stream is open.
        match unsafe { libc::fflush(self.stream.as_ptr()) } {
            0 => Ok(()),
            _ => Err(Error::new("fflush", last_errno())),
        }
    }
}

/// A file to which records are appended by `write(2)`, one call each.
#[derive(Debug)]
pub struct Appender {
    file: File,
}

impl Appender {
    /// Creates (or empties) a file.
    ///
    /// # Errors
    /// What `open` says.
    pub fn create(path: &std::path::Path) -> Result<&'static Self> {
        let opened = File::options().create(true).append(true).open(path);
        let file = opened
            .and_then(|file| file.set_len(0).map(|()| file))
            .map_err(|error| Error::io(format!("open({})", path.display()), &error))?;
        Ok(Box::leak(Box::new(Self { file })))
    }

    /// Writes one record of `writer`, and says whether the kernel took the whole of it. It is safe
    /// in a handler: no lock, no allocation.
    pub fn write(&self, writer: u8, number: u64) -> bool {
        let text = record(writer, number);
        // SAFETY: the text is readable for a record's bytes.
        let written =
            unsafe { libc::write(self.file.as_raw_fd(), text.as_ptr().cast(), RECORD_BYTES) };
        written == RECORD_BYTES as isize
    }
}

/// A record with a zero byte behind it, made without libc: a handler may do that.
fn record(writer: u8, number: u64) -> [u8; RECORD_BYTES + 1] {
    let mut text = [b' '; RECORD_BYTES + 1];
    let mut left = number;
    let second = RECORD_BYTES - 3 - DIGITS;
    for digit in (0..DIGITS).rev() {
        let byte = b'0' + (left % 10) as u8;
        text[2 + digit] = byte;
        text[second + digit] = byte;
        left /= 10;
    }
    let middle = 2 + DIGITS + 1;
    text[middle..second - 1].fill(b'.');
    text[0] = writer;
    text[RECORD_BYTES - 2] = writer;
    text[RECORD_BYTES - 1] = b'\n';
    text[RECORD_BYTES] = 0;
    text
}

/// The writer and the number of a record that is whole; `line` is without its newline.
pub fn parse_record(line: &[u8]) -> Option<(u8, u64)> {
    let writer = *line.first()?;
    let digits = std::str::from_utf8(line.get(2..2 + DIGITS)?).ok()?;
    let number: u64 = digits.parse().ok()?;
    (line == &record(writer, number)[..RECORD_BYTES - 1]).then_some((writer, number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::in_child;
    use std::ffi::CString;

    #[test]
    fn every_way_prints_the_same_record() {
        in_child(|| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("records");
            let stream = Stream::create(&CString::new(path.to_str().unwrap()).unwrap()).unwrap();
            let all = [
                Printing::OneCall,
                Printing::ThreeCalls,
                Printing::ThreeCallsHeld,
                Printing::Text,
                Printing::TextUnlocked,
            ];
            for (number, how) in all.into_iter().enumerate() {
                assert!(stream.print(how, b'A', number as u64));
            }
            stream.flush().unwrap();
            let text = std::fs::read(&path).unwrap();
            assert_eq!(text.len(), all.len() * RECORD_BYTES);
            for (number, line) in text.split(|byte| *byte == b'\n').enumerate().take(all.len()) {
                assert_eq!(parse_record(line), Some((b'A', number as u64)));
            }
        });
    }

    #[test]
    fn a_record_written_by_hand_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records");
        let file = Appender::create(&path).unwrap();
        assert!(file.write(b'H', 123_456_789));
        let text = std::fs::read(&path).unwrap();
        assert_eq!(text.last(), Some(&b'\n'));
        assert_eq!(parse_record(&text[..RECORD_BYTES - 1]), Some((b'H', 23_456_789)));
    }

    #[test]
    fn torn_records_are_none() {
        let whole = record(b'A', 42);
        let whole = &whole[..RECORD_BYTES - 1];
        assert_eq!(parse_record(whole), Some((b'A', 42)));
        for byte in 0..whole.len() {
            let mut torn = whole.to_vec();
            torn[byte] = b'B';
            assert_eq!(parse_record(&torn), None, "byte {byte}");
            assert_eq!(parse_record(&whole[..byte]), None);
        }
        assert_eq!(parse_record(&[whole, whole].concat()), None);
        assert_eq!(parse_record(b"\xff\xff"), None);
    }

    proptest::proptest! {
        #![proptest_config(crate::hostile::scale::at_scale(256))]

        #[test]
        fn what_is_read_of_damaged_records_is_whole(
            line in crate::hostile::damage::damaged(vec![record(b'a', 77)[..RECORD_BYTES - 1].to_vec()]),
        ) {
            if let Some((writer, number)) = parse_record(&line) {
                proptest::prop_assert_eq!(line, &record(writer, number)[..RECORD_BYTES - 1]);
            }
        }
    }
}
