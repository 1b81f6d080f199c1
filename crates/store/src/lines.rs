//! A file of lines that only grows by whole lines.

use std::fs::File;
use std::io::{self, BufRead, Read, Write};

/// What a line file is written to. There is one in earnest, [`File`]; tests put one in its place
/// whose disk is full.
pub(crate) trait Sink {
    /// Puts all bytes at the end.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Returns when the content is on the disk.
    fn sync(&mut self) -> io::Result<()>;
    /// Cuts off all that lies beyond `bytes`.
    fn cut(&mut self, bytes: u64) -> io::Result<()>;
}

impl Sink for File {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        Write::write_all(self, bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn cut(&mut self, bytes: u64) -> io::Result<()> {
        self.set_len(bytes)
    }
}

/// A sink that holds whole lines, and may hold rubbish behind them after a failure.
#[derive(Debug)]
pub(crate) struct Lines<S> {
    sink: S,
    /// The whole lines' bytes.
    whole_bytes: u64,
    /// Whether there may be part of a line behind them.
    torn: bool,
}

impl<S: Sink> Lines<S> {
    /// A sink whose first `whole_bytes` are whole lines; `torn` says that there is more.
    pub(crate) fn new(sink: S, whole_bytes: u64, torn: bool) -> io::Result<Self> {
        let mut lines = Lines { sink, whole_bytes, torn };
        lines.cut_torn_end()?;
        Ok(lines)
    }

    /// Where the lines are.
    pub(crate) fn sink(&self) -> &S {
        &self.sink
    }

    /// The bytes of the lines that it holds.
    pub(crate) fn whole_bytes(&self) -> u64 {
        self.whole_bytes
    }

    /// Appends one line, which must end in its newline, and returns when it is on the disk.
    ///
    /// After an error the line is not there, and those before it are as they were. If even
    /// cutting its beginning off failed, the next append tries that again before it writes.
    pub(crate) fn append(&mut self, line: &[u8]) -> io::Result<()> {
        self.cut_torn_end()?;
        self.torn = true;
        match self.sink.write_all(line).and_then(|()| self.sink.sync()) {
            Ok(()) => {
                self.torn = false;
                self.whole_bytes += line.len() as u64;
                Ok(())
            }
            Err(error) => {
                // The first error is the one worth telling; a second one leaves `torn` set.
                let _ = self.cut_torn_end();
                Err(error)
            }
        }
    }

    fn cut_torn_end(&mut self) -> io::Result<()> {
        if self.torn {
            self.sink.cut(self.whole_bytes)?;
            self.torn = false;
            self.sink.sync()?;
        }
        Ok(())
    }
}

/// One line of a file, as it was found.
pub(crate) enum Line {
    /// With its newline.
    Whole,
    /// The file ended before the newline came.
    Torn,
    /// Longer than the limit; the rest was not read.
    TooLong,
    /// There is no more.
    End,
}

/// Reads one line, its newline included, to the end of `buffer`, which never grows by more than
/// `limit` and one byte.
pub(crate) fn read_line(
    input: &mut impl BufRead,
    buffer: &mut Vec<u8>,
    limit: usize,
) -> io::Result<Line> {
    let count = input.by_ref().take(limit as u64 + 1).read_until(b'\n', buffer)?;
    Ok(if count == 0 {
        Line::End
    } else if count > limit {
        Line::TooLong
    } else if buffer.ends_with(b"\n") {
        Line::Whole
    } else {
        Line::Torn
    })
}

#[cfg(test)]
mod tests {
    use super::{Line, Lines, Sink, read_line};
    use std::io;

    /// A disk with a number of bytes left.
    #[derive(Default)]
    struct Disk {
        content: Vec<u8>,
        size: usize,
        cut_fails: bool,
        sync_fails: bool,
    }

    impl Sink for &mut Disk {
        fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
            let fits = bytes.len().min(self.size - self.content.len());
            self.content.extend(&bytes[..fits]);
            if fits < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }

        fn sync(&mut self) -> io::Result<()> {
            if self.sync_fails { Err(io::Error::other("lost")) } else { Ok(()) }
        }

        fn cut(&mut self, bytes: u64) -> io::Result<()> {
            if self.cut_fails {
                return Err(io::Error::other("no"));
            }
            self.content.truncate(bytes as usize);
            Ok(())
        }
    }

    #[test]
    fn a_disk_that_fills_at_any_byte_keeps_the_lines_before() {
        let line = b"{\"a\":1}\n";
        for size in 0..3 * line.len() {
            let mut disk = Disk { size, ..Disk::default() };
            let mut lines = Lines::new(&mut disk, 0, false).unwrap();
            let stored = (0..3).take_while(|_| lines.append(line).is_ok()).count();
            assert_eq!(stored, size / line.len());
            assert_eq!(disk.content, line.repeat(stored));
        }
    }

    #[test]
    fn what_could_not_be_cut_off_at_once_is_cut_off_before_the_next_line() {
        let mut disk = Disk { size: 6, cut_fails: true, ..Disk::default() };
        let mut lines = Lines::new(&mut disk, 0, false).unwrap();
        lines.append(b"one\n").unwrap();
        assert_eq!(lines.append(b"two\n").unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(lines.sink.content, b"one\ntw");
        assert_eq!(lines.append(b"two\n").unwrap_err().to_string(), "no");
        lines.sink.cut_fails = false;
        lines.sink.size = 100;
        lines.append(b"two\n").unwrap();
        assert_eq!(disk.content, b"one\ntwo\n");
    }

    #[test]
    fn a_line_that_did_not_reach_the_disk_is_taken_back() {
        let mut disk = Disk { size: 100, ..Disk::default() };
        let mut lines = Lines::new(&mut disk, 0, false).unwrap();
        lines.append(b"one\n").unwrap();
        lines.sink.sync_fails = true;
        assert_eq!(lines.append(b"two\n").unwrap_err().to_string(), "lost");
        assert_eq!(disk.content, b"one\n");
    }

    #[test]
    fn lines_are_read_within_their_limit() {
        let mut input: &[u8] = b"12345\n123456\nend";
        let mut buffer = Vec::new();
        assert!(matches!(read_line(&mut input, &mut buffer, 6), Ok(Line::Whole)));
        assert_eq!(buffer, b"12345\n");
        assert!(matches!(read_line(&mut input, &mut buffer, 6), Ok(Line::TooLong)));
        assert_eq!(buffer, b"12345\n123456\n");
        assert!(matches!(read_line(&mut &b"end"[..], &mut buffer, 6), Ok(Line::Torn)));
        assert!(buffer.ends_with(b"\nend"));
        assert!(matches!(read_line(&mut &b""[..], &mut buffer, 6), Ok(Line::End)));
    }
}
