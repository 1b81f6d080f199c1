//! What the program prints: read as fast as it comes, counted, and kept as far as a number may be
//! picked from it.
//!
//! It always goes into a pipe, never to /dev/null or a file: programs look (grep stops at the
//! first match when nobody can see the others), and what they do then is another work. The pipe is
//! read by a thread with a large buffer, so that a program that prints gigabytes waits for it as
//! little as for `cat > /dev/null`.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{ErrorKind, PipeReader, PipeWriter, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// How much is kept of the beginning, and as much of the end.
pub(crate) const KEPT_BYTES: usize = 1 << 20;

/// How much is read at once: the size that the pipe is given.
const CHUNK_BYTES: usize = 1 << 20;

/// The bytes of one stream.
#[derive(Debug, Default)]
pub(crate) struct Printed {
    /// How many there were in all.
    pub(crate) bytes: u64,
    head: Vec<u8>,
    tail: VecDeque<u8>,
}

impl Printed {
    fn take(&mut self, mut chunk: &[u8]) {
        self.bytes += chunk.len() as u64;
        let free = KEPT_BYTES - self.head.len();
        let (first, rest) = chunk.split_at(chunk.len().min(free));
        self.head.extend_from_slice(first);
        chunk = rest;
        if chunk.len() >= KEPT_BYTES {
            self.tail.clear();
            chunk = &chunk[chunk.len() - KEPT_BYTES..];
        }
        let over = (self.tail.len() + chunk.len()).saturating_sub(KEPT_BYTES);
        self.tail.drain(..over);
        self.tail.extend(chunk);
    }

    /// What is kept, in its order: the whole, or the beginning and the end where something between
    /// them is not kept.
    pub(crate) fn kept(&self) -> (Vec<u8>, Option<Vec<u8>>) {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.is_whole() {
            return ([self.head.as_slice(), &tail].concat(), None);
        }
        (self.head.clone(), Some(tail))
    }

    /// Whether all of it is kept.
    pub(crate) fn is_whole(&self) -> bool {
        self.bytes == (self.head.len() + self.tail.len()) as u64
    }

    /// Returns the last bytes, at most `bytes_max`.
    pub(crate) fn end(&self, bytes_max: usize) -> Vec<u8> {
        let mut end: Vec<u8> = self.tail.iter().copied().collect();
        if end.len() < bytes_max && self.is_whole() {
            end = [self.head.as_slice(), &end].concat();
        }
        end.split_off(end.len().saturating_sub(bytes_max))
    }

    #[cfg(test)]
    pub(crate) fn of(text: &[u8]) -> Self {
        let mut printed = Printed::default();
        printed.take(text);
        printed
    }
}

/// A thread that reads one stream.
#[derive(Debug)]
pub(crate) struct Reading {
    printed: Receiver<std::io::Result<Printed>>,
    stop: Arc<File>,
    parked: Parked,
}

/// Keeps a thread that has done its work in the process: what it read counts as the process's own
/// as long as it lives.
#[derive(Debug)]
#[must_use]
pub(crate) struct Parked {
    /// Its end is the sign to go.
    _stay: Sender<()>,
}

impl Reading {
    /// A stream for a program to print to, and the thread that reads it.
    pub(crate) fn start() -> Result<(PipeWriter, Self), kit::Stop> {
        let (reader, writer) = std::io::pipe()?;
        // A refusal (too many large pipes of one user) leaves the usual size, which is fine.
        let _ = sys::files::widen_pipe(reader.as_fd(), CHUNK_BYTES);
        let stop = Arc::new(sys::eventfd::new()?);
        let heard = Arc::clone(&stop);
        let (tell, printed) = channel();
        let (stay, go) = channel::<()>();
        std::thread::Builder::new().name("reader".into()).spawn(move || {
            // Who does not listen any more needs no answer.
            let _ = tell.send(read(reader, heard.as_fd()));
            let _ = go.recv();
        })?;
        Ok((writer, Reading { printed, stop, parked: Parked { _stay: stay } }))
    }

    /// Returns what was printed. Does not wait for a process that still holds the stream open: what
    /// it has printed by now is read, and no more.
    pub(crate) fn finish(self) -> Result<(Printed, Parked), kit::Stop> {
        use std::io::Write;
        (&*self.stop).write_all(&1_u64.to_ne_bytes())?;
        let read = self.printed.recv();
        let printed =
            read.map_err(|_| kit::Stop::failed("the reader of its output panicked"))??;
        Ok((printed, self.parked))
    }
}

fn read(mut stream: PipeReader, stop: BorrowedFd<'_>) -> std::io::Result<Printed> {
    let mut printed = Printed::default();
    let mut chunk = vec![0; CHUNK_BYTES];
    // One read takes what was in the pipe when the end was called; what is printed later is ignored.
    let mut reads_left = usize::MAX;
    while reads_left > 0 {
        let waited = sys::poll::readable_any(&[stream.as_fd(), stop], Duration::from_secs(3600));
        match waited.map_err(std::io::Error::other)?[..] {
            [true, stopped] => {
                reads_left = if stopped { reads_left.min(2) - 1 } else { reads_left };
                match stream.read(&mut chunk) {
                    Ok(0) => break,
                    Ok(count) => printed.take(&chunk[..count]),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            [false, true] => break,
            _ => {}
        }
    }
    Ok(printed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn all_is_counted_and_both_ends_are_kept() {
        let mut printed = Printed::default();
        let line: Vec<u8> = (0..=250).cycle().take(700_001).collect();
        let mut all = Vec::new();
        for round in 1..=6 {
            printed.take(&line);
            all.extend_from_slice(&line);
            assert_eq!(printed.bytes, all.len() as u64);
            let (head, tail) = printed.kept();
            if round < 3 {
                assert_eq!((head, tail), (all.clone(), None));
            } else {
                assert_eq!(head, all[..KEPT_BYTES]);
                assert_eq!(tail.unwrap(), all[all.len() - KEPT_BYTES..]);
            }
            assert_eq!(printed.end(9), all[all.len() - 9..]);
        }
    }

    #[test]
    fn a_chunk_larger_than_what_is_kept() {
        let all: Vec<u8> = (0..=250).cycle().take(3 * KEPT_BYTES + 17).collect();
        let printed = Printed::of(&all);
        let (head, tail) = printed.kept();
        assert_eq!(head, all[..KEPT_BYTES]);
        assert_eq!(tail.unwrap(), all[all.len() - KEPT_BYTES..]);
        assert_eq!(Printed::of(b"abc").end(2), b"bc");
    }

    #[test]
    fn a_stream_that_somebody_keeps_open_is_not_waited_for() {
        let (mut writer, reading) = Reading::start().unwrap();
        writer.write_all(b"hello").unwrap();
        assert_eq!(reading.finish().unwrap().0.kept(), (b"hello".to_vec(), None));
        drop(writer);
    }
}
