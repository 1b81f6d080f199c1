//! `--log FILE`: each request as a line of CSV.

use crate::destination::Destination;
use flate2::Compression;
use flate2::write::GzEncoder;
use model::LoadError;
use std::io::{self, Write};
use std::path::Path;
use web::load::{End, Noted};

/// The first line.
const HEAD: &str = "due_ns,sent_ns,ended_ns,connection,status,error\n";

/// A log under way.
pub(super) struct Log {
    sink: Sink,
    /// What became of the writing.
    written: io::Result<()>,
}

enum Sink {
    Plain(Destination),
    Compressed(Box<GzEncoder<Destination>>),
}

impl Log {
    /// Begins a log; one whose name ends in `.gz` is compressed.
    pub(super) fn begin(file: Destination, path: &Path) -> Self {
        let is_compressed = path.extension().is_some_and(|extension| extension == "gz");
        let sink = match is_compressed {
            // The level that keeps up with any load.
            true => Sink::Compressed(Box::new(GzEncoder::new(file, Compression::fast()))),
            false => Sink::Plain(file),
        };
        let mut log = Log { sink, written: Ok(()) };
        log.written = log.write(HEAD.as_bytes());
        log
    }

    /// Adds requests; false if they could not be written.
    pub(super) fn add(&mut self, noted: &[Noted]) -> bool {
        if self.written.is_ok() {
            let mut text = String::with_capacity(64 * noted.len());
            noted.iter().for_each(|one| line(one, &mut text));
            self.written = self.write(text.as_bytes());
        }
        self.written.is_ok()
    }

    /// Ends the log: the file is where it was wanted, and whole.
    pub(super) fn end(self) -> anyhow::Result<()> {
        let (file, written) = match (self.sink, self.written) {
            (Sink::Plain(file), written) => (file, written),
            (Sink::Compressed(encoder), Ok(())) => (encoder.finish()?, Ok(())),
            (Sink::Compressed(_), Err(error)) => return Err(error.into()),
        };
        file.end(written)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.sink {
            Sink::Plain(file) => file.write_all(bytes),
            Sink::Compressed(encoder) => encoder.write_all(bytes),
        }
    }
}

/// Writes a request as a line.
fn line(one: &Noted, text: &mut String) {
    let known = |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
    let (status, error) = match one.end {
        End::Status(status) => (status.to_string(), ""),
        End::Failed(error) => (String::new(), word(error)),
        End::TimedOut => (String::new(), "timed_out"),
        End::InFlight => (String::new(), "in_flight"),
        End::Unsent => (String::new(), "unsent"),
    };
    let (due, sent, ended) = (one.due_ns, known(one.sent_ns), one.ended_ns);
    let connection = known(one.connection.map(u64::from));
    text.push_str(&format!("{due},{sent},{ended},{connection},{status},{error}\n"));
}

/// Returns the word for an error, as the JSON has it.
fn word(error: LoadError) -> &'static str {
    match error {
        LoadError::Refused => "refused",
        LoadError::Reset => "reset",
        LoadError::Closed => "closed",
        LoadError::Socket => "socket",
        LoadError::Garbage => "garbage",
        LoadError::Tls => "tls",
        LoadError::StreamReset => "stream_reset",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_what_is_known() {
        let answered = Noted {
            due_ns: 5,
            sent_ns: Some(7),
            done_ns: Some(900),
            ended_ns: 900,
            connection: Some(3),
            end: End::Status(404),
        };
        let failed = Noted { done_ns: None, end: End::Failed(LoadError::Reset), ..answered };
        let unsent = Noted { sent_ns: None, connection: None, end: End::Unsent, ..failed };
        let mut text = String::new();
        [answered, failed, unsent].iter().for_each(|one| line(one, &mut text));
        assert_eq!(text, "5,7,900,3,404,\n5,7,900,3,,reset\n5,,900,,,unsent\n");
    }
}
