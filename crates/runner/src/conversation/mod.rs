use crate::pauses::{LOOK, Pauses};
use model::{FromTrial, MESSAGE_BYTES_MAX, Outcome, Phase, ToTrial};
use std::io::{ErrorKind, PipeReader, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// A trial measures in silence. What it prints is kept for people, up to this much.
pub(crate) const LOG_BYTES_KEPT: usize = 4096;

/// A trial that prints more than this is ended: it would measure its own printing.
pub(crate) const LOG_BYTES_MAX: usize = 1 << 20;

/// The reason that a trial gives is a sentence. It stands beside every number that lacks the trial,
/// so no more of it is kept.
pub(crate) const REASON_BYTES_KEPT: usize = 4096;

/// Of what a parser says about a message that is none, this much is kept.
const ERROR_BYTES_KEPT: usize = 200;

/// The runner's end of the talk with one trial.
#[derive(Debug)]
pub(crate) struct Conversation {
    stream: UnixStream,
    log: Option<PipeReader>,
    process: OwnedFd,
    inbox: Vec<u8>,
    /// The number of its bytes that are known to hold no end of a message.
    searched: usize,
    log_tail: Vec<u8>,
    log_bytes: usize,
    woken: Option<Instants>,
    pauses: Pauses,
}

/// When the trial began to answer, on the runner's clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instants {
    pub(crate) wall_ns: u64,
    /// CPU time that the runner had used until then.
    pub(crate) cpu_ns: u64,
}

impl Instants {
    pub(crate) fn now() -> Self {
        Instants { cpu_ns: sys::clock::process_cpu_ns(), wall_ns: sys::clock::now_ns() }
    }
}

/// Why the talk with a trial ended before its answer.
#[derive(Debug)]
pub(crate) enum Cut {
    /// The process ended and said nothing more.
    Ended(Phase),
    /// It has to be killed.
    Kill(Outcome),
    /// Somebody asked the runner to stop.
    Interrupted,
    /// The session's time was up.
    OutOfTime,
}

/// Returns the outcome of a trial that did something against the protocol.
pub(crate) fn violation(reason: impl Into<String>) -> Outcome {
    Outcome::ProtocolViolated { reason: reason.into() }
}

impl Conversation {
    /// `process` is a pidfd: a socket that a grandchild inherited stays open when the trial dies,
    /// so that EOF alone would not tell its end.
    pub(crate) fn new(
        stream: UnixStream,
        log: PipeReader,
        process: OwnedFd,
        pauses: Pauses,
    ) -> std::io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Conversation {
            stream,
            log: Some(log),
            process,
            inbox: Vec::new(),
            searched: 0,
            log_tail: Vec::new(),
            log_bytes: 0,
            woken: None,
            pauses,
        })
    }

    /// Sends a message. A trial that does not read cannot block the runner: a message is smaller
    /// than a socket's buffer, and a full buffer is an error.
    pub(crate) fn say(&mut self, message: &ToTrial) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.stream.write_all(&line)
    }

    /// Waits for the trial's next message.
    ///
    /// # Errors
    /// None comes: the trial ended in this phase, has to be killed, or somebody asked the runner to stop.
    pub(crate) fn hear(&mut self, deadline: Instant, phase: Phase) -> Result<FromTrial, Cut> {
        self.woken = None;
        loop {
            if let Some(message) = self.take_message() {
                return message.map_err(Cut::Kill);
            }
            // With no time left it is still asked once: if this process was stopped for a while,
            // the answer may have been there in time.
            let left = deadline.saturating_duration_since(Instant::now());
            if sys::interrupt::requested().is_some() {
                return Err(Cut::Interrupted);
            }
            let (asked, before) = (left.min(LOOK), Instant::now());
            let heard = self.wait(asked, true);
            if before.elapsed() >= LOOK {
                self.pauses.look(asked, before.elapsed());
            }
            match heard {
                Err(error) => {
                    let reason = format!("the runner cannot wait: {error}");
                    return Err(Cut::Kill(violation(reason)));
                }
                Ok([false, false, false]) if left.is_zero() => {
                    return Err(Cut::Kill(Outcome::TimedOut { phase }));
                }
                Ok([said, printed, ended]) => {
                    if said || ended {
                        self.woken.get_or_insert_with(Instants::now);
                    }
                    if printed {
                        self.read_log().map_err(Cut::Kill)?;
                    }
                    let open = !(said || ended) || self.read_socket();
                    if let Some(message) = self.take_message() {
                        return message.map_err(Cut::Kill);
                    }
                    if ended {
                        return Err(Cut::Ended(phase));
                    }
                    if !open && !self.process_ends(deadline) {
                        return Err(Cut::Kill(violation("closed its socket and kept running")));
                    }
                }
            }
        }
    }

    /// Says nothing more and hears nothing more: a trial of a program of the user's then ends all
    /// that it has started.
    pub(crate) fn hang_up(&mut self) {
        // A socket that is closed already has been heard of.
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }

    /// Waits until the process has ended; false if it has not by the deadline.
    pub(crate) fn process_ends(&mut self, deadline: Instant) -> bool {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.wait(left, false) {
                Ok([_, _, true]) => return true,
                Ok([said, printed, false]) => {
                    if printed && self.read_log().is_err() {
                        return false;
                    }
                    if said && !self.read_socket() {
                        // The socket is closed, so it would count as readable for ever.
                        return sys::poll::readable(self.process.as_fd(), left).unwrap_or(false);
                    }
                }
                Err(_) => return false,
            }
            if left.is_zero() {
                return false;
            }
        }
    }

    /// How often the trial was seen to stand still.
    pub(crate) fn pauses(&self) -> u32 {
        self.pauses.count()
    }

    /// When the trial began to say what was heard last: reading and parsing it comes after.
    pub(crate) fn woken(&self) -> Instants {
        self.woken.unwrap_or_else(Instants::now)
    }

    /// Whether the trial said something that nobody asked for.
    pub(crate) fn has_unread(&mut self) -> bool {
        self.read_socket();
        !self.inbox.is_empty()
    }

    /// The end of what the trial printed.
    pub(crate) fn log_text(&mut self) -> String {
        let _ = self.read_log();
        String::from_utf8_lossy(&self.log_tail).trim_end().to_string()
    }

    /// Waits until the trial speaks, prints or ends; if `interruptible`, also until somebody asks
    /// the runner to stop.
    fn wait(&self, left: Duration, interruptible: bool) -> sys::Result<[bool; 3]> {
        let mut watched: Vec<BorrowedFd<'_>> = vec![self.stream.as_fd(), self.process.as_fd()];
        let log = self.log.as_ref().map(|log| {
            watched.push(log.as_fd());
            watched.len() - 1
        });
        watched.extend(sys::interrupt::descriptor().filter(|_| interruptible));
        let ready = sys::poll::readable_any(&watched, left)?;
        Ok([ready[0], log.is_some_and(|log| ready[log]), ready[1]])
    }

    fn take_message(&mut self) -> Option<Result<FromTrial, Outcome>> {
        let end = self.inbox[self.searched..].iter().position(|byte| *byte == b'\n');
        let end = end.map(|at| self.searched + at);
        self.searched = end.unwrap_or(self.inbox.len());
        // Too long is too long, whether or not its end has arrived by now.
        if end.unwrap_or(self.inbox.len()) >= MESSAGE_BYTES_MAX {
            let reason = format!("a message of more than {MESSAGE_BYTES_MAX} bytes");
            return Some(Err(violation(reason)));
        }
        let end = end?;
        let line: Vec<u8> = self.inbox.drain(..=end).collect();
        self.searched = 0;
        let mut message = serde_json::from_slice(&line[..end]).map_err(|error| {
            // It repeats what it did not expect, which may be as long as the message.
            let mut error = error.to_string();
            shorten(&mut error, ERROR_BYTES_KEPT);
            let error = error.replace(char::is_control, "?");
            let start = String::from_utf8_lossy(&line[..end.min(60)]);
            violation(format!("not a message of the protocol ({error}): {start:?}"))
        });
        if let Ok(FromTrial::Unsupported { reason } | FromTrial::Failed { reason }) = &mut message {
            shorten(reason, REASON_BYTES_KEPT);
        }
        Some(message)
    }

    /// Reads what the socket holds. False if the trial's end of it is closed.
    fn read_socket(&mut self) -> bool {
        let mut chunk = [0; 16 * 1024];
        loop {
            if self.inbox.len() > MESSAGE_BYTES_MAX {
                return true;
            }
            match self.stream.read(&mut chunk) {
                Ok(0) => return false,
                Ok(count) => self.inbox.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
    }

    /// Reads once from the log, so that a flood cannot keep the runner here.
    fn read_log(&mut self) -> Result<(), Outcome> {
        let Some(log) = self.log.as_mut() else { return Ok(()) };
        if !sys::poll::readable(log.as_fd(), Duration::ZERO).unwrap_or(false) {
            return Ok(());
        }
        let mut chunk = [0; 64 * 1024];
        let count = log.read(&mut chunk).unwrap_or(0);
        if count == 0 {
            self.log = None;
        }
        self.log_bytes += count;
        self.log_tail.extend_from_slice(&chunk[..count]);
        let surplus = self.log_tail.len().saturating_sub(LOG_BYTES_KEPT);
        self.log_tail.drain(..surplus);
        if self.log_bytes <= LOG_BYTES_MAX {
            return Ok(());
        }
        Err(violation(format!(
            "printed more than {LOG_BYTES_MAX} bytes; a trial measures in silence"
        )))
    }
}

/// Cuts a text to at most `most` bytes, with a sign that there was more.
fn shorten(text: &mut String, most: usize) {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push('\u{2026}');
    }
}

#[cfg(test)]
mod tests;
